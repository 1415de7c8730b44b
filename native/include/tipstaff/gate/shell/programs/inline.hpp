// Inline code of languages that are too rare for a reader of their own: Lua, R, Julia, Elixir, Erlang, Lisps,
// AppleScript, Swift, Scala ... Only the texts in it are read, by the name that is before each:
// system("rm x"), os.execute("rm x"), do shell script "rm x", (shell-command "rm x"), run(`rm x`).
// PowerShell and cmd, started from a shell, are read by their own readers.
#pragma once

#include "tipstaff/gate/shell/programs/clients.hpp"
#include "tipstaff/gate/shell/small_languages/c_calls.hpp"
#include "tipstaff/gate/tool_fields.hpp"

namespace tipstaff::gate::shell {

inline constexpr string_view kTexEngines = "pdflatex latex tex pdftex xelatex xetex lualatex luatex luahbtex latexmk tectonic context";

// Where inline code is: in options, or in the input.
inline void ShellReader::run_inline(Invocation& in) noexcept {
  constexpr string_view kOptions = "-e -E --eval -eval --execute -exec -c -x --expression -le -ex eval -batch -r -b -g --batch-string -code --python-expr --query-goal --entry-goal --init-goal -script";
  bool operands = false;
  if (tree_.command(in.command).program == "m4" && in.input.kind == Stream::known) return read_macros(in, in.input.text, in.input.span);
  for (std::uint32_t i = 1; i < in.count; ++i) operands = operands || text_of(in, i).empty() || text_of(in, i)[0] != '-';
  if (in.input.kind == Stream::known && (!operands || text_of(in, in.count - 1) == "-")) {
    return read_texts_of(in, in.input.text, in.input.span, in.input.flags);
  }
  bool seen = false;
  if (in.count > 1 && (starts_with(text_of(in, 1), "--eval:") || starts_with(text_of(in, 1), "("))) {  // nim --eval:CODE, bb '(code)'
    const Word code = argument(in, 1);
    read_texts_of(in, code.text, code.span, code.flags);
    seen = true;
  }
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const std::size_t equals = text_of(in, i).find('=');
    Word code = argument(in, i);
    if (starts_with(code.text, "--") && equals != string_view::npos && one_of(code.text.substr(0, equals), kOptions)) {
      code.text.remove_prefix(equals + 1);
    } else if (i + 1 < in.count && one_of(code.text, kOptions) && !starts_with(text_of(in, i + 1), "-")) {
      code = argument(in, ++i);
    } else {
      continue;
    }
    if (starts_with(code.text, "!")) {  // gnuplot -e '!rm x'
      code.text.remove_prefix(1);
      code_word(in, code, Nested{}, Dialect::shell);
      continue;
    }
    read_texts_of(in, code.text, code.span, code.flags);
    seen = true;
  }
  for (std::uint32_t i = 1; i < in.count; ++i) {  // pdflatex '\write18{rm x}'
    if (const Word code = argument(in, i); starts_with(code.text, "\\")) read_texts_of(in, code.text, code.span, code.flags), seen = true;
  }
  if (!seen) run_compiler(in);
}

inline void ShellReader::read_texts_of(Invocation& in, string_view text, Span span, std::uint16_t flags) noexcept {
  constexpr string_view kRuns =
      "system execute popen exec cmd run shell script call_process call-process shell-command callCommand readProcess spawnCommand "
      "run-program run_program async-shell-command Process system2 spawn start_process Command shell-command-to-string sh execl execlp execv execvp execve "
      "posix_spawn CommandContext new ProcessBuilder command Cmd Exec unix dos host unix_w RunProcess Run StartProcess system-raw os_command "
      "run_command syscmd esyscmd shellHook execute_command_line fpSystem";
  constexpr string_view kDeletes =
      "rm_rf rm_rf! removeItem delete-directory RemoveAll remove_dir_all unlink removeDirectoryRecursive removePathForcibly deleteDir "
      "deleteRecursively rmtree remove_all RemoveAll deleteTree rm_r deleteDirectory removeTree remove_dir_contents delete_dir DeleteDirectory del_dir_r delete-tree "
      "delete-directory-tree delete-file-recursively removeDir confirm_recursive_rmdir dir_delete removeItemAtPathError "
      "remove-all rmdir_all rmdirRecurse delete_directory_and_contents delete_directory_contents recursive_rm remove_tree";
  constexpr string_view kDeletesOne = "remove delete-file file.remove rm! removeFile deleteFile file_delete Remove sys-unlink delete_file";
  constexpr string_view kJoins = "paste paste0 string-append str concat format sprintf string concatenate glue strcat";
  const string_view program = in.command == kNone ? string_view() : string_view(tree_.command(in.command).program);  // a start-up file has no command
  Word code;
  code.text = text;
  code.span = span;
  code.flags = flags;
  if (program == "m4") return read_macros(in, text, span);
  if (program == "erb") {  // what a template computes is Ruby
    for (std::size_t at = text.find("<%"); at != string_view::npos; at = text.find("<%", at)) {
      at += 2;
      while (at < text.size() && holds("=-", text[at])) ++at;
      const std::size_t close = text.find("%>", at);
      if (close == string_view::npos) return;
      other_dialect(in, Dialect::ruby, text.substr(at, close - at), span, via::kInterpreter);
      at = close;
    }
    return;
  }
  // TeX: \write18{rm x}, \input{|"rm x"}
  for (std::size_t at = text.find("write18"); at != string_view::npos; at = text.find("write18", at)) {
    at += 7;
    std::size_t open = at;
    while (open < text.size() && holds(" {", text[open])) ++open;
    Word shell = code;
    shell.text = text.substr(open, text.find('}', open) - open);
    if (open > at) code_word(in, shell, Nested{}, Dialect::shell);
  }
  for (std::size_t at = text.find("|\""); at != string_view::npos && one_of(program, kTexEngines); at = text.find("|\"", at + 2)) {
    Word shell = code;
    shell.text = text.substr(at + 2, text.find('"', at + 2) - at - 2);
    code_word(in, shell, Nested{}, Dialect::shell);
  }
  if (program == "tclsh" || program == "wish" || program == "expect") {
    // Tcl: exec and what follows on the line.
    for (std::size_t at = text.find("exec "); at != string_view::npos; at = text.find("exec ", at)) {
      // What is only printed does not run.
      const std::size_t brace = text.find_last_not_of(" \t", at == 0 ? string_view::npos : at - 1);
      const bool held = at > 0 && brace != string_view::npos && brace >= 5 && holds("{\"", text[brace]);
      at += 5;
      if (held && text.substr(brace - 5, 5) == "puts ") continue;
      Word started = code;
      started.text = unbraced(tree_, text.substr(at, text.find_first_of(";\n]", at) - at));
      Nested options;
      options.via = via::kInterpreter | via::kEvaluated;
      code_word(in, started, options, Dialect::shell);
    }
    // [open FILE w], and nothing is put there.
    if (const std::size_t at = text.find("[open "); at != string_view::npos && text.find("puts ") == string_view::npos) {
      const string_view call = text.substr(at + 6, text.find(']', at) == string_view::npos ? string_view::npos : text.find(']', at) - at - 6);
      if (ends_with(call, " w") || ends_with(call, " w+")) {
        Word path = code;
        path.text = unquoted_value(trim(call.substr(0, call.rfind(' '))));
        emit_file("@write", path, false, in.command, in.via | via::kInterpreter, in.cwd, true);
      }
    }
    for (std::size_t at = text.find("file delete "); at != string_view::npos; at = text.find("file delete ", at + 1)) {
      string_view line = text.substr(at + 12, text.find_first_of(";\n]", at) - at - 12);
      if (starts_with(line, "-force ")) line.remove_prefix(7);
      Word made = code;
      made.text = tree_.join(tree_.copy("rm -r -f "), line);
      code_word(in, made, Nested{}, Dialect::shell);
    }
    return;
  }
  if (one_of(program, "raku perl6 rakudo")) {  // run <rm -rf x>
    for (const string_view starts : {string_view("run <"), string_view("run(<"), string_view("run qw<"), string_view("shell <")}) {
      const std::size_t at = text.find(starts), close = at == string_view::npos ? at : text.find('>', at);
      if (close == string_view::npos) continue;
      Word words = code;
      words.text = text.substr(at + starts.size(), close - at - starts.size());
      code_word(in, words, Nested{}, Dialect::shell);
    }
  }
  read_library_calls(reader_, code_for(text, span), inner_frame(in, via::kInterpreter));
  Nested options;
  options.via = via::kInterpreter | via::kEvaluated;
  NamedTexts names;
  const bool deletes_each = holds_any(text, {"apply(", "do.call(", "each", "for ", "walk", "mapM_"}) && holds_any(text, {"unlink)", "unlink(", "rm(", "rm!(", "rm,", "file.remove", "os.remove", "removeFile"});
  // What a folder holds is deleted, or emptied, one by one: Path.wildcard("x/*") |> Enum.each(&File.rm!/1).
  const bool loops = holds_any(text, {"each", "Each", "for ", "walk", "map", "apply", "run!", "doseq", "unlink dir", "mapM_"});
  const bool walks = holds_any(text, {"Files.walk", "Files.list", "newDirectoryStream", "listFiles", "eachFile", "file-seq", "listdir", "walkFileTree"});
  const bool takes_each = loops && holds_any(text, {"rm_rf", "File.rm", "rm!", "unlink", "os.remove", "os.Remove", "Files.delete", ".delete()", ".deleteIfExists", "delete-file", "deleteFile", "removeFile", "file.remove", "removePathForcibly", "removeDirectory"});
  const bool empties_each = loops && holds_any(text, {"write!(", "write(", "writeFile", "writeString", "writeText", "spit "}) && holds_any(text, {", \"\")", ", '')", " \"\")", ".text = \"\""});
  const Writes writes(text);
  bool empty_text = holds_any(text, {"writeLines(character(", "writeLines(c()", "cat(NULL", "write(NULL", "write(character(", "write.csv(data.frame()", "write.table(data.frame()", "saveRDS(NULL", "saveRDS(list()", "write_csv(data.frame()", "write_csv(tibble()", "fwrite(data.table()"});
  const bool lisp = one_of(program, "bb joker nbb clojure clj guile sbcl racket hy chibi-scheme gosh ecl clisp ccl abcl mit-scheme chez scheme newlisp emacs emacsclient");
  const bool compiled = is_file_compiler(program);
  const bool compiled_writes = compiled && holds_any(text, {"write(", "writev(", "printf(", "puts(", "putc(", "<<", ".Write", "Fprint"});
  bool pipes = false;  // a shell was started that reads what is written to it
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char quote = text[at];
    if (quote != '"' && quote != '\'' && quote != '`') continue;
    if (quote != '"' && lisp) continue;  // '[a b], `(a ~b)
    std::size_t stop = at + 1;
    while (stop < text.size() && text[stop] != quote) stop += text[stop] == '\\' && stop + 1 < text.size() ? 2u : 1u;
    if (stop >= text.size()) break;
    const bool sigil = at > 1 && text[at - 2] == '~';  // Elixir's ~c"..."
    const bool lisp_path = at > 1 && text[at - 2] == '#' && lower(text[at - 1]) == 'p';  // #P"/srv/data/"
    string_view name = name_before(text, sigil || lisp_path ? at - 2 : at);
    if (at > 9 && ends_with(trim(text.substr(0, at)), "new String[]{")) name = name_before(text, text.rfind("new", at));  // exec(new String[]{"rm", "x"})
    Word literal = code;
    literal.text = text.substr(at + 1, stop - at - 1);
    const std::size_t begin = at;
    stop = concatenated(tree_, text, stop + 1, names, &literal.text) - 1;
    if (std::size_t open = one_of(name, kJoins) ? static_cast<std::size_t>(name.data() - text.data()) : 0; open > 0) {  // system(paste("rm -rf", path))
      while (open > 1 && text[open - 1] == '.' && is_name_byte(text[open - 2])) {  // string.format
        for (--open; open > 0 && is_name_byte(text[open - 1]);) --open;
      }
      const string_view outer = name_before(text, open);
      if (one_of(outer, kRuns)) {
        name = outer;
        if (stop + 1 < text.size() && holds(", ", text[stop + 1])) literal.text = tree_.join(tree_.join(tree_.copy(""), literal.text), " \x01");
      }
    }
    if (holds(literal.text, kUnknownPart)) literal.flags |= word_flag::kUnknown;
    const string_view tail = text.substr(stop + 1);
    std::size_t sign = begin;
    while (sign > 0 && is_blank(text[sign - 1])) --sign;
    if (sign > 0 && text[sign - 1] == '=' && !name.empty()) {
      const std::uint32_t slot = names.count < NamedTexts::kMost ? names.count++ : NamedTexts::kMost - 1;
      names.name[slot] = name;
      names.text[slot] = literal.text;
    }
    // cat("", file = "x"), writeLines("", "x"): the text before is empty.
    if (one_of(name, "cat write writeLines") && literal.text.empty()) empty_text = true;
    if (empty_text && !literal.text.empty() && sign > 0 && holds("=,", text[sign - 1])) {
      emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, true);
      empty_text = false;
    }
    if (pipes && one_of(name, "write puts print")) {  // p:write("rm x"), where p is a shell
      code_word(in, literal, options, Dialect::shell);
      at = stop;
      continue;
    }
    pipes = pipes || (one_of(name, "popen open open_pipe pipe") && one_of(base_name(trim(literal.text)), "sh bash zsh dash ksh"));
    string_view after = tail;  // File("x")).deleteRecursively()
    while (starts_with(after, "))")) after.remove_prefix(1);
    const bool quoted = quote == '`' && program == "julia" && sign > 0 && holds("(,", text[sign - 1]);  // Julia: pipeline(a, `rm x`)
    // Groovy: ["rm", "-rf", "x"].execute()
    const bool list = program == "groovy" && begin > 0 && text[begin - 1] == '[' && holds_text(tail.substr(0, 256), "].execute");
    const bool runs = quoted || list || one_of(name, kRuns) || starts_with(tail, ".execute") || starts_with(tail, ".!") || starts_with(tail, ").!") || (program == "gforth" && starts_with(trim(tail), "system"));
    const string_view before = name.empty() ? string_view() : text.substr(0, static_cast<std::size_t>(name.data() - text.data()));
    const bool folder_call = name == "Delete" && ends_with(before, "Directory.");  // .NET
    const bool tree_walk = one_of(name, "nftw ftw fts_open") && holds_any(text, {"remove(", "unlink(", "rmdir(", "delete-file", "delete_file"});
    const bool finder = program == "osascript" && one_of(name, "Path file folder alias item disk") && holds_any(before.substr(before.size() < 48 ? 0 : before.size() - 48), {"delete"});
    const bool recursive = folder_call || tree_walk || finder || one_of(name, kDeletes) || (name == "delete" && starts_with(trim(tail.substr(0, tail.find_first_of("rf\n)"))), ",")) || starts_with(after, ").deleteDir") || starts_with(tail, ".deleteDir") || starts_with(after, ").deleteRecursively") || (one_of(name, "File. File") && holds_any(text, {"file-seq"}) && holds_any(text, {".delete", "delete-file"})) || (name == "rmdir" && starts_with(tail, ",")) || (name == "rm" && tail.substr(0, 64).find("recursive") != string_view::npos);
    const bool listed = one_of(name, "ls! ls wildcard wildcard! glob dir list_files listdir readdir file-seq eachFile eachFileRecurse listDirectory getDirectoryContents") ||
                        (walks && one_of(name, "of get File File. Path new Paths toPath io.file file listdir")) || (name == "popen" && (starts_with(literal.text, "ls ") || starts_with(literal.text, "find ")));
    const bool statement = tools::starts_like_sql(trim(literal.text)) && holds(trim(literal.text), ' ');
    if (listed && (takes_each || empties_each)) {
      string_view folder = trim(literal.text);
      if (name == "popen") folder = trim(folder.substr(folder.find(' ')));
      const bool glob = holds(folder, '*');
      if (takes_each) {
        literal.text = tree_.join(tree_.join(tree_.copy("rm -r -f "), folder), glob ? "" : "/*");
        code_word(in, literal, options, Dialect::shell);
      } else {
        literal.text = glob ? folder : tree_.join(tree_.copy(folder), "/*");
        literal.flags |= word_flag::kGlob;
        emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, true);
      }
    } else if (runs && statement && one_of(name, "execute exec run command Command")) {
      other_dialect(in, Dialect::sql, literal.text, literal.span, via::kInterpreter);
    } else if ((!name.empty() || list) && runs) {
      // The texts that follow in the same brackets are its arguments: System.cmd("rm", ["-rf", "/"]).
      std::size_t next = stop + 1;
      string_view line = literal.text;
      while (next < text.size() && (holds(", \t\n[(", text[next]) || starts_with(text.substr(next), ").arg"))) {
        // Command::new("rm").arg("-rf").args(["/"])
        if (text[next] == ')') next = text.find('(', next) == string_view::npos ? text.size() : text.find('(', next) + 1;
        while (next < text.size() && (holds(", \t\n[(", text[next]) || text[next] == 'c')) ++next;
        if (starts_with(text.substr(next), "list ")) next += 5;
        while (starts_with(text.substr(next), "nil ") || starts_with(text.substr(next), "t ")) next += text[next] == 'n' ? 4u : 2u;  // Emacs: (call-process "rm" nil nil nil "-rf")
        if (next < text.size() && holds(" ,(", text[next - 1]) && (is_name_start(text[next]) || holds("$(*", text[next])) && starts_with(line, "rm ")) line = tree_.join(tree_.join(tree_.copy(""), line), " \x01");
        if (next >= text.size() || (text[next] != '"' && text[next] != '\'')) break;
        const std::size_t end = text.find(text[next], next + 1);
        if (end == string_view::npos) break;
        line = tree_.join(tree_.join(line, " "), text.substr(next + 1, end - next - 1));
        next = stop = end + 1;
      }
      literal.text = line;
      code_word(in, literal, options, Dialect::shell);
    } else if (runs) {
      code_word(in, literal, options, Dialect::shell);
    } else if ((!name.empty() || (sign > 0 && text[sign - 1] == ',')) && statement && !one_of(name, "replace replaceAll gsub sub split contains puts print println printf inspect IO.puts cat message log info debug warn error format sprintf paste concat equals assertEquals startsWith matches")) {
      other_dialect(in, Dialect::sql, literal.text, literal.span, via::kInterpreter);
    } else if (starts_with(literal.text, "/dev/") && one_of(name, "open fopen open64 creat ofstream OpenFile openSync FileOutputStream RandomAccessFile create Create openFile File. OpenOptions") &&
               holds_any(literal.text, {"/sd", "/nvme", "/mmcblk", "/vd", "/hd", "/disk", "/dm-", "/mem", "/mtd", "/loop", "/xvd", "/mapper"}) && holds_any(text, {"write", "Write", "\"w", "puts", "print", "O_WRONLY", "O_RDWR"})) {
      emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, false);
    } else if (name == "open" && starts_with(tail, ",") && holds_text(tail.substr(0, 8), "w") && (holds_text(tail.substr(0, 24), "close") || holds_text(tail.substr(0, 24), " end"))) {
      // Opened for writing and closed at once.
      emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, true);
    } else if (opens_for_nothing(writes, before, name, after)) {
      emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, true);
    } else if (one_of(name, "rename rename! mv move") && !one_of(program, "m4 raku") && starts_with(tail, ",")) {
      // os.rename("a", "b"), file.rename(a, b), mv("a", "b")
      const std::size_t open = tail.find_first_not_of(", \t");
      const std::size_t close = open != string_view::npos && (tail[open] == '"' || tail[open] == '\'') ? tail.find(tail[open], open + 1) : string_view::npos;
      if (close != string_view::npos) {
        literal.text = tree_.join(tree_.join(tree_.copy("mv '"), literal.text), "' '");
        literal.text = tree_.join(tree_.join(literal.text, tail.substr(open + 1, close - open - 1)), "'");
        code_word(in, literal, options, Dialect::shell);
        stop += close + 1;
      }
    } else if (name == "with-temp-file" && starts_with(tail, ")")) {  // with nothing to put into it
      emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, true);
    } else if ((one_of(name, "write write! spit writeFile write_file writeString") && (begins_with_nothing(tail) || starts_with(tail, ", <<>>") || starts_with(tail, ", [])"))) ||
               (one_of(name, "File file Path") && (starts_with(after, ").text = \"\"") || starts_with(after, ").text=\"\"") || starts_with(after, ").text = ''") || starts_with(after, ").text=''") || starts_with(after, ").write(\"\")") || starts_with(after, ").writeText(\"\")"))) ||
               (starts_with(tail, ".IO.spurt") && begins_with_nothing(trim(tail.substr(9, 1) == ":" || tail.substr(9, 1) == "(" ? tail.substr(10) : tail.substr(9)))) ||
               (one_of(name, "of get File Path") && (holds_text(before.substr(before.size() < 48 ? 0 : before.size() - 48), "writeString(") || holds_text(before.substr(before.size() < 48 ? 0 : before.size() - 48), "Files.write(")) && begins_with_nothing(tail.substr(tail.empty() ? 0 : 1))) ||
               (name == "open" && program == "julia" && ends_with(before, "truncate("))) {
      emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, true);
    } else if (deletes_each && one_of(name, "files readdir ls! ls dir list_dir listdir")) {  // lapply(list.files("x"), unlink)
      literal.text = tree_.join(tree_.join(tree_.copy("rm -f '"), literal.text), "'/*");
      code_word(in, literal, options, Dialect::shell);
    } else if (name == "create" && begin >= 12 && text.substr(begin - 12, 12) == "file.create(") {  // R's empties what is there
      emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, true);
    } else if (const FileCall done = compiled ? file_call(name.empty() ? text.substr(0, begin) : before, name, tail) : FileCall::none; done != FileCall::none) {
      if (done == FileCall::empties || done == FileCall::opens_to_write) {
        emit_file("@write", literal, false, in.command, in.via | via::kInterpreter, in.cwd, done == FileCall::empties || !compiled_writes);
      } else {
        literal.text = tree_.join(tree_.join(tree_.copy(done == FileCall::removes ? "rm -f '" : "rmdir '"), literal.text), "'");
        code_word(in, literal, options, Dialect::shell);
      }
    } else if (recursive || one_of(name, kDeletesOne) || (name == "delete" && one_of(program, "matlab octave octave-cli crystal erl escript")) || (name == "rm" && one_of(program, "janet pike")) ||
               (one_of(name, "File File. file Path of get") && (starts_with(after, ").delete()") || starts_with(after, ").deleteIfExists") || (holds_text(before.substr(before.size() < 64 ? 0 : before.size() - 64), "Files.delete")))) ||
               (program == "gforth" && starts_with(trim(tail), "delete-file"))) {
      literal.text = tree_.join(tree_.join(tree_.copy(recursive ? "rm -r -f '" : "rm -f '"), literal.text), "'");
      code_word(in, literal, options, Dialect::shell);
    }
    at = stop > at ? stop : at;
  }
  delete_unread(in, text, span);
}

// PowerShell and cmd, started from a shell.

inline void ShellReader::run_powershell(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    string_view text = word.text;
    if (text.empty()) continue;
    if (text[0] != '-' && (text[0] != '/' || ends_with(text, ".ps1"))) {
      if (ends_with(text, ".ps1")) {
        run_script(in, i, Dialect::powershell, 0);
        return;
      }
      // Windows PowerShell takes bare words for a command.
      Word code = word;
      std::uint16_t flags = 0;
      code.text = joined(in.first + i, in.count - i, &flags);
      code.flags = flags;
      Nested options;
      if (const string_view source = source_of(code.span); !source.empty() && source[0] == '"') options.via = via::kShellsWords;
      return code_word(in, code, options, Dialect::powershell);
    }
    text.remove_prefix(1);
    char name[24];
    std::size_t n = 0;
    for (; n < text.size() && n < sizeof name; ++n) name[n] = lower(text[n]);
    const string_view option(name, n);
    const auto is = [&](string_view full, std::size_t least) noexcept {
      return option.size() >= least && starts_with(full, option);
    };
    if (option == "-") continue;
    if (option == "c" || is("command", 3)) {
      if (i + 1 >= in.count) return;
      if (text_of(in, i + 1) == "-") return nested_stream(in, in.input, Nested{}, Dialect::powershell);
      Word code = argument(in, i + 1);
      std::uint16_t flags = 0;
      if (i + 2 < in.count) code.text = joined(in.first + i + 1, in.count - i - 1, &flags);
      code.flags |= flags;
      Nested options;
      if (const string_view source = source_of(code.span); !source.empty() && source[0] == '"') options.via = via::kShellsWords;
      return code_word(in, code, options, Dialect::powershell);
    }
    if (option == "e" || option == "ec" || is("encodedcommand", 2)) {
      if (i + 1 >= in.count) return;
      Word code = argument(in, i + 1);
      string_view decoded;
      if (code.has(word_flag::kUnknown) || !decode_base64(tree_, code.text, &decoded)) {
        uncertain(Unresolved::code, code.span, in.command);
        return;
      }
      // UTF-16: the high bytes of plain text are zero.
      std::size_t room = 0;
      char* out = tree_.draft(&room);
      if (room < decoded.size()) return tree_.set_full();
      std::size_t kept = 0;
      for (std::size_t k = 0; k + 1 < decoded.size(); k += 2) out[kept++] = decoded[k + 1] == 0 ? decoded[k] : '?';
      code.text = tree_.keep(kept);
      code.flags |= word_flag::kDecoded;
      return code_word(in, code, Nested{}, Dialect::powershell);
    }
    if (option == "f" || is("file", 1)) {
      if (i + 1 < in.count) run_script(in, i + 1, Dialect::powershell, 0);
      return;
    }
    if (is("executionpolicy", 2) || option == "ep" || is("windowstyle", 1) || is("version", 1) ||
        is("workingdirectory", 2) || is("configurationname", 3) || is("inputformat", 2) || is("outputformat", 1)) {
      ++i;
    }
  }
  if (in.input.kind != Stream::none && in.input.kind != Stream::unknown) {
    nested_stream(in, in.input, Nested{}, Dialect::powershell);
  }
}

inline void ShellReader::run_cmd(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.size() < 2 || (text[0] != '/' && text[0] != '-')) continue;
    // Git's own shell writes //c, to keep /c from becoming a path.
    const char letter = lower(text.back());
    if ((letter != 'c' && letter != 'k') || i + 1 >= in.count) continue;
    Word code = argument(in, i + 1);
    std::uint16_t flags = 0;
    if (i + 2 < in.count) code.text = joined(in.first + i + 1, in.count - i - 1, &flags);
    code.flags |= flags;
    return code_word(in, code, Nested{}, Dialect::cmd);
  }
}

}  // namespace tipstaff::gate::shell
