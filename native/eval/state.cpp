#include "tipstaff/eval/state.hpp"

namespace tipstaff::eval {

void Store::grow() noexcept {
  slot_mask_ = 2 * slot_mask_ + 1;
  std::memset(slots_, 0, (slot_mask_ + 1) * sizeof(std::uint32_t));
  for (std::uint32_t id = 1; id < text_count_; ++id) {
    std::uint32_t slot = hash_of(text(id)) & slot_mask_;
    while (slots_[slot] != 0) slot = (slot + 1) & slot_mask_;
    slots_[slot] = id;
  }
}

TextId Store::intern(std::string_view text) noexcept {
  // A long text of its own is found by its place.
  if (text.size() > 64 && text.data() >= bytes_ && text.data() < bytes_ + byte_count_) {
    const auto start = static_cast<std::uint32_t>(text.data() - bytes_);
    std::uint32_t low = 0, high = text_count_;
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (texts_[middle].start <= start ? low : high) = middle;
    }
    if (texts_[low].start == start && texts_[low].size == text.size()) return low;
  }
  if (text_count_ > slot_mask_ / 2 && slot_mask_ < slot_limit_) grow();
  std::uint32_t slot = hash_of(text) & slot_mask_;
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
    while (k < value_count_ && (values_[k].text != values[i].text || values_[k].kind != values[i].kind)) ++k;
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
      while (k < count && (all[k].text != value.text || all[k].kind != value.kind)) ++k;
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
    for (std::uint32_t k = 0; k < b.count; ++k) there = there || (values_[a.first + i].text == values_[b.first + k].text && values_[a.first + i].kind == values_[b.first + k].kind);
    if (!there) return false;
  }
  return true;
}

Set Store::get(const State& state, std::uint64_t key) const noexcept {
  const std::uint32_t found = find(state.head, key);
  if (found != 0) return bindings_[found].set;
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

bool Store::holds(std::uint32_t head, std::uint32_t binding) const noexcept {
  const std::uint32_t length = bindings_[binding].length;
  while (bindings_[head].length > length) head = bindings_[bindings_[head].jump].length >= length ? bindings_[head].jump : bindings_[head].next;
  return head == binding;
}

// The newest one in the list, 0 where there is none: whichever way is the shorter one, along the list or through all that were
// ever bound to such a key.
std::uint32_t Store::find(std::uint32_t head, std::uint64_t key) const noexcept {
  std::uint32_t listed = head;
  for (std::uint32_t made = newest_[slot_of(key)]; made != 0 && listed != 0; made = bindings_[made].older, listed = bindings_[listed].next) {
    if (bindings_[listed].key == key) return listed;
    if (bindings_[made].key == key && holds(head, made)) return made;
  }
  return 0;
}

void Store::put(State& state, std::uint64_t key, Set set) noexcept {
  const std::uint32_t next = state.head;
  if (next != 0 && bindings_[next].key == key && same(bindings_[next].set, set)) return;
  if (binding_count_ == binding_capacity_) {
    full_ = true;
    return;
  }
  const std::uint32_t jump = bindings_[next].jump, far = bindings_[jump].jump;
  const bool doubles = bindings_[next].length - bindings_[jump].length == bindings_[jump].length - bindings_[far].length;
  std::uint32_t& newest = newest_[slot_of(key)];
  bindings_[binding_count_] = {key, set, next, bindings_[next].length + 1, doubles ? far : next, newest};
  state.head = newest = binding_count_++;
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

// Calls `differs(key)` once for each key that was bound since the states parted.
template <class Differs>
void Store::differences(const State& a, const State& b, Differs&& differs) noexcept {
  const std::uint32_t left = a.head, right = b.head;
  if (left == right) return;
  const std::uint32_t end = common_end(left, right);
  for (std::uint32_t i = left; i != end; i = bindings_[i].next)
    if (find(left, bindings_[i].key) == i) differs(bindings_[i].key);
  for (std::uint32_t i = right; i != end; i = bindings_[i].next)
    if (find(right, bindings_[i].key) == i && bindings_[find(left, bindings_[i].key)].length <= bindings_[end].length) differs(bindings_[i].key);
}

State Store::join(const State& a, const State& b) noexcept {
  if (!a.live) return b;
  if (!b.live) return a;
  State both = a;
  differences(a, b, [&](std::uint64_t key) { put(both, key, either(get(a, key), get(b, key))); });
  both.cleared = a.cleared || b.cleared;
  return both;
}

State Store::environment(const State& state, bool functions) noexcept {
  State kept;
  kept.live = state.live;
  kept.cleared = state.cleared;
  for (std::uint32_t i = state.head; i != 0; i = bindings_[i].next) {
    const Binding binding = bindings_[i];
    const Key kind = kind_of(binding.key);
    if ((kind != Key::variable && !(functions && kind == Key::function)) || find(state.head, binding.key) != i) continue;
    if (kind == Key::function) {
      put(kept, binding.key, binding.set);
      continue;
    }
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
