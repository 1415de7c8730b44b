// Signs of the words of a text that tell at once that a glob matches none of them: how words begin, how they end, and
// which letters are side by side.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/letter_classes.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::gate {

constexpr std::uint32_t kWordEnd = 31;  // its class: it counts as a letter
// Where the signs lie: of beginnings from 0 on, of ends, of pairs of letters.
constexpr std::uint32_t kEndsFrom = 4096, kPairsFrom = 8192;

constexpr std::uint32_t sign_of(std::uint32_t first, std::uint32_t second, std::uint32_t third) noexcept {
  return ((first << 10 | second << 5 | third) * 40503u & 0xffff) >> 4;
}
inline std::uint32_t beginning_sign(std::string_view word) noexcept {
  if (word.size() >= 3) return sign_of(letter_class(word[0]), letter_class(word[1]), letter_class(word[2]));
  return sign_of(!word.empty() ? letter_class(word[0]) : kWordEnd, word.size() > 1 ? letter_class(word[1]) : kWordEnd, kWordEnd);
}
inline std::uint32_t ending_sign(std::string_view word) noexcept {
  const std::size_t n = word.size();
  return kEndsFrom + sign_of(n > 2 ? letter_class(word[n - 3]) : kWordEnd, n > 1 ? letter_class(word[n - 2]) : kWordEnd,
                             n > 0 ? letter_class(word[n - 1]) : kWordEnd);
}
// Adds the pairs of letters that are side by side in a word, ends included: for each letter bits of those after it.
inline void add_pairs(std::string_view word, std::uint32_t (&pairs)[32]) noexcept {
  std::uint32_t last = kWordEnd;
  for (const char c : word) {
    const std::uint32_t next = letter_class(c);
    pairs[last] |= std::uint32_t{1} << next;
    last = next;
  }
  pairs[last] |= std::uint32_t{1} << kWordEnd;
}

// Pairs of letters side by side as a few bits, many to one: most globs need one that a text does not have.
constexpr std::uint64_t pair_bit(std::uint32_t first, std::uint32_t second) noexcept {
  return std::uint64_t{1} << (((first << 5 | second) * 40503u & 0xffff) >> 10);
}
inline std::uint64_t pairs_of(std::string_view text) noexcept {
  std::uint64_t pairs = 0;
  for (std::size_t i = 1; i < text.size(); ++i) pairs |= pair_bit(letter_class(text[i - 1]), letter_class(text[i]));
  return pairs;
}

// Which of the first kSetsAtOnce of some sets of letters have none of `missing`, as bits.
constexpr std::uint32_t kSetsAtOnce = 64;
inline std::uint64_t sets_without(const std::uint32_t* sets, std::uint32_t count, std::uint32_t missing) noexcept {
  const std::uint32_t end = count < kSetsAtOnce ? count : kSetsAtOnce;
  std::uint64_t without = 0;
  std::uint32_t at = 0;
#if defined(__SSE2__)
  const __m128i unwanted = _mm_set1_epi32(static_cast<int>(missing)), none = _mm_setzero_si128();
  for (; at + 4 <= end; at += 4) {
    const __m128i met = _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sets + at)), unwanted);
    const int free = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(met, none)));
    without |= static_cast<std::uint64_t>(free) << at;
  }
#endif
  for (; at < end; ++at) without |= std::uint64_t{(sets[at] & missing) == 0} << at;
  return without;
}

}  // namespace tipstaff::gate
