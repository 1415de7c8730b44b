// ASCII letters as every dialect compares them: bytes beyond ASCII are never letters and equal only themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/text/lowest_bit.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

// Whether `text` is one of the words of `list`, which have one space between them.
[[gnu::noinline]] inline bool has_word(std::string_view list, std::string_view text) noexcept {
  const std::size_t n = text.size(), size = list.size();
  if (n == 0 || n > size) return false;
  const char* const bytes = list.data();
  const auto is_at = [&](std::size_t at) noexcept {
    return same_bytes(list.substr(at, n), text) && text.find(' ') == std::string_view::npos;
  };
  if ((n == size || bytes[n] == ' ') && is_at(0)) return true;
  const std::size_t end = size - n;  // where the last word would begin
  if (end == 0) return false;
  if (bytes[end - 1] == ' ' && is_at(end)) return true;
  std::size_t at = 1;
#if defined(__SSE2__)
  // Its first letter between a space before and a space after the word, at 16 positions at a time.
  const __m128i space = _mm_set1_epi8(' '), first = _mm_set1_epi8(text[0]);
  const auto is = [](const char* from, __m128i letter) noexcept {
    return _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), letter);
  };
  while (end > 16 && at < end) {
    if (at + 16 > end) at = end - 16;
    const char* const here = bytes + at;
    auto found = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(is(here - 1, space), is(here, first)), is(here + n, space))));
    for (; found != 0; found &= found - 1)
      if (is_at(at + static_cast<std::size_t>(lowest_bit(found)))) return true;
    at += 16;
  }
#endif
  for (; at < end; ++at)
    if (bytes[at] == text[0] && bytes[at - 1] == ' ' && bytes[at + n] == ' ' && is_at(at)) return true;
  return false;
}

// The same in any letter case; the words of `known` are in lower case.
inline bool one_of(std::string_view text, std::string_view known) noexcept {
  char folded[64];
  const std::size_t n = text.size();
  if (n > sizeof folded) return false;
  for (std::size_t i = 0; i < n; ++i) folded[i] = lower(text[i]);
  return has_word(known, {folded, n});
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

// What is written of a variable, without what makes it one: NAME of $NAME, ${NAME}, "$NAME". Empty for other text.
inline std::string_view variable_in(std::string_view written) noexcept {
  if (written.size() > 2 && written[0] == '"' && written.back() == '"') written = written.substr(1, written.size() - 2);
  if (written.size() < 2 || written[0] != '$') return {};
  written.remove_prefix(1);
  return written[0] == '{' && written.back() == '}' ? written.substr(1, written.size() - 2) : written;
}

}  // namespace tipstaff::gate::ascii
