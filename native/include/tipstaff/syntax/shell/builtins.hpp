// The language's own commands: those that a shell runs itself, and how they differ from programs.
#pragma once

#include <cstdint>
#include <string_view>

namespace tipstaff::syntax {

enum class Builtin : std::uint8_t {
  none, alias, break_, builtin, cd, colon, command, continue_, declare, echo, enable, eval, exec, exit, export_, false_,
  fc, getopts, hash, jobs, kill, let, local, mapfile, popd, printf, pushd, pwd, read, readonly, return_, set, shift, shopt,
  source, test, times, trap, true_, type, ulimit, umask, unalias, unset, wait,
};  // clang-format skip

namespace builtin_flag {
constexpr std::uint8_t kSpecial = 1;   // POSIX: assignments before it may stay, an error in it may end the shell
constexpr std::uint8_t kDeclares = 2;  // words like x=y after it are assignments: not split, x=(...) is an array
constexpr std::uint8_t kBash = 4;      // not in dash
}  // namespace builtin_flag

struct BuiltinRow {
  std::string_view name;
  Builtin which;
  std::uint8_t flags;
};

inline constexpr BuiltinRow kBuiltins[] = {
    {".", Builtin::source, builtin_flag::kSpecial},
    {":", Builtin::colon, builtin_flag::kSpecial},
    {"[", Builtin::test, 0},
    {"alias", Builtin::alias, 0},
    {"bg", Builtin::jobs, 0},
    {"break", Builtin::break_, builtin_flag::kSpecial},
    {"builtin", Builtin::builtin, builtin_flag::kBash},
    {"cd", Builtin::cd, 0},
    {"chdir", Builtin::cd, 0},
    {"command", Builtin::command, 0},
    {"continue", Builtin::continue_, builtin_flag::kSpecial},
    {"declare", Builtin::declare, builtin_flag::kDeclares | builtin_flag::kBash},
    {"dirs", Builtin::pwd, builtin_flag::kBash},
    {"disown", Builtin::jobs, builtin_flag::kBash},
    {"echo", Builtin::echo, 0},
    {"enable", Builtin::enable, builtin_flag::kBash},
    {"eval", Builtin::eval, builtin_flag::kSpecial},
    {"exec", Builtin::exec, builtin_flag::kSpecial},
    {"exit", Builtin::exit, builtin_flag::kSpecial},
    {"export", Builtin::export_, builtin_flag::kSpecial | builtin_flag::kDeclares},
    {"false", Builtin::false_, 0},
    {"fc", Builtin::fc, 0},
    {"fg", Builtin::jobs, 0},
    {"getopts", Builtin::getopts, 0},
    {"hash", Builtin::hash, 0},
    {"history", Builtin::fc, builtin_flag::kBash},
    {"jobs", Builtin::jobs, 0},
    {"kill", Builtin::kill, 0},
    {"let", Builtin::let, builtin_flag::kBash},
    {"local", Builtin::local, builtin_flag::kDeclares},
    {"logout", Builtin::exit, builtin_flag::kBash},
    {"mapfile", Builtin::mapfile, builtin_flag::kBash},
    {"popd", Builtin::popd, builtin_flag::kBash},
    {"printf", Builtin::printf, 0},
    {"pushd", Builtin::pushd, builtin_flag::kBash},
    {"pwd", Builtin::pwd, 0},
    {"read", Builtin::read, 0},
    {"readarray", Builtin::mapfile, builtin_flag::kBash},
    {"readonly", Builtin::readonly, builtin_flag::kSpecial | builtin_flag::kDeclares},
    {"return", Builtin::return_, builtin_flag::kSpecial},
    {"set", Builtin::set, builtin_flag::kSpecial},
    {"shift", Builtin::shift, builtin_flag::kSpecial},
    {"shopt", Builtin::shopt, builtin_flag::kBash},
    {"source", Builtin::source, builtin_flag::kSpecial | builtin_flag::kBash},
    {"suspend", Builtin::jobs, builtin_flag::kBash},
    {"test", Builtin::test, 0},
    {"times", Builtin::times, builtin_flag::kSpecial},
    {"trap", Builtin::trap, builtin_flag::kSpecial},
    {"true", Builtin::true_, 0},
    {"type", Builtin::type, 0},
    {"typeset", Builtin::declare, builtin_flag::kDeclares | builtin_flag::kBash},
    {"ulimit", Builtin::ulimit, 0},
    {"umask", Builtin::umask, 0},
    {"unalias", Builtin::unalias, 0},
    {"unset", Builtin::unset, builtin_flag::kSpecial},
    {"wait", Builtin::wait, 0},
};

// The row of a name, null where the language has no such command.
constexpr const BuiltinRow* find_builtin(std::string_view name) noexcept {
  std::size_t low = 0, high = sizeof kBuiltins / sizeof kBuiltins[0];
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const int order = name.compare(kBuiltins[middle].name);
    if (order == 0) return &kBuiltins[middle];
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return nullptr;
}

constexpr bool is_sorted() noexcept {
  for (std::size_t i = 1; i < sizeof kBuiltins / sizeof kBuiltins[0]; ++i)
    if (kBuiltins[i - 1].name.compare(kBuiltins[i].name) >= 0) return false;
  return true;
}
static_assert(is_sorted(), "rows are in the order of their names, each once");

}  // namespace tipstaff::syntax
