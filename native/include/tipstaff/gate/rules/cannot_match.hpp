// Tells from a command's words, before they are read as options and operands, that no rule of its program holds.
//
// That is so of most commands. What is reported is certain: each rule has a trigger, a condition that is necessary for it,
// and a guard is before all triggers of a program and its first operand (tipstaff.gates.image.triggers).
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/rules/globs.hpp"
#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/outline.hpp"
#include "tipstaff/gate/rules/word_signs.hpp"
#include "tipstaff/text/lowest_bit.hpp"

namespace tipstaff::gate::rules {

// The candidates that have a sign which is `one`, with the word's ending or alone, as bits.
inline std::uint32_t signed_by(const Image& image, const record::Guard& guard, std::uint32_t one, std::string_view word) noexcept {
  if ((guard.first_signs[one >> 5 & 1] >> (one & 31) & 1) == 0) return 0;
  const std::uint32_t* const wanted = image.signs.items + guard.signs;
  std::uint32_t low = 0, high = guard.pairs_from;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (wanted[middle] >> 16 < one) low = middle + 1;
    else high = middle;
  }
  if (low == guard.pairs_from || wanted[low] >> 16 != one) return 0;
  const std::uint32_t other = ending_sign(word);
  std::uint32_t found = 0;
  for (; low < guard.pairs_from && wanted[low] >> 16 == one; ++low)
    if ((wanted[low] & 0xffff) == one || (wanted[low] & 0xffff) == other) found |= wanted[guard.sign_count + low];
  return found;
}

// What one guard asks of options.
class GuardedOptions {
 public:
  GuardedOptions(const Image& image, const record::Guard& guard, OptionStyle style) noexcept
      : image_(image), guard_(guard), style_(style) {}

  // Whether a word of two bytes and more that begins with a dash is an option that a rule asks for.
  bool may_be_asked_for(std::string_view word) const noexcept {
    if (!has_bundles(style_)) {
      const std::string_view name = word.substr(style_ == OptionStyle::single ? 0 : word[1] == '-' ? 2 : 1);
      return name.size() < 2 ? is_letter(name[0]) : may_begin(name[0], name[1]);
    }
    if (word[1] == '-') return word.size() < 4 || (may_begin(word[2], word[3]) && may_stand_for(word.substr(0, word.find('='))));
    for (std::size_t i = 1; i < word.size(); ++i)
      if (is_letter(word[i])) return true;
    return false;
  }
  bool is_letter(char c) const noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return (guard_.letters[byte >> 5 & 3] >> (byte & 31) & 1) != 0;
  }

 private:
  bool may_begin(char first, char second) const noexcept {
    if (first == '=' || second == '=') return true;
    return guard_.starts != kNothing && (image_.letters[guard_.starts].second[letter_class(first)] >> letter_class(second) & 1) != 0;
  }
  // Whether a name in which letters may be left out at the end is that of an option.
  bool may_stand_for(std::string_view name) const noexcept {
    if (name.size() < 4) return true;
    for (std::uint32_t i = guard_.names; i < guard_.names + guard_.name_count; ++i) {
      const std::string_view full = image_.text(image_.signs[i]);
      if (full.size() < name.size() || full[2] != lower(name[2]) || full[name.size() - 1] != lower(name.back())) continue;
      if (equal_folded(name, full.substr(0, name.size()))) return true;
    }
    return false;
  }

  const Image& image_;
  const record::Guard& guard_;
  const OptionStyle style_;
};

// A function of its own: no object need be kept for it while words are looked at.
[[gnu::noinline]] inline bool may_be_option(const Image& image, const record::Guard& guard, OptionStyle style, std::string_view word) noexcept {
  return GuardedOptions(image, guard, style).may_be_asked_for(word);
}

// Whether some word begins or ends as a rule after a guard asks, or is an option that one asks for.
inline bool may_meet(const Image& image, const record::Guard& guard, OptionStyle style, const Word* words, std::uint32_t count) noexcept {
  static constexpr record::Letters kNone{};
  const std::uint32_t* const firsts = (guard.firsts != kNothing ? image.letters[guard.firsts] : kNone).second;
  const std::uint32_t* const lasts = guard.lasts != kNothing ? image.letters[guard.lasts].second : nullptr;
  const bool asks = guard.asks != 0;
  const Word* const end = words + count;
  for (const Word* at = words; at != end; ++at) {
    const std::string_view word = at->text;
    const std::size_t n = word.size();
    if (n < 2) {
      const std::uint32_t one = n != 0 ? letter_class(word[0]) : kWordEnd;
      if ((firsts[one] >> kWordEnd & 1) != 0 && signed_by(image, guard, beginning_sign(word), word) != 0) return true;
      continue;
    }
    if ((firsts[letter_class(word[0])] >> letter_class(word[1]) & 1) != 0 &&
        signed_by(image, guard, beginning_sign(word), word) != 0)
      return true;
    // Few letters are the last one of any ending.
    if (lasts != nullptr) {
      const std::uint32_t before = lasts[letter_class(word[n - 1])];
      if (before != 0 && n > 2 && (before >> letter_class(word[n - 2]) & 1) != 0 && signed_by(image, guard, ending_sign(word), word) != 0)
        return true;
    }
    if (word[0] != '-' || !asks) continue;
    if (n == 2 && style != OptionStyle::single ? GuardedOptions(image, guard, style).is_letter(word[1]) : may_be_option(image, guard, style, word))
      return true;
  }
  return false;
}

// The letters of words, with their ends.
inline std::uint32_t letters_of(const Outline& outline) noexcept {
  std::uint32_t letters = std::uint32_t{1} << kWordEnd;
  // Blanks within quotes are letters of a word, but so are the quotes.
  const std::string_view written = outline.written();
  if (!written.empty()) return letters | gate::letters_of(written, kBitsBetweenBlanks);
  for (std::uint32_t i = 0; i < outline.count; ++i) letters |= gate::letters_of(outline.words[i].text);
  return letters;
}

// Whether two signs that are pairs of letters, packed as a guard has them, may be there.
inline bool may_have_pair(std::uint32_t signs, const Outline& outline) noexcept {
  const std::string_view written = outline.written();
  return written.empty() || (may_hold_pair(written, signs >> 21 & 31, signs >> 16 & 31) && may_hold_pair(written, signs >> 5 & 31, signs & 31));
}

// The same for all of a guard. Most need a letter that is not there.
[[gnu::noinline]] inline bool may_have_pairs(const Image& image, const record::Guard& guard, const Outline& outline) noexcept {
  const std::uint32_t count = guard.sign_count - guard.pairs_from;
  const std::uint32_t* const signs = image.signs.items + guard.signs + guard.pairs_from;
  const std::uint32_t* const letters = image.signs.items + guard.signs + 2 * guard.sign_count;
  const std::uint32_t missing = ~letters_of(outline);
  for (std::uint32_t from = 0; from < count; from += kSetsAtOnce)
    for (std::uint64_t left = sets_without(letters + from, count - from, missing); left != 0; left &= left - 1)
      if (may_have_pair(signs[from + lowest_bit(left)], outline)) return true;
  return false;
}

// A word that is read as an option, or may be; after `--` it may be an operand, but none that enters anything.
inline bool is_option(std::string_view word) noexcept { return word.size() >= 2 && word[0] == '-'; }

// Whether no rule of the program that `spec` describes holds; null is a program that no rule tells about.
// `facts`: what else is known.
inline bool none_holds(const Image& image, const record::Spec* spec, const Outline& outline, std::uint32_t facts = 0) noexcept {
  if (image.shared.count != 0) return false;
  if (spec == nullptr) return true;
  const auto style = static_cast<OptionStyle>(spec->style);
  if (style == OptionStyle::slash || style == OptionStyle::powershell) return false;
  const record::Bucket* bucket = nullptr;
  if (spec->bucket_slots != 0 && outline.count != 0) {
    const std::string_view first = outline.words[0].text;
    bucket = is_option(first) ? nullptr : image.bucket(*spec, first, outline.first_hash);
    // It is not known yet which is the first operand: it enters nothing where none does.
    for (std::uint32_t i = 1; is_option(first) && i < outline.count; ++i) {
      const std::string_view word = outline.words[i].text;
      if (!is_option(word) && image.bucket(*spec, word, hash_name(word)) != nullptr) return false;
    }
  }
  const std::uint32_t index = bucket != nullptr ? bucket->guard : spec->guard;
  if (index == kNothing) return true;
  const record::Guard& guard = image.guards[index];
  if ((guard.always | (guard.facts & (outline.facts | facts)) | (guard.via & outline.via)) != 0) return false;
  if (may_meet(image, guard, style, outline.words, outline.count)) return false;
  if (guard.pairs_from == guard.sign_count) return true;
  // One is looked up at once.
  if (guard.pairs_from + 1 == guard.sign_count && !may_have_pair(image.signs[guard.signs + guard.pairs_from], outline)) return true;
  return !may_have_pairs(image, guard, outline);
}

}  // namespace tipstaff::gate::rules
