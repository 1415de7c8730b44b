#pragma once

#include "tipstaff/gate/dialects.hpp"

namespace tipstaff::gate {

inline void read_patch(Reader& reader, const Code& code, const Frame& frame) noexcept {
  reader.tree->add_uncertainty(Unresolved::syntax, code.origin, frame.carrier);
}

}  // namespace tipstaff::gate
