// The name around a word that was found, its parts, and what is before it.
#ifndef TIPSTAFF_SECRETS_NAMES_HPP
#define TIPSTAFF_SECRETS_NAMES_HPP

#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

inline constexpr std::size_t name_reach = 48;

inline std::size_t name_start(Bytes text, std::size_t start) noexcept {
  const std::size_t least = start > name_reach ? start - name_reach : 0;
  while (start > least && (is_namely(text[start - 1]) || one_of(text[start - 1], "-."))) --start;
  return start;
}

inline std::size_t name_end(Bytes text, std::size_t end) noexcept {
  const std::size_t most = least_of(text.size, end + name_reach);
  while (end < most && (is_namely(text[end]) ||
                        (one_of(text[end], "-.") && end + 1 < most && is_namely(text[end + 1])))) {
    ++end;
  }
  return end;
}

// Whether the name stands on both sides of a sign: Ctrl.hexsecret = hexsecret:1c0a, as OpenSSL's test vectors have it.
inline bool is_named_twice(Bytes text, std::size_t head, std::size_t end) noexcept {
  std::size_t at = head;
  while (at > 0 && head - at < 4 && is_blank(text[at - 1])) --at;
  if (at == 0 || text[at - 1] != '=') return false;
  --at;
  for (std::size_t blanks = 0; at > 0 && blanks < 4 && is_blank(text[at - 1]); ++blanks) --at;
  const std::size_t size = end - head;
  if (at < size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (lower(text[at - size + i]) != lower(text[head + i])) return false;
  }
  return true;
}

// Where the last part of a dotted name begins.
inline std::size_t name_part(Bytes text, std::size_t head, std::size_t end) noexcept {
  std::size_t at = end;
  while (at > head && text[at - 1] != '.') --at;
  return at;
}

inline bool parts_hold(Bytes name, const Words& words) noexcept {
  std::size_t at = 0;
  while (at < name.size) {
    if (!is_letter(name[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    at = piece_end(name, at);
    if (words.equals(name.part(start, at))) return true;
  }
  return false;
}

inline bool word_before(Bytes text, std::size_t at, const Words& words) noexcept {
  std::size_t end = at;
  std::size_t least = at > 8 ? at - 8 : 0;
  while (end > least && is_blank(text[end - 1])) --end;
  if (end == at) return false;
  std::size_t start = end;
  least = end > 10 ? end - 10 : 0;
  while (start > least && is_letter(text[start - 1])) --start;
  return words.equals(text.part(start, end));
}

// Whether `#define` and blanks are before `at`.
inline bool is_macro(Bytes text, std::size_t at) noexcept {
  std::size_t end = at;
  const std::size_t least = at > 8 ? at - 8 : 0;
  while (end > least && is_blank(text[end - 1])) --end;
  return end < at && end >= 7 && std::memcmp(text.data + end - 7, "#define", 7) == 0;
}

// Whether only blanks are before a name on its line.
inline bool begins_line(Bytes text, std::size_t start, std::size_t head) noexcept {
  if (is_line(text[start])) head = start + 1;
  const std::size_t least = head > 40 ? head - 40 : 0;
  while (head > least && is_blank(text[head - 1])) --head;
  return head == 0 || is_line(text[head - 1]);
}

// Whether all the rest of the line is one word: ProxyPassword x.
inline bool is_last_word(Bytes text, std::size_t at) noexcept {
  std::size_t end = at;
  const std::size_t most = least_of(text.size, at + 256);
  while (end < most && !is_blank(text[end]) && !is_line(text[end])) ++end;
  while (end < most && is_blank(text[end])) ++end;
  return end == text.size || (end < most && is_line(text[end]));
}

// Whether `login name`, `machine name` or the like is before a word, as in .netrc.
inline bool after_login(Bytes text, std::size_t at) noexcept {
  const std::size_t least = at > 80 ? at - 80 : 0;
  std::size_t end = at;
  while (end > least && is_space(text[end - 1])) --end;
  if (end == at || at - end > 4) return false;
  std::size_t start = end;
  while (start > least && !is_space(text[start - 1])) --start;
  if (start == end || end - start > 64) return false;
  std::size_t word = start;
  while (word > least && is_space(text[word - 1])) --word;
  if (word == start || start - word > 4) return false;
  for (const char* known : {"login", "machine", "user", "username"}) {
    const std::size_t size = std::strlen(known);
    if (word - least < size || std::memcmp(text.data + word - size, known, size) != 0) continue;
    if (word - size == least || is_space(text[word - size - 1])) return true;
  }
  return false;
}

inline bool is_word(Bytes text, std::size_t start, std::size_t end, const char* word) noexcept {
  return end - start == std::strlen(word) && folded_at(text, start, word);
}

// Whether a line of a report of tests begins at `at`.
inline bool begins_result(Bytes text, std::size_t at) noexcept {
  for (const char* const result : {"PASS:", "XPASS:", "FAIL:", "XFAIL:", "KFAIL:", "SKIP:", "ERROR:", "UNSUPPORTED:", "UNTESTED:", "UNRESOLVED:",
                                   "====="}) {
    if (matches_at(text, at, result)) return true;
  }
  return false;
}

// Whether it is a path in small letters: gdb.cp/pr9067.exp.
inline bool is_test_file(Bytes text, std::size_t at) noexcept {
  constexpr std::size_t most = 256;
  std::size_t part = at, slash = 0;
  for (; part < text.size; ++part) {
    if (text[part] == '/' && slash == 0) {
      slash = part;
    } else if (!is_lower(text[part]) && !is_digit(text[part]) && !one_of(text[part], "_.+-/")) {
      break;
    }
    if (part - (slash == 0 ? at : slash) > most) return false;
  }
  if (slash <= at || slash - at > most || part < slash + 2) return false;
  return part == text.size || one_of(text[part], ": \t\r\n");
}

// Whether the line of `at` is one of a report of tests: PASS: gdb.cp/pr9067.exp names a file in small letters; any other is
// one beside another result.
inline bool is_test_result(Bytes text, std::size_t at) noexcept {
  constexpr std::size_t reach = 256;
  std::size_t line = at;
  while (line > 0 && at - line < reach && text[line - 1] != '\n') --line;
  if ((line > 0 && text[line - 1] != '\n') || !matches_at(text, line, "PASS: ")) return false;
  if (is_test_file(text, line + 6)) return true;
  std::size_t following = at;
  while (following < text.size && following - at < reach && text[following] != '\n') ++following;
  if (following - at < reach && byte_at(text, following) == '\n' && begins_result(text, following + 1)) return true;
  if (line == 0) return false;
  std::size_t before = line - 1;
  while (before > 0 && line - 1 - before < reach && text[before - 1] != '\n') --before;
  return (before == 0 || text[before - 1] == '\n') && begins_result(text, before);
}

}  // namespace tipstaff::secrets

#endif
