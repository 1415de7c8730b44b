// What could not be resolved in a text, and why.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"

namespace tipstaff::gate {

// Why something could not be resolved.
enum class Unresolved : std::uint8_t {
  program,        // the program's name is only known when it runs
  environment,    // the environment names the program, and nothing destructive is given to it: $CCACHE_BIN --show-stats
  code,           // text that would be run is not known: eval "$X", sh -c "$(cmd)"
  remote_code,    // text that would be run comes from the network: curl | sh
  remote_release, // a program that is run is a release of a project, downloaded by its address
  script,         // a script's text could not be read
  script_size,    // a script is longer than what is read
  depth,          // nested deeper than what is followed
  flag,           // a variable of the environment alone as a condition: `if $VERBOSE; then`
  limit,          // more words, commands or expansions than what is followed
  syntax,         // the text is not complete code of its dialect: an open quote, an open group
  encoding,       // bytes that are no text
  unreadable,     // a script that is there and cannot be read
};

// As rules and explanations call it.
inline std::string_view name_of(Unresolved reason) noexcept {
  switch (reason) {
    case Unresolved::program: return "program";
    case Unresolved::flag: return "flag";
    case Unresolved::environment: return "environment";
    case Unresolved::code: return "code";
    case Unresolved::remote_code: return "remote-code";
    case Unresolved::remote_release: return "remote-release";
    case Unresolved::script: return "script";
    case Unresolved::script_size: return "script-size";
    case Unresolved::depth: return "depth";
    case Unresolved::limit: return "limit";
    case Unresolved::syntax: return "syntax";
    case Unresolved::encoding: return "encoding";
    case Unresolved::unreadable: return "unreadable";
  }
  return "limit";
}

struct Uncertainty {
  Unresolved reason = Unresolved::limit;
  Span span;
  std::uint32_t command = kNone;  // the command that it is about
  bool settled = false;           // in a function: its calls say what it does, or nothing calls it
};

}  // namespace tipstaff::gate
