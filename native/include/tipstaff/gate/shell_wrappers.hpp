// Programs that run other commands: sudo, env, xargs, find -exec, ssh, watch, editors, archivers ...
#pragma once

#include "tipstaff/gate/shell_outputs.hpp"

namespace tipstaff::gate::shell {

inline bool is_assignment(string_view text) noexcept {
  const std::size_t equals = text.find('=');
  return equals != string_view::npos && is_name(text.substr(0, equals));
}

// sudo, nice, timeout ...: options, some operands, then a command.
inline void ShellReader::run_prefix(Invocation& in, const Program& program) noexcept {
  const string_view name = program.name;
  if (name == "command" || name == "builtin") {
    in.no_functions = true;
    if (in.count > 1 && (text_of(in, 1) == "-v" || text_of(in, 1) == "-V")) return;
  }
  if ((name == "gdb" || name == "lldb") && in.count > 1) {
    // Only with --args (or -- for lldb) does a command follow; -ex 'shell ...' runs one.
    for (std::uint32_t i = 1; i < in.count; ++i) {
      const string_view text = text_of(in, i);
      if ((text == "-ex" || text == "-iex" || text == "--eval-command" || text == "-o") && i + 1 < in.count) {
        Word word = argument(in, i + 1);
        const string_view sign = starts_with(word.text, "shell ") ? "shell " : starts_with(word.text, "!") ? "!" : "";
        if (sign.empty()) continue;
        word.text.remove_prefix(sign.size());
        code_word(in, word, Nested{}, Dialect::shell);
      }
      if (text == "--args" || text == "--") {
        run_inner(in, i + 1, 0);
        return;
      }
    }
    return;
  }
  std::uint32_t at = after_options(in, 1, program.short_values, program.long_values);
  if (program.via == via::kSudo || name == "cross-env") {
    if (name == "sudo") {
      Word directory;
      if (find_option(in, 'D', "--chdir", &directory) != kNone && !directory.text.empty() &&
          starts_with(text_of(in, 1), "-D")) {
        in.cwd = resolve(in.cwd, directory.text);
      }
      // sudo -e edits, -l lists, -v and -k do nothing.
      if (in.count > 1 && one_of(text_of(in, 1), "-e -l -v -k -K --edit --list --validate")) {
        if (text_of(in, 1) == "-e" || text_of(in, 1) == "--edit") {
          for (std::uint32_t i = at; i < in.count; ++i) {
            emit_file("@write", argument(in, i), false, in.command, in.via | via::kSudo, in.cwd);
          }
        }
        return;
      }
      // sudo -i and sudo -s without a command read one.
      if (at >= in.count && in.count > 1 && in.input.kind != Stream::none) {
        Nested options;
        options.via = via::kSudo | via::kEvaluated;
        return nested_stream(in, in.input, options, Dialect::shell);
      }
    }
    while (at < in.count && is_assignment(text_of(in, at))) ++at;
  }
  at += program.operands;
  if (name == "npx" || name == "bunx" || name == "pnpx") {
    Word code;
    if (find_option(in, 'c', "--call", &code) != kNone) return code_word(in, code, Nested{}, Dialect::shell);
  }
  if (name == "unshare" || name == "nsenter" || name == "chroot" || name == "timeout" || name == "exec") {
    if (at < in.count && text_of(in, at) == "--") ++at;
  }
  if (name == "bwrap") {
    // Many options with one or two values each: the command begins behind --, or at the first known program.
    for (std::uint32_t i = 1; i < in.count; ++i) {
      if (text_of(in, i) == "--") at = i + 1;
    }
  }
  run_inner(in, at, program.via);
}

inline void ShellReader::run_env(Invocation& in) noexcept {
  std::uint32_t i = 1;
  while (i < in.count) {
    const Word& word = argument(in, i);
    const string_view text = word.text;
    if (text == "--") {
      ++i;
      break;
    }
    if (starts_with(text, "-S") || starts_with(text, "--split-string")) {
      // One text with the words in it, and those that follow.
      Word code = word;
      const std::size_t equals = text.find('=');
      if (text == "-S" || text == "--split-string") {
        if (++i >= in.count) return;
        code = argument(in, i);
      } else if (text[1] == 'S') {
        code.text.remove_prefix(2);
      } else if (equals != string_view::npos) {
        code.text.remove_prefix(equals + 1);
      }
      Nested options;
      options.tail_first = in.first + i + 1;
      options.tail_count = in.count - i - 1;
      return code_word(in, code, options, Dialect::shell);
    }
    if (text == "-C" || text == "--chdir" || text == "-u" || text == "--unset") {
      if (text == "-C" || text == "--chdir") in.cwd = i + 1 < in.count ? resolve(in.cwd, text_of(in, i + 1)) : in.cwd;
      i += 2;
    } else if (starts_with(text, "--chdir=")) {
      in.cwd = resolve(in.cwd, text.substr(8));
      ++i;
    } else if ((!text.empty() && text[0] == '-') || is_assignment(text)) {
      ++i;
    } else {
      break;
    }
  }
  run_inner(in, i, 0);
}

// su -c CODE, script -c CODE, flock FILE -c CODE; flock FILE COMMAND.
inline void ShellReader::run_code_option(Invocation& in, const Program& program) noexcept {
  Word code;
  Nested options;
  options.via = program.via | via::kEvaluated;
  const string_view name = program.name;
  string_view long_name = "--command";
  if (name == "nix-shell") long_name = "--run";
  if (name == "nodemon") long_name = "--exec";
  const char letter = name == "nix-shell" ? '\0' : name == "nodemon" ? 'x' : 'c';
  if (name == "expect") {
    // Tcl, of which only what it starts matters.
    if (find_option(in, 'c', "", &code) == kNone) return;
    for (std::size_t at = code.text.find("spawn "); at != string_view::npos; at = code.text.find("spawn ", at)) {
      at += 6;
      Word started = code;
      started.text = code.text.substr(at, code.text.find_first_of(";\n", at) - at);
      code_word(in, started, options, Dialect::shell);
    }
    return;
  }
  if (find_option(in, letter, long_name, &code) != kNone) return code_word(in, code, options, Dialect::shell);
  if (name == "flock") {
    std::uint32_t at = after_options(in, 1, program.short_values, program.long_values) + 1;
    return run_inner(in, at, 0);
  }
  if (name == "runuser") {
    for (std::uint32_t i = 1; i < in.count; ++i) {
      if (text_of(in, i) == "--" && find_option(in, 'u', "--user", &code) != kNone) {
        return run_inner(in, i + 1, program.via);
      }
    }
    if (find_option(in, 'u', "--user", &code) != kNone) {
      return run_inner(in, after_options(in, 1, program.short_values, "--user --group"), program.via);
    }
  }
  if (name == "su" && in.input.kind != Stream::none) nested_stream(in, in.input, options, Dialect::shell);
}

// watch, hyperfine: each operand, or all of them joined, is shell code.
inline void ShellReader::run_joined(Invocation& in, const Program& program) noexcept {
  const std::uint32_t at = after_options(in, 1, program.short_values, program.long_values);
  if (at >= in.count) return;
  Nested options;
  options.via = via::kEvaluated;
  if (program.name == "hyperfine") {
    for (std::uint32_t i = at; i < in.count; ++i) code_word(in, argument(in, i), options, Dialect::shell);
    Word code;
    if (find_option(in, 'p', "--prepare", &code) != kNone) code_word(in, code, options, Dialect::shell);
    if (find_option(in, 'c', "--cleanup", &code) != kNone) code_word(in, code, options, Dialect::shell);
    return;
  }
  Word word = argument(in, at);
  if (at + 1 < in.count) {
    std::uint16_t flags = 0;
    word.text = joined(in.first + at, in.count - at, &flags);
    word.flags = flags;
    word.span.end = argument(in, in.count - 1).span.end;
  }
  code_word(in, word, options, Dialect::shell);
}

// Adds a text's words to the tree, or its lines. Returns how many.
inline std::uint32_t ShellReader::split_words(string_view text, std::uint16_t flags, Span span, bool lines) noexcept {
  std::uint32_t count = 0;
  std::size_t at = 0;
  const auto apart = [lines](char c) noexcept { return c == '\n' || c == '\0' || (!lines && is_blank(c)); };
  while (at < text.size() && !tree_.full()) {
    while (at < text.size() && (is_blank(text[at]) || apart(text[at]))) ++at;
    std::size_t end = at;
    while (end < text.size() && !apart(text[end])) ++end;
    if (end == at) break;
    string_view part = text.substr(at, end - at);
    if (part.size() > 1 && (part.front() == '\'' || part.front() == '"') && part.back() == part.front()) {
      part = part.substr(1, part.size() - 2);
    }
    Word word;
    word.text = part;
    word.span = span;
    word.flags = flags;
    if (holds(part, kUnknownPart)) word.flags |= word_flag::kUnknown;
    if (tree_.add_word(word) == kNone) break;
    ++count;
    at = end;
  }
  return count;
}

// Pushes what a stream names as words that a program adds; unknown ones as one unknown word.
inline void ShellReader::push_roots(const Stream& stream, Span span, bool lines) noexcept {
  const std::uint16_t base = word_flag::kAppended | word_flag::kPseudo;
  std::uint32_t count = 0;
  if (stream.kind == Stream::paths) {
    count = split_words(stream.text, static_cast<std::uint16_t>(base | word_flag::kGlob | stream.flags), span, lines);
  } else if (stream.kind == Stream::known) {
    count = split_words(stream.text, static_cast<std::uint16_t>(base | stream.flags), span, lines);
    if (count == 0) return;
  }
  if (count != 0) return;
  Word word;
  word.text = kUnknown;
  word.span = span;
  word.flags = static_cast<std::uint16_t>(base | word_flag::kUnknown);
  if (stream.kind == Stream::remote) word.flags |= word_flag::kNetwork;
  tree_.add_word(word);
}

inline void ShellReader::run_xargs(Invocation& in) noexcept {
  const std::uint32_t at = after_options(in, 1, "IEdaLnPsR", "--arg-file --delimiter --max-args --max-procs --max-lines "
                                         "--replace --max-chars --process-slot-var");
  string_view mark;
  Stream input = in.input;
  for (std::uint32_t i = 1; i < at; ++i) {
    const string_view text = text_of(in, i);
    if (starts_with(text, "-I")) mark = text.size() > 2 ? text.substr(2) : i + 1 < in.count ? text_of(in, i + 1) : "{}";
    else if (text == "-i" || text == "--replace") mark = "{}";
    else if (starts_with(text, "--replace=")) mark = text.substr(10);
    else if ((text == "-a" || text == "--arg-file") && i + 1 < in.count) {
      input = Stream{};
      input.kind = Stream::file;
      input.text = text_of(in, i + 1);
    }
  }
  if (input.kind == Stream::file) input = load(input, in.cwd);
  if (at >= in.count) return;
  const std::uint32_t first = tree_.word_count();
  const Span span = in.span;
  if (mark.empty()) {
    for (std::uint32_t i = at; i < in.count; ++i) {
      if (tree_.add_word(argument(in, i)) == kNone) return;
    }
    push_roots(input, span, false);
  } else {
    // The mark is replaced in every word: once for each that is known.
    const std::uint32_t roots = tree_.word_count();
    push_roots(input, span, true);
    const std::uint32_t count = tree_.word_count() - roots;
    const std::uint32_t begin = tree_.word_count();
    for (std::uint32_t i = at; i < in.count; ++i) {
      const Word word = argument(in, i);
      const std::size_t found = word.text.find(mark);
      if (found == string_view::npos) {
        if (tree_.add_word(word) == kNone) return;
        continue;
      }
      for (std::uint32_t k = 0; k < count && k < Session::kAlternatives; ++k) {
        Word made = word;
        const Word root = tree_.word(roots + k);
        made.text = tree_.join(tree_.join(tree_.copy(word.text.substr(0, found)), root.text),
                               word.text.substr(found + mark.size()));
        made.flags |= root.flags;
        if (tree_.add_word(made) == kNone) return;
      }
    }
    Stream none;
    return run_copied(in, begin, tree_.word_count() - begin, via::kArgumentsAdded, &none);
  }
  Stream none;
  run_copied(in, first, tree_.word_count() - first, via::kArgumentsAdded, &none);
}

// parallel COMMAND ::: VALUES, or with the values on the input.
inline void ShellReader::run_parallel(Invocation& in) noexcept {
  const std::uint32_t at = after_options(in, 1, "jaIdNnLPSs", "--jobs --arg-file --colsep --delimiter --joblog --sshlogin "
                                         "--results --tmpdir --timeout --delay --workdir --wd");
  std::uint32_t colons = at;
  while (colons < in.count && !starts_with(text_of(in, colons), ":::")) ++colons;
  const bool given = colons < in.count;
  std::uint16_t flags = 0;
  const std::uint32_t roots = tree_.word_count();
  if (given) {
    for (std::uint32_t i = colons + 1; i < in.count; ++i) {
      Word word = argument(in, i);
      if (starts_with(word.text, ":::")) continue;
      word.flags |= word_flag::kAppended;
      if (tree_.add_word(word) == kNone) return;
    }
  } else if (at < in.count || in.input.kind != Stream::none) {
    push_roots(in.input, in.span, true);
  }
  const std::uint32_t count = tree_.word_count() - roots;
  if (at == colons) {
    // Without a command each value is one.
    for (std::uint32_t k = 0; k < count && given; ++k) {
      code_word(in, tree_.word(roots + k), Nested{}, Dialect::shell);
    }
    if (!given) nested_stream(in, in.input, Nested{}, Dialect::shell);
    return;
  }
  bool placed = false;
  const std::uint32_t first = tree_.word_count();
  // A single quoted text is shell code; so are several words, once the values are put in.
  string_view text;
  for (std::uint32_t i = at; i < colons; ++i) {
    const Word word = argument(in, i);
    const std::size_t found = word.text.find("{}");
    if (found == string_view::npos || count == 0) {
      if (tree_.add_word(word) == kNone) return;
      continue;
    }
    placed = true;
    for (std::uint32_t k = 0; k < count && k < Session::kAlternatives; ++k) {
      Word made = word;
      const Word root = tree_.word(roots + k);
      made.text = tree_.join(tree_.join(tree_.copy(word.text.substr(0, found)), root.text), word.text.substr(found + 2));
      made.flags |= root.flags;
      if (tree_.add_word(made) == kNone) return;
    }
  }
  for (std::uint32_t k = 0; k < count && !placed; ++k) {
    if (tree_.add_word(tree_.word(roots + k)) == kNone) return;
  }
  const std::uint32_t total = tree_.word_count() - first;
  if (colons - at == 1 && text_of(in, at).find(' ') != string_view::npos) {
    Nested options;
    options.via = via::kArgumentsAdded;
    for (std::uint32_t k = 0; k < total && placed; ++k) code_word(in, tree_.word(first + k), options, Dialect::shell);
    if (placed) return;
    Word word = argument(in, at);
    word.text = joined(first, total, &flags);
    word.flags = flags;
    return code_word(in, word, options, Dialect::shell);
  }
  Stream none;
  run_copied(in, first, total, via::kArgumentsAdded, &none);
}

inline void ShellReader::run_find(Invocation& in) noexcept {
  // The places it starts from stand for what it finds below them.
  std::uint32_t begin = 1;
  while (begin < in.count && one_of(text_of(in, begin), "-H -L -P")) ++begin;
  std::uint32_t end = begin;
  while (end < in.count) {
    const string_view text = text_of(in, end);
    if (text.empty() || text[0] == '-' || text == "(" || text == "!") break;
    ++end;
  }
  for (std::uint32_t i = end; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (!one_of(text, "-exec -execdir -ok -okdir")) continue;
    std::uint32_t stop = i + 1;
    while (stop < in.count && text_of(in, stop) != ";" &&
           !(text_of(in, stop) == "+" && text_of(in, stop - 1) == "{}")) {
      ++stop;
    }
    const std::uint32_t first = tree_.word_count();
    for (std::uint32_t k = i + 1; k < stop; ++k) {
      const Word word = argument(in, k);
      const std::size_t found = word.text.find("{}");
      if (found == string_view::npos) {
        if (tree_.add_word(word) == kNone) return;
        continue;
      }
      const std::uint32_t places = end > begin ? end - begin : 1;
      for (std::uint32_t place = 0; place < places; ++place) {
        Word made = end > begin ? argument(in, begin + place) : word;
        if (end == begin) made.text = ".";
        made.flags |= word_flag::kAppended | word_flag::kGlob;
        if (word.text.size() != 2) {
          made.text = tree_.join(tree_.join(tree_.copy(word.text.substr(0, found)), made.text), word.text.substr(found + 2));
        }
        if (tree_.add_word(made) == kNone) return;
      }
    }
    Stream none;
    run_copied(in, first, tree_.word_count() - first, via::kArgumentsAdded, &none);
    i = stop;
  }
}

// fd ... -x COMMAND, -X COMMAND
inline void ShellReader::run_fd(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (!one_of(text, "-x -X --exec --exec-batch")) continue;
    Invocation asked = in;
    asked.count = i;
    find_output(asked, find_program("fd"));
    const std::uint32_t roots = tree_.word_count();
    push_roots(asked.output, in.span, true);
    const std::uint32_t count = tree_.word_count() - roots;
    const std::uint32_t first = tree_.word_count();
    bool placed = false;
    for (std::uint32_t k = i + 1; k < in.count && text_of(in, k) != ";"; ++k) {
      const Word word = argument(in, k);
      if (word.text.size() >= 2 && word.text[0] == '{' && word.text.back() == '}') {
        placed = true;
        for (std::uint32_t r = 0; r < count; ++r) {
          if (tree_.add_word(tree_.word(roots + r)) == kNone) return;
        }
      } else if (tree_.add_word(word) == kNone) {
        return;
      }
    }
    for (std::uint32_t r = 0; r < count && !placed; ++r) {
      if (tree_.add_word(tree_.word(roots + r)) == kNone) return;
    }
    Stream none;
    run_copied(in, first, tree_.word_count() - first, via::kArgumentsAdded, &none);
    return;
  }
}

inline void ShellReader::run_ssh(Invocation& in) noexcept {
  // Options may stand on either side of the host.
  constexpr string_view kValues = "bcDEeFIiJLlmOopQRSWwBP";
  std::uint32_t at = after_options(in, 1, kValues, "");
  for (std::uint32_t i = 1; i < in.count; ++i) {
    string_view text = text_of(in, i);
    if (starts_with(text, "-o") && text.size() > 2) text.remove_prefix(2);
    for (const string_view option : {string_view("ProxyCommand="), string_view("LocalCommand="),
                                     string_view("KnownHostsCommand="), string_view("ProxyCommand ")}) {
      if (!starts_with(text, option)) continue;
      Word code = argument(in, i);
      code.text = text.substr(option.size());
      Nested options;
      options.via = via::kEvaluated;
      code_word(in, code, options, Dialect::shell);
    }
  }
  if (at >= in.count) return;
  at = after_options(in, at + 1, kValues, "");
  if (at < in.count && text_of(in, at) == "--") ++at;
  Invocation remote = in;
  remote.cwd = {};
  Nested options;
  options.via = via::kRemote | via::kEvaluated;
  options.input = &in.input;
  if (at >= in.count) {
    options.input = nullptr;
    if (in.input.kind != Stream::none && in.input.kind != Stream::unknown) {
      nested_stream(remote, in.input, options, Dialect::shell);
    }
    in.output = Stream{};
    in.output.kind = Stream::remote;
    return;
  }
  Word word = argument(in, at);
  if (at + 1 < in.count) {
    std::uint16_t flags = 0;
    word.text = joined(in.first + at, in.count - at, &flags);
    word.flags = flags;
    word.span.end = argument(in, in.count - 1).span.end;
  }
  code_word(remote, word, options, Dialect::shell);
  in.tail = remote.tail;
  in.output = Stream{};
  in.output.kind = Stream::remote;
}

// vim -c '!cmd', +'!cmd'; ed and ex with commands on their input.
inline void ShellReader::run_editor(Invocation& in) noexcept {
  Nested options;
  options.via = via::kEvaluated;
  const auto command = [&](Word word, string_view text) noexcept {
    while (!text.empty() && (text[0] == ':' || is_blank(text[0]))) text.remove_prefix(1);
    std::size_t sign = text.find('!');
    if (starts_with(text, "silent")) sign = text.find("!", starts_with(text, "silent!") ? 7 : 6);
    if (starts_with(text, "call system(") || starts_with(text, "!")) sign = text.find_first_of("!(");
    if (sign == string_view::npos) return;
    // Only a command whose name is all before the sign: q!, wq! and w! save or leave.
    const string_view before = trim(text.substr(0, sign));
    const bool runs = before.empty() || one_of(before, "silent silent! exe execute r read w %! % term terminal :") ||
                      before.find_first_not_of("0123456789,$%.'<>") == string_view::npos ||
                      starts_with(text, "call system(");
    if (!runs || sign + 1 >= text.size()) return;
    string_view code = text.substr(sign + 1);
    if (starts_with(text, "call system(")) {
      code = trim(code);
      if (code.size() > 3) code = code.substr(1, code.size() - 3);
    }
    word.text = code;
    code_word(in, word, options, Dialect::shell);
  };
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    const string_view text = word.text;
    const bool letters = text.size() > 1 && text[0] == '-' && text[1] != '-';
    if (((letters && text.back() == 'c') || text == "--cmd") && i + 1 < in.count) {
      command(argument(in, i + 1), text_of(in, i + 1));
      ++i;
    } else if (letters && text[1] == 'c') {
      command(word, text.substr(2));
    } else if (text.size() > 1 && text[0] == '+') {
      command(word, text.substr(1));
    }
  }
  if (in.input.kind != Stream::known) return;
  string_view rest = in.input.text;
  while (!rest.empty()) {
    std::size_t newline = rest.find('\n');
    if (newline == string_view::npos) newline = rest.size();
    const string_view line = trim(rest.substr(0, newline));
    if (!line.empty() && line[0] == '!') {
      Word word;
      word.span = in.input.span;
      command(word, line);
    }
    rest.remove_prefix(newline < rest.size() ? newline + 1 : newline);
  }
}

inline void ShellReader::run_tar(Invocation& in) noexcept {
  Nested options;
  options.via = via::kEvaluated;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    Word word = argument(in, i);
    const string_view text = word.text;
    const std::size_t equals = text.find('=');
    if (starts_with(text, "--checkpoint-action") ) {
      string_view action = equals != string_view::npos ? text.substr(equals + 1)
                           : i + 1 < in.count ? text_of(in, i + 1) : string_view();
      if (!starts_with(action, "exec=")) continue;
      word.text = action.substr(5);
    } else if (starts_with(text, "--to-command") || starts_with(text, "--use-compress-program") ||
               starts_with(text, "--rsh-command") || starts_with(text, "--info-script") ||
               starts_with(text, "--new-volume-script")) {
      word.text = equals != string_view::npos ? text.substr(equals + 1)
                  : i + 1 < in.count ? text_of(in, i + 1) : string_view();
    } else if (text == "-I" && i + 1 < in.count) {
      word = argument(in, i + 1);
    } else {
      continue;
    }
    code_word(in, word, options, Dialect::shell);
  }
}

inline void ShellReader::run_rsync(Invocation& in) noexcept {
  Word code;
  Nested options;
  options.via = via::kEvaluated;
  if (find_option(in, '\0', "--rsh", &code) != kNone) code_word(in, code, options, Dialect::shell);
  for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
    if (text_of(in, i) == "-e") code_word(in, argument(in, i + 1), options, Dialect::shell);
  }
  options.via |= via::kRemote;
  if (find_option(in, '\0', "--rsync-path", &code) != kNone) code_word(in, code, options, Dialect::shell);
}

// tmux new-session 'code', tmux send-keys 'code' Enter; screen -dm command, screen -X stuff 'code'.
inline void ShellReader::run_terminal(Invocation& in) noexcept {
  Nested options;
  options.via = via::kEvaluated | via::kBackground;
  if (program_name(argument(in, 0)) == "screen") {
    for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
      if (text_of(in, i) != "stuff") continue;
      Word keys = argument(in, i + 1);
      if (holds(keys.text, '\\')) keys.text = decode_escapes(tree_, keys.text, Escapes::ansi_c);
      return code_word(in, keys, options, Dialect::shell);
    }
    std::uint32_t at = after_options(in, 1, "SctTehpspX", "");
    return run_inner(in, at, via::kBackground);
  }
  std::uint32_t at = after_options(in, 1, "cfLSTI", "");
  if (at >= in.count) return;
  const string_view verb = text_of(in, at);
  if (one_of(verb, "new new-session neww new-window splitw split-window respawn-pane respawnp respawn-window "
                   "popup display-popup run-shell run pipe-pane if-shell")) {
    at = after_options(in, at + 1, one_of(verb, "popup display-popup") ? "bcdehsStTwxy" : "cefFlnstxy", "");
  } else if (verb == "send-keys" || verb == "send") {
    at = after_options(in, at + 1, "tN", "");
  } else {
    return;
  }
  if (at >= in.count) return;
  std::uint32_t count = in.count - at;
  // What ends it, as keys: Enter, C-m.
  while (count > 1 && one_of(text_of(in, at + count - 1), "Enter C-m ENTER KPEnter")) --count;
  Word word = argument(in, at);
  if (count > 1) {
    std::uint16_t flags = 0;
    word.text = joined(in.first + at, count, &flags);
    word.flags = flags;
  }
  code_word(in, word, options, Dialect::shell);
}

// GNU sed: the command e, the flag e of s, and w FILE.
inline void ShellReader::run_sed(Invocation& in) noexcept {
  bool scripts = false;
  const auto script = [&](const Word& word) noexcept {
    const string_view text = trim(word.text);
    // An address, then e and a command.
    std::size_t at = text.find_first_not_of("0123456789,$ !");
    if (at == string_view::npos) return;
    if (text[at] == 'e' && at + 2 < text.size() && text[at + 1] == ' ') {
      Word code = word;
      code.text = text.substr(at + 2);
      Nested options;
      options.via = via::kEvaluated;
      return code_word(in, code, options, Dialect::shell);
    }
    if (text[at] == 'w' && at + 2 < text.size() && text[at + 1] == ' ') {
      Word path = word;
      path.text = text.substr(at + 2);
      return emit_file("@write", path, false, in.command, in.via, in.cwd);
    }
    if (text[at] == 's' && at + 1 < text.size()) {
      const char mark = text[at + 1];
      std::size_t ends[2] = {0, 0};
      int found = 0;
      for (std::size_t i = at + 2; i < text.size() && found < 2; ++i) {
        if (text[i] == '\\') ++i;
        else if (text[i] == mark) ends[found++] = i;
      }
      if (found < 2) return;
      const string_view flags = text.substr(ends[1] + 1);
      const std::size_t write = flags.find("w ");
      if (flags.find('e') != string_view::npos && flags.find('e') < (write == string_view::npos ? flags.size() : write)) {
        Word code = word;
        code.text = text.substr(ends[0] + 1, ends[1] - ends[0] - 1);
        Nested options;
        options.via = via::kEvaluated;
        code_word(in, code, options, Dialect::shell);
      }
      if (write != string_view::npos && flags.find_first_of(";}\n") > write) {
        Word path = word;
        path.text = flags.substr(write + 2);
        emit_file("@write", path, false, in.command, in.via, in.cwd);
      }
    }
  };
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if ((text == "-e" || text == "--expression") && i + 1 < in.count) {
      scripts = true;
      script(argument(in, ++i));
    } else if (starts_with(text, "--expression=")) {
      scripts = true;
      Word word = argument(in, i);
      word.text.remove_prefix(13);
      script(word);
    } else if (text == "-f" || text == "--file") {
      scripts = true;
      ++i;
    } else if (text.empty() || text[0] != '-') {
      if (!scripts) script(argument(in, i));
      return;
    }
  }
}

inline void ShellReader::run_tee(Invocation& in) noexcept {
  bool append_to = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (word.text == "-a" || word.text == "--append") append_to = true;
    if (word.text.empty() || word.text[0] == '-' || word.text == "/dev/null" || word.text == "/dev/stderr") continue;
    if (word.has(word_flag::kPseudo)) continue;
    emit_file("@write", word, append_to, in.command, in.via, in.cwd);
    remember_file(in.cwd, word.text, in.input, append_to);
  }
  if (in.want_output) in.output = in.input;
}

// curl -o FILE, wget -O FILE: the file's content comes from the network.
inline void ShellReader::run_download(Invocation& in) noexcept {
  Stream content;
  content.kind = Stream::remote;
  content.span = in.span;
  const string_view program = tree_.command(in.command).program;
  Word path;
  const bool curl = program == "curl";
  const char letter = curl || program == "aria2c" || program == "http" || program == "https" || program == "fetch" ? 'o' : 'O';
  const string_view name = curl ? "--output" : program == "wget" ? "--output-document" : "--out";
  if (find_option(in, letter, name, &path) != kNone && path.text != "-" && !path.text.empty()) {
    remember_file(in.cwd, path.text, content, false);
    in.output = Stream{};
    return;
  }
  bool named = program == "wget" || program == "aria2c";
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (curl && text.size() > 1 && text[0] == '-' && text[1] != '-' && holds(text, 'O')) named = true;
    if (curl && text == "--remote-name") named = true;
    if (program == "wget" && (text == "-qO-" || text == "-O-" || text == "-" || ends_with(text, "O-"))) return;
  }
  if (!named) return;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.empty() || text[0] == '-' || !holds(text, '/')) continue;
    string_view file = base_name(text);
    file = file.substr(0, file.find('?'));
    if (!file.empty()) remember_file(in.cwd, file, content, false);
  }
  if (in.want_output && named) in.output = Stream{};
}

// cp, mv, ln, install: a file whose content is known is known under its other name too.
inline void ShellReader::run_copy(Invocation& in) noexcept {
  if (in.count < 3) return;
  const string_view to = text_of(in, in.count - 1), from = text_of(in, in.count - 2);
  if (session_.files.size() == 0 || from.empty() || from[0] == '-' || to.empty()) return;
  const string_view resolved = resolve(in.cwd, from);
  const WrittenFile* file = session_.find_file(resolved.empty() ? from : resolved);
  if (file == nullptr) return;
  const Stream content = file->content;
  remember_file(in.cwd, to, content, false);
  if (to.back() == '/' || to == ".") {
    const string_view inside = tree_.join(tree_.join(tree_.copy(to), "/"), base_name(from));
    remember_file(in.cwd, inside, content, false);
  }
}

}  // namespace tipstaff::gate::shell
