// ARMv8.2 with the dot product: sign rows by table look-ups; all else as in plain C++, which compilers turn into NEON by
// themselves.
#include <arm_neon.h>

#include "portable_simd.hpp"
#include "tables.hpp"

namespace tipstaff {
namespace {

struct NeonDot : Portable {
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

const FusedKernels neon_dot_fused = make_fused_kernels<NeonDot>();
}  // namespace tipstaff
