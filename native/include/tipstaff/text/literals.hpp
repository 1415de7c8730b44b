// Where in a text one of many literals may begin: the prefilter of the secrets scanner.
//
// A literal is a window of six sets of bytes, the first three of which are known up to case. Windows share thirty-two
// buckets. The widest kernel looks at whole vectors: a position is a candidate if one bucket takes the bytes at the first
// five positions; the others hash four bytes at each position. What they let pass is hashed otherwise too, over four bytes for
// literals that many texts of six bytes fit, over six for the others; a position whose hash no literal has is dropped. Candidates come in order, and those that
// remain differ from kernel to kernel; every position of a literal is always among them.
#ifndef TIPSTAFF_TEXT_LITERALS_HPP
#define TIPSTAFF_TEXT_LITERALS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tipstaff {

inline constexpr std::size_t literal_window = 6;
inline constexpr std::size_t literal_groups = 4;
// Positions of a window that the widest kernel looks at.
inline constexpr std::size_t wide_window = 5;
inline constexpr int sieve_log = 19;
inline constexpr std::size_t sieve_bits = std::size_t{1} << sieve_log;
inline constexpr std::size_t sieve_bytes = 3 * sieve_bits / 8;
inline constexpr std::size_t literal_heads = 8192;
// Positions that one call looks at.
inline constexpr std::size_t literal_block = 4096;
// Entries of `out` that a finder may write after the last candidate.
inline constexpr std::size_t literal_slack = 64;

// The sections of a table that the kernels read; `heads` are 8192 little-endian u16, 0xFFFF for none.
struct LiteralWindows {
  const unsigned char* heads;
  const unsigned char* wide;   // [4 groups of 8 buckets][6 positions][64 classes of bytes]: the buckets of a class
  const unsigned char* sieve;  // three of one bit for each hash: four bytes of all, of the short ones otherwise, six of others
};

static inline std::uint32_t literal_hash(const unsigned char* x) noexcept {
  const std::uint32_t value = (std::uint32_t{x[0]} | std::uint32_t{x[1]} << 8 | std::uint32_t{x[2]} << 16) | 0x202020u;
  return (value * 2654435761u) >> 19;
}

static inline std::uint32_t literal_head(const LiteralWindows& windows, std::uint32_t hash) noexcept {
  const unsigned char* x = windows.heads + 2 * hash;
  return std::uint32_t{x[0]} | std::uint32_t{x[1]} << 8;
}

// Base64 that is looked into has so many characters at least.
inline constexpr std::size_t least_blob = 24;

// Writes the offsets from `begin` of the candidates among [begin, end), at most `literal_block` of
// them and `literal_slack` of no meaning, and returns their number. Reads nothing after `size`.
using LiteralSearch = std::size_t (*)(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                      std::size_t end, std::size_t size, std::uint16_t* out);

// What a block has, as offsets from its beginning: literals in order, and so the marks of either kind.
struct BlockMatches {
  std::uint16_t literals[literal_block + literal_slack];
  // Where something may be encoded: a `%` or a backslash that may begin an escape, and the twenty-fourth character of
  // every run of base64.
  std::uint16_t marks[literal_block + literal_slack];
  std::size_t n_literals;
  std::size_t n_marks;
};

// The same, and the marks too.
using BlockSearch = void (*)(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                             std::size_t end, std::size_t size, BlockMatches* out);

// Both searches of one instruction set.
struct LiteralFinder {
  LiteralSearch literals;
  BlockSearch block;
};

static inline std::uint32_t literal_load32(const unsigned char* x) noexcept {
  return std::uint32_t{x[0]} | std::uint32_t{x[1]} << 8 | std::uint32_t{x[2]} << 16 | std::uint32_t{x[3]} << 24;
}

// Whether a literal may begin at `at` by its first four bytes; there are three bytes.
static inline bool literal_may_begin(const LiteralWindows& windows, const unsigned char* text, std::size_t at,
                                     std::size_t size) noexcept {
  if (size - at < 4) return literal_head(windows, literal_hash(text + at)) != 0xFFFFu;
  const std::uint32_t position = (literal_load32(text + at) * 2654435761u) >> (32 - sieve_log);
  return (windows.sieve[position >> 3] >> (position & 7) & 1) != 0;
}

// Drops the candidates that have the first four bytes of long literals alone, and not their six.
static inline std::size_t keep_long(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                    std::size_t size, std::uint16_t* out, std::size_t count) noexcept {
  const unsigned char* const few = windows.sieve + sieve_bits / 8;
  const unsigned char* const long_ones = few + sieve_bits / 8;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t position = out[i];
    const std::size_t at = begin + position;
    out[kept] = position;
    if (size - at < literal_window) {
      ++kept;
      continue;
    }
    const std::uint32_t four = literal_load32(text + at);
    const std::uint32_t two = (std::uint32_t{text[at + 4]} | std::uint32_t{text[at + 5]} << 8) | 0x2020u;
    const std::uint32_t one = (four * 2246822519u) >> (32 - sieve_log);
    const std::uint32_t six = ((four | 0x20202020u) * 2654435761u + two * 2246822519u) >> (32 - sieve_log);
    kept += ((few[one >> 3] >> (one & 7)) | (long_ones[six >> 3] >> (six & 7))) & 1u;
  }
  return kept;
}

static inline std::size_t search_literals_portable(const LiteralWindows& windows, const unsigned char* text,
                                                   std::size_t begin, std::size_t end, std::size_t size,
                                                   std::uint16_t* out) noexcept {
  std::size_t found = 0;
  if (size < 3) return 0;
  if (end > size - 2) end = size - 2;
  for (std::size_t at = begin; at < end; ++at) {
    out[found] = static_cast<std::uint16_t>(at - begin);
    found += literal_may_begin(windows, text, at, size);
  }
  return keep_long(windows, text, begin, size, out, found);
}

// Whether a byte is a letter, a digit, `+` or `/`.
static inline bool is_base64_sign(unsigned char c) noexcept {
  static constexpr std::uint64_t signs[4] = {0x03FF880000000000u, 0x07FFFFFE07FFFFFEu, 0, 0};
  return (signs[c >> 6] >> (c & 63) & 1) != 0;
}

// Whether `%` or a backslash at `at` is followed by what an escape begins with.
static inline bool may_escape(const unsigned char* text, std::size_t at, std::size_t size) noexcept {
  if (at + 1 >= size) return false;
  const unsigned char next = text[at + 1];
  return text[at] == '%' ? next >= '2' && next <= '7' : next == '/' || next == 'u';
}

static inline std::size_t search_marks_portable(const unsigned char* text, std::size_t begin, std::size_t end,
                                                  std::size_t size, std::uint16_t* out) noexcept {
  std::size_t found = 0;
  const auto next = [text, end](std::size_t at, int sign) noexcept {
    const void* const position = at < end ? std::memchr(text + at, sign, end - at) : nullptr;
    return position == nullptr ? end : static_cast<std::size_t>(static_cast<const unsigned char*>(position) - text);
  };
  std::size_t percent = next(begin, '%');
  std::size_t slash = next(begin, '\\');
  while (percent < end || slash < end) {
    const std::size_t position = percent < slash ? percent : slash;
    out[found] = static_cast<std::uint16_t>(position - begin);
    found += may_escape(text, position, size);
    if (percent < slash) {
      percent = next(percent + 1, '%');
    } else {
      slash = next(slash + 1, '\\');
    }
  }
  std::size_t at = begin;
  while (at > 0 && begin - at < least_blob && is_base64_sign(text[at - 1])) --at;
  if (begin - at == least_blob) {
    // Its twenty-fourth character is before.
    at = begin;
    while (at < end && is_base64_sign(text[at])) ++at;
  }
  while (at + least_blob <= end) {
    std::size_t back = at + least_blob;
    while (back > at && is_base64_sign(text[back - 1])) --back;
    if (back > at) {
      at = back;
      continue;
    }
    at += least_blob;
    out[found++] = static_cast<std::uint16_t>(at - 1 - begin);
    while (at < end && is_base64_sign(text[at])) ++at;
  }
  return found;
}

static inline void search_block_portable(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                         std::size_t end, std::size_t size, BlockMatches* out) noexcept {
  out->n_literals = search_literals_portable(windows, text, begin, end, size, out->literals);
  out->n_marks = search_marks_portable(text, begin, end, size, out->marks);
}

inline constexpr LiteralFinder find_literals_portable = {search_literals_portable, search_block_portable};

}  // namespace tipstaff

#endif
