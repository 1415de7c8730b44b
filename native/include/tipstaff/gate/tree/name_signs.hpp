// Lists of words that nearly every name is looked up in, and nearly never found.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate {

// Tells most names from those of a list without looking at the list: by their length and three letters.
class NameSigns {
 public:
  // Lists as ascii::one_of takes them.
  template <typename... Lists>
  constexpr explicit NameSigns(Lists... lists) noexcept : rows_{} {
    (add_all(lists), ...);
  }
  constexpr void add(std::string_view name) noexcept { rows_[row(name)] |= bit(name); }
  constexpr void add_all(std::string_view names) noexcept {
    for (std::size_t start = 0; start < names.size();) {
      std::size_t end = start;
      while (end < names.size() && names[end] != ' ') ++end;
      add(names.substr(start, end - start));
      start = end + 1;
    }
  }
  // False: the list does not hold it. Not for patterns.
  constexpr bool may_have(std::string_view name) const noexcept { return !name.empty() && (rows_[row(name)] & bit(name)) != 0; }

 private:
  static constexpr std::uint32_t kRows = 64;
  static constexpr std::uint32_t letter(char c) noexcept { return static_cast<unsigned char>(c) & 31u; }  // without case
  static constexpr std::uint32_t row(std::string_view name) noexcept {
    const char third = name.size() > 2 ? name[2] : name.back();
    return (letter(name.front()) * 3 + letter(third) * 5 + static_cast<std::uint32_t>(name.size()) * 7) % kRows;
  }
  static constexpr std::uint32_t bit(std::string_view name) noexcept { return std::uint32_t{1} << letter(name.back()); }

  std::uint32_t rows_[kRows];
};

// A list as ascii::one_of takes it, for what is asked of every name.
class Words {
 public:
  constexpr explicit Words(std::string_view known) noexcept : known_(known), signs_(known) {}
  constexpr bool has(std::string_view text) const noexcept { return signs_.may_have(text) && ascii::one_of(text, known_); }

 private:
  std::string_view known_;
  NameSigns signs_;
};

}  // namespace tipstaff::gate
