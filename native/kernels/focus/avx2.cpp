// The scan for a request's focus for AVX2.
#include <immintrin.h>

#include "kernels.hpp"
#include "tipstaff/focus/focus.hpp"
#include "tipstaff/focus/hints.hpp"

namespace {

using namespace tipstaff;
using focus::Bytes;
using focus::CodeMasks;
using focus::Masks;

struct Avx2Words {
  static constexpr std::int64_t reads = 67;

  static __m256i half(Bytes x) noexcept { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }
  static __m256i are(__m256i bytes, char c) noexcept { return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c)); }
  // Whether bytes are between two that are above 0.
  static __m256i within(__m256i bytes, char low, char high) noexcept {
    return _mm256_and_si256(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(static_cast<char>(low - 1))),
                            _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(high + 1)), bytes));
  }
  static std::uint64_t bits_of(__m256i vector, int part) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(vector))) << (32 * part);
  }
  // Which bytes have none of some bits.
  static std::uint64_t without(__m256i kinds, unsigned bits, int part) noexcept {
    const __m256i some = _mm256_and_si256(kinds, _mm256_set1_epi8(static_cast<char>(bits)));
    return bits_of(_mm256_cmpeq_epi8(some, _mm256_setzero_si256()), part);
  }
  static __m256i table(const std::uint8_t* sixteen) noexcept {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen)));
  }
  // What the tables of both halves of each byte agree on; nothing for bytes above ASCII.
  static __m256i agreed(__m256i bytes, const std::uint8_t* low, const std::uint8_t* high) noexcept {
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    return _mm256_and_si256(_mm256_shuffle_epi8(table(low), bytes), _mm256_shuffle_epi8(table(high), upper));
  }

  static Masks masks_of(Bytes x) noexcept {
    Masks masks = {};
    std::uint64_t file = 0;
    std::uint64_t no_space = 0;
    std::uint64_t not_apart = 0;
    std::uint64_t no_stop = 0;
    std::uint64_t no_hint = 0;
    for (int part = 0; part < 2; ++part) {
      const Bytes here = x + 32 * part;
      const __m256i bytes = half(here);
      const __m256i second = half(here + 1);
      const __m256i third = half(here + 2);
      const __m256i kinds = agreed(bytes, focus::between.low, focus::between.high);
      no_space |= without(kinds, focus::white, part);
      not_apart |= without(kinds, focus::white | focus::apart_marks, part);
      no_stop |= without(kinds, focus::stop_marks, part);
      masks.small |= bits_of(within(bytes, 'a', 'z'), part);
      masks.capital |= bits_of(within(bytes, 'A', 'Z'), part);
      file |= bits_of(_mm256_and_si256(_mm256_and_si256(are(bytes, 'f'), are(second, 'i')),
                                       _mm256_and_si256(are(third, 'l'), are(half(here + 3), 'e'))),
                      part);
      const __m256i begin = _mm256_and_si256(agreed(bytes, focus::hints.low[0], focus::hints.high[0]),
                                             agreed(second, focus::hints.low[1], focus::hints.high[1]));
      // After a word of two letters comes anything, above ASCII too: only a third letter is asked for.
      const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(third, 4), _mm256_set1_epi8(15));
      const __m256i lower = _mm256_and_si256(third, _mm256_set1_epi8(15));
      const __m256i all = _mm256_and_si256(begin, _mm256_and_si256(_mm256_shuffle_epi8(table(focus::hints.low[2]), lower),
                                                                   _mm256_shuffle_epi8(table(focus::hints.high[2]), upper)));
      no_hint |= without(all, 0xFF, part);
    }
    masks.space = ~no_space;
    masks.apart = ~not_apart;
    masks.stop = ~no_stop;
    masks.hint = ~no_hint;
    masks.file = file << 3;
    return masks;
  }

  static CodeMasks code_masks_of(Bytes x) noexcept {
    CodeMasks masks = {};
    for (int part = 0; part < 2; ++part) {
      const __m256i bytes = half(x + 32 * part);
      masks.digit |= bits_of(within(bytes, '0', '9'), part);
      masks.under |= bits_of(are(bytes, '_'), part);
      masks.open |= bits_of(_mm256_or_si256(are(bytes, '('), are(bytes, '<')), part);
      masks.owner |= bits_of(are(bytes, 'W'), part);
    }
    return masks;
  }
};

}  // namespace

namespace tipstaff {

void scan_focus_avx2(Focus* found, int owner, ByteView text, unsigned wanted) noexcept {
  focus::scan<Avx2Words>(found, owner, text, wanted);
}

}  // namespace tipstaff
