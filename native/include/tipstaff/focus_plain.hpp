// Passing over the words that are nothing but words, 64 bytes at a time; signals are told by them.
#ifndef TIPSTAFF_FOCUS_PLAIN_HPP
#define TIPSTAFF_FOCUS_PLAIN_HPP

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tipstaff/focus_found.hpp"

namespace tipstaff {
namespace focus {

// The last word that says something about the next.
struct Told {
  Kind kind;
  Bytes end;
};

static inline Kind told_before(const Told& last, Bytes s) noexcept {
  if (last.kind == plain) return plain;
  for (Bytes x = last.end; x < s; ++x) {
    if (classes.of[*x] != space) return plain;
  }
  return last.kind;
}

static inline void take_word(Focus* found, Bytes s, Bytes e, Kind kind, unsigned wanted, Told* last) noexcept {
  const Kind before = told_before(*last, s);
  if ((wanted & want_signals) != 0) {
    if (kind < next_word) found->signals |= kind;
    if (kind == step_word && before == next_word) found->signals |= continues;
    if (kind == steps_word && before == next_word) found->signals |= plans;
    if (kind == to_word && before == steps_word) found->signals |= plans;
  }
  *last = {kind, e};
}

#if defined(__SSE2__)
// Which of 64 bytes prose is made of.
struct Masks {
  std::uint64_t small;
  std::uint64_t capital;
  std::uint64_t space;
  std::uint64_t apart;  // white space, and marks that stand between words and mean nothing to them
  std::uint64_t stop;   // marks that may end a word
  std::uint64_t file;   // the last letter of "file"
};

// What code has besides.
struct CodeMasks {
  std::uint64_t digit;
  std::uint64_t under;
  std::uint64_t open;   // "(" and "<", which say something of the word before them
  std::uint64_t owner;  // the W of CODEOWNERS
};

static inline __m128i sixteen(Bytes x) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(x)); }
static inline __m128i are(__m128i bytes, char c) noexcept { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
// Whether bytes lie between two that are above 0.
static inline __m128i within(__m128i bytes, char low, char high) noexcept {
  return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1))),
                       _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1))));
}
static inline __m128i either(__m128i left, __m128i right) noexcept { return _mm_or_si128(left, right); }
static inline std::uint64_t bits_of(__m128i vector, int part) noexcept {
  return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(vector))) << (16 * part);
}

// Reads 67 bytes.
static inline Masks masks_of(Bytes x) noexcept {
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
  return masks;
}

static inline CodeMasks code_masks_of(Bytes x) noexcept {
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
#endif

// The 64 bytes that were looked at last: where words and others take turns, each is asked for again.
struct Window {
#if defined(__SSE2__)
  static constexpr std::int64_t oldest = 44;  // with fewer bytes left, looking anew is the cheaper
  static constexpr std::int64_t reads = 67;
  Bytes base = nullptr;
  Masks masks = {};
  bool has_code = false;
  CodeMasks code = {};

  Masks from(Bytes x) noexcept {
    if (base == nullptr || x - base > oldest) {
      base = x;
      masks = masks_of(x);
      has_code = false;
    }
    const auto at = static_cast<unsigned>(x - base);
    return {masks.small >> at, masks.capital >> at, masks.space >> at,
            masks.apart >> at, masks.stop >> at,    masks.file >> at};
  }
  // For the place that `from` was asked for last.
  CodeMasks code_from(Bytes x) noexcept {
    if (!has_code) {
      code = code_masks_of(base);
      has_code = true;
    }
    const auto at = static_cast<unsigned>(x - base);
    return {code.digit >> at, code.under >> at, code.open >> at, code.owner >> at};
  }
#endif
};

// Passes over plain words, which most words are, 64 bytes at a time and without a branch for each
// letter: `x` must be where a token may begin. Stops before the first token that may be a path or, as
// long as symbols are looked for, a symbol, and where fewer than 64 bytes are left.
static inline Bytes pass_words(Focus* found, Bytes x, Bytes end, unsigned wanted, Told* last,
                               Window* window) noexcept {
#if defined(__SSE2__)
  // Where no more symbols are taken, any word of letters, digits and underscores is plain.
  const std::uint64_t symbols = takes_bare(*found, wanted) ? ~std::uint64_t{0} : 0;
  while (end - x > Window::reads) {
    const Masks masks = window->from(x);
    std::uint64_t blank = masks.apart;
    std::uint64_t letters = masks.small | masks.capital;
    std::uint64_t starts = ~blank & (blank << 1 | 1u);
    std::uint64_t stops = masks.stop & masks.space >> 1 & ~starts;
    std::uint64_t wrong =
        ~(letters | blank | stops) | (masks.capital & ~starts) | (masks.file & ~(starts << 3));
    int limit = blank == 0 ? 0 : 63 - __builtin_clzll(blank);
    std::uint64_t valid = (std::uint64_t{1} << limit) - 1;
    // What prose would not do is looked at again as code.
    if (blank == 0 || (wrong & valid) != 0) {
      const CodeMasks code = window->code_from(x);
      // A bracket after a word may make a symbol of it; one after anything else does not.
      blank |= code.open & ((blank | code.open) << 1 | 1u | ~symbols);
      if (blank == 0) return x;
      letters |= code.digit | code.under;
      starts = ~blank & (blank << 1 | 1u);
      stops = masks.stop & masks.space >> 1 & ~starts;
      const std::uint64_t telling =
          symbols & ((masks.capital & ~starts) | code.under | (code.digit & masks.capital << 1));
      wrong = ~(letters | blank | stops) | telling | (masks.file & ~(starts << 3)) | (code.owner & ~starts);
      limit = 63 - __builtin_clzll(blank);
      valid = (std::uint64_t{1} << limit) - 1;
    }
    if (limit == 0) return x + 1;
    int reach = limit;
    const std::uint64_t first_wrong = wrong & valid;
    if (first_wrong != 0) {
      const std::uint64_t up_to = first_wrong ^ (first_wrong - 1);
      reach = 63 - __builtin_clzll(starts & up_to);
      valid = (std::uint64_t{1} << reach) - 1;
    }
    std::uint64_t begins = starts & valid;
    std::uint64_t ends = letters & (blank >> 1 | stops >> 1) & valid;
    while (begins != 0) {
      const int s = __builtin_ctzll(begins);
      const int e = __builtin_ctzll(ends) + 1;
      begins &= begins - 1;
      ends &= ends - 1;
      const Kind kind = kind_of(x + s, e - s);
      if (kind == plain || x[e] == '(') continue;
      take_word(found, x + s, x + e, kind, wanted, last);
      // What follows is no plain word even if it looks like one.
      if (kind == defines) return x + e;
    }
    x += reach;
    if (first_wrong != 0) return x;
  }
#else
  (void)found;
  (void)end;
  (void)wanted;
  (void)last;
  (void)window;
#endif
  return x;
}

}  // namespace focus
}  // namespace tipstaff

#endif
