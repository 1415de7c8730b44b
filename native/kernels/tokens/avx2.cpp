// Token features for AVX2.
#include <immintrin.h>

#include "../tables.hpp"

namespace {

using namespace tipstaff;

struct Avx2Bytes {
  struct Block {
    __m256i low;
    __m256i high;
  };
  static __m256i at(const unsigned char* bytes) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  }
  static std::uint64_t mask(__m256i low, __m256i high) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(high))) << 32;
  }
  static Block load(const unsigned char* bytes) noexcept { return {at(bytes), at(bytes + 32)}; }
  static std::uint64_t equal(const Block& block, unsigned char byte) noexcept {
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(byte));
    return mask(_mm256_cmpeq_epi8(block.low, wanted), _mm256_cmpeq_epi8(block.high, wanted));
  }
  static std::uint64_t within(const Block& block, unsigned char first, unsigned char more) noexcept {
    const __m256i start = _mm256_set1_epi8(static_cast<char>(first));
    const __m256i width = _mm256_set1_epi8(static_cast<char>(more));
    const auto test = [=](__m256i x) noexcept {
      const __m256i distance = _mm256_sub_epi8(x, start);
      return _mm256_cmpeq_epi8(_mm256_min_epu8(distance, width), distance);
    };
    return mask(test(block.low), test(block.high));
  }
  static std::uint64_t high(const Block& block) noexcept { return mask(block.low, block.high); }
  static std::uint64_t vowels(const Block& block) noexcept {
    // By the low half of the byte: which of the high halves 6 (bit 0) and 7 (bit 1) is a vowel's.
    const __m256i table = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1));
    const __m256i bit = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    const auto test = [=](__m256i x) noexcept {
      const __m256i y = _mm256_or_si256(x, _mm256_set1_epi8(0x20));
      const __m256i top = _mm256_and_si256(_mm256_srli_epi16(y, 4), nibble);
      const __m256i found = _mm256_and_si256(
          _mm256_shuffle_epi8(table, _mm256_and_si256(y, nibble)), _mm256_shuffle_epi8(bit, top));
      return _mm256_cmpgt_epi8(found, _mm256_setzero_si256());
    };
    return mask(test(block.low), test(block.high));
  }
  static std::uint64_t same_as_before(const Block& block, const unsigned char* bytes,
                                      unsigned char preceding) noexcept {
    // The byte before the block may not be ours to read: the first of each half is compared apart.
    const __m256i crossing = _mm256_permute2x128_si256(block.low, block.low, 0x08);
    const __m256i before = _mm256_insert_epi8(_mm256_alignr_epi8(block.low, crossing, 15),
                                              static_cast<char>(preceding), 0);
    return mask(_mm256_cmpeq_epi8(block.low, before), _mm256_cmpeq_epi8(block.high, at(bytes + 31)));
  }

  struct Vector {
    __m256i low;
    __m256i high;
  };
  static __m256i at_masks(const std::uint64_t* masks) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(masks));
  }
  static Vector at(const std::uint64_t* masks) noexcept { return {at_masks(masks), at_masks(masks + 4)}; }
  static void put(std::uint64_t* masks, const Vector& x) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(masks), x.low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(masks + 4), x.high);
  }
  template <int distance>
  static Vector shifted(const token_detail::MaskRow& row) noexcept {
    const auto move = [](const std::uint64_t* from) noexcept {
      return _mm256_or_si256(_mm256_slli_epi64(at_masks(from), distance),
                             _mm256_srli_epi64(at_masks(from - 1), 64 - distance));
    };
    return {move(row.masks), move(row.masks + 4)};
  }
  static Vector both(const Vector& a, const Vector& b) noexcept {
    return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
  }
  static Vector either(const Vector& a, const Vector& b) noexcept {
    return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
  }
  static Vector without(const Vector& a, const Vector& b) noexcept {
    return {_mm256_andnot_si256(b.low, a.low), _mm256_andnot_si256(b.high, a.high)};
  }
  // Bits of each byte, by its halves.
  static __m256i bits(__m256i x) noexcept {
    const __m256i table = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    return _mm256_add_epi8(
        _mm256_shuffle_epi8(table, _mm256_and_si256(x, nibble)),
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble)));
  }
  static void count(std::uint64_t* counts, const Vector& x) noexcept {
    auto* total = reinterpret_cast<__m256i*>(counts);
    const __m256i sum = _mm256_sad_epu8(_mm256_add_epi8(bits(x.low), bits(x.high)), _mm256_setzero_si256());
    _mm256_store_si256(total, _mm256_add_epi64(_mm256_load_si256(total), sum));
  }
};

}  // namespace

namespace tipstaff {
const TokenKernels avx2_token = make_token_kernels<Avx2Bytes>();
}  // namespace tipstaff
