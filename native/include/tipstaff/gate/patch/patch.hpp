// What a patch changes. read_patch() of tree/dialects.hpp reads one into a tree.
#pragma once

#include <cstdint>
#include <string_view>

namespace tipstaff::gate {

struct PatchSummary {
  std::uint32_t files = 0;
  std::uint32_t added = 0;    // lines
  std::uint32_t removed = 0;
  bool binary = false;        // a file without lines is among them
  bool whole = false;         // the text was a patch from its beginning to its end
};

// Counts without reading: for gates that judge a change by its size. Linear in the text.
PatchSummary summarize_patch(std::string_view text) noexcept;

}  // namespace tipstaff::gate
