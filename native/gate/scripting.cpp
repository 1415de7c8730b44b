// Reads the inline programs of interpreters: Python, JavaScript, Perl, Ruby, PHP and awk.
#include "tipstaff/gate/scripting/actions/files.hpp"
#include "tipstaff/gate/scripting/actions/processes.hpp"
#include "tipstaff/gate/scripting/libraries/calls.hpp"
#include "tipstaff/gate/scripting/quotes.hpp"
#include "tipstaff/gate/scripting/reader/arguments.hpp"
#include "tipstaff/gate/scripting/reader/awk.hpp"
#include "tipstaff/gate/scripting/reader/brackets.hpp"
#include "tipstaff/gate/scripting/reader/deferred.hpp"
#include "tipstaff/gate/scripting/reader/expressions.hpp"
#include "tipstaff/gate/scripting/reader/functions.hpp"
#include "tipstaff/gate/scripting/reader/loops.hpp"
#include "tipstaff/gate/scripting/reader/methods.hpp"
#include "tipstaff/gate/scripting/reader/names.hpp"
#include "tipstaff/gate/scripting/reader/pipes.hpp"
#include "tipstaff/gate/scripting/reader/statements.hpp"
#include "tipstaff/gate/scripting/reader/strings.hpp"
#include "tipstaff/gate/scripting/reader/subroutines.hpp"

namespace tipstaff::gate {

void read_library_calls(Reader& reader, const Code& code, const Frame& frame) noexcept {
  program::read_library_calls(reader, code, frame, program::Language::node, Dialect::node);
}

void read_interpreter(Reader& reader, Dialect dialect, const Code& code, const Frame& frame) noexcept {
  using program::Language;
  if (code.text.size() == 1 && code.text[0] == kUnknownPart) {
    reader.tree->add_uncertainty(Unresolved::code, code.origin, frame.carrier);
    return;
  }
  switch (dialect) {
    case Dialect::python:
      program::read_library_calls(reader, code, frame, Language::python, dialect);
      return program::ScriptReader(reader, code, frame, Language::python, dialect).read();
    case Dialect::node:
      program::read_library_calls(reader, code, frame, Language::node, dialect);
      return program::ScriptReader(reader, code, frame, Language::node, dialect).read();
    case Dialect::perl:
      program::read_library_calls(reader, code, frame, Language::perl, dialect);
      return program::ScriptReader(reader, code, frame, Language::perl, dialect).read();
    case Dialect::ruby:
      program::read_library_calls(reader, code, frame, Language::ruby, dialect);
      return program::ScriptReader(reader, code, frame, Language::ruby, dialect).read();
    case Dialect::php:
      program::read_library_calls(reader, code, frame, Language::php, dialect);
      return program::ScriptReader(reader, code, frame, Language::php, dialect).read();
    case Dialect::awk: return program::Awk(reader, code, frame).read();
    default: return;
  }
}

// Input of MongoDB's shell is JavaScript, and comes out as `mongo METHOD COLLECTION [--all]`.
void read_mongo(Reader& reader, const Code& code, const Frame& frame) noexcept {
  program::read_library_calls(reader, code, frame, program::Language::node, Dialect::mongo);
  program::ScriptReader(reader, code, frame, program::Language::node, Dialect::mongo, true).read();
}

}  // namespace tipstaff::gate
