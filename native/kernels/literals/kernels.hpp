// The finders of literals that the translation units of this folder define.
#ifndef TIPSTAFF_LITERALS_KERNELS_HPP
#define TIPSTAFF_LITERALS_KERNELS_HPP

#include "tipstaff/text/literals.hpp"

namespace tipstaff {

extern const LiteralFinder find_literals_avx2;
extern const LiteralFinder find_literals_avx512;

// Looks at the positions that vectors left, from `at` on; those before are in `out`.
static inline std::size_t finish_literals(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                          std::size_t at, std::size_t end, std::size_t size, std::uint16_t* out,
                                          std::size_t count) noexcept {
  if (size < 3) return 0;
  if (end > size - 2) end = size - 2;
  const std::size_t before = count;
  for (; at < end; ++at) {
    out[count] = static_cast<std::uint16_t>(at - begin);
    count += literal_may_begin(windows, text, at, size);
  }
  return before + keep_long(windows, text, begin, size, out + before, count - before);
}

// Which of the 64 bytes before `begin` are characters of base64 up to it, as far as they matter.
static inline std::uint64_t signs_before(const unsigned char* text, std::size_t begin) noexcept {
  std::uint64_t signs = 0;
  for (std::size_t i = 0; i < least_blob && i < begin && is_base64_sign(text[begin - 1 - i]); ++i) {
    signs |= std::uint64_t{1} << (63 - i);
  }
  return signs;
}

// Which of 64 bytes are the twenty-fourth of a run of base64, by masks of its signs among them and the 64 before.
static inline std::uint64_t first_long_runs(std::uint64_t signs, std::uint64_t older) noexcept {
  const auto back = [](std::uint64_t now, std::uint64_t then, int by) { return now << by | then >> (64 - by); };
  // Whether the bytes before end a run that is long enough.
  const bool within = older >> (64 - least_blob) == (std::uint64_t{1} << least_blob) - 1;
  // Bytes that end a run of 2, 4, 8, 16 and 24.
  std::uint64_t longer = signs & back(signs, older, 1);
  older &= older << 1;
  std::uint64_t run = longer & back(longer, older, 2);
  older &= older << 2;
  longer = run & back(run, older, 4);
  older &= older << 4;
  const std::uint64_t eight = older;
  run = longer & back(longer, older, 8);
  run &= back(longer, eight, 16);
  return run & ~(run << 1 | std::uint64_t{within});
}

// Which groups of eight bits are all set, in the highest bit of each; also marks a group after such a one that lacks
// its first bit alone. Every run that is long enough has two full groups side by side, up to its twenty-fourth sign.
static inline std::uint64_t full_groups(std::uint64_t signs) noexcept {
  return (~signs - 0x0101010101010101u) & signs & 0x8080808080808080u;
}

// Writes where the bits of a mask are, from `at` on.
static inline std::size_t write_positions(std::uint64_t mask, std::size_t at, std::uint16_t* out,
                                       std::size_t count) noexcept {
  for (; mask != 0; mask &= mask - 1) {
    out[count++] = static_cast<std::uint16_t>(at + static_cast<std::size_t>(__builtin_ctzll(mask)));
  }
  return count;
}

// Looks at the positions that vectors left, from `at` on; those before are in `out`.
static inline std::size_t finish_marks(const unsigned char* text, std::size_t begin, std::size_t at, std::size_t end,
                                         std::size_t size, std::uint16_t* out, std::size_t count) noexcept {
  if (at == end) return count;
  const std::size_t more = search_marks_portable(text, at, end, size, out + count);
  for (std::size_t i = 0; i < more; ++i) out[count + i] = static_cast<std::uint16_t>(out[count + i] + (at - begin));
  return count + more;
}

}  // namespace tipstaff

#endif
