#include "tipstaff/eval/state.hpp"

namespace tipstaff::eval {

TextId Store::intern(std::string_view text) noexcept {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  std::uint32_t slot = hash & slot_mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & slot_mask_)
    if (this->text(slots_[slot]) == text) return slots_[slot];
  if (text_count_ == text_capacity_ || text_count_ > slot_mask_ / 2 || text.size() > byte_capacity_ - byte_count_) {
    full_ = true;
    return kOther;
  }
  if (!text.empty()) std::memcpy(bytes_ + byte_count_, text.data(), text.size());
  texts_[text_count_] = {byte_count_, static_cast<std::uint32_t>(text.size())};
  byte_count_ += static_cast<std::uint32_t>(text.size());
  slots_[slot] = text_count_;
  return text_count_++;
}

Set Store::set_of(const Value* values, std::uint32_t count) noexcept {
  if (count > value_capacity_ - value_count_) {
    full_ = true;
    return other;
  }
  // Each text once.
  const std::uint32_t first = value_count_;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t k = first;
    while (k < value_count_ && values_[k].text != values[i].text) ++k;
    if (k == value_count_) values_[value_count_++] = values[i];
    else values_[k].origin |= values[i].origin;
  }
  return {first, value_count_ - first};
}

Set Store::either(Set a, Set b) noexcept {
  if (a.first == b.first && a.count == b.count) return a;
  Value all[2 * kValues];
  std::uint32_t count = 0;
  const auto take = [&](Set set) {
    for (std::uint32_t i = 0; i < set.count && count < 2 * kValues; ++i) {
      const Value value = values_[set.first + i];
      std::uint32_t k = 0;
      while (k < count && all[k].text != value.text) ++k;
      if (k < count) {
        all[k].origin |= value.origin;
      } else {
        all[count++] = value;
      }
    }
  };
  take(a);
  if (count == a.count) {
    take(b);
    if (count == a.count) return a;
  } else {
    take(b);
  }
  if (count > kValues) {
    // The first ones and anything.
    count = kValues;
    all[count - 1] = {kOther, provenance::kLimit};
  }
  return set_of(all, count);
}

bool Store::same(Set a, Set b) const noexcept {
  if (a.count != b.count) return false;
  if (a.first == b.first) return true;
  for (std::uint32_t i = 0; i < a.count; ++i) {
    bool there = false;
    for (std::uint32_t k = 0; k < b.count; ++k) there = there || values_[a.first + i].text == values_[b.first + k].text;
    if (!there) return false;
  }
  return true;
}

Set Store::get(const State& state, std::uint64_t key) const noexcept {
  const Binding* const found = find(state.heads[bucket(key)], key, 0);
  if (found != nullptr) return found->set;
  switch (kind_of(key)) {
    case Key::variable:
    case Key::saved: return closed && !state.cleared ? none : unset_or_other;
    case Key::exported:
    case Key::saved_export: return closed && !state.cleared ? none : unset_or_other;
    case Key::folder:
    case Key::old_folder:
    case Key::input: return other;
    case Key::output: return state.cleared ? other : none;
    default: return state.cleared ? unset_or_other : none;
  }
}

std::uint32_t Store::prepend(std::uint32_t head, std::uint64_t key, Set set) noexcept {
  const std::uint32_t length = bindings_[head].length + 1;
  if (length % 128 == 0) {
    // Only the newest of each key counts: the list is written anew without the others.
    std::uint32_t compact = 0;
    for (std::uint32_t i = head; i != 0; i = bindings_[i].next) {
      const Binding old = bindings_[i];
      if (old.key == key || find(compact, old.key, 0) != nullptr) continue;
      if (binding_count_ == binding_capacity_) break;
      bindings_[binding_count_] = {old.key, old.set, compact, bindings_[compact].length + 1};
      compact = binding_count_++;
    }
    if (bindings_[compact].length + 16 < length) head = compact;
  }
  if (binding_count_ == binding_capacity_) {
    full_ = true;
    return head;
  }
  bindings_[binding_count_] = {key, set, head, bindings_[head].length + 1};
  return binding_count_++;
}

void Store::put(State& state, std::uint64_t key, Set set) noexcept {
  std::uint32_t& head = state.heads[bucket(key)];
  if (head != 0 && bindings_[head].key == key && same(bindings_[head].set, set)) return;
  head = prepend(head, key, set);
}

std::uint32_t Store::common_end(std::uint32_t a, std::uint32_t b) const noexcept {
  while (a != b) {
    if (bindings_[a].length >= bindings_[b].length) {
      a = bindings_[a].next;
    } else {
      b = bindings_[b].next;
    }
  }
  return a;
}

// Calls `differs(bucket, key)` once for each key that was bound since the states parted.
template <class Differs>
void Store::differences(const State& a, const State& b, Differs&& differs) noexcept {
  for (std::uint32_t k = 0; k < State::kHeads; ++k) {
    const std::uint32_t left = a.heads[k], right = b.heads[k];
    if (left == right) continue;
    const std::uint32_t end = common_end(left, right);
    for (std::uint32_t i = left; i != end; i = bindings_[i].next)
      if (find(left, bindings_[i].key, i) == nullptr) differs(bindings_[i].key);
    for (std::uint32_t i = right; i != end; i = bindings_[i].next)
      if (find(right, bindings_[i].key, i) == nullptr && find(left, bindings_[i].key, end) == nullptr) differs(bindings_[i].key);
  }
}

State Store::join(const State& a, const State& b) noexcept {
  if (!a.live) return b;
  if (!b.live) return a;
  State both = a;
  differences(a, b, [&](std::uint64_t key) { put(both, key, either(get(a, key), get(b, key))); });
  both.cleared = a.cleared || b.cleared;
  return both;
}

State Store::environment(const State& state) noexcept {
  State kept;
  kept.live = state.live;
  kept.cleared = state.cleared;
  for (std::uint32_t k = 0; k < State::kHeads; ++k) {
    for (std::uint32_t i = state.heads[k]; i != 0; i = bindings_[i].next) {
      const Binding binding = bindings_[i];
      if (kind_of(binding.key) != Key::variable || find(state.heads[k], binding.key, i) != nullptr) continue;
      const auto name = static_cast<TextId>(binding.key & 0xffffffffu);
      const Set exported = get(state, key_of(Key::exported, name));
      bool may = false, may_not = false;
      for (std::uint32_t n = 0; n < exported.count; ++n) {
        may = may || values_[exported.first + n].text != kUnset;
        may_not = may_not || values_[exported.first + n].text != kEmpty;
      }
      put(kept, binding.key, !may ? none : may_not ? either(binding.set, none) : binding.set);
      put(kept, key_of(Key::exported, name), exported);
    }
  }
  return kept;
}

State Store::widened(const State& before, const State& next) noexcept {
  State wide = next;
  differences(before, next, [&](std::uint64_t key) {
    if (same(get(before, key), get(next, key))) return;
    put(wide, key, kind_of(key) == Key::function || kind_of(key) == Key::exit_trap ? get(next, key) : either(get(next, key), other));
  });
  return wide;
}

bool Store::same(const State& a, const State& b) noexcept {
  if (a.live != b.live || a.cleared != b.cleared) return false;
  bool equal = true;
  differences(a, b, [&](std::uint64_t key) { equal = equal && same(get(a, key), get(b, key)); });
  return equal;
}

}  // namespace tipstaff::eval
