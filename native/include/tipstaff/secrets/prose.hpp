// Reading the value of a name in what people write: `the password is x`, in any language.
//
// Reaches are bounded, nothing goes back.
#ifndef TIPSTAFF_SECRETS_PROSE_HPP
#define TIPSTAFF_SECRETS_PROSE_HPP

#include <cstddef>
#include <cstring>

#include "tipstaff/secrets/assigned_values.hpp"

namespace tipstaff::secrets {

inline bool is_wide_sign(Bytes text, std::size_t at) noexcept { return matches_at(text, at, "：") || matches_at(text, at, "＝"); }

// What follows a quote at `at` that is not ASCII and opens.
inline std::size_t after_opening(Bytes text, std::size_t at) noexcept {
  if (byte_at(text, at) < 0x80) return at;
  for (const char* const mark : {"「", "『", "“", "„", "‘", "«", "»"}) {
    if (matches_at(text, at, mark)) return at + std::strlen(mark);
  }
  return at;
}

inline constexpr std::size_t prose_reach = 96, prose_words = 12, tick_reach = 100;

// Where the value begins after a copula that a language joins to the name, 0 where none is: 密码是x.
inline std::size_t joined_copula(Bytes text, std::size_t at, const Words& words) noexcept {
  if (matches_at(text, at, "（")) {  // パスワード（本番）：x
    const std::size_t limit = least_of(text.size, at + tick_reach);
    while (at < limit && text[at] != '\n' && !(at + 3 <= limit && matches_at(text, at, "）"))) ++at;
    if (at >= limit || text[at] == '\n') return 0;
    const std::size_t sign = is_wide_sign(text, at + 3) ? 3 : byte_at(text, at + 3) == ':' ? 1 : 0;
    return sign == 0 ? 0 : skip_blanks(text, at + 3 + sign, 8);
  }
  const std::size_t copula = words.longest(text.part(at, text.size));
  if (copula == 0) return 0;
  at = skip_blanks(text, at + copula, 4);
  at += is_wide_sign(text, at) ? 3 : byte_at(text, at) == ':' ? 1 : 0;
  return skip_blanks(text, at, 8);
}


// Whether a byte is part of a word of prose besides letters: of db-01.acme.io:5432.
inline bool joins(Bytes text, std::size_t at, std::size_t start) noexcept {
  return is_digit(text[at]) || (at > start && one_of(text[at], "._-/@:") && is_alnum(byte_at(text, at + 1)));
}

// Whether a word after a copula is no value: small letters, or a host, as in `password on db.acme.io is x`.
inline bool is_plain_word(Bytes text, std::size_t start, std::size_t end) noexcept {
  bool host = false;
  for (std::size_t i = start; i < end; ++i) {
    if (!is_lower(text[i]) && !is_digit(text[i]) && !one_of(text[i], "._-/@:")) return false;
    host = host || text[i] == '.';
  }
  return end > start && byte_at(text, end) == ' ' && (end - start < 16 || host);
}

// What follows the copulas after a colon: contraseña de root: ahora es x.
inline std::size_t after_copulas(Bytes text, std::size_t at, const Words& links) noexcept {
  for (int copulas = 0; copulas < 3; ++copulas) {
    std::size_t end = at;
    const std::size_t limit = least_of(text.size, at + 24);
    while (end < limit && (is_letter(text[end]) || text[end] >= 0x80)) ++end;
    if (byte_at(text, end) != ' ' || !links.equals(text.part(at, end))) break;
    at = skip_blanks(text, end, 4);
  }
  return at;
}

// Where the value begins of what people write: `password is x`, `password for the jump host: x`, `password (prod): x`,
// `password -> x`; 0 where none does. Letters may be of any language: `contraseña del servidor es x`.
inline std::size_t prose_value(Bytes text, std::size_t at, const Words& links) noexcept {
  const std::size_t limit = least_of(text.size, at + prose_reach);
  if (matches_at(text, at, "-> ")) return skip_blanks(text, at + 2, 8);
  if (text[at] == '(') {
    while (at < limit && text[at] != '\n' && !(at + 3 <= limit && matches_at(text, at, "): "))) ++at;
    return at < limit && text[at] != '\n' ? skip_blanks(text, at + 2, 8) : 0;
  }
  bool linked = false;
  const std::size_t first = at;
  for (std::size_t words = 0; words < prose_words; ++words) {
    const std::size_t start = at;
    while (at < limit && (is_letter(text[at]) || text[at] >= 0x80 || joins(text, at, start)) && !is_wide_sign(text, at)) ++at;
    if (start < limit && text[start] == ':' && start > first) {  // le mot de passe est : x
      return byte_at(text, start + 1) == ' ' ? skip_blanks(text, start + 1, 8) : 0;
    }
    const bool link = links.equals(text.part(start, at));
    if (linked && !link && !is_plain_word(text, start, at)) return start;
    if (at == start || at >= limit) return 0;
    if (text[at] == ':') return byte_at(text, at + 1) == ' ' ? after_copulas(text, skip_blanks(text, at + 1, 8), links) : 0;
    if (text[at] >= 0x80) return skip_blanks(text, at + 3, 8);
    if (text[at] != ' ') return 0;
    linked = link;
    at = skip_blanks(text, at, 4);
    if (matches_at(text, at, "-> ")) return skip_blanks(text, at + 2, 8);  // password for 10.1.2.3 -> x
  }
  return 0;
}

// A value in prose: a string, or up to the next blank without the signs that end a sentence. Letters that are not ASCII
// end it: they are those of the sentence, as in パスワードはxです.
inline bool read_prose(Bytes text, std::size_t at, Value* out) noexcept {
  at = after_opening(text, at);
  const std::size_t mark = quote_at(text, at);
  if (mark != 0) {
    const std::size_t end = quoted_end(text, at, mark);
    if (end == text.size || end == at + mark) return false;
    *out = {at + mark, end, true, true, true, true};
    return true;
  }
  std::size_t end = at;
  while (end < text.size && end - at < value_reach && !ends_value(text[end]) &&
         (text[end] < 0x80 || matches_at(text, end, "…"))) {
    ++end;
  }
  while (end > at && one_of(text[end - 1], ".:?")) --end;
  *out = {at, end, false, true, true, false, false, true};
  return end > at;
}

// Whether a value stands out as a password of letters in both cases, or with signs.
inline bool is_marked(Bytes text, const Value& value) noexcept {
  const Bytes data = text.part(value.start, value.end);
  return data.size >= 8 && stands_out(data, counts_of(data));
}

// The value after a word for a password that is not English, without any sign between: Kennwort x, пароль x, or later on
// the line in ticks: contraseña de root en 10.1.2.3: ahora es `x`.
inline bool foreign_value(Bytes text, Bytes name, std::size_t at, const Words& names, Value* out) noexcept {
  bool ascii = true;
  for (std::size_t i = 0; i < name.size; ++i) ascii = ascii && name[i] < 0x80;
  if (ascii && !names.equals(name)) return false;
  if (read_prose(text, at, out) && is_marked(text, *out)) return true;
  const std::size_t limit = least_of(text.size, at + tick_reach);
  while (at < limit && !one_of(text[at], "`\r\n")) ++at;
  return byte_at(text, at) == '`' && read_prose(text, at, out) && is_marked(text, *out);
}

}  // namespace tipstaff::secrets

#endif
