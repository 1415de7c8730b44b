// What is known of PowerShell's values, its variables, and the texts that it makes: formats, replacements, characters.
#pragma once

#include <array>

#include "tipstaff/gate/tree/variables.hpp"

namespace tipstaff::gate::powershell {

struct Value {
  enum Kind : std::uint8_t { unknown, text, list, remote, block, table };  // a table: names and values by turns
  Kind kind = unknown;
  std::uint16_t count = 0;
  std::uint32_t first = 0;          // items of a list
  std::size_t start = 0, stop = 0;  // a script block's inside
  Known known;
  bool bare = false;                // a word as a command takes it

  bool is_text() const noexcept { return kind == text; }
};

// Bytes that end a word, and those that end a piece of one.
inline constexpr std::uint8_t kWordEnd = 1, kPieceEnd = 2;
inline constexpr auto kEnds = []() constexpr noexcept {
  std::array<std::uint8_t, 256> ends{};
  for (int c = 0; c < 256; ++c)
    if (ascii::is_space(static_cast<char>(c))) ends[static_cast<std::size_t>(c)] = kWordEnd | kPieceEnd;
  for (const char c : std::string_view(";|&(){},")) ends[static_cast<unsigned char>(c)] = kWordEnd | kPieceEnd;
  for (const char c : std::string_view("\"'$><")) ends[static_cast<unsigned char>(c)] = kPieceEnd;
  return ends;
}();
constexpr bool ends(char c, std::uint8_t what) noexcept { return (kEnds[static_cast<unsigned char>(c)] & what) != 0; }

class Values {
 protected:
  static constexpr std::uint32_t kItems = 256, kVariables = 128, kListed = 16;
  explicit Values(Tree& tree) noexcept : tree_(tree) {}

  static Value text_value(const Known& known) noexcept {
    Value value;
    value.kind = Value::text;
    value.known = known;
    note_unknown(&value.known);
    if (ascii::holds_any(known.text, "*?")) value.known.flags |= word_flag::kGlob;
    return value;
  }
  static Known known_or_blank(const Value& value, Span span) noexcept { return value.is_text() ? value.known : unknown_text(span); }
  Value list_of(const Known* items, std::uint32_t count) noexcept {
    Value list;
    list.kind = Value::list;
    list.first = item_count_;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (item_count_ == kItems) return Value{};
      new (&items_[item_count_++]) Known(items[i]);
      ++list.count;
    }
    return list;
  }
  // Adds to a list. What there is no room for is one item that is not known.
  void append(Value* list, const Known& item) noexcept {
    if (list->kind != Value::list && list->kind != Value::table) return;
    if (list->first + list->count != item_count_) {
      const Value::Kind kind = list->kind;
      *list = list_of(&items_[list->first], list->count);
      if (list->kind == Value::unknown) return;
      list->kind = kind;
    }
    if (item_count_ < kItems) {
      new (&items_[item_count_++]) Known(item);
      ++list->count;
    } else if (list->count > 0) {
      items_[item_count_ - 1] = unknown_text(item.span);
    } else {
      *list = Value{};
    }
  }
  const Value* find(std::string_view name) const noexcept { return variables_.find(name); }
  void bind(std::string_view name, const Value& value) noexcept {
    variables_.bind(name, value, value.kind != Value::unknown, [](const Value&) noexcept { return false; });
  }

  Known joined(const Known& a, std::string_view between, const Known& b) noexcept { return gate::joined(tree_, a, between, b); }
  Value joined_list(const Value& list, const Known& separator) noexcept {
    if (list.is_text()) return list;
    if (list.kind != Value::list || list.count == 0) return Value{};
    Known all = items_[list.first];
    for (std::uint32_t i = 1; i < list.count; ++i) all = joined(all, separator.text, items_[list.first + i]);
    return text_value(all);
  }
  // '{1}{0}' -f 'a','b'
  Value formatted(const Known& format, const Known* items, std::uint32_t count) noexcept {
    Draft draft(tree_);
    const std::string_view text = format.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::string_view put = text.substr(i, 1);
      if (text[i] == '{' && i + 2 < text.size() && ascii::is_digit(text[i + 1])) {
        std::uint32_t which = 0;
        for (std::size_t k = i + 1; k < text.size() && k < i + 5 && ascii::is_digit(text[k]); ++k) which = which * 10 + static_cast<std::uint32_t>(text[k] - '0');
        const std::size_t close = text.substr(i, 32).find('}');
        if (close != std::string_view::npos) {
          put = which < count ? items[which].text : std::string_view("\x01", 1);
          i += close;
        }
      }
      if (!draft.put(put) || draft.is_long()) return Value{};
    }
    return text_value(Known{draft.keep(), format.span, false, 0});
  }
  Value replaced(const Value& self, const Value& what, const Value& with) noexcept {
    std::string_view text;
    if (!self.is_text() || !what.is_text()) return Value{};
    if (!replace_in(tree_, self.known.text, what.known.text, with.is_text() ? with.known.text : std::string_view(), true, &text)) return Value{};
    return text_value(Known{text, self.known.span, false, 0});
  }
  Value character(const Value& number) noexcept {
    if (number.known.text.empty() || !ascii::is_digit(number.known.text[0])) return number;
    Draft draft(tree_);
    return put_character(draft, number.known.text) ? text_value(Known{draft.keep(), number.known.span, false, 0}) : Value{};
  }
  Value decoded(const Value& value) noexcept {
    std::string_view text;
    if (!value.is_text() || value.known.is_unknown() || !decode(tree_, value.known.text, false, &text)) return Value{};
    decoded_ = true;
    return text_value(Known{text, value.known.span, false, 0});
  }
  // UTF-16 of plain text as one byte each.
  Value narrowed(const Value& value) noexcept {
    if (!value.is_text()) return value;
    const std::string_view text = value.known.text;
    if (text.size() < 2 || text[1] != '\0') return value;
    Draft draft(tree_);
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
      if (!draft.put(text[i + 1] == '\0' && text[i] != kUnknownPart ? text.substr(i, 1) : "?")) return Value{};
    }
    return text_value(Known{draft.keep(), value.known.span, false, 0});
  }

  Tree& tree_;
  Raw<Known, kItems> items_;
  Variables<Value, kVariables, true> variables_;
  std::uint32_t item_count_ = 0;
  bool decoded_ = false;
};

}  // namespace tipstaff::gate::powershell
