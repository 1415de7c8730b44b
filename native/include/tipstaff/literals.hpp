// Where in a text one of many literals may begin: the prefilter of the secrets scanner.
//
// A literal is a window of six sets of bytes, the first three of which are known up to case. Windows
// share thirty-two buckets. The wide kernels look at whole vectors: a place is a candidate if one bucket
// takes the bytes at all six places. What they let pass, and all places of the portable kernel, is
// hashed over four bytes; a place whose hash no literal has is dropped. Candidates come in order, and
// those that remain differ from kernel to kernel; every place of a literal is always among them.
#ifndef TIPSTAFF_LITERALS_HPP
#define TIPSTAFF_LITERALS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tipstaff {

inline constexpr std::size_t literal_window = 6;
inline constexpr std::size_t literal_groups = 4;
inline constexpr std::size_t sieve_bytes = (std::size_t{1} << 18) / 8;
inline constexpr std::size_t literal_heads = 8192;
// Places that one call looks at.
inline constexpr std::size_t literal_block = 4096;
// Entries of `out` that a finder may write behind the last candidate.
inline constexpr std::size_t literal_slack = 64;

// The sections of a table that the kernels read; `heads` are 8192 little-endian u16, 0xFFFF for none.
struct LiteralWindows {
  const unsigned char* heads;
  const unsigned char* wide;     // [4 groups of 8 buckets][6 places][128 bytes]: the buckets of a byte
  const unsigned char* nibbles;  // [4][6][low, high][16]
  const unsigned char* sieve;    // one bit for each hash of four bytes
};

static inline std::uint32_t literal_hash(const unsigned char* x) noexcept {
  const std::uint32_t value = (std::uint32_t{x[0]} | std::uint32_t{x[1]} << 8 | std::uint32_t{x[2]} << 16) | 0x202020u;
  return (value * 2654435761u) >> 19;
}

static inline std::uint32_t literal_head(const LiteralWindows& windows, std::uint32_t hash) noexcept {
  const unsigned char* x = windows.heads + 2 * hash;
  return std::uint32_t{x[0]} | std::uint32_t{x[1]} << 8;
}

// Writes the offsets from `begin` of the candidates among [begin, end), at most `literal_block` of
// them and `literal_slack` of no meaning, and returns their number. Reads nothing behind `size`.
using LiteralFinder = std::size_t (*)(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                      std::size_t end, std::size_t size, std::uint16_t* out);

// Whether a literal may begin at `at`; there are three bytes.
static inline bool literal_may_begin(const LiteralWindows& windows, const unsigned char* text, std::size_t at,
                                     std::size_t size) noexcept {
  if (size - at < 4) return literal_head(windows, literal_hash(text + at)) != 0xFFFFu;
  const unsigned char* x = text + at;
  const std::uint32_t value =
      std::uint32_t{x[0]} | std::uint32_t{x[1]} << 8 | std::uint32_t{x[2]} << 16 | std::uint32_t{x[3]} << 24;
  const std::uint32_t place = (value * 2654435761u) >> 14;
  return (windows.sieve[place >> 3] >> (place & 7) & 1) != 0;
}

static inline std::size_t find_literals_portable(const LiteralWindows& windows, const unsigned char* text,
                                                 std::size_t begin, std::size_t end, std::size_t size,
                                                 std::uint16_t* out) noexcept {
  std::size_t found = 0;
  if (size < 3) return 0;
  if (end > size - 2) end = size - 2;
  for (std::size_t at = begin; at < end; ++at) {
    out[found] = static_cast<std::uint16_t>(at - begin);
    found += literal_may_begin(windows, text, at, size);
  }
  return found;
}

// Drops the candidates whose hash no literal has.
static inline std::size_t keep_hashed(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                      std::size_t size, std::uint16_t* out, std::size_t count) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t place = out[i];
    out[kept] = place;
    kept += literal_may_begin(windows, text, begin + place, size);
  }
  return kept;
}

}  // namespace tipstaff

#endif
