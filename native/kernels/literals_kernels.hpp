// The finders of literals that the translation units of this folder define.
#ifndef TIPSTAFF_LITERALS_KERNELS_HPP
#define TIPSTAFF_LITERALS_KERNELS_HPP

#include "tipstaff/literals.hpp"

namespace tipstaff {

std::size_t find_literals_avx2(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                               std::size_t end, std::size_t size, std::uint16_t* out) noexcept;
std::size_t find_literals_avx512(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                 std::size_t end, std::size_t size, std::uint16_t* out) noexcept;

// Looks at the places that vectors left, from `at` on; those before are in `out`.
static inline std::size_t finish_literals(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                          std::size_t at, std::size_t end, std::size_t size, std::uint16_t* out,
                                          std::size_t count) noexcept {
  if (size < 3) return count;
  if (end > size - 2) end = size - 2;
  for (; at < end; ++at) {
    out[count] = static_cast<std::uint16_t>(at - begin);
    count += literal_may_begin(windows, text, at, size);
  }
  return count;
}

}  // namespace tipstaff

#endif
