// Tells of a command's words which of its program's rules can hold.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/image.hpp"
#include "tipstaff/gate/options.hpp"
#include "tipstaff/gate/quiet.hpp"
#include "tipstaff/gate/word_signs.hpp"

namespace tipstaff::gate::rules {

// What is met of the triggers behind one guard. Two signs of ends are those of one word: one glob made them.
class Guarded {
 public:
  Guarded(const Image& image, const Parsed& parsed, std::uint32_t facts, std::uint32_t via) noexcept
      : image_(image), parsed_(parsed), facts_(facts), via_(via) {}

  // Whether any of the triggers may be met; none is where the guard is kNothing.
  bool open(std::uint32_t index) noexcept {
    signed_ = 0;
    other_ = false;
    if (index == kNothing) return false;
    const record::Guard& guard = image_.guards[index];
    if (guard.pairs_from != 0) find_ends(guard);
    if (guard.pairs_from != guard.sign_count) find_pairs(guard);
    other_ = other_than_signs(guard);  // what no guard has, none of its triggers has
    return signed_ != 0 || other_;
  }
  // Whether the trigger of one of the candidates is.
  bool met(std::uint32_t candidate, const record::Trigger& trigger) const noexcept {
    return (signed_ >> (candidate < 31 ? candidate : 31) & 1) != 0 || (other_ && other_than_signs(trigger));
  }

 private:
  template <typename T>
  bool other_than_signs(const T& needs) const noexcept {
    return (needs.facts & facts_) != 0 || (needs.via & via_) != 0 ||
           (needs.present != kNothing && parsed_.present.meets(image_.masks[needs.present])) ||
           (needs.valued != kNothing && parsed_.valued.meets(image_.masks[needs.valued]));
  }

  void find_ends(const record::Guard& guard) noexcept {
    static constexpr record::Letters kNone{};
    const std::uint32_t* const firsts = (guard.firsts != kNothing ? image_.letters[guard.firsts] : kNone).second;
    const std::uint32_t* const lasts = (guard.lasts != kNothing ? image_.letters[guard.lasts] : kNone).second;
    const Word* const words = parsed_.words;
    const std::uint32_t count = parsed_.count;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string_view word = words[i].text;
      const std::size_t n = word.size();
      if (n < 3) {
        const std::uint32_t one = n > 0 ? letter_class(word[0]) : kWordEnd, two = n > 1 ? letter_class(word[1]) : kWordEnd;
        if ((firsts[one] >> two & 1) != 0) signed_ |= signed_by(image_, guard, beginning_sign(word), word);
        continue;
      }
      if ((firsts[letter_class(word[0])] >> letter_class(word[1]) & 1) != 0) signed_ |= signed_by(image_, guard, beginning_sign(word), word);
      if ((lasts[letter_class(word[n - 1])] >> letter_class(word[n - 2]) & 1) != 0) signed_ |= signed_by(image_, guard, ending_sign(word), word);
    }
  }
  // Pairs of letters are looked for only where all their letters are there.
  void find_pairs(const record::Guard& guard) noexcept {
    const std::uint32_t all = parsed_.all_letters();
    bool known = false;
    std::uint32_t pairs[32];
    const std::uint32_t* const signs = image_.signs.items + guard.signs;
    const std::uint32_t* const letters = signs + 2 * guard.sign_count;
    for (std::uint32_t i = guard.pairs_from; i < guard.sign_count; ++i) {
      if ((letters[i - guard.pairs_from] & ~all) != 0) continue;
      if (!known) {
        known = true;
        for (std::uint32_t& row : pairs) row = 0;
        for (std::uint32_t w = 0; w < parsed_.count; ++w) add_pairs(parsed_.words[w].text, pairs);
      }
      const std::uint32_t one = signs[i] >> 16 & 1023, other = signs[i] & 1023;
      if ((pairs[one >> 5] >> (one & 31) & pairs[other >> 5] >> (other & 31) & 1) != 0) signed_ |= signs[guard.sign_count + i];
    }
  }

  const Image& image_;
  const Parsed& parsed_;
  const std::uint32_t facts_, via_;
  std::uint32_t signed_ = 0;  // candidates that have a sign
  bool other_ = false;        // whether something else than signs is there that some trigger asks for
};

}  // namespace tipstaff::gate::rules
