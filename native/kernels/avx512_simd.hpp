// The AVX-512 (F, BW, VL, DQ) building blocks, shared by the translation units with and without VNNI.
#ifndef TIPSTAFF_AVX512_SIMD_HPP
#define TIPSTAFF_AVX512_SIMD_HPP

#include <immintrin.h>

#include "tipstaff/scoring/fused_find.hpp"
#include "tipstaff/scoring/quantize.hpp"

namespace tipstaff {
namespace {

struct Avx512 {
  // Bytes between what is read and what is fetched into the cache. Measured: flat from 4 to 16 KiB, and
  // a third slower at 1.
  static constexpr std::int64_t ahead_bytes = 8192;
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

  // --- float32 rows ---
  static __m512 load(const unsigned char* x) noexcept { return _mm512_loadu_ps(x); }
  // Addresses past the end are only hints, made from integers so that no pointer leaves its array.
  static void prefetch(const unsigned char* x, std::int64_t ahead) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(x) +
                                               static_cast<std::uintptr_t>(ahead)),
                 _MM_HINT_T0);
  }
  // Into the second-level cache: a row block is wanted only after the current one is done.
  static void prefetch_far(const unsigned char* x, std::int64_t ahead) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(x) +
                                               static_cast<std::uintptr_t>(ahead)),
                 _MM_HINT_T1);
  }
  static __m256 halve(__m512 a) noexcept {
    return _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
  }
  static __m128 reduce4(__m512 a, __m512 b, __m512 c, __m512 d) noexcept {
    const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(halve(a), halve(b)),
                                        _mm256_hadd_ps(halve(c), halve(d)));
    return _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
  }
  static __mmask16 tail_mask(std::int64_t left) noexcept {
    return static_cast<__mmask16>((1u << left) - 1u);
  }
  static void dot4(const unsigned char* x0, const unsigned char* x1, const unsigned char* x2,
                   const unsigned char* x3, const unsigned char* q, std::int64_t d,
                   float* out) noexcept {
    __m512 a = _mm512_setzero_ps();
    __m512 b = a;
    __m512 c = a;
    __m512 e = a;
    const std::int64_t size = d * 4;
    std::int64_t i = 0;
    for (; i + 64 <= size; i += 64) {
      const __m512 v = load(q + i);
      a = _mm512_fmadd_ps(v, load(x0 + i), a);
      b = _mm512_fmadd_ps(v, load(x1 + i), b);
      c = _mm512_fmadd_ps(v, load(x2 + i), c);
      e = _mm512_fmadd_ps(v, load(x3 + i), e);
      prefetch(x0, ahead_bytes + 4 * i);
      prefetch(x0, ahead_bytes + 4 * i + 64);
      prefetch(x0, ahead_bytes + 4 * i + 128);
      prefetch(x0, ahead_bytes + 4 * i + 192);
    }
    if (i < size) {
      const __mmask16 mask = tail_mask((size - i) / 4);
      const __m512 v = _mm512_maskz_loadu_ps(mask, q + i);
      a = _mm512_fmadd_ps(v, _mm512_maskz_loadu_ps(mask, x0 + i), a);
      b = _mm512_fmadd_ps(v, _mm512_maskz_loadu_ps(mask, x1 + i), b);
      c = _mm512_fmadd_ps(v, _mm512_maskz_loadu_ps(mask, x2 + i), c);
      e = _mm512_fmadd_ps(v, _mm512_maskz_loadu_ps(mask, x3 + i), e);
    }
    _mm_storeu_ps(out, reduce4(a, b, c, e));
  }
  static float dot1(const unsigned char* x, const unsigned char* q, std::int64_t d) noexcept {
    __m512 a = _mm512_setzero_ps();
    const std::int64_t size = d * 4;
    std::int64_t i = 0;
    for (; i + 64 <= size; i += 64) a = _mm512_fmadd_ps(load(q + i), load(x + i), a);
    if (i < size) {
      const __mmask16 mask = tail_mask((size - i) / 4);
      a = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, q + i), _mm512_maskz_loadu_ps(mask, x + i),
                          a);
    }
    return _mm_cvtss_f32(reduce4(a, a, a, a));
  }

  // --- sign rows: 64 look-ups an instruction; see avx2.cpp ---
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

  // 6 rows by 64 queries: 24 sums, 4 vectors of queries and a row value broadcast from memory.
  static constexpr int tile_rows = 6;
  static void tile(const unsigned char* const* rows, const float* packed, std::int64_t d,
                   float* out) noexcept {
    __m512 sum[tile_rows][4];
#pragma GCC unroll 6
    for (int i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) sum[i][j] = _mm512_setzero_ps();
    }
    for (std::int64_t t = 0; t < d; ++t) {
      if (t % 16 == 0) {
#pragma GCC unroll 6
        for (int i = 0; i < tile_rows; ++i) prefetch_far(rows[i], (tile_rows * d + t) * 4);
      }
      const float* q = packed + t * batch_queries;
      const __m512 q0 = _mm512_load_ps(q);
      const __m512 q1 = _mm512_load_ps(q + 16);
      const __m512 q2 = _mm512_load_ps(q + 32);
      const __m512 q3 = _mm512_load_ps(q + 48);
#pragma GCC unroll 6
      for (int i = 0; i < tile_rows; ++i) {
        const __m512 x = _mm512_set1_ps(load_as<float>(rows[i] + t * 4));
        sum[i][0] = _mm512_fmadd_ps(x, q0, sum[i][0]);
        sum[i][1] = _mm512_fmadd_ps(x, q1, sum[i][1]);
        sum[i][2] = _mm512_fmadd_ps(x, q2, sum[i][2]);
        sum[i][3] = _mm512_fmadd_ps(x, q3, sum[i][3]);
      }
    }
#pragma GCC unroll 6
    for (int i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) _mm512_store_ps(out + i * batch_queries + 16 * j, sum[i][j]);
    }
  }

  // --- int8 rows: both sides widened to int16, pairs of products summed in int32 ---
  static void pack_codes(const std::int16_t* codes, std::int64_t padded,
                         unsigned char* packed) noexcept {
    std::memcpy(packed, codes, static_cast<std::size_t>(padded) * 2);
  }
  static __m128i reduce4_int(__m512i a, __m512i b, __m512i c, __m512i d) noexcept {
    const auto halve_int = [](__m512i x) noexcept {
      return _mm256_add_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    };
    const __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(halve_int(a), halve_int(b)),
                                            _mm256_hadd_epi32(halve_int(c), halve_int(d)));
    return _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  }
  static void idot4(const std::int8_t* x0, const std::int8_t* x1, const std::int8_t* x2,
                    const std::int8_t* x3, const unsigned char* packed, std::int64_t d,
                    std::int32_t* out) noexcept {
    __m512i a = _mm512_setzero_si512();
    __m512i b = a;
    __m512i c = a;
    __m512i e = a;
    const auto* ahead = reinterpret_cast<const unsigned char*>(x0);
    const auto step = [&](std::int64_t i, __mmask32 mask) noexcept {
      const __m512i v = _mm512_loadu_si512(packed + 2 * i);
      const auto product = [&](const std::int8_t* x) noexcept {
        return _mm512_madd_epi16(v, _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(mask, x + i)));
      };
      a = _mm512_add_epi32(a, product(x0));
      b = _mm512_add_epi32(b, product(x1));
      c = _mm512_add_epi32(c, product(x2));
      e = _mm512_add_epi32(e, product(x3));
    };
    std::int64_t i = 0;
    for (; i + 32 <= d; i += 32) {
      step(i, 0xffffffffu);
      prefetch(ahead, ahead_bytes + 4 * i);
      prefetch(ahead, ahead_bytes + 4 * i + 64);
    }
    if (i < d) step(i, (1u << (d - i)) - 1u);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), reduce4_int(a, b, c, e));
  }
};

}  // namespace
}  // namespace tipstaff

#endif
