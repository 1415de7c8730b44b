// Bytes, kinds of bytes, and what is at a position of a text.
#ifndef TIPSTAFF_SECRETS_BYTES_HPP
#define TIPSTAFF_SECRETS_BYTES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tipstaff::secrets {

using Byte = unsigned char;

// A stretch of bytes.
struct Bytes {
  const Byte* data;
  std::size_t size;
  Byte operator[](std::size_t i) const noexcept { return data[i]; }
  Bytes part(std::size_t start, std::size_t end) const noexcept { return {data + start, end - start}; }
};

inline bool is_lower(Byte c) noexcept { return c >= 'a' && c <= 'z'; }
inline bool is_upper(Byte c) noexcept { return c >= 'A' && c <= 'Z'; }
inline bool is_digit(Byte c) noexcept { return c >= '0' && c <= '9'; }
inline bool is_letter(Byte c) noexcept { return is_lower(static_cast<Byte>(c | 0x20)); }
inline bool is_alnum(Byte c) noexcept { return is_letter(c) || is_digit(c); }
inline bool is_namely(Byte c) noexcept { return is_alnum(c) || c == '_'; }
inline bool is_hex(Byte c) noexcept { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
inline std::uint32_t hex_digit(Byte c) noexcept {
  return static_cast<std::uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
}
inline bool is_vowel(Byte c) noexcept {
  c = static_cast<Byte>(c | 0x20);
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y';
}
inline Byte lower(Byte c) noexcept { return is_upper(c) ? static_cast<Byte>(c | 0x20) : c; }
// Whether `c` is one of the signs of a literal, none of which is a zero byte: all are looked at, without a branch.
template <std::size_t size>
constexpr bool one_of(Byte c, const char (&signs)[size]) noexcept {
  bool found = false;
  for (std::size_t i = 0; i + 1 < size; ++i) found |= static_cast<Byte>(signs[i]) == c;
  return found;
}

// A set of bytes, for what is asked of each byte of a value.
class ByteSet {
 public:
  constexpr explicit ByteSet(const char* signs) noexcept {
    for (; *signs != 0; ++signs) words_[static_cast<Byte>(*signs) >> 6] |= std::uint64_t{1} << (*signs & 63);
  }
  constexpr bool has(Byte c) const noexcept { return (words_[c >> 6] >> (c & 63) & 1) != 0; }

 private:
  std::uint64_t words_[4] = {0, 0, 0, 0};
};

inline std::uint32_t load16(const Byte* x) noexcept { return std::uint32_t{x[0]} | std::uint32_t{x[1]} << 8; }
inline std::uint32_t load32(const Byte* x) noexcept { return load16(x) | load16(x + 2) << 16; }

inline std::size_t least_of(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }
inline bool is_blank(Byte c) noexcept { return c == ' ' || c == '\t'; }
inline bool is_line(Byte c) noexcept { return c == '\r' || c == '\n'; }
inline bool is_space(Byte c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The byte at `at`, or `other` after the end.
inline Byte byte_at(Bytes text, std::size_t at, Byte other = 0) noexcept {
  return at < text.size ? text[at] : other;
}

inline bool matches_at(Bytes text, std::size_t at, const char* what) noexcept {
  const std::size_t size = std::strlen(what);
  return at <= text.size && size <= text.size - at && std::memcmp(text.data + at, what, size) == 0;
}

// The same, letters in either case; `what` is in lower case.
inline bool folded_at(Bytes text, std::size_t at, const char* what) noexcept {
  for (; *what != 0; ++what, ++at) {
    if (at >= text.size || lower(text[at]) != static_cast<Byte>(*what)) return false;
  }
  return true;
}

inline bool holds(Bytes data, const char* what) noexcept {
  const std::size_t size = std::strlen(what);
  for (std::size_t at = 0; at + size <= data.size; ++at) {
    const void* const found = std::memchr(data.data + at, what[0], data.size - size + 1 - at);
    if (found == nullptr) return false;
    at = static_cast<std::size_t>(static_cast<const Byte*>(found) - data.data);
    if (std::memcmp(data.data + at, what, size) == 0) return true;
  }
  return false;
}

inline std::size_t skip_blanks(Bytes text, std::size_t at, std::size_t most) noexcept {
  const std::size_t end = least_of(text.size, at + most);
  while (at < end && is_blank(text[at])) ++at;
  return at;
}

inline std::size_t skip_blanks_and_lines(Bytes text, std::size_t at) noexcept {
  int lines = 0;
  const std::size_t end = least_of(text.size, at + 24);
  while (at < end && (is_blank(text[at]) || (is_line(text[at]) && lines < 2))) {
    lines += text[at] == '\n';
    ++at;
  }
  return at;
}

}  // namespace tipstaff::secrets

#endif
