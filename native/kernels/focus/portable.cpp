// The scan for a request's focus, and which instruction set has which. Compiled for the baseline: SSE2
// on x86-64; elsewhere words are passed over one at a time.
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kernels.hpp"
#include "tipstaff/focus/focus.hpp"
#include "tipstaff/focus/scanner.hpp"

namespace {

using namespace tipstaff;
using focus::Bytes;
using focus::CodeMasks;
using focus::Masks;

struct PortableWords {
#if defined(__SSE2__)
  static constexpr std::int64_t reads = 67;

  static __m128i sixteen(Bytes x) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(x)); }
  static __m128i are(__m128i bytes, char c) noexcept { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
  // Whether bytes are between two that are above 0.
  static __m128i within(__m128i bytes, char low, char high) noexcept {
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1))),
                         _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1))));
  }
  static __m128i either(__m128i left, __m128i right) noexcept { return _mm_or_si128(left, right); }
  static std::uint64_t bits_of(__m128i vector, int part) noexcept {
    return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(vector))) << (16 * part);
  }

  static Masks masks_of(Bytes x) noexcept {
    Masks masks = {};
    std::uint64_t file = 0;
    for (int part = 0; part < 4; ++part) {
      const Bytes here = x + 16 * part;
      const __m128i bytes = sixteen(here);
      const __m128i space = either(are(bytes, ' '), within(bytes, '\t', '\r'));
      const __m128i marks =
          either(either(either(are(bytes, ','), are(bytes, ')')), either(are(bytes, '!'), are(bytes, ';'))),
                 either(either(are(bytes, '['), within(bytes, '=', '?')),
                        either(within(bytes, ']', '^'), within(bytes, '{', '}'))));
      masks.small |= bits_of(within(bytes, 'a', 'z'), part);
      masks.capital |= bits_of(within(bytes, 'A', 'Z'), part);
      masks.space |= bits_of(space, part);
      masks.apart |= bits_of(either(space, marks), part);
      masks.stop |= bits_of(either(are(bytes, '.'), are(bytes, ':')), part);
      file |= bits_of(_mm_and_si128(_mm_and_si128(are(bytes, 'f'), are(sixteen(here + 1), 'i')),
                                    _mm_and_si128(are(sixteen(here + 2), 'l'), are(sixteen(here + 3), 'e'))),
                      part);
    }
    masks.file = file << 3;
    masks.hint = ~std::uint64_t{0};  // there is no quick look into tables: every word is asked
    return masks;
  }

  static CodeMasks code_masks_of(Bytes x) noexcept {
    CodeMasks masks = {};
    for (int part = 0; part < 4; ++part) {
      const __m128i bytes = sixteen(x + 16 * part);
      masks.digit |= bits_of(within(bytes, '0', '9'), part);
      masks.under |= bits_of(are(bytes, '_'), part);
      masks.open |= bits_of(either(are(bytes, '('), are(bytes, '<')), part);
      masks.owner |= bits_of(are(bytes, 'W'), part);
    }
    return masks;
  }
#else
  static constexpr std::int64_t reads = 0;
#endif
};

}  // namespace

namespace tipstaff {

void scan_focus_portable(Focus* found, int owner, ByteView text, unsigned wanted) noexcept {
  focus::scan<PortableWords>(found, owner, text, wanted);
}

FocusScan focus_scan(Isa isa) noexcept {
#if defined(TIPSTAFF_X86_64)
  if (isa != Isa::portable) return scan_focus_avx2;
#endif
  (void)isa;
  return scan_focus_portable;
}

}  // namespace tipstaff
