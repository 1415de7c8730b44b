// What is known of a program's values: texts, lists of them, paths, modules and their members.
#pragma once

#include "tipstaff/gate/scripting/lexer.hpp"
#include "tipstaff/gate/tree/variables.hpp"

namespace tipstaff::gate::program {

namespace option {
constexpr std::uint32_t kRecursive = 1;
constexpr std::uint32_t kForce = 2;
constexpr std::uint32_t kShell = 4;
constexpr std::uint32_t kSends = 8;    // a method that sends, or data to send
constexpr std::uint32_t kEmpty = 16;   // {} and []
constexpr std::uint32_t kInPlace = 32;  // a file is rewritten as it is read: fileinput.input(inplace=True)
constexpr std::uint32_t kScrambled = 128;  // random or encrypted bytes: what they overwrite is lost
constexpr std::uint32_t kNumbered = 64;  // items come with their numbers: enumerate()
}  // namespace option

struct Value {
  enum Kind : std::uint8_t {
    unknown,
    text,
    number,
    list,     // items, in order
    any,      // one of the items: a loop's variable, either branch
    object,   // a module, a class, a function: text is its dotted name
    path,     // a path's object; text is the path
    content,  // what a file holds; text is its path
    walk,     // directories below text
    options,  // a mapping: bits, and the list that matters in it
    remote,   // came from the network
    function,  // of the program itself: first is its number
    process,   // a program that was started: text is the shell code that starts it
  };
  Kind kind = unknown;
  bool simple = false;  // one name, which may be assigned to
  std::uint16_t count = 0;
  std::uint32_t first = 0;
  std::uint32_t bits = 0;
  Known known;

  bool is_text() const noexcept { return kind == text || kind == path || kind == number; }
  // Whether it stands for several: a list, what a glob or a folder gives.
  bool is_several() const noexcept {
    return count > 0 || kind == walk || (is_text() && (known.flags & word_flag::kGlob) != 0);
  }
};

// The items of lists, and the variables, of one program.
class Memory {
 public:
  static constexpr std::uint32_t kItems = 256, kVariables = 256;

  std::uint32_t item_count() const noexcept { return item_count_; }
  const Known& item(std::uint32_t index) const noexcept { return items_[index]; }
  bool add_item(const Known& item) noexcept {
    if (item_count_ == kItems) return false;
    new (&items_[item_count_++]) Known(item);
    return true;
  }
  const Value* find(std::string_view name) const noexcept { return variables_.find(name); }
  // Names of modules and functions are kept longest, since texts that are not known are asked about where they are used.
  void bind(std::string_view name, const Value& value) noexcept {
    variables_.bind(name, value, value.kind != Value::unknown, [](const Value& one) noexcept { return one.kind == Value::object || one.kind == Value::function; });
  }
  // Whether it is not known any more what some name stands for, so that its calls are missed.
  bool lost_names() const noexcept { return variables_.lost(); }

 private:
  Raw<Known, kItems> items_;
  Variables<Value, kVariables> variables_;
  std::uint32_t item_count_ = 0;
};

struct Arguments {
  static constexpr std::uint32_t kMost = 12;
  Value value[kMost];
  std::uint32_t count = 0;    // of those that are kept
  std::uint32_t written = 0;  // of all
  std::uint32_t bits = 0;
  Value named;                // args=, cmd=
  Value target;               // target=, func=
  Known file;                 // a file whose content is among them
  bool has_file = false;
  Known input;                // what a program that is started gets to read: input=
  bool has_input = false;
  bool remote = false;        // something from the network is among them

  void add(const Value& one) noexcept {
    if (count < kMost) {
      value[count++] = one;
    } else {
      value[kMost - 1] = Value{};  // more than there is room for: what is there is not known
    }
  }
  const Value& at(std::uint32_t index) const noexcept {
    static constexpr Value kNothing{};
    return index < count ? value[index] : kNothing;
  }
};

}  // namespace tipstaff::gate::program
