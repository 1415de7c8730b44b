// From words to commands: what program it is, and who runs what it carries.
#pragma once

#include "tipstaff/gate/shell_programs.hpp"
#include "tipstaff/gate/shell_redirections.hpp"

namespace tipstaff::gate::shell {

// The base name in lower case, without .exe; empty where it is only known when the command runs.
inline string_view ShellReader::program_name(const Word& word) noexcept {
  string_view name = word.text;
  while (name.size() > 1 && name.back() == '/') name.remove_suffix(1);
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != string_view::npos && slash + 1 < name.size()) name.remove_prefix(slash + 1);
  if (word.has(word_flag::kUnknown) && holds(name, kUnknownPart)) return {};
  bool capitals = false;
  for (const char c : name) capitals = capitals || (c >= 'A' && c <= 'Z');
  if (capitals) {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < name.size()) {
      tree_.set_full();
      return name;
    }
    for (std::size_t i = 0; i < name.size(); ++i) out[i] = lower(name[i]);
    name = tree_.keep(name.size());
  }
  if (name.size() > 4 && ends_with(name, ".exe")) name.remove_suffix(4);
  // npx prisma@5: a program of a package with its version.
  if (const std::size_t version = name.find('@'); version != string_view::npos && version > 0 && name[0] != '@') {
    name = name.substr(0, version);
  }
  if (word.has(word_flag::kGlob) && name != "[" && name.find_first_of("*?[") != string_view::npos) {
    for (const string_view feared : kFeared) {
      if (matches_glob(name, feared)) return feared;
    }
    return {};
  }
  // python3.11 is a python3.
  if (starts_with(name, "python") && name.size() > 7) return name[6] == '2' ? "python2" : "python3";
  if (name.size() > 3 && starts_with(name, "php") && is_digit(name[3])) return "php";
  if (name.size() > 4 && starts_with(name, "perl") && is_digit(name[4])) return "perl";
  if (name.size() > 4 && starts_with(name, "ruby") && is_digit(name[4])) return "ruby";
  return name;
}

inline void ShellReader::run(Invocation& in) noexcept {
  if (session_.level >= kLevels) {
    uncertain(Unresolved::depth, in.span, in.carrier);
    return;
  }
  if ((in.via & via::kContainer) != 0 && session_.mounts.size() != 0) {
    // Paths below a mount are the host's, and so are those seen from a directory that is one.
    const auto below_mount = [&](string_view text) noexcept { return !in.cwd.empty() && !text.empty() && text[0] != '-' && text[0] != '/'; };
    bool mapped = false;
    for (std::uint32_t i = 1; i < in.count && !mapped; ++i) {
      const string_view text = text_of(in, i);
      mapped = below_mount(text);
      for (std::uint32_t m = 0; m < session_.mounts.size(); ++m) {
        mapped = mapped || starts_with(text, session_.mounts[m].inside);
      }
    }
    if (mapped) {
      const std::uint32_t first = tree_.word_count();
      for (std::uint32_t i = 0; i < in.count; ++i) {
        Word word = argument(in, i);
        if (i > 0 && below_mount(word.text)) word.flags |= word_flag::kHostPath;
        for (std::uint32_t m = 0; m < session_.mounts.size() && i > 0 && !word.has(word_flag::kHostPath); ++m) {
          const Mount& mount = session_.mounts[m];
          const std::size_t n = mount.inside.size();
          if (starts_with(word.text, mount.inside) && (word.text.size() == n || word.text[n] == '/' || n == 1)) {
            string_view rest = n == 1 ? word.text : word.text.substr(n);
            string_view host = mount.host;
            if (host == "/" && !rest.empty()) host = {};
            word.text = tree_.join(tree_.copy(host), rest);
            if (word.text.empty()) word.text = "/";
            word.flags |= word_flag::kHostPath;
            break;
          }
        }
        if (tree_.add_word(word) == kNone) return;
      }
      in.first = first;
    }
  }
  const Word name = argument(in, 0);
  Command command;
  command.program = program_name(name);
  command.name = name;
  command.first_word = in.first + 1;
  command.word_count = in.count - 1;
  command.cwd = in.cwd;
  command.carrier = in.carrier;
  command.pipe_from = in.pipe_from;
  command.via = in.via;
  command.span = in.span;
  command.dialect = Dialect::shell;
  if (in.input.kind == Stream::known || in.input.kind == Stream::paths) {
    command.has_input = true;
    command.input.text = in.input.text;
    command.input.span = in.input.span;
    command.input.flags = in.input.flags;
  }
  command.node = add_node(NodeKind::command, in.span, in.node);
  in.command = in.tail = tree_.add_command(command);
  if (in.command == kNone) return;
  if (command.node != kNone) {
    tree_.node(command.node).command = in.command;
    in.node = command.node;
  }
  if (command.program.empty()) {
    if (!name.text.empty() || name.has(word_flag::kUnknown)) {
      uncertain(Unresolved::program, name.span, in.command);
      // $SUDO rm: what may be nothing leaves the next word in its place.
      if (in.count > 1 && name.text == kUnknown && !name.has(word_flag::kQuoted)) {
        const string_view next = program_name(argument(in, 1));
        bool feared = find_program(next).handler != Handler::none;
        for (const string_view other : kFeared) feared = feared || other == next;
        if (feared) run_inner(in, 1, 0);
      }
      in.output.kind = Stream::unknown;
    }
    return;
  }
  if (!in.no_functions) {
    if (session_.functions.size() != 0 && call_function(in)) return;
    if (session_.aliases.size() != 0 && call_alias(in)) return;
  }
  if (run_under_other_name(in, command.program)) return;
  const Program& program = find_program(command.program);
  if (program.handler != Handler::none) {
    dispatch(in, program);
  } else if (in.want_output) {
    find_output(in, program);
  }
  if (program.name.empty() && holds(name.text, '/')) run_path(in);
}

// git-reset is git reset, /etc/init.d/ssh stop is service ssh stop; killing all that ps lists is kill -1.
// Returns whether the command was read as another one.
inline bool ShellReader::run_under_other_name(Invocation& in, string_view program) noexcept {
  string_view before[2];
  std::uint32_t count = 0, skip = 1;
  const string_view written = text_of(in, 0);
  if (starts_with(program, "git-") &&
      one_of(program.substr(4), "reset clean checkout push stash branch restore switch rm gc prune reflog update-ref worktree rebase "
                                "read-tree checkout-index send-pack tag commit config filter-branch submodule")) {
    before[count++] = "git";
    before[count++] = program.substr(4);
  } else if (starts_with(written, "/etc/init.d/") || starts_with(written, "/etc/rc.d/")) {
    before[count++] = "service";
    before[count++] = base_name(written);
  } else if (program == "kill" && kills_all_listed(in)) {
    before[count++] = "kill";
    before[count++] = "-1";
    skip = in.count;
  } else {
    return false;
  }
  const std::uint32_t first = tree_.word_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    Word word = argument(in, 0);
    word.text = before[i];
    word.flags = word_flag::kPseudo;
    if (tree_.add_word(word) == kNone) return false;
  }
  for (std::uint32_t i = skip; i < in.count; ++i) {
    if (tree_.add_word(argument(in, i)) == kNone) return false;
  }
  run_copied(in, first, tree_.word_count() - first, 0, nullptr);
  return true;
}

// kill $(ps -eo pid), ps -eo pid | xargs kill: every process, where nothing narrows the list.
inline bool ShellReader::kills_all_listed(const Invocation& in) noexcept {
  const auto narrows = [](string_view text) noexcept {
    return text.find("grep") != string_view::npos || holds(text, '/') || text.find("-C") != string_view::npos ||
           text.find("--ppid") != string_view::npos || text.find(" -p ") != string_view::npos || text.find(" -u") != string_view::npos ||
           text.find(" -t") != string_view::npos || text.find("==") != string_view::npos || holds(text, '~');
  };
  for (std::uint32_t i = 1; i < in.count; ++i) {
    if (!argument(in, i).has(word_flag::kUnknown)) continue;
    string_view text = source_of(argument(in, i).span);
    while (!text.empty() && holds("\"$(` ", text[0])) text.remove_prefix(1);
    if (starts_with(text, "ps ") && !narrows(text)) return true;
  }
  if ((in.via & via::kArgumentsAdded) == 0) return false;
  std::uint32_t at = in.carrier == kNone ? in.pipe_from : tree_.command(in.carrier).pipe_from;
  for (std::uint32_t steps = 0; at != kNone && steps < 16; ++steps) {
    const Command& other = tree_.command(at);
    if (narrows(source_of(other.span)) || one_of(other.program, "head tail pgrep fzf")) return false;
    if (other.program == "ps") return true;
    at = other.pipe_from;
  }
  return false;
}

inline void ShellReader::dispatch(Invocation& in, const Program& program) noexcept {
  // Its own output first: what it carries may replace it.
  if (in.want_output) find_output(in, program);
  switch (program.handler) {
    case Handler::none: return;
    case Handler::prefix: return run_prefix(in, program);
    case Handler::env: return run_env(in);
    case Handler::code_option: return run_code_option(in, program);
    case Handler::joined: return run_joined(in, program);
    case Handler::shell: return run_shell(in);
    case Handler::eval: return run_eval(in);
    case Handler::source: return run_source(in);
    case Handler::builtin: return run_builtin(in, program);
    case Handler::xargs: return run_xargs(in);
    case Handler::parallel: return run_parallel(in);
    case Handler::find: return run_find(in);
    case Handler::fd: return run_fd(in);
    case Handler::ssh: return run_ssh(in);
    case Handler::container: return run_container(in);
    case Handler::kubectl: return run_kubectl(in);
    case Handler::git: return run_git(in);
    case Handler::make: return run_make(in);
    case Handler::package: return run_package_script(in);
    case Handler::just: return run_just(in);
    case Handler::at: return run_at(in);
    case Handler::crontab: return run_crontab(in);
    case Handler::editor: return run_editor(in);
    case Handler::tar: return run_tar(in);
    case Handler::rsync: return run_rsync(in);
    case Handler::terminal: return run_terminal(in);
    case Handler::sed: return run_sed(in);
    case Handler::tee: return run_tee(in);
    case Handler::download: return run_download(in);
    case Handler::copy: return run_copy(in);
    case Handler::python: return run_interpreter(in, Dialect::python);
    case Handler::node: return run_interpreter(in, Dialect::node);
    case Handler::perl: return run_interpreter(in, Dialect::perl);
    case Handler::ruby: return run_interpreter(in, Dialect::ruby);
    case Handler::php: return run_interpreter(in, Dialect::php);
    case Handler::awk: return run_awk(in);
    case Handler::inline_code: return run_inline(in);
    case Handler::sql: return run_sql(in, program);
    case Handler::redis: return run_redis(in);
    case Handler::mongo: return run_mongo(in);
    case Handler::powershell: return run_powershell(in);
    case Handler::cmd: return run_cmd(in);
    case Handler::tool: return run_tool(in, program);
    case Handler::cloud: return run_cloud(in);
  }
}

// On another machine this one's working directory tells nothing.
inline bool leaves_machine(std::uint32_t before, std::uint32_t added) noexcept {
  return (added & via::kRemote) != 0 && (before & via::kRemote) == 0;
}

// Runs the words of `outer` from `offset` on as a command that it carries.
inline void ShellReader::run_inner(Invocation& outer, std::uint32_t offset, std::uint32_t via) noexcept {
  if (offset >= outer.count) return;
  run_copied(outer, outer.first + offset, outer.count - offset, via, nullptr);
}

inline void ShellReader::run_copied(Invocation& outer, std::uint32_t first, std::uint32_t count, std::uint32_t via,
                                    const Stream* input) noexcept {
  if (count == 0 || first == kNone) return;
  Invocation inner;
  inner.first = first;
  inner.count = count;
  inner.span = {tree_.word(first).span.start, outer.span.end};
  if (inner.span.end < inner.span.start) inner.span = outer.span;
  inner.node = outer.node;
  inner.carrier = outer.command;
  inner.via = outer.via | via;
  inner.cwd = leaves_machine(outer.via, via) ? string_view() : outer.cwd;
  inner.input = input != nullptr ? *input : outer.input;
  inner.pipe_from = outer.pipe_from;
  inner.want_output = outer.want_output;
  inner.no_functions = outer.no_functions;
  ++session_.level;
  run(inner);
  --session_.level;
  if (inner.tail != kNone) outer.tail = inner.tail;
  outer.output = inner.output;
}

inline Frame ShellReader::inner_frame(const Invocation& in, std::uint32_t via) const noexcept {
  Frame frame;
  frame.node = in.node;
  frame.carrier = in.command;
  frame.via = in.via | via;
  frame.depth = frame_.depth;
  frame.cwd = leaves_machine(in.via, via) ? string_view() : in.cwd;
  return frame;
}

// Reads text that `in` carries as shell code, over the same session.
inline void ShellReader::nested(Invocation& in, string_view text, Span span, const Nested& options) noexcept {
  if (text.empty()) return;
  Frame frame = inner_frame(in, options.via);
  if (frame.depth >= limits::kDepth || session_.level + 2 > kLevels) {
    uncertain(Unresolved::depth, span, in.command);
    return;
  }
  if (text.size() > reader_.nested_bytes) {
    uncertain(Unresolved::limit, span, in.command);
    return;
  }
  reader_.nested_bytes -= text.size();
  ++frame.depth;
  const Code code = code_for(text, span);
  frame.node = add_node(NodeKind::code, code.origin, frame.node);
  session_.level += 2;
  ShellReader inner(reader_, session_, code, frame);
  if (options.input != nullptr) inner.input_ = *options.input;
  else inner.input_ = in.input;
  if (options.input == nullptr) inner.pipe_from_ = in.pipe_from;
  Capture capture;
  inner.capture_ = options.capture != nullptr ? options.capture : in.want_output ? &capture : nullptr;
  inner.tail_first_ = options.tail_first;
  inner.tail_count_ = options.tail_count;
  Session::Mark mark{};
  const Positional positional = session_.positional;
  const string_view cwd = session_.cwd;
  if (options.subshell) {
    mark = session_.enter();
    session_.cwd = frame.cwd;
  }
  if (options.has_positional) session_.positional = options.positional;
  inner.read();
  if (options.subshell) {
    session_.leave(mark);
    session_.cwd = cwd;
  } else if (options.has_positional) {
    session_.positional = positional;
  }
  session_.level -= 2;
  if (inner.capture_ == &capture) in.output = capture.stream;
  if (inner.tail_ != kNone) in.tail = inner.tail_;
}

// Reads text that `in` carries as code of another dialect.
inline void ShellReader::other_dialect(Invocation& in, Dialect dialect, string_view text, Span span,
                                       std::uint32_t via) noexcept {
  if (text.empty()) return;
  if (text.size() > reader_.nested_bytes) {
    uncertain(Unresolved::limit, span, in.command);
    return;
  }
  reader_.nested_bytes -= text.size();
  if (dialect != Dialect::sql && dialect != Dialect::redis && dialect != Dialect::mongo) via |= via::kInterpreter;
  read_code(reader_, dialect, code_for(text, span), inner_frame(in, via));
}

// Code from a stream: a pipe, a here-document, a file.
inline void ShellReader::nested_stream(Invocation& in, const Stream& stream, Nested options,
                                       Dialect dialect) noexcept {
  Stream source = stream;
  if (source.kind == Stream::file) {
    source = load(stream, in.cwd);
    if (source.kind == Stream::known) options.via |= via::kScript;
    if (source.kind == Stream::unknown) {
      uncertain(starts_with(stream.text, "/dev/fd/") ? Unresolved::code : Unresolved::script, stream.span, in.command);
      return;
    }
  }
  if (source.decoded) options.via |= via::kDecoded;
  switch (source.kind) {
    case Stream::none:
    case Stream::trusted: return;
    case Stream::known: {
      Stream nothing;
      if (options.input == nullptr) options.input = &nothing;
      if (dialect == Dialect::shell) {
        nested(in, source.text, source.span, options);
      } else {
        other_dialect(in, dialect, source.text, source.span, options.via);
      }
      return;
    }
    case Stream::remote: uncertain(Unresolved::remote_code, in.span, in.command); return;
    case Stream::unknown:
    case Stream::file:
    case Stream::paths:
      uncertain(Unresolved::code, in.span, in.command);
      if (dialect == Dialect::shell && stream.kind == Stream::unknown) read_texts_before(in, options);
      return;
  }
}

// What a pipe makes is not known, but the texts that its commands are given are: print("rm -rf ~") | sh.
inline void ShellReader::read_texts_before(Invocation& in, const Nested& options) noexcept {
  std::uint32_t at = in.pipe_from;
  for (std::uint32_t steps = 0; at != kNone && steps < 4; ++steps) {
    const Command other = tree_.command(at);
    at = other.pipe_from;
    for (std::uint32_t i = 0; i < other.word_count && i < 8; ++i) {
      const Word word = tree_.word(other.first_word + i);
      if (word.has(word_flag::kUnknown)) continue;
      read_texts_in(in, word.text, word.span, options);
    }
    if (other.has_input && !other.input.has(word_flag::kUnknown)) read_texts_in(in, other.input.text, other.input.span, options);
  }
}

inline void ShellReader::read_texts_in(Invocation& in, string_view text, Span span, const Nested& options) noexcept {
  if (!holds(text, ' ') || text.size() > 4096) return;
  const auto feared = [](string_view code) noexcept {
    code = trim(code);
    const string_view first = code.substr(0, code.find_first_of(" \t"));
    for (const string_view name : kFeared) {
      if (first == name && first.size() < code.size()) return true;
    }
    return false;
  };
  if (feared(text)) return nested(in, text, span, options);
  std::uint32_t found = 0;
  for (std::size_t at = 0; at < text.size() && found < 8; ++at) {
    const char quote = text[at];
    if (quote != '"' && quote != '\'') continue;
    const std::size_t close = text.find(quote, at + 1);
    if (close == string_view::npos) return;
    const string_view inside = text.substr(at + 1, close - at - 1);
    at = close;
    if (!feared(inside)) continue;
    ++found;
    nested(in, inside, span, options);
  }
}

// Code from a word: bash -c WORD, eval WORD, psql -c WORD.
inline void ShellReader::code_word(Invocation& in, const Word& word, const Nested& given, Dialect dialect) noexcept {
  Nested options = given;
  if (word.has(word_flag::kDecoded)) options.via |= via::kDecoded;
  if (word.has(word_flag::kUnknown)) {
    const bool all = trim(word.text) == kUnknown;
    if (word.has(word_flag::kNetwork)) {
      uncertain(Unresolved::remote_code, word.span, in.command);
    } else if (all && !word.has(word_flag::kTrusted)) {
      uncertain(Unresolved::code, word.span, in.command);
    }
    if (all) return;
  }
  if (dialect == Dialect::shell) {
    nested(in, word.text, word.span, options);
  } else {
    other_dialect(in, dialect, word.text, word.span, options.via);
  }
}

// What a word says as text: a quoted tilde is written ./~ where it is meant as a path.
inline string_view as_text(const Word& word) noexcept {
  const string_view text = word.text;
  const bool tilde = word.has(word_flag::kQuoted) && starts_with(text, "./~") && (text.size() == 3 || text[3] == '/');
  return tilde ? text.substr(2) : text;
}

// Words as one text with single spaces between them.
inline string_view ShellReader::joined(std::uint32_t first, std::uint32_t count, std::uint16_t* flags) noexcept {
  string_view text;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Word& word = tree_.word(first + i);
    *flags |= word.flags;
    if (i > 0) text = tree_.join(text, " ");
    text = tree_.join(text, as_text(word));
  }
  return text;
}

inline bool ShellReader::call_function(Invocation& in) noexcept {
  const string_view name = argument(in, 0).text;
  for (std::uint32_t i = session_.functions.size(); i-- > 0;) {
    Function& function = session_.functions[i];
    if (function.name != name) continue;
    if (function.running) {
      // A function that starts itself beside itself.
      const Command& self = tree_.command(in.command);
      if (self.pipe_from != kNone || (pos_ < end_ && (*pos_ == '|' || *pos_ == '&'))) {
        emit_file("@fork-bomb", argument(in, 0), false, in.command, in.via, in.cwd);
      }
      return true;
    }
    if (function.body.size() > reader_.nested_bytes || frame_.depth >= limits::kDepth ||
        session_.level + 2 > kLevels) {
      uncertain(Unresolved::depth, in.span, in.command);
      return true;
    }
    reader_.nested_bytes -= function.body.size();
    function.running = true;
    const Positional outer = session_.positional;
    session_.positional = Positional{in.first + 1, in.count - 1, true, outer.zero};
    Frame frame = inner_frame(in, via::kFunction);
    frame.via &= ~via::kDefinition;
    frame.via |= in.via & via::kDefinition;
    ++frame.depth;
    session_.level += 2;
    ShellReader inner(reader_, session_, Code{function.body, function.origin, function.verbatim}, frame);
    inner.input_ = in.input;
    inner.pipe_from_ = in.pipe_from;
    Capture capture;
    if (in.want_output) inner.capture_ = &capture;
    inner.read();
    session_.level -= 2;
    session_.positional = outer;
    session_.functions[i].running = false;
    in.output = capture.stream;
    if (inner.tail_ != kNone) in.tail = inner.tail_;
    return true;
  }
  return false;
}

inline bool ShellReader::call_alias(Invocation& in) noexcept {
  const Word& name = argument(in, 0);
  if (name.has(word_flag::kQuoted)) return false;
  for (std::uint32_t i = session_.aliases.size(); i-- > 0;) {
    const Alias alias = session_.aliases[i];
    if (alias.name != name.text) continue;
    Nested options;
    options.via = via::kFunction;
    options.subshell = false;
    options.tail_first = in.first + 1;
    options.tail_count = in.count - 1;
    // An alias does not name itself.
    session_.aliases[i].name = {};
    nested(in, alias.text, alias.span, options);
    if (i < session_.aliases.size()) session_.aliases[i].name = alias.name;
    return true;
  }
  return false;
}

// The first operand from `from` on, behind options and their values.
inline std::uint32_t ShellReader::after_options(const Invocation& in, std::uint32_t from, string_view short_values,
                                                string_view long_values) noexcept {
  std::uint32_t i = from;
  while (i < in.count) {
    const string_view text = text_of(in, i);
    if (text.size() < 2 || text[0] != '-') return i;
    if (text == "--") return i + 1;
    ++i;
    if (text[1] == '-' || one_of(text, long_values)) {
      if (one_of(text, long_values)) ++i;
      continue;
    }
    for (std::size_t k = 1; k < text.size(); ++k) {
      if (!holds(short_values, text[k])) continue;
      if (k + 1 == text.size()) ++i;
      break;
    }
  }
  return i < in.count ? i : in.count;
}

// An option with a value: -x VALUE, -xVALUE, --name VALUE, --name=VALUE. Returns its index, or kNone.
inline std::uint32_t ShellReader::find_option(const Invocation& in, char letter, string_view name,
                                              Word* value) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word& word = argument(in, i);
    const string_view text = word.text;
    if (text == "--") return kNone;
    if (text.size() < 2 || text[0] != '-') continue;
    if (!name.empty() && starts_with(text, name)) {
      if (text.size() == name.size()) {
        if (i + 1 >= in.count) return kNone;
        *value = argument(in, i + 1);
        return i;
      }
      if (text[name.size()] == '=') {
        *value = word;
        value->text.remove_prefix(name.size() + 1);
        return i;
      }
    }
    if (letter == '\0' || text[1] == '-') continue;
    const std::size_t at = text.find(letter, 1);
    if (at == string_view::npos) continue;
    if (at + 1 < text.size()) {
      *value = word;
      value->text.remove_prefix(at + 1);
      return i;
    }
    if (i + 1 >= in.count) return kNone;
    *value = argument(in, i + 1);
    return i;
  }
  return kNone;
}

}  // namespace tipstaff::gate::shell
