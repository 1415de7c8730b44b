// Reading the value that a name is given: quotes, signs, blocks of YAML, what ends it.
//
// Reaches are bounded, nothing goes back.
#ifndef TIPSTAFF_SECRETS_ASSIGNED_VALUES_HPP
#define TIPSTAFF_SECRETS_ASSIGNED_VALUES_HPP

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
inline bool may_end_value(Byte c) noexcept { return query_ends.has(c) || c >= 0xE3; }
// Whether a full-width sign is there: ，and 。end a value, and so does 」.
inline bool is_wide(Bytes text, std::size_t at) noexcept {
  return matches_at(text, at, "\xEF\xBC") || matches_at(text, at, "\xE3\x80");
}

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
  std::size_t word = 0;
  for (const char* const name : {"value", "Value", "default", "useValue"}) {
    if (matches_at(text, at, name)) word = std::strlen(name);
  }
  if (word == 0) return 0;
  at += word;
  if (byte_at(text, at) == '"' || byte_at(text, at) == '\'') ++at;
  at = skip_blanks(text, at, 4);
  if (byte_at(text, at) != ':' && byte_at(text, at) != '=') return 0;
  return skip_blanks(text, at + 1, 8);
}

// Where the end is of the tag whose attribute's value ends at `at`, of which at most one more follows; `text.size` for none.
inline std::size_t after_attribute(Bytes text, std::size_t at) noexcept {
  const std::size_t start = at;
  at = skip_blanks(text, at, 4);
  if (at == start) return at;
  const std::size_t name = at;
  while (at - name < 24 && is_letter(byte_at(text, at))) ++at;
  if (at == name || !matches_at(text, at, "=\"")) return text.size;
  at += 2;
  const std::size_t value = at;
  while (at < text.size && at - value < 40 && !one_of(text[at], "\"<>\r\n")) ++at;
  return byte_at(text, at) == '"' ? at + 1 : text.size;
}

// Where the value begins of `<key>X</key><string>x</string>`, as property lists and Hadoop's settings have it, and of
// `name="X"><value>x</value>`, `attribute`: a name in quotes is before `at`; 0 where it does not.
inline std::size_t tag_value(Bytes text, std::size_t at, bool attribute) noexcept {
  if (!matches_at(text, at, "</key>") && !matches_at(text, at, "</name>") && !matches_at(text, at, "</param-name>")) {
    if (!attribute) return 0;
    at = after_attribute(text, at);
    if (byte_at(text, at) != '>') return 0;
  }
  while (text[at] != '>') ++at;
  at = skip_blanks_and_lines(text, at + 1);
  for (const char* const tag : {"<string>", "<value>", "<param-value>"}) {
    if (matches_at(text, at, tag)) return at + std::strlen(tag);
  }
  return 0;
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

// Where the string begins that calls around it are given, 0 where none is: String::from("x"), []byte("x"), new
// Key(Encoding.GetBytes("x")), and Haskell's Just "x". `held`: whether all of them hold it as it is.
inline std::size_t wrapped_string(Bytes text, std::size_t at, const Words& holders, bool* held) noexcept {
  *held = true;
  if (!is_letter(byte_at(text, at)) && byte_at(text, at) != '[') return 0;
  if (is_upper(text[at])) {
    std::size_t end = at + 1;
    while (end - at < 8 && is_lower(byte_at(text, end))) ++end;
    if (end - at >= 2 && is_blank(byte_at(text, end)) && one_of(byte_at(text, end + 1, ' '), "\"'") &&
        holders.equals(text.part(at, end))) {
      return end + 1;
    }
  }
  if (matches_at(text, at, "new ")) at += 4;
  if (matches_at(text, at, "[]")) at += 2;
  for (int calls = 0; calls < 2; ++calls) {
    if (!is_letter(byte_at(text, at))) return 0;
    std::size_t last = at;
    const std::size_t most = least_of(text.size, at + 40);
    while (at < most && (is_namely(text[at]) || text[at] == '.' || text[at] == ':')) {
      if (!is_namely(text[at++])) last = at;
    }
    if (byte_at(text, at) != '(') return 0;
    *held = *held && holders.equals(text.part(last, at));
    ++at;
    for (const char* const name : {"default", "value"}) {
      if (!matches_at(text, at, name)) continue;
      const std::size_t sign = skip_blanks(text, at + std::strlen(name), 1);
      if (one_of(byte_at(text, sign), "=:")) at = skip_blanks(text, sign + 1, 1);
    }
    if (quote_at(text, at) != 0) return at;
  }
  return 0;
}

inline bool read_value(Bytes text, std::size_t at, std::size_t after, Manner manner, const Words& holders, Value* out) noexcept {
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
  const bool bold = manner.colon && matches_at(text, at, "**");
  if (bold) at += 2;
  std::size_t mark = quote_at(text, at), call = 0;
  bool held = false;
  if (mark == 0 && !manner.strict && !manner.markup && (call = wrapped_string(text, at, holders, &held)) != 0) {
    at = call;
    mark = quote_at(text, at);
  }
  if (mark == 1 && byte_at(text, at + 1) == '\\' && quote_at(text, at + 1) != 0) {  // "\"x\"": a string within a string
    ++at;
    mark = quote_at(text, at);
  }
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
    *out = {at + mark, end, true, true, true, manner.strict, call != 0 && !held};
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
    if (text[end] >= 0x80 && is_wide(text, end)) break;
    ++end;
  }
  if (end == limit && limit < size) return false;
  if (manner.colon) {
    // `name: type = "value"`
    limit = least_of(size, at + 48);
    std::size_t sign = at;
    int depth = 0;
    while (sign < limit && (is_namely(text[sign]) || one_of(text[sign], "&'<>[]|.*? ") || (depth > 0 && text[sign] == ','))) {
      depth += (text[sign] == '<') - (text[sign] == '>');
      ++sign;
    }
    if (at < sign && sign < size && text[sign] == '=' && byte_at(text, sign + 1) != '=') {
      const std::size_t typed = skip_blanks(text, sign + 1, 8);
      // One step alone: what is after the sign has a quote.
      if (quote_at(text, typed) != 0 || wrapped_string(text, typed, holders, &held) != 0) {
        return read_value(text, typed, typed, Manner{}, holders, out);
      }
    }
  }
  while (end > at && (text[end - 1] == '.' || text[end - 1] == ':') &&
         is_namely(text[end - 2 > at && end >= 2 ? end - 2 : at])) {
    --end;
  }
  if (bold) {  // Password: **x**
    if (end < at + 2 || !matches_at(text, end - 2, "**")) return false;
    end -= 2;
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
  const bool ends_line = past >= size || one_of(text[past], "\r\n\"'`&<") || text[end] >= 0x80 ||
                         (past > end && one_of(text[past], "#/|;-\\")) || next == '\\' ||
                         (one_of(next, ",;}]") && !manner.spaced) || (manner.flag && past > end) ||
                         (past > end && !manner.spaced && next_field(text, past)) ||  // password=x sslmode=require
                         (past > end && after > 0 && is_blank(text[after - 1]));
  *out = {at, end, false, manner.colon || manner.flag || !manner.spaced, ends_line, false};
  return true;
}

}  // namespace tipstaff::secrets

#endif
