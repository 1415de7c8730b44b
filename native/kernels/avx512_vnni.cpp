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
  static __m512i flip(__m512i codes) noexcept {
    return _mm512_xor_si512(codes, _mm512_set1_epi8(-128));
  }
  static __m512i join(__m512i high, __m512i low) noexcept {
    return _mm512_add_epi32(_mm512_slli_epi32(high, 8), low);
  }
  static void idot4(const std::int8_t* x0, const std::int8_t* x1, const std::int8_t* x2,
                    const std::int8_t* x3, const unsigned char* packed, std::int64_t d,
                    std::int32_t* out) noexcept {
    const std::int64_t padded = round_up(d, 64);
    const unsigned char* q = packed;
    // Sums by name, and no lambda: gcc 12 copies them to and fro otherwise.
    __m512i high0 = _mm512_setzero_si512();
    __m512i high1 = high0;
    __m512i high2 = high0;
    __m512i high3 = high0;
    __m512i low0 = high0;
    __m512i low1 = high0;
    __m512i low2 = high0;
    __m512i low3 = high0;
    const auto* ahead = reinterpret_cast<const unsigned char*>(x0);
    std::int64_t i = 0;
    for (; i + 64 <= d; i += 64) {
      const __m512i q_high = _mm512_loadu_si512(q + i);
      const __m512i q_low = _mm512_loadu_si512(q + padded + i);
      const __m512i row0 = flip(_mm512_loadu_si512(x0 + i));
      high0 = _mm512_dpbusd_epi32(high0, row0, q_high);
      low0 = _mm512_dpbusd_epi32(low0, row0, q_low);
      const __m512i row1 = flip(_mm512_loadu_si512(x1 + i));
      high1 = _mm512_dpbusd_epi32(high1, row1, q_high);
      low1 = _mm512_dpbusd_epi32(low1, row1, q_low);
      const __m512i row2 = flip(_mm512_loadu_si512(x2 + i));
      high2 = _mm512_dpbusd_epi32(high2, row2, q_high);
      low2 = _mm512_dpbusd_epi32(low2, row2, q_low);
      const __m512i row3 = flip(_mm512_loadu_si512(x3 + i));
      high3 = _mm512_dpbusd_epi32(high3, row3, q_high);
      low3 = _mm512_dpbusd_epi32(low3, row3, q_low);
      prefetch(ahead, ahead_bytes + 4 * i);
      prefetch(ahead, ahead_bytes + 4 * i + 64);
      prefetch(ahead, ahead_bytes + 4 * i + 128);
      prefetch(ahead, ahead_bytes + 4 * i + 192);
    }
    if (i < d) {
      const __mmask64 mask = (__mmask64{1} << (d - i)) - 1;
      const __m512i q_high = _mm512_loadu_si512(q + i);
      const __m512i q_low = _mm512_loadu_si512(q + padded + i);
      const __m512i row0 = flip(_mm512_maskz_loadu_epi8(mask, x0 + i));
      high0 = _mm512_dpbusd_epi32(high0, row0, q_high);
      low0 = _mm512_dpbusd_epi32(low0, row0, q_low);
      const __m512i row1 = flip(_mm512_maskz_loadu_epi8(mask, x1 + i));
      high1 = _mm512_dpbusd_epi32(high1, row1, q_high);
      low1 = _mm512_dpbusd_epi32(low1, row1, q_low);
      const __m512i row2 = flip(_mm512_maskz_loadu_epi8(mask, x2 + i));
      high2 = _mm512_dpbusd_epi32(high2, row2, q_high);
      low2 = _mm512_dpbusd_epi32(low2, row2, q_low);
      const __m512i row3 = flip(_mm512_maskz_loadu_epi8(mask, x3 + i));
      high3 = _mm512_dpbusd_epi32(high3, row3, q_high);
      low3 = _mm512_dpbusd_epi32(low3, row3, q_low);
    }
    Offset offset;
    std::memcpy(&offset, packed + 2 * padded, sizeof offset);
    const __m128i sums = reduce4_int(join(high0, low0), join(high1, low1), join(high2, low2),
                                     join(high3, low3));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_sub_epi32(sums, _mm_set1_epi32(static_cast<int>(offset.value))));
  }
};

}  // namespace

const ScoreKernels avx512_vnni_score = make_score_kernels<Avx512Vnni>();

}  // namespace tipstaff
