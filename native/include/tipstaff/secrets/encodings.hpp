// Reading what is encoded within a text: stretches with percent or JSON escapes, and base64 of text.
//
// Each byte is decoded once, into room that is given.
#ifndef TIPSTAFF_SECRETS_ENCODINGS_HPP
#define TIPSTAFF_SECRETS_ENCODINGS_HPP

#include "tipstaff/text/literals.hpp"
#include "tipstaff/secrets/assignments.hpp"

namespace tipstaff::secrets {

inline constexpr std::size_t escaped_room = 4096;     // bytes of one stretch with escapes
inline constexpr std::size_t escaped_before = 1024;   // how far it reaches back to the beginning of its line
inline constexpr std::size_t escaped_overlap = 512;   // what two stretches of one line share
inline constexpr std::size_t blob_signs = 65536;      // characters of the longest base64 that is decoded
inline constexpr std::size_t blob_room = blob_signs / 4 * 3;

// A stretch of a text, and where each decoded byte comes from; none for base64, which is one thing.
struct Stretch {
  std::size_t start;
  std::size_t end;
  const std::uint16_t* positions;
};

// Length of the escape at `at`, 0 for none; what it stands for goes to `value`.
inline std::size_t escape_at(Bytes text, std::size_t at, std::size_t end, Byte* value) noexcept {
  if (text[at] == '%') {
    if (end - at < 3 || !is_hex(text[at + 1]) || !is_hex(text[at + 2])) return 0;
    *value = static_cast<Byte>(hex_digit(text[at + 1]) << 4 | hex_digit(text[at + 2]));
    return (*value >= 0x20 && *value < 0x7F) || is_line(*value) || *value == '\t' ? 3 : 0;
  }
  if (text[at] != '\\' || end - at < 2) return 0;
  if (text[at + 1] == '/') {
    *value = '/';
    return 2;
  }
  if (end - at < 6 || text[at + 1] != 'u' || text[at + 2] != '0' || text[at + 3] != '0' || !is_hex(text[at + 4]) ||
      !is_hex(text[at + 5])) {
    return 0;
  }
  *value = static_cast<Byte>(hex_digit(text[at + 4]) << 4 | hex_digit(text[at + 5]));
  // Quotes and backslashes stay escaped: they would end the string that they are in.
  return *value >= 0x20 && *value < 0x7F && !one_of(*value, "\"'\\") ? 6 : 0;
}

// Decodes the line around the escape at `mark`, not far before `done`; returns the number of decoded bytes, 0 where
// there is no escape. `positions` has room for one more than `out`.
inline std::size_t decode_escapes(Bytes text, std::size_t mark, std::size_t done, Byte* out, std::uint16_t* positions,
                                  Stretch* stretch) noexcept {
  Byte value = 0;
  if (escape_at(text, mark, text.size, &value) == 0) return 0;
  std::size_t least = mark > escaped_before ? mark - escaped_before : 0;
  if (done > escaped_overlap && least < done - escaped_overlap) least = done - escaped_overlap;
  std::size_t start = mark;
  while (start > least && text[start - 1] != '\n') --start;
  const std::size_t limit = least_of(text.size, start + escaped_room);
  const void* const line = std::memchr(text.data + mark, '\n', limit - mark);
  const std::size_t end =
      line == nullptr ? limit : static_cast<std::size_t>(static_cast<const Byte*>(line) - text.data);
  std::size_t count = 0;
  for (std::size_t at = start; at < end; ++count) {
    positions[count] = static_cast<std::uint16_t>(at - start);
    const std::size_t size = escape_at(text, at, end, &value);
    out[count] = size == 0 ? text[at] : value;
    at += size == 0 ? 1 : size;
  }
  positions[count] = static_cast<std::uint16_t>(end - start);
  *stretch = {start, end, positions};
  return count;
}

// Value of a sign of base64, in either alphabet, 64 for none.
inline std::uint32_t base64_value(Byte c) noexcept {
  if (is_upper(c)) return static_cast<std::uint32_t>(c - 'A');
  if (is_lower(c)) return 26u + static_cast<std::uint32_t>(c - 'a');
  if (is_digit(c)) return 52u + static_cast<std::uint32_t>(c - '0');
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : 64;
}

inline bool is_text(Byte c) noexcept { return (c >= 0x20 && c < 0x7F) || (c >= '\t' && c <= '\r'); }

// Length of the end of a line at `at`, also one that is escaped; 0 for none.
inline std::size_t line_end_at(Bytes text, std::size_t at) noexcept {
  if (byte_at(text, at) == '\n') return 1;
  if (matches_at(text, at, "\r\n")) return 2;
  if (matches_at(text, at, "\\r\\n")) return 4;
  return matches_at(text, at, "\\n") ? 2 : 0;
}

// Where the next line of base64 begins after one of `width` signs, 0 where none follows.
inline std::size_t next_line(Bytes text, std::size_t at, std::size_t width) noexcept {
  const std::size_t size = line_end_at(text, at);
  if (size == 0) return 0;
  const std::size_t start = skip_blanks(text, at + size, 16);
  std::size_t end = start;
  while (end < text.size && end - start <= width && is_base64_sign(text[end])) ++end;
  if (end == start || end - start > width) return 0;
  for (int i = 0; i < 2 && byte_at(text, end) == '='; ++i) ++end;
  return end == text.size || one_of(text[end], "\r\n\"'\\`< \t") ? start : 0;
}

// Decodes the base64 whose twenty-fourth sign is at `mark`; returns the number of bytes, 0 if they are no text.
inline std::size_t decode_blob(Bytes text, std::size_t mark, Byte* out, Stretch* stretch) noexcept {
  std::size_t start = mark + 1 - least_blob;
  while (!is_alnum(text[start]) && start < mark) ++start;
  *stretch = {start, mark + 1, nullptr};
  // Twelve bytes tell text from nearly all else.
  if (text.size - start < 16) return 0;
  for (std::size_t i = start; i < start + 16; i += 4) {
    std::uint32_t bits = 0;
    for (std::size_t k = i; k < i + 4; ++k) {
      const std::uint32_t value = base64_value(text[k]);
      if (value > 63) return 0;
      bits = bits << 6 | value;
    }
    if (!is_text(static_cast<Byte>(bits >> 16)) || !is_text(static_cast<Byte>(bits >> 8)) ||
        !is_text(static_cast<Byte>(bits))) {
      return 0;
    }
  }
  std::size_t at = start;
  std::size_t signs = 0;
  std::size_t line = 0;
  std::size_t width = 0;
  std::size_t count = 0;
  std::size_t controls = 0;
  std::size_t high = 0;
  std::uint32_t bits = 0;
  while (at < text.size) {
    std::uint32_t value = base64_value(text[at]);
    if (value > 63 && text[at] == '\\' && byte_at(text, at + 1) == '/') {
      value = 63;
      ++at;
    }
    if (value > 63) {
      const std::size_t length = signs - line;
      if (width == 0 ? length < 48 || length > 128 || length % 4 != 0 : length != width) break;
      const std::size_t next = next_line(text, at, length);
      if (next == 0) break;
      width = length;
      line = signs;
      at = next;
      continue;
    }
    ++at;
    bits = (bits & 0xFFFFu) << 6 | value;
    if (signs++ % 4 == 0 || signs > blob_signs) continue;
    const Byte byte = static_cast<Byte>(bits >> (6 - 2 * ((signs - 1) % 4)));
    out[count++] = byte;
    high += byte >= 0x80;
    controls += byte < 0x80 && !is_text(byte);
  }
  for (int i = 0; i < 2; ++i) {
    if (byte_at(text, at) == '=') {
      ++at;
    } else if (folded_at(text, at, "%3d")) {
      at += 3;
    } else if (folded_at(text, at, "\\u003d")) {
      at += 6;
    }
  }
  stretch->end = at;
  return signs > blob_signs || 16 * controls > count || 3 * high > count ? 0 : count;
}

}  // namespace tipstaff::secrets

#endif
