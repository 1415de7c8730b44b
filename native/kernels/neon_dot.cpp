// ARMv8.2 with the dot product: the int8 scan by sdot, sign rows by table look-ups; all else as in plain C++, which
// compilers turn into NEON by themselves.
#include <arm_neon.h>

#include "portable_simd.hpp"
#include "tables.hpp"

namespace tipstaff {
namespace {

// sdot multiplies signed bytes, so the query's codes are two bytes, 256 high + low, each with sums of its own.
struct NeonDot : Portable {
  static void pack_codes(const std::int16_t* codes, std::int64_t padded, unsigned char* packed) noexcept {
    for (std::int64_t i = 0; i < padded; ++i) {
      const int high = (codes[i] + 128) >> 8;
      packed[i] = static_cast<unsigned char>(high);
      packed[padded + i] = static_cast<unsigned char>(codes[i] - 256 * high);
    }
  }
  static int8x16_t load(const void* x) noexcept { return vld1q_s8(static_cast<const std::int8_t*>(x)); }
  static int8x16_t load_tail(const std::int8_t* x, std::int64_t left) noexcept {
    std::int8_t padded[16] = {};
    std::memcpy(padded, x, static_cast<std::size_t>(left));
    return load(padded);
  }
  static void idot4(const std::int8_t* x0, const std::int8_t* x1, const std::int8_t* x2, const std::int8_t* x3,
                    const unsigned char* packed, std::int64_t d, std::int32_t* out) noexcept {
    const unsigned char* high = packed;
    const unsigned char* low = packed + round_up(d, 64);
    const std::int8_t* rows[4] = {x0, x1, x2, x3};
    int32x4_t highs[4];
    int32x4_t lows[4];
    for (int row = 0; row < 4; ++row) highs[row] = lows[row] = vdupq_n_s32(0);
    std::int64_t i = 0;
    for (; i + 16 <= d; i += 16) {
      const int8x16_t h = load(high + i);
      const int8x16_t l = load(low + i);
      for (int row = 0; row < 4; ++row) {
        const int8x16_t x = load(rows[row] + i);
        highs[row] = vdotq_s32(highs[row], x, h);
        lows[row] = vdotq_s32(lows[row], x, l);
      }
    }
    if (i < d) {
      const int8x16_t h = load(high + i);
      const int8x16_t l = load(low + i);
      for (int row = 0; row < 4; ++row) {
        const int8x16_t x = load_tail(rows[row] + i, d - i);
        highs[row] = vdotq_s32(highs[row], x, h);
        lows[row] = vdotq_s32(lows[row], x, l);
      }
    }
    for (int row = 0; row < 4; ++row) out[row] = vaddvq_s32(vaddq_s32(vshlq_n_s32(highs[row], 8), lows[row]));
  }

  static void sign_sums(const unsigned char* block, const unsigned char* tables, std::int64_t bytes,
                        std::uint16_t* sums) noexcept {
    for (int part = 0; part < sign_block; part += 16) {
      uint16x8_t first = vdupq_n_u16(0);
      uint16x8_t second = first;
      for (std::int64_t j = 0; j < bytes; ++j) {
        const uint8x16_t x = vld1q_u8(block + j * sign_block + part);
        const uint8x16_t low = vqtbl1q_u8(vld1q_u8(tables + j * 32), vandq_u8(x, vdupq_n_u8(15)));
        const uint8x16_t high = vqtbl1q_u8(vld1q_u8(tables + j * 32 + 16), vshrq_n_u8(x, 4));
        first = vaddw_u8(vaddw_u8(first, vget_low_u8(low)), vget_low_u8(high));
        second = vaddw_high_u8(vaddw_high_u8(second, low), high);
      }
      vst1q_u16(sums + part, first);
      vst1q_u16(sums + part + 8, second);
    }
  }
};

}  // namespace

const ScoreKernels neon_dot_score = make_score_kernels<NeonDot>();
const FusedKernels neon_dot_fused = make_fused_kernels<NeonDot>();
}  // namespace tipstaff
