// Literals by vectors of 32 bytes: each byte's halves say which of thirty-two buckets take it.
#include <immintrin.h>

#include "literals_kernels.hpp"

namespace tipstaff {

std::size_t find_literals_avx2(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                               std::size_t end, std::size_t size, std::uint16_t* out) noexcept {
  __m256i low[literal_groups][literal_window];
  __m256i high[literal_groups][literal_window];
  for (std::size_t group = 0; group < literal_groups; ++group) {
    for (std::size_t place = 0; place < literal_window; ++place) {
      const unsigned char* x = windows.nibbles + (group * literal_window + place) * 32;
      low[group][place] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
      high[group][place] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + 16)));
    }
  }
  const __m256i nibble = _mm256_set1_epi8(15);
  std::size_t at = begin;
  std::size_t count = 0;
  for (; at + 32 <= end && at + 32 + literal_window - 1 <= size; at += 32) {
    __m256i taken[literal_groups];
    for (__m256i& group : taken) group = _mm256_set1_epi8(-1);
#pragma GCC unroll 6
    for (std::size_t place = 0; place < literal_window; ++place) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + place));
      const __m256i lows = _mm256_and_si256(bytes, nibble);
      const __m256i highs = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
#pragma GCC unroll 4
      for (std::size_t group = 0; group < literal_groups; ++group) {
        taken[group] = _mm256_and_si256(taken[group],
                                        _mm256_and_si256(_mm256_shuffle_epi8(low[group][place], lows),
                                                         _mm256_shuffle_epi8(high[group][place], highs)));
      }
    }
    const __m256i any =
        _mm256_or_si256(_mm256_or_si256(taken[0], taken[1]), _mm256_or_si256(taken[2], taken[3]));
    const __m256i none = _mm256_cmpeq_epi8(any, _mm256_setzero_si256());
    std::uint32_t hits = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none));
    const auto offset = static_cast<std::uint32_t>(at - begin);
    for (; hits != 0; hits &= hits - 1) {
      out[count++] = static_cast<std::uint16_t>(offset + static_cast<std::uint32_t>(__builtin_ctz(hits)));
    }
  }
  count = keep_hashed(windows, text, begin, size, out, count);
  return finish_literals(windows, text, begin, at, end, size, out, count);
}

}  // namespace tipstaff
