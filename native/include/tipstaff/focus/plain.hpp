// Passing over the words that are nothing but words, 64 bytes at a time; signals are recognised by them.
#ifndef TIPSTAFF_FOCUS_PLAIN_HPP
#define TIPSTAFF_FOCUS_PLAIN_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/focus/found.hpp"

namespace tipstaff {
namespace focus {

// The last word that says something about the next.
struct Cue {
  Kind kind;
  Bytes end;
};

static inline Kind cue_before(const Cue& last, Bytes s) noexcept {
  if (last.kind == plain) return plain;
  for (Bytes x = last.end; x < s; ++x) {
    if (classes.of[*x] != space) return plain;
  }
  return last.kind;
}

static inline void take_word(Focus* found, Bytes s, Bytes e, Kind kind, unsigned wanted, Cue* last) noexcept {
  const Kind before = cue_before(*last, s);
  if ((wanted & want_signals) != 0) {
    if (kind < next_word) found->signals |= kind;
    if (kind == step_word && before == next_word) found->signals |= continues;
    if (kind == steps_word && before == next_word) found->signals |= plans;
    if (kind == to_word && before == steps_word) found->signals |= plans;
  }
  *last = {kind, e};
}

// Which of 64 bytes prose is made of.
struct Masks {
  std::uint64_t small;
  std::uint64_t capital;
  std::uint64_t space;
  std::uint64_t apart;  // white space, and marks that are between words and mean nothing to them
  std::uint64_t stop;   // marks that may end a word
  std::uint64_t file;   // the last letter of "file"
  std::uint64_t hint;   // where a word that is listed may begin; others may be among them
};

// What code has besides.
struct CodeMasks {
  std::uint64_t digit;
  std::uint64_t under;
  std::uint64_t open;   // "(" and "<", which say something of the word before them
  std::uint64_t owner;  // the W of CODEOWNERS
};

// The 64 bytes that were looked at last: where words and others take turns, each is asked for again.
template <class Simd>
struct Window {
  static constexpr std::int64_t oldest = 44;  // with fewer bytes left, looking again is the cheaper
  Bytes base = nullptr;
  Masks masks = {};
  bool has_code = false;
  CodeMasks code = {};

  unsigned char padded[96];  // the text's last bytes where there are not enough for a look, and spaces

  Masks from(Bytes x, Bytes end) noexcept {
    if (base == nullptr || (x - base > oldest && end - base > 64)) {
      base = x;
      has_code = false;
      masks = Simd::masks_of(whole(end));
    }
    const auto at = static_cast<unsigned>(x - base);
    return {masks.small >> at, masks.capital >> at, masks.space >> at, masks.apart >> at,
            masks.stop >> at,  masks.file >> at,    masks.hint >> at};
  }
  // For the position that `from` was asked for last.
  CodeMasks code_from(Bytes x, Bytes end) noexcept {
    if (!has_code) {
      code = Simd::code_masks_of(whole(end));
      has_code = true;
    }
    const auto at = static_cast<unsigned>(x - base);
    return {code.digit >> at, code.under >> at, code.open >> at, code.owner >> at};
  }

 private:
  Bytes whole(Bytes end) noexcept {
    if (end - base >= Simd::reads) return base;
    std::memset(padded, ' ', sizeof padded);
    std::memcpy(padded, base, static_cast<std::size_t>(end - base));
    return padded;
  }
};

// Passes over plain words, which most words are, 64 bytes at a time and without a branch for each
// letter: `x` must be where a token may begin. Stops before the first token that may be a path or, as
// long as symbols are looked for, a symbol.
//
// `Simd` says what 64 bytes are: its masks_of and code_masks_of read up to `reads` bytes.
template <class Simd>
static inline Bytes pass_words(Focus* found, Bytes x, Bytes end, unsigned wanted, Cue* last,
                               Window<Simd>* window) noexcept {
  // Where no more symbols are taken, any word of letters, digits and underscores is plain.
  const std::uint64_t symbols = takes_bare(*found, wanted) ? ~std::uint64_t{0} : 0;
  static_assert(Simd::reads <= static_cast<std::int64_t>(sizeof window->padded), "all that a look reads is padded");
  while (x < end) {
    const Masks masks = window->from(x, end);
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
      const CodeMasks code = window->code_from(x, end);
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
    const std::uint64_t ends = letters & (blank >> 1 | stops >> 1) & valid;
    for (std::uint64_t begins = starts & valid & masks.hint; begins != 0; begins &= begins - 1) {
      const int s = __builtin_ctzll(begins);
      const int e = __builtin_ctzll(ends >> s) + s + 1;
      const Kind kind = kind_of(x + s, e - s);
      if (kind == plain || (x + e < end && x[e] == '(')) continue;
      take_word(found, x + s, x + e, kind, wanted, last);
      // What follows is no plain word even if it looks like one.
      if (kind == defines) return x + e;
    }
    if (reach > end - x) return end;
    x += reach;
    if (first_wrong != 0) return x;
  }
  return x;
}

}  // namespace focus
}  // namespace tipstaff

#endif
