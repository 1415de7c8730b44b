// What programs do to the texts, paths and lists that are known of them: join, format, replace, decode.
#pragma once

#include "tipstaff/gate/scripting/actions/values.hpp"
#include "tipstaff/gate/tree/known_texts.hpp"

namespace tipstaff::gate::program {

class Texts {
 protected:
  explicit Texts(Tree& tree) noexcept : tree_(tree) {}

  static Value text_value(const Known& known) noexcept {
    Value value;
    value.kind = Value::text;
    value.known = known;
    note_unknown(&value.known);
    return value;
  }
  static Value fixed(std::string_view text, Span span, std::uint16_t flags = 0) noexcept {
    return text_value(Known{text, span, false, flags});
  }
  static Value object(std::string_view name) noexcept {
    Value value;
    value.kind = Value::object;
    value.known.text = name;
    return value;
  }
  static Known known_or_blank(const Value& value, Span span) noexcept {
    return value.is_text() ? value.known : unknown_text(span);
  }

  Known joined(const Known& a, std::string_view between, const Known& b) noexcept { return gate::joined(tree_, a, between, b); }
  Value add(const Value& a, const Value& b, Span span) noexcept {
    if (a.kind == Value::list && b.kind == Value::list) {
      Value sum = a;
      sum.first = memory_.item_count();
      sum.count = 0;
      for (const Value* part : {&a, &b}) {
        for (std::uint32_t i = 0; i < part->count; ++i, ++sum.count) {
          if (!memory_.add_item(Known(memory_.item(part->first + i)))) return Value{};
        }
      }
      return sum;
    }
    if (a.kind == Value::list || b.kind == Value::list) return Value{};
    if (a.kind == Value::any || b.kind == Value::any) return add_each(a, b, span);
    if (!a.is_text() && !b.is_text()) return Value{};
    return text_value(joined(known_or_blank(a, span), {}, known_or_blank(b, span)));
  }
  Value add_each(const Value& a, const Value& b, Span span) noexcept {
    const Value& many = a.kind == Value::any ? a : b;
    const Value& one = a.kind == Value::any ? b : a;
    const Known other = one.kind == Value::any ? unknown_text(span) : known_or_blank(one, span);
    Items<kEach> made;
    for (std::uint32_t i = 0; i < many.count; ++i) {
      const Known item = memory_.item(many.first + i);
      made.add(i >= kEach ? unknown_text(span) : a.kind == Value::any ? joined(item, {}, other) : joined(other, {}, item));
    }
    return kept(made, Value::any);
  }
  // Nothing that is known where there is no room.
  template <std::uint32_t N>
  Value kept(const Items<N>& items, Value::Kind kind) noexcept {
    Value list;
    list.kind = kind;
    list.first = memory_.item_count();
    for (const Known& item : items) {
      if (!memory_.add_item(item)) return Value{};
      ++list.count;
    }
    return list;
  }
  // Paths are joined: an absolute one starts over.
  Value join(const Value& a, const Value& b, Span span) noexcept {
    const Known right = known_or_blank(b, span);
    if (!right.text.empty() && (right.text[0] == '/' || right.text[0] == '~')) return text_value(right);
    const Known left = known_or_blank(a, span);
    if (left.text.empty()) return text_value(right);
    const bool slash = left.text.back() == '/' || left.text.back() == '\\';
    return text_value(joined(left, slash ? std::string_view() : std::string_view("/"), right));
  }
  // Either of two; what is not known stays one of them.
  Value either(const Value& a, const Value& b, Span span) noexcept {
    if (!a.is_text() && !b.is_text()) return a.kind != Value::unknown ? a : b;
    Value value;
    value.kind = Value::any;
    value.first = memory_.item_count();
    for (const Value* one : {&a, &b}) {
      if (!memory_.add_item(known_or_blank(*one, span))) return Value{};
      ++value.count;
    }
    return value;
  }
  Value reversed(const Value& value) noexcept {
    if (!value.is_text() || value.known.is_unknown()) return Value{};
    Draft draft(tree_);
    for (std::size_t i = value.known.text.size(); i-- > 0;) {
      if (!draft.put(value.known.text.substr(i, 1))) return Value{};
    }
    return fixed(draft.keep(), value.known.span, value.known.flags);
  }
  Value decoded(const Value& value, bool hex) noexcept {
    std::string_view text;
    if (!value.is_text() || value.known.is_unknown() || !decode(tree_, value.known.text, hex, &text)) return Value{};
    decoded_ = true;
    return fixed(text, value.known.span);
  }
  Value characters(const Arguments& arguments, Span span) noexcept {
    Draft draft(tree_);
    for (std::uint32_t i = 0; i < arguments.count; ++i) {
      if (arguments.at(i).kind != Value::number || !put_character(draft, arguments.at(i).known.text)) return Value{};
    }
    return fixed(draft.keep(), span);
  }
  Value characters(const Value& list, Span span) noexcept {
    Draft draft(tree_);
    for (std::uint32_t i = 0; i < list.count; ++i) {
      if (!put_character(draft, memory_.item(list.first + i).text)) return Value{};
    }
    return fixed(draft.keep(), span);
  }
  // The arguments from `first` on as one list; one that is a list already is itself.
  Value as_list(const Arguments& arguments, std::uint32_t first) noexcept {
    if (arguments.count == first + 1 && arguments.at(first).kind != Value::text) return arguments.at(first);
    Value list;
    list.kind = Value::list;
    list.first = memory_.item_count();
    for (std::uint32_t i = first; i < arguments.count; ++i) {
      if (!memory_.add_item(known_or_blank(arguments.at(i), arguments.at(i).known.span))) return Value{};
      ++list.count;
    }
    return list;
  }
  // 'ez -es' as 'rm -rf'.
  Value turned_by_13(const Value& value) noexcept {
    if (!value.is_text() || value.known.is_unknown()) return Value{};
    Draft draft(tree_);
    for (const char c : value.known.text) {
      const char l = ascii::lower(c);
      const char turned = l >= 'a' && l <= 'm' ? static_cast<char>(c + 13) : l >= 'n' && l <= 'z' ? static_cast<char>(c - 13) : c;
      if (!draft.put(std::string_view(&turned, 1))) return Value{};
    }
    decoded_ = true;
    return fixed(draft.keep(), value.known.span);
  }
  Value joined_list(const Value& list, const Value& separator, Span at) noexcept {
    if ((list.kind != Value::list && list.kind != Value::any) || !separator.is_text()) return Value{};
    Draft draft(tree_);
    std::uint16_t flags = separator.known.flags;
    for (std::uint32_t i = 0; i < list.count; ++i) {
      const Known& item = memory_.item(list.first + i);
      if (i > 0 && !draft.put(separator.known.text)) return Value{};
      if (!draft.put(item.text) || draft.is_long()) return Value{};
      flags |= item.flags;
    }
    return text_value(Known{draft.keep(), at, false, flags});
  }
  // A text cut at its blanks; nothing where there is no room for the pieces.
  Value words_in(const Known& text) noexcept {
    Value list;
    list.kind = Value::list;
    list.first = memory_.item_count();
    for (std::size_t i = 0; i < text.text.size();) {
      while (i < text.text.size() && ascii::is_space(text.text[i])) ++i;
      std::size_t end = i;
      while (end < text.text.size() && !ascii::is_space(text.text[end])) ++end;
      if (end > i) {
        Known part = text;
        part.text = text.text.substr(i, end - i);
        if (text.verbatim) {
          part.span.start = static_cast<std::uint32_t>(text.span.start + i);
          part.span.end = static_cast<std::uint32_t>(text.span.start + end);
        }
        note_unknown(&part);
        if (!memory_.add_item(part)) return Value{};
        ++list.count;
      }
      i = end;
    }
    return list;
  }
  Value replaced(const Value& self, const Value& what, const Value& with, Span at) noexcept {
    std::string_view text;
    if (what.kind != Value::text || with.kind != Value::text) return text_value(unknown_text(at));
    if (!replace_in(tree_, self.known.text, what.known.text, with.known.text, false, &text)) return text_value(unknown_text(at));
    return text_value(Known{text, at, false, self.known.flags});
  }
  // "... %s ...", "... {} ...": the first place is filled with what is known, the others are not known.
  Value filled(const Value& self, const Value& with, Span at) noexcept {
    const Known value = with.kind == Value::list && with.count > 0 ? memory_.item(with.first) : known_or_blank(with, at);
    Draft draft(tree_);
    std::uint32_t place = 0;
    const std::string_view text = self.known.text;
    for (std::size_t i = 0; i < text.size();) {
      std::string_view put = text.substr(i, 1);
      std::size_t step = 1;
      bool filled = false;
      if (text[i] == '%' && i + 1 < text.size()) {
        if (text[i + 1] == '%') {
          step = 2;
        } else if (text[i + 1] == 's' || text[i + 1] == 'd' || text[i + 1] == 'r') {
          step = 2;
          filled = true;
        } else if (text[i + 1] == '(') {
          const std::size_t close = text.substr(i, 64).find(')');
          if (close != std::string_view::npos) {
            step = close + 2;
            filled = true;
          }
        }
      } else if (text[i] == '{') {
        const std::size_t close = text.substr(i, 64).find('}');
        if (close != std::string_view::npos && text.substr(i, close).find(' ') == std::string_view::npos) {
          step = close + 1;
          filled = true;
        }
      }
      if (filled) {
        const bool many = with.kind == Value::list && place < with.count;
        put = many ? memory_.item(with.first + place).text : place == 0 ? value.text : std::string_view("\x01", 1);
        ++place;
      }
      if (!draft.put(put) || draft.is_long()) return Value{};
      i += step;
    }
    return text_value(Known{draft.keep(), at, false, 0});
  }

  static constexpr std::uint32_t kEach = 48;  // of what stands for several, so many are followed

  Tree& tree_;
  Memory memory_;
  bool decoded_ = false;
};

}  // namespace tipstaff::gate::program
