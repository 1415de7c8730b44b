// Patterns of names: the search that all of them share, and the places of those that shells expand.
#pragma once

#include <cstddef>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate {

// Whether a pattern in which `*` stands for any letters matches all of `text`. `matches_place(at, letter, &next)`: whether the
// place at `at` matches a letter; `next` is where the following place begins. `optional`: signs that may be left over at the
// pattern's end. At most (pattern + 1) * (text + 1) steps.
template <typename Place>
inline bool matches_stars(std::string_view pattern, std::string_view text, Place matches_place, std::string_view optional = "*") noexcept {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    std::size_t next = p + 1;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      mark = t;
    } else if (p < pattern.size() && matches_place(p, text[t], &next)) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of(optional, p) == std::string_view::npos;
}

// One place of a shell's pattern: `?`, a set in brackets, or a letter. `folded`: letter case does not count, and `letter` is in
// lower case.
template <bool folded>
inline bool matches_shell_place(std::string_view pattern, std::size_t at, char letter, std::size_t* next) noexcept {
  const auto fold = [](char c) noexcept { return folded ? ascii::lower(c) : c; };
  if (pattern[at] == '?') return true;
  if (pattern[at] != '[') return fold(pattern[at]) == letter;
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  const std::size_t first = i;
  while (i < pattern.size() && (pattern[i] != ']' || i == first)) {
    const bool range = i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']';
    found = found || (range ? fold(pattern[i]) <= letter && letter <= fold(pattern[i + 2]) : fold(pattern[i]) == letter);
    i += range ? 3 : 1;
  }
  if (i >= pattern.size()) return letter == '[';  // not closed
  *next = i + 1;
  return found != negated;
}

}  // namespace tipstaff::gate
