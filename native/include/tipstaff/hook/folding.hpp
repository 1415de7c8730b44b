// Texts as a person reads them: without what only steers a terminal, and with the lines joined that it wrapped.
//
// A secret in colours, in UTF-16 or over two lines is one to whoever reads it. What is folded keeps where each byte came
// from, so that it is masked where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tipstaff::hook::folding {

// A folded text: byte i of it is byte at[i] of the original. The room is as large as the original.
struct Folded {
  char* text;
  std::uint32_t* at;
  std::size_t size = 0;

  void keep(char byte, std::size_t from) noexcept {
    text[size] = byte;
    at[size++] = static_cast<std::uint32_t>(from);
  }
};

inline bool has_steering(std::string_view text) noexcept {
  return std::memchr(text.data(), 0x1b, text.size()) != nullptr || std::memchr(text.data(), 0, text.size()) != nullptr ||
         text.find("\xe2\x80\x8b") != std::string_view::npos || text.find("\xe2\x81\xa0") != std::string_view::npos;
}

// Where a terminal's sequence that begins with an escape ends.
inline std::size_t end_of_escape(std::string_view text, std::size_t at) noexcept {
  if (++at >= text.size()) return at;
  const char kind = text[at++];
  if (kind == '[') {
    while (at < text.size() && (text[at] < 0x40 || text[at] > 0x7e)) ++at;
    return at < text.size() ? at + 1 : at;
  }
  if (kind != ']' && kind != 'P' && kind != '_' && kind != '^') return at;
  constexpr std::size_t kLongest = 4096;  // of a title or a link: what never ends hides no more than that
  for (const std::size_t last = at + kLongest; at < text.size() && at < last; ++at) {
    if (text[at] == 7) return at + 1;
    if (text[at] == 0x1b) return at + 1 < text.size() && text[at + 1] == '\\' ? at + 2 : at;
  }
  return at;
}

// Leaves out escape sequences, NUL bytes and letters without width.
inline void strip(std::string_view text, Folded* out) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    if (byte == 0x1b) {
      i = end_of_escape(text, i);
    } else if (byte == 0) {
      ++i;
    } else if (byte == 0xe2 && (text.substr(i, 3) == "\xe2\x80\x8b" || text.substr(i, 3) == "\xe2\x81\xa0")) {
      i += 3;
    } else {
      out->keep(text[i], i);
      ++i;
    }
  }
}

inline bool in_token(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
         byte == '-' || byte == '+' || byte == '/' || byte == '.';
}

// Joins the words that a line's end cuts in two, a line of its own each: nothing else of the text.
inline void join(std::string_view text, Folded* out) noexcept {
  constexpr std::size_t kLeastBefore = 4, kLeast = 16, kMost = 512;
  std::size_t begun = 0, used = 0;  // of the word that ends here; up to where words were written already
  bool open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_token(text[i])) continue;
    std::size_t next = i;
    if (text[next] == '\\') ++next;
    if (next < text.size() && text[next] == '\r') ++next;
    const bool ends = next < text.size() && text[next] == '\n';
    if (ends) {
      ++next;
      while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;
    }
    std::size_t end = next;
    while (ends && end < text.size() && end - next < kMost && in_token(text[end])) ++end;
    if (!ends || end == next || i - begun < kLeastBefore || i - begun > kMost || i - begun + end - next < kLeast) {
      if (open) out->keep('\n', i);
      open = false;
    } else {
      for (std::size_t at = open ? used : begun; at < i; ++at) out->keep(text[at], at);
      for (std::size_t at = next; at < end; ++at) out->keep(text[at], at);
      used = end;
      open = true;
    }
    begun = ends ? next : i + 1;
    i = begun - 1;
  }
  if (open) out->keep('\n', text.size() - 1);
}

}  // namespace tipstaff::hook::folding
