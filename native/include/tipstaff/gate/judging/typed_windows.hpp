// Commands of cmd.exe and PowerShell that were given to a shell: agents on Windows write them, and some hosts run them there.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/cmdlet_names.hpp"
#include "tipstaff/gate/tree/dialects.hpp"

namespace tipstaff::gate {

// The dialect that a command of a shell's reading shows: `shell` where it shows none.
inline Dialect dialect_shown(const Command& command, const Word* words, bool broken) noexcept {
  const std::string_view first = command.word_count != 0 ? words[0].text : std::string_view();
  if (command.program.empty()) {  // $env:NAME = "x", $env:NAME="x"
    const std::string_view name = command.name.text;
    const bool scoped = name.size() > 2 && name[0] == kUnknownPart && name[1] == ':' && name.find('=') != std::string_view::npos;
    return scoped || ascii::one_of(first, "= += -=") ? Dialect::powershell : Dialect::shell;
  }
  if (powershell::is_cmdlet_name(command.name.text) || (command.program == "try" && first == "{")) return Dialect::powershell;
  if (broken && (ascii::one_of(command.program, "exist defined errorlevel") ||
                 (ascii::one_of(command.program, "not /i") && ascii::one_of(first, "exist defined errorlevel not")))) {
    return Dialect::cmd;  // if exist x rmdir /s /q x
  }
  if (first.size() > 1 && first[0] == '/' && (first.size() == 2 || first[2] == '/') && ascii::one_of(command.program, "rd rmdir"))
    return Dialect::cmd;
  return Dialect::shell;
}

// Reads a text a second time, after the shell's reader, where it is code of Windows, and drops what the first reading could not
// resolve. A shell would run none of it but the commands that the first reading found: those are judged as well.
inline void read_typed_windows(Reader& reader, const Code& whole, Frame frame) noexcept {
  Tree& tree = *reader.tree;
  bool broken = false;
  for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) broken = broken || tree.uncertainties()[i].reason == Unresolved::syntax;
  Dialect dialect = broken && (ascii::starts_with(whole.text, "for %") || ascii::starts_with(whole.text, "for /")) ? Dialect::cmd : Dialect::shell;
  for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
    Command& command = tree.command(i);
    if (command.carrier != kNone || command.dialect != Dialect::shell) continue;
    const Dialect shown = dialect_shown(command, tree.arguments(command), broken);
    if (shown == Dialect::shell) continue;
    command.via |= via::kDefinition;  // the other reading tells what it does
    if (dialect == Dialect::shell || shown == Dialect::powershell) dialect = shown;
  }
  if (dialect == Dialect::shell || whole.text.size() > reader.nested_bytes) return;
  reader.nested_bytes -= whole.text.size();
  tree.forget_uncertainties([&](const Uncertainty& open) noexcept {
    if (open.reason == Unresolved::syntax) return true;
    if (dialect != Dialect::powershell || (open.reason != Unresolved::program && open.reason != Unresolved::flag)) return false;
    // Where it is a shell after all, it runs what `$(...)` prints and what "$X" names.
    const std::string_view from = open.span.start < whole.text.size() ? whole.text.substr(open.span.start) : std::string_view();
    return !ascii::starts_with(from, "$(") && !ascii::starts_with(from, "`") && !ascii::starts_with(from, "\"$");
  });
  if (dialect == Dialect::powershell) frame.via |= via::kShellsWords;
  read_code(reader, dialect, whole, frame);
}

}  // namespace tipstaff::gate
