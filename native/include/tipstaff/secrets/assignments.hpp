// Reading an assignment from the name that calls something a secret to the value it is given.
//
// `tipstaff.kernels.plain.assignments` says the same in Python. Reaches are bounded, nothing goes back.
#ifndef TIPSTAFF_SECRETS_ASSIGNMENTS_HPP
#define TIPSTAFF_SECRETS_ASSIGNMENTS_HPP

#include <cstddef>
#include <cstring>

#include "tipstaff/secrets/names.hpp"
#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

inline constexpr std::size_t value_reach = 1024;

// What ends a value, and what does in a query too; long values are walked over for each name in them.
inline constexpr ByteSet value_ends(" \t\r\n\"'`,;<>)]}\\");
inline constexpr ByteSet query_ends(" \t\r\n\"'`,;<>)]}\\&#");
inline bool ends_value(Byte c) noexcept { return value_ends.has(c); }
inline bool may_end_value(Byte c) noexcept { return query_ends.has(c); }

// What may follow the name of an assignment: a quote, a blank, the end of a line, a sign.
inline constexpr ByteSet after_names("\"'`\\%& \t\r\n,=:?+|>(");

inline std::size_t quote_at(Bytes text, std::size_t at) noexcept {
  if (at >= text.size) return 0;
  const Byte byte = text[at];
  if (byte == '"' || byte == '\'' || byte == '`') {
    return byte != '`' && byte_at(text, at + 1) == byte && byte_at(text, at + 2) == byte ? 3 : 1;
  }
  if (byte == '\\') {
    std::size_t slashes = at;
    while (slashes < text.size && slashes - at < 7 && text[slashes] == '\\') ++slashes;
    if (slashes < text.size && (text[slashes] == '"' || text[slashes] == '\'')) return slashes - at + 1;
    return matches_at(text, at, "\\u0022") || matches_at(text, at, "\\u0027") ? 6 : 0;
  }
  if (byte == '%') return matches_at(text, at, "%22") || matches_at(text, at, "%27") ? 3 : 0;
  if (byte == '&') {
    if (matches_at(text, at, "&quot;") || matches_at(text, at, "&apos;")) return 6;
    if (matches_at(text, at, "&#34;") || matches_at(text, at, "&#39;")) return 5;
  }
  return 0;
}

// Length of an encoded sign of assignment, 0 for none.
inline std::size_t encoded_sign(Bytes text, std::size_t at) noexcept {
  if (byte_at(text, at) == '%') {
    return byte_at(text, at + 1) == '3' && one_of(lower(byte_at(text, at + 2, 'z')), "ad") ? 3 : 0;
  }
  if (byte_at(text, at) == '\\') {
    return matches_at(text, at, "\\u003") && one_of(lower(byte_at(text, at + 5, 'z')), "ad") ? 6 : 0;
  }
  if (byte_at(text, at) != '&') return 0;
  if (matches_at(text, at, "&#58;") || matches_at(text, at, "&#61;")) return 5;
  return matches_at(text, at, "&#x3") && one_of(lower(byte_at(text, at + 4, 'z')), "ad") && byte_at(text, at + 5) == ';'
             ? 6
             : 0;
}

// Where the string ends whose opening quote is at `at`; `text.size` where it does not.
inline std::size_t quoted_end(Bytes text, std::size_t at, std::size_t size) noexcept {
  const std::size_t limit = least_of(text.size, at + size + value_reach);
  std::size_t position = at + size;
  while (position < limit) {
    if (size <= text.size - position && std::memcmp(text.data + position, text.data + at, size) == 0) return position;
    if (is_line(text[position]) && size != 3) return text.size;
    // Of a plain string, a backslash takes the next byte with it; of an escaped one it cannot.
    position += text[position] == '\\' && size == 1 ? 2 : 1;
  }
  return text.size;
}

inline bool next_field(Bytes text, std::size_t at) noexcept {
  const std::size_t limit = least_of(text.size, at + 40);
  const std::size_t start = at;
  while (at < limit && (is_namely(text[at]) || text[at] == '-')) ++at;
  return start < at && at < text.size && text[at] == '=';
}

// Where the value begins of `name: X` with `value: x` after it; 0 where it does not.
inline std::size_t pair_value(Bytes text, std::size_t at) noexcept {
  const std::size_t start = at;
  at = skip_blanks(text, at, 16);
  if (byte_at(text, at) == ',' || byte_at(text, at) == '\n') {
    ++at;
  } else if (byte_at(text, at) == '\r' && byte_at(text, at + 1) == '\n') {
    at += 2;
  } else if (at == start) {
    return 0;
  }
  at = skip_blanks(text, at, 40);
  if (byte_at(text, at) == '"' || byte_at(text, at) == '\'') ++at;
  if (!matches_at(text, at, "value") && !matches_at(text, at, "Value")) return 0;
  at += 5;
  if (byte_at(text, at) == '"' || byte_at(text, at) == '\'') ++at;
  at = skip_blanks(text, at, 4);
  if (byte_at(text, at) != ':' && byte_at(text, at) != '=') return 0;
  return skip_blanks(text, at + 1, 8);
}

// Where the value begins of `variable "X" { default = "x" }` in Terraform, `at` after the name's quote; 0 where it does not.
inline std::size_t default_value(Bytes text, std::size_t at) noexcept {
  at = skip_blanks(text, at, 4);
  if (byte_at(text, at) != '{') return 0;
  const std::size_t limit = least_of(text.size, at + 400);
  while (at < limit) {
    while (at < limit && !is_line(text[at]) && text[at] != '}') ++at;
    if (at >= limit || text[at] == '}') return 0;
    at = skip_blanks_and_lines(text, at);
    if (!matches_at(text, at, "default")) continue;
    at = skip_blanks(text, at + 7, 16);
    return byte_at(text, at) == '=' ? skip_blanks(text, at + 1, 8) : 0;
  }
  return 0;
}

// Where the sign's blanks end of a type with `=` after it, as in `var key string = "..."`; 0 if none.
inline std::size_t typed_sign(Bytes text, std::size_t at) noexcept {
  if (!is_letter(byte_at(text, at)) && !one_of(byte_at(text, at, 'x'), "*&[")) return 0;
  std::size_t end = at + 1;
  const std::size_t limit = least_of(text.size, at + 31);
  while (end < limit && (is_namely(text[end]) || one_of(text[end], ".*&<>[]"))) ++end;
  if (end < at + 2) return 0;
  std::size_t sign = skip_blanks(text, end, 4);
  if (sign == end) return 0;
  if (byte_at(text, sign) == ':') ++sign;
  if (byte_at(text, sign) != '=') return 0;
  return skip_blanks(text, sign + 1, 4);
}

struct Manner {
  bool query = false, colon = false, spaced = false, strict = false, markup = false, flag = false;
};

inline bool is_string_prefix(Bytes text, std::size_t at) noexcept {
  if (!one_of(byte_at(text, at, ' '), "bBfFrRuULN@$") || at + 1 >= text.size || quote_at(text, at) != 0) return false;
  return quote_at(text, at + 1) != 0 || (one_of(text[at + 1], "bBfFrR@$") && quote_at(text, at + 2) != 0);
}

inline bool read_value(Bytes text, std::size_t at, std::size_t after, Manner manner, Value* out) noexcept {
  const std::size_t size = text.size;
  if (manner.colon && at < size && (text[at] == '|' || text[at] == '>')) {
    // A block of YAML: the value is the next line.
    std::size_t line = at + 1;
    if (byte_at(text, line) == '-' || byte_at(text, line) == '+') ++line;
    line = skip_blanks(text, line, 4);
    if (byte_at(text, line) == '\r' && byte_at(text, line + 1) == '\n') ++line;
    const bool block = byte_at(text, line) == '\n';
    if (block) {
      const std::size_t start = skip_blanks(text, line + 1, 40);
      if (start == line + 1) return false;
      std::size_t end = start;
      while (end < size && end - start < value_reach && !is_line(text[end])) ++end;
      *out = {start, end, true, true, true, false};
      return end > start;
    }
    if (text[at] == '|') return false;
  }
  if (manner.colon && matches_at(text, at, "!!")) {
    const std::size_t limit = least_of(size, at + 24);
    while (at < limit && !is_blank(text[at]) && !is_line(text[at])) ++at;
    at = skip_blanks(text, at, 8);
  }
  if (at < size && is_line(text[at])) {
    at = skip_blanks_and_lines(text, at);
    if (quote_at(text, at) == 0) return false;
  }
  while (at < size && (text[at] == '(' || text[at] == '[') && quote_at(text, at + 1) != 0) ++at;
  for (int i = 0; i < 2; ++i) at += is_string_prefix(text, at);
  const std::size_t mark = quote_at(text, at);
  if (mark != 0) {
    std::size_t end = quoted_end(text, at, mark);
    std::size_t mark_end = mark;
    if (end == size) {
      if (mark == 1 || mark == 3) return false;
      end = at + mark;
      while (end < size && end - at < value_reach && !ends_value(text[end])) ++end;
      mark_end = 0;
    }
    const std::size_t past = skip_blanks(text, end + mark_end, 8);
    // What is followed by a colon is the name of the next one.
    if ((manner.colon || manner.strict) && byte_at(text, past) == ':' && byte_at(text, past + 1) != ':') {
      return false;
    }
    *out = {at + mark, end, true, true, true, manner.strict};
    return end > at + mark;
  }
  if (manner.strict) return false;
  std::size_t end = at;
  if (manner.markup) {
    while (end < size && end - at < value_reach && text[end] != '<' && !is_line(text[end])) ++end;
    *out = {at, end, true, true, true, false};
    return at < end && end < size && text[end] == '<';
  }
  std::size_t limit = least_of(size, at + value_reach);
  while (true) {
    while (end < limit && !may_end_value(text[end])) ++end;
    if (end == limit || ends_value(text[end])) break;
    if (text[end] == '&' && (manner.query || next_field(text, end + 1))) break;
    if (manner.query && text[end] == '#') break;
    ++end;
  }
  if (end == limit && limit < size) return false;
  if (manner.colon) {
    // `name: type = "value"`
    limit = least_of(size, at + 48);
    std::size_t sign = at;
    while (sign < limit && (is_namely(text[sign]) || one_of(text[sign], "&'<>[]|.*? "))) ++sign;
    if (at < sign && sign < size && text[sign] == '=' && byte_at(text, sign + 1) != '=') {
      const std::size_t typed = skip_blanks(text, sign + 1, 8);
      // One step alone: what is after the sign has a quote.
      if (quote_at(text, typed) != 0) return read_value(text, typed, typed, Manner{}, out);
    }
  }
  while (end > at && (text[end - 1] == '.' || text[end - 1] == ':') &&
         is_namely(text[end - 2 > at && end >= 2 ? end - 2 : at])) {
    --end;
  }
  if (end <= at) return false;
  const std::size_t past = skip_blanks(text, end, 8);
  // key = shuffle (a, b), password = dialog->field
  if ((past > end && byte_at(text, past) == '(') || (text[end - 1] == '-' && byte_at(text, end) == '>')) return false;
  const Byte next = byte_at(text, end);
  if (manner.colon && next == ',' && is_upper(text[at])) {  // passphrase: BytesOrStr, salt: bytes
    std::size_t letters = at;
    while (letters < end && is_letter(text[letters])) ++letters;
    if (letters == end) return false;
  }
  const bool ends_line = past >= size || one_of(text[past], "\r\n\"'`&<") ||
                         (past > end && one_of(text[past], "#/|;-\\")) || next == '\\' ||
                         (one_of(next, ",;}]") && !manner.spaced) || (manner.flag && past > end) ||
                         (past > end && after > 0 && is_blank(text[after - 1]));
  *out = {at, end, false, manner.colon || !manner.spaced, ends_line, false};
  return true;
}

// Whether a line gives hexadecimal digits, or a hash of a password, to what only a test of cryptography names:
// Ciphertext = 8c3c4432, Passhash = $2a$05$...
inline bool is_vector_line(Bytes line, const Knowledge& known) noexcept {
  const std::size_t start = skip_blanks(line, 0, 8);
  std::size_t at = start;
  while (at < line.size && is_namely(line[at])) ++at;
  const Bytes name = line.part(start, at);
  at = skip_blanks(line, at, 24);
  if (name.size == 0 || byte_at(line, at) != '=') return false;
  at = skip_blanks(line, at + 1, 8);
  if (byte_at(line, at) == '$') return is_digit(byte_at(line, at + 1)) && parts_hold(name, known.list(vector_names));
  if (matches_at(line, at, "0x")) at += 2;
  const std::size_t digits = at;
  while (at < line.size && is_hex(line[at])) ++at;
  return at - digits >= 8 && skip_blanks(line, at, 8) == line.size && parts_hold(name, known.list(vector_names));
}

inline constexpr std::size_t vector_lines = 3, vector_reach = 4096;

// Whether a line `Secret = 1c0a...` is one of a block of test vectors: one of the three lines before or after it, up to an
// empty one, is about cryptography alone.
inline bool is_vector(Bytes text, std::size_t head, const Value& value, const Knowledge& known) noexcept {
  if (value.quoted || value.end - value.start < 6) return false;
  std::size_t at = value.start + (matches_at(text, value.start, "0x") ? 2u : 0u);
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
    if (is_vector_line(text.part(start, at), known)) return true;
  }
  for (std::size_t line = 0; line < vector_lines && begin > 0 && text[begin - 1] == '\n'; ++line) {
    std::size_t end = begin - 1;
    if (end > 0 && text[end - 1] == '\r') --end;
    begin = end;
    while (begin > 0 && end - begin < vector_reach && !is_line(text[begin - 1])) --begin;
    if (begin == end) break;
    if (is_vector_line(text.part(begin, end), known)) return true;
  }
  return false;
}

// Whether the name in [head, end) and the value after its comma are two of a list: paths, members of one thing, the names
// in a map of sources.
inline bool is_listed(Bytes text, std::size_t head, std::size_t end, bool tight, const Value& value) noexcept {
  const Byte before = byte_at(text, head - 1);
  if (before == '/' || before == '=' || (before == ':' && quote_at(text, head - 2) == 0)) return true;
  const Bytes given = text.part(value.start, value.end);
  if ((before == '@' || before == '%') && given[0] == before) return true;  // '%GL_STENCIL_PASS','%GL_STENCIL_REF'
  if (matches_at(given, 0, "x-") && matches_at(text, head, "x-")) return true;  // headers
  std::size_t same = 0, joint = 0;
  while (same < given.size && head + same < end && given[same] == text[head + same]) {
    ++same;
    if (!is_alnum(given[same - 1])) joint = same;
  }
  if (joint >= 4) return true;  // "smtp.password", "smtp.subject"
  std::size_t left = head > 0 ? head - 1 : 0;
  while (left > 0 && head - left < 24 && is_space(text[left - 1])) --left;
  const bool between = left > 0 && one_of(text[left - 1], ",[");
  if (text[head] == '-' || !between || byte_at(text, value.end + 1) != ',' || given.size >= 24) return false;
  bool lines = false, upper = false;
  for (std::size_t i = 0; i < given.size; ++i) {
    if (!is_namely(given[i]) && given[i] != '$') return false;
    lines = lines || given[i] == '_';
    upper = upper || is_upper(given[i]);
  }
  // "jwkToRSAPrivateKey", "spkiMessageToJwk"
  if (upper && is_lower(given[0]) && is_lower(text[head]) && is_wordy(given)) {
    for (std::size_t i = head; i + 1 < end; ++i) {
      if (is_lower(text[i]) && is_upper(text[i + 1])) return true;
    }
  }
  return tight || (lines && !upper) || (is_upper(given[0]) && is_upper(text[head]) && is_lower(byte_at(text, head + 1)));
}

// The value that is given to the name around [start, end). `anywhere`: the name may be any, and ends
// with the word; `named`: it is a provider's, and may be about anything.
inline bool assignment(Bytes text, std::size_t start, std::size_t end, bool anywhere, bool named,
                       const Knowledge& known, Value* out) noexcept {
  const std::size_t size = text.size;
  std::size_t at = end;
  std::size_t head = start;
  Manner manner;
  if (!anywhere) {
    if (!named && end < size && is_letter(text[end]) && (is_lower(text[end]) || !is_lower(text[end - 1]))) {
      return false;
    }
    at = name_end(text, end);
    if (at >= size || !after_names.has(text[at])) return false;
    head = name_start(text, start);
    manner.flag = byte_at(text, head) == '-';
  }
  const Byte before = head > 0 ? text[head - 1] : Byte{'\n'};
  if (before == ':' && head > 1 && text[head - 2] == ':') return false;  // AWS::IAM::AccessKey: the name of a type
  manner.query = before == '?' || before == '&';
  const std::size_t named_end = at;
  bool key_quote = false;
  for (int i = 0; i < 3; ++i) {
    std::size_t mark = quote_at(text, at);
    if (mark == 0 && byte_at(text, at) == ']' && at > named_end) {
      mark = 1;
    } else if (mark != 0) {
      key_quote = true;
    }
    if (mark == 0) break;
    at += mark;
  }
  if (anywhere && one_of(text[end - 1], "\"'`")) key_quote = true;
  if (!anywhere && byte_at(text, named_end) == '`' && (before != '`' || is_word(text, head, named_end, "pwd"))) {
    return false;  // `/bin/pwd`: a command
  }
  if (before == '$' && key_quote) return false;  // [ "$PWD" = "/srv" ]: a comparison
  if ((before == ':' || before == '/') && at == named_end && byte_at(text, at) == ':' &&
      !is_space(byte_at(text, at + 1, ' '))) {
    return false;  // arn:aws:...:secret:name, types/pwd_data:anchor
  }
  const std::size_t gap = at;
  // Whether the name is about a secret, and none itself; asked last, for it takes longest.
  const auto mentions = [&]() noexcept {
    return !anywhere && !named &&
           (parts_hold(text.part(end, named_end), known.list(about_after)) ||
            (key_quote && known.list(source_endings).ends(text.part(head, named_end))) ||
            parts_hold(text.part(head, start), known.list(about_before)));
  };
  std::size_t pair = pair_value(text, at);
  if (pair <= at && key_quote) pair = default_value(text, at);
  if (pair > at) {
    if (mentions()) return false;
    Manner paired;
    paired.colon = true;
    return read_value(text, pair, pair, paired, out);
  }
  at = skip_blanks(text, at, 16);
  if (at < size && is_line(text[at])) {
    const std::size_t ahead = skip_blanks_and_lines(text, at);
    if (byte_at(text, ahead) == '=' || byte_at(text, ahead) == ':') at = ahead;
  }
  if (at >= size) return false;
  const Byte byte = text[at];
  manner.spaced = at > gap;
  const std::size_t sign = at;
  std::size_t found = 0;
  if (byte == '=') {
    ++at;
    while (at < size && at - sign < 3 && one_of(text[at], "=>~")) ++at;
  } else if (byte == ':') {
    if (byte_at(text, at + 1) == ':' || before == '@') return false;  // @password: what it is, in comments
    if (matches_at(text, at, "://")) return false;
    ++at;
    manner.colon = true;
    if (byte_at(text, at) == '=') {
      ++at;
      manner.colon = false;
    }
  } else if (one_of(byte, "?+|") &&
             (byte_at(text, at + 1) == '=' ||
              (one_of(byte_at(text, at + 1, ' '), "?+|") && byte_at(text, at + 2) == '='))) {
    at += byte_at(text, at + 1) == '=' ? 2 : 3;
  } else if ((found = encoded_sign(text, at)) != 0) {
    at += found;
    for (int i = 0; i < 4 && matches_at(text, at, "%20"); ++i) at += 3;
  } else if (byte == '>' && (before == '<' || key_quote)) {
    ++at;
    manner.markup = true;
  } else if (byte == ',' && key_quote) {
    ++at;
    manner.strict = true;
  } else if (byte == '(' && !key_quote) {
    ++at;
    manner.strict = true;
  } else if (manner.spaced && (found = typed_sign(text, at)) != 0 && quote_at(text, found) != 0) {
    at = found;
  } else if (manner.spaced && !key_quote) {
    const bool introduced = word_before(text, head, known.list(introducers));
    const bool quote = text[at - 1] == ' ' && (byte == '"' || byte == '\'');
    if (head >= 3 && is_blank(before) && is_word(text, head - 3, head - 1, "by")) return false;  // identified by password 'hash'
    if (before == '$' || before == '/') return false;  // -w $PASSWD "dc=acme": the next argument
    if (!manner.flag && !quote && !introduced && !after_login(text, head) &&
        !is_word(text, start, end, "requirepass") && !is_word(text, start, end, "masterauth") &&
        !is_word(text, start, end, "securestring")) {
      return false;
    }
    if (introduced && quote_at(text, at) == 0 && is_macro(text, head)) return false;  // #define NAME OTHER: code
    manner.strict = quote_at(text, at) > 0 && !manner.flag && !introduced;
  } else {
    return false;
  }
  const std::size_t after = at;
  at = skip_blanks(text, at, 24);
  manner.spaced = manner.spaced || (at > after && !manner.colon);
  if (mentions()) return false;
  if (!read_value(text, at, after, manner, out)) return false;
  if (byte == '=' && manner.spaced && is_vector(text, head, *out, known)) return false;
  const std::size_t length = out->end - out->start;
  if (byte == '=' && byte_at(text, sign + 1) == '=' && !out->quoted) return false;  // a comparison
  if (byte == '(' && is_uuid(text.part(out->start, out->end))) return false;  // credentials.retrieve("..."): a number
  if (byte == ',' && is_listed(text, head, named_end, at == after, *out)) return false;
  // self.client_secret = client_secret
  return out->quoted || length > named_end - head ||
         std::memcmp(text.data + named_end - length, text.data + out->start, length) != 0;
}

}  // namespace tipstaff::secrets

#endif
