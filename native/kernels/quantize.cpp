// Making int8 rows: once per bundle, in double precision, for the baseline.
#include "tipstaff/scoring/quantize.hpp"

#include "tipstaff/scoring/nibble_turn.hpp"

namespace tipstaff {

namespace {

// The next float32 not below x.
float round_up_f32(double x) noexcept {
  const float near = static_cast<float>(x);
  return static_cast<double>(near) >= x
             ? near
             : std::nextafter(near, std::numeric_limits<float>::infinity());
}

// In deviations of a row's numbers: gives the least error for numbers that are spread evenly.
constexpr double nibble_reach = 2.7;

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

void nibble_rows(const std::int8_t* codes, const unsigned char* scales, const unsigned char* errors, std::int64_t n,
                 std::int64_t dimensions, unsigned char* nibbles, float* nibble_scales,
                 float* nibble_errors) noexcept {
  constexpr int lanes = 8;  // rows side by side, whose numbers one instruction turns
  const std::int64_t d = dimensions;
  const std::int64_t turned = round_up(d, turned_numbers);
  const std::int64_t width = nibble_bytes(d);
  const double query_share =
      0.51 * std::sqrt(static_cast<double>(turned)) / query_code_limit(turned) + scan_rounding;
  const double length = std::sqrt(static_cast<double>(turned_numbers));
  for (std::int64_t first = 0; first < n; first += lanes) {
    const int count = n - first < lanes ? static_cast<int>(n - first) : lanes;
    // 128 codes of up to 127 add up to less than 2^15.
    std::int16_t x[turned_numbers * lanes] = {};
    const auto turn = [&](std::int64_t start) noexcept {
      for (int i = 0; i < turned_numbers; ++i) {
        const std::int64_t dimension = turned_dimension(turned, start, i);
        for (int lane = 0; lane < count; ++lane) {
          x[i * lanes + lane] = dimension < d ? codes[(first + lane) * d + dimension] : std::int16_t{0};
        }
      }
      turn_numbers<lanes>(x);
    };
    std::int32_t largest[lanes] = {};
    double squares[lanes] = {};
    for (std::int64_t start = 0; start < turned; start += turned_numbers) {
      turn(start);
      for (int i = 0; i < turned_numbers * lanes; i += lanes) {
        for (int lane = 0; lane < lanes; ++lane) {
          const std::int32_t number = x[i + lane];
          const std::int32_t size = number < 0 ? -number : number;
          largest[lane] = size > largest[lane] ? size : largest[lane];
          squares[lane] += static_cast<double>(number * number);
        }
      }
    }
    double unit[lanes] = {};
    double half[lanes] = {};
    double inverse[lanes] = {};
    for (int lane = 0; lane < count; ++lane) {
      // The few numbers that lie further out than so many deviations are cut off: the others gain more.
      const double reach = std::fmin(static_cast<double>(largest[lane]),
                                     nibble_reach * std::sqrt(squares[lane] / static_cast<double>(turned)));
      unit[lane] = static_cast<double>(load_as<float>(scales + (first + lane) * 4)) / turned_numbers;
      // The scan multiplies by the float32 scale, so the nibbles are taken for that one.
      nibble_scales[first + lane] = static_cast<float>(unit[lane] * reach / 15.0);
      half[lane] = static_cast<double>(nibble_scales[first + lane]);
      inverse[lane] = half[lane] > 0 ? unit[lane] / (2.0 * half[lane]) : 0.0;
    }
    double error_squares[lanes] = {};
    double nibble_squares[lanes] = {};
    for (std::int64_t start = 0; start < turned; start += turned_numbers) {
      if (turned > turned_numbers) turn(start);
      unsigned char out[turned_numbers * lanes];
      for (int i = 0; i < turned_numbers * lanes; i += lanes) {
        for (int lane = 0; lane < lanes; ++lane) {
          const double number = x[i + lane];
          // Cutting off what is not negative is rounding down.
          const double level = number * inverse[lane] + 8.0;
          const double above = level > 0.0 ? level : 0.0;
          const int nibble = static_cast<int>(above < 15.0 ? above : 15.0);
          out[i + lane] = static_cast<unsigned char>(nibble);
          const double kept = half[lane] * (2 * nibble - 15);
          const double off = unit[lane] * number - kept;
          error_squares[lane] += off * off;
          nibble_squares[lane] += kept * kept;
        }
      }
      for (int lane = 0; lane < count; ++lane) {
        unsigned char* bytes = nibbles + (first + lane) * width + start / 2;
        for (int i = 0; i < turned_numbers / 2; ++i) {
          bytes[i] = static_cast<unsigned char>(out[i * lanes + lane] |
                                                out[(i + turned_numbers / 2) * lanes + lane] << 4);
        }
      }
    }
    for (int lane = 0; lane < count; ++lane) {
      // Turning makes the query `length` times as long.
      nibble_errors[first + lane] =
          round_up_f32((std::sqrt(error_squares[lane]) * length +
                        static_cast<double>(load_as<float>(errors + (first + lane) * 4)) +
                        std::sqrt(nibble_squares[lane]) * length * query_share) *
                       (1.0 + scan_rounding));
    }
  }
}

}  // namespace tipstaff
