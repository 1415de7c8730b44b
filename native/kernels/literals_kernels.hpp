// The finders of literals that the translation units of this folder define.
#ifndef TIPSTAFF_LITERALS_KERNELS_HPP
#define TIPSTAFF_LITERALS_KERNELS_HPP

#include "tipstaff/literals.hpp"

namespace tipstaff {

extern const LiteralFinder find_literals_avx2;
extern const LiteralFinder find_literals_avx512;

// Looks at the places that vectors left, from `at` on; those before are in `out`.
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

// Looks for runs of base64 in masks of 64 bytes that come one after the other.
struct BlobRuns {
  std::uint64_t before = 0;  // signs of the 64 bytes before, as far as they matter
  bool within = false;       // whether the last of them ends a run that is long enough

  BlobRuns(const unsigned char* text, std::size_t begin) noexcept {
    // No more of them are needed.
    for (std::size_t i = 0; i < least_blob && i < begin && is_base64_sign(text[begin - 1 - i]); ++i) {
      before |= std::uint64_t{1} << (63 - i);
    }
    within = before >> (64 - least_blob) == (std::uint64_t{1} << least_blob) - 1;
  }
  // Which of these bytes are the twenty-fourth of a run.
  std::uint64_t next(std::uint64_t signs) noexcept {
    const auto back = [](std::uint64_t now, std::uint64_t then, int by) { return now << by | then >> (64 - by); };
    // Bytes that end a run of 2, 4, 8, 16 and 24.
    std::uint64_t old = before;
    std::uint64_t run = signs;
    before = signs;
    std::uint64_t older = old;
    std::uint64_t longer = run & back(run, older, 1);
    older &= older << 1;
    run = longer & back(longer, older, 2);
    older &= older << 2;
    longer = run & back(run, older, 4);
    older &= older << 4;
    const std::uint64_t eight = older;
    run = longer & back(longer, older, 8);
    run &= back(longer, eight, 16);
    const std::uint64_t first = run & ~(run << 1 | std::uint64_t{within});
    within = run >> 63 != 0;
    return first;
  }
};

// Writes where the bits of a mask stand, from `at` on.
static inline std::size_t write_places(std::uint64_t mask, std::size_t at, std::uint16_t* out,
                                       std::size_t count) noexcept {
  for (; mask != 0; mask &= mask - 1) {
    out[count++] = static_cast<std::uint16_t>(at + static_cast<std::size_t>(__builtin_ctzll(mask)));
  }
  return count;
}

}  // namespace tipstaff

#endif
