// Whether a token is an identifier as code writes it and prose does not.
#ifndef TIPSTAFF_FOCUS_SYMBOLS_HPP
#define TIPSTAFF_FOCUS_SYMBOLS_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/focus/found.hpp"

namespace tipstaff {
namespace focus {

static inline bool is_identifier(Bytes s, Bytes e) noexcept {
  if (s >= e || e - s > longest_symbol || is_digit(*s)) return false;
  for (Bytes x = s; x < e; ++x) {
    if (!is_sign(*x)) return false;
  }
  return true;
}

// An underscore among letters, or before them: snake_case, _private, __dunder__.
static inline bool is_snake(Bytes s, Bytes e) noexcept {
  if (!has(s, e, '_')) return false;
  int letters = 0;
  for (Bytes x = s; x < e; ++x) letters += is_letter(*x) ? 1 : 0;
  return letters >= 2;
}

// A capital inside a word, as in camelCase, RequestRouter, HTTPServer; not API, APIs or Words.
static inline bool has_hump(Bytes s, Bytes e) noexcept {
  if (e - s < 3 || e - s > longest_hump) return false;
  bool small_before = false;
  int capitals = 0;  // in the run that ends here, digits after a capital among them
  int smalls_after = 0;
  for (Bytes x = s; x < e;) {
    int found = 0;
    if (*x < 0x80) {
      found = classes.of[*x] == upper ? 1 : classes.of[*x] == lower ? 2 : is_digit(*x) ? 3 : 0;
      ++x;
    } else {
      std::uint32_t code;
      x += decode(x, e, &code);
      found = letter_case(code);
    }
    if (found == 1) {
      if (small_before) return true;
      ++capitals;
      smalls_after = 0;
    } else if (found == 2) {
      small_before = true;
      if (capitals >= 2 && ++smalls_after >= 2) return true;
      if (capitals < 2) capitals = 0;
    } else if (found == 3) {
      if (capitals >= 1) ++capitals;
      smalls_after = 0;
    } else {
      capitals = 0;
    }
  }
  return false;
}

static inline bool is_humped(Bytes s, Bytes e) noexcept {
  return has_hump(s, e) && !in_list(brand_set, s, e);
}

static inline bool is_upper_start(Bytes s, Bytes e) noexcept {
  if (*s < 0x80) return classes.of[*s] == upper;
  std::uint32_t code;
  decode(s, e, &code);
  return letter_case(code) == 1;
}

static inline bool is_qualified(Bytes s, Bytes e) noexcept {
  int segments = 0;
  if (e - s > longest_symbol) return false;
  for (Bytes x = s;;) {
    Bytes end = x;
    while (end < e && *end != ':') ++end;
    if (!is_identifier(x, end) || ++segments > 8) return false;
    if (end == e) return segments >= 2;
    if (e - end < 3 || end[1] != ':') return false;
    x = end + 2;
  }
}

// 0 where `s` to `e` is not 2 to 6 identifiers joined by dots; else their number.
static inline int dotted_segments(Bytes s, Bytes e, bool* telling, bool* short_one, Bytes* last) noexcept {
  int segments = 0;
  if (e - s > longest_symbol) return 0;
  for (Bytes x = s;;) {
    Bytes end = x;
    while (end < e && *end != '.') ++end;
    if (!is_identifier(x, end) || ++segments > 6) return 0;
    *telling = *telling || is_snake(x, end) || is_humped(x, end);
    *short_one = *short_one || end - x < 2;
    *last = x;
    if (end == e) return segments >= 2 ? segments : 0;
    x = end + 1;
  }
}

struct Around {
  bool call;     // "()" follows
  bool open;     // "(" follows
  bool generic;  // "<" and a capital follow
  bool defined;  // class, def and the like are before
};

static inline bool is_bare_symbol(Bytes s, Bytes e, Around around) noexcept {
  if (e - s < 2 || !is_identifier(s, e)) return false;
  if (is_snake(s, e) || is_humped(s, e)) return true;
  if (!(around.call || around.generic || around.defined) || in_list(keyword_set, s, e)) return false;
  const bool capital = is_upper_start(s, e);
  return around.call || (around.generic && capital) || (around.defined && (capital || around.open));
}

static inline void bare_symbol(Focus* found, Bytes s, Bytes e, Around around) noexcept {
  if (s < e && *s == '@') ++s;
  if (s >= e) return;
  const int limit = found->symbol_limit;
  if (has(s, e, ':')) {
    if (is_qualified(s, e)) add(found->bare, &found->n_bare, limit, s, e);
    return;
  }
  if (has(s, e, '-')) {
    for (Bytes x = s; x < e;) {
      Bytes end = x;
      while (end < e && *end != '-') ++end;
      if (is_bare_symbol(x, end, {})) add(found->bare, &found->n_bare, limit, x, end);
      x = end + 1;
    }
    return;
  }
  if (has(s, e, '.')) {
    bool telling = false;
    bool short_one = false;
    Bytes last = s;
    const int segments = dotted_segments(s, e, &telling, &short_one, &last);
    if (segments == 0) return;
    // Two plain words may be the end of one sentence and the beginning of the next.
    const bool plain_call = !short_one && !in_list(domain_set, last, e, true) && !in_list(product_set, s, e, true) &&
                            (segments > 2 || !is_upper_start(last, e));
    if (around.call || telling || plain_call) add(found->bare, &found->n_bare, limit, s, e);
    return;
  }
  if (is_bare_symbol(s, e, around)) add(found->bare, &found->n_bare, limit, s, e);
}

// What is between backticks and holds no space. Tells whether it is a symbol.
static inline bool marked_symbol(Focus* found, Bytes s, Bytes e) noexcept {
  while (s < e && is_one_of(*s, "@&*#!~$")) ++s;
  for (Bytes x = s + 1; x < e; ++x) {
    if (*x == '(' || *x == '<' || *x == '[' || *x == '{') e = x;
  }
  while (e > s && is_one_of(e[-1], "!?;,:.")) --e;
  if (e - s < 2 || e - s > longest_symbol) return false;
  bool holds = false;
  if (has(s, e, ':')) {
    holds = is_qualified(s, e);
  } else if (has(s, e, '.')) {
    bool telling = false;
    bool short_one = false;
    Bytes last = s;
    holds = dotted_segments(s, e, &telling, &short_one, &last) > 0 && !in_list(product_set, s, e, true);
  } else if (has(s, e, '-')) {
    holds = is_letter(*s) && e[-1] != '-';
    for (Bytes x = s; holds && x < e; ++x) {
      holds = is_sign(*x) || (*x == '-' && x[-1] != '-');
    }
  } else {
    holds = is_identifier(s, e) && !in_list(keyword_set, s, e);
  }
  if (holds) add(found->marked, &found->n_marked, found->symbol_limit, s, e);
  return holds;
}

}  // namespace focus
}  // namespace tipstaff

#endif
