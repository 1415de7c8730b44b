// Programs that are given code of a shell or a command by an option, or by all their operands: su -c, xterm -e, watch.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

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
  if (one_of(name, "nu xonsh elvish")) {  // a script of theirs
    const std::uint32_t at = after_options(in, 1, program.short_values, program.long_values);
    if (at < in.count) run_script(in, at, name == "xonsh" && ends_with(text_of(in, at), ".py") ? Dialect::python : Dialect::shell, 0);
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
  code_word(in, rest_of(in, at), options, Dialect::shell);
}

}  // namespace tipstaff::gate::shell
