// AVX-512 with VNNI: the int8 scan by dpbusd, all else as in AVX-512.
#include "avx512_simd.hpp"
#include "tables.hpp"

namespace tipstaff {
namespace {

// dpbusd multiplies unsigned by signed bytes, so rows are read as code + 128 and 128 times the sum of
// the query's codes is taken off. The query's codes are two bytes, 256 high + low, each with its own
// sums. int32 sums may wrap on the way; the result fits (see query_code_limit).
struct Avx512Vnni : Avx512 {
  struct Offset {
    std::uint32_t value;
  };
  static void pack_codes(const std::int16_t* codes, std::int64_t padded,
                         unsigned char* packed) noexcept {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < padded; ++i) {
      const int code = codes[i];
      const int high = (code + 128) >> 8;
      const int low = code - 256 * high;
      packed[i] = static_cast<unsigned char>(high);
      packed[padded + i] = static_cast<unsigned char>(low);
      sum += static_cast<std::uint32_t>(code);
    }
    const Offset offset{sum * 128u};
    std::memcpy(packed + 2 * padded, &offset, sizeof offset);
  }
  static void idot4(const std::int8_t* x0, const std::int8_t* x1, const std::int8_t* x2,
                    const std::int8_t* x3, const unsigned char* packed, std::int64_t d,
                    std::int32_t* out) noexcept {
    const std::int64_t padded = round_up(d, 64);
    const __m512i flip = _mm512_set1_epi8(-128);
    const std::int8_t* const x[4] = {x0, x1, x2, x3};
    __m512i high[4];
    __m512i low[4];
    for (int r = 0; r < 4; ++r) high[r] = low[r] = _mm512_setzero_si512();
    const auto* ahead = reinterpret_cast<const unsigned char*>(x0);
    const auto step = [&](std::int64_t i, __mmask64 mask) noexcept {
      const __m512i q_high = _mm512_loadu_si512(packed + i);
      const __m512i q_low = _mm512_loadu_si512(packed + padded + i);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const __m512i row = _mm512_xor_si512(flip, _mm512_maskz_loadu_epi8(mask, x[r] + i));
        high[r] = _mm512_dpbusd_epi32(high[r], row, q_high);
        low[r] = _mm512_dpbusd_epi32(low[r], row, q_low);
      }
    };
    std::int64_t i = 0;
    for (; i + 64 <= d; i += 64) {
      step(i, ~__mmask64{0});
      prefetch(ahead, 4 * d + 4 * i);
      prefetch(ahead, 4 * d + 4 * i + 64);
      prefetch(ahead, 4 * d + 4 * i + 128);
      prefetch(ahead, 4 * d + 4 * i + 192);
    }
    if (i < d) step(i, (__mmask64{1} << (d - i)) - 1);
    for (int r = 0; r < 4; ++r) {
      high[r] = _mm512_add_epi32(_mm512_slli_epi32(high[r], 8), low[r]);
    }
    Offset offset;
    std::memcpy(&offset, packed + 2 * padded, sizeof offset);
    const __m128i sums = reduce4_int(high[0], high[1], high[2], high[3]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_sub_epi32(sums, _mm_set1_epi32(static_cast<int>(offset.value))));
  }
};

}  // namespace

const ScoreKernels avx512_vnni_score = make_score_kernels<Avx512Vnni>();

}  // namespace tipstaff
