// Reads PowerShell and cmd.exe.
#pragma once

#include "tipstaff/gate/cmd/commands.hpp"
#include "tipstaff/gate/cmd/loops.hpp"
#include "tipstaff/gate/cmd/words.hpp"
#include "tipstaff/gate/powershell/cmdlets.hpp"
#include "tipstaff/gate/powershell/commands.hpp"
#include "tipstaff/gate/powershell/expressions.hpp"
#include "tipstaff/gate/powershell/functions.hpp"
#include "tipstaff/gate/powershell/statements.hpp"
#include "tipstaff/gate/powershell/words.hpp"

namespace tipstaff::gate {

inline void read_powershell(Reader& reader, const Code& code, const Frame& frame) noexcept {
  powershell::PowerShell(reader, code, frame).read();
}

inline void read_cmd(Reader& reader, const Code& code, const Frame& frame) noexcept {
  cmd::Batch(reader, code, frame).read();
}

}  // namespace tipstaff::gate
