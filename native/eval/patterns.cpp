#include "tipstaff/eval/patterns.hpp"

namespace tipstaff::eval {
namespace {

using std::size_t;
using std::string_view;

// One byte against the pattern's element at `*at`, which moves behind it.
bool takes(string_view pattern, size_t* at, char c) noexcept {
  const char kind = pattern[*at];
  if (kind == '\\' && *at + 1 < pattern.size()) {
    *at += 2;
    return pattern[*at - 1] == c;
  }
  if (kind == '?') {
    ++*at;
    return true;
  }
  if (kind != '[') {
    ++*at;
    return kind == c;
  }
  size_t i = *at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    if (pattern[i] == '[' && i + 1 < pattern.size() && pattern[i + 1] == ':') {
      const size_t end = pattern.find(":]", i + 2);
      if (end != string_view::npos) {
        const string_view name = pattern.substr(i + 2, end - i - 2);
        const bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
        found = found || (name == "alpha" && (lower || upper)) || (name == "digit" && digit) || (name == "alnum" && (lower || upper || digit)) ||
                (name == "lower" && lower) || (name == "upper" && upper) || (name == "space" && (c == ' ' || (c >= '\t' && c <= '\r')));
        i = end + 2;
        continue;
      }
    }
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const char low = pattern[i++];
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      if (pattern[i + 1] == '\\' && i + 2 < pattern.size()) ++i;
      found = found || (c >= low && c <= pattern[i + 1]);
      i += 2;
    } else {
      found = found || c == low;
    }
  }
  if (i >= pattern.size()) {
    ++*at;
    return c == '[';
  }
  *at = i + 1;
  return found != negated;
}

}  // namespace

Match matches(string_view pattern, string_view text) noexcept {
  // Unknown parts: only what is plain before the first of them can rule a match out.
  const size_t unknown_text = text.find(kUnknownPart), unknown_pattern = pattern.find(kUnknownPart);
  if (unknown_text != string_view::npos || unknown_pattern != string_view::npos) {
    size_t at = 0;
    for (size_t i = 0; i < text.size() && text[i] != kUnknownPart; ++i) {
      if (at >= pattern.size()) return Match::no;
      if (pattern[at] == '*' || pattern[at] == kUnknownPart) return pattern == "*" ? Match::yes : Match::perhaps;
      if (!takes(pattern, &at, text[i])) return Match::no;
    }
    return pattern == "*" ? Match::yes : Match::perhaps;
  }
  size_t at = 0, i = 0, star = string_view::npos, from = 0;
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      from = i;
      continue;
    }
    if (at < pattern.size()) {
      size_t next = at;
      if (takes(pattern, &next, text[i])) {
        at = next;
        ++i;
        continue;
      }
    }
    if (star == string_view::npos) return Match::no;
    at = star;
    i = ++from;
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size() ? Match::yes : Match::no;
}

}  // namespace tipstaff::eval
