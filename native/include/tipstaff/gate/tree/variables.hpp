// Names and what they stand for. Where there is no room left, what was bound longest ago is forgotten.
#pragma once

#include <cstring>
#include <string_view>

#include "tipstaff/gate/tree/known_texts.hpp"
#include "tipstaff/gate/tree/raw.hpp"

namespace tipstaff::gate {

// kFolded: names in any case are the same.
template <typename Value, std::uint32_t N, bool kFolded = false>
class Variables {
 public:
  Variables() noexcept { std::memset(heads_, 0xff, sizeof heads_); }

  std::uint32_t size() const noexcept { return count_; }
  std::string_view name(std::uint32_t index) const noexcept { return all_[index].name; }
  const Value& value(std::uint32_t index) const noexcept { return all_[index].value; }

  const Value* find(std::string_view name) const noexcept {
    for (std::uint16_t i = heads_[bucket(name)]; i != kNobody; i = all_[i].next)
      if (kFolded ? same_word(all_[i].name, name) : all_[i].name == name) return &all_[i].value;
    return nullptr;
  }
  // `matters`: whether others are forgotten for it; `keeps(value)`: whether a value is forgotten last.
  template <typename Keeps>
  void bind(std::string_view name, const Value& value, bool matters, Keeps keeps) noexcept {
    if (const Value* const known = find(name); known != nullptr) {
      *const_cast<Value*>(known) = value;
      return;
    }
    if (count_ == N && !matters) return;
    const auto slot = static_cast<std::uint16_t>(count_ < N ? count_++ : forget(keeps));
    std::uint16_t& head = heads_[bucket(name)];
    new (&all_[slot]) Entry{name, value, head};
    head = slot;
  }
  // Whether one of those that are forgotten last was forgotten.
  bool lost() const noexcept { return lost_; }

 private:
  struct Entry {
    std::string_view name;
    Value value;
    std::uint16_t next;  // of the same bucket
  };
  static constexpr std::uint16_t kNobody = 0xffff;
  static constexpr std::uint32_t kBuckets = 64;

  static std::uint32_t bucket(std::string_view name) noexcept {
    if (name.empty()) return 0;
    const auto byte = [](char c) noexcept { return static_cast<std::uint32_t>(static_cast<unsigned char>(kFolded ? c | 0x20 : c)); };
    return (byte(name.front()) * 7u + byte(name.back()) * 31u + static_cast<std::uint32_t>(name.size())) % kBuckets;
  }
  template <typename Keeps>
  std::uint32_t forget(Keeps keeps) noexcept {
    std::uint32_t slot = oldest_ % N;
    for (std::uint32_t i = 0; i < N && keeps(all_[slot].value); ++i) slot = (slot + 1) % N;
    lost_ = lost_ || keeps(all_[slot].value);
    oldest_ = slot + 1;
    std::uint16_t* link = &heads_[bucket(all_[slot].name)];
    while (*link != slot) link = &all_[*link].next;
    *link = all_[slot].next;
    return slot;
  }

  Raw<Entry, N> all_;
  std::uint16_t heads_[kBuckets];
  std::uint32_t count_ = 0, oldest_ = 0;
  bool lost_ = false;
};

}  // namespace tipstaff::gate
