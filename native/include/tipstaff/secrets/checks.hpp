// What a secret says about itself: checksums at its end, and what its base64 holds.
#ifndef TIPSTAFF_SECRETS_CHECKS_HPP
#define TIPSTAFF_SECRETS_CHECKS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

inline std::uint32_t crc32_of(Bytes data) noexcept {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 0; i < data.size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

// Value of a digit as tokens count with them, 62 for none.
inline std::uint32_t base62_digit(Byte c) noexcept {
  if (is_digit(c)) return c - '0';
  if (is_upper(c)) return 10u + (c - 'A');
  if (is_lower(c)) return 36u + (c - 'a');
  return 62;
}

// 1: six base-62 digits at the end are the CRC-32 of what is between the first underscore and them;
// 2: eight hexadecimal digits after the last underscore are that of all before it.
inline bool checksum_holds(Bytes token, Byte kind) noexcept {
  std::size_t sign = 0;
  if (kind == 1) {
    while (sign < token.size && token[sign] != '_') ++sign;
    const std::size_t start = sign < token.size ? sign + 1 : 0;
    if (token.size < start + 6) return false;
    std::uint64_t number = 0;
    for (std::size_t i = token.size - 6; i < token.size; ++i) {
      const std::uint32_t digit = base62_digit(token[i]);
      if (digit > 61) return false;
      number = number * 62 + digit;
    }
    return number == crc32_of(token.part(start, token.size - 6));
  }
  sign = token.size;
  while (sign > 0 && token[sign - 1] != '_') --sign;
  if (sign == 0 || token.size - sign != 8) return false;
  std::uint32_t number = 0;
  for (std::size_t i = sign; i < token.size; ++i) {
    const Byte c = static_cast<Byte>(token[i] | 0x20);
    if (!is_hex(token[i])) return false;
    number = number << 4 | static_cast<std::uint32_t>(is_digit(token[i]) ? c - '0' : c - 'a' + 10);
  }
  return number == crc32_of(token.part(0, sign - 1));
}

// Whether it is a sample by its letters: b=ar, USER_ID, secret_dsn. Escapes are read as what they stand for.
inline bool is_trivial(Bytes data, const Knowledge& known) noexcept {
  Byte plain[longest_known];
  std::size_t size = 0;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (size == longest_known) return false;
    const bool escape = data[i] == '%' && i + 2 < data.size && is_hex(data[i + 1]) && is_hex(data[i + 2]);
    plain[size++] = escape ? static_cast<Byte>(hex_digit(data[i + 1]) << 4 | hex_digit(data[i + 2])) : data[i];
    if (escape) i += 2;
  }
  const Bytes text = {plain, size};
  const Counts counts = counts_of(text);
  if (counts.digit > 0) return false;
  return counts.lower == 0 || is_known_password(text, known) || (counts.upper == 0 && (size < 9 || known.list(plain_value).within(text)));
}

// Whether the password of an address, or of a pair, is a secret and not one that everybody has.
inline bool address_password_holds(Bytes password, Bytes user, const Knowledge& known) noexcept {
  if (password.size < 4 || is_template(password) || (password[0] == '$' && is_letter(password[1]))) return false;
  for (std::size_t i = 0; i < password.size; ++i) {
    if (password[i] < 0x20) return false;
  }
  if (password.size == user.size) {
    std::size_t i = 0;
    while (i < user.size && lower(user[i]) == lower(password[i])) ++i;
    if (i == user.size) return false;
  }
  if (is_repeated(password) || is_sequence(password) || known.list(placeholder).within(password) ||
      is_known_password(password, known) || is_mostly_escapes(password, known) || is_trivial(password, known)) {
    return false;
  }
  const Counts counts = counts_of(password);
  if (counts.lower + counts.upper == 0 || counts.distinct < 4) return false;
  if (is_random(password, counts, known)) return true;
  if (counts.digit + counts.other == 0) return password.size >= 12 && !is_wordy(password);
  return !(counts.digit == 0 && is_wordy(password));
}

// Whether it is made as passwords are made by programs, so that it is one whatever host it is for.
inline bool is_mixed(Bytes password, const Knowledge& known) noexcept {
  const Counts counts = counts_of(password);
  return is_random(password, counts, known) ||
         (password.size >= 10 && counts.lower != 0 && counts.upper != 0 && counts.digit != 0 && !is_wordy(password));
}

// Whether the host that begins at `at` is one that standards keep for documentation: db.example.com, mail.example.
inline bool is_sample_host(Bytes text, std::size_t at, const Knowledge& known) noexcept {
  const std::size_t most = least_of(text.size, at + 256);
  std::size_t end = at;
  while (end < most && (is_alnum(text[end]) || text[end] == '-' || text[end] == '.')) ++end;
  while (end > at && text[end - 1] == '.') --end;
  const Words words = known.list(sample_hosts);
  std::size_t start = end;
  for (int parts = 0; parts < 2 && start > at; ++parts) {
    start -= parts;
    while (start > at && text[start - 1] != '.') --start;
    if (words.equals(text.part(start, end))) return true;
  }
  return false;
}

// Whether base64 says a name, a colon and a password that is no placeholder.
inline bool says_pair(Bytes secret, const Knowledge& known) noexcept {
  Byte buffer[320];
  const Bytes text = {buffer, decode_base64(secret.part(0, secret.size < 400 ? secret.size : 400), buffer, 320)};
  std::size_t colon = 0;
  while (colon < text.size && text[colon] != ':') ++colon;
  if (colon == text.size || text.size - colon - 1 < 4) return false;
  for (std::size_t i = 0; i < text.size; ++i) {
    if (text[i] < 0x20 || text[i] >= 0x7F) return false;
  }
  return address_password_holds(text.part(colon + 1, text.size), text.part(0, colon), known);
}

}  // namespace tipstaff::secrets

#endif
