// Literals by vectors of 64 bytes: a table of 128 bytes gives each byte's thirty-two buckets at once.
#include <immintrin.h>

#include "literals_kernels.hpp"

namespace tipstaff {

std::size_t find_literals_avx512(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                 std::size_t end, std::size_t size, std::uint16_t* out) noexcept {
  __m512i table[literal_groups][literal_window][2];
  for (std::size_t group = 0; group < literal_groups; ++group) {
    for (std::size_t place = 0; place < literal_window; ++place) {
      const unsigned char* x = windows.wide + (group * literal_window + place) * 128;
      table[group][place][0] = _mm512_loadu_si512(x);
      table[group][place][1] = _mm512_loadu_si512(x + 64);
    }
  }
  std::size_t at = begin;
  std::size_t count = 0;
  for (; at + 64 <= end && at + 64 + literal_window - 1 <= size; at += 64) {
    const __m512i bytes = _mm512_loadu_si512(text + at);
    __m512i taken[literal_groups];
#pragma GCC unroll 4
    for (std::size_t group = 0; group < literal_groups; ++group) {
      taken[group] = _mm512_permutex2var_epi8(table[group][0][0], bytes, table[group][0][1]);
    }
#pragma GCC unroll 5
    for (std::size_t place = 1; place < literal_window; ++place) {
      const __m512i behind = _mm512_loadu_si512(text + at + place);
#pragma GCC unroll 4
      for (std::size_t group = 0; group < literal_groups; ++group) {
        taken[group] = _mm512_and_si512(
            taken[group], _mm512_permutex2var_epi8(table[group][place][0], behind, table[group][place][1]));
      }
    }
    const __m512i first = _mm512_or_si512(_mm512_or_si512(taken[0], taken[1]), _mm512_or_si512(taken[2], taken[3]));
    // The tables are of ASCII, and no literal begins with anything else.
    std::uint64_t hits = _mm512_test_epi8_mask(first, first) & ~_mm512_movepi8_mask(bytes);
    const auto offset = static_cast<std::uint32_t>(at - begin);
    const auto number = static_cast<std::size_t>(__builtin_popcountll(hits));
    // Few are usual: write four at once and go on where more are.
    for (std::size_t i = 0; i < number; i += 4) {
      for (std::size_t j = 0; j < 4; ++j) {
        out[count + i + j] = static_cast<std::uint16_t>(offset + static_cast<std::uint32_t>(_tzcnt_u64(hits)));
        hits &= hits - 1;
      }
    }
    count += number;
  }
  count = keep_hashed(windows, text, begin, size, out, count);
  return finish_literals(windows, text, begin, at, end, size, out, count);
}

}  // namespace tipstaff
