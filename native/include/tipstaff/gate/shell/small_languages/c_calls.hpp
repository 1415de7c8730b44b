// Calls of C, and of what is compiled like it, that take a file away: truncate("x", 0), open("x", O_TRUNC), creat("x", 0644).
#pragma once

#include "tipstaff/gate/shell/small_languages/code_texts.hpp"

namespace tipstaff::gate::shell {

enum class FileCall : std::uint8_t { none, empties, opens_to_write, removes, removes_folder };

// What the call before a literal does to the file that it names. `before` ends where the call's name begins, or where the
// literal does when it is not the first argument; `tail` follows the literal.
inline FileCall file_call(string_view before, string_view name, string_view tail) noexcept {
  constexpr std::size_t kNear = 48;
  const string_view near = before.substr(before.size() < kNear ? 0 : before.size() - kNear);
  const string_view rest = tail.substr(0, kNear);
  if (name.empty()) {  // unlinkat(AT_FDCWD, "x", 0)
    const string_view start = trim(near);
    const auto follows = [start](string_view call) noexcept { return ends_with(start, call); };
    if (follows("unlinkat(AT_FDCWD,")) return holds_text(rest, "AT_REMOVEDIR") ? FileCall::removes_folder : FileCall::removes;
    return follows("openat(AT_FDCWD,") && holds_text(rest, "O_TRUNC") ? FileCall::opens_to_write : FileCall::none;
  }
  if (one_of(name, "truncate truncate64 Truncate resize_file")) {
    if (!starts_with(rest, ",")) return FileCall::none;
    const string_view length = trim(rest.substr(1));
    const bool longer = !length.empty() && length[0] > '0' && length[0] <= '9';
    return longer ? FileCall::none : FileCall::empties;
  }
  if (one_of(name, "open open64 fopen")) {
    if (ends_with(near, "ftruncate(") || ends_with(near, "ftruncate(fileno(")) return FileCall::empties;
    return name != "fopen" && holds_text(rest.substr(0, rest.find(')')), "O_TRUNC") ? FileCall::opens_to_write : FileCall::none;
  }
  if (one_of(name, "creat creat64")) return starts_with(rest, ",") ? FileCall::opens_to_write : FileCall::none;
  if (name == "rmdir") return starts_with(rest, ")") ? FileCall::removes_folder : FileCall::none;
  if (name == "ofstream" || ends_with(trim(near), "ofstream")) return holds_text(rest, "app") || holds_text(rest, "ate") ? FileCall::none : FileCall::opens_to_write;
  if (name == "Create" && ends_with(near, "os.")) return FileCall::opens_to_write;
  return FileCall::none;
}

inline bool is_file_compiler(string_view program) noexcept {
  return one_of(program, "gcc cc clang tcc g++ c++ clang++ c99 c89 go gdb lldb zig ldc2 dmd");
}

}  // namespace tipstaff::gate::shell
