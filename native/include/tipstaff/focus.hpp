// What a request is about: paths, identifiers and signals, found in one pass over UTF-8.
//
// A token is a run of bytes that are neither white space nor punctuation. Most are plain words, and
// are left after a look at their letters; only the others are asked whether they are a path or an
// identifier. Nothing looks further than a bounded number of bytes from where it stands, so the pass
// is linear on any input. Results are spans of the input.
#ifndef TIPSTAFF_FOCUS_HPP
#define TIPSTAFF_FOCUS_HPP

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tipstaff/focus_words.hpp"
#include "tipstaff/text.hpp"

namespace tipstaff {

inline constexpr int max_focus_paths = 16;
inline constexpr int max_focus_symbols = 16;

enum FocusSignal : unsigned {
  focus_continues = 1,
  focus_plans = 2,
  focus_changes = 4,
  focus_verifies = 8,
};

// What was found; texts must outlive it.
struct Focus {
  Span paths[max_focus_paths];
  int owners[max_focus_paths];  // which text a path was found in
  int n_paths;
  int path_limit;
  Span marked[max_focus_symbols];  // written as code
  int n_marked;
  Span bare[max_focus_symbols];
  int n_bare;
  int symbol_limit;
  unsigned signals;
};

namespace focus {

inline constexpr std::int64_t longest_span = 200;
inline constexpr std::int64_t longest_path = 512;
inline constexpr std::int64_t longest_symbol = 128;
inline constexpr std::int64_t longest_hump = 64;

enum Class : std::uint8_t { lower, upper, digit, under, other, colon, high, mark, space };

struct Classes {
  Class of[256];
};

constexpr bool is_one_of(unsigned char c, const char* set) noexcept {
  for (; *set != 0; ++set) {
    if (static_cast<unsigned char>(*set) == c) return true;
  }
  return false;
}

constexpr Classes make_classes() noexcept {
  Classes table = {};
  for (int i = 0; i < 256; ++i) {
    const auto c = static_cast<unsigned char>(i);
    Class found = mark;
    if (c >= 'a' && c <= 'z') {
      found = lower;
    } else if (c >= 'A' && c <= 'Z') {
      found = upper;
    } else if (c >= '0' && c <= '9') {
      found = digit;
    } else if (c == '_') {
      found = under;
    } else if (c == ':') {
      found = colon;
    } else if (c != 0 && is_one_of(c, "*#@$%&+-./\\~")) {
      found = other;
    } else if (c >= 0x80) {
      found = high;
    } else if (c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31)) {
      found = space;
    }
    table.of[i] = found;
  }
  return table;
}

inline constexpr Classes classes = make_classes();

using Bytes = const unsigned char*;

// Decodes one character above ASCII. Gives its length; 1 and U+FFFD for what is none.
static inline int decode(Bytes x, Bytes end, std::uint32_t* code) noexcept {
  const unsigned char c = x[0];
  const int size = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  *code = 0xFFFD;
  if (c < 0xC2 || c > 0xF4 || end - x < size) return 1;
  std::uint32_t value = c & (0x7Fu >> size);
  for (int i = 1; i < size; ++i) {
    if ((x[i] & 0xC0) != 0x80) return 1;
    value = value << 6 | (x[i] & 0x3Fu);
  }
  *code = value;
  return size;
}

constexpr bool is_wide_space(std::uint32_t c) noexcept {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Whether a character above ASCII ends a token: punctuation, symbols, spaces, surrogates, private use.
constexpr bool ends_token(std::uint32_t c) noexcept {
  if (c < 0xC0) return c != 0xAA && c != 0xB5 && c != 0xBA;
  if (c < 0x2000) return c == 0xD7 || c == 0xF7 || c == 0x1680;
  return (c <= 0x206F && c != 0x200C && c != 0x200D) || (c >= 0x20A0 && c <= 0x20CF) ||
         (c >= 0x2190 && c <= 0x2BFF) || (c >= 0x2E00 && c <= 0x2E7F) || (c >= 0x3000 && c <= 0x3004) ||
         (c >= 0x3008 && c <= 0x3020) || c == 0x3030 || c == 0x30FB || (c >= 0xD800 && c <= 0xF8FF) ||
         (c >= 0xFE10 && c <= 0xFE1F) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF0F) ||
         (c >= 0xFF1A && c <= 0xFF20) || (c >= 0xFF3B && c <= 0xFF40) || (c >= 0xFF5B && c <= 0xFF65) ||
         (c >= 0xFFF0 && c <= 0xFFFF) || (c >= 0x1F000 && c <= 0x1FAFF) || c >= 0xE0000;
}

// 1 for capitals, 2 for small letters, 0 for letters without case: Latin, Greek and Cyrillic.
constexpr int letter_case(std::uint32_t c) noexcept {
  if (c >= 0xC0 && c <= 0xDE) return 1;
  if (c >= 0xDF && c <= 0xFF) return 2;
  if (c >= 0x100 && c <= 0x17F) return (c & 1u) != 0 ? 2 : 1;
  if (c >= 0x391 && c <= 0x3A9) return 1;
  if (c >= 0x3AC && c <= 0x3CE) return 2;
  if (c >= 0x400 && c <= 0x42F) return 1;
  if (c >= 0x430 && c <= 0x45F) return 2;
  return 0;
}

constexpr bool is_letter(unsigned char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

constexpr bool is_digit(unsigned char c) noexcept { return c >= '0' && c <= '9'; }

constexpr bool is_separator(unsigned char c) noexcept { return c == '/' || c == '\\'; }

static inline bool in_list(const WordSet& set, Bytes s, Bytes e, bool folded = false) noexcept {
  return listed(set, s, e - s, folded);
}

static inline bool has(Bytes s, Bytes e, unsigned char c) noexcept {
  return s < e && std::memchr(s, c, static_cast<std::size_t>(e - s)) != nullptr;
}

static inline bool same(Span left, Span right) noexcept {
  return left.size == right.size &&
         std::memcmp(left.data, right.data, static_cast<std::size_t>(left.size)) == 0;
}

static inline void add(Span* list, int* count, int limit, Bytes s, Bytes e) noexcept {
  const Span one = {s, e - s};
  for (int i = 0; i < *count; ++i) {
    if (same(list[i], one)) return;
  }
  if (*count < limit) list[(*count)++] = one;
}

static inline void add_path(Focus* found, int owner, Bytes s, Bytes e) noexcept {
  const int before = found->n_paths;
  add(found->paths, &found->n_paths, found->path_limit, s, e);
  if (found->n_paths > before) found->owners[before] = owner;
}

// --- paths ------------------------------------------------------------------------------------------

// Where a name's ending begins, after its last dot; `e` where it has none that could be one: 1 to 10
// letters and digits, a letter among them, small or capital but not both.
static inline Bytes ending(Bytes s, Bytes e) noexcept {
  Bytes x = e;
  bool small = false;
  bool capital = false;
  while (x > s && x[-1] != '.') {
    --x;
    const unsigned char c = *x;
    if (e - x > 10 || c >= 0x80 || !(is_letter(c) || is_digit(c))) return e;
    small = small || (c >= 'a' && c <= 'z');
    capital = capital || (c >= 'A' && c <= 'Z');
  }
  if (x - s < 2 || x == e || small == capital) return e;
  return x;
}

static inline bool is_domain(Bytes s, Bytes e) noexcept {
  if (e - s > 4 && std::memcmp(s, "www.", 4) == 0) return true;
  Bytes x = e;
  while (x > s && x[-1] != '.') --x;
  return x - s >= 2 && in_list(domain_set, x, e, true);
}

// Whether `s` to `e` is a path; if so they are moved to its borders. `marked`: written as code.
static inline bool is_path(Bytes* start, Bytes* finish, bool marked) noexcept {
  Bytes s = *start;
  Bytes e = *finish;
  const bool drive = e - s >= 3 && s[0] < 0x80 && is_letter(s[0]) && s[1] == ':' && is_separator(s[2]);
  for (Bytes x = s + (drive ? 2 : 1); x < e; ++x) {
    if (*x == '#' || *x == ':') e = x;  // a line or a heading in it
  }
  while (e > s && e[-1] == '.') --e;
  while (e - s > 2 && s[0] == '.' && s[1] == '/') s += 2;
  if (e - s < 2 || e - s > longest_path) return false;
  Bytes first = nullptr;
  Bytes last = nullptr;
  int segments = 0;
  bool letters = false;
  bool forward = false;
  for (Bytes x = s; x < e; ++x) {
    const unsigned char c = *x;
    if (is_separator(c)) {
      if (first == nullptr) first = x;
      last = x;
      forward = forward || c == '/';
    } else {
      if (c == '*' || c == '%' || c == '&') return false;
      letters = letters || is_letter(c);
      if (x == s || is_separator(x[-1])) ++segments;
    }
  }
  if (!letters) return false;
  *start = s;
  *finish = e;
  Bytes name = last == nullptr ? s : last + 1;
  Bytes suffix = ending(name, e);
  if (first == nullptr) {
    if (in_list(file_name_set, s, e)) return true;
    return suffix < e && in_list(ending_set, suffix, e, true) && !in_list(product_set, s, e, true);
  }
  if (drive) return true;
  if (s[0] == '\\') return e - s > 2 && s[1] == '\\' && segments >= 2;
  if (s[0] == '/') return s[1] != '/' && (segments >= 2 || suffix < e);
  if (s[0] == '~' && first == s + 1) return true;
  if (s[0] == '.' && s[1] == '.' && first == s + 2) return segments >= 2;
  if (!forward) return suffix < e;
  if (is_domain(s, first)) return false;
  if (suffix < e || in_list(file_name_set, name, e)) return true;
  if (in_list(folder_set, s, first) || (s[0] == '.' && is_letter(s[1]))) return true;
  return marked && segments >= 2 && (is_letter(s[0]) || s[0] == '_');
}

// A path that holds spaces, as it stands between quotes or backticks: it has an ending, no word before
// the last is a file, and the first is no command.
static inline bool is_spaced_path(Bytes* start, Bytes* finish) noexcept {
  Bytes s = *start;
  Bytes e = *finish;
  if (s >= e || *s == ' ' || e[-1] == ' ') return false;
  int words = 0;
  for (Bytes x = s; x < e;) {
    Bytes word = x;
    while (x < e && *x != ' ') {
      if (classes.of[*x] == mark || classes.of[*x] == space) return false;
      ++x;
    }
    if (x == word || ++words > 6) return false;
    if (words == 1) {
      Bytes name = x;
      while (name > word && !is_separator(name[-1])) --name;
      if (*word == '-' || in_list(opener_set, name, x, true)) return false;
    }
    if (x < e) {
      Bytes suffix = ending(word, x);
      if (suffix < x && in_list(ending_set, suffix, x, true)) return false;
      ++x;
    }
  }
  if (words < 2) return false;
  Bytes name = e;
  while (name > s && !is_separator(name[-1])) --name;
  Bytes suffix = ending(name, e);
  if (suffix == e || (name == s && !in_list(ending_set, suffix, e, true))) return false;
  return is_path(start, finish, true) && *finish == e;
}

// --- identifiers ------------------------------------------------------------------------------------

static inline bool is_identifier(Bytes s, Bytes e) noexcept {
  if (s >= e || e - s > longest_symbol || is_digit(*s)) return false;
  for (Bytes x = s; x < e; ++x) {
    if (!is_letter(*x) && !is_digit(*x) && *x != '_') return false;
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
  bool defined;  // class, def and the like stand before
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

// What stands between backticks and holds no space. Tells whether it is a symbol.
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
      holds = is_letter(*x) || is_digit(*x) || *x == '_' || (*x == '-' && x[-1] != '-');
    }
  } else {
    holds = is_identifier(s, e) && !in_list(keyword_set, s, e);
  }
  if (holds) add(found->marked, &found->n_marked, found->symbol_limit, s, e);
  return holds;
}

// --- the pass ---------------------------------------------------------------------------------------

enum Wanted : unsigned { want_symbols = 1, want_signals = 2, within_code = 4 };

// Whether no further name can change what was found: what is written as code goes before the rest.
static inline bool has_names(const Focus& found, unsigned wanted) noexcept {
  return found.n_paths == found.path_limit &&
         ((wanted & want_symbols) == 0 || found.n_marked == found.symbol_limit);
}

static inline bool has_all(const Focus& found, unsigned wanted) noexcept {
  constexpr unsigned every = focus_continues | focus_plans | focus_changes | focus_verifies;
  return has_names(found, wanted) && ((wanted & want_signals) == 0 || found.signals == every);
}

// One token that is not a plain word.
static inline void take_token(Focus* found, int owner, Bytes s, Bytes e, Around around,
                              unsigned wanted) noexcept {
  if (has_names(*found, wanted)) return;
  if (*s == '-' || e - s > longest_path) return;
  while (s < e && is_one_of(*s, "*+$%&#")) ++s;
  while (s < e && *s == '~' && !(e - s > 1 && s[1] == '/')) ++s;
  while (e > s && is_one_of(e[-1], ".*:-#~&%$+")) --e;
  if (e - s > 2 && s[0] == '_' && s[1] != '_' && e[-1] == '_' && e[-2] != '_') {
    ++s;
    --e;
  }
  if (s >= e) return;
  bool names_path = false;
  bool separated = false;
  for (Bytes x = s; x < e; ++x) {
    const unsigned char c = *x;
    if (c == '@' && x > s && x[-1] != '/') return;
    if (c == '*' || c == '%' || c == '&' || c == '$') return;
    names_path = names_path || c == '.' || is_separator(c);
    separated = separated || is_separator(c);
  }
  names_path = names_path || (e - s >= 7 && e - s <= 13 && !around.open && in_list(file_name_set, s, e));
  if (names_path && (separated || !around.call)) {
    Bytes x = s;
    Bytes y = e;
    bool qualified = false;
    for (Bytes z = s; z + 1 < e; ++z) qualified = qualified || (z[0] == ':' && z[1] == ':');
    if (!qualified && is_path(&x, &y, false)) {
      add_path(found, owner, x, y);
      return;
    }
    if (separated) return;
  }
  if ((wanted & want_symbols) != 0) bare_symbol(found, s, e, around);
}

static inline void scan(Focus* found, int owner, Span text, unsigned wanted) noexcept;

// What stands between backticks: a path, a symbol, or a piece of code.
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
  scan(found, owner, {s, e - s}, (wanted & want_symbols) | within_code);
}

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
struct Masks {
  std::uint64_t small;
  std::uint64_t capital;
  std::uint64_t blank;  // spaces and line feeds
  std::uint64_t stop;   // marks that may end a word
  std::uint64_t file;   // the last letter of "file"
};

static inline Masks masks_of(Bytes x) noexcept {
  Masks masks = {};
  std::uint64_t f = 0;
  std::uint64_t i = 0;
  std::uint64_t l = 0;
  std::uint64_t e = 0;
  const auto bits = [](__m128i vector, int part) noexcept {
    return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(vector))) << (16 * part);
  };
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + 16 * part));
    const auto is = [bytes](char c) noexcept { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    const auto between = [bytes](char low, char high) noexcept {
      return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1))),
                           _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1))));
    };
    masks.small |= bits(between('a', 'z'), part);
    masks.capital |= bits(between('A', 'Z'), part);
    masks.blank |= bits(_mm_or_si128(is(' '), is('\n')), part);
    masks.stop |= bits(_mm_or_si128(_mm_or_si128(_mm_or_si128(is(','), is('.')), _mm_or_si128(is(';'), is(':'))),
                                    _mm_or_si128(_mm_or_si128(is('!'), is('?')), is(')'))),
                       part);
    f |= bits(is('f'), part);
    i |= bits(is('i'), part);
    l |= bits(is('l'), part);
    e |= bits(is('e'), part);
  }
  masks.file = f << 3 & i << 2 & l << 1 & e;
  return masks;
}
#endif

// The 64 bytes that were looked at last: where words and others take turns, each is asked for again.
struct Window {
#if defined(__SSE2__)
  static constexpr std::int64_t oldest = 44;  // with fewer bytes left, looking anew is the cheaper
  Bytes base = nullptr;
  Masks masks = {};

  Masks from(Bytes x) noexcept {
    if (base == nullptr || x - base > oldest) {
      base = x;
      masks = masks_of(x);
    }
    const auto at = static_cast<unsigned>(x - base);
    return {masks.small >> at, masks.capital >> at, masks.blank >> at, masks.stop >> at, masks.file >> at};
  }
#endif
};

// Passes over plain words, which most words are, 64 bytes at a time and without a branch for each
// letter: `x` must be where a token may begin. Stops before the first token that is more than letters
// with a capital at most in front and a mark at most behind, and where fewer than 64 bytes are left.
static inline Bytes pass_words(Focus* found, Bytes x, Bytes end, unsigned wanted, Told* last,
                               Window* window) noexcept {
#if defined(__SSE2__)
  while (end - x > 64) {
    const Masks masks = window->from(x);
    if (masks.blank == 0) return x;
    const int limit = 63 - __builtin_clzll(masks.blank);
    if (limit == 0) return x + 1;
    const std::uint64_t starts = ~masks.blank & (masks.blank << 1 | 1u);
    const std::uint64_t before_blank = masks.blank >> 1;
    const std::uint64_t stops = masks.stop & before_blank & ~starts;
    const std::uint64_t wrong =
        ~(masks.small | masks.blank | (masks.capital & starts) | stops) | (masks.file & ~(starts << 3));
    std::uint64_t valid = (std::uint64_t{1} << limit) - 1;
    int reach = limit;
    const std::uint64_t first_wrong = wrong & valid;
    if (first_wrong != 0) {
      const std::uint64_t up_to = first_wrong ^ (first_wrong - 1);
      reach = 63 - __builtin_clzll(starts & up_to);
      valid = (std::uint64_t{1} << reach) - 1;
    }
    std::uint64_t begins = starts & valid;
    std::uint64_t ends = (masks.small | masks.capital) & (before_blank | stops >> 1) & valid;
    while (begins != 0) {
      const int s = __builtin_ctzll(begins);
      const int e = __builtin_ctzll(ends) + 1;
      begins &= begins - 1;
      ends &= ends - 1;
      const Kind kind = kind_of(x + s, e - s);
      if (kind == plain) continue;
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

// Finds what a text names. `owner` is written beside its paths. Only symbols and signals that are
// wanted are looked for.
static inline void scan(Focus* found, int owner, Span text, unsigned wanted) noexcept {
  Bytes x = text.data;
  const Bytes end = x + text.size;
  Told last = {plain, x};
  Window window;
  while (x < end) {
    unsigned char c = *x;
    Class is = classes.of[c];
    if (end - x > 64 && (is <= upper || c == ' ' || c == '\n') && told_before(last, x) != defines) {
      x = pass_words(found, x, end, wanted, &last, &window);
      c = *x;
      is = classes.of[c];
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
      if (ends && !named_file && !(is == upper && told_before(last, x) == defines)) {
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
        while (y < x + reach && *y != '`' && *y != '\n') ++y;
        if (y == x + reach || *y != '`') continue;
        take_code(found, owner, x, y, wanted);
        while (y < end && *y == '`' && y - x < longest_span + 4) ++y;
        x = y;
        continue;
      }
      if ((c == '"' || (c == '\'' && (x == text.data || classes.of[x[-1]] >= mark))) &&
          (wanted & within_code) == 0) {
        const std::int64_t reach = end - x - 1 < longest_span ? end - x - 1 : longest_span;
        Bytes s = x + 1;
        Bytes y = s;
        bool spaced = false;
        while (y < s + reach && *y != c && *y != '\n') spaced = *y++ == ' ' || spaced;
        if (spaced && y < s + reach && *y == c) {
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
          address = has(x + 1, y, '@');  // somebody@host:place
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
    around.defined = told_before(last, x) == defines;
    bool letters = !around.open && y - x <= longest_kind_word;
    for (Bytes z = x; letters && z < y; ++z) letters = classes.of[*z] <= upper;
    const Kind kind = letters ? kind_of(x, y - x) : plain;
    if (kind != plain) take_word(found, x, y, kind, wanted, &last);
    take_token(found, owner, x, y, around, wanted);
    x = around.call ? y + 2 : y;
    if (has_all(*found, wanted)) return;
  }
}

// Whether `collapse` would change nothing: ASCII, no white space but single spaces inside.
static inline bool is_line(Span text) noexcept {
  const std::int64_t n = text.size;
  Bytes x = text.data;
  if (n == 0) return true;
  unsigned wrong = static_cast<unsigned>(x[0] == ' ') | static_cast<unsigned>(x[n - 1] == ' ') |
                   static_cast<unsigned>(x[0] < ' ') | static_cast<unsigned>(x[0] >> 7);
  for (std::int64_t i = 1; i < n; ++i) {
    wrong |= static_cast<unsigned>(x[i] < ' ') | static_cast<unsigned>(x[i] >> 7) |
             (static_cast<unsigned>(x[i] == ' ') & static_cast<unsigned>(x[i - 1] == ' '));
  }
  return wrong == 0;
}

// The text's characters with each run of white space as one space, none at the ends: at most `room`
// bytes and `limit` characters. Tells whether there is more.
static inline bool collapse(Span text, unsigned char* out, std::int64_t limit, std::int64_t* size) noexcept {
  Bytes x = text.data;
  const Bytes end = x + text.size;
  std::int64_t characters = 0;
  unsigned char* place = out;
  bool gap = false;
  while (x < end) {
    int width = 1;
    bool blank = classes.of[*x] == space;
    if (*x >= 0x80) {
      std::uint32_t code;
      width = decode(x, end, &code);
      blank = is_wide_space(code);
    }
    if (blank) {
      gap = place != out;
    } else {
      const std::int64_t needed = gap ? 2 : 1;
      if (characters + needed > limit) {
        *size = place - out;
        return true;
      }
      if (gap) *place++ = ' ';
      for (int i = 0; i < width; ++i) *place++ = x[i];
      characters += needed;
      gap = false;
    }
    x += width;
  }
  *size = place - out;
  return false;
}

}  // namespace focus
}  // namespace tipstaff

#endif
