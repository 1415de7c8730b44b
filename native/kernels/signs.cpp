// Making the signs of rows, once per bundle, for the baseline, so that every machine makes the same; and the tables by which
// a query is compared with them.
#include "tipstaff/scoring/signs.hpp"

#include "tipstaff/tokens/wordpiece_table.hpp"

namespace tipstaff {

namespace {

std::uint64_t scrambled(std::uint64_t x) noexcept {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The Walsh-Hadamard transform, lengths times sqrt(padded).
void transform(std::int64_t padded, float* x) noexcept {
  for (std::int64_t half = 1; half < padded; half *= 2) {
    for (std::int64_t start = 0; start < padded; start += 2 * half) {
      float* low = x + start;
      float* high = low + half;
      for (std::int64_t i = 0; i < half; ++i) {
        const float a = low[i];
        const float b = high[i];
        low[i] = a + b;
        high[i] = a - b;
      }
    }
  }
}

// Fills the signs that the rotation flips: space[padded .. 3 padded).
void start_rotation(std::int64_t padded, float* space) noexcept {
  float* signs = space + padded;
  const float size = static_cast<float>(1.0 / std::sqrt(static_cast<double>(padded)));
  for (std::int64_t i = 0; i < 2 * padded; ++i) {
    const std::uint64_t word = scrambled(static_cast<std::uint64_t>(i / 64));
    signs[i] = ((word >> (i % 64)) & 1u) != 0 ? size : -size;
  }
}

// Rotates space[0 .. padded) in place, lengths unchanged.
void rotate(std::int64_t padded, float* space) noexcept {
  for (int round = 1; round <= 2; ++round) {
    const float* signs = space + round * padded;
    for (std::int64_t i = 0; i < padded; ++i) space[i] *= signs[i];
    transform(padded, space);
  }
}

}  // namespace

void sign_rows(const std::int8_t* codes, const unsigned char* scales, std::int64_t n, std::int64_t dimensions, float* mean,
               float* factors, unsigned char* bits, float* space) noexcept {
  const std::int64_t padded = sign_dimensions(dimensions);
  const std::int64_t bytes = kept_signs(dimensions) / 8;
  const auto scale_of = [&](std::int64_t row) noexcept {
    const auto scale = load_field<float>(scales + row * 4);
    return std::fabs(scale) < 1e15f ? scale : 0.0f;
  };
  double sums[max_sign_dimensions] = {};
  for (std::int64_t row = 0; row < n; ++row) {
    const auto scale = static_cast<double>(scale_of(row));
    for (std::int64_t i = 0; i < dimensions; ++i) sums[i] += scale * codes[row * dimensions + i];
  }
  for (std::int64_t i = 0; i < dimensions; ++i) mean[i] = static_cast<float>(n > 0 ? sums[i] / static_cast<double>(n) : 0.0);
  start_rotation(padded, space);
  for (std::int64_t row = 0; row < n; ++row) {
    const std::int8_t* x = codes + row * dimensions;
    const float scale = scale_of(row);
    double squares = 0;
    for (std::int64_t i = 0; i < padded; ++i) {
      const float centred = i < dimensions ? scale * static_cast<float>(x[i]) - mean[i] : 0.0f;
      space[i] = centred;
      squares += static_cast<double>(centred) * static_cast<double>(centred);
    }
    rotate(padded, space);
    double sizes = 0;
    for (std::int64_t i = 0; i < padded; ++i) sizes += std::fabs(static_cast<double>(space[i]));
    factors[row] = sizes > 0 && scale != 0.0f ? static_cast<float>(squares / sizes) : 0.0f;
    unsigned char* block = bits + row / sign_block * sign_block * bytes + row % sign_block;
    for (std::int64_t j = 0; j < bytes; ++j) {
      unsigned byte = 0;
      for (int bit = 0; bit < 8; ++bit) byte |= (space[j * 8 + bit] >= 0.0f ? 1u : 0u) << bit;
      block[j * sign_block] = static_cast<unsigned char>(byte);
    }
  }
}

bool prepare_signs(const std::int8_t* codes, float scale, const unsigned char* mean, std::int64_t dimensions,
                   SignQuery* query) noexcept {
  const std::int64_t padded = sign_dimensions(dimensions);
  float* space = query->space;
  double base = 0;
  for (std::int64_t i = 0; i < padded; ++i) {
    space[i] = i < dimensions ? scale * static_cast<float>(codes[i]) : 0.0f;
    if (i < dimensions) base += static_cast<double>(load_field<float>(mean + i * 4)) * static_cast<double>(space[i]);
  }
  start_rotation(padded, space);
  rotate(padded, space);
  const std::int64_t kept = kept_signs(dimensions);
  float largest = 0;
  for (std::int64_t i = 0; i < kept; i += 4) {
    const float size = std::fabs(space[i]) + std::fabs(space[i + 1]) + std::fabs(space[i + 2]) +
                       std::fabs(space[i + 3]);
    if (!(size < 1e30f)) return false;
    largest = size > largest ? size : largest;
  }
  if (!(largest > 1e-30f) || !(std::fabs(base) < 1e30)) return false;
  query->base = static_cast<float>(base);
  const float unit = largest / static_cast<float>(sign_level);
  query->step = unit * (static_cast<float>(padded) / static_cast<float>(kept));
  for (std::int64_t i = 0; i < kept; i += 4) {
    for (int pattern = 0; pattern < 16; ++pattern) {
      float sum = 0;
      for (int bit = 0; bit < 4; ++bit) {
        sum += ((pattern >> bit) & 1) != 0 ? space[i + bit] : -space[i + bit];
      }
      // Cutting off after adding a half is rounding; the level makes it positive.
      float level = sum / unit + (static_cast<float>(sign_level) + 0.5f);
      if (!(level > 0.0f)) level = 0.0f;
      auto entry = static_cast<int>(level);
      if (entry > 2 * sign_level) entry = 2 * sign_level;
      query->tables[i * 4 + pattern] = static_cast<unsigned char>(entry);
    }
  }
  return true;
}

}  // namespace tipstaff
