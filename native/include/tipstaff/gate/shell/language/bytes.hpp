// What single bytes mean to a shell, and the encodings that its commands undo.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/patterns.hpp"
#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/text/utf8.hpp"

namespace tipstaff::gate::shell {

using ascii::is_digit;
using ascii::lower;
using std::string_view;

inline constexpr char kUnknownText[] = {kUnknownPart, '\0'};
inline constexpr string_view kUnknown{kUnknownText, 1};

namespace byte_class {
constexpr std::uint8_t kBlank = 1;     // ends a word
constexpr std::uint8_t kOperator = 2;  // ends a word: ; & | < > ( ) and the line's end
constexpr std::uint8_t kQuote = 4;     // ' " \ $ `
constexpr std::uint8_t kGlob = 8;      // * ? [
constexpr std::uint8_t kBrace = 16;    // {
constexpr std::uint8_t kName = 32;     // a letter, a digit or _
constexpr std::uint8_t kClosing = 64;  // what may end an operand inside ${...} or a brace expression: } ,
constexpr std::uint8_t kEnds = kBlank | kOperator;
constexpr std::uint8_t kSpecial = kEnds | kQuote | kGlob | kBrace;
}  // namespace byte_class

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || (c >= '0' && c <= '9') || c == '_') classes[c] = byte_class::kName;
  }
  // A carriage return is a blank: it is what another system's line ends leave over.
  for (const char c : {' ', '\t', '\r'}) classes[static_cast<unsigned char>(c)] = byte_class::kBlank;
  for (const char c : {';', '&', '|', '<', '>', '(', ')', '\n'}) {
    classes[static_cast<unsigned char>(c)] = byte_class::kOperator;
  }
  for (const char c : {'\'', '"', '\\', '$', '`'}) classes[static_cast<unsigned char>(c)] = byte_class::kQuote;
  for (const char c : {'*', '?', '['}) classes[static_cast<unsigned char>(c)] = byte_class::kGlob;
  // What nested code could not tell is in it as this byte.
  classes[static_cast<unsigned char>(kUnknownPart)] = byte_class::kQuote;
  classes['{'] = byte_class::kBrace;
  classes['}'] = byte_class::kClosing;
  classes[','] = byte_class::kClosing;
  return classes;
}

inline constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

inline std::uint8_t class_of(char c) noexcept { return kClasses[static_cast<unsigned char>(c)]; }
inline bool is_blank(char c) noexcept { return (class_of(c) & byte_class::kBlank) != 0; }
inline bool ends_word(char c) noexcept { return (class_of(c) & byte_class::kEnds) != 0; }
inline bool is_name_byte(char c) noexcept { return (class_of(c) & byte_class::kName) != 0; }
inline bool is_name_start(char c) noexcept { return is_name_byte(c) && !is_digit(c); }
inline char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

inline bool starts_with(string_view text, string_view prefix) noexcept {
  return text.size() >= prefix.size() && text.substr(0, prefix.size()) == prefix;
}
inline bool ends_with(string_view text, string_view suffix) noexcept {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}
inline bool holds(string_view text, char c) noexcept { return text.find(c) != string_view::npos; }
inline string_view trim(string_view text) noexcept {
  while (!text.empty() && (is_blank(text.front()) || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\n')) text.remove_suffix(1);
  return text;
}
inline string_view base_name(string_view path) noexcept {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}
inline bool is_name(string_view text) noexcept {
  if (text.empty() || !is_name_start(text[0])) return false;
  for (const char c : text) {
    if (!is_name_byte(c)) return false;
  }
  return true;
}

// Whether `text` is one of the words of `list`, which are set apart by single spaces.
inline bool one_of(string_view text, string_view list) noexcept { return ascii::has_word(list, text); }

// A small decimal number; -1 if the text is not one.
inline int to_number(string_view text) noexcept {
  if (text.empty() || text.size() > 8) return -1;
  int value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

enum class Escapes : std::uint8_t { ansi_c, echo, printf };

// Undoes backslash escapes. Every escape is at least as long as what it stands for, so `text.size()` bytes
// always suffice; where they do not the tree is full and an empty text comes back.
inline string_view decode_escapes(Tree& tree, string_view text, Escapes kind) noexcept {
  std::size_t room = 0;
  char* out = tree.draft(&room);
  if (room < text.size()) {
    tree.set_full();
    return {};
  }
  std::size_t n = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i++];
    if (c != '\\' || i >= text.size()) {
      out[n++] = c;
      continue;
    }
    const char e = text[i++];
    const auto number = [&](int base, int digits) noexcept {
      std::uint32_t value = 0;
      for (int k = 0; k < digits && i < text.size(); ++k) {
        const int d = ascii::hex_value(text[i]);
        if (d < 0 || d >= base) break;
        value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(d);
        ++i;
      }
      return value;
    };
    switch (e) {
      case 'n': out[n++] = '\n'; break;
      case 't': out[n++] = '\t'; break;
      case 'r': out[n++] = '\r'; break;
      case 'a': out[n++] = '\a'; break;
      case 'b': out[n++] = '\b'; break;
      case 'f': out[n++] = '\f'; break;
      case 'v': out[n++] = '\v'; break;
      case 'e':
      case 'E': out[n++] = '\x1b'; break;
      case '\\': out[n++] = '\\'; break;
      case '\'':
      case '"':
      case '?':
        if (kind == Escapes::echo) out[n++] = '\\';
        out[n++] = e;
        break;
      case 'x': out[n++] = static_cast<char>(number(16, 2)); break;
      case 'u':
      case 'U': {
        // \uHHHH is six bytes for at most three; a short form is not shorter than its code point either.
        const std::size_t before = i;
        const std::uint32_t code = number(16, e == 'u' ? 4 : 8);
        if (i > before) n += write_utf8(code, out + n);
        break;
      }
      case 'c':
        if (kind == Escapes::ansi_c) {
          if (i < text.size()) out[n++] = static_cast<char>(text[i++] & 31);
        } else {
          i = text.size();
        }
        break;
      default:
        if (e >= '0' && e <= '7') {
          if (kind == Escapes::echo) {
            out[n++] = static_cast<char>(e == '0' ? number(8, 3) : (--i, number(8, 3)));
          } else {
            --i;
            out[n++] = static_cast<char>(number(8, e == '0' && kind == Escapes::printf ? 4 : 3));
          }
        } else {
          out[n++] = '\\';
          out[n++] = e;
        }
    }
    if (n != 0 && out[n - 1] == '\0') {  // $'..' ends there, and no output of a command keeps it
      --n;
      if (kind == Escapes::ansi_c) break;
    }
  }
  return tree.keep(n);
}

// Decodes base64, in either alphabet; false if the text is not valid base64.
inline bool decode_base64(Tree& tree, string_view text, string_view* decoded) noexcept {
  std::size_t room = 0;
  char* out = tree.draft(&room);
  if (room < text.size()) {
    tree.set_full();
    return false;
  }
  std::size_t n = 0;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    std::uint32_t value;
    if (c >= 'A' && c <= 'Z') value = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z') value = static_cast<std::uint32_t>(c - 'a' + 26);
    else if (is_digit(c)) value = static_cast<std::uint32_t>(c - '0' + 52);
    else if (c == '+' || c == '-') value = 62;
    else if (c == '/' || c == '_') value = 63;
    else if (c == '=') break;
    else if (is_blank(c) || c == '\n') continue;
    else return false;
    bits = (bits << 6) | value;
    have += 6;
    if (have >= 8) {
      have -= 8;
      out[n++] = static_cast<char>((bits >> have) & 255);
    }
  }
  *decoded = tree.keep(n);
  return true;
}

// Decodes pairs of hexadecimal digits; false where the text is something else.
inline bool decode_hex(Tree& tree, string_view text, string_view* decoded) noexcept {
  std::size_t room = 0;
  char* out = tree.draft(&room);
  if (room < text.size()) {
    tree.set_full();
    return false;
  }
  std::size_t n = 0;
  int high = -1;
  for (const char c : text) {
    if (is_blank(c) || c == '\n' || c == ':') continue;
    const int digit = ascii::hex_value(c);
    if (digit < 0) return false;
    if (high < 0) {
      high = digit;
    } else {
      out[n++] = static_cast<char>(high * 16 + digit);
      high = -1;
    }
  }
  *decoded = tree.keep(n);
  return true;
}

// Whether a name matches a glob of * ? and [...].
inline bool matches_glob(string_view glob, string_view name) noexcept {
  return matches_stars(glob, name, [glob](std::size_t at, char letter, std::size_t* next) noexcept {
    return matches_shell_place<false>(glob, at, letter, next);
  });
}

}  // namespace tipstaff::gate::shell
