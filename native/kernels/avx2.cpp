// The kernels for AVX2 with FMA.
#include <immintrin.h>

#include "tipstaff/scoring/fused_find.hpp"
#include "tipstaff/scoring/quantize.hpp"
#include "limits.hpp"
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
  // See avx512_simd.hpp.
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

  // --- float32 rows ---
  // Bytes between what is read and what is fetched into the cache: see avx512_simd.hpp.
  static constexpr std::int64_t ahead_bytes = 8192;
  static const float* as_float(const unsigned char* x) noexcept {
    return reinterpret_cast<const float*>(x);
  }
  static __m256 load(const unsigned char* x) noexcept { return _mm256_loadu_ps(as_float(x)); }
  static __m256i tail_mask(std::int64_t left) noexcept {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(left)), lane);
  }
  static __m256 load_tail(const unsigned char* x, __m256i mask) noexcept {
    return _mm256_maskload_ps(as_float(x), mask);
  }
  static void prefetch(const unsigned char* x, std::int64_t ahead) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(x) +
                                               static_cast<std::uintptr_t>(ahead)),
                 _MM_HINT_T0);
  }
  static void prefetch_far(const unsigned char* x, std::int64_t ahead) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(x) +
                                               static_cast<std::uintptr_t>(ahead)),
                 _MM_HINT_T1);
  }
  static __m128 reduce4(__m256 a, __m256 b, __m256 c, __m256 d) noexcept {
    const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
  }
  static void dot4(const unsigned char* x0, const unsigned char* x1, const unsigned char* x2,
                   const unsigned char* x3, const unsigned char* q, std::int64_t d,
                   float* out) noexcept {
    __m256 a = _mm256_setzero_ps();
    __m256 b = a;
    __m256 c = a;
    __m256 e = a;
    const std::int64_t size = d * 4;
    std::int64_t i = 0;
    for (; i + 32 <= size; i += 32) {
      const __m256 v = load(q + i);
      a = _mm256_fmadd_ps(v, load(x0 + i), a);
      b = _mm256_fmadd_ps(v, load(x1 + i), b);
      c = _mm256_fmadd_ps(v, load(x2 + i), c);
      e = _mm256_fmadd_ps(v, load(x3 + i), e);
      prefetch(x0, ahead_bytes + 4 * i);
      prefetch(x0, ahead_bytes + 4 * i + 64);
    }
    if (i < size) {
      const __m256i mask = tail_mask((size - i) / 4);
      const __m256 v = load_tail(q + i, mask);
      a = _mm256_fmadd_ps(v, load_tail(x0 + i, mask), a);
      b = _mm256_fmadd_ps(v, load_tail(x1 + i, mask), b);
      c = _mm256_fmadd_ps(v, load_tail(x2 + i, mask), c);
      e = _mm256_fmadd_ps(v, load_tail(x3 + i, mask), e);
    }
    _mm_storeu_ps(out, reduce4(a, b, c, e));
  }
  static float dot1(const unsigned char* x, const unsigned char* q, std::int64_t d) noexcept {
    __m256 a = _mm256_setzero_ps();
    const std::int64_t size = d * 4;
    std::int64_t i = 0;
    for (; i + 32 <= size; i += 32) a = _mm256_fmadd_ps(load(q + i), load(x + i), a);
    if (i < size) {
      const __m256i mask = tail_mask((size - i) / 4);
      a = _mm256_fmadd_ps(load_tail(q + i, mask), load_tail(x + i, mask), a);
    }
    return _mm_cvtss_f32(reduce4(a, a, a, a));
  }

  // --- sign rows: 32 look-ups an instruction ---
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
        if (half == 0) prefetch(block, (bytes + j) * sign_block);  // see avx512_simd.hpp
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

  static constexpr int tile_rows = 6;
  static void tile(const unsigned char* const* rows, const float* packed, std::int64_t d,
                   float* out) noexcept {
    for (int j = 0; j < batch_queries; j += 16) {
      __m256 sum[tile_rows][2];
#pragma GCC unroll 6
      for (int i = 0; i < tile_rows; ++i) sum[i][0] = sum[i][1] = _mm256_setzero_ps();
      for (std::int64_t t = 0; t < d; ++t) {
        if (t % 16 == 0 && j == 0) {
#pragma GCC unroll 6
          for (int i = 0; i < tile_rows; ++i) prefetch_far(rows[i], (tile_rows * d + t) * 4);
        }
        const float* q = packed + t * batch_queries + j;
        const __m256 q0 = _mm256_load_ps(q);
        const __m256 q1 = _mm256_load_ps(q + 8);
#pragma GCC unroll 6
        for (int i = 0; i < tile_rows; ++i) {
          const __m256 x = _mm256_set1_ps(load_as<float>(rows[i] + t * 4));
          sum[i][0] = _mm256_fmadd_ps(x, q0, sum[i][0]);
          sum[i][1] = _mm256_fmadd_ps(x, q1, sum[i][1]);
        }
      }
#pragma GCC unroll 6
      for (int i = 0; i < tile_rows; ++i) {
        _mm256_store_ps(out + i * batch_queries + j, sum[i][0]);
        _mm256_store_ps(out + i * batch_queries + j + 8, sum[i][1]);
      }
    }
  }

  // --- int8 rows: both sides widened to int16, pairs of products summed in int32 ---
  static void pack_codes(const std::int16_t* codes, std::int64_t padded,
                         unsigned char* packed) noexcept {
    std::memcpy(packed, codes, static_cast<std::size_t>(padded) * 2);
  }
  static __m256i widen(const void* x) noexcept {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(x)));
  }
  static __m256i widen_tail(const std::int8_t* x, std::int64_t left) noexcept {
    alignas(16) std::int8_t padded[16] = {};
    std::memcpy(padded, x, static_cast<std::size_t>(left));
    return widen(padded);
  }
  static void idot4(const std::int8_t* x0, const std::int8_t* x1, const std::int8_t* x2,
                    const std::int8_t* x3, const unsigned char* packed, std::int64_t d,
                    std::int32_t* out) noexcept {
    __m256i a = _mm256_setzero_si256();
    __m256i b = a;
    __m256i c = a;
    __m256i e = a;
    const auto query = [&](std::int64_t i) noexcept {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed + 2 * i));
    };
    const auto madd = [](__m256i sum, __m256i v, __m256i x) noexcept {
      return _mm256_add_epi32(sum, _mm256_madd_epi16(v, x));
    };
    const auto* ahead = reinterpret_cast<const unsigned char*>(x0);
    std::int64_t i = 0;
    for (; i + 16 <= d; i += 16) {
      const __m256i v = query(i);
      a = madd(a, v, widen(x0 + i));
      b = madd(b, v, widen(x1 + i));
      c = madd(c, v, widen(x2 + i));
      e = madd(e, v, widen(x3 + i));
      prefetch(ahead, ahead_bytes + 4 * i);
    }
    if (i < d) {
      const __m256i v = query(i);
      a = madd(a, v, widen_tail(x0 + i, d - i));
      b = madd(b, v, widen_tail(x1 + i, d - i));
      c = madd(c, v, widen_tail(x2 + i, d - i));
      e = madd(e, v, widen_tail(x3 + i, d - i));
    }
    const __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, e));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(out),
        _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1)));
  }
};

float multiply_add(std::int64_t rounds) noexcept {
  return multiply_add_with<__m256>(rounds, [](__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); });
}

}  // namespace

namespace tipstaff {
const HashKernels avx2_hash = make_hash_kernels<Avx2>();
const ScoreKernels avx2_score = make_score_kernels<Avx2>();
const FusedKernels avx2_fused = make_fused_kernels<Avx2>();
const LimitKernels avx2_limit{&read_bytes<__m256i>, &multiply_add, 2 * 8 * limit_chains};
const WordPieceKernels avx2_wordpiece = make_wordpiece_kernels<Avx2>();
}  // namespace tipstaff
