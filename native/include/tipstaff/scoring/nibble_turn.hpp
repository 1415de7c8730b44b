// The rotation of what nibbles are made from: 128 numbers at a time, so that no few of them are much larger than the others
// and four bits do for all. A table's first dimensions are often the largest, so each 128 take their share of all.
//
// Signs are changed by a fixed pattern, then sums and differences are taken (the Walsh-Hadamard transform). It is left at
// sqrt(128) times the lengths: of whole numbers it gives whole numbers, without rounding.
#ifndef TIPSTAFF_SCORING_NIBBLE_TURN_HPP
#define TIPSTAFF_SCORING_NIBBLE_TURN_HPP

#include <cstdint>

namespace tipstaff {

inline constexpr int turned_numbers = 128;
// Bits without a pattern: the first 32 digits of pi's fraction in base 16.
inline constexpr std::uint64_t turn_signs[2] = {0x243f6a8885a308d3u, 0x13198a2e03707344u};

// Which dimension is the i-th of the 128 whose results begin at `start`, of `turned` in all.
constexpr std::int64_t turned_dimension(std::int64_t turned, std::int64_t start, int i) noexcept {
  return i * (turned / turned_numbers) + start / turned_numbers;
}

// Turns the 128 numbers x[0], x[lanes], x[2 lanes] ..., and as many beside each.
template <int lanes, class T>
static inline void turn_numbers(T* x) noexcept {
  for (int i = 0; i < turned_numbers; ++i) {
    if (((turn_signs[i / 64] >> (i % 64)) & 1u) == 0) continue;
    for (int lane = 0; lane < lanes; ++lane) x[i * lanes + lane] = static_cast<T>(-x[i * lanes + lane]);
  }
  for (int half = lanes; half < turned_numbers * lanes; half *= 2) {
    for (int start = 0; start < turned_numbers * lanes; start += 2 * half) {
      for (int i = start; i < start + half; i += lanes) {
        for (int lane = 0; lane < lanes; ++lane) {
          const T a = x[i + lane];
          const T b = x[i + lane + half];
          x[i + lane] = static_cast<T>(a + b);
          x[i + lane + half] = static_cast<T>(a - b);
        }
      }
    }
  }
}

}  // namespace tipstaff

#endif
