// Forms of what is not a secret: templates, references, paths, calls, lists of ciphers.
#ifndef TIPSTAFF_SECRETS_FORMS_HPP
#define TIPSTAFF_SECRETS_FORMS_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tipstaff/secrets/identifiers.hpp"
#include "tipstaff/secrets/letters.hpp"

namespace tipstaff::secrets {

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
  const auto mixed = [&]() noexcept {  // letters of both cases, digits and signs, so that %s is by chance
    const Counts counts = counts_of(data);
    bool blank = false;
    for (std::size_t i = 0; i < data.size; ++i) blank |= data[i] == ' ';
    return counts.lower > 0 && counts.upper > 0 && counts.digit > 0 && counts.other >= 3 && !blank;
  };
  static constexpr std::uint64_t first[4] = {0x1400443800000000u, 0x2800000000000000u, 0, 0x0000000400000000u};
  for (std::size_t i = 0; i + 1 < data.size; ++i) {
    const Byte c = data[i];
    if ((first[c >> 6] >> (c & 63) & 1) == 0) continue;
    const Byte next = data[i + 1];
    const Byte third = i + 2 < data.size ? data[i + 2] : Byte{0};
    switch (c) {
      case '$': if (next == '{' || next == '(') return true; break;
      case '{': if (next == '}') return true; [[fallthrough]];
      case '}': if (next == c) return true; break;
      case '<': if (next == '%') return true; break;
      case '%': {
        std::size_t end = i + 1;  // %-128.128s
        while (end < data.size && (is_digit(data[end]) || one_of(data[end], "-."))) ++end;
        if (next == '>') return true;
        if (byte_at(data, end) == 's' && !is_alnum(byte_at(data, end + 1)) && !mixed()) return true;
        break;
      }
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
  if (data.size > 4 && one_of(data[0], "\"'") && data[data.size - 1] == data[0]) data = data.part(1, data.size - 1);
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
      if (!is_namely(data[i]) && !one_of(data[i], ".[]()-:")) return false;
    }
    return true;
  }
  return false;
}

// Whether it says where something is, by its form alone: /go/src/app, doc/man3/open.3, Symfony\Component, www.acme.io:443.
inline bool is_location(Bytes data) noexcept {
  std::size_t slashes = 0, digits = 0, capitals = 0, colons = 0, last_colon = 0;
  bool back = false, dot = false, ending = false;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    if (!is_namely(c) && !one_of(c, "/\\.-:")) return false;
    slashes += c == '/';
    // /v1/ is a word of an address.
    const bool version = i >= 2 && data[i - 1] == 'v' && data[i - 2] == '/' && (i + 1 == data.size || data[i + 1] == '/');
    ending = (ending && c != '/') || c == '.';
    digits += is_digit(c) && !version;
    capitals += is_upper(c);
    back = back || c == '\\';
    dot = dot || (c == '.' && colons == 0);
    if (c == ':') {
      ++colons;
      last_colon = i;
    }
  }
  if (slashes >= 2 && (ending || (data[0] == '/' && digits == 0) || (dot && data[data.size - 1] == '/'))) return true;
  if (slashes >= 3 && capitals == 0 && (digits == 0 || (data[0] == '/' && 6 * digits <= data.size))) return true;
  if (back && slashes == 0 && data.size > 3 && is_letter(data[0]) && data[1] == ':' && data[2] == '\\') return true;
  if (back && slashes == 0 && (data[0] == '\\' || is_upper(data[0]))) return digits == 0;
  if (colons != 1 || !dot || data.size - last_colon < 3 || data.size - last_colon > 6) return false;
  for (std::size_t i = last_colon + 1; i < data.size; ++i) {
    if (!is_digit(data[i])) return false;
  }
  return true;
}

// Whether it is a file and a place in it: Chapter4.html#S4.18.
inline bool is_anchor(Bytes data, const Knowledge& known) noexcept {
  std::size_t sign = 0;
  while (sign < data.size && (is_namely(data[sign]) || one_of(data[sign], "-./"))) ++sign;
  if (sign < 4 || sign + 1 >= data.size || data[sign] != '#') return false;
  for (std::size_t i = sign + 1; i < data.size; ++i) {
    if (!is_namely(data[i]) && !one_of(data[i], "-.")) return false;
  }
  const Bytes file = data.part(0, sign);
  return known.list(file_endings).ends(file) && is_lower(file[sign - 1]) && is_lower(file[sign - 3]);
}

inline bool is_reference(Bytes data, const Knowledge& known) noexcept {
  if (known.list(references).begins(data) || is_anchor(data, known)) return true;
  if (known.list(file_endings).ends(data)) {
    const Counts counts = counts_of(data);
    const bool shouted = counts.lower > 0 && is_upper(data[data.size - 1]);  // 3x8y.H: no ending of a file
    if (3u * counts.digit <= data.size && !shouted) return true;
  }
  return ((data[0] == '/' || data[0] == '~' || (data.size > 1 && data[0] == '.' && data[1] == '/')) && is_wordy(data)) || is_location(data);
}

// Whether each digit of `form` is one in the data, and any other sign is the same; what follows is not looked at.
inline bool has_form(Bytes data, const char* form) noexcept {
  for (std::size_t i = 0; form[i] != 0; ++i) {
    if (i >= data.size || (form[i] == '0' ? !is_digit(data[i]) : data[i] != static_cast<Byte>(form[i]))) return false;
  }
  return true;
}

// Whether it sets a variable or an option: GUILE_AUTO_COMPILE=0, attr_timeout=0, -Dpamconfdir=no.
inline bool is_setting(Bytes data) noexcept {
  if (data.size > 2 && data[0] == '-' && data[1] == 'D') data = data.part(2, data.size);
  std::size_t at = 0;
  while (at < data.size && (is_lower(data[at]) || data[at] == '_')) ++at;
  if (at >= 3 && at + 1 < data.size && data[at] == '=' && is_alnum(data[at + 1])) return true;
  at = 0;
  while (at < data.size && (is_upper(data[at]) || data[at] == '_' || (at > 0 && is_digit(data[at])))) ++at;
  return at >= 3 && at < data.size && data[at] == '=';
}

// Whether it says how often something may be: 20/m/ip,5/m/key.
inline bool is_rate(Bytes data) noexcept {
  std::size_t at = 0;
  while (at < data.size && is_digit(data[at])) ++at;
  if (at == 0 || at >= data.size || data[at] != '/' || data.size > 24) return false;
  for (; at < data.size; ++at) {
    if (!is_lower(data[at]) && !is_digit(data[at]) && !one_of(data[at], "/,")) return false;
  }
  return true;
}

// Whether it is a number in scientific notation, or one with a type: 1.142857142857143e-07, 15915.6f.
inline bool is_number(Bytes data) noexcept {
  std::size_t at = 0, dots = 0;
  for (; at < data.size && (is_digit(data[at]) || data[at] == '.'); ++at) dots += data[at] == '.';
  if (at > 0 && at + 1 == data.size && one_of(data[at], "dDfFlL") && dots == 1 && is_digit(data[0]) && is_digit(data[at - 1])) return true;
  if (at == 0 || at >= data.size || (data[at] | 0x20) != 'e') return false;
  at += at + 1 < data.size && one_of(data[at + 1], "+-") ? 2 : 1;
  const std::size_t power = at;
  while (at < data.size && is_digit(data[at])) ++at;
  return at == data.size && at > power && at - power <= 3;
}

// Whether it is a call of a program on a string: WinDLL('./_sqlite3.dll').
inline bool is_call(Bytes data) noexcept {
  std::size_t at = 0;
  while (at < data.size && (is_letter(data[at]) || one_of(data[at], "_."))) ++at;
  return at >= 3 && at + 4 <= data.size && data[at] == '(' && one_of(data[at + 1], "\"'") && data[data.size - 1] == ')' &&
         data[data.size - 2] == data[at + 1];
}

// Whether it says which ciphers are to be used, in capitals: +VERS-TLS1.3:+CIPHER-ALL, !RC4:!ADH:!LOW@STRENGTH.
inline bool is_cipher_list(Bytes data) noexcept {
  if (data.size < 8 || !one_of(data[0], "!+%-") || !is_letter(data[1])) return false;
  bool joined = false;
  for (std::size_t i = 1; i < data.size; ++i) {
    const Byte c = data[i];
    const bool sign = one_of(data[i - 1], "!+%-:");
    if (is_lower(c) ? !(sign && i + 1 < data.size && is_upper(data[i + 1])) : !is_upper(c) && !is_digit(c) && !one_of(c, "!+%-:.@_")) {
      return false;
    }
    joined = joined || (is_letter(c) && sign && i > 1) || c == '@';
  }
  return joined;
}

// Whether it is a fingerprint of a key or of a certificate: 40 hexadecimal digits in capitals.
inline bool is_fingerprint(Bytes data) noexcept {
  if (data.size != 40) return false;
  bool letters = false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (!is_digit(data[i]) && !(data[i] >= 'A' && data[i] <= 'F')) return false;
    letters = letters || is_upper(data[i]);
  }
  return letters;
}

// Whether what follows a first sign is a name, or not a password: *args, !vault, &anchor.
inline bool is_marked_name(Bytes data) noexcept {
  const Counts counts = counts_of(data);
  if (counts.digit < 2 || counts.lower == 0 || counts.upper == 0) return true;
  for (std::size_t i = 1; i < data.size; ++i) {
    if (!is_namely(data[i]) && !one_of(data[i], "-./:")) return false;
  }
  return true;
}

// Whether it opens nothing by its form alone: a time (2025-09-22T07:01:06Z), MySQL's or PostgreSQL's hash of a password, a
// colour (#03fccf),
// an identifier made of a time (UUID of version 1), a client token
// that Datadog publishes, the address of an Ethereum account, a number in hexadecimal digits, a JSON Web Token without
// its signature, words with escapes for blanks.
inline bool is_harmless(Bytes data) noexcept {
  if (has_form(data, "0000-00-00T00:00") || is_rate(data) || is_number(data)) return true;
  if (is_cipher_list(data) || is_fingerprint(data)) return true;
  std::size_t begin = 0, blanks = 0;
  if (data[0] == '*' && data.size == 41) begin = 1;
  if (data[0] == '#' && (data.size == 7 || data.size == 9)) begin = 1;
  if (is_uuid(data) && data[14] == '1') return true;
  if (matches_at(data, 0, "0x") && (data.size == 42 || data.size <= 10)) begin = 2;
  if (data.size == 35 && (matches_at(data, 0, "pub") || matches_at(data, 0, "md5"))) begin = 3;
  for (std::size_t i = 0; i + 2 < data.size; ++i) blanks += data[i] == '%' && data[i + 1] == '2' && data[i + 2] == '0';
  if (blanks >= 2) return true;
  if (begin != 0) {
    std::size_t at = begin;
    while (at < data.size && is_hex(data[at])) ++at;
    return at == data.size;
  }
  if (!matches_at(data, 0, "eyJ")) return false;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < data.size; ++i) dots += data[i] == '.';
  if (dots == 0 && data.size <= 32) return true;
  for (const char* const header : {"eyJhbGci", "eyJ0eXAi", "eyJraWQi", "eyJ4NXQi", "eyJjdHki"}) {
    if (matches_at(data, 0, header)) return dots < 2 || (dots == 2 && data[data.size - 1] == '.');
  }
  return false;
}

// Whether a value without quotes is code: state?.key, exports.Result=void, a name that a statement assigns.
inline bool is_code(Bytes data, const Value& value, const Counts& counts) noexcept {
  std::size_t lines = 0, equals = 0;
  bool dotted = false, named = true;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (data[i] == '?' && i + 1 < data.size && data[i + 1] == '.') return true;
    lines += data[i] == '_';
    // t.passNode||!1, opts.key&&opts.key
    if (one_of(data[i], "|&") && dotted && named && i + 1 < data.size && data[i + 1] == data[i]) return true;
    if (data[i] == '=' && equals == 0) {
      if (dotted && named && i + 1 < data.size && is_letter(data[i + 1])) return true;
      ++equals;
    }
    dotted = dotted || data[i] == '.';
    named = named && (is_namely(data[i]) || data[i] == '.');
  }
  std::size_t option = 0;  // password= log_file_name= ssl_key=
  while (option < data.size && (is_lower(data[option]) || data[option] == '_')) ++option;
  if (option + 1 == data.size && data[option] == '=') return true;
  if (value.tight || value.ends_line || !is_name(data)) return false;
  return counts.digit == 0 || (lines > 0 && counts.upper == 0);
}

// Where base64 without its padding ends that begins at `at`.
inline std::size_t base64_end(Bytes data, std::size_t at) noexcept {
  while (at < data.size && (is_alnum(data[at]) || data[at] == '+' || data[at] == '/')) ++at;
  return at;
}

// The same with its padding, two signs at most.
inline std::size_t padded_end(Bytes data, std::size_t at) noexcept {
  at = base64_end(data, at);
  for (int i = 0; i < 2 && at < data.size && data[at] == '='; ++i) ++at;
  return at;
}

// Whether a value is encrypted by its form: a SealedSecret's (base64 that begins with the length of an RSA session key,
// 512), Pulumi's, Magento's, Bitwarden's, Rails', WildFly's, of the key management of Google and AWS, an OpenPGP message.
// What Fernet and Laravel encrypt is a credential itself where it is a token: Keystone and sessions give out such ones.
inline bool is_sealed(Bytes data, bool token) noexcept {
  const std::size_t size = data.size;
  if (size >= 300 && data[0] == 'A' && data[1] == 'g' && data[2] >= 'A' && data[2] <= 'D') return true;
  const std::size_t at = data[0] == ':' ? 1 : 0;
  if (at + 20 < size && data[at] == 'v' && is_digit(data[at + 1]) && data[at + 2] == ':' && data[at + 19] == ':' &&
      base64_end(data, at + 3) == at + 19 && base64_end(data, at + 20) >= at + 42) {
    return true;
  }
  if (size >= 28 && is_digit(data[0])) {
    if (data[1] == ':' && is_digit(data[2]) && data[3] == ':') return base64_end(data, 4) >= 28;
    const std::size_t first = base64_end(data, 2);
    if (data[1] == '.' && first == 24 && matches_at(data, first, "==|")) {
      const std::size_t second = base64_end(data, first + 3), end = padded_end(data, first + 3);
      return second >= first + 11 && end < size && data[end] == '|';
    }
  }
  const std::size_t first = base64_end(data, 0), nonce = padded_end(data, 0) + 2;
  if (first >= 8 && matches_at(data, nonce - 2, "--") && base64_end(data, nonce) == nonce + 16 &&
      matches_at(data, nonce + 16, "--") && base64_end(data, nonce + 18) == nonce + 40 && matches_at(data, nonce + 40, "==")) {
    return size == nonce + 42;
  }
  if (matches_at(data, 0, "MASK-") && size > 5 && is_alnum(data[5])) return true;
  if (matches_at(data, 0, "Ci")) {
    if (size >= 80 && matches_at(data, 0, "CiQA")) return true;
    if (size >= 179 && data[2] >= 'A' && data[2] <= 'D') return true;
  }
  if (size >= 100) {
    for (const char* const message : {"wcFMA", "wcBMA", "hQEMA", "hQIMA"}) {
      if (matches_at(data, 0, message)) return true;
    }
  }
  return !token && ((size >= 100 && matches_at(data, 0, "gAAAAA")) || matches_at(data, 0, "eyJpdiI6I"));
}

// Whether signs join names in capitals: JSON-RPC/XML-RPC, MARC21/XML.
inline bool is_acronyms(Bytes data) noexcept {
  bool slash = false;
  for (std::size_t at = 0;; ++at) {
    const std::size_t start = at;
    while (at < data.size && is_upper(data[at])) ++at;
    const std::size_t digits = at;
    while (at < data.size && is_digit(data[at])) ++at;
    if (digits - start < 2 || digits - start > 8 || at - digits > 2) return false;
    if (at == data.size) return slash;
    if (data[at] != '/' && data[at] != '-') return false;
    slash = slash || data[at] == '/';
  }
}

// Whether it is a call as people name it: useStyles(data).
inline bool is_application(Bytes data) noexcept {
  std::size_t at = 0;
  while (at < data.size && (is_letter(data[at]) || one_of(data[at], "_."))) ++at;
  if (at < 3 || at >= data.size || data[at] != '(') return false;
  ++at;
  while (at < data.size && (is_letter(data[at]) || one_of(data[at], "_., "))) ++at;
  return at + 1 == data.size && data[at] == ')';
}

// Whether it is an account and a signature, as after Azure's SharedKey.
inline bool is_signed(Bytes data) noexcept {
  std::size_t at = 0;
  while (at < data.size && (is_lower(data[at]) || is_digit(data[at]))) ++at;
  return at >= 3 && at <= 24 && data.size == at + 45 && data[at] == ':' && base64_end(data, at + 1) == at + 44 &&
         data[at + 44] == '=';
}

}  // namespace tipstaff::secrets

#endif
