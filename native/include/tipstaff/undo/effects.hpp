// What the commands of a call would do to files and to git, as far as that can be seen before they run.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/undo/keep.hpp"
#include "tipstaff/undo/memory.hpp"

namespace tipstaff::gate {
class Proof;
}

namespace tipstaff::undo {

class Effects {
 public:
  // One command of a text that was read.
  struct Source {
    std::uint32_t field, command, first, count;
    bool seen;      // all that it does to files is among its effects
    bool reads;     // it changes nothing
    Outcome outcome;
  };
  static constexpr std::uint32_t kSources = 2048, kEffects = 8192, kUnnamed = 0xffffffffu;

  explicit Effects(Arena& arena) noexcept : arena_(arena) {}
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;

  gate::Proof* proof = nullptr;  // takes each tree as well; null: nobody asks

  // Adds those of the commands of a tree that a text was read as; what they name is copied.
  void take(const gate::Tree& tree, std::string_view text) noexcept;
  // The field of the call that the trees taken since are about.
  void found_in(std::uint32_t field) noexcept {
    for (; named_ < source_count_; ++named_) sources_[named_].field = field;
  }

  std::uint32_t source_count() const noexcept { return source_count_; }
  Source& source(std::uint32_t i) noexcept { return sources_[i]; }
  const Effect& effect(std::uint32_t i) const noexcept { return effects_[i]; }
  bool full() const noexcept { return full_; }
  // Whether a command has effects, all of them are known, and of at most this outcome.
  bool covers(std::uint32_t field, std::uint32_t command, Outcome most) noexcept;
  // Whether all that a command may reach inside its repository is kept.
  bool keeps_inside(std::uint32_t field, std::uint32_t command) noexcept;

 private:
  friend struct CommandEffects;
  void add(Effect::Kind kind, std::string_view a, std::string_view b, std::string_view folder, std::int32_t number = -1) noexcept;

  Arena& arena_;
  Source* sources_ = nullptr;
  Effect* effects_ = nullptr;
  std::uint32_t source_count_ = 0, effect_count_ = 0, named_ = 0;
  bool full_ = false, elsewhere_ = false;
};

}  // namespace tipstaff::undo
