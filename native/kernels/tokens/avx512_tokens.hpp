// Blocks of 64 bytes for token features with AVX-512 (BW): a comparison of 64 bytes is a mask already.
// For the translation units of the AVX-512 sets, each with flags of its own.
#ifndef TIPSTAFF_AVX512_TOKENS_HPP
#define TIPSTAFF_AVX512_TOKENS_HPP

#include <immintrin.h>

#include "../tables.hpp"

namespace tipstaff {
namespace {

struct Avx512Bytes {
  using Block = __m512i;
  static Block load(const unsigned char* bytes) noexcept { return _mm512_loadu_si512(bytes); }
  static std::uint64_t equal(const Block& block, unsigned char byte) noexcept {
    return _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(static_cast<char>(byte)));
  }
  static std::uint64_t within(const Block& block, unsigned char first, unsigned char more) noexcept {
    const __m512i distance = _mm512_sub_epi8(block, _mm512_set1_epi8(static_cast<char>(first)));
    return _mm512_cmple_epu8_mask(distance, _mm512_set1_epi8(static_cast<char>(more)));
  }
  static std::uint64_t high(const Block& block) noexcept { return _mm512_movepi8_mask(block); }
  static std::uint64_t vowels(const Block& block) noexcept {
    // See tokens_avx2.cpp.
    const __m512i table = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1));
    const __m512i bit = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m512i nibble = _mm512_set1_epi8(0x0F);
    const __m512i y = _mm512_or_si512(block, _mm512_set1_epi8(0x20));
    const __m512i top = _mm512_and_si512(_mm512_srli_epi16(y, 4), nibble);
    return _mm512_test_epi8_mask(_mm512_shuffle_epi8(table, _mm512_and_si512(y, nibble)),
                                 _mm512_shuffle_epi8(bit, top));
  }
  static std::uint64_t same_as_before(const Block& block, const unsigned char* bytes,
                                      unsigned char preceding) noexcept {
    // Bytes 0 to 62, moved up by one; the byte before the block may not be ours to read.
    const __m512i before = _mm512_mask_loadu_epi8(_mm512_set1_epi8(static_cast<char>(preceding)),
                                                  ~__mmask64{1}, bytes - 1);
    return _mm512_cmpeq_epi8_mask(block, before);
  }

  using Vector = __m512i;
  static Vector at(const std::uint64_t* masks) noexcept { return _mm512_loadu_si512(masks); }
  static void put(std::uint64_t* masks, Vector x) noexcept { _mm512_storeu_si512(masks, x); }
  template <int distance>
  static Vector shifted(const token_detail::MaskRow& row) noexcept {
    // Put together from registers: a load across what was just stored would wait for the stores.
    const Vector masks = at(row.masks);
    const Vector before = _mm512_alignr_epi64(
        masks, _mm512_set1_epi64(static_cast<long long>(row.before)), 7);
    return _mm512_or_si512(_mm512_slli_epi64(masks, distance),
                           _mm512_srli_epi64(before, 64 - distance));
  }
  static Vector both(Vector a, Vector b) noexcept { return _mm512_and_si512(a, b); }
  static Vector either(Vector a, Vector b) noexcept { return _mm512_or_si512(a, b); }
  static Vector without(Vector a, Vector b) noexcept { return _mm512_andnot_si512(b, a); }
  static void count(std::uint64_t* counts, Vector x) noexcept {
#if defined(__AVX512VPOPCNTDQ__)
    const __m512i sum = _mm512_popcnt_epi64(x);
#else
    const __m512i table = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i nibble = _mm512_set1_epi8(0x0F);
    const __m512i bits = _mm512_add_epi8(
        _mm512_shuffle_epi8(table, _mm512_and_si512(x, nibble)),
        _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), nibble)));
    const __m512i sum = _mm512_sad_epu8(bits, _mm512_setzero_si512());
#endif
    _mm512_store_si512(counts, _mm512_add_epi64(_mm512_load_si512(counts), sum));
  }
};

}  // namespace
}  // namespace tipstaff

#endif
