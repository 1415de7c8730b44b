// Reads the words of one command by its program's description: which are options, values, operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/rules/globs.hpp"
#include "tipstaff/gate/rules/outline.hpp"
#include "tipstaff/gate/rules/word_signs.hpp"
#include "tipstaff/gate/tree/reading.hpp"

namespace tipstaff::gate::rules {

struct Bits {
  std::uint64_t half[2] = {0, 0};
  void set(std::uint32_t bit) noexcept { half[bit >> 6] |= std::uint64_t{1} << (bit & 63); }
  bool has(std::uint32_t bit) const noexcept { return (half[bit >> 6] >> (bit & 63)) & 1; }
  bool meets(const record::Mask& mask) const noexcept {
    return ((half[0] & (mask.bits[0] | std::uint64_t{mask.bits[1]} << 32)) |
            (half[1] & (mask.bits[2] | std::uint64_t{mask.bits[3]} << 32))) != 0;
  }
};
inline bool in_mask(const record::Mask& mask, std::uint32_t bit) noexcept { return (mask.bits[bit >> 5] >> (bit & 31)) & 1; }

enum class WordKind : std::uint8_t { positional, option, value, terminator };
constexpr std::uint32_t kWords = limits::kWords;  // what lies beyond is read as positional
constexpr std::uint8_t kNoBit = 255;
constexpr std::uint32_t kUnclassified = 0xffffffffu;

// How one word was read.
struct Reading {
  WordKind kind;
  std::uint8_t bit;        // of an option that carries its value, and of a value
  std::uint16_t value_at;  // where the value begins in an option that carries it
  mutable std::uint32_t classes;  // of the word as a path; kUnclassified until a rule asks
};

// How the words of one command were read.
struct Parsed {
  const Word* words = nullptr;
  std::uint32_t count = 0;
  Bits present, sure;  // sure: spelled out, or abbreviated without another meaning
  Bits valued;         // options whose value is in some word
  std::uint16_t flags = 0;  // of all words
  const record::Bucket* bucket = nullptr;
  std::uint32_t positionals = 0;
  mutable std::uint32_t letters = 0;  // of all words, or of more than they; 0 until a rule asks
  mutable std::uint64_t pairs = 0;    // of letters side by side in some word; 0 until a rule asks
  bool as_written = false;  // the words are parts of one text
  Reading readings[kWords];

  WordKind kind_of(std::uint32_t index) const noexcept { return index < kWords ? readings[index].kind : WordKind::positional; }
  // `all_flags`: of all words together.
  void begin(const Word* given, std::uint32_t given_count, std::uint16_t all_flags, bool one_text) noexcept {
    words = given;
    count = given_count;
    flags = all_flags;
    present = sure = valued = Bits{};
    bucket = nullptr;
    positionals = 0;
    letters = 0;
    pairs = 0;
    as_written = one_text;
  }
  // The letters of all words, with their ends.
  std::uint32_t all_letters() const noexcept {
    if (letters != 0) return letters;
    letters = std::uint32_t{1} << kWordEnd;
    if (as_written && count != 0 && (flags & word_flag::kQuoted) == 0) {
      letters |= letters_of(text_of(words, count), kBitsBetweenBlanks);
    } else {
      for (std::uint32_t i = 0; i < count; ++i) letters |= letters_of(words[i].text);
    }
    return letters;
  }
  // The letters that are side by side in some word.
  std::uint64_t all_pairs() const noexcept {
    if (pairs != 0) return pairs;
    pairs = pair_bit(kWordEnd, kWordEnd);
    for (std::uint32_t i = 0; i < count; ++i) pairs |= pairs_of(words[i].text);
    return pairs;
  }
};

inline bool is_off(std::string_view value) noexcept {
  return equal_folded(value, "false") || value == "0" || equal_folded(value, "no") || equal_folded(value, "off") ||
         equal_folded(value, "none") || equal_folded(value, "$false");
}

class Options {
 public:
  Options(const Image& image, const record::Spec& spec, Parsed* parsed) noexcept
      : image_(image), spec_(spec), parsed_(parsed), style_(static_cast<OptionStyle>(spec.style)) {}

  [[gnu::flatten]] void read() noexcept {
    // Locals: what is written to a reading's bytes might be anything's, for all a compiler knows.
    Parsed* const parsed = parsed_;
    const Word* const words = parsed->words;
    const std::uint32_t count = parsed->count;
    const bool by_dash = style_ != OptionStyle::slash && style_ != OptionStyle::powershell;
    constexpr Reading kPositional{WordKind::positional, kNoBit, 0, kUnclassified};
    std::uint32_t waiting = kNoBit;  // the option whose value the next word is
    std::uint32_t positionals = 0;
    bool ended = style_ == OptionStyle::operands;
    Reading beyond;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string_view text = words[i].text;
      Reading& reading = i < kWords ? parsed->readings[i] : beyond;
      reading = kPositional;
      if (waiting != kNoBit) {
        reading.kind = WordKind::value;
        reading.bit = static_cast<std::uint8_t>(waiting);
        parsed->valued.set(waiting);
        waiting = kNoBit;
        continue;
      }
      const bool option_like = text.size() >= 2 && (text[0] == '-' || (!by_dash && is_option(text)));
      if (ended || !option_like) {
        parsed->positionals = ++positionals;
        if (positionals == 1) parsed->bucket = image_.bucket(spec_, text, hash_name(text));
      } else if (text.size() == 2 && text[1] == '-') {
        ended = true;
        reading.kind = WordKind::terminator;
        if (const record::Flag* flag = exact("--")) set(flag->bit, true);
      } else {
        reading.kind = WordKind::option;
        waiting = option(text, &reading.bit, &reading.value_at);
        if (reading.bit != kNoBit) parsed->valued.set(reading.bit);
        if (style_ == OptionStyle::guessed && waiting == kNoBit && positionals == 0 && may_take_value(text, i + 1 < count ? words[i + 1].text : std::string_view())) {
          // What is after an option that is not known may be its value, and is then no subcommand.
          Reading& next = i + 1 < kWords ? parsed->readings[i + 1] : beyond;
          next = Reading{WordKind::value, kNoBit, 0, kUnclassified};
          ++i;
        }
      }
    }
  }

 private:
  bool may_take_value(std::string_view option, std::string_view next) const noexcept {
    if (next.empty() || next[0] == '-' || option.find('=') != std::string_view::npos) return false;
    return !ascii::one_of(option, "-y --yes -f --force -q --quiet -v --verbose --debug -d -n --no-color --batch --json");
  }
  bool is_option(std::string_view text) const noexcept {
    if (text.size() < 2) return false;
    if (text[0] == '-') return true;
    if (style_ != OptionStyle::slash && style_ != OptionStyle::powershell) return false;
    if (style_ == OptionStyle::slash && text[0] == '/') return slash_is_option(text);
    return style_ == OptionStyle::powershell && text.size() > 3 && text.substr(0, 3) == "\xe2\x80\x93";  // an en dash
  }
  // `/s`, `/s/q`, `/a:h`; a path begins with a slash as well.
  bool slash_is_option(std::string_view text) const noexcept {
    std::size_t at = 1;
    while (at <= text.size()) {
      std::size_t end = text.find('/', at);
      if (end == std::string_view::npos) end = text.size();
      const std::string_view part = text.substr(at, end - at), name = part.substr(0, part.find(':'));
      if (name.empty() || (name.size() > 2 && exact(name) == nullptr)) return false;
      at = end + 1;
    }
    return true;
  }

  const record::Flag& flag(std::uint32_t index) const noexcept { return image_.flags[spec_.flags + index]; }
  const record::Flag* letter(char name) const noexcept {
    const auto byte = static_cast<unsigned char>(name);
    if ((spec_.letters[byte >> 5 & 3] >> (byte & 31) & 1) == 0) return nullptr;
    for (std::uint32_t i = 0; i < spec_.short_count; ++i)
      if ((flag(i).letter & (kAttached - 1)) == byte) return &flag(i);
    return nullptr;
  }
  const record::Flag* exact(std::string_view name) const noexcept {
    if (spec_.option_slots == 0) return nullptr;
    const std::uint32_t hash = hash_name(name), last = spec_.option_slots - 1;
    for (std::uint32_t at = hash & last;; at = (at + 1) & last) {
      const std::uint32_t option = image_.indexes[spec_.option_index + at];
      if (option == kNothing) return nullptr;
      if (flag(option).hash == hash && equal_folded(name, image_.text(flag(option).name))) return &flag(option);
    }
  }
  // The options that a name in which letters are left out at the end may stand for: [first, end).
  void candidates(std::string_view name, std::uint32_t* first, std::uint32_t* end) const noexcept {
    *first = spec_.short_count;
    *end = spec_.flag_count;
    const std::size_t dashes = has_bundles(style_) ? 2 : 0;
    if (name.size() < dashes + 2) return;
    const std::uint32_t start = letter_class(name[dashes]) << 5 | letter_class(name[dashes + 1]);
    std::uint32_t low = *first, high = *end;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (flag(middle).letter < start) low = middle + 1;
      else high = middle;
    }
    *first = *end = low;
    while (*end < spec_.flag_count && flag(*end).letter == start) ++*end;
  }
  // Whether the first two letters tell that it is no option's name, nor the beginning of one.
  bool begins_unknown(std::string_view name, char sign) const noexcept {
    const std::size_t dashes = has_bundles(style_) ? 2 : 0;
    if (name.size() < dashes + 2) return false;
    const char first = name[dashes], second = name[dashes + 1];
    if (first == sign || second == sign) return false;
    if (spec_.starts == kNothing) return true;
    return (image_.letters[spec_.starts].second[letter_class(first)] >> letter_class(second) & 1) == 0;
  }
  void set(std::uint32_t bit, bool sure) noexcept {
    parsed_->present.set(bit);
    if (sure) parsed_->sure.set(bit);
  }
  bool takes_value(std::uint32_t bit) const noexcept {
    if (spec_.values_any != kNothing && in_mask(image_.masks[spec_.values_any], bit)) return true;
    if (parsed_->positionals == 0) {
      return spec_.values_before != kNothing && in_mask(image_.masks[spec_.values_before], bit);
    }
    return parsed_->bucket != nullptr && parsed_->bucket->values != kNothing &&
           in_mask(image_.masks[parsed_->bucket->values], bit);
  }
  // Reads one option word; returns the bit of the option whose value the next word is.
  std::uint32_t option(std::string_view text, std::uint8_t* bit, std::uint16_t* value_at) noexcept {
    switch (style_) {
      case OptionStyle::gnu:
      case OptionStyle::whole:
      case OptionStyle::guessed:
        return text.size() > 2 && text[1] == '-' ? named(text, 0, '=', style_ == OptionStyle::gnu, bit, value_at) : bundle(text, bit, value_at);
      case OptionStyle::go: return named(text, text[1] == '-' ? 2 : 1, '=', false, bit, value_at);
      case OptionStyle::single: return named(text, 0, '=', false, bit, value_at);
      case OptionStyle::powershell: return named(text, text[0] == '-' ? 1 : 3, ':', true, bit, value_at);
      case OptionStyle::slash: return slashes(text, bit, value_at);
      case OptionStyle::operands: break;
    }
    return kNoBit;
  }
  std::uint32_t bundle(std::string_view text, std::uint8_t* bit, std::uint16_t* value_at) noexcept {
    for (std::size_t i = 1; i < text.size(); ++i) {
      const record::Flag* found = letter(text[i]);
      if (found == nullptr) continue;
      set(found->bit, true);
      if ((found->letter & kAttached) != 0) return kNoBit;
      if (!takes_value(found->bit)) continue;
      if (i + 1 == text.size()) return found->bit;
      *bit = static_cast<std::uint8_t>(found->bit);
      *value_at = static_cast<std::uint16_t>(i + 1 < 65535 ? i + 1 : 65535);
      return kNoBit;
    }
    return kNoBit;
  }
  std::uint32_t named(std::string_view text, std::size_t skip, char sign, bool abbreviated, std::uint8_t* bit,
                      std::uint16_t* value_at) noexcept {
    if (begins_unknown(text.substr(skip), sign)) return kNoBit;
    const std::size_t at = text.find(sign, 1);
    const std::string_view name = text.substr(skip, at == std::string_view::npos ? at : at - skip);
    const bool carries = at != std::string_view::npos;
    const bool off = carries && is_off(text.substr(at + 1));
    const record::Flag* found = exact(name);
    // A one-letter option of a program that knows no bundles.
    if (found == nullptr && !has_bundles(style_) && style_ != OptionStyle::powershell) {
      const std::size_t dashes = style_ == OptionStyle::single ? 1 : 0;
      if (name.size() == dashes + 1) found = letter(name[dashes]);
    }
    std::uint32_t last = kNoBit;
    if (found != nullptr) {
      last = found->bit;
      if (!off) set(last, true);
    } else if (abbreviated && name.size() >= (has_bundles(style_) ? 4u : 1u)) {
      std::uint32_t meanings = 0, i = 0, end = 0;
      for (candidates(name, &i, &end); i < end; ++i) {
        const std::string_view full = image_.text(flag(i).name);
        if (full.size() <= name.size() || full[name.size() - 1] != lower(name.back())) continue;
        if (!equal_folded(name, full.substr(0, name.size()))) continue;
        if (meanings++ == 0 || flag(i).bit > last) last = flag(i).bit;
        if (!off) parsed_->present.set(flag(i).bit);
      }
      if (meanings == 1 && !off) parsed_->sure.set(last);
    }
    if (last == kNoBit) return kNoBit;
    if (carries) {
      *bit = static_cast<std::uint8_t>(last);
      *value_at = static_cast<std::uint16_t>(at + 1 < 65535 ? at + 1 : 65535);
      return kNoBit;
    }
    return takes_value(last) ? last : kNoBit;
  }
  std::uint32_t slashes(std::string_view text, std::uint8_t* bit, std::uint16_t* value_at) noexcept {
    std::size_t at = 1;
    std::uint32_t waiting = kNoBit;
    while (at <= text.size()) {
      std::size_t end = text.find('/', at);
      if (end == std::string_view::npos) end = text.size();
      const std::string_view part = text.substr(at, end - at), name = part.substr(0, part.find(':'));
      const record::Flag* found = name.size() == 1 ? letter(lower(name[0])) : exact(name);
      if (found != nullptr) {
        set(found->bit, true);
        if (name.size() < part.size()) {
          *bit = static_cast<std::uint8_t>(found->bit);
          *value_at = static_cast<std::uint16_t>(at + name.size() + 1);
        } else if (takes_value(found->bit)) {
          waiting = found->bit;
        }
      }
      at = end + 1;
    }
    return waiting;
  }

  const Image& image_;
  const record::Spec& spec_;
  Parsed* parsed_;
  OptionStyle style_;
};

}  // namespace tipstaff::gate::rules
