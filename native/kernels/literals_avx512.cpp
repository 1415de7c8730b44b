// Literals by vectors of 64 bytes: tables of 64 classes of bytes give the thirty-two buckets of each.
#include <immintrin.h>

#include "literals_kernels.hpp"

namespace tipstaff {

// Drops the candidates that the sieves of short and of long literals do not hold, sixteen at once; all have
// eight bytes.
static inline std::size_t keep_sieved(const LiteralWindows& windows, const unsigned char* text, std::uint16_t* out,
                                      std::size_t count) noexcept {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i factor = _mm512_set1_epi32(static_cast<int>(2654435761u));
  const __m512i other = _mm512_set1_epi32(static_cast<int>(2246822519u));
  const __m512i low = _mm512_set1_epi32(0x20202020);
  const unsigned char* const few = windows.sieve + sieve_bits / 8;
  const unsigned char* const long_ones = few + sieve_bits / 8;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 lanes = count - i >= 16 ? 0xFFFF : static_cast<__mmask16>((1u << (count - i)) - 1);
    const __m256i places = _mm256_maskz_loadu_epi16(lanes, out + i);
    const __m512i wide = _mm512_cvtepu16_epi32(places);
    const __m512i four = _mm512_mask_i32gather_epi32(zero, lanes, wide, text, 1);
    const __m512i behind = _mm512_mask_i32gather_epi32(zero, lanes, wide, text + 4, 1);
    const __m512i two = _mm512_and_si512(_mm512_or_si512(behind, low), _mm512_set1_epi32(0xFFFF));
    const __m512i one = _mm512_srli_epi32(_mm512_mullo_epi32(four, factor), 14);
    const __m512i six = _mm512_srli_epi32(_mm512_add_epi32(_mm512_mullo_epi32(_mm512_or_si512(four, low), factor),
                                                           _mm512_mullo_epi32(two, other)),
                                          14);
    const __m512i one_word = _mm512_mask_i32gather_epi32(zero, lanes, _mm512_srli_epi32(one, 5), few, 4);
    const __m512i six_word = _mm512_mask_i32gather_epi32(zero, lanes, _mm512_srli_epi32(six, 5), long_ones, 4);
    const __m512i bits = _mm512_or_si512(_mm512_srlv_epi32(one_word, _mm512_and_si512(one, _mm512_set1_epi32(31))),
                                         _mm512_srlv_epi32(six_word, _mm512_and_si512(six, _mm512_set1_epi32(31))));
    const __mmask16 held = _mm512_mask_test_epi32_mask(lanes, bits, _mm512_set1_epi32(1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + kept), _mm256_maskz_compress_epi16(held, places));
    kept += static_cast<std::size_t>(__builtin_popcount(held));
  }
  return kept;
}

// The class of each byte, in its low six bits: letters know no case, controls are as blanks.
static inline __m512i classes_of(__m512i bytes) noexcept {
  const __m512i letter = _mm512_srli_epi16(_mm512_and_si512(bytes, _mm512_set1_epi8(0x40)), 1);
  return _mm512_andnot_si512(letter, _mm512_max_epu8(bytes, _mm512_set1_epi8(0x20)));
}

static std::size_t search_literals(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                   std::size_t end, std::size_t size, std::uint16_t* out) noexcept {
  __m512i table[literal_groups][literal_window];
  for (std::size_t group = 0; group < literal_groups; ++group) {
    for (std::size_t place = 0; place < literal_window; ++place) {
      table[group][place] = _mm512_loadu_si512(windows.wide + (group * literal_window + place) * 64);
    }
  }
  alignas(64) unsigned char order[64];
  for (unsigned char i = 0; i < 64; ++i) order[i] = i;
  const __m512i numbers = _mm512_load_si512(order);
  std::size_t at = begin;
  std::size_t count = 0;
  // Classes first, for all: a look-up by them is one of the cheap ones.
  alignas(64) unsigned char classes[literal_block + 64];
  std::size_t last = begin;
  if (begin + 64 <= end && begin + 128 <= size) {
    last = begin + ((end < size - 64 ? end : size - 64) - begin) / 64 * 64;
    for (std::size_t i = 0; i <= last - begin; i += 64) {
      _mm512_store_si512(classes + i, classes_of(_mm512_loadu_si512(text + begin + i)));
    }
  }
  for (; at < last; at += 64) {
    const unsigned char* const here = classes + (at - begin);
    __m512i taken[literal_groups];
    const __m512i beginning = _mm512_load_si512(here);
    const __m512i second = _mm512_loadu_si512(here + 1);
#pragma GCC unroll 4
    for (std::size_t group = 0; group < literal_groups; ++group) {
      taken[group] = _mm512_and_si512(_mm512_permutexvar_epi8(beginning, table[group][0]),
                                      _mm512_permutexvar_epi8(second, table[group][1]));
    }
#pragma GCC unroll 2
    for (std::size_t place = 2; place < literal_window; place += 2) {
      const __m512i one = _mm512_loadu_si512(here + place);
      const __m512i other = _mm512_loadu_si512(here + place + 1);
#pragma GCC unroll 4
      for (std::size_t group = 0; group < literal_groups; ++group) {
        taken[group] =
            _mm512_ternarylogic_epi32(taken[group], _mm512_permutexvar_epi8(one, table[group][place]),
                                      _mm512_permutexvar_epi8(other, table[group][place + 1]), 0x80);
      }
    }
    const __m512i bytes = _mm512_loadu_si512(text + at);
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

// A byte's own bit and the bit of what must follow it: 1 a percent sign, 2 a backslash, 4 a sign of base64.
struct EscapeBits {
  alignas(64) unsigned char own[128] = {};
  alignas(64) unsigned char behind[128] = {};
  constexpr EscapeBits() noexcept {
    for (int i = 0; i < 128; ++i) {
      const bool letter = (i | 0x20) >= 'a' && (i | 0x20) <= 'z';
      if (letter || (i >= '/' && i <= '9') || i == '+') own[i] = 4;
    }
    own[static_cast<int>('%')] = 1;
    own[static_cast<int>('\\')] = 2;
    for (int i = '2'; i <= '7'; ++i) behind[i] = 1;
    behind[static_cast<int>('/')] = behind[static_cast<int>('u')] = 2;
  }
};

static constexpr EscapeBits escape_bits;

static std::size_t search_escapes(const unsigned char* text, std::size_t begin, std::size_t end, std::size_t size,
                                  std::uint16_t* out) noexcept {
  const __m512i own_low = _mm512_load_si512(escape_bits.own);
  const __m512i own_high = _mm512_load_si512(escape_bits.own + 64);
  const __m512i behind_low = _mm512_load_si512(escape_bits.behind);
  const __m512i behind_high = _mm512_load_si512(escape_bits.behind + 64);
  BlobRuns runs(text, begin);
  std::size_t at = begin;
  std::size_t count = 0;
  for (; at + 64 <= end && at + 65 <= size; at += 64) {
    const __m512i bytes = _mm512_loadu_si512(text + at);
    const __m512i next = _mm512_loadu_si512(text + at + 1);
    const __m512i kind = _mm512_permutex2var_epi8(own_low, bytes, own_high);
    const __m512i wanted = _mm512_permutex2var_epi8(behind_low, next, behind_high);
    const std::uint64_t ascii = ~_mm512_movepi8_mask(bytes);
    const std::uint64_t signs = _mm512_test_epi8_mask(kind, _mm512_set1_epi8(4)) & ascii;
    const std::uint64_t escapes = _mm512_test_epi8_mask(kind, wanted) & ascii & ~_mm512_movepi8_mask(next);
    const std::uint64_t found = escapes | runs.next(signs);
    if (found != 0) count = write_places(found, at - begin, out, count);
  }
  if (at == end) return count;
  const std::size_t more = search_escapes_portable(text, at, end, size, out + count);
  for (std::size_t i = 0; i < more; ++i) out[count + i] = static_cast<std::uint16_t>(out[count + i] + (at - begin));
  return count + more;
}

const LiteralFinder find_literals_avx512 = {search_literals, search_escapes};

}  // namespace tipstaff
