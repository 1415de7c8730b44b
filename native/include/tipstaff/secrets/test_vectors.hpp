// Blocks of test vectors of cryptography: lines such as `Secret = 1c0a...`.
#ifndef TIPSTAFF_SECRETS_TEST_VECTORS_HPP
#define TIPSTAFF_SECRETS_TEST_VECTORS_HPP

#include <cstddef>

#include "tipstaff/secrets/names.hpp"
#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

// Whether a line gives hexadecimal digits, or a hash of a password, to what only a test of cryptography names
// (Ciphertext = 8c3c4432, Passhash = $2a$05$...), or sets what only a test of it sets: PeerKey=BOB. `spaced`: both count.
inline bool is_vector_line(Bytes line, bool spaced, const Knowledge& known) noexcept {
  const std::size_t start = skip_blanks(line, 0, 8);
  std::size_t at = start;
  bool dotted = false;
  while (at < line.size && (is_namely(line[at]) || line[at] == '.')) dotted |= line[at++] == '.';
  const Bytes name = line.part(start, at);
  at = skip_blanks(line, at, 24);
  if (name.size == 0 || byte_at(line, at) != '=') return false;
  if (parts_hold(name, known.list(vector_labels))) return true;
  if (!spaced || dotted) return false;
  at = skip_blanks(line, at + 1, 8);
  if (byte_at(line, at) == '$') return is_digit(byte_at(line, at + 1)) && parts_hold(name, known.list(vector_names));
  if (matches_at(line, at, "0x")) at += 2;
  const std::size_t digits = at;
  while (at < line.size && is_hex(line[at])) ++at;
  return at - digits >= 2 && skip_blanks(line, at, 8) == line.size && parts_hold(name, known.list(vector_names));
}

inline constexpr std::size_t vector_lines = 3, vector_reach = 4096;

// Whether a line `Secret = 1c0a...` is one of a block of test vectors: one of the three lines before or after it, up to an
// empty one, is about cryptography alone.
inline bool is_vector(Bytes text, std::size_t head, const Value& value, bool spaced, const Knowledge& known) noexcept {
  if (value.quoted || value.end - value.start < 6) return false;
  // PrivateKey=ALICE_P256, and then the key.
  if (matches_at(text, value.end, "\n-----BEGIN ") || matches_at(text, value.end, "\r\n-----BEGIN ")) return true;
  std::size_t at = value.start;
  while (at < value.end && at - value.start < 12 && is_lower(text[at])) ++at;
  at = at - value.start >= 3 && at < value.end && text[at] == ':' ? at + 1 : value.start;  // hexsecret:1c0a
  if (matches_at(text, at, "0x")) at += 2;
  while (at < value.end && is_hex(text[at])) ++at;
  if (at < value.end) return false;
  std::size_t begin = head;
  while (begin > 0 && head - begin < 8 && is_blank(text[begin - 1])) --begin;
  if (begin > 0 && text[begin - 1] != '\n') return false;
  at = skip_blanks(text, value.end, 8);
  for (std::size_t line = 0; line < vector_lines; ++line) {
    if (byte_at(text, at) == '\r') ++at;
    if (byte_at(text, at) != '\n') break;
    const std::size_t start = ++at;
    while (at < text.size && at - start < vector_reach && !is_line(text[at])) ++at;
    if (at == start) break;
    if (is_vector_line(text.part(start, at), spaced, known)) return true;
  }
  for (std::size_t line = 0; line < vector_lines && begin > 0 && text[begin - 1] == '\n'; ++line) {
    std::size_t end = begin - 1;
    if (end > 0 && text[end - 1] == '\r') --end;
    begin = end;
    while (begin > 0 && end - begin < vector_reach && !is_line(text[begin - 1])) --begin;
    if (begin == end) break;
    if (is_vector_line(text.part(begin, end), spaced, known)) return true;
  }
  return false;
}

inline constexpr std::size_t fields_reach = 640, least_fields = 2, least_field = 16;

// Whether what ends before `at` is a name of cryptography, and a sign: "skRm": "4612c5...".
inline bool is_vector_field(Bytes text, std::size_t at, std::size_t least, const Knowledge& known) noexcept {
  least = least_of(at, least > at - least_of(at, 64) ? least : at - least_of(at, 64));
  const auto back = [&](std::size_t most) noexcept {
    while (at > least && most-- > 0 && is_blank(text[at - 1])) --at;
  };
  const auto quote = [&]() noexcept { at -= at > least && one_of(text[at - 1], "\"'"); };
  quote();
  back(8);
  if (at == least || !one_of(text[at - 1], "=:")) return false;
  --at;
  back(8);
  quote();
  const std::size_t end = at;
  while (at > least && (is_namely(text[at - 1]) || text[at - 1] == '.')) --at;
  return at < end && end - at <= 40 && parts_hold(text.part(at, end), known.list(field_names));
}

// Whether two fields near a value give 16 hexadecimal digits or more to names of cryptography.
inline bool is_near_vectors(Bytes text, std::size_t head, const Value& value, const Knowledge& known) noexcept {
  const std::size_t start = value.start + (matches_at(text, value.start, "0x") ? 2 : 0);
  const std::size_t least = head - least_of(head, fields_reach), limit = least_of(text.size, value.end + fields_reach);
  std::size_t found = 0;
  for (std::size_t at = least; at < limit && found < least_fields; ++at) {
    std::size_t end = at;
    while (end < limit && is_namely(text[end])) ++end;
    if (end - at >= least_field && at != value.start && at != start) {
      const std::size_t begin = at + (matches_at(text, at, "0x") ? 2 : 0);
      if (end - begin >= least_field && is_hexadecimal(text.part(begin, end))) found += is_vector_field(text, at, least, known);
    }
    at = end;
  }
  return found >= least_fields;
}

// Whether a value of 16 hexadecimal digits or more is one of a set: "skRm" beside "pkRm", "enc" and "ct".
inline bool is_among_vectors(Bytes text, std::size_t head, const Value& value, const Knowledge& known) noexcept {
  const std::size_t start = value.start + (matches_at(text, value.start, "0x") ? 2 : 0);
  return value.end - start >= least_field && value.end > start && is_hexadecimal(text.part(start, value.end)) &&
         is_near_vectors(text, head, value, known);
}

}  // namespace tipstaff::secrets

#endif
