// Reading an assignment from the name that calls something a secret to the value it is given.
//
// Reaches are bounded, nothing goes back.
#ifndef TIPSTAFF_SECRETS_ASSIGNMENTS_HPP
#define TIPSTAFF_SECRETS_ASSIGNMENTS_HPP

#include <cstddef>
#include <cstring>

#include "tipstaff/secrets/assigned_values.hpp"
#include "tipstaff/secrets/names.hpp"
#include "tipstaff/secrets/prose.hpp"
#include "tipstaff/secrets/test_vectors.hpp"
#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

// What may follow the name of an assignment: a quote, a blank, the end of a line, a sign.
inline constexpr ByteSet after_names("\"'`\\%& \t\r\n,=:?+|><({}");

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
  bool lines = false, upper = false, small = false;
  for (std::size_t i = 0; i < given.size; ++i) {
    if (!is_namely(given[i]) && given[i] != '$') return false;
    lines = lines || given[i] == '_';
    upper = upper || is_upper(given[i]);
    small = small || is_lower(given[i]);
  }
  for (std::size_t i = head; i < end; ++i) small = small || is_lower(text[i]);
  // "jwkToRSAPrivateKey", "spkiMessageToJwk"
  if (upper && is_lower(given[0]) && is_lower(text[head]) && is_wordy(given)) {
    for (std::size_t i = head; i + 1 < end; ++i) {
      if (is_lower(text[i]) && is_upper(text[i + 1])) return true;
    }
  }
  return tight || !small || (lines && !upper) ||  // 'USERPWD', 'HTTP200ALIASES'
         (is_upper(given[0]) && is_upper(text[head]) && is_lower(byte_at(text, head + 1)));
}

inline constexpr std::size_t answers_reach = 240;

// Whether a value is one of a list of known answers, as of tests of hashes: another string near it has as many hexadecimal
// digits, ('password', '8f3b...'), ('passphrase', '1c0a...').
inline bool is_answer(Bytes text, const Value& value) noexcept {
  const std::size_t size = value.end - value.start;
  if (size < 16 || !is_hexadecimal(text.part(value.start, value.end))) return false;
  const std::size_t limit = least_of(text.size, value.end + answers_reach);
  for (std::size_t at = value.start - least_of(value.start, answers_reach); at < limit;) {
    std::size_t end = at;
    while (end < limit && is_namely(text[end])) ++end;
    if (end - at == size && at != value.start && at > 0 && one_of(text[at - 1], "\"'") && end < limit && text[end] == text[at - 1] &&
        is_hexadecimal(text.part(at, end))) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

// Whether a provider's name goes on so that it is the number of a key: privKeyID.
inline bool is_number_of(Bytes text, std::size_t start, std::size_t end, std::size_t name_end) noexcept {
  std::size_t from = end, to = name_end;
  while (from < to && one_of(text[from], "_-")) ++from;
  while (to > from && one_of(text[to - 1], "_-")) --to;
  return is_word(text, from, to, "id") && ((end - start >= 3 && is_word(text, end - 3, end, "key")) ||
                                           (end - start >= 5 && is_word(text, end - 5, end, "token")));
}

// Whether it is Algolia's key that every reader of a site gets: apiKey beside appId and indexName.
inline bool is_search_key(Bytes text, std::size_t head, std::size_t end, const Value& value) noexcept {
  constexpr std::size_t reach = 160;
  if (value.end - value.start != 32 || !is_word(text, head, end, "apikey")) return false;
  if (!is_hexadecimal(text.part(value.start, value.end))) return false;
  const Bytes near = text.part(head > reach ? head - reach : 0, least_of(text.size, value.end + reach));
  return holds(near, "indexName") && holds(near, "appId");
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
    if (at >= size || !(after_names.has(text[at]) || text[at] >= 0x80)) return false;
    if (named && is_number_of(text, start, end, at)) return false;
    head = name_start(text, start);
    manner.flag = byte_at(text, head) == '-';
  }
  const Byte before = head > 0 ? text[head - 1] : Byte{'\n'};
  if (before == ':' && head > 1 && text[head - 2] == ':') return false;  // AWS::IAM::AccessKey: the name of a type
  manner.query = before == '?' || before == '&';
  const std::size_t named_end = at >= end + 4 && matches_at(text, at - 4, ".set(") ? at - 4 : at;
  bool key_quote = false;
  for (int i = 0; i < 3; ++i) {
    std::size_t mark = quote_at(text, at);
    if (mark == 0 && byte_at(text, at) == ']' && at > named_end) {
      mark = 1;
    } else if (mark == 0 && before == '{' && at == named_end && byte_at(text, at) == '}') {  // $ENV{X} = "x"
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
  if (before == '/' && at == named_end && byte_at(text, at) == ':' && head >= 5 && matches_at(text, head - 5, "/etc/")) {
    return false;  // /etc/passwd: what is known of the file
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
  Manner paired;
  paired.colon = true;
  if (pair <= at && (byte_at(text, at) == '<' || (key_quote && one_of(byte_at(text, at), " >")))) {
    pair = tag_value(text, at, key_quote);
    paired.colon = false;
    paired.markup = true;
  }
  if (pair > at) {
    if (mentions()) return false;
    return read_value(text, pair, pair, paired, known.list(holders), out);
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
  bool adjacent = false;
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
  } else if (one_of(byte, "?|") && byte_at(text, at + 1) == byte && quote_at(text, skip_blanks(text, at + 2, 4)) != 0) {
    at += 2;  // process.env.SECRET || "x"
  } else if ((found = encoded_sign(text, at)) != 0) {
    at += found;
    for (int i = 0; i < 4 && matches_at(text, at, "%20"); ++i) at += 3;
  } else if (byte >= 0x80 && is_wide_sign(text, at)) {  // 密码：x
    at = after_opening(text, skip_blanks(text, at + 3, 8));
    manner.colon = true;
  } else if ((manner.spaced || byte >= 0x80) && !key_quote && !manner.flag && !anywhere && !one_of(before, "$/{") &&
             foreign_value(text, text.part(start, end), at, known.list(foreign_names), out)) {
    return !mentions();
  } else if (byte >= 0x80 && !key_quote && !anywhere &&
             (found = joined_copula(text, at, known.list(joined_copulas))) != 0) {
    return !mentions() && read_prose(text, found, out);
  } else if (byte == '>' && (before == '<' || key_quote)) {
    ++at;
    manner.markup = true;
  } else if (manner.spaced && !key_quote && !manner.flag && !anywhere &&
             (found = prose_value(text, at, known.list(copulas))) != 0) {
    std::size_t verb = start;
    while (verb < end && is_space(text[verb])) ++verb;
    if (is_word(text, verb, end, "pass") && (matches_at(text, found - 3, "to ") || matches_at(text, found - 3, "on "))) {
      return false;  // pass it to the call, all tests pass on GNU/Linux
    }
    return !one_of(before, "$/{") && !mentions() && read_prose(text, found, out);
  } else if (byte == '{' && !key_quote && !manner.spaced && quote_at(text, at + 1) != 0) {  // kApiKey{"x"}
    ++at;
    manner.strict = true;
  } else if (key_quote && manner.spaced && matches_at(text, at, "to ") && quote_at(text, at + 3) != 0) {
    at += 3;  // "apiKey" to "x"
  } else if (key_quote && manner.spaced && quote_at(text, at) != 0) {  // (set-property "acme.secret" "x")
    manner.strict = adjacent = true;
  } else if (byte == ',' && key_quote) {
    ++at;
    manner.strict = true;
  } else if (byte == '(' && !key_quote) {
    ++at;
    manner.strict = true;
  } else if (manner.spaced && (found = typed_sign(text, at)) != 0 && quote_at(text, found) != 0) {
    at = found;
  } else if (byte == '|') {  // a cell of a table
    return false;
  } else if (manner.spaced && !key_quote) {
    const bool introduced = word_before(text, head, known.list(introducers));
    const bool quote = text[at - 1] == ' ' && (byte == '"' || byte == '\'');
    if (head >= 3 && is_blank(before) && is_word(text, head - 3, head - 1, "by")) return false;  // identified by password 'hash'
    if (before == '$' || before == '/') return false;  // -w $PASSWD "dc=acme": the next argument
    if (!manner.flag && !quote && !introduced && !after_login(text, head) &&
        !is_word(text, start, end, "requirepass") && !is_word(text, start, end, "masterauth") &&
        !is_word(text, start, end, "securestring") && !is_word(text, start, end, "rootpw") && !is_word(text, start, end, "bindpw")) {
      if (anywhere || !is_last_word(text, at) || mentions() || !read_prose(text, at, out)) return false;
      out->wrapped = !begins_line(text, start, head);  // after other words only what is random beyond doubt: set api_token x
      return true;
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
  if (!read_value(text, at, after, manner, known.list(holders), out)) return false;
  out->wrapped = out->wrapped || adjacent;
  if (byte == '=' && sign == gap && !out->quoted && out->start > sign + 1 && is_blank(text[sign + 1]) &&
      is_setting(text.part(out->start, out->end))) {
    return false;  // PASSWORD= USER=x: the next one
  }
  if (byte == ':' && end >= 4 && matches_at(text, end - 4, "PASS") && is_test_result(text, out->start)) return false;
  if (out->quoted && is_search_key(text, head, named_end, *out)) return false;
  if (byte == '=' && is_vector(text, head, *out, manner.spaced, known)) return false;
  if (is_among_vectors(text, head, *out, known)) return false;
  const std::size_t length = out->end - out->start;
  if (byte == '=' && byte_at(text, sign + 1) == '=' && !out->quoted) return false;  // a comparison
  if (byte == '(' && is_uuid(text.part(out->start, out->end))) return false;  // credentials.retrieve("..."): a number
  if (byte == ',' && lower(text[start]) == 'p' && is_answer(text, *out)) return false;
  if (byte == ',' && is_listed(text, head, named_end, at == after, *out)) return false;
  if (out->quoted) return true;
  std::size_t number = out->start;
  while (number < out->end && is_digit(text[number])) ++number;
  if (byte == ':' && number > out->start && byte_at(text, number) == ':') return false;  // PEM_R_GETTING_PASSWORD:109:problems
  if (byte == ':' && is_named_twice(text, head, named_end)) return false;
  const std::size_t last = name_part(text, head, named_end), part = named_end - last;
  // pass = _ref4$pass, key.token = $scope.token
  if (length > part && one_of(text[out->end - part - 1], "$._") &&
      std::memcmp(text.data + last, text.data + out->end - part, part) == 0) {
    return false;
  }
  // self.client_secret = client_secret
  return length > named_end - head || std::memcmp(text.data + named_end - length, text.data + out->start, length) != 0;
}

}  // namespace tipstaff::secrets

#endif
