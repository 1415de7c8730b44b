// What of a field an edit takes away: its former text, the first half of a SEARCH/REPLACE block, a patch's removed lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"

namespace tipstaff::gate {

// Walks over the parts of a field's text that a tool call takes away, in order. Linear in the text.
class FormerParts {
 public:
  FormerParts(std::string_view tool, std::string_view field, std::string_view text) noexcept;

  // Whether all of the text is taken away.
  bool whole() const noexcept { return kind_ == Kind::whole; }
  // The next part, in bytes; false after the last one.
  bool next(Span* part) noexcept;

 private:
  enum class Kind : std::uint8_t { none, whole, blocks, lines };

  std::string_view line() noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
  Kind kind_ = Kind::none;
};

}  // namespace tipstaff::gate
