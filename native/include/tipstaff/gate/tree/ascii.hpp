// ASCII letters as every dialect compares them: bytes beyond ASCII are never letters and equal only themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tipstaff::gate::ascii {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

// What names are made of; bytes beyond ASCII belong to names.
constexpr bool is_name_start(char c) noexcept { return is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }
constexpr bool is_name(char c) noexcept { return is_name_start(c) || is_digit(c); }

constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

// Compares without a call what is nearly always short.
inline bool same_bytes(std::string_view one, std::string_view other) noexcept {
  const std::size_t n = one.size();
  if (n != other.size()) return false;
  if (n > 16) return std::memcmp(one.data(), other.data(), n) == 0;
  // Their first and their last bytes, which may be some twice.
  const auto alike = [&](auto bytes) noexcept {
    const auto at = [](std::string_view text, std::size_t place, auto read) noexcept {
      std::memcpy(&read, text.data() + place, sizeof read);
      return read;
    };
    const std::size_t last = n - sizeof bytes;
    return ((at(one, 0, bytes) ^ at(other, 0, bytes)) | (at(one, last, bytes) ^ at(other, last, bytes))) == 0;
  };
  if (n >= 8) return alike(std::uint64_t{});
  if (n >= 4) return alike(std::uint32_t{});
  if (n >= 2) return alike(std::uint16_t{});
  return n == 0 || one[0] == other[0];
}

// `known` is in lower case already.
constexpr bool equals(std::string_view text, std::string_view known) noexcept {
  if (text.size() != known.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != known[i]) return false;
  }
  return true;
}
constexpr bool starts_with(std::string_view text, std::string_view known) noexcept {
  return text.size() >= known.size() && equals(text.substr(0, known.size()), known);
}
constexpr bool ends_with(std::string_view text, std::string_view known) noexcept {
  return text.size() >= known.size() && equals(text.substr(text.size() - known.size()), known);
}

// Whether `text` is one of the words of `known`, which are in lower case with one space between them.
constexpr bool one_of(std::string_view text, std::string_view known) noexcept {
  if (text.empty()) return false;
  // Long lists are searched as one text, with the search that the library has for that.
  if (known.size() > 64 && text.size() > 2 && text.size() <= 32) {
    char folded[32] = {};
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') return false;
      folded[i] = lower(text[i]);
    }
    const std::string_view word(folded, text.size());
    for (std::size_t at = known.find(word); at != std::string_view::npos; at = known.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if ((at == 0 || known[at - 1] == ' ') && (end == known.size() || known[end] == ' ')) return true;
    }
    return false;
  }
  for (std::size_t start = 0; start < known.size();) {
    std::size_t end = start;
    while (end < known.size() && known[end] != ' ') ++end;
    if (equals(text, known.substr(start, end - start))) return true;
    start = end + 1;
  }
  return false;
}

// Whether one of a few bytes is in a text, which may be long: each has the search that the library has for one.
inline bool holds_any(std::string_view text, std::string_view bytes) noexcept {
  for (const char c : bytes)
    if (text.find(c) != std::string_view::npos) return true;
  return false;
}

constexpr std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace tipstaff::gate::ascii
