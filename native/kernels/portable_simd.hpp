// The kernels in plain C++: any processor. Sums run in `lanes` separate partial sums so that
// compilers may turn them into vectors without reordering anything.
#ifndef TIPSTAFF_PORTABLE_SIMD_HPP
#define TIPSTAFF_PORTABLE_SIMD_HPP

#include "tipstaff/scoring/fused_find.hpp"
#include "tipstaff/scoring/quantize.hpp"

namespace {

using namespace tipstaff;

struct Portable {
  // --- float64, for the hash embedding ---
  using F64 = double;
  static constexpr int f64_lanes = 1;
  static F64 set(double x) noexcept { return x; }
  static F64 from_int32(const std::int32_t* x) noexcept { return *x; }
  static F64 add(F64 a, F64 b) noexcept { return a + b; }
  static F64 sub(F64 a, F64 b) noexcept { return a - b; }
  static F64 mul(F64 a, F64 b) noexcept { return a * b; }
  // std::fma rounds once, in software where the processor cannot: slower, and the same bits.
  static F64 fma(F64 a, F64 b, F64 c) noexcept { return std::fma(a, b, c); }
  static F64 fnma(F64 a, F64 b, F64 c) noexcept { return std::fma(-a, b, c); }
  static F64 select_quadrant(F64 shifted, F64 sine, F64 cosine) noexcept {
    std::uint64_t quadrant;
    std::memcpy(&quadrant, &shifted, 8);
    const F64 value = (quadrant & 1) != 0 ? cosine : sine;
    return (quadrant & 2) != 0 ? -value : value;
  }
  static void store_f32(float* out, F64 x) noexcept { *out = static_cast<float>(x); }
  static void divide(float* out, std::int64_t n, double norm) noexcept {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(out[i] / norm);
  }

  // --- float32 rows ---
  static constexpr int lanes = 16;
  static float dot1(const unsigned char* x, const unsigned char* q, std::int64_t d) noexcept {
    float partial[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= d; i += lanes) {
      float a[lanes];
      float b[lanes];
      std::memcpy(a, x + i * 4, sizeof a);
      std::memcpy(b, q + i * 4, sizeof b);
      for (int j = 0; j < lanes; ++j) partial[j] += a[j] * b[j];
    }
    for (int j = 0; i + j < d; ++j) {
      partial[j] += load_as<float>(x + (i + j) * 4) * load_as<float>(q + (i + j) * 4);
    }
    for (int width = lanes / 2; width > 0; width /= 2) {
      for (int j = 0; j < width; ++j) partial[j] += partial[j + width];
    }
    return partial[0];
  }
  static void dot4(const unsigned char* x0, const unsigned char* x1, const unsigned char* x2,
                   const unsigned char* x3, const unsigned char* q, std::int64_t d,
                   float* out) noexcept {
    out[0] = dot1(x0, q, d);
    out[1] = dot1(x1, q, d);
    out[2] = dot1(x2, q, d);
    out[3] = dot1(x3, q, d);
  }

  // --- sign rows ---
  static void fetch(const unsigned char*, std::int64_t) noexcept {}
  static void sign_sums(const unsigned char* block, const unsigned char* tables, std::int64_t bytes,
                        std::uint16_t* sums) noexcept {
    for (int i = 0; i < sign_block; ++i) sums[i] = 0;
    for (std::int64_t j = 0; j < bytes; ++j) {
      const unsigned char* table = tables + j * 32;
      for (int i = 0; i < sign_block; ++i) {
        const unsigned byte = block[j * sign_block + i];
        sums[i] = static_cast<std::uint16_t>(sums[i] + table[byte & 15u] + table[16u + (byte >> 4)]);
      }
    }
  }

  static constexpr int tile_rows = 4;
  static void tile(const unsigned char* const* rows, const float* packed, std::int64_t d,
                   float* out) noexcept {
    constexpr int width = 8;
    for (int j = 0; j < batch_queries; j += width) {
      float sum[tile_rows][width] = {};
      for (std::int64_t t = 0; t < d; ++t) {
        const float* q = packed + t * batch_queries + j;
        for (int i = 0; i < tile_rows; ++i) {
          const float x = load_as<float>(rows[i] + t * 4);
          for (int lane = 0; lane < width; ++lane) sum[i][lane] += x * q[lane];
        }
      }
      for (int i = 0; i < tile_rows; ++i) {
        std::memcpy(out + i * batch_queries + j, sum[i], sizeof sum[i]);
      }
    }
  }

  // --- int8 rows ---
  static void prefetch(const unsigned char*, std::int64_t) noexcept {}
  static void pack_codes(const std::int16_t* codes, std::int64_t padded,
                         unsigned char* packed) noexcept {
    std::memcpy(packed, codes, static_cast<std::size_t>(padded) * 2);
  }
  static std::int32_t idot1(const std::int8_t* x, const std::int16_t* q, std::int64_t d) noexcept {
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += static_cast<std::int16_t>(x[i]) * q[i];
    return sum;
  }
  static void idot4(const std::int8_t* x0, const std::int8_t* x1, const std::int8_t* x2,
                    const std::int8_t* x3, const unsigned char* packed, std::int64_t d,
                    std::int32_t* out) noexcept {
    const auto* q = reinterpret_cast<const std::int16_t*>(packed);
    out[0] = idot1(x0, q, d);
    out[1] = idot1(x1, q, d);
    out[2] = idot1(x2, q, d);
    out[3] = idot1(x3, q, d);
  }
};

}  // namespace

#endif
