// Text as JavaScript sees it, for ASCII: white space, lower case, and the 31-multiplier hash.
#ifndef TIPSTAFF_TEXT_TEXT_HPP
#define TIPSTAFF_TEXT_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tipstaff {

// A view of bytes: a text or a buffer. A position in a text is a `gate::Span`.
struct ByteView {
  const unsigned char* data;
  std::int64_t size;
};

inline constexpr std::uint64_t fnv_prime = 0x100000001b3u;  // of the 64-bit FNV-1a hash

// `static`: each translation unit is compiled for another instruction set and must keep its own.
static inline bool is_ascii(ByteView text) noexcept {
  std::uint64_t seen = 0;
  std::int64_t i = 0;
  for (; i + 8 <= text.size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data + i, 8);
    seen |= word;
  }
  for (; i < text.size; ++i) seen |= text.data[i];
  return (seen & 0x8080808080808080u) == 0;
}

// JavaScript's trim() on ASCII: tab, line feed, vertical tab, form feed, carriage return, space.
static inline bool is_js_space(unsigned char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline ByteView trim_ascii(ByteView text) noexcept {
  while (text.size > 0 && is_js_space(text.data[0])) {
    ++text.data;
    --text.size;
  }
  while (text.size > 0 && is_js_space(text.data[text.size - 1])) --text.size;
  return text;
}

constexpr std::uint32_t power31(int exponent) noexcept {
  std::uint32_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 31u;
  return power;
}

// h = 31 h + unit over lower-cased ASCII, modulo 2^32. Horner's rule runs on `lanes` interleaved
// subsequences at once; the lanes are joined by their powers of 31 at the end.
static inline std::uint32_t hash31_lower_ascii(ByteView text) noexcept {
  constexpr int lanes = 32;
  constexpr std::uint32_t step = power31(lanes);
  std::uint32_t lane[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= text.size; i += lanes) {
    for (int j = 0; j < lanes; ++j) {
      const std::uint32_t c = text.data[i + j];
      lane[j] = lane[j] * step + c + ((c - 'A' < 26u) ? 32u : 0u);
    }
  }
  std::uint32_t hash = 0;
  for (int j = 0; j < lanes; ++j) hash = hash * 31u + lane[j];
  for (; i < text.size; ++i) {
    const std::uint32_t c = text.data[i];
    hash = hash * 31u + c + ((c - 'A' < 26u) ? 32u : 0u);
  }
  return hash;
}

// The same over UTF-16 code units in little-endian bytes, already lower-cased and trimmed.
static inline std::uint32_t hash31_utf16le(ByteView bytes) noexcept {
  std::uint32_t hash = 0;
  for (std::int64_t i = 0; i + 1 < bytes.size; i += 2) {
    hash = hash * 31u + (bytes.data[i] | static_cast<std::uint32_t>(bytes.data[i + 1]) << 8);
  }
  return hash;
}

}  // namespace tipstaff

#endif
