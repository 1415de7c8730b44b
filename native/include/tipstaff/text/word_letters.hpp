// The letters of words: derived from what parts them, in lower case, 64 bytes at a time, and hashed.
#ifndef TIPSTAFF_TEXT_WORD_LETTERS_HPP
#define TIPSTAFF_TEXT_WORD_LETTERS_HPP

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::word_letters {

struct Letters {
  unsigned char lower[256];  // 0: no letter of a word
  constexpr Letters() noexcept : lower() {
    for (int c = 0; c < 256; ++c) {
      const bool small = c >= 'a' && c <= 'z';
      const bool large = c >= 'A' && c <= 'Z';
      const bool digit = c >= '0' && c <= '9';
      lower[c] = static_cast<unsigned char>(large ? c + 32
                                            : small || digit || c == '_' || c >= 128 ? c : 0);
    }
  }
};
inline constexpr Letters letters_table;

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  a ^= b;
  a *= 0x9E3779B97F4A7C15u;
  a ^= a >> 32;
  a *= 0xD6E8FEB86659FD93u;
  return a ^ (a >> 32);
}

// The first 16 bytes of a word, 0 where it is shorter: 16 bytes must be readable there.
struct Key {
  std::uint64_t low;
  std::uint64_t high;
};

inline Key key_of(const unsigned char* letters, std::uint32_t length) noexcept {
  Key key;
#if defined(__SSE2__)
  const __m128i positions = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i within = _mm_cmplt_epi8(positions, _mm_set1_epi8(static_cast<char>(std::min(length, 16u))));
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(letters));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&key), _mm_and_si128(first, within));
#else
  std::memcpy(&key.low, letters, 8);
  std::memcpy(&key.high, letters + 8, 8);
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const std::uint32_t upper = length <= 8 ? 0 : length - 8;
  key.low &= length >= 8 ? all : all >> (64 - 8 * length);
  key.high &= upper >= 8 ? all : upper == 0 ? 0 : all >> (64 - 8 * upper);
#endif
  return key;
}

inline std::uint32_t hashed(Key key, const unsigned char* letters, std::uint32_t length, std::uint64_t seed) noexcept {
  std::uint64_t state = mixed(mixed(seed ^ (length * 0xA24BAED4963EE407u), key.low), key.high);
  for (std::uint32_t at = 16; at < length; at += 8) {
    std::uint64_t chunk = 0;
    std::memcpy(&chunk, letters + at, std::min(8u, length - at));
    state = mixed(state, chunk);
  }
  return static_cast<std::uint32_t>(state);
}

// Copies 64 bytes in lower case and gives, as bits, which of them are letters of words.
inline std::uint64_t lower_block(const unsigned char* text, unsigned char* out) noexcept {
  std::uint64_t letters = 0;
#if defined(__SSE2__)
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * part));
    const auto between = [bytes](char low, char high) noexcept {
      return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1))),
                           _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1))));
    };
    const __m128i capital = between('A', 'Z');
    const __m128i plain = _mm_or_si128(_mm_or_si128(between('a', 'z'), between('0', '9')),
                                       _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')),
                                                    _mm_cmplt_epi8(bytes, _mm_setzero_si128())));
    const __m128i lowered = _mm_or_si128(bytes, _mm_and_si128(capital, _mm_set1_epi8(32)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * part), lowered);
    const auto bits = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(capital, plain)));
    letters |= std::uint64_t{bits} << (16 * part);
  }
#else
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned char lowered = letters_table.lower[text[i]];
    out[i] = lowered;
    letters |= std::uint64_t{lowered != 0} << i;
  }
#endif
  return letters;
}

}  // namespace tipstaff::word_letters

#endif
