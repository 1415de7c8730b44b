// Making int8 rows: once per bundle, in double precision, for the baseline.
#include "tipstaff/quantize.hpp"

namespace tipstaff {

namespace {

// The next float32 not below x.
float round_up_f32(double x) noexcept {
  const float near = static_cast<float>(x);
  return static_cast<double>(near) >= x
             ? near
             : std::nextafter(near, std::numeric_limits<float>::infinity());
}

}  // namespace

std::int64_t quantize_rows(const unsigned char* rows, std::int64_t n, std::int64_t dimensions,
                           std::int8_t* codes, float* scales, float* errors, float* mean,
                           double* sums) noexcept {
  const std::int64_t d = dimensions;
  if (sums != nullptr) {
    for (std::int64_t i = 0; i < d; ++i) sums[i] = 0;
  }
  for (std::int64_t row = 0; row < n; ++row) {
    double squares = 0;
    for (std::int64_t i = 0; i < d; ++i) {
      const double x = load_as<float>(rows + (row * d + i) * 4);
      squares += x * x;
      if (sums != nullptr) sums[i] += x;
    }
    if (!(squares < max_norm * max_norm)) return row;
  }
  for (std::int64_t i = 0; sums != nullptr && i < d; ++i) {
    mean[i] = static_cast<float>(n > 0 ? sums[i] / static_cast<double>(n) : 0.0);
  }
  // Of a query's rounding to integers, and of the scan's own arithmetic: both grow with |scale code|.
  const double query_share =
      0.51 * std::sqrt(static_cast<double>(d)) / query_code_limit(d) + scan_rounding;
  for (std::int64_t row = 0; row < n; ++row) {
    const unsigned char* x = rows + row * d * 4;
    double largest = 0;
    double squares = 0;
    for (std::int64_t i = 0; i < d; ++i) {
      const double value = load_as<float>(x + i * 4);
      const double centred = std::fabs(value - static_cast<double>(mean[i]));
      if (centred > largest) largest = centred;
      squares += value * value;
    }
    const float scale = round_up_f32(largest / 127.0);
    const double inverse = scale > 0 ? 1.0 / static_cast<double>(scale) : 0.0;
    double error_squares = 0;
    double code_squares = 0;
    for (std::int64_t i = 0; i < d; ++i) {
      const double centred =
          static_cast<double>(load_as<float>(x + i * 4)) - static_cast<double>(mean[i]);
      double code = (centred * inverse + 6755399441055744.0) - 6755399441055744.0;
      if (code > 127.0) code = 127.0;
      if (code < -127.0) code = -127.0;
      codes[row * d + i] = static_cast<std::int8_t>(code);
      const double kept = static_cast<double>(scale) * code;
      error_squares += (centred - kept) * (centred - kept);
      code_squares += kept * kept;
    }
    scales[row] = scale;
    errors[row] = round_up_f32(
        (std::sqrt(error_squares) + std::sqrt(squares) * dot_rounding(d) +
         std::sqrt(code_squares) * query_share) *
        (1.0 + scan_rounding));
  }
  return -1;
}

}  // namespace tipstaff
