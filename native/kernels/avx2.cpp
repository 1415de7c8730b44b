// The kernels for AVX2 with FMA.
#include <immintrin.h>

#include "tipstaff/scoring/fused_find.hpp"
#include "tipstaff/tokens/hash_embedding.hpp"
#include "tables.hpp"

namespace {

using namespace tipstaff;

struct Avx2 {
  // --- float64, for the hash embedding ---
  using F64 = __m256d;
  static constexpr int f64_lanes = 4;
  static F64 set(double x) noexcept { return _mm256_set1_pd(x); }
  static F64 from_int32(const std::int32_t* x) noexcept {
    return _mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
  }
  static F64 add(F64 a, F64 b) noexcept { return _mm256_add_pd(a, b); }
  static F64 sub(F64 a, F64 b) noexcept { return _mm256_sub_pd(a, b); }
  static F64 mul(F64 a, F64 b) noexcept { return _mm256_mul_pd(a, b); }
  static F64 fma(F64 a, F64 b, F64 c) noexcept { return _mm256_fmadd_pd(a, b, c); }
  static F64 fnma(F64 a, F64 b, F64 c) noexcept { return _mm256_fnmadd_pd(a, b, c); }
  static F64 select_quadrant(F64 shifted, F64 sine, F64 cosine) noexcept {
    const __m256i quadrant = _mm256_castpd_si256(shifted);
    // blendv looks at the sign bit: bit 0 goes there for the choice, bit 1 for the sign.
    const __m256d odd = _mm256_castsi256_pd(_mm256_slli_epi64(quadrant, 63));
    const __m256d sign = _mm256_and_pd(_mm256_castsi256_pd(_mm256_slli_epi64(quadrant, 62)),
                                       _mm256_set1_pd(-0.0));
    return _mm256_xor_pd(_mm256_blendv_pd(sine, cosine, odd), sign);
  }
  static void store_f32(float* out, F64 x) noexcept { _mm_storeu_ps(out, _mm256_cvtpd_ps(x)); }
  // See avx512.cpp.
  static void divide(float* out, std::int64_t n, double norm) noexcept {
    const __m256d inverse = _mm256_set1_pd(1.0 / norm);
    const __m256i below = _mm256_set1_epi64x((std::int64_t{1} << 28) - 4);
    const __m256i fraction = _mm256_set1_epi64x((std::int64_t{1} << 29) - 1);
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
      const __m256d x = _mm256_cvtps_pd(_mm_loadu_ps(out + i));
      __m256d quotient = _mm256_mul_pd(x, inverse);
      const __m256i distance = _mm256_and_si256(
          _mm256_sub_epi64(_mm256_castpd_si256(quotient), below), fraction);
      const __m256i near = _mm256_cmpgt_epi64(_mm256_set1_epi64x(9), distance);
      if (__builtin_expect(!_mm256_testz_si256(near, near), 0)) {
        quotient = _mm256_div_pd(x, _mm256_set1_pd(norm));
      }
      store_f32(out + i, quotient);
    }
    for (; i < n; ++i) out[i] = static_cast<float>(out[i] / norm);
  }


  // --- sign rows: 32 look-ups an instruction ---
  static void prefetch(const unsigned char* x, std::int64_t ahead) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(x) +
                                               static_cast<std::uintptr_t>(ahead)),
                 _MM_HINT_T0);
  }
  static void fetch(const unsigned char* x, std::int64_t size) noexcept {
    for (std::int64_t i = 0; i < size; i += 64) prefetch(x, i);
  }
  static void sign_sums(const unsigned char* block, const unsigned char* tables, std::int64_t bytes,
                        std::uint16_t* sums) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15);
    for (int half = 0; half < sign_block; half += 32) {
      // Two bytes to a sum: `both` adds up 256 high + low and wraps, `high` the high byte alone.
      __m256i both = _mm256_setzero_si256();
      __m256i high = both;
      for (std::int64_t j = 0; j < bytes; ++j) {
        if (half == 0) prefetch(block, (bytes + j) * sign_block);  // see avx512.cpp
        const __m256i x = _mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(block + j * sign_block + half));
        const auto table = [&](std::int64_t at) noexcept {
          return _mm256_broadcastsi128_si256(
              _mm_loadu_si128(reinterpret_cast<const __m128i*>(tables + j * 32 + at)));
        };
        const __m256i sum = _mm256_add_epi8(
            _mm256_shuffle_epi8(table(0), _mm256_and_si256(x, nibble)),
            _mm256_shuffle_epi8(table(16), _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble)));
        both = _mm256_add_epi16(both, sum);
        high = _mm256_add_epi16(high, _mm256_srli_epi16(sum, 8));
      }
      const __m256i low = _mm256_sub_epi16(both, _mm256_slli_epi16(high, 8));
      // Interleaving works within halves of 16 bytes.
      const __m256i first = _mm256_unpacklo_epi16(low, high);
      const __m256i second = _mm256_unpackhi_epi16(low, high);
      auto* out = reinterpret_cast<__m256i*>(sums + half);
      _mm256_storeu_si256(out, _mm256_permute2x128_si256(first, second, 0x20));
      _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(first, second, 0x31));
    }
  }
};

}  // namespace

namespace tipstaff {
const HashKernels avx2_hash = make_hash_kernels<Avx2>();
const FusedKernels avx2_fused = make_fused_kernels<Avx2>();
const WordPieceKernels avx2_wordpiece = make_wordpiece_kernels<Avx2>();
}  // namespace tipstaff
