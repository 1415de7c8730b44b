#pragma once

#include "tipstaff/gate/dialects.hpp"

namespace tipstaff::gate {

inline void read_sql(Reader& reader, const Code& code, const Frame& frame) noexcept {
  reader.tree->add_uncertainty(Unresolved::syntax, code.origin, frame.carrier);
}

inline void read_redis(Reader& reader, const Code& code, const Frame& frame) noexcept {
  reader.tree->add_uncertainty(Unresolved::syntax, code.origin, frame.carrier);
}

inline void read_mongo(Reader& reader, const Code& code, const Frame& frame) noexcept {
  reader.tree->add_uncertainty(Unresolved::syntax, code.origin, frame.carrier);
}

}  // namespace tipstaff::gate
