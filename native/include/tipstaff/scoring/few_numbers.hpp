// What is done with a few numbers at once, without a branch that depends on them.
#ifndef TIPSTAFF_SCORING_FEW_NUMBERS_HPP
#define TIPSTAFF_SCORING_FEW_NUMBERS_HPP

#include <cstddef>
#include <cstdint>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::few_numbers {

// Puts a few words in order without a branch that depends on them: a word's position is how many come before
// it. No two have the same order. Up to `most` numbers are readable from `given`.
template <std::size_t most>
void rank(const std::uint32_t* given, const std::uint32_t* given_words, std::size_t count,
          std::uint32_t* orders, std::uint32_t* words) noexcept {
  std::uint32_t ranks[most] = {};
#if defined(__SSE2__)
  // The compiler's own way takes ten times the code, which a question now and then finds in no cache.
  const __m128i flip = _mm_set1_epi32(std::numeric_limits<std::int32_t>::min());  // signed is what registers compare
  for (std::size_t n = 0; n < most; n += 16) {
    const auto* from = reinterpret_cast<const __m128i*>(given + n);
    const __m128i a = _mm_xor_si128(_mm_loadu_si128(from), flip), b = _mm_xor_si128(_mm_loadu_si128(from + 1), flip);
    const __m128i c = _mm_xor_si128(_mm_loadu_si128(from + 2), flip), d = _mm_xor_si128(_mm_loadu_si128(from + 3), flip);
    __m128i before_a = _mm_setzero_si128(), before_b = before_a, before_c = before_a, before_d = before_a;
    for (std::size_t other = 0; other < count; ++other) {
      const __m128i one = _mm_xor_si128(_mm_set1_epi32(static_cast<std::int32_t>(given[other])), flip);
      before_a = _mm_sub_epi32(before_a, _mm_cmpgt_epi32(a, one));
      before_b = _mm_sub_epi32(before_b, _mm_cmpgt_epi32(b, one));
      before_c = _mm_sub_epi32(before_c, _mm_cmpgt_epi32(c, one));
      before_d = _mm_sub_epi32(before_d, _mm_cmpgt_epi32(d, one));
    }
    auto* to = reinterpret_cast<__m128i*>(ranks + n);
    _mm_storeu_si128(to, before_a);
    _mm_storeu_si128(to + 1, before_b);
    _mm_storeu_si128(to + 2, before_c);
    _mm_storeu_si128(to + 3, before_d);
  }
#else
  for (std::size_t other = 0; other < count; ++other) {
    for (std::size_t n = 0; n < count; ++n) ranks[n] += given[other] < given[n];
  }
#endif
  for (std::size_t n = 0; n < count; ++n) {
    orders[ranks[n]] = given[n];
    words[ranks[n]] = given_words[n];
  }
}

// How many of `other` are among 16 numbers.
inline std::int64_t count_shared(const std::uint32_t* numbers, const std::uint32_t* other, std::int64_t n_other) noexcept {
#if defined(__SSE2__)
  const auto* from = reinterpret_cast<const __m128i*>(numbers);
  const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
  const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
  __m128i found = _mm_setzero_si128();
  for (std::int64_t j = 0; j < n_other; ++j) {
    const __m128i one = _mm_set1_epi32(static_cast<std::int32_t>(other[j]));
    const __m128i ab = _mm_or_si128(_mm_cmpeq_epi32(a, one), _mm_cmpeq_epi32(b, one));
    const __m128i cd = _mm_or_si128(_mm_cmpeq_epi32(c, one), _mm_cmpeq_epi32(d, one));
    found = _mm_sub_epi32(found, _mm_or_si128(ab, cd));
  }
  std::uint32_t lanes[4];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(lanes), found);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
#else
  std::uint32_t shared = 0;
  for (std::int64_t j = 0; j < n_other; ++j) {
    for (std::size_t k = 0; k < 16; ++k) shared += numbers[k] == other[j];
  }
  return shared;
#endif
}

}  // namespace tipstaff::few_numbers

#endif
