// Feeds bytes to the readers of all dialects but the shell's, and checks what must hold of any tree.
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "gate/reading.hpp"
#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/paths/classes.hpp"

namespace {

using namespace tipstaff::gate;

constexpr Dialect kDialects[] = {Dialect::python, Dialect::node, Dialect::perl,  Dialect::ruby,       Dialect::php, Dialect::awk,
                                 Dialect::sql,    Dialect::redis, Dialect::mongo, Dialect::powershell, Dialect::cmd, Dialect::patch};

void read_one(const std::string& text, Dialect dialect) {
  static test::Machine machine;
  machine.read(dialect, text);
  // Every word is a path to somebody.
  for (std::uint32_t i = 0; i < machine.tree.command_count(); ++i) {
    const Command& command = machine.tree.command(i);
    for (std::uint32_t w = 0; w < command.word_count && w < 8; ++w) {
      classify_path(machine.surroundings, command, machine.tree.arguments(command)[w]);
    }
  }
  if (test::failures > 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  read_one(std::string(reinterpret_cast<const char*>(data) + 1, size - 1), kDialects[data[0] % std::size(kDialects)]);
  return 0;
}
