// What a shell may know at one place of a text: for each key a set of values, of which one is there when it runs.
//
// A state is the head of a persistent list: to fork is to copy it, to set is to put a binding in front, to join is to walk
// both lists to their common end. A key that a state does not bind has its default.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tipstaff::eval {

// Stands in a text for a part that is not known.
constexpr char kUnknownPart = '\x01';
// Between the elements of an array and between arguments, where a value holds several.
constexpr char kBetween = '\x1e';

using TextId = std::uint32_t;
constexpr TextId kUnset = 0;  // no value at all
constexpr TextId kOther = 1;  // any text
constexpr TextId kEmpty = 2;

// Where a value comes from; bits. Those that are not named here are the host's.
namespace provenance {
constexpr std::uint16_t kTemporary = 8;      // a name of its own, in a temporary folder
constexpr std::uint16_t kMayBeEmpty = 16;    // an unknown part may be nothing
constexpr std::uint16_t kEnvironment = 128;  // nothing in the text sets it
constexpr std::uint16_t kPattern = 2;        // it holds a pattern
constexpr std::uint16_t kReference = 0x4000; // the text is another variable's name
constexpr std::uint16_t kList = 0x8000;      // an array: elements with kBetween between them, and one at the end
constexpr std::uint16_t kProgram = kMayBeEmpty;  // what a program prints
constexpr std::uint16_t kInput = kMayBeEmpty;    // what is read
constexpr std::uint16_t kItem = 0;               // an item of a loop
constexpr std::uint16_t kLimit = 0;              // too many values or steps
}  // namespace provenance

constexpr std::uint8_t kNothing = 9;  // the kind of what a command that prints nothing prints

struct Value {
  TextId text = kUnset;
  std::uint16_t origin = 0;
  std::uint8_t kind = 0;  // the host's: 0 is the text itself
};

struct Set {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
constexpr std::uint32_t kValues = 16;  // of one key; beyond them it may be anything

// What a binding is about. A key is one of these, a depth of calls, and a name.
enum class Key : std::uint8_t { variable, exported, function, alias, saved, saved_export, is_local, folder, old_folder, arguments, errexit, exit_trap, output, input };

constexpr std::uint64_t key_of(Key kind, TextId name = 0, std::uint32_t depth = 0) noexcept {
  return (static_cast<std::uint64_t>(kind) << 48) | (static_cast<std::uint64_t>(depth) << 32) | name;
}
constexpr Key kind_of(std::uint64_t key) noexcept { return static_cast<Key>(key >> 48); }

struct Binding {
  std::uint64_t key;
  Set set;
  std::uint32_t next;
  std::uint32_t length;  // of the list from here
  std::uint32_t jump;    // a place further on in the list: any is found in a logarithm of steps
  std::uint32_t older;   // another one whose key has the same slot
};

struct State {
  std::uint32_t head = 0;  // 0: the end
  bool live = false;       // else only code that cannot run gets here
  bool cleared = false;    // anything may have been bound before
};

// After a command: where it succeeded, where it failed.
struct Flow {
  State ok, fail;
};

// Texts, values and bindings, in the caller's memory; what is full stays full, and says so.
class Store {
 public:
  // `memory` is aligned to eight bytes. A part of it holds texts that are built, another the bindings and values.
  Store(void* memory, std::size_t bytes) noexcept {
    auto* at = static_cast<unsigned char*>(memory);
    binding_capacity_ = static_cast<std::uint32_t>(bytes / 4 / sizeof(Binding));
    bindings_ = reinterpret_cast<Binding*>(at);
    at += binding_capacity_ * sizeof(Binding);
    value_capacity_ = static_cast<std::uint32_t>(bytes / 4 / sizeof(Value));
    values_ = reinterpret_cast<Value*>(at);
    at += value_capacity_ * sizeof(Value);
    text_capacity_ = static_cast<std::uint32_t>(bytes / 8 / sizeof(Entry));
    texts_ = reinterpret_cast<Entry*>(at);
    at += text_capacity_ * sizeof(Entry);
    std::uint32_t slots = 1;
    while (slots * 2 * sizeof(std::uint32_t) <= bytes / 8) slots *= 2;
    slot_limit_ = slots - 1;
    slot_mask_ = slot_limit_ < 255 ? slot_limit_ : 255;  // it grows
    slots_ = reinterpret_cast<std::uint32_t*>(at);
    std::memset(slots_, 0, (slot_mask_ + 1) * sizeof(std::uint32_t));
    at += slots * sizeof(std::uint32_t);
    bytes_ = reinterpret_cast<char*>(at);
    byte_capacity_ = static_cast<std::uint32_t>(static_cast<unsigned char*>(memory) + bytes - at);
    texts_[text_count_++] = {0, 0};  // kUnset
    intern(std::string_view(&kUnknownPart, 1));
    intern({});
    bindings_[binding_count_++] = {0, {}, 0, 0, 0, 0};
    none = one(kUnset);
    other = one(kOther);
    const Value both[] = {{kUnset, provenance::kEnvironment}, {kOther, provenance::kEnvironment}};
    unset_or_other = set_of(both, 2);
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  bool full() const noexcept { return full_; }
  std::string_view text(TextId id) const noexcept { return {bytes_ + texts_[id].start, texts_[id].size}; }
  const Value* values(Set set) const noexcept { return values_ + set.first; }

  // One id for each text; kOther where there is no room.
  TextId intern(std::string_view text) noexcept;

  Set set_of(const Value* values, std::uint32_t count) noexcept;
  Set one(TextId text, std::uint16_t origin = 0) noexcept {
    const Value value{text, origin};
    return set_of(&value, 1);
  }
  Set either(Set a, Set b) noexcept;
  bool same(Set a, Set b) const noexcept;

  // The binding's set, or the default for the key in this state.
  Set get(const State& state, std::uint64_t key) const noexcept;
  void put(State& state, std::uint64_t key, Set set) noexcept;
  State join(const State& a, const State& b) noexcept;
  // As `next`, but every key that differs from `before` may be anything: a loop goes on to change it.
  State widened(const State& before, const State& next) noexcept;
  bool same(const State& a, const State& b) noexcept;

  // What programs get of a state: variables that are exported, or may be.
  State environment(const State& state, bool functions = false) noexcept;

  Set none, other, unset_or_other;  // no value, any, either
  bool closed = false;  // nothing but what is bound is in the environment

 private:
  struct Entry {
    std::uint32_t start, size;
  };
  static std::uint32_t slot_of(std::uint64_t key) noexcept {
    return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15ull) >> 56);
  }
  std::uint32_t find(std::uint32_t head, std::uint64_t key) const noexcept;
  // Whether the list from `head` comes by.
  bool holds(std::uint32_t head, std::uint32_t binding) const noexcept;
  static std::uint32_t hash_of(std::string_view text) noexcept {
    std::uint32_t hash = 2166136261u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
  }
  void grow() noexcept;
  std::uint32_t common_end(std::uint32_t a, std::uint32_t b) const noexcept;
  template <class Differs>
  void differences(const State& a, const State& b, Differs&& differs) noexcept;

  static constexpr std::uint32_t kSlots = 256;  // as many as eight bits of a hash tell apart
  std::uint32_t newest_[kSlots] = {};  // bindings, by their keys
  Binding* bindings_ = nullptr;
  Value* values_ = nullptr;
  Entry* texts_ = nullptr;
  std::uint32_t* slots_ = nullptr;
  char* bytes_ = nullptr;
  std::uint32_t binding_capacity_ = 0, binding_count_ = 0, value_capacity_ = 0, value_count_ = 0, text_capacity_ = 0, text_count_ = 0;
  std::uint32_t slot_mask_ = 0, slot_limit_ = 0, byte_capacity_ = 0, byte_count_ = 0;
  bool full_ = false;
};

}  // namespace tipstaff::eval
