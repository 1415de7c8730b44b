// Reads PowerShell.
#include "tipstaff/gate/powershell/cmdlets.hpp"
#include "tipstaff/gate/powershell/commands.hpp"
#include "tipstaff/gate/powershell/expressions.hpp"
#include "tipstaff/gate/powershell/functions.hpp"
#include "tipstaff/gate/powershell/statements.hpp"
#include "tipstaff/gate/powershell/words.hpp"

namespace tipstaff::gate {

void read_powershell(Reader& reader, const Code& code, const Frame& frame) noexcept {
  powershell::PowerShell(reader, code, frame).read();
}

}  // namespace tipstaff::gate
