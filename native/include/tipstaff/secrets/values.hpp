// How an assigned value is judged: is it a secret, or a placeholder, a reference, a name?
//
// `tipstaff.kernels.plain.values` says the same in Python. Everything is linear in the value.
#ifndef TIPSTAFF_SECRETS_VALUES_HPP
#define TIPSTAFF_SECRETS_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/secrets/bytes.hpp"
#include "tipstaff/secrets/words.hpp"

namespace tipstaff::secrets {

// A value, and how it is in the text; see the Python twin.
struct Value {
  std::size_t start = 0;
  std::size_t end = 0;
  bool quoted = false;
  bool tight = false;
  bool ends_line = false;
  bool strict = false;
};

struct Counts {
  std::size_t lower = 0, upper = 0, digit = 0, other = 0, distinct = 0, changes = 0;
};

inline Counts counts_of(Bytes data) noexcept {
  Counts counts;
  std::uint64_t seen[4] = {0, 0, 0, 0};
  int last = -1;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    int kind = 3;
    if (is_lower(c)) {
      kind = 0;
      ++counts.lower;
    } else if (is_upper(c)) {
      kind = 1;
      ++counts.upper;
    } else if (is_digit(c)) {
      kind = 2;
      ++counts.digit;
    } else {
      ++counts.other;
    }
    counts.changes += last >= 0 && last != kind;
    last = kind;
    seen[c >> 6] |= std::uint64_t{1} << (c & 63);
  }
  for (const std::uint64_t word : seen) counts.distinct += static_cast<std::size_t>(__builtin_popcountll(word));
  return counts;
}

// Whether the entropy of the first 1024 bytes is at least `least`, in 1/65536 bits per byte.
inline bool entropy_holds(Bytes data, std::uint32_t least, const Knowledge& known) noexcept {
  const std::size_t size = data.size < log_count - 1 ? data.size : log_count - 1;
  if (least == 0 || size == 0) return least == 0;
  std::uint16_t histogram[256] = {};
  for (std::size_t i = 0; i < size; ++i) ++histogram[data[i]];
  std::uint64_t spent = 0;
  for (const std::uint16_t n : histogram) {
    if (n != 0) spent += n * known.log(n);
  }
  const std::uint64_t whole = size * known.log(size);
  return whole >= spent && whole - spent >= std::uint64_t{least} * size;
}

inline bool is_repeated(Bytes data) noexcept {
  const std::size_t size = data.size;
  std::size_t longest = 1;
  std::size_t run = 1;
  for (std::size_t i = 1; i < size; ++i) {
    run = data[i] == data[i - 1] ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  if ((longest >= 6 && 4 * longest >= size) || longest >= 12) return true;
  if (size < 4) return false;
  for (std::size_t period = 1; period <= 32 && 2 * period <= size; ++period) {
    if (std::memcmp(data.data, data.data + period, size - period) == 0) return true;
  }
  return false;
}

inline bool is_sequence(Bytes data) noexcept {
  std::size_t longest = 1;
  std::size_t run = 1;
  for (std::size_t i = 1; i < data.size; ++i) {
    run = data[i] == data[i - 1] + 1 ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  return longest >= 6 && 3 * longest >= data.size;
}

inline bool is_spoken(Bytes piece) noexcept {
  std::size_t vowels = 0;
  std::size_t run = 0;
  std::size_t longest = 0;
  bool last = false;
  for (std::size_t i = 0; i < piece.size; ++i) {
    if ((piece[i] | 0x20) == 'q' && !(i + 1 < piece.size && (piece[i + 1] | 0x20) == 'u')) return false;
    const bool vowel = is_vowel(piece[i]);
    vowels += vowel;
    run = vowel == last ? run + 1 : 1;
    last = vowel;
    if (run > longest) longest = run;
  }
  return vowels > 0 && longest <= 4 && 6 * vowels >= piece.size;
}

// Where the piece of a name ends that begins with the letter at `at`: capitals, or a word.
inline std::size_t piece_end(Bytes data, std::size_t at) noexcept {
  const std::size_t start = at++;
  if (is_upper(data[start]) && at < data.size && is_upper(data[at])) {
    while (at < data.size && is_upper(data[at])) ++at;
  } else {
    while (at < data.size && is_lower(data[at])) ++at;
  }
  return at;
}

// That a capital begins a word is not a change of kinds.
inline bool is_wordy(Bytes data) noexcept {
  std::size_t capitals = 0;
  for (std::size_t i = 0; i + 1 < data.size; ++i) capitals += is_upper(data[i]) && is_lower(data[i + 1]);
  if (3 * (counts_of(data).changes - capitals) >= data.size) return false;
  std::size_t letters = 0;
  std::size_t spoken = 0;
  std::size_t digits = 0;
  std::size_t at = 0;
  while (at < data.size) {
    if (!is_letter(data[at])) {
      digits += is_digit(data[at]);
      ++at;
      continue;
    }
    const std::size_t start = at;
    at = piece_end(data, at);
    letters += at - start;
    if (at - start >= 3 && is_spoken(data.part(start, at))) spoken += at - start;
  }
  return 5 * digits <= data.size && letters > 0 && 10 * spoken >= 7 * letters;
}

inline bool is_uuid(Bytes data) noexcept {
  if (data.size != 36) return false;
  for (std::size_t i = 0; i < 36; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? data[i] != '-' : !is_hex(data[i])) return false;
  }
  return true;
}

// Whether a sign is within that marks a placeholder: one of ${ $( {{ }} <% %> #{ %s ... *** ://
// and an ellipsis.
inline bool holds_template_sign(Bytes data) noexcept {
  static constexpr std::uint64_t first[4] = {0x1400443800000000u, 0x2800000000000000u, 0, 0x0000000400000000u};
  for (std::size_t i = 0; i + 1 < data.size; ++i) {
    const Byte c = data[i];
    if ((first[c >> 6] >> (c & 63) & 1) == 0) continue;
    const Byte next = data[i + 1];
    const Byte third = i + 2 < data.size ? data[i + 2] : Byte{0};
    switch (c) {
      case '$': if (next == '{' || next == '(') return true; break;
      case '{':
      case '}': if (next == c) return true; break;
      case '<': if (next == '%') return true; break;
      case '%': if (next == '>' || next == 's') return true; break;
      case '#': if (next == '{') return true; break;
      case '.':
      case '*': if (next == c && third == c) return true; break;
      case ':': if (next == '/' && third == '/') return true; break;
      default: if (next == 0x80 && third == 0xA6) return true;
    }
  }
  return false;
}

inline bool is_template(Bytes data) noexcept {
  const Byte first = data[0];
  const Byte last = data[data.size - 1];
  if (first == '$' && data.size > 1 && (is_namely(data[1]) || data[1] == '{' || data[1] == '(')) return true;
  if ((first == '<' && last == '>') || (first == '%' && last == '%') || (first == '{' && last == '}') ||
      (first == '[' && last == ']') || (first == '(' && last == ')')) {
    return true;
  }
  if (holds_template_sign(data)) return true;
  std::size_t opened = 0;
  while (opened < data.size && data[opened] != '{') ++opened;
  std::size_t closed = opened;
  while (closed < data.size && data[closed] != '}') ++closed;
  if (closed < data.size && closed > opened + 1) {
    for (std::size_t i = opened + 1; i < closed; ++i) {
      if (!is_namely(data[i]) && !one_of(data[i], ".[]")) return false;
    }
    return true;
  }
  return false;
}

// Whether it says where something is, by its form alone: /go/src/app, doc/man3/open.3, Symfony\Component, www.acme.io:443.
inline bool is_location(Bytes data) noexcept {
  std::size_t slashes = 0, digits = 0, colons = 0, last_colon = 0;
  bool back = false, dot = false, ending = false;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    if (!is_namely(c) && !one_of(c, "/\\.-:")) return false;
    slashes += c == '/';
    ending = (ending && c != '/') || c == '.';
    digits += is_digit(c);
    back = back || c == '\\';
    dot = dot || (c == '.' && colons == 0);
    if (c == ':') {
      ++colons;
      last_colon = i;
    }
  }
  if (slashes >= 2 && (ending || (data[0] == '/' && digits == 0))) return true;
  if (back && slashes == 0 && (data[0] == '\\' || is_upper(data[0]))) return digits == 0;
  if (colons != 1 || !dot || data.size - last_colon < 3 || data.size - last_colon > 6) return false;
  for (std::size_t i = last_colon + 1; i < data.size; ++i) {
    if (!is_digit(data[i])) return false;
  }
  return true;
}

inline bool is_reference(Bytes data, const Knowledge& known) noexcept {
  if (known.list(references).begins(data)) return true;
  if (known.list(file_endings).ends(data) && 3 * counts_of(data).digit <= data.size) return true;
  return ((data[0] == '/' || data[0] == '~' || (data.size > 1 && data[0] == '.' && data[1] == '/')) && is_wordy(data)) || is_location(data);
}

inline bool is_name(Bytes data) noexcept {
  if (!is_letter(data[0]) && data[0] != '_') return false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (!is_namely(data[i]) && data[i] != '.') return false;
  }
  return true;
}

inline bool is_password(Bytes data, const Value& value, const Counts& counts) noexcept {
  const std::size_t size = data.size;
  const int kinds = (counts.lower > 0) + (counts.upper > 0) + (counts.digit > 0) + (counts.other > 0);
  if (size < (value.quoted ? 6u : 8u) || size > 256) return false;
  std::size_t signs = 0;
  for (std::size_t i = 0; i < size; ++i) signs += !is_namely(data[i]) && !one_of(data[i], "-./:");
  const bool wordy = is_wordy(data);
  if (!value.quoted && is_name(data) && 4 * counts.changes < size) {
    // A name in a program, or a short password: where the form is a program's, it is a name.
    if (wordy && counts.digit < 2) return false;
    if (!(value.tight && value.ends_line && counts.digit >= 2)) return false;
  }
  if (value.strict && kinds < 3 && size < 12) return false;
  if (counts.digit == 0) {
    if (signs >= 1 && kinds >= 3 && size >= 8) return true;
    return size >= 10 && !wordy && (kinds >= 2 || size >= 16);
  }
  if (wordy) {
    return size >= 8 && (counts.digit >= 2 || signs >= 1 || (counts.upper > 0 && counts.other > 0));
  }
  return kinds >= 2;
}

inline constexpr ByteSet token_signs("-.+/=~:%$!@#^&*?|,;");

inline bool is_token(Bytes data, const Value& value, const Counts& counts, Byte mode,
                     const Knowledge& known) noexcept {
  const std::size_t size = data.size;
  if (is_uuid(data)) return mode == judge_secret;
  if (size < (value.quoted ? 12u : 16u) || size > 2048 || is_wordy(data)) return false;
  bool dotted = false;
  for (std::size_t i = 0; i < size; ++i) {
    if (!is_namely(data[i]) && !token_signs.has(data[i])) return false;
    dotted |= data[i] == '.';
  }
  if (counts.digit == 0 && !(size >= 16 && counts.lower > 0 && counts.upper > 0 && 3 * counts.changes >= size)) {
    return size >= 20 && entropy_holds(data, 249037, known);
  }
  if (!value.quoted && is_name(data) && dotted && 4 * counts.changes < size) return false;
  return 6 * counts.changes >= size && entropy_holds(data, size < 24 ? 176947 : 203162, known);
}

// Whether a name with dots ends with words that can be spoken: x25519.X25519PrivateKey, a.Package.Dir.
inline bool is_member(Bytes data, std::size_t digits) noexcept {
  std::size_t at = data.size;
  while (at > 0 && is_letter(data[at - 1])) --at;
  std::size_t letters = 0, spoken = 0;
  while (at < data.size) {
    const std::size_t start = at;
    at = piece_end(data, at);
    letters += at - start;
    if (at - start >= 3 && is_spoken(data.part(start, at))) spoken += at - start;
  }
  return letters >= (digits == 0 ? 3u : 6u) && 10 * spoken >= 7 * letters;
}

// Whether it is a name as headers have it: Access-Control-Allow-Headers.
inline bool is_header(Bytes data, const Counts& counts, std::size_t least) noexcept {
  std::size_t dashes = 0;
  for (std::size_t i = 0; i < data.size; ++i) {
    if ((i == 0 || data[i - 1] == '-') && !is_upper(data[i])) return false;
    dashes += data[i] == '-';
  }
  return dashes >= least && data[data.size - 1] != '-' && counts.digit == 0 && counts.other == dashes &&
         counts.upper == dashes + 1;
}

// Whether signs join three short parts or more, each in one case: ALICE_cf_wap-wsg_secp160r1.
inline bool is_parts(Bytes data) noexcept {
  bool lower = false, upper = false;
  std::size_t size = 0, parts = 0;
  for (std::size_t i = 0; i <= data.size; ++i) {
    if (i == data.size || data[i] == '_' || data[i] == '-') {
      if (size == 0 || size > 10 || (lower && upper) || (parts == 0 && size < 2)) return false;
      lower = upper = false;
      size = 0;
      ++parts;
      continue;
    }
    lower = lower || is_lower(data[i]);
    upper = upper || is_upper(data[i]);
    if (parts == 0 && !is_letter(data[i])) return false;
    ++size;
  }
  return true;
}

// Whether a value is a name as programs write them: a constant (TR31_E0_EMV_KEY), a type or a member of a structure
// (PrivateKeyTypes, ExclusiveStartShardId), of a list a name with underscores or a path.
inline bool is_identifier(Bytes data, const Value& value, Counts counts) noexcept {
  std::size_t lines = 0, slashes = 0, dashes = 0;
  if (!value.quoted && data[0] == '%') {  // %NL80211_ATTR_MAC: a constant, as comments of C name it
    data = data.part(1, data.size);
    --counts.other;
  }
  if (data.size < 3) return false;
  for (std::size_t i = 0; i < data.size; ++i) {
    lines += data[i] == '_';
    slashes += data[i] == '/';
    dashes += data[i] == '-';
  }
  if (data.size >= 4 && data[0] == '_' && data[1] == '_' && data[data.size - 1] == '_' && data[data.size - 2] == '_') {
    return counts.other == lines;  // __name__
  }
  const bool names = is_letter(data[0]) && counts.other == lines;
  if (lines >= 2 && counts.other == lines + dashes && is_parts(data)) return true;
  if (names && counts.lower == 0 && lines >= (value.strict ? 1u : 2u) && 3 * counts.digit <= data.size) return true;
  if (names && lines == 0 && counts.digit == 0 && counts.upper >= 2 && counts.lower >= 3 * counts.upper) return true;
  if (names && lines == 0 && counts.upper >= 2 && is_lower(data[data.size - 2])) {
    static constexpr const char* kEndings[] = {"Key", "Keys", "Type", "Types", "Token", "Tokens", "Secret", "Secrets"};
    for (const char* const end : kEndings) {
      std::size_t size = 0;
      while (end[size] != 0) ++size;
      if (data.size < size + 6) continue;
      bool same = true;
      for (std::size_t i = 0; i < size; ++i) same = same && data[data.size - size + i] == static_cast<Byte>(end[i]);
      if (same) return true;
    }
  }
  if (!value.quoted && is_name(data) && is_member(data, counts.digit)) {
    for (std::size_t i = 0; i < data.size; ++i) {
      if (data[i] == '.') return true;
    }
  }
  if (!value.strict) return false;
  return is_header(data, counts, 1) || (names && lines >= 2 && 5 * counts.digit <= data.size) ||
         (data[0] == '/' && counts.digit == 0 && counts.other == lines + slashes);
}

// Whether hyphens, two or more, join words and numbers, each whole: files-api-2025-04-14.
inline bool is_dated(Bytes data) noexcept {
  std::size_t start = 0, dashes = 0;
  bool spoken = false;
  for (std::size_t i = 0; i <= data.size; ++i) {
    if (i < data.size && data[i] != '-') {
      if (!is_lower(data[i]) && !is_digit(data[i])) return false;
      if (i > start && is_digit(data[i]) != is_digit(data[i - 1])) return false;
      continue;
    }
    if (i == start) return false;
    spoken = spoken || (i - start >= 4 && is_lower(data[start]) && is_spoken(data.part(start, i)));
    dashes += i < data.size;
    start = i + 1;
  }
  return spoken && dashes >= 2;
}

// Whether a value reads as the name of something: Name.Builtin.Pseudo, one of a list of names.
inline bool is_name_like(Bytes data, std::size_t digits, bool strict, bool word) noexcept {
  bool names = true, joint = false;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    names = names && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
    joint = joint || c == '.' || c == ':' || c == '_';
  }
  return (strict && digits < 2 && names) || (word && digits == 0 && data.size < 48 && joint);
}

// Whether it is code between two strings, as in "token: " + name + ".".
inline bool is_between_strings(Bytes data) noexcept {
  const Byte first = data[0], last = data[data.size - 1];
  if (first == ' ' || last == ' ' || (first == '-' && data[1] == '-') || holds(data, " = ")) return true;
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
    if (at - start >= 3 && is_spoken(data.part(start, at))) return true;
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

// Whether everybody knows a password: secret, s3cret, secret123.
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
  if (data.size - end > 6) return false;
  for (std::size_t i = end; i < data.size; ++i) {
    if (data[i] != static_cast<Byte>('1' + (i - end))) return false;
  }
  return words.equals(data.part(0, end));
}

// Whether a short password reads as one of the words of samples: Exampl3Pass.
inline bool reads_as_sample(Bytes data, const Knowledge& known) noexcept {
  if (data.size > longest_known) return false;
  Byte folded[longest_known];
  for (std::size_t i = 0; i < data.size; ++i) folded[i] = unmasked(data[i]);
  return known.list(plain_value).within({folded, data.size}) || is_known_password(data, known);
}

// A value of a SealedSecret: base64 that begins with the length of an RSA session key, 512.
inline bool is_sealed(Bytes data) noexcept {
  return data.size >= 300 && data[0] == 'A' && data[1] == 'g' && data[2] >= 'A' && data[2] <= 'D';
}

// Whether an assigned value is a secret.
inline bool judged(Bytes data, const Value& value, Byte mode, const Knowledge& known) noexcept {
  const bool wary = mode == judge_quoted || mode == judge_unquoted;
  if (data.size < 4 || data.size > (mode == judge_password ? 256u : 4096u)) return false;
  if (is_template(data) || is_reference(data, known) || is_sealed(data)) return false;
  if (!value.quoted) {
    if (one_of(data[0], "!*&@") || holds(data, "=>") || holds(data, "->")) return false;
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
  } else if (is_between_strings(data)) {
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
  if (is_name_like(data, counts.digit, value.strict, mode != judge_password)) return false;
  if (is_identifier(data, value, counts)) return false;
  if (!(mode == judge_password ? is_password(data, value, counts) : is_token(data, value, counts, mode, known))) {
    return false;
  }
  // The dearer looks come last; all of them must agree.
  return !is_repeated(data) && !is_sequence(data) && !known.list(placeholder).within(data) &&
         !known.list(plain_value).within(data) && !(mode == judge_password && reads_as_sample(data, known));
}

}  // namespace tipstaff::secrets

#endif
