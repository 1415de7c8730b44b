// Where the lowest bit of a number is.
#ifndef TIPSTAFF_TEXT_LOWEST_BIT_HPP
#define TIPSTAFF_TEXT_LOWEST_BIT_HPP

#include <cstdint>

namespace tipstaff {

// `bits` is not 0.
inline int lowest_bit(std::uint64_t bits) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  return __builtin_ctzll(bits);
#else
  int at = 0;
  for (; (bits & 1u) == 0; bits >>= 1) ++at;
  return at;
#endif
}

}  // namespace tipstaff

#endif
