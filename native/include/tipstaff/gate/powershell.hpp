// Reads PowerShell and cmd.exe.
#pragma once

#include "tipstaff/gate/batch_commands.hpp"
#include "tipstaff/gate/batch_loops.hpp"
#include "tipstaff/gate/batch_words.hpp"
#include "tipstaff/gate/powershell_cmdlets.hpp"
#include "tipstaff/gate/powershell_commands.hpp"
#include "tipstaff/gate/powershell_expressions.hpp"
#include "tipstaff/gate/powershell_functions.hpp"
#include "tipstaff/gate/powershell_statements.hpp"
#include "tipstaff/gate/powershell_words.hpp"

namespace tipstaff::gate {

inline void read_powershell(Reader& reader, const Code& code, const Frame& frame) noexcept {
  powershell::PowerShell(reader, code, frame).read();
}

inline void read_cmd(Reader& reader, const Code& code, const Frame& frame) noexcept {
  cmd::Batch(reader, code, frame).read();
}

}  // namespace tipstaff::gate
