// Which bytes of a command line are more than text: found 16 at a time, so that text costs next to nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/text/lowest_bit.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::gate::plain {

// What a byte is to the reader of plain commands.
namespace kind {
constexpr std::uint8_t kText = 0;
constexpr std::uint8_t kRare = 1;   // ! # % ] ^ } ~: text, but not all of them at a word's beginning
constexpr std::uint8_t kGlob = 2;   // * ? [: part of a word
constexpr std::uint8_t kQuote = 3;  // ' or "
constexpr std::uint8_t kOther = 4;  // not for this reader
constexpr std::uint8_t kBlank = 5;  // these end words
constexpr std::uint8_t kEnd = 6;    // an operator, or a line's end
}  // namespace kind

constexpr std::array<std::uint8_t, 256> make_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (int c = 0; c < ' '; ++c) kinds[c] = kind::kOther;
  for (const char c : {'!', '#', '%', ']', '^', '}', '~'}) kinds[static_cast<unsigned char>(c)] = kind::kRare;
  for (const char c : {'*', '?', '['}) kinds[static_cast<unsigned char>(c)] = kind::kGlob;
  for (const char c : {'\'', '"'}) kinds[static_cast<unsigned char>(c)] = kind::kQuote;
  for (const char c : {' ', '\t', '\r'}) kinds[static_cast<unsigned char>(c)] = kind::kBlank;
  for (const char c : {'\n', ';', '&', '|'}) kinds[static_cast<unsigned char>(c)] = kind::kEnd;
  for (const char c : {'\\', '$', '`', '(', ')', '<', '>', '{'}) kinds[static_cast<unsigned char>(c)] = kind::kOther;
  return kinds;
}
static_assert(static_cast<unsigned char>(kUnknownPart) < ' ', "no text holds what stands for an unknown part");
inline constexpr std::array<std::uint8_t, 256> kKinds = make_kinds();
inline std::uint8_t kind_of(char c) noexcept { return kKinds[static_cast<unsigned char>(c)]; }

// The places of a text's bytes that are no plain text, one after the other: what is left of them. There may be some more:
// DEL, and bytes of letters that are no ASCII.
class Marked {
 public:
  Marked() noexcept = default;
  explicit Marked(const std::uint64_t* bits) noexcept : bits_(bits), left_(*bits) {}

  // The first one that was not passed; the end counts as one, and is never passed.
  std::uint32_t first() noexcept {
    while (left_ == 0) {
      from_ += 64;
      left_ = *++bits_;
    }
    return from_ + lowest_bit(left_);
  }
  // Passes the one that first() gave.
  void pass() noexcept { left_ &= left_ - 1; }
  // Passes all before `place`, which is not after the end.
  void pass_to(std::uint32_t place) noexcept {
    while (first() < place) pass();
  }

 private:
  const std::uint64_t* bits_ = nullptr;
  std::uint64_t left_ = 0;
  std::uint32_t from_ = 0;  // of the 64 bytes that are looked at
};

// Finds them, and has room for what it finds.
class Marks {
 public:
  static constexpr std::size_t kLongest = 2048;

  // At most kLongest bytes.
  Marked read(std::string_view text) noexcept {
    const char* const bytes = text.data();
    const std::size_t size = text.size();
    std::size_t at = 0;
    for (; at + 64 <= size; at += 64) {
      bits_[at / 64] = marks_of(bytes + at) | marks_of(bytes + at + 16) << 16 | marks_of(bytes + at + 32) << 32 | marks_of(bytes + at + 48) << 48;
    }
    const std::size_t block = at;
    std::uint64_t bits = ~std::uint64_t{0} << (size - block);
    for (; at + 16 <= size; at += 16) bits |= marks_of(bytes + at) << (at - block);
    if (at != size) {
      // Some bytes again, where there are as many.
      const std::uint64_t found = size >= 16 ? marks_of(bytes + size - 16) >> (16 - (size - at)) : marks_of_few(bytes, size);
      bits |= found << (at - block);
    }
    bits_[block / 64] = bits;
    return Marked(bits_);
  }

 private:
  static std::uint64_t marks_of_few(const char* bytes, std::size_t count) noexcept {
    std::uint64_t marks = 0;
    for (std::size_t i = 0; i < count; ++i) marks |= std::uint64_t{kind_of(bytes[i]) != kind::kText} << i;
    return marks;
  }
  // Of 16 bytes.
  static std::uint64_t marks_of(const char* bytes) noexcept {
#if defined(__SSE2__)
    // Only the highest bit of each byte counts. What is text: all after `*`, but for bytes that end as `[` and those
    // after it do, without _ and =, and for `.
    const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    const auto is = [&](char c) noexcept { return _mm_cmpeq_epi8(at, _mm_set1_epi8(c)); };
    const __m128i behind_star = _mm_adds_epu8(at, _mm_set1_epi8('\x7f' - '*'));
    const __m128i ends_as_bracket = _mm_add_epi8(_mm_and_si128(at, _mm_set1_epi8(0x1f)), _mm_set1_epi8('\x7f' - ('[' & 0x1f) + 1));
    const __m128i signs = _mm_or_si128(_mm_andnot_si128(_mm_or_si128(is('_'), is('=')), ends_as_bracket), is('`'));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_andnot_si128(signs, behind_star))) ^ 0xffff;
#else
    return marks_of_few(bytes, 16);
#endif
  }

  std::uint64_t bits_[kLongest / 64 + 1];
};

}  // namespace tipstaff::gate::plain
