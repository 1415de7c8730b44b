// How an assigned value is judged: is it a secret, or a placeholder, a reference, a name?
//
// Everything is linear in the value.
#ifndef TIPSTAFF_SECRETS_VALUES_HPP
#define TIPSTAFF_SECRETS_VALUES_HPP

#include <cstddef>

#include "tipstaff/secrets/forms.hpp"
#include "tipstaff/secrets/samples.hpp"

namespace tipstaff::secrets {

inline bool is_password(Bytes data, const Value& value, const Counts& counts, bool random) noexcept {
  const std::size_t size = data.size;
  const int kinds = (counts.lower > 0) + (counts.upper > 0) + (counts.digit > 0) + (counts.other > 0);
  if (size < (value.quoted ? 6u : 8u) || size > 256) return false;
  std::size_t signs = 0;
  for (std::size_t i = 0; i < size; ++i) signs += !is_namely(data[i]) && !one_of(data[i], "-./:");
  const bool wordy = !random && is_wordy(data);
  if (!random && !value.quoted && is_name(data) && 4 * counts.changes < size) {
    // A name in a program, or a short password: where the form is a program's, it is a name.
    if (wordy && counts.digit < 2) return false;
    const bool mixed = counts.lower > 0 && counts.upper > 0 && 3 * counts.digit >= size;
    if (!mixed && !(value.tight && value.ends_line && counts.digit >= 2)) return false;
  }
  if (value.strict && kinds < 3 && size < 12) return false;
  if (counts.digit == 0) {
    if (signs >= 1 && kinds >= 3 && size >= 8) return true;
    if (signs == 0 && counts.upper == 0 && counts.other > 0) {  // roundcube-pgsql: a name of words that hyphens join
      const Spoken spoken(data);
      if (2 * spoken.pronounceable >= spoken.letters) return false;
    }
    return size >= 10 && !wordy && (kinds >= 2 || size >= 16);
  }
  if (wordy) {
    return size >= 8 && (counts.digit >= 2 || signs >= 1 || (counts.upper > 0 && counts.other > 0));
  }
  return kinds >= 2;
}

// Whether a word in prose is a password, and no name or number: two digits, letters, and capitals or signs; or a digit
// among letters of both cases that follow no word; or a sign within letters of both cases that are no words.
inline bool stands_out(Bytes data, const Counts& counts) noexcept {
  bool marks = false, within = false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (!one_of(data[i], "!@#$%^&*+?~")) continue;
    marks = true;
    within = within || (i > 0 && i + 1 < data.size);
  }
  if (counts.digit == 0 && data.size >= 10 && counts.lower >= 2 && counts.upper >= 2) return within && !is_wordy(data);
  if (counts.digit == 0 || counts.lower == 0 || (counts.upper == 0 && !marks)) return false;
  return counts.digit >= 2 || (data.size >= 10 && !is_wordy(data));
}

inline constexpr ByteSet token_signs("-.+/=~:%$!@#^&*?|,;");

inline bool is_token(Bytes data, const Value& value, const Counts& counts, Byte mode, bool random,
                     const Knowledge& known) noexcept {
  const std::size_t size = data.size;
  if (is_uuid(data)) return mode == judge_secret && counts.upper == 0;  // in capitals it is an identifier
  if (size < (value.quoted ? 12u : 16u) || size > 2048) return false;
  if (!random && (is_compound(data, counts) || is_wordy(data))) return false;
  bool dotted = false, hex = true;
  for (std::size_t i = 0; i < size; ++i) {
    if (!is_namely(data[i]) && !token_signs.has(data[i]) && !(value.quoted && size >= 40 && one_of(data[i], "()"))) return false;
    dotted |= data[i] == '.';
    hex = hex && is_hex(data[i]);
  }
  if (counts.digit == 0 && !random && !(size >= 16 && counts.lower > 0 && counts.upper > 0 && 3 * counts.changes >= size)) {
    return size >= 20 && entropy_holds(data, 249037, known);
  }
  if (!value.quoted && is_name(data) && dotted && 4 * counts.changes < size) return false;
  // Of random hexadecimal digits, ten of sixteen are digits.
  const std::size_t changes = (hex && size >= 32 ? 12 : 6) * counts.changes;
  return (random || changes >= size) && entropy_holds(data, size < 24 ? 176947 : 203162, known);
}

// Whether an assigned value is a secret.
inline bool judged(Bytes data, const Value& value, Byte mode, const Knowledge& known) noexcept {
  const bool wary = mode == judge_quoted || mode == judge_unquoted;
  if (data.size < 4 || data.size > (mode == judge_password ? 256u : 4096u)) return false;
  if (is_template(data) || is_reference(data, known) || is_sealed(data, mode == judge_token) || is_harmless(data)) return false;
  if (matches_at(data, 0, "&amp;") || matches_at(data, 0, "&lt;")) return false;  // what follows a tag
  if (value.strict && (matches_at(data, 0, "\\x") || is_setting(data) || is_call(data))) return false;
  if (value.strict && data[0] == '-' && (is_letter(data[1]) || data[1] == '{')) return false;  // pass '-{ld,gc}flags' to it
  if (is_acronyms(data) || is_application(data) || (value.prose && is_signed(data))) return false;
  if (mode == judge_password && matches_at(data, 0, "0x") && is_hexadecimal(data.part(2, data.size))) return false;  // a key, localized
  if (!value.quoted && matches_at(data, 0, "--")) return false;  // the next option
  if (!value.quoted) {
    if ((one_of(data[0], "!*&@") && is_marked_name(data)) || holds(data, "=>") || holds(data, "->")) return false;
    for (std::size_t i = 0; i < data.size; ++i) {
      if (one_of(data[i], "([{")) return false;
    }
    if (holds(data, "::")) return false;  // Convert::ASN1
    std::size_t comment = 1;  // #Password
    while (comment < data.size && is_letter(data[comment])) ++comment;
    if (data[0] == '#' && comment == data.size) return false;
    std::size_t option = 0;  // -PassThru -ErrorAction: the next option
    while (option < data.size && (is_letter(data[option]) || data[option] == '-')) ++option;
    if (data[0] == '-' && option == data.size) return false;
  } else if (is_between_strings(data) || (data[data.size - 1] == ')' && data[data.size - 2] == '(')) {
    return false;
  }
  if (wary) {
    if (known.list(obvious).within(data)) return false;
    if (value.quoted != (mode == judge_quoted)) return false;
    const Counts counts = counts_of(data);
    if (value.strict && counts.digit == 0) return false;  // "token", "oldNoLine": names in a list
    if (is_label(data, counts.digit) || is_descriptive(data, value, counts, known)) return false;
    if (mode == judge_unquoted && (counts.digit == 0 || counts.lower + counts.upper == 0)) return false;
    for (std::size_t i = 0; i < data.size; ++i) {
      if (!one_of(data[i], "*.-_xX# ")) return true;
    }
    return false;
  }
  for (std::size_t i = 0; i < data.size; ++i) {
    if (data[i] <= 0x20 || data[i] >= 0x7F) return false;
  }
  const Counts counts = counts_of(data);
  if (counts.lower + counts.upper == 0 || counts.distinct < 5) return false;
  if (value.quoted && counts.digit == 0 && data[data.size - 1] == ':') return false;
  if (mode != judge_password && (is_header(data, counts, 2) || is_dated(data))) return false;
  if (!value.quoted && (is_code(data, value, counts) || (counts.digit == 0 && is_dated(data)))) return false;
  const bool random = is_random(data, counts, known);
  if (value.prose && !random && !stands_out(data, counts)) return false;
  if (value.wrapped && (!random || is_hexadecimal(data))) return false;  // getString("password.label"), decode("1c0a")
  if (!random || counts.other > 0) {
    if (is_name_like(data, counts.digit, value.strict, mode != judge_password)) return false;
    if (is_identifier(data, value, counts)) return false;
  }
  if (!(mode == judge_password ? is_password(data, value, counts, random)
                               : is_token(data, value, counts, mode, random, known))) {
    return false;
  }
  // The dearer looks come last; all of them must agree.
  return !is_repeated(data) && !is_sequence(data) && !known.list(placeholder).within(data) &&
         (random || (!known.list(plain_value).within(data) && !reads_as_sample(data, mode == judge_password, known))) &&
         !encodes_sample(data, known) && !is_mostly_escapes(data, known);
}

}  // namespace tipstaff::secrets

#endif
