// Bytes of a request as its focus sees them: classes, characters above ASCII, and looking for one.
#ifndef TIPSTAFF_FOCUS_BYTES_HPP
#define TIPSTAFF_FOCUS_BYTES_HPP

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tipstaff/focus/words.hpp"

namespace tipstaff {
namespace focus {

inline constexpr std::int64_t longest_span = 200;
inline constexpr std::int64_t longest_path = 512;
inline constexpr std::int64_t longest_symbol = 128;
inline constexpr std::int64_t longest_hump = 64;

enum Class : std::uint8_t { lower, upper, digit, under, other, colon, high, mark, space };

struct Classes {
  Class of[256];
};

static constexpr bool is_one_of(unsigned char c, const char* set) noexcept {
  for (; *set != 0; ++set) {
    if (static_cast<unsigned char>(*set) == c) return true;
  }
  return false;
}

static constexpr Classes make_classes() noexcept {
  Classes table = {};
  for (int i = 0; i < 256; ++i) {
    const auto c = static_cast<unsigned char>(i);
    Class found = mark;
    if (c >= 'a' && c <= 'z') {
      found = lower;
    } else if (c >= 'A' && c <= 'Z') {
      found = upper;
    } else if (c >= '0' && c <= '9') {
      found = digit;
    } else if (c == '_') {
      found = under;
    } else if (c == ':') {
      found = colon;
    } else if (c != 0 && is_one_of(c, "*#@$%&+-./\\~")) {
      found = other;
    } else if (c >= 0x80) {
      found = high;
    } else if (c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31)) {
      found = space;
    }
    table.of[i] = found;
  }
  return table;
}

inline constexpr Classes classes = make_classes();

// What a character means in a token, as bits.
enum Trait : std::uint8_t { in_front = 1, after_path = 2, refused = 4, dot = 8, slash = 16, at_sign = 32, part = 64, wild = 128 };

struct Traits {
  std::uint8_t of[256];
};

static constexpr Traits make_traits() noexcept {
  Traits traits = {};
  const auto give = [&traits](const char* set, unsigned trait) {
    for (; *set != 0; ++set) {
      std::uint8_t& of = traits.of[static_cast<unsigned char>(*set)];
      of = static_cast<std::uint8_t>(of | trait);
    }
  };
  give("*+$%&#", in_front);
  give(".*:-#~&%$+", after_path);
  give("*%&$", refused);
  give("*%&", wild);
  give(".", dot);
  give("/\\", slash);
  give("@", at_sign);
  give(":#", part);
  return traits;
}

inline constexpr Traits traits = make_traits();

using Bytes = const unsigned char*;

// Decodes one character above ASCII. Gives its length; 1 and U+FFFD for an invalid one.
static inline int decode(Bytes x, Bytes end, std::uint32_t* code) noexcept {
  const unsigned char c = x[0];
  const int size = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  *code = 0xFFFD;
  if (c < 0xC2 || c > 0xF4 || end - x < size) return 1;
  std::uint32_t value = c & (0x7Fu >> size);
  for (int i = 1; i < size; ++i) {
    if ((x[i] & 0xC0) != 0x80) return 1;
    value = value << 6 | (x[i] & 0x3Fu);
  }
  *code = value;
  return size;
}

static constexpr bool is_wide_space(std::uint32_t c) noexcept {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Whether a character above ASCII ends a token: punctuation, symbols, spaces, surrogates, private use.
static constexpr bool ends_token(std::uint32_t c) noexcept {
  if (c < 0xC0) return c != 0xAA && c != 0xB5 && c != 0xBA;
  if (c < 0x2000) return c == 0xD7 || c == 0xF7 || c == 0x1680;
  return (c <= 0x206F && c != 0x200C && c != 0x200D) || (c >= 0x20A0 && c <= 0x20CF) ||
         (c >= 0x2190 && c <= 0x2BFF) || (c >= 0x2E00 && c <= 0x2E7F) || (c >= 0x3000 && c <= 0x3004) ||
         (c >= 0x3008 && c <= 0x3020) || c == 0x3030 || c == 0x30FB || (c >= 0xD800 && c <= 0xF8FF) ||
         (c >= 0xFE10 && c <= 0xFE1F) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF0F) ||
         (c >= 0xFF1A && c <= 0xFF20) || (c >= 0xFF3B && c <= 0xFF40) || (c >= 0xFF5B && c <= 0xFF65) ||
         (c >= 0xFFF0 && c <= 0xFFFF) || (c >= 0x1F000 && c <= 0x1FAFF) || c >= 0xE0000;
}

// 1 for capitals, 2 for small letters, 0 for letters without case: Latin, Greek and Cyrillic.
static constexpr int letter_case(std::uint32_t c) noexcept {
  if (c >= 0xC0 && c <= 0xDE) return 1;
  if (c >= 0xDF && c <= 0xFF) return 2;
  if (c >= 0x100 && c <= 0x17F) return (c & 1u) != 0 ? 2 : 1;
  if (c >= 0x391 && c <= 0x3A9) return 1;
  if (c >= 0x3AC && c <= 0x3CE) return 2;
  if (c >= 0x400 && c <= 0x42F) return 1;
  if (c >= 0x430 && c <= 0x45F) return 2;
  return 0;
}

static constexpr bool is_letter(unsigned char c) noexcept {
  return (1u << classes.of[c] & (1u << lower | 1u << upper | 1u << high)) != 0;
}

// Whether names are made of it: letters, digits and underscores.
static constexpr bool is_sign(unsigned char c) noexcept {
  return (1u << classes.of[c] & (1u << lower | 1u << upper | 1u << digit | 1u << under | 1u << high)) != 0;
}

static constexpr bool is_digit(unsigned char c) noexcept { return c >= '0' && c <= '9'; }

static constexpr bool is_separator(unsigned char c) noexcept { return c == '/' || c == '\\'; }

static inline bool in_list(const WordSet& set, Bytes s, Bytes e, bool folded = false) noexcept {
  return listed(set, s, e - s, folded);
}

static inline bool has(Bytes s, Bytes e, unsigned char c) noexcept {
  return s < e && std::memchr(s, c, static_cast<std::size_t>(e - s)) != nullptr;
}

// The first of either, `e` where there is none.
static inline Bytes find_either(Bytes s, Bytes e, unsigned char one, unsigned char other) noexcept {
#if defined(__SSE2__)
  const __m128i first = _mm_set1_epi8(static_cast<char>(one));
  const __m128i second = _mm_set1_epi8(static_cast<char>(other));
  for (; e - s >= 16; s += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s));
    const int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, first), _mm_cmpeq_epi8(bytes, second)));
    if (found != 0) return s + __builtin_ctz(static_cast<unsigned>(found));
  }
#endif
  while (s < e && *s != one && *s != other) ++s;
  return s;
}

}  // namespace focus
}  // namespace tipstaff

#endif
