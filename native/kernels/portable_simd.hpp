// The kernels in plain C++: any processor.
#ifndef TIPSTAFF_PORTABLE_SIMD_HPP
#define TIPSTAFF_PORTABLE_SIMD_HPP

#include <cmath>

#include "tipstaff/scoring/fused_find.hpp"
#include "tipstaff/tokens/hash_embedding.hpp"

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
};

}  // namespace

#endif
