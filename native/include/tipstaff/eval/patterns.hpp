// Patterns of `case` and ${x%...} against texts that may have unknown parts.
#pragma once

#include <string_view>

#include "tipstaff/eval/state.hpp"

namespace tipstaff::eval {

enum class Match : std::uint8_t { no, perhaps, yes };

// Whether a pattern (quoted bytes after a backslash) matches the whole text.
Match matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace tipstaff::eval
