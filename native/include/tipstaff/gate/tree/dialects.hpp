// Reads code of any dialect into a tree: the one place where readers meet.
#pragma once

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/reading.hpp"
#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/gate/tree/unresolved.hpp"

namespace tipstaff::gate {

// One for each dialect; defined in the source in native/gate/ that is named after it. Each adds what its code would run to the
// tree below `frame.node`, with `frame.carrier` as carrier and `frame.via` among its bits. Linear in the text.
void read_shell(Reader& reader, const Code& code, const Frame& frame) noexcept;            // shell.cpp
// What a file that is written would run later, unasked: start-up files of shells, git's configuration, units.
bool is_started_file(std::string_view path) noexcept;
void read_started_file(Reader& reader, std::string_view path, const Code& content, const Frame& frame) noexcept;
void read_powershell(Reader& reader, const Code& code, const Frame& frame) noexcept;       // powershell.cpp
void read_cmd(Reader& reader, const Code& code, const Frame& frame) noexcept;              // cmd.cpp
void read_interpreter(Reader& reader, Dialect dialect, const Code& code,
                      const Frame& frame) noexcept;                                        // scripting.cpp
// The calls of libraries in a language that has no reader of its own.
void read_library_calls(Reader& reader, const Code& code, const Frame& frame) noexcept;    // scripting.cpp
void read_sql(Reader& reader, const Code& code, const Frame& frame) noexcept;              // sql.cpp
void read_redis(Reader& reader, const Code& code, const Frame& frame) noexcept;            // sql.cpp
void read_mongo(Reader& reader, const Code& code, const Frame& frame) noexcept;            // sql.cpp
void read_patch(Reader& reader, const Code& code, const Frame& frame) noexcept;            // patch.cpp
void read_make(Reader& reader, const Code& code, std::string_view target,
               const Frame& frame) noexcept;                                               // shell.cpp
void read_crontab(Reader& reader, const Code& code, const Frame& frame) noexcept;          // shell.cpp

// Reads code of a dialect one level deeper; past limits::kDepth and limits::kMadeBytes it says so instead.
inline void read_code(Reader& reader, Dialect dialect, const Code& code, Frame frame) noexcept {
  if (frame.depth >= limits::kDepth || reader.out_of_stack()) {
    reader.tree->add_uncertainty(Unresolved::depth, code.origin, frame.carrier);
    return;
  }
  if (!code.verbatim) {
    if (code.text.size() > reader.made_bytes) {
      reader.tree->add_uncertainty(Unresolved::limit, code.origin, frame.carrier);
      return;
    }
    reader.made_bytes -= code.text.size();
  }
  ++frame.depth;
  Node node;
  node.kind = dialect == Dialect::prose ? NodeKind::data : NodeKind::code;
  node.dialect = dialect;
  node.is_code = dialect != Dialect::prose;
  node.span = code.origin;
  node.parent = frame.node;
  const std::uint32_t index = reader.tree->add_node(node);
  if (index == kNone) return;
  frame.node = index;
  switch (dialect) {
    case Dialect::shell: return read_shell(reader, code, frame);
    case Dialect::powershell: return read_powershell(reader, code, frame);
    case Dialect::cmd: return read_cmd(reader, code, frame);
    case Dialect::python:
    case Dialect::node:
    case Dialect::perl:
    case Dialect::ruby:
    case Dialect::php:
    case Dialect::awk: return read_interpreter(reader, dialect, code, frame);
    case Dialect::sql: return read_sql(reader, code, frame);
    case Dialect::redis: return read_redis(reader, code, frame);
    case Dialect::mongo: return read_mongo(reader, code, frame);
    case Dialect::patch: return read_patch(reader, code, frame);
    case Dialect::make: return read_make(reader, code, {}, frame);
    case Dialect::crontab: return read_crontab(reader, code, frame);
    case Dialect::prose: return;
  }
}

}  // namespace tipstaff::gate
