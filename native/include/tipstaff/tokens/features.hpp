// Features of a text that tell how many tokens a vocabulary cuts it into.
//
// A text is read in groups of eight blocks of 64 bytes. Each class of bytes (letters, digits, spaces,
// lead bytes of a script ...) is one 64-bit mask a block, and each feature is the number of bits in an
// "and" of masks and shifted masks: the letters that have seven letters before them, the spaces after
// a letter. So the number of tokens is fitted by a piecewise linear function of the lengths of words,
// runs of spaces and the rest. Eight blocks' masks are one or two vectors, so shifting, "and" and
// counting are done for all of them at once.
#ifndef TIPSTAFF_TOKENS_FEATURES_HPP
#define TIPSTAFF_TOKENS_FEATURES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "tipstaff/text/text.hpp"

namespace tipstaff {

enum class TokenFeature : int {
  letters, letters2, letters3, letters4, letters8, letter_after_space, letter_after_mark,
  capitals, capitals2, camel, digits, digits2, digits4,
  spaces, spaces2, spaces3, mark_after_space, space_after_letter,
  newlines, newlines2, newline_after_mark, tabs, tabs2,
  marks, marks2, marks3, repeats3, closing, consonants4,
  latin, other2, cyrillic, cyrillic3, cyrillic5, cyrillic7, cyrillic9, cyrillic_after_space,
  cyrillic_capital, cyrillic_rare, punctuation3, hiragana, kana_mixed, katakana, full_width,
  other3, astral, han_e4, han_e5, han, hangul_ea, hangul, han_pairs, hangul_pairs,
  hangul_after_space, kana_pairs,
  count
};
inline constexpr int token_features = static_cast<int>(TokenFeature::count);

struct TokenKernels {
  // Writes token_features counts.
  void (*count_features)(ByteView text, std::int64_t* out) noexcept;
};

namespace token_detail {

inline constexpr int group_blocks = 8;
inline constexpr int group_bytes = 64 * group_blocks;

// One class's masks of a group of blocks, after the last mask of the group before: what is
// `distance` bytes earlier is a shift that takes its low bits from the mask before.
struct MaskRow {
  std::uint64_t before = 0;
  std::uint64_t masks[group_blocks] = {};
  void pass_on() noexcept { before = masks[group_blocks - 1]; }
};

struct MaskRows {
  MaskRow letters, letters2, letters4, lower, upper, consonants, consonants2, digits, digits2, spaces,
      spaces2, newlines, tabs, marks, marks2, repeats, closing;
  MaskRow cyrillic, cyrillic2, cyrillic3, cyrillic5, cyrillic7, lead_d0, lead_d1, lead_e3, han, hangul;
  MaskRow latin, other2, after_d0, after_d1, mark_e2, is_81, is_82, is_83, wide, other3, astral, han_e4,
      han_e5, hangul_ea;
};

struct Beyond {
  bool two_bytes;
  bool wide;
};

// Finds the classes of ASCII; tells which lead bytes there are beyond it.
template <class S>
inline Beyond classify(const unsigned char* bytes, unsigned char preceding, MaskRows& rows) noexcept {
  std::uint64_t two_bytes = 0;
  std::uint64_t wide = 0;
  for (int j = 0; j < group_blocks; ++j) {
    const unsigned char* at = bytes + 64 * j;
    const typename S::Block block = S::load(at);
    const std::uint64_t high = S::high(block);
    const std::uint64_t lower = S::within(block, 'a', 25);
    const std::uint64_t upper = S::within(block, 'A', 25);
    const std::uint64_t digits = S::within(block, '0', 9);
    const std::uint64_t spaces = S::equal(block, ' ');
    const std::uint64_t newlines = S::equal(block, '\n') | S::equal(block, '\r');
    const std::uint64_t tabs = S::equal(block, '\t');
    const std::uint64_t letters = lower | upper;
    const std::uint64_t marks = ~(high | letters | digits | spaces | newlines | tabs);
    rows.lower.masks[j] = lower;
    rows.upper.masks[j] = upper;
    rows.letters.masks[j] = letters;
    rows.consonants.masks[j] = letters & ~S::vowels(block);
    rows.digits.masks[j] = digits;
    rows.spaces.masks[j] = spaces;
    rows.newlines.masks[j] = newlines;
    rows.tabs.masks[j] = tabs;
    rows.marks.masks[j] = marks;
    rows.repeats.masks[j] = S::same_as_before(block, at, j == 0 ? preceding : at[-1]) & marks;
    rows.closing.masks[j] = S::equal(block, ')');
    if (high != 0) {
      two_bytes |= S::within(block, 0xC2, 0xDF - 0xC2);
      wide |= S::within(block, 0xE0, 0x1F);
    }
  }
  return {two_bytes != 0, wide != 0};
}

// The classes of characters of two bytes, and those of three and four: few texts hold both.
template <class S>
inline void classify_two_bytes(const unsigned char* bytes, MaskRows& rows) noexcept {
  for (int j = 0; j < group_blocks; ++j) {
    const typename S::Block block = S::load(bytes + 64 * j);
    const std::uint64_t cyrillic = S::within(block, 0xD0, 3);
    const std::uint64_t latin = S::within(block, 0xC2, 8);
    rows.cyrillic.masks[j] = cyrillic;
    rows.lead_d0.masks[j] = S::equal(block, 0xD0);
    rows.lead_d1.masks[j] = S::equal(block, 0xD1);
    rows.latin.masks[j] = latin;
    rows.other2.masks[j] =
        S::within(block, 0xC2, 0xDF - 0xC2) & ~(latin | cyrillic);
    rows.after_d0.masks[j] = S::within(block, 0x90, 0x1F);
    rows.after_d1.masks[j] = S::within(block, 0x92, 0x0D);
  }
}

template <class S>
inline void classify_wide(const unsigned char* bytes, MaskRows& rows) noexcept {
  for (int j = 0; j < group_blocks; ++j) {
    const typename S::Block block = S::load(bytes + 64 * j);
    rows.lead_e3.masks[j] = S::equal(block, 0xE3);
    rows.han.masks[j] = S::within(block, 0xE4, 5);
    rows.hangul.masks[j] = S::within(block, 0xEA, 3);
    rows.mark_e2.masks[j] = S::equal(block, 0xE2);
    rows.is_81.masks[j] = S::equal(block, 0x81);
    rows.is_82.masks[j] = S::equal(block, 0x82);
    rows.is_83.masks[j] = S::equal(block, 0x83);
    rows.wide.masks[j] = S::equal(block, 0xEF);
    rows.other3.masks[j] = S::within(block, 0xE0, 1) | S::equal(block, 0xEE);
    rows.astral.masks[j] = S::within(block, 0xF0, 4);
    rows.han_e4.masks[j] = S::equal(block, 0xE4);
    rows.han_e5.masks[j] = S::equal(block, 0xE5);
    rows.hangul_ea.masks[j] = S::equal(block, 0xEA);
  }
}

// Counts of each feature, one for each block of a group.
struct Counts {
  alignas(64) std::uint64_t lanes[token_features][group_blocks] = {};
  std::uint64_t* operator[](TokenFeature feature) noexcept { return lanes[static_cast<int>(feature)]; }
};

template <class S>
inline void count_ascii(MaskRows& rows, Counts& counts) noexcept {
  using F = TokenFeature;
  using V = typename S::Vector;
  const auto add = [&counts](F feature, V masks) noexcept { S::count(counts[feature], masks); };
  // Keeps masks for the features that look back at them.
  const auto keep = [](MaskRow& row, V masks) noexcept { S::put(row.masks, masks); return masks; };
  const V letters = S::at(rows.letters.masks);
  const V spaces = S::at(rows.spaces.masks);
  const V marks = S::at(rows.marks.masks);
  const V digits = S::at(rows.digits.masks);
  const V upper = S::at(rows.upper.masks);
  const V newlines = S::at(rows.newlines.masks);
  const V tabs = S::at(rows.tabs.masks);
  const V consonants = S::at(rows.consonants.masks);
  const V after_letter = S::template shifted<1>(rows.letters);
  const V after_space = S::template shifted<1>(rows.spaces);
  const V after_mark = S::template shifted<1>(rows.marks);
  add(F::letters, letters);
  const V letters2 = keep(rows.letters2, S::both(letters, after_letter));
  add(F::letters2, letters2);
  add(F::letters3, S::both(letters2, S::template shifted<1>(rows.letters2)));
  const V letters4 =
      keep(rows.letters4, S::both(letters2, S::template shifted<2>(rows.letters2)));
  add(F::letters4, letters4);
  add(F::letters8, S::both(letters4, S::template shifted<4>(rows.letters4)));
  add(F::letter_after_space, S::both(letters, after_space));
  add(F::letter_after_mark, S::both(letters, after_mark));
  add(F::capitals, upper);
  add(F::capitals2, S::both(upper, S::template shifted<1>(rows.upper)));
  add(F::camel, S::both(upper, S::template shifted<1>(rows.lower)));
  add(F::digits, digits);
  const V digits2 = keep(rows.digits2, S::both(digits, S::template shifted<1>(rows.digits)));
  add(F::digits2, digits2);
  add(F::digits4, S::both(digits2, S::template shifted<2>(rows.digits2)));
  add(F::spaces, spaces);
  const V spaces2 = keep(rows.spaces2, S::both(spaces, after_space));
  add(F::spaces2, spaces2);
  add(F::spaces3, S::both(spaces2, S::template shifted<1>(rows.spaces2)));
  add(F::mark_after_space, S::both(marks, after_space));
  add(F::space_after_letter, S::both(spaces, after_letter));
  add(F::newlines, newlines);
  add(F::newlines2, S::both(newlines, S::template shifted<1>(rows.newlines)));
  add(F::newline_after_mark, S::both(newlines, after_mark));
  add(F::tabs, tabs);
  add(F::tabs2, S::both(tabs, S::template shifted<1>(rows.tabs)));
  add(F::marks, marks);
  const V marks2 = keep(rows.marks2, S::both(marks, after_mark));
  add(F::marks2, marks2);
  add(F::marks3, S::both(marks2, S::template shifted<1>(rows.marks2)));
  add(F::repeats3, S::both(S::at(rows.repeats.masks), S::template shifted<1>(rows.repeats)));
  add(F::closing, S::at(rows.closing.masks));
  const V consonants2 =
      keep(rows.consonants2, S::both(consonants, S::template shifted<1>(rows.consonants)));
  add(F::consonants4, S::both(consonants2, S::template shifted<2>(rows.consonants2)));
}

template <class S>
inline void count_two_bytes(MaskRows& rows, Counts& counts) noexcept {
  using F = TokenFeature;
  using V = typename S::Vector;
  const auto add = [&counts](F feature, V masks) noexcept { S::count(counts[feature], masks); };
  const auto keep = [](MaskRow& row, V masks) noexcept { S::put(row.masks, masks); return masks; };
  const V after_space = S::template shifted<1>(rows.spaces);
  const V cyrillic = S::at(rows.cyrillic.masks);
  add(F::latin, S::at(rows.latin.masks));
  add(F::other2, S::at(rows.other2.masks));
  // A letter is two bytes: its neighbour's lead is two before.
  add(F::cyrillic, cyrillic);
  const V cyrillic2 =
      keep(rows.cyrillic2, S::both(cyrillic, S::template shifted<2>(rows.cyrillic)));
  const V cyrillic3 =
      keep(rows.cyrillic3, S::both(cyrillic2, S::template shifted<2>(rows.cyrillic2)));
  const V cyrillic5 =
      keep(rows.cyrillic5, S::both(cyrillic3, S::template shifted<4>(rows.cyrillic3)));
  const V cyrillic7 =
      keep(rows.cyrillic7, S::both(cyrillic5, S::template shifted<4>(rows.cyrillic5)));
  add(F::cyrillic3, cyrillic3);
  add(F::cyrillic5, cyrillic5);
  add(F::cyrillic7, cyrillic7);
  add(F::cyrillic9, S::both(cyrillic7, S::template shifted<4>(rows.cyrillic7)));
  add(F::cyrillic_after_space, S::both(cyrillic, after_space));
  add(F::cyrillic_capital,
      S::both(S::at(rows.after_d0.masks), S::template shifted<1>(rows.lead_d0)));
  add(F::cyrillic_rare,
      S::either(S::both(S::at(rows.after_d1.masks), S::template shifted<1>(rows.lead_d1)),
                S::without(cyrillic, S::either(S::at(rows.lead_d0.masks), S::at(rows.lead_d1.masks)))));
}

template <class S>
inline void count_wide(MaskRows& rows, Counts& counts) noexcept {
  using F = TokenFeature;
  using V = typename S::Vector;
  const auto add = [&counts](F feature, V masks) noexcept { S::count(counts[feature], masks); };
  const V after_e3 = S::template shifted<1>(rows.lead_e3);
  const V lead_e3 = S::at(rows.lead_e3.masks);
  const V han = S::at(rows.han.masks);
  const V hangul = S::at(rows.hangul.masks);
  add(F::punctuation3, S::at(rows.mark_e2.masks));
  add(F::hiragana, S::both(S::at(rows.is_81.masks), after_e3));
  add(F::kana_mixed, S::both(S::at(rows.is_82.masks), after_e3));
  add(F::katakana, S::both(S::at(rows.is_83.masks), after_e3));
  add(F::full_width, S::at(rows.wide.masks));
  add(F::other3, S::at(rows.other3.masks));
  add(F::astral, S::at(rows.astral.masks));
  add(F::han_e4, S::at(rows.han_e4.masks));
  add(F::han_e5, S::at(rows.han_e5.masks));
  add(F::han, han);
  add(F::hangul_ea, S::at(rows.hangul_ea.masks));
  add(F::hangul, hangul);
  add(F::han_pairs, S::both(han, S::template shifted<3>(rows.han)));
  add(F::hangul_pairs, S::both(hangul, S::template shifted<3>(rows.hangul)));
  add(F::hangul_after_space, S::both(hangul, S::template shifted<1>(rows.spaces)));
  add(F::kana_pairs, S::both(lead_e3, S::template shifted<3>(rows.lead_e3)));
}

inline void pass_on(std::initializer_list<MaskRow*> rows, bool found) noexcept {
  for (MaskRow* row : rows) {
    if (found) {
      row->pass_on();
    } else {
      row->before = 0;  // a group without such characters ends whatever the one before had begun
    }
  }
}

template <class S>
inline void count_group(const unsigned char* bytes, unsigned char preceding, MaskRows& rows,
                        Counts& counts) noexcept {
  const Beyond beyond = classify<S>(bytes, preceding, rows);
  count_ascii<S>(rows, counts);
  // The last lead byte of the group before may have its second byte here.
  const bool two_bytes = beyond.two_bytes || (rows.lead_d0.before | rows.lead_d1.before) >> 63 != 0;
  const bool wide = beyond.wide || rows.lead_e3.before >> 63 != 0;
  if (two_bytes) {
    classify_two_bytes<S>(bytes, rows);
    count_two_bytes<S>(rows, counts);
  }
  if (wide) {
    classify_wide<S>(bytes, rows);
    count_wide<S>(rows, counts);
  }
  pass_on({&rows.letters, &rows.letters2, &rows.letters4, &rows.lower, &rows.upper, &rows.consonants,
           &rows.consonants2, &rows.digits, &rows.digits2, &rows.spaces, &rows.spaces2, &rows.newlines,
           &rows.tabs, &rows.marks, &rows.marks2, &rows.repeats},
          true);
  pass_on({&rows.cyrillic, &rows.cyrillic2, &rows.cyrillic3, &rows.cyrillic5, &rows.cyrillic7,
           &rows.lead_d0, &rows.lead_d1},
          two_bytes);
  pass_on({&rows.lead_e3, &rows.han, &rows.hangul}, wide);
}

}  // namespace token_detail

template <class S>
static void count_token_features(ByteView text, std::int64_t* out) noexcept {
  using namespace token_detail;
  Counts counts;
  MaskRows rows;
  // A byte that is a repeat of nothing.
  unsigned char preceding = 0x80;
  std::int64_t i = 0;
  for (; i + group_bytes <= text.size; i += group_bytes) {
    count_group<S>(text.data + i, preceding, rows, counts);
    preceding = text.data[i + group_bytes - 1];
  }
  if (i < text.size) {
    // Filled up with a continuation byte: no feature counts one that no lead byte is before.
    unsigned char rest[group_bytes];
    std::memset(rest, 0x80, sizeof rest);
    std::memcpy(rest, text.data + i, static_cast<std::size_t>(text.size - i));
    count_group<S>(rest, preceding, rows, counts);
  }
  for (int feature = 0; feature < token_features; ++feature) {
    out[feature] = 0;
    for (int j = 0; j < group_blocks; ++j) {
      out[feature] += static_cast<std::int64_t>(counts.lanes[feature][j]);
    }
  }
}

template <class S>
constexpr TokenKernels make_token_kernels() noexcept {
  return TokenKernels{&count_token_features<S>};
}

}  // namespace tipstaff

#endif
