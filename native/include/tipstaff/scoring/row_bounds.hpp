// The intervals that hold the cosines of int8 rows with a query.
#ifndef TIPSTAFF_SCORING_ROW_BOUNDS_HPP
#define TIPSTAFF_SCORING_ROW_BOUNDS_HPP

#include <cmath>
#include <cstring>

#include "tipstaff/scoring/score.hpp"

namespace tipstaff {

// Rounding of the float32 interval arithmetic in the scan, relative to the terms' sizes.
inline constexpr double scan_rounding = 1.0 / (1 << 20);
// Norms beyond this are refused: products of them must stay finite in float32.
inline constexpr double max_norm = 1e15;

// Relative error of a float32 sum of d products in any order, with room to spare.
constexpr double dot_rounding(std::int64_t dimensions) noexcept {
  return static_cast<double>(dimensions + 16) / (1 << 24);
}

// The query in integers: q = step * code + g with |g| <= |q| sqrt(d) / (2 query_code_limit), which
// quantize_rows has put into the rows' errors.
struct QueryScan {
  float step;
  float norm;
  float base_low;
  float base_high;
};

// False where the integer scan has no sound bounds (zero, huge or not finite).
template <class S>
static inline bool prepare_query(const unsigned char* vector, const unsigned char* mean,
                                 std::int64_t dimensions, std::int16_t* codes,
                                 QueryScan* scan) noexcept {
  // Partial sums, so that additions need not wait for each other.
  constexpr int lanes = 8;
  double squares_of[lanes] = {};
  double base_of[lanes] = {};
  double base_squares_of[lanes] = {};
  float largest_of[lanes] = {};
  const auto add = [&](int lane, std::int64_t i) noexcept {
    const float value = load_as<float>(vector + i * 4);
    const double centre = load_as<float>(mean + i * 4);
    squares_of[lane] += static_cast<double>(value) * value;
    base_of[lane] += centre * value;
    base_squares_of[lane] += centre * centre;
    const float size = value < 0 ? -value : value;
    largest_of[lane] = size > largest_of[lane] ? size : largest_of[lane];
  };
  std::int64_t done = 0;
  for (; done + lanes <= dimensions; done += lanes) {
    for (int lane = 0; lane < lanes; ++lane) add(lane, done + lane);
  }
  for (int lane = 0; done + lane < dimensions; ++lane) add(lane, done + lane);
  double squares = 0;
  double base = 0;
  double base_squares = 0;
  float largest = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    squares += squares_of[lane];
    base += base_of[lane];
    base_squares += base_squares_of[lane];
    largest = largest_of[lane] > largest ? largest_of[lane] : largest;
  }
  const double norm = std::sqrt(squares);
  if (!(norm > 1e-15 && norm < max_norm) || !(base_squares < max_norm * max_norm)) return false;
  const std::int32_t limit = query_code_limit(dimensions);
  const double step = static_cast<double>(largest) / limit;
  // The scan multiplies by the float32 step, so the codes are taken for that one.
  scan->step = static_cast<float>(step);
  const double inverse = 1.0 / static_cast<double>(scan->step);
  for (std::int64_t i = 0; i < dimensions; ++i) {
    const double scaled = static_cast<double>(load_as<float>(vector + i * 4)) * inverse;
    // Adding and taking away 1.5 * 2^52 rounds to the nearest integer.
    double code = (scaled + 6755399441055744.0) - 6755399441055744.0;
    if (code > limit) code = limit;
    if (code < -limit) code = -limit;
    codes[i] = static_cast<std::int16_t>(code);
  }
  const double slack = scan_rounding * std::sqrt(base_squares) * norm + 1e-30;
  scan->norm = static_cast<float>(norm * (1.0 + 4 * scan_rounding));
  scan->base_low = static_cast<float>(base - 2 * slack);
  scan->base_high = static_cast<float>(base + 2 * slack);
  return true;
}

// The ends of the intervals that hold the cosines of a block's rows; those beyond `count` mean nothing.
template <class S>
static inline void read_bounds(const QuantizedRows& small, const QueryScan& scan,
                               const unsigned char* packed, std::int64_t d, std::int64_t start,
                               int count, float* highs, float* lows) noexcept {
  const std::int8_t* first = small.codes + start * d;
  std::int32_t dots[block_rows] = {};
  float scales[block_rows] = {};
  float errors[block_rows] = {};
  if (count == block_rows) {
    for (int i = 0; i < block_rows; i += 4) {
      const std::int8_t* x = first + i * d;
      S::idot4(x, x + d, x + 2 * d, x + 3 * d, packed, d, dots + i);
    }
    std::memcpy(scales, small.scales + start * 4, sizeof scales);
    std::memcpy(errors, small.errors + start * 4, sizeof errors);
  } else {
    for (int i = 0; i < count; ++i) {
      const std::int8_t* x = first + i * d;
      std::int32_t four[4];
      S::idot4(x, x, x, x, packed, d, four);
      dots[i] = four[0];
    }
    std::memcpy(scales, small.scales + start * 4, static_cast<std::size_t>(count) * 4);
    std::memcpy(errors, small.errors + start * 4, static_cast<std::size_t>(count) * 4);
  }
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) {
    const float middle = static_cast<float>(dots[i]) * (scales[i] * scan.step);
    const float radius = errors[i] * scan.norm;
    highs[i] = clamp_cosine(scan.base_high + middle + radius);
    lows[i] = clamp_cosine(scan.base_low + middle - radius);
  }
}

}  // namespace tipstaff

#endif
