// What the table of programs says of each: how a command of it is read, and what it prints.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/shell/language/bytes.hpp"

namespace tipstaff::gate::shell {

enum class Handler : std::uint8_t {
  none,
  prefix,       // runs the command that follows its options
  code_option,  // -c CODE
  option_code,  // code of a shell as the value of any of its long options
  rest,         // a command after one of the words that are its long options
  joined,       // its operands, joined, are shell code
  tool,         // a command after a word of its own: poetry run
  cloud,        // shell code among the options of a tool for many machines
  elsewhere,    // a command for another machine, or code for an application's own shell, after some verb
  build,        // of build tools: a program in a property, a file of tasks
  compiler,     // of sources that this very text wrote
  alias,        // gh alias set
  // Each of one program, or of those that take what it takes.
  env, shell, eval, source, builtin, xargs, parallel, find, fd, ssh, container, kubectl, git, make, cmake, socket, package,
  just, at, crontab, editor, tar, rsync, terminal, sed, tee, download, copy, patch, python, node, perl, ruby, php, awk,
  inline_code, sql, redis, mongo, powershell, cmd, playbook,
};

enum class Output : std::uint8_t {
  unknown,
  empty,
  filter,   // part of what goes in
  same,     // what goes in
  trusted,  // code that is printed to be run
  compiled,  // the project's own code
  // What these print.
  echo, printf, cat, base64, hex, reverse, translate, remote, pwd, dirname, basename, realpath, mktemp, which, git, find, list, yes,
};

struct Program {
  string_view name;
  Handler handler = Handler::none;
  Output output = Output::unknown;
  string_view short_values = {};  // letters of options that take a value
  string_view long_values = {};   // names of long ones that take a value as the next word
  std::uint8_t operands = 0;  // that are before the command
  std::uint32_t via = 0;
};

// Programs that are alike but for their names.
struct Row {
  string_view names;
  Program program;
  constexpr Row(Handler handler, string_view all, string_view short_values = {}, string_view long_values = {},
                std::uint8_t operands = 0, std::uint32_t via = 0)
      : names(all), program{{}, handler, Output::unknown, short_values, long_values, operands, via} {}
  constexpr Row(Handler handler, Output output, string_view all, string_view short_values = {}, string_view long_values = {})
      : names(all), program{{}, handler, output, short_values, long_values, 0, 0} {}
};

}  // namespace tipstaff::gate::shell
