// The files, folders and modules that a task names: paths as far as a scope can be compared with them.
//
// kernels/formats/task_text.py does the same in Python for texts beyond ASCII. Linear in the text; nothing is allocated.
#ifndef TIPSTAFF_TASKS_PATHS_HPP
#define TIPSTAFF_TASKS_PATHS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/text/letters.hpp"
#include "tipstaff/text/text.hpp"

namespace tipstaff {

// What a task names, its texts one after another in the caller's memory, as many bytes as are read.
struct TaskPaths {
  static constexpr std::uint32_t kMost = 8;
  static constexpr std::int64_t kMostBytes = 16'384;
  std::string_view of[kMost];
  std::uint32_t count = 0;
};

namespace paths {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }

inline bool same_folded(std::string_view text, std::string_view name) noexcept {
  if (text.size() != name.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (lower(text[i]) != name[i]) return false;
  return true;
}

inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) noexcept {
  for (std::string_view name : names)
    if (same_folded(text, name)) return true;
  return false;
}

// The length of what separates words at `at`, 0 where nothing does.
inline std::size_t border(std::string_view text, std::size_t at) noexcept {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31)) return 1;
  switch (c) {
    case '`': case '\'': case '"': case '<': case '>': case '|': case ',': case ';': case '(': case ')': case '[': case ']':
      return 1;
    default: break;
  }
  if (c < 0x80) return 0;
  auto next = static_cast<std::int64_t>(at);
  const std::uint32_t code = decode_utf8({reinterpret_cast<const unsigned char*>(text.data()), static_cast<std::int64_t>(text.size())}, next);
  const bool space = code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
                     code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
  return space ? static_cast<std::size_t>(next) - at : 0;
}

// Whether a text ends like a file's name: a dot, a letter, and up to nine letters and digits.
inline bool has_ending(std::string_view text) noexcept {
  std::size_t at = text.size();
  while (at > 0 && (is_letter(text[at - 1]) || is_digit(text[at - 1]))) --at;
  const std::size_t size = text.size() - at;
  return at > 0 && size >= 1 && size <= 10 && text[at - 1] == '.' && is_letter(text[at]);
}

// The code point at `at`, which moves past it: whether it is a letter, and whether one or a digit.
inline bool letter_beyond(std::string_view text, std::size_t& at) noexcept {
  auto next = static_cast<std::int64_t>(at);
  const std::uint32_t code = decode_utf8({reinterpret_cast<const unsigned char*>(text.data()), static_cast<std::int64_t>(text.size())}, next);
  at = static_cast<std::size_t>(next);
  const Letter kind = classify_beyond_ascii(code).kind;
  return kind == Letter::folded || kind == Letter::alphabetic || kind == Letter::ideograph;
}

inline bool has_letter(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) >= 0x80 ? letter_beyond(text, at) : is_letter(text[at++])) return true;
  }
  return false;
}

inline bool looks_like_folder(std::string_view first, std::string_view second) noexcept {
  if (is_one_of(first, {"api", "app", "apps", "backend", "bin", "client", "cmd", "components", "config", "core", "db", "docs",
                        "frontend", "infra", "internal", "lib", "libs", "migrations", "packages", "pages", "pkg", "public",
                        "scripts", "server", "services", "src", "test", "tests", "tools", "ui", "web"}))
    return true;
  for (std::string_view part : {first, second})
    if (part.find_first_of("_-") != std::string_view::npos || part[0] == '.' || part[0] == '@') return true;
  return false;
}

// Takes the parts of a path with slashes together in `out`; returns the length, 0 if it is not a path.
inline std::size_t joined_parts(std::string_view path, char* out) noexcept {
  if (!has_letter(path)) return 0;
  std::string_view parts[2];
  std::size_t count = 0, size = 0;
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = path.find('/', at);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return 0;
    if (count < 2) parts[count] = part;
    if (count++ > 0) out[size++] = '/';
    std::memcpy(out + size, part.data(), part.size());
    size += part.size();
  }
  // "and/or" and "read/write" are prose; "src/api", "api/", "/etc" and "a/b.ts" are paths.
  if (count == 2 && path == std::string_view(out, size) && !has_ending(path) && !looks_like_folder(parts[0], parts[1])) return 0;
  return size;
}

// A dotted or `::` name; returns whether it is one, and the length of its path, 0 where it is not a path.
inline bool module_of(std::string_view name, char* out, std::size_t* size) noexcept {
  *size = 0;
  std::size_t at = 0, parts = 0, last = 0;
  bool plain = true, long_part = false;
  for (;;) {
    const std::size_t start = at;
    if (at == name.size() || !(is_letter(name[at]) || name[at] == '_')) return false;
    std::size_t letters = 0;
    while (at < name.size()) {
      const char c = name[at];
      if (static_cast<unsigned char>(c) >= 0x80) {
        std::size_t next = at;
        if (!letter_beyond(name, next)) break;
        at = next;
      } else if (is_letter(c) || is_digit(c) || c == '_') {
        ++at;
      } else {
        break;
      }
      ++letters;
    }
    if (parts++ > 0) out[(*size)++] = '/';
    std::memcpy(out + *size, name.data() + start, at - start);
    *size += at - start;
    long_part = long_part || letters > 1;
    last = start;
    if (at == name.size()) break;
    if (name[at] == '.') {
      ++at;
    } else if (name[at] == '#' || (name[at] == ':' && at + 1 < name.size() && name[at + 1] == ':')) {
      at += name[at] == '#' ? 1 : 2;
      plain = false;
    } else {
      return false;
    }
  }
  if (parts < 2) return false;
  if (parts == 2 && plain && has_ending(name)) {
    const bool none = name.size() < 4 || is_one_of(name.substr(last), {"com", "org", "net", "io", "dev", "ai", "app", "example", "test"});
    std::memcpy(out, name.data(), name.size());
    *size = none ? 0 : name.size();
  } else if (!long_part) {
    *size = 0;  // "e.g" is no module
  }
  return true;
}

// Without a line's number at the end: `app.py:12:3`.
inline std::string_view without_line(std::string_view word) noexcept {
  std::size_t end = word.size();
  for (std::size_t at = end; at > 0;) {
    std::size_t digits = at;
    while (digits > 0 && is_digit(word[digits - 1])) --digits;
    if (digits == at || digits == 0 || word[digits - 1] != ':') break;
    at = end = digits - 1;
  }
  return word.substr(0, end);
}

// Writes the path that a word is; returns its length, 0 if it is not a path.
inline std::size_t path_of(std::string_view word, char* out) noexcept {
  while (!word.empty() && (word.back() == '.' || word.back() == ':' || word.back() == '!' || word.back() == '?')) word.remove_suffix(1);
  if (word.find_first_of("/.#") == std::string_view::npos && word.find("::") == std::string_view::npos) return 0;
  if (word.find("://") != std::string_view::npos) return 0;
  const std::string_view first = word.substr(0, word.find('/'));
  if (first.find('@', 1) != std::string_view::npos) return 0;
  if (same_folded(word.substr(0, 4), "www.")) return 0;
  word = without_line(word);
  // Backslashes are slashes; what comes out is never longer, so one piece of memory holds both in turn.
  char* const slashed = out;
  std::size_t size = word.size();
  for (std::size_t i = 0; i < size; ++i) slashed[i] = word[i] == '\\' ? '/' : word[i];
  std::string_view path(slashed, size);
  while (path.substr(0, 2) == "./") path.remove_prefix(2);
  if (path.empty()) return 0;
  char* const made = out + word.size();
  std::size_t length = 0;
  if (path.find('/') != std::string_view::npos) {
    length = joined_parts(path, made);
  } else if (!module_of(path, made, &length)) {
    length = has_ending(path) && !is_digit(path[0]) ? path.size() : 0;
    std::memcpy(made, path.data(), length);
  }
  std::memmove(out, made, length);
  return length;
}

}  // namespace paths

// Finds what the beginning of a task names; `memory` has room for twice TaskPaths::kMostBytes.
inline void find_paths(std::string_view task, char* memory, TaskPaths* found) noexcept {
  task = task.substr(0, static_cast<std::size_t>(TaskPaths::kMostBytes));
  std::size_t used = 0;
  for (std::size_t at = 0; at < task.size() && found->count < TaskPaths::kMost;) {
    if (const std::size_t bytes = paths::border(task, at)) {
      at += bytes;
      continue;
    }
    const std::size_t start = at;
    bool marked = false;
    while (at < task.size() && paths::border(task, at) == 0) {
      const char c = task[at++];
      marked = marked || c == '/' || c == '.' || c == ':' || c == '#';
    }
    if (!marked) continue;
    const std::size_t size = paths::path_of(task.substr(start, at - start), memory + used);
    if (size == 0) continue;
    const std::string_view path(memory + used, size);
    bool known = false;
    for (std::uint32_t i = 0; i < found->count && !known; ++i) known = found->of[i] == path;
    if (known) continue;
    found->of[found->count++] = path;
    used += size;
  }
}

}  // namespace tipstaff

#endif
