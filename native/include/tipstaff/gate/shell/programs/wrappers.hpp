// Programs that run other commands: sudo, env, xargs, find -exec, ssh, watch, editors, archivers ...
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
    in.no_functions = true;
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
  char letter = name == "nix-shell" ? '\0' : name == "nodemon" ? 'x' : 'c';
  if (name == "ansible") {
    letter = 'a', long_name = "--args";
    for (std::uint32_t i = 1; i < in.count; ++i)
      if (one_of(text_of(in, i), "--check -C --list-hosts --syntax-check")) return;
  }
  if (name == "man" && find_option(in, 'H', "--html", &code) != kNone && holds(code.text, ' ')) return code_word(in, code, options, Dialect::shell);
  if (name == "man") letter = 'P', long_name = "--pager";
  if (name == "gcloud") letter = '\0';
  if (name == "zip") letter = '\0', long_name = "--unzip-command";
  if (name == "expect" || name == "autoexpect") return run_expect(in, options);
  if (find_option(in, letter, long_name, &code) != kNone) {
    code_word(in, code, options, Dialect::shell);
    if (name == "xonsh" && holds(code.text, '(')) code_word(in, code, options, Dialect::python);
    return;
  }
  if (name == "nix-shell") {
    if (find_option(in, '\0', "--command", &code) != kNone) code_word(in, code, options, Dialect::shell);
    return;
  }
  if (name == "zip") {
    for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
      if (text_of(in, i) == "-TT") return code_word(in, argument(in, i + 1), options, Dialect::shell);
    }
    return;
  }
  if (name == "script") {
    // As the BSDs have it: script FILE COMMAND.
    return run_inner(in, after_options(in, 1, program.short_values, program.long_values) + 1, 0);
  }
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
  if (name == "gcloud") {
    // gcloud compute ssh INSTANCE -- COMMAND
    for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
      if (text_of(in, i) != "--") continue;
      std::uint16_t flags = 0;
      code = argument(in, i + 1);
      code.text = joined(in.first + i + 1, in.count - i - 1, &flags);
      code.flags = flags;
      Invocation remote = in;
      remote.cwd = {};
      return code_word(remote, code, options, Dialect::shell);
    }
    return;
  }
  if (one_of(name, "su newgrp") && in.input.kind != Stream::none) nested_stream(in, in.input, options, Dialect::shell);
}

// xterm -e COMMAND, gnome-terminal -- COMMAND, xfce4-terminal -e 'COMMAND'.
inline void ShellReader::run_rest(Invocation& in, const Program& program) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    Word code = argument(in, i);
    const std::size_t equals = code.text.find('=');
    if (!one_of(code.text.substr(0, equals), program.long_values)) continue;
    if (equals == string_view::npos) {
      if (i + 1 >= in.count) return;
      code = argument(in, i + 1);
      if (i + 2 < in.count) {
        if (program.name == "start-stop-daemon") return run_daemon(in, i + 1);
        return run_inner(in, i + 1, program.via);
      }
    } else {
      code.text.remove_prefix(equals + 1);
    }
    Nested options;
    options.via = program.via | via::kEvaluated;
    return code_word(in, code, options, Dialect::shell);
  }
}

// start-stop-daemon --exec PROGRAM ... -- ARGUMENTS
inline void ShellReader::run_daemon(Invocation& in, std::uint32_t at) noexcept {
  const std::uint32_t first = tree_.word_count();
  if (tree_.add_word(argument(in, at)) == kNone) return;
  std::uint32_t i = at + 1;
  while (i < in.count && text_of(in, i) != "--") ++i;
  for (++i; i < in.count; ++i)
    if (tree_.add_word(argument(in, i)) == kNone) return;
  run_copied(in, first, tree_.word_count() - first, via::kBackground, nullptr);
}

// sort --compress-program=CODE, rg --pre CODE. A bare program is what it mostly is, and nothing to judge.
inline void ShellReader::run_option_code(Invocation& in, const Program& program) noexcept {
  Nested options;
  options.via = program.via | via::kEvaluated;
  const bool settings = one_of(program.name, "hg apt apt-get aptitude");
  for (std::uint32_t i = 1; i < in.count; ++i) {
    Word code = argument(in, i);
    if (settings && starts_with(code.text, "-o") && code.text.size() > 2) {  // -oNAME=CODE
      code.text.remove_prefix(2);
    } else {
      const std::size_t equals = code.text.find('=');
      if (code.text.size() < 2 || code.text[0] != '-' || !one_of(code.text.substr(0, equals), program.long_values)) continue;
      if (equals != string_view::npos) code.text.remove_prefix(equals + 1);
      else if (i + 1 < in.count) code = argument(in, ++i);
    }
    if (settings) {  // NAME=CODE
      const std::size_t equals = code.text.find('=');
      if (equals == string_view::npos) continue;
      code.text.remove_prefix(equals + 1);
    }
    if (program.name == "fzf") {  // start:execute(CODE)
      for (const string_view action : {string_view("execute("), string_view("execute-silent("), string_view("become("), string_view("reload(")}) {
        const std::size_t open = code.text.find(action), close = code.text.rfind(')');
        if (open == string_view::npos || close == string_view::npos || close < open) continue;
        code.text = code.text.substr(open + action.size(), close - open - action.size());
        break;
      }
    }
    if (starts_with(code.text, "!")) code.text.remove_prefix(1);
    if (starts_with(code.text, "%(")) code.text = code.text.substr(2, code.text.rfind(')') - 2);  // rpm's macros
    // What a store of passwords prints is read by the program, not shown.
    if (one_of(code.text.substr(0, code.text.find(' ')), "pass gopass op bw lpass security secret-tool keyring vault cat gpg")) continue;
    if (holds(code.text, ' ')) code_word(in, code, options, Dialect::shell);
  }
}

// watch, hyperfine: each operand, or all of them joined, is shell code.
inline void ShellReader::run_joined(Invocation& in, const Program& program) noexcept {
  const std::uint32_t at = after_options(in, 1, program.short_values, program.long_values) + program.operands;
  if (at >= in.count) return;
  Nested options;
  options.via = via::kEvaluated | program.via;
  if (program.name == "hyperfine" || program.name == "concurrently") {
    for (std::uint32_t i = at; i < in.count; ++i) {
      const string_view text = text_of(in, i);
      if (text.size() > 1 && text[0] == '-') {  // between what is run, and after it
        i += one_of(text, program.long_values) || (text.size() == 2 && holds(program.short_values, text[1])) ? 1u : 0u;
        continue;
      }
      const std::size_t colon = text.find(':');  // npm:build:*: scripts of the project
      if (colon != string_view::npos && one_of(text.substr(0, colon), "npm yarn pnpm bun node deno")) continue;
      code_word(in, argument(in, i), options, Dialect::shell);
    }
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
  if (has_quoted_code(in, at)) run_inner(remote, at, via::kRemote);
  in.tail = remote.tail;
  in.output = Stream{};
  in.output.kind = Stream::remote;
}

}  // namespace tipstaff::gate::shell
