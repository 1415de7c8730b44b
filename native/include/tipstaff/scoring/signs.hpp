// One bit per dimension: about how near each of very many rows is to a query, from a tenth of the rows' bytes.
//
// A row is x = mean + c. Rotated by a fixed orthogonal matrix R, c spreads evenly over all dimensions, and the signs s of
// Rc with one factor f = |c|^2 / |Rc|_1 give
//
//   row . q  ~  mean . q + f (s . Rq)
//
// taken over three quarters of the dimensions and scaled up. The sum s . Rq is read from tables, one look-up for four
// dimensions. Estimates are integers and single float32 operations in a fixed order, the same on every instruction set.
//
// Sources: Gao and Long, RaBitQ (SIGMOD 2024), for the estimate; Andre, Kermarrec and Le Scouarnec, Quick ADC (ICMR 2017),
// for look-ups in registers.
#ifndef TIPSTAFF_SCORING_SIGNS_HPP
#define TIPSTAFF_SCORING_SIGNS_HPP

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tipstaff {

// Sums of table entries must fit into 16 bits.
inline constexpr std::int64_t max_sign_dimensions = 1024;
inline constexpr int sign_block = 64;   // rows whose bytes are side by side
inline constexpr int sign_level = 63;   // table entries are 0 to twice this

// Dimensions after the rotation: the next power of two, 8 or more.
constexpr std::int64_t sign_dimensions(std::int64_t dimensions) noexcept {
  std::int64_t padded = 8;
  while (padded < dimensions) padded *= 2;
  return padded;
}
// How many of them have their signs kept: three quarters, as the scan takes as long as reading them. The rotation makes
// all alike, so which ones does not matter; few dimensions are all needed.
constexpr std::int64_t kept_signs(std::int64_t dimensions) noexcept {
  const std::int64_t padded = sign_dimensions(dimensions);
  return padded < 64 ? padded : padded / 4 * 3;
}
constexpr std::int64_t sign_bytes(std::int64_t n, std::int64_t dimensions) noexcept {
  return (n + sign_block - 1) / sign_block * sign_block * (kept_signs(dimensions) / 8);
}

// At any alignment. bits: for each block of 64 rows, for each byte of their signs, the 64 rows' bytes; rows that are
// missing in the last block are 0.
struct SignRows {
  const unsigned char* mean;     // float32[dimensions]
  const unsigned char* factors;  // float32[n]
  const unsigned char* bits;
};

// Room for the rotation: the numbers and two rows of signs.
constexpr std::int64_t rotation_floats(std::int64_t dimensions) noexcept { return 3 * sign_dimensions(dimensions); }

// Writes the mean, factors and bits (sign_bytes of them, zeroed before) of n int8 rows times their scales. `space` has room
// for rotation_floats. A row whose scale is not finite gets the factor 0.
void sign_rows(const std::int8_t* codes, const unsigned char* scales, std::int64_t n, std::int64_t dimensions, float* mean,
               float* factors, unsigned char* bits, float* space) noexcept;

struct SignQuery {
  float base;                                      // mean . query
  float step;                                      // what one unit of a table entry is worth
  unsigned char tables[4 * max_sign_dimensions];   // 16 entries for each four dimensions
  float space[3 * max_sign_dimensions];
};

// Prepares a query, int8 times its scale. False for one without a direction.
bool prepare_signs(const std::int8_t* codes, float scale, const unsigned char* mean, std::int64_t dimensions,
                   SignQuery* query) noexcept;

// A row that may be among the best.
struct Estimate {
  float score;
  std::int32_t row;
  float words;  // what of the score is known
};

// An unsigned number in the order of the float.
template <class S>
static inline std::uint32_t order_of(float score) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &score, sizeof bits);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

// Keeps the `wanted` best of `size` > wanted estimates in their order, of equal ones the first; returns the lowest that is
// kept. Linear: the threshold is found digit by digit.
template <class S>
static float keep_best(Estimate* found, std::int64_t size, std::int64_t wanted) noexcept {
  std::uint32_t prefix = 0;
  std::int64_t left = wanted;  // so many are still to be taken from those that share the prefix
  for (int shift = 24; shift >= 0; shift -= 8) {
    std::int32_t counts[256] = {};
    const std::uint32_t above = shift == 24 ? 0u : ~0u << (shift + 8);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::uint32_t key = order_of<S>(found[i].score);
      if ((key & above) == prefix) ++counts[(key >> shift) & 255u];
    }
    std::uint32_t digit = 255;
    while (digit > 0 && counts[digit] < left) left -= counts[digit--];
    prefix |= digit << shift;
  }
  std::int64_t kept = 0;
  float lowest = std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint32_t key = order_of<S>(found[i].score);
    if (key < prefix || (key == prefix && left-- <= 0)) continue;
    lowest = found[i].score < lowest ? found[i].score : lowest;
    found[kept++] = found[i];
  }
  return lowest;
}

}  // namespace tipstaff

#endif
