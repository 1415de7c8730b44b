// Programs that run the command which follows their options: sudo, env, gdb, ssh ...
#pragma once

#include "tipstaff/gate/shell/programs/outputs.hpp"
#include "tipstaff/gate/shell/programs/trials.hpp"

namespace tipstaff::gate::shell {

inline bool is_assignment(string_view text) noexcept {
  const std::size_t equals = text.find('=');
  return equals != string_view::npos && is_name(text.substr(0, equals));
}

// sudo, nice, timeout ...: options, some operands, then a command.
inline void ShellReader::run_prefix(Invocation& in, const Program& program) noexcept {
  const string_view name = program.name;
  if (name == "command" || name == "builtin") {
    if (in.count > 1 && (text_of(in, 1) == "-v" || text_of(in, 1) == "-V")) return;
  }
  if ((name == "gdb" || name == "lldb") && in.count > 1) {
    // Only with --args (or -- for lldb) does a command follow; -ex 'shell ...' runs one.
    const auto script = [&](Stream file) noexcept {  // -x FILE, or what comes in: one command a line
      if (file.kind == Stream::file) file = load(file, in.cwd);
      if (file.kind != Stream::known) return;
      for (string_view rest = file.text; !rest.empty();) {
        const std::size_t newline = rest.find('\n');
        const string_view line = trim(rest.substr(0, newline));
        rest.remove_prefix(newline == string_view::npos ? rest.size() : newline + 1);
        Word code;
        code.span = file.span;
        for (const string_view sign : {string_view("shell "), string_view("platform shell "), string_view("!")}) {
          if (!starts_with(line, sign)) continue;
          code.text = line.substr(sign.size());
          code_word(in, code, Nested{}, Dialect::shell);
        }
        if (one_of(line.substr(0, line.find(' ')), "call print p expr expression")) read_texts_of(in, line, file.span, 0);
      }
    };
    script(in.input);
    for (std::uint32_t i = 1; i < in.count; ++i) {
      const string_view text = text_of(in, i);
      if (one_of(text, "-x -s --command --source") && i + 1 < in.count) {
        Stream file = in.input;
        if (!one_of(text_of(in, i + 1), "- /dev/stdin")) {
          file.kind = Stream::file;
          file.text = text_of(in, i + 1);
          file.span = argument(in, i + 1).span;
        }
        script(file);
      }
      if ((text == "-ex" || text == "-iex" || text == "--eval-command" || text == "-o" || text == "--one-line" || text == "-O") && i + 1 < in.count) {
        Word word = argument(in, i + 1);
        const string_view language = word.text.substr(0, word.text.find_first_of(" ("));
        if (one_of(language, "python py pi python-interactive script pipe") && language.size() + 1 < word.text.size()) {
          word.text.remove_prefix(language.size() + 1);
          code_word(in, word, Nested{}, language == "pipe" ? Dialect::shell : Dialect::python);
          continue;
        }
        const string_view sign = starts_with(word.text, "shell ") ? "shell " : starts_with(word.text, "platform shell ") ? "platform shell " : starts_with(word.text, "!") ? "!" : "";
        if (sign.empty()) {  // call (int)system("rm x"), expr -- unlink("x")
          if (one_of(language, "call print p expr expression e eval compile")) read_texts_of(in, word.text, word.span, word.flags);
          continue;
        }
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
  if (name == "setarch" && at > 1 && at < in.count && starts_with(text_of(in, 1), "-")) return run_inner(in, at, 0);  // its first word may be left out
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
    const std::uint32_t assigned = at;
    while (at < in.count && is_assignment(text_of(in, at))) ++at;
    if (at > assigned) {
      const Session::Mark mark = session_.enter();
      for (std::uint32_t i = assigned; i < at; ++i) {
        const string_view text = text_of(in, i);
        const std::size_t equals = text.find('=');
        set_for_command(text.substr(0, equals), Value{text.substr(equals + 1), argument(in, i).flags});
      }
      run_inner(in, at + program.operands, program.via);
      session_.leave(mark);
      return;
    }
  }
  at += program.operands;
  if (name == "setarch") {  // its options follow the architecture, too
    while (at < in.count && starts_with(text_of(in, at), "-")) ++at;
  }
  if (name == "npx" || name == "bunx" || name == "pnpx") {
    Word code;
    if (find_option(in, 'c', "--call", &code) != kNone) return code_word(in, code, Nested{}, Dialect::shell);
  }
  if (name == "unshare" || name == "nsenter" || name == "chroot" || name == "timeout" || name == "exec") {
    if (at < in.count && text_of(in, at) == "--") ++at;
  }
  if (name == "chroot" && at > 1 && at < in.count && (in.via & via::kRemote) == 0) {
    // What is the root there is this directory here: of a container only where that is the host's.
    Word root;
    for (std::uint32_t i = 1; i < at; ++i) {
      if (!text_of(in, i).empty() && text_of(in, i)[0] != '-') root = argument(in, i);
    }
    const string_view place = resolve(in.cwd, root.text);
    if (!place.empty() && ((in.via & via::kContainer) == 0 || root.has(word_flag::kHostPath))) {
      const Session::Mark mark = session_.enter();
      session_.mounts.cut(0);
      session_.mounts.add(Mount{place, "/"});
      in.cwd = place;
      run_inner(in, at, program.via);
      session_.leave(mark);
      return;
    }
  }
  if (name == "bwrap") {
    for (std::uint32_t i = 1; i < in.count; ++i) {
      const string_view text = base_name(text_of(in, i));
      bool feared = false;
      for (const string_view other : kFeared) feared = feared || other == text;
      if (!feared) continue;
      at = i;
      break;
    }
  }
  if (name == "bwrap") {
    // Many options with one or two values each: the command begins after --, or at the first known program.
    for (std::uint32_t i = 1; i < in.count; ++i) {
      if (text_of(in, i) == "--") at = i + 1;
    }
  }
  run_inner(in, at, program.via);
}

// env $(grep -v '^#' .env | xargs) PROGRAM: what a file of variables, or a tool for them, prints.
inline bool ShellReader::sets_printed_variables(const Invocation& in, std::uint32_t at) noexcept {
  if (at + 1 >= in.count || text_of(in, at + 1).empty() || text_of(in, at + 1)[0] == '-' || argument(in, at + 1).has(word_flag::kUnknown)) return false;
  const Word word = argument(in, at);
  if (word.text != kUnknown || word.has(word_flag::kNetwork) || !code_.verbatim || word.span.start < code_.origin.start) return false;
  const std::size_t from = word.span.start - code_.origin.start, size = word.span.end - word.span.start;
  if (from + size > code_.text.size()) return false;
  const string_view written = code_.text.substr(from, size);
  if (!starts_with(written, "$(") && !starts_with(written, "`")) return false;
  for (const string_view net : {string_view("curl"), string_view("wget"), string_view("ssh "), string_view("nc ")})
    if (written.find(net) != string_view::npos) return false;
  return written.find("env") != string_view::npos;
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
      else if (i + 1 < in.count) set_for_command(text_of(in, i + 1), Value{});
      i += 2;
    } else if (one_of(text, "-i - --ignore-environment")) {
      forget_environment();
      ++i;
    } else if (starts_with(text, "--chdir=")) {
      in.cwd = resolve(in.cwd, text.substr(8));
      ++i;
    } else if (is_assignment(text)) {
      const std::size_t equals = text.find('=');
      const Value value{text.substr(equals + 1), word.flags};
      read_code_variable(text.substr(0, equals), value, word.span);
      set_for_command(text.substr(0, equals), value);
      ++i;
    } else if (!text.empty() && text[0] == '-') {
      ++i;
    } else if (const std::size_t body = text.find("=() {"); starts_with(text, "BASH_FUNC_") && body != string_view::npos) {
      nested(in, text.substr(body + 4), word.span, Nested{});  // a function that every shell below it has
      ++i;
    } else if (sets_printed_variables(in, i)) {
      ++i;
    } else {
      break;
    }
  }
  run_inner(in, i, 0);
}

// Whether words that become one text lose quotes in it: `ssh h bash -c 'rm -rf x'`. What was meant, and what other
// clients make of it, is read besides.
inline bool ShellReader::has_quoted_code(const Invocation& in, std::uint32_t from) noexcept {
  for (std::uint32_t i = from + 1; i < in.count; ++i)
    if (text_of(in, i).find_first_of(" \t\n") != string_view::npos) return true;
  return false;
}

inline void ShellReader::run_ssh(Invocation& in) noexcept {
  // Options may be on either side of the host.
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
  // ssh $OPTIONS user@host x
  if (at + 1 < in.count && text_of(in, at) == kUnknown && holds(text_of(in, at + 1), '@') && text_of(in, at + 1).find_first_of(" /;\n") == string_view::npos) ++at;
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
  code_word(remote, rest_of(in, at), options, Dialect::shell);
  if (has_quoted_code(in, at)) run_inner(remote, at, via::kRemote);
  in.tail = remote.tail;
  in.output = Stream{};
  in.output.kind = Stream::remote;
}

}  // namespace tipstaff::gate::shell
