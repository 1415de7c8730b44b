// What is known of a command without reading its words one by one.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"

namespace tipstaff::gate {

// Facts that triggers ask for; tipstaff.gates.image.triggers has the same.
namespace fact {
constexpr std::uint32_t kReadsPipe = 1;
constexpr std::uint32_t kWritesPipe = 2;
constexpr std::uint32_t kCarried = 4;
constexpr std::uint32_t kHasInput = 8;
constexpr std::uint32_t kUnknownWords = 16;
constexpr std::uint32_t kFollowed = 32;
}  // namespace fact

// The text in which words are one after the other.
inline std::string_view text_of(const Word* words, std::uint32_t count) noexcept {
  if (count == 0) return {};
  const char* const begin = words[0].text.data();
  const std::string_view last = words[count - 1].text;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

struct Outline {
  const Word* words;  // after the program
  std::uint32_t count;
  std::uint32_t first_hash;  // of the first word
  std::uint32_t facts, via;
  bool as_written;  // the words are parts of one text, in their order

  // Where they are, all of them as they are; empty where that is not in one text.
  std::string_view written() const noexcept { return as_written ? text_of(words, count) : std::string_view(); }
};

}  // namespace tipstaff::gate
