// Lists of words that are asked often: tables by their hash, made when they are compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/name_hash.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate {

void table_is_too_full();  // never compiled: asking for it stops the compiler

// Which of some lists a word is in: the first one that has it. Lists are as ascii::one_of takes them: lower case, one
// space between words. `Slots`: a power of two, at least twice the words. The lists are handed in again when it is asked,
// so that a table holds no addresses.
template <std::uint32_t Slots>
class WordTable {
 public:
  static constexpr std::uint32_t kNowhere = 255;

  // `list_of(i)`: the i-th of `count` lists.
  template <typename ListOf>
  constexpr WordTable(std::uint32_t count, ListOf list_of) : slots_{} {
    static_assert((Slots & (Slots - 1)) == 0, "a hash is cut by a mask");
    for (std::uint32_t list = 0; list < count; ++list) {
      const std::string_view words = list_of(list);
      for (std::size_t start = 0; start < words.size();) {
        std::size_t end = start;
        while (end < words.size() && words[end] != ' ') ++end;
        add(list_of, list, start, words.substr(start, end - start));
        start = end + 1;
      }
    }
  }

  // The number of the first list that has a word, whatever its letter case; kNowhere where none has it.
  template <typename ListOf>
  constexpr std::uint32_t find(std::string_view word, ListOf list_of) const noexcept {
    const std::uint32_t hash = hash_name(word);
    for (std::uint32_t at = hash & (Slots - 1); slots_[at].bytes != 0; at = (at + 1) & (Slots - 1)) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash && ascii::equals(word, list_of(slot.list).substr(slot.start, slot.bytes))) return slot.list;
    }
    return kNowhere;
  }

 private:
  struct Slot {
    std::uint32_t hash;
    std::uint16_t start;
    std::uint8_t bytes, list;
  };

  template <typename ListOf>
  constexpr void add(ListOf list_of, std::uint32_t list, std::size_t start, std::string_view word) {
    if (find(word, list_of) != kNowhere) return;
    std::uint32_t at = hash_name(word) & (Slots - 1);
    for (std::uint32_t tried = 0; slots_[at].bytes != 0; ++tried) {
      if (tried == Slots / 2) table_is_too_full();
      at = (at + 1) & (Slots - 1);
    }
    slots_[at] = Slot{hash_name(word), static_cast<std::uint16_t>(start), static_cast<std::uint8_t>(word.size()), static_cast<std::uint8_t>(list)};
  }

  Slot slots_[Slots];
};

}  // namespace tipstaff::gate
