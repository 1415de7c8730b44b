// What only fills the place of a secret: labels, descriptions, passwords that everybody knows.
#ifndef TIPSTAFF_SECRETS_SAMPLES_HPP
#define TIPSTAFF_SECRETS_SAMPLES_HPP

#include <cstddef>

#include "tipstaff/secrets/forms.hpp"

namespace tipstaff::secrets {

// Whether it is code between two strings, as in "token: " + name + ".".
inline bool is_between_strings(Bytes data) noexcept {
  const Byte first = data[0], last = data[data.size - 1];
  if (first == ' ' || last == ' ' || holds(data, " = ")) return true;
  if (first == '-' && data[1] == '-') {  // an option, and no token in the alphabet of addresses
    const Counts counts = counts_of(data);
    return data.size < 32 || counts.lower < 3 || counts.upper < 3 || counts.digit < 3;
  }
  if (last == '"' && one_of(data[data.size - 2], "\"")) return true;  // 16s=b""
  if (last == ']' && one_of(data[data.size - 2], "\"'")) return true;  // self["size"]
  if (!one_of(first, "+,)]};|&=.>")) return false;
  if (one_of(last, "+([{,.")) return true;
  if (first == '.') return false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (data[i] == '(' || (i > 0 && data[i] == ' ')) return true;
  }
  return false;
}

// Whether it is a text that a person reads beside a field: Neues Passwort:, Enter the new one.
inline bool is_label(Bytes data, std::size_t digits) noexcept {
  std::size_t blanks = 0, foreign = 0;
  for (std::size_t i = 0; i < data.size; ++i) {
    foreign += data[i] >= 0xC2 && data[i] <= 0xEF;  // letters of other languages
    blanks += data[i] == ' ';
  }
  if (foreign > 0 && (digits == 0 || foreign >= 4 || blanks > 0)) return true;
  if (digits > (blanks >= 3 ? 2u : 0u)) return false;
  const Byte last = data[data.size - 1];
  if (last == ':') return true;
  if (blanks >= 4) return true;
  if (blanks == 0 || !(is_upper(data[0]) || one_of(last, ".!?,"))) return false;
  for (std::size_t at = 0; at < data.size;) {
    if (!is_letter(data[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    at = piece_end(data, at);
    if (at - start >= 3 && is_pronounceable(data.part(start, at))) return true;
  }
  return false;
}

// Whether a value only says what would be there (refresh_token, read:members), or is a name or a number of something
// else: OAUTH2_JWT, a UUID, an object identifier.
inline bool is_descriptive(Bytes data, const Value& value, const Counts& counts, const Knowledge& known) noexcept {
  if (is_uuid(data) || is_identifier(data, value, counts)) return true;
  if (counts.lower + counts.upper == 0) {
    std::size_t dots = 0;
    for (std::size_t i = 0; i < data.size; ++i) dots += data[i] == '.';
    if (dots >= 2) return true;
  }
  std::size_t end = data.size;
  while (end > 0 && data.size - end < 6 && (is_digit(data[end - 1]) || one_of(data[end - 1], "!?."))) --end;
  if (end == 0 || is_sequence(data.part(0, end))) return false;
  for (std::size_t i = 0; i < end; ++i) {
    if (is_digit(data[i])) return false;
  }
  if (known.list(plain_value).within(data)) return true;
  if (end < data.size) return false;
  bool joined = false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (!is_namely(data[i]) && !one_of(data[i], ".:-")) return false;
    joined = joined || (i > 0 && i + 1 < data.size && one_of(data[i], ".:"));
  }
  return joined && is_wordy(data);
}

// Digits and signs that stand for letters: s3cret, p@ssw0rd.
inline Byte unmasked(Byte c) noexcept {
  switch (c) {
    case '0': return 'o';
    case '1': return 'i';
    case '3': return 'e';
    case '4': case '@': return 'a';
    case '5': case '$': return 's';
    case '7': return 't';
    default: return lower(c);
  }
}

inline constexpr std::size_t longest_known = 24;

// Whether digits are one at most, or count up from 0 or 1 or down to 1.
inline bool is_counted(Bytes digits) noexcept {
  const std::size_t size = digits.size;
  if (size <= 1) return true;
  const bool up = digits[0] <= '1', down = size >= 3 && digits[size - 1] == '1' && digits[0] == '0' + size;
  if (!up && !down) return false;
  for (std::size_t i = 1; i < size; ++i) {
    if (digits[i] != (up ? digits[i - 1] + 1 : digits[i - 1] - 1) || digits[i] > '9') return false;
  }
  return true;
}

// Whether everybody knows a password: secret, s3cret, secret123, passwd2, admin321.
inline bool is_known_password(Bytes data, const Knowledge& known) noexcept {
  const Words words = known.list(known_passwords);
  if (words.equals(data)) return true;
  if (data.size <= longest_known) {
    Byte folded[longest_known];
    for (std::size_t i = 0; i < data.size; ++i) folded[i] = unmasked(data[i]);
    if (words.equals({folded, data.size})) return true;
  }
  std::size_t end = data.size;
  while (end > 0 && is_digit(data[end - 1])) --end;
  return is_counted(data.part(end, data.size)) && words.equals(data.part(0, end));
}

// How many bytes an escape of a string takes at `at`, as in pass\u0000word, foo\x00bar or pass\0word; 0 for none.
inline std::size_t escape_size(Bytes data, std::size_t at) noexcept {
  if (data[at] != '\\' || at + 1 >= data.size) return 0;
  const std::size_t digits = data[at + 1] == 'u' ? 4 : data[at + 1] == 'x' ? 2 : 0;
  if (digits == 0) return data[at + 1] == '0' ? 2 : 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (at + 2 + i >= data.size || !is_hex(data[at + 2 + i])) return 0;
  }
  return 2 + digits;
}

// Whether there is next to nothing in it but escapes, or a known password, or, of a string's escapes, letters
// alone: %F0%9F%92%A9, p%40ss, verschl\u00fcsselt.
inline bool is_mostly_escapes(Bytes data, const Knowledge& known) noexcept {
  Byte bare[longest_known];
  std::size_t size = 0, escapes = 0, strings = 0, letters = 0, step = 0;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (data[i] == '%' && i + 2 < data.size && is_hex(data[i + 1]) && is_hex(data[i + 2])) {
      ++escapes;
      i += 2;
    } else if ((step = escape_size(data, i)) != 0) {
      ++strings;
      i += step - 1;
    } else if (is_alnum(data[i])) {
      if (size == longest_known) return false;
      letters += is_letter(data[i]);
      bare[size++] = data[i];
    }
  }
  if (escapes + strings == 0) return false;
  if (size < 4 || is_known_password({bare, size}, known)) return true;
  return strings > 0 && letters == size;
}

// Whether a short value reads as one of the words of samples: Exampl3Pass. What is no password must be made of words
// throughout: an0th3r_t0k3n.
inline bool reads_as_sample(Bytes data, bool password, const Knowledge& known) noexcept {
  if (data.size > longest_known) return false;
  Byte folded[longest_known];
  for (std::size_t i = 0; i < data.size; ++i) folded[i] = unmasked(data[i]);
  const Bytes text = {folded, data.size};
  if (password) return known.list(plain_value).within(text) || is_known_password(data, known);
  const Spoken spoken(text);
  return 10 * spoken.pronounceable >= 9 * spoken.letters && known.list(plain_value).within(text);
}

// Decodes base64 up to its first invalid character, or `capacity` bytes; returns their number.
inline std::size_t decode_base64(Bytes data, Byte* out, std::size_t capacity) noexcept {
  std::size_t count = 0;
  std::uint32_t bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    std::uint32_t value;
    if (is_upper(c)) {
      value = c - 'A';
    } else if (is_lower(c)) {
      value = 26u + (c - 'a');
    } else if (is_digit(c)) {
      value = 52u + (c - '0');
    } else if (c == '+') {
      value = 62;
    } else if (c == '/') {
      value = 63;
    } else {
      break;
    }
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) {
      if (count == capacity) break;
      held -= 8;
      out[count++] = static_cast<Byte>(bits >> held);
      bits &= (1u << held) - 1;
    }
  }
  return count;
}

// Whether it is base64 of what reads as a sample: encrypted-password, AWS:123456789012-token.
inline bool encodes_sample(Bytes data, const Knowledge& known) noexcept {
  std::size_t end = data.size;
  while (end > 0 && data.size - end < 2 && data[end - 1] == '=') --end;
  if (data.size < 8 || data.size > 120) return false;
  for (std::size_t i = 0; i < end; ++i) {
    if (!is_alnum(data[i]) && !one_of(data[i], "+/")) return false;
  }
  Byte buffer[90];
  std::size_t size = decode_base64(data, buffer, sizeof buffer);
  while (size > 0 && is_line(buffer[size - 1])) --size;
  std::size_t start = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (buffer[i] < 0x20 || buffer[i] >= 0x7F) return false;
    if (buffer[i] == ':') start = i + 1;
  }
  const Bytes text = {buffer + start, size - start};
  std::size_t digits = 0;
  while (digits < text.size && is_digit(text[digits])) ++digits;
  if (is_sequence(text) || (digits > 0 && digits == text.size)) return true;
  const Spoken spoken(text);
  return spoken.letters >= 4 && 10 * spoken.pronounceable >= 7 * spoken.letters &&
         (spoken.digits == 0 || known.list(plain_value).within(text));
}

}  // namespace tipstaff::secrets

#endif
