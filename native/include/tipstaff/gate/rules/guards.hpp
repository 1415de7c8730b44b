// Tells of a command's words which of its program's rules can hold.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/options.hpp"
#include "tipstaff/gate/rules/cannot_match.hpp"
#include "tipstaff/gate/rules/word_signs.hpp"
#include "tipstaff/text/lowest_bit.hpp"

namespace tipstaff::gate::rules {

// The guard's candidate rules whose triggers are satisfied. Two end signs are of one word: one glob made them.
class Guarded {
 public:
  Guarded(const Image& image, const Parsed& parsed, std::uint32_t facts, std::uint32_t via) noexcept
      : image_(image), parsed_(parsed), facts_(facts), via_(via) {}

  // The candidates that may hold, as bits; all from the 32nd on have the last one. None where the guard is kNothing.
  std::uint32_t open(std::uint32_t index) noexcept {
    if (index == kNothing) return 0;
    const record::Guard& guard = image_.guards[index];
    met_ = guard.always;
    if (guard.pairs_from != 0) find_ends(guard);
    if (guard.pairs_from != guard.sign_count) find_pairs(guard);
    find_triggers(guard);
    return met_;
  }

 private:
  void find_triggers(const record::Guard& guard) noexcept {
    const auto upper = [](std::uint64_t bits) noexcept { return static_cast<std::uint32_t>(bits >> 32); };
    const auto lower = [](std::uint64_t bits) noexcept { return static_cast<std::uint32_t>(bits); };
    const std::uint64_t* const present = parsed_.present.half;
    const std::uint64_t* const valued = parsed_.valued.half;
    const std::uint32_t there[kTriggerBits / 32] = {facts_, via_,
                                                    lower(present[0]), upper(present[0]), lower(present[1]), upper(present[1]),
                                                    lower(valued[0]), upper(valued[0]), lower(valued[1]), upper(valued[1])};
    const record::Trigger* const end = image_.triggers.items + guard.triggers + guard.trigger_count;
    for (const record::Trigger* trigger = image_.triggers.items + guard.triggers; trigger != end; ++trigger)
      if ((there[trigger->what >> 5] >> (trigger->what & 31) & 1) != 0) met_ |= trigger->candidates;
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
        if ((firsts[one] >> two & 1) != 0) met_ |= signed_by(image_, guard, beginning_sign(word), word);
        continue;
      }
      if ((firsts[letter_class(word[0])] >> letter_class(word[1]) & 1) != 0) met_ |= signed_by(image_, guard, beginning_sign(word), word);
      if ((lasts[letter_class(word[n - 1])] >> letter_class(word[n - 2]) & 1) != 0) met_ |= signed_by(image_, guard, ending_sign(word), word);
    }
  }
  // Pairs of letters are looked for only where all their letters are there.
  void find_pairs(const record::Guard& guard) noexcept {
    const std::uint32_t missing = ~parsed_.all_letters(), count = guard.sign_count - guard.pairs_from;
    bool known = false;
    std::uint32_t pairs[32];
    const std::uint32_t* const signs = image_.signs.items + guard.signs;
    const std::uint32_t* const letters = signs + 2 * guard.sign_count;
    for (std::uint32_t from = 0; from < count; from += kSetsAtOnce) {
      for (std::uint64_t left = sets_without(letters + from, count - from, missing); left != 0; left &= left - 1) {
        if (!known) {
          known = true;
          for (std::uint32_t& row : pairs) row = 0;
          for (std::uint32_t w = 0; w < parsed_.count; ++w) add_pairs(parsed_.words[w].text, pairs);
        }
        const std::uint32_t i = guard.pairs_from + from + static_cast<std::uint32_t>(lowest_bit(left));
        const std::uint32_t one = signs[i] >> 16 & 1023, other = signs[i] & 1023;
        if ((pairs[one >> 5] >> (one & 31) & pairs[other >> 5] >> (other & 31) & 1) != 0) met_ |= signs[guard.sign_count + i];
      }
    }
  }

  const Image& image_;
  const Parsed& parsed_;
  const std::uint32_t facts_, via_;
  std::uint32_t met_ = 0;
};

}  // namespace tipstaff::gate::rules
