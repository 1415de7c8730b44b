// Reads cmd.exe and batch files.
#include "tipstaff/gate/cmd/commands.hpp"
#include "tipstaff/gate/cmd/loops.hpp"
#include "tipstaff/gate/cmd/words.hpp"

namespace tipstaff::gate {

void read_cmd(Reader& reader, const Code& code, const Frame& frame) noexcept {
  cmd::Batch(reader, code, frame).read();
}

}  // namespace tipstaff::gate
