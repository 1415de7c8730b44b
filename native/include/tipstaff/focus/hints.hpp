// Where a listed word may begin, recognised by three letters at a time: the tables for it.
#ifndef TIPSTAFF_FOCUS_HINTS_HPP
#define TIPSTAFF_FOCUS_HINTS_HPP

#include <cstdint>
#include <initializer_list>

#include "tipstaff/focus/words.hpp"

namespace tipstaff {
namespace focus {

// The listed words are in eight groups. For each of the first three letters, and for each half of a
// byte, a table says which groups have a word with such a half there. The three letters of a position
// that every table agrees on may begin a word of that group; in either case, as the upper halves of
// small letters and capitals stand for each other. A word of two letters agrees with any third byte.
struct Hints {
  std::uint8_t low[3][16];
  std::uint8_t high[3][16];
};

// Words that begin alike share a group, so that their other letters go together.
static constexpr int hint_group(const char* word, int size) noexcept {
  switch (word[0]) {
    case 'c':
    case 'd': return 0;
    case 'r':
    case 's': return 1;
    case 'p':
    case 'u': return 2;
    case 'f': return size == 2 ? 3 : 4;
    case 't': return 5;
    case 'e':
    case 'i': return 6;
    default: return 7;
  }
}

static constexpr Hints make_hints() noexcept {
  Hints hints = {};
  for (const KindWord& word : kind_words) {
    const auto group = static_cast<std::uint8_t>(1u << hint_group(word.word, word.size));
    for (int letter = 0; letter < 3; ++letter) {
      if (letter >= word.size) {
        for (int half = 0; half < 16; ++half) {
          hints.low[letter][half] = static_cast<std::uint8_t>(hints.low[letter][half] | group);
          hints.high[letter][half] = static_cast<std::uint8_t>(hints.high[letter][half] | group);
        }
        continue;
      }
      const auto byte = static_cast<unsigned char>(word.word[letter]);
      std::uint8_t& low = hints.low[letter][byte & 15];
      low = static_cast<std::uint8_t>(low | group);
      for (const int half : {byte >> 4, (byte >> 4) - 2}) {
        std::uint8_t& high = hints.high[letter][half];
        high = static_cast<std::uint8_t>(high | group);
      }
    }
  }
  return hints;
}

inline constexpr Hints hints = make_hints();

// What is between words, recognised by the halves of a byte: each kind is a bit that both halves have.
enum Between : std::uint8_t { white = 3, apart_marks = 60, stop_marks = 192 };

struct BetweenHalves {
  std::uint8_t low[16];
  std::uint8_t high[16];
};

static constexpr BetweenHalves make_between() noexcept {
  BetweenHalves halves = {};
  const auto give = [&halves](const char* set, unsigned bit) {
    for (; *set != 0; ++set) {
      const auto byte = static_cast<unsigned char>(*set);
      halves.low[byte & 15] = static_cast<std::uint8_t>(halves.low[byte & 15] | bit);
      halves.high[byte >> 4] = static_cast<std::uint8_t>(halves.high[byte >> 4] | bit);
    }
  };
  give("\t\n\v\f\r", 1);
  give(" ", 2);
  give("!),", 4);
  give(";=>?", 8);
  give("[]^", 16);
  give("{|}", 32);
  give(".", 64);
  give(":", 128);
  return halves;
}

inline constexpr BetweenHalves between = make_between();

}  // namespace focus
}  // namespace tipstaff

#endif
