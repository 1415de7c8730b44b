// The kernels for AVX-512 F, BW, VL, DQ.
#include <immintrin.h>

#include "tables.hpp"
#include "tipstaff/scoring/fused_find.hpp"
#include "tipstaff/tokens/hash_embedding.hpp"

namespace tipstaff {
namespace {

struct Avx512 {
  // --- float64, for the hash embedding ---
  using F64 = __m512d;
  static constexpr int f64_lanes = 8;
  static F64 set(double x) noexcept { return _mm512_set1_pd(x); }
  static F64 from_int32(const std::int32_t* x) noexcept {
    return _mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
  }
  static F64 add(F64 a, F64 b) noexcept { return _mm512_add_pd(a, b); }
  static F64 sub(F64 a, F64 b) noexcept { return _mm512_sub_pd(a, b); }
  static F64 mul(F64 a, F64 b) noexcept { return _mm512_mul_pd(a, b); }
  static F64 fma(F64 a, F64 b, F64 c) noexcept { return _mm512_fmadd_pd(a, b, c); }
  static F64 fnma(F64 a, F64 b, F64 c) noexcept { return _mm512_fnmadd_pd(a, b, c); }
  static F64 select_quadrant(F64 shifted, F64 sine, F64 cosine) noexcept {
    const __m512i quadrant = _mm512_castpd_si512(shifted);
    const __mmask8 odd = _mm512_test_epi64_mask(quadrant, _mm512_set1_epi64(1));
    const __m512d sign = _mm512_and_pd(_mm512_castsi512_pd(_mm512_slli_epi64(quadrant, 62)),
                                       _mm512_set1_pd(-0.0));
    return _mm512_xor_pd(_mm512_mask_blend_pd(odd, sine, cosine), sign);
  }
  static void store_f32(float* out, F64 x) noexcept { _mm256_storeu_ps(out, _mm512_cvtpd_ps(x)); }
  // float32(x / norm), where x / norm is a double. The product with the reciprocal is within two units
  // in the last place of that quotient, so it rounds to the same float32 unless it is that near to
  // the middle between two float32; then, which is rare, the block divides.
  static void divide(float* out, std::int64_t n, double norm) noexcept {
    const __m512d inverse = _mm512_set1_pd(1.0 / norm);
    const __m512i below = _mm512_set1_epi64((std::int64_t{1} << 28) - 4);
    const __m512i fraction = _mm512_set1_epi64((std::int64_t{1} << 29) - 1);
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      const __m512d x = _mm512_cvtps_pd(_mm256_loadu_ps(out + i));
      __m512d quotient = _mm512_mul_pd(x, inverse);
      const __m512i distance = _mm512_and_si512(
          _mm512_sub_epi64(_mm512_castpd_si512(quotient), below), fraction);
      if (__builtin_expect(_mm512_cmple_epu64_mask(distance, _mm512_set1_epi64(8)) != 0, 0)) {
        quotient = _mm512_div_pd(x, _mm512_set1_pd(norm));
      }
      store_f32(out + i, quotient);
    }
    for (; i < n; ++i) out[i] = static_cast<float>(out[i] / norm);
  }

  // --- sign rows: 64 look-ups an instruction; see avx2.cpp ---
  // Addresses past the end are only hints, made from integers so that no pointer leaves its array.
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
    const __m512i nibble = _mm512_set1_epi8(15);
    __m512i both = _mm512_setzero_si512();
    __m512i high = both;
    for (std::int64_t j = 0; j < bytes; ++j) {
      prefetch(block, (bytes + j) * sign_block);  // the next block: the processor's own look-ahead ends with a page
      const __m512i x = _mm512_loadu_si512(block + j * sign_block);
      const auto table = [&](std::int64_t at) noexcept {
        return _mm512_broadcast_i32x4(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(tables + j * 32 + at)));
      };
      const __m512i sum = _mm512_add_epi8(
          _mm512_shuffle_epi8(table(0), _mm512_and_si512(x, nibble)),
          _mm512_shuffle_epi8(table(16), _mm512_and_si512(_mm512_srli_epi16(x, 4), nibble)));
      both = _mm512_add_epi16(both, sum);
      high = _mm512_add_epi16(high, _mm512_srli_epi16(sum, 8));
    }
    const __m512i low = _mm512_sub_epi16(both, _mm512_slli_epi16(high, 8));
    const __m512i first = _mm512_unpacklo_epi16(low, high);
    const __m512i second = _mm512_unpackhi_epi16(low, high);
    const __m512i order = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i rest = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    _mm512_storeu_si512(sums, _mm512_permutex2var_epi64(first, order, second));
    _mm512_storeu_si512(sums + 32, _mm512_permutex2var_epi64(first, rest, second));
  }
};

}  // namespace

const HashKernels avx512_hash = make_hash_kernels<Avx512>();
const FusedKernels avx512_fused = make_fused_kernels<Avx512>();
const WordPieceKernels avx512_wordpiece = make_wordpiece_kernels<Avx512>();
}  // namespace tipstaff
