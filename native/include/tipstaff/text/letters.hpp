// Code points as the word-piece tokeniser sees them: Latin letters without their marks, letters of
// other scripts in lower case, marks that vanish, and all else, which ends a word.
#ifndef TIPSTAFF_TEXT_LETTERS_HPP
#define TIPSTAFF_TEXT_LETTERS_HPP

#include <cstdint>

#include "tipstaff/text/text.hpp"

namespace tipstaff {

enum class Letter : std::uint8_t {
  border,      // ends a word
  joiner,      // vanishes, and the word continues: apostrophe, combining mark, zero-width joiner
  lower,       // ASCII a-z and 0-9
  upper,       // ASCII A-Z
  folded,      // a Latin letter with a mark or in full width: `code` and perhaps `second`
  alphabetic,  // a letter of another alphabet: `code` in lower case
  ideograph,   // a character of a script whose words are short and not set apart
};

struct Character {
  Letter kind;
  unsigned char second;  // of a folded pair (ss, ae), otherwise 0
  std::uint32_t code;
};

// Base letters of U+00C0 to U+017F, two for each.
inline constexpr char latin_base[] =
    "a a a a a a aec e e e e i i i i d n o o o o o   o u u u u y thssa a a a a a aec e e e e i i i i "
    "d n o o o o o   o u u u u y thy a a a a a a c c c c c c c c d d d d e e e e e e e e e e g g g g "
    "g g g g h h h h i i i i i i i i i i ijijj j k k k l l l l l l l l l l n n n n n n n n n o o o o "
    "o o oeoer r r r r r s s s s s s s s t t t t t t u u u u u u u u u u u u w w y y y z z z z z z s ";
static_assert(sizeof latin_base == 2 * 192 + 1, "two letters for each");

// Base letters of U+1E00 to U+1EFF.
inline constexpr char latin_additional_base[] =
    "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrr"
    "rrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyas  s aaaaaaaaaaaaaaaaaaaaaaaa"
    "eeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy      ";
static_assert(sizeof latin_additional_base == 256 + 1, "one letter for each");

// One UTF-8 sequence from `text` at `at`, which moves past it. Bytes that are no such sequence, and
// surrogates, come one by one as U+FFFD.
static inline std::uint32_t decode_utf8(ByteView text, std::int64_t& at) noexcept {
  const unsigned char* x = text.data + at;
  const std::int64_t left = text.size - at;
  const auto follows = [&](int i) noexcept { return i < left && (x[i] & 0xC0) == 0x80; };
  const std::uint32_t lead = x[0];
  if (lead < 0x80) {
    at += 1;
    return lead;
  }
  if (lead >= 0xC2 && lead < 0xE0 && follows(1)) {
    at += 2;
    return (lead & 0x1F) << 6 | (x[1] & 0x3Fu);
  }
  if (lead >= 0xE0 && lead < 0xF0 && follows(1) && follows(2)) {
    const std::uint32_t code = (lead & 0x0F) << 12 | (x[1] & 0x3Fu) << 6 | (x[2] & 0x3Fu);
    if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) {
      at += 3;
      return code;
    }
  }
  if (lead >= 0xF0 && lead < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const std::uint32_t code = (lead & 0x07) << 18 | (x[1] & 0x3Fu) << 12 | (x[2] & 0x3Fu) << 6 |
                               (x[3] & 0x3Fu);
    if (code >= 0x10000 && code <= 0x10FFFF) {
      at += 4;
      return code;
    }
  }
  at += 1;
  return 0xFFFD;
}

// Lower case of Greek, Cyrillic and Armenian; other scripts beyond Latin have none that matters.
static inline std::uint32_t lower_beyond_latin(std::uint32_t c) noexcept {
  if (c >= 0x391 && c <= 0x3AB) return c + 32;
  if (c == 0x3C2) return 0x3C3;  // final sigma
  if (c == 0x386) return 0x3AC;
  if (c >= 0x388 && c <= 0x38A) return c + 37;
  if (c == 0x38C) return 0x3CC;
  if (c == 0x38E || c == 0x38F) return c + 63;
  if (c >= 0x410 && c <= 0x42F) return c + 32;
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  if (((c >= 0x460 && c <= 0x481) || (c >= 0x48A && c <= 0x4BF) || (c >= 0x4D0 && c <= 0x52F)) &&
      c % 2 == 0) {
    return c + 1;
  }
  if (c >= 0x531 && c <= 0x556) return c + 48;
  return c;
}

// What a code point beyond ASCII is.
static inline Character classify_beyond_ascii(std::uint32_t c) noexcept {
  const Character border{Letter::border, 0, 0};
  const Character joiner{Letter::joiner, 0, 0};
  if (c < 0xC0) return c == 0xAD ? joiner : border;
  if (c < 0x180) {
    const auto first = static_cast<unsigned char>(latin_base[2 * (c - 0xC0)]);
    const auto second = static_cast<unsigned char>(latin_base[2 * (c - 0xC0) + 1]);
    if (first == ' ') return border;
    return {Letter::folded, second == ' ' ? static_cast<unsigned char>(0) : second, first};
  }
  if (c < 0x2B0) return {Letter::alphabetic, 0, c};
  if (c < 0x300) return border;
  if (c < 0x370) return joiner;
  if (c >= 0x1E00 && c < 0x1F00) {
    const auto first = static_cast<unsigned char>(latin_additional_base[c - 0x1E00]);
    return first == ' ' ? border : Character{Letter::folded, 0, first};
  }
  if (c >= 0x2000 && c < 0x2E80) {
    const bool joins = c == 0x2019 || (c >= 0x200B && c <= 0x200D) || c == 0x2060;
    // Letters among symbols: Glagolitic to the Cyrillic extension.
    if (c >= 0x2C00 && c < 0x2E00) return {Letter::alphabetic, 0, c};
    return joins ? joiner : border;
  }
  if (c == 0xFEFF || (c >= 0xFE00 && c <= 0xFE0F)) return joiner;
  if (c >= 0xFF00 && c < 0xFF66) {
    const std::uint32_t ascii = c - 0xFEE0;
    if (ascii - '0' < 10u || ascii - 'a' < 26u) return {Letter::folded, 0, ascii};
    if (ascii - 'A' < 26u) return {Letter::folded, 0, ascii + 32};
    return border;
  }
  const bool sign = c == 0x37E || c == 0x387 || c == 0x5BE || c == 0x5C0 || c == 0x5C3 || c == 0x60C ||
                    c == 0x61B || c == 0x61F || c == 0x66A || c == 0x66D || c == 0x6D4 ||
                    c == 0x964 || c == 0x965 || c == 0x30FB || c == 0x3030;
  if (sign || (c >= 0x3000 && c <= 0x3004) || (c >= 0x3008 && c <= 0x3020) ||
      (c >= 0xD800 && c < 0xF900) || (c >= 0xFE10 && c < 0xFE70) || (c >= 0xFFE0 && c < 0x10000) ||
      (c >= 0x1F000 && c < 0x20000) || c >= 0xE0000) {
    return border;
  }
  if (c >= 0x2E80) return {Letter::ideograph, 0, c};
  return {Letter::alphabetic, 0, lower_beyond_latin(c)};
}

}  // namespace tipstaff

#endif
