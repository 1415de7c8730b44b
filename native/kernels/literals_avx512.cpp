// Literals by vectors of 64 bytes: a table of 128 bytes gives each byte's thirty-two buckets at once.
#include <immintrin.h>

#include "literals_kernels.hpp"

namespace tipstaff {

// Drops the candidates whose four bytes the sieve does not hold, sixteen at once; all have six bytes.
static inline std::size_t keep_sieved(const LiteralWindows& windows, const unsigned char* text, std::uint16_t* out,
                                      std::size_t count) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 lanes = count - i >= 16 ? 0xFFFF : static_cast<__mmask16>((1u << (count - i)) - 1);
    const __m256i places = _mm256_maskz_loadu_epi16(lanes, out + i);
    const __m512i wide = _mm512_cvtepu16_epi32(places);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bytes = _mm512_mask_i32gather_epi32(zero, lanes, wide, text, 1);
    const __m512i hash =
        _mm512_srli_epi32(_mm512_mullo_epi32(bytes, _mm512_set1_epi32(static_cast<int>(2654435761u))), 14);
    const __m512i words = _mm512_mask_i32gather_epi32(zero, lanes, _mm512_srli_epi32(hash, 5), windows.sieve, 4);
    const __m512i bits = _mm512_srlv_epi32(words, _mm512_and_si512(hash, _mm512_set1_epi32(31)));
    const __mmask16 held = _mm512_mask_test_epi32_mask(lanes, bits, _mm512_set1_epi32(1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + kept), _mm256_maskz_compress_epi16(held, places));
    kept += static_cast<std::size_t>(__builtin_popcount(held));
  }
  return kept;
}

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
  alignas(64) unsigned char order[64];
  for (unsigned char i = 0; i < 64; ++i) order[i] = i;
  const __m512i numbers = _mm512_load_si512(order);
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
    const std::uint64_t hits = _mm512_test_epi8_mask(first, first) & ~_mm512_movepi8_mask(bytes);
    const auto offset = static_cast<std::uint32_t>(at - begin);
    const auto number = static_cast<std::size_t>(__builtin_popcountll(hits));
    const __m512i packed = _mm512_maskz_compress_epi8(hits, numbers);
    const __m512i shift = _mm512_set1_epi16(static_cast<short>(offset));
    _mm512_storeu_si512(out + count,
                        _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed)), shift));
    if (number > 32) {
      _mm512_storeu_si512(out + count + 32,
                          _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(packed, 1)), shift));
    }
    count += number;
  }
  count = keep_sieved(windows, text + begin, out, count);
  return finish_literals(windows, text, begin, at, end, size, out, count);
}

}  // namespace tipstaff
