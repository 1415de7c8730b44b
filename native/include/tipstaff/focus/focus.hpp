// What a request is about: paths, identifiers and signals, found in one pass over UTF-8.
//
// A token is a run of bytes that are neither white space nor punctuation. Most are plain words, and
// are left after a look at their letters; only the others are asked whether they are a path or an
// identifier. Nothing looks further than a bounded number of bytes from where it is, so the pass
// is linear on any input. Results are spans of the input.
#ifndef TIPSTAFF_FOCUS_FOCUS_HPP
#define TIPSTAFF_FOCUS_FOCUS_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/focus/found.hpp"
#include "tipstaff/focus/paths.hpp"
#include "tipstaff/focus/plain.hpp"
#include "tipstaff/focus/summary.hpp"
#include "tipstaff/focus/symbols.hpp"

namespace tipstaff {
namespace focus {

// One token that is not a plain word.
static inline void take_token(Focus* found, int owner, Bytes s, Bytes e, Around around,
                              unsigned wanted) noexcept {
  if (has_names(*found, wanted)) return;
  if (*s == '-' || e - s > longest_path) return;
  while (s < e && (traits.of[*s] & in_front) != 0) ++s;
  while (s < e && *s == '~' && !(e - s > 1 && s[1] == '/')) ++s;
  while (e > s && (traits.of[e[-1]] & after_path) != 0) --e;
  if (e - s > 2 && s[0] == '_' && s[1] != '_' && e[-1] == '_' && e[-2] != '_') {
    ++s;
    --e;
  }
  if (s >= e) return;
  unsigned seen = 0;
  for (Bytes x = s; x < e; ++x) seen |= traits.of[*x];
  if ((seen & refused) != 0) return;
  if ((seen & at_sign) != 0) {
    for (Bytes x = s + 1; x < e; ++x) {
      if (*x == '@' && x[-1] != '/') return;
    }
  }
  const bool separated = (seen & slash) != 0;
  const bool names_path =
      separated || ((seen & dot) != 0 && ((seen & part) != 0 || *s == '.' || may_end_path(s, e))) ||
      ((seen & dot) == 0 && !around.open && names_file(s, e));
  if (names_path && (separated || !around.call)) {
    Bytes x = s;
    Bytes y = e;
    bool qualified = false;
    for (Bytes z = s; (seen & part) != 0 && z + 1 < e; ++z) qualified = qualified || (z[0] == ':' && z[1] == ':');
    if (!qualified && is_path(&x, &y, false)) {
      add_path(found, owner, x, y);
      return;
    }
    if (separated) return;
  }
  if (takes_bare(*found, wanted)) bare_symbol(found, s, e, around);
}

template <class Simd>
static inline void scan(Focus* found, int owner, ByteView text, unsigned wanted) noexcept;

// What is between backticks: a path, a symbol, or a piece of code.
template <class Simd>
static inline void take_code(Focus* found, int owner, Bytes s, Bytes e, unsigned wanted) noexcept {
  if (has_names(*found, wanted)) return;
  while (s < e && classes.of[*s] == space) ++s;
  while (e > s && classes.of[e[-1]] == space) --e;
  if (s >= e) return;
  bool spaced = false;
  bool address = false;
  for (Bytes x = s; x < e; ++x) {
    spaced = spaced || classes.of[*x] == space;
    address = address || (*x == ':' && e - x > 2 && x[1] == '/' && x[2] == '/');
  }
  Bytes x = s;
  Bytes y = e;
  if (spaced) {
    if (is_spaced_path(&x, &y)) {
      add_path(found, owner, x, y);
      return;
    }
  } else if (!address) {
    bool marks = *s == '-';
    bool qualified = false;
    bool separated = false;
    for (Bytes z = s; z < e; ++z) {
      marks = marks || classes.of[*z] == mark || *z == '@';
      qualified = qualified || (*z == ':' && e - z > 1 && z[1] == ':');
      separated = separated || is_separator(*z);
    }
    if (!marks && !qualified && is_path(&x, &y, true)) {
      add_path(found, owner, x, y);
      return;
    }
    if (*s == '-') return;
    if ((wanted & want_symbols) != 0 && !separated && marked_symbol(found, s, e)) return;
  }
  scan<Simd>(found, owner, {s, e - s}, (wanted & want_symbols) | within_code);
}

// Finds what a text names. `owner` is written beside its paths. Only symbols and signals that are
// wanted are looked for.
template <class Simd>
static inline void scan(Focus* found, int owner, ByteView text, unsigned wanted) noexcept {
  Bytes x = text.data;
  const Bytes end = x + text.size;
  Cue last = {plain, x};
  Window<Simd> window;
  while (x < end) {
    unsigned char c = *x;
    Class is = classes.of[c];
    if constexpr (Simd::reads > 0) {  // 0: there are no vectors to look at many with
      if (end - x > 16 && (is <= upper || c == ' ' || c == '\n') && cue_before(last, x) != defines) {
        x = pass_words<Simd>(found, x, end, wanted, &last, &window);
        if (x == end) return;
        c = *x;
        is = classes.of[c];
      }
    }
    if (is == space) {
      ++x;
      continue;
    }
    if (is <= upper) {
      Bytes y = x + 1;
      while (y < end && classes.of[*y] == lower) ++y;
      const unsigned char after = y < end ? *y : ' ';
      const Class stop = classes.of[after];
      const bool ends = stop == space || (stop == mark && after != '(' && (after != '<' || is == lower)) ||
                        ((after == '.' || after == ':') && (end - y < 2 || classes.of[y[1]] == space));
      const bool named_file = y - x >= 7 && std::memcmp(y - 4, "file", 4) == 0;
      if (ends && !named_file && !(is == upper && cue_before(last, x) == defines)) {
        const Kind kind = kind_of(x, y - x);
        if (kind != plain) take_word(found, x, y, kind, wanted, &last);
        x = y;
        continue;
      }
    } else if (is == mark) {
      if (c == '`' && (wanted & within_code) == 0) {
        Bytes y = x;
        while (y < end && *y == '`') ++y;
        const std::int64_t run = y - x;
        x = y;
        if (run > 2) continue;
        const std::int64_t reach = end - y < longest_span ? end - y : longest_span;
        y = find_either(y, x + reach, '`', '\n');
        if (y == x + reach || *y != '`') continue;
        take_code<Simd>(found, owner, x, y, wanted);
        while (y < end && *y == '`' && y - x < longest_span + 4) ++y;
        x = y;
        continue;
      }
      if ((c == '"' || (c == '\'' && (x == text.data || classes.of[x[-1]] >= mark))) &&
          (wanted & within_code) == 0) {
        const std::int64_t reach = end - x - 1 < longest_span ? end - x - 1 : longest_span;
        Bytes s = x + 1;
        const Bytes y = find_either(s, s + reach, c, '\n');
        if (y < s + reach && *y == c && has(s, y, ' ')) {
          Bytes e = y;
          if (is_spaced_path(&s, &e)) {
            add_path(found, owner, s, e);
            x = y + 1;
            continue;
          }
        }
      }
      ++x;
      continue;
    } else if (is == colon || (c == '.' && (end - x < 2 || classes.of[x[1]] == space))) {
      ++x;
      continue;
    } else if (is == high) {
      std::uint32_t code;
      const int size = decode(x, end, &code);
      if (ends_token(code)) {
        x += size;
        continue;
      }
    }
    // A token that is more than a word.
    Bytes y = x;
    bool address = false;
    while (y < end) {
      is = classes.of[*y];
      if (is < colon) {
        ++y;
      } else if (is == colon) {
        const std::int64_t left = end - y;
        if (left > 2 && y[1] == '/' && y[2] == '/') {
          address = true;
          break;
        }
        const bool doubled = left > 1 && y[1] == ':';
        const bool drive = y - x == 1 && left > 1 && is_separator(y[1]);
        if (!doubled && !drive && !(left > 1 && is_digit(y[1]))) {
          address = has(x + 1, y, '@');  // user@host:path
          break;
        }
        y += doubled ? 2 : 1;
      } else if (is == high) {
        std::uint32_t code;
        const int size = decode(y, end, &code);
        if (ends_token(code)) break;
        y += size;
      } else {
        break;
      }
    }
    if (address) {
      while (y < end && classes.of[*y] != space && !is_one_of(*y, "\"'<>`")) {
        if (*y < 0x80) {
          ++y;
          continue;
        }
        std::uint32_t code;
        const int size = decode(y, end, &code);
        if (ends_token(code)) break;
        y += size;
      }
      x = y;
      continue;
    }
    const std::int64_t left = end - y;
    Around around = {};
    around.open = left > 0 && *y == '(';
    around.call = around.open && left > 1 && y[1] == ')';
    around.generic = left > 1 && *y == '<' && classes.of[y[1]] == upper;
    around.defined = cue_before(last, x) == defines;
    bool letters = !around.open && y - x <= longest_kind_word;
    for (Bytes z = x; letters && z < y; ++z) letters = classes.of[*z] <= upper;
    const Kind kind = letters ? kind_of(x, y - x) : plain;
    if (kind != plain) take_word(found, x, y, kind, wanted, &last);
    take_token(found, owner, x, y, around, wanted);
    x = around.call ? y + 2 : y;
    if (has_all(*found, wanted)) return;
  }
}

}  // namespace focus
}  // namespace tipstaff

#endif
