// Letters without case as a few classes, and which of them are in a text, alone or side by side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::gate {

// Letters without case, one class for digits, for each of - . / and for all others; a word's ends are one as well.
// tipstaff.gates.image.triggers has the same.
constexpr std::array<std::uint8_t, 256> make_letter_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if (c >= 'a' && c <= 'z') classes[c] = static_cast<std::uint8_t>(c - 'a');
    else if (c >= 'A' && c <= 'Z') classes[c] = static_cast<std::uint8_t>(c - 'A');
    else if (c >= '0' && c <= '9') classes[c] = 26;
    else classes[c] = c == '-' ? 27 : c == '.' ? 28 : c == '/' ? 29 : 30;
  }
  return classes;
}
inline constexpr std::array<std::uint8_t, 256> kLetterClasses = make_letter_classes();

constexpr std::uint32_t letter_class(char c) noexcept { return kLetterClasses[static_cast<unsigned char>(c)]; }

constexpr std::array<std::uint32_t, 256> make_letter_bits() {
  std::array<std::uint32_t, 256> bits{};
  for (int c = 0; c < 256; ++c) bits[c] = std::uint32_t{1} << kLetterClasses[c];
  return bits;
}
inline constexpr std::array<std::uint32_t, 256> kLetterBits = make_letter_bits();

// The same without blanks, which are not letters.
constexpr std::array<std::uint32_t, 256> make_bits_between_blanks() {
  std::array<std::uint32_t, 256> bits = kLetterBits;
  for (const char c : {' ', '\t', '\r'}) bits[static_cast<unsigned char>(c)] = 0;
  return bits;
}
inline constexpr std::array<std::uint32_t, 256> kBitsBetweenBlanks = make_bits_between_blanks();

#if defined(__GNUC__) && !defined(__clang__)
#define TIPSTAFF_SCALAR [[gnu::optimize("no-tree-vectorize")]]  // gcc puts the bits of a table into vectors one by one
#else
#define TIPSTAFF_SCALAR
#endif

// The letters of a text, as bits.
TIPSTAFF_SCALAR inline std::uint32_t letters_of(std::string_view text, const std::array<std::uint32_t, 256>& bits = kLetterBits) noexcept {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  const auto* const most = end - text.size() % 8;
  const std::uint32_t* const table = bits.data();
  std::uint32_t letters = 0;
  for (; at != most; at += 8) {
    letters |= table[at[0]] | table[at[1]] | table[at[2]] | table[at[3]] | table[at[4]] | table[at[5]] | table[at[6]] | table[at[7]];
  }
  for (; at != end; ++at) letters |= table[*at];
  return letters;
}

#undef TIPSTAFF_SCALAR

// The one letter of a class, or nothing.
inline constexpr char kLettersOfClasses[] = "abcdefghijklmnopqrstuvwxyz\0-./\0";

// Whether two letters may be side by side in a text, given by their classes; true where a class has many letters.
inline bool may_hold_pair(std::string_view text, std::uint32_t left, std::uint32_t right) noexcept {
  constexpr char kSmall = ' ';  // this bit makes capitals small, and leaves the signs as they are
  const char one = kLettersOfClasses[left], other = kLettersOfClasses[right];
  if (one == 0 || other == 0) return true;
  const char* const bytes = text.data();
  const std::size_t size = text.size();
#if defined(__SSE2__)
  if (size > 16) {
    const auto found = [&](std::size_t at) noexcept {
      const auto is = [](const char* from, char letter) noexcept {
        const __m128i folded = _mm_or_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), _mm_set1_epi8(kSmall));
        return _mm_cmpeq_epi8(folded, _mm_set1_epi8(letter));
      };
      return _mm_and_si128(is(bytes + at, one), is(bytes + at + 1, other));
    };
    __m128i all = found(size - 17);
    for (std::size_t at = 0; at + 17 < size; at += 16) all = _mm_or_si128(all, found(at));
    return _mm_movemask_epi8(all) != 0;
  }
#endif
  for (std::size_t at = 0; at + 1 < size; ++at)
    if ((bytes[at] | kSmall) == one && (bytes[at + 1] | kSmall) == other) return true;
  return false;
}

}  // namespace tipstaff::gate
