// Whether a token, or what is between quotes, is a path.
#ifndef TIPSTAFF_FOCUS_PATHS_HPP
#define TIPSTAFF_FOCUS_PATHS_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/focus/bytes.hpp"

namespace tipstaff {
namespace focus {

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
  bool forward = false;
  unsigned seen = 0;
  unsigned kinds = 0;
  bool begins = true;  // a segment
  for (Bytes x = s; x < e; ++x) {
    const unsigned char c = *x;
    const unsigned trait = traits.of[c];
    if ((trait & slash) != 0) {
      if (first == nullptr) first = x;
      last = x;
      forward = forward || c == '/';
      begins = true;
      continue;
    }
    seen |= trait;
    kinds |= 1u << classes.of[c];
    segments += begins ? 1 : 0;
    begins = false;
  }
  const bool letters = (kinds & (1u << lower | 1u << upper | 1u << high)) != 0;
  if ((seen & wild) != 0) return false;
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

// A path that holds spaces, as it is between quotes or backticks: it has an ending, no word before
// the last is a file, and the first is not a command.
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

// Whether a token could be one of the names that are files without having an ending.
static inline bool names_file(Bytes s, Bytes e) noexcept {
  return e - s >= 7 && e - s <= 13 && (e[-1] == 'e' || e[-1] == 'S') && in_list(file_name_set, s, e);
}

// Whether what follows the last dot has the first letter and the length of an ending.
static inline bool may_end_path(Bytes s, Bytes e) noexcept {
  Bytes x = e;
  while (x > s && x[-1] != '.' && e - x <= 10) --x;
  if (x == e || x == s || x[-1] != '.') return false;
  const unsigned first = lower_ascii(*x) - 'a';
  return first < 26 && (ending_sizes.of[first] >> (e - x) & 1u) != 0;
}

}  // namespace focus
}  // namespace tipstaff

#endif
