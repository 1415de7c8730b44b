#pragma once

#include "tipstaff/gate/dialects.hpp"

namespace tipstaff::gate {

inline void read_make(Reader& reader, const Code& code, std::string_view, const Frame& frame) noexcept {
  reader.tree->add_uncertainty(Unresolved::syntax, code.origin, frame.carrier);
}

inline void read_crontab(Reader& reader, const Code& code, const Frame& frame) noexcept {
  reader.tree->add_uncertainty(Unresolved::syntax, code.origin, frame.carrier);
}

}  // namespace tipstaff::gate
