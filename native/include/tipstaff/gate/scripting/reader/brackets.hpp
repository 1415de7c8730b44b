// What is in brackets in expressions of programs: groups, lists, mappings and blocks, indexes.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// ( ... ) and [ ... ]: one value in parentheses is itself, else a list.
inline Value ScriptReader::group(std::string_view close) noexcept {
  const bool square = close == "]";
  const std::size_t opened = token_.start;
  const Outside outside = enter_bracket();
  Items<48> items;
  std::uint32_t written = 0;
  Value only;
  bool comma = false, spliced = false, environment = false;
  while (token_.kind != Kind::end && !token_.is(close)) {
    const std::size_t before = token_.start;
    if (skip(",")) {
      comma = true;
      continue;
    }
    if (token_.is(";") || token_.is("}") || (token_.is(")") && square) || (token_.is("]") && !square)) break;
    const std::size_t start = token_.start;
    spliced = token_.is("*") || token_.is("...");
    only = expression();
    ++written;
    if (spliced && square) only = whole_environment(only, from(start));
    environment = environment || (square && holds_environment(only));
    if ((only.kind == Value::list || only.kind == Value::any) && (spliced || language_ == Language::perl)) {
      for (std::uint32_t i = 0; i < only.count; ++i) items.add(memory_.item(only.first + i));
    } else {
      if (only.kind == Value::object && (square || comma)) keep_for_later(only);
      items.add(known_or_blank(only, from(start)));
    }
    if (token_.start == before) advance();
  }
  --brackets_;
  skip(close);
  const bool comprehension = seen_.start != 0 && seen_.stop == 0 && seen_.start > opened;
  leave_bracket(outside);
  if (environment) return whole_environment(object("environ"), from(opened));
  if (comprehension || (!square && written == 1 && !comma)) return only;
  Value list = kept(items, Value::list);
  if (written == 0) list.bits |= option::kEmpty;
  if (square && written == 1 && only.kind == Value::object) list.known.text = only.known.text;  // [os.system][0]
  return list;
}

// { key: value, ... } or a block of statements: calls in it are met, some of its keys matter.
inline Value ScriptReader::mapping() noexcept {
  advance();
  Value value;
  value.kind = Value::options;
  if (language_ == Language::ruby && token_.is("|")) {  // a block's own names
    advance();
    while (token_.kind == Kind::name || token_.is(",")) {
      if (token_.kind == Kind::name && block_value_.kind != Value::unknown) memory_.bind(token_.text, block_value_);
      advance();
    }
    skip("|");
  }
  block_value_ = Value{};
  ++brackets_;
  const std::uint32_t outer = brackets_;
  if (language_ != Language::python) brackets_ = 0;  // lines end in blocks
  bool empty = true, gathered = false;
  while (token_.kind != Kind::end && !token_.is("}")) {
    empty = false;
    const std::size_t before = token_.start;
    const std::string_view key = token_.kind == Kind::name || token_.kind == Kind::text ? token_.text : std::string_view();
    const Token next = key.empty() ? Token() : peek();
    if (next.is(":") || next.is("=>")) {
      if (mongo_ && command_key_.empty()) command_key_ = program_name(tree_, key);
      advance();
      advance();
      const Value item = expression();
      gathered = gathered || (is_python() && over_environment_ && holds_environment(item));
      over_environment_ = false;
      option_value(&value, key, item);
    } else if (token_.is("**") || token_.is("...")) {  // {...process.env, a: 1}
      const std::size_t start = token_.start;
      advance();
      const Value spread = whole_environment(expression(), from(start));
      option_value(&value, {}, spread);
      gathered = gathered || holds_environment(spread);
    } else {
      statement();
    }
    skip(",");
    if (token_.start == before && token_.kind != Kind::end) advance();
  }
  brackets_ = outer - 1;
  skip("}");
  if (empty) value.bits |= option::kEmpty;
  if (gathered) return whole_environment(object("environ"), value.known.span);  // {k: v for k, v in os.environ.items()}
  return value;
}

inline void ScriptReader::option_value(Value* options, std::string_view key, const Value& value) noexcept {
  const bool off = value.kind == Value::object && ascii::one_of(value.known.text, "false none null undefined nil");
  if (off) return;
  if (value.kind == Value::object) keep_for_later(value);
  if (ascii::one_of(key, "recursive")) options->bits |= option::kRecursive;
  if (ascii::one_of(key, "force")) options->bits |= option::kForce;
  if (ascii::one_of(key, "inplace")) options->bits |= option::kInPlace;
  if (ascii::one_of(key, "shell")) options->bits |= option::kShell;
  if (ascii::one_of(key, "body data json files form formdata content multipart")) options->bits |= option::kSends;
  if (ascii::one_of(key, "method") && value.is_text() && ascii::one_of(value.known.text, "post put patch")) options->bits |= option::kSends;
  if (ascii::one_of(key, "args cmd argv command") && value.kind == Value::list) {
    options->first = value.first;
    options->count = value.count;
  }
  if (ascii::one_of(key, "input stdin_data") && value.is_text()) {
    input_seen_ = value.known;
    has_input_seen_ = true;
  }
  if (!mongo_ && value.kind == Value::text && ascii::one_of(key, "query sql statement")) read_statement(value);  // command({query: "DROP TABLE t"})
  if (!mongo_ && ascii::equals(key, "text") && value.is_text() && is_statement(ascii::trim(value.known.text))) read_statement(value);  // query({text: "DROP TABLE t"})
  if (value.kind == Value::content) {
    file_seen_ = value.known;
    has_file_seen_ = true;
  }
}

inline Value ScriptReader::index(const Value& self, std::size_t start) noexcept {
  // text[::-1]
  const Token second = peek();
  if (is_python() && self.is_text() && (second.is("::") || second.is(":"))) {
    advance();
    bool minus = false, colon = false;
    while (token_.kind != Kind::end && !token_.is("]") && (token_.kind == Kind::number || token_.is(":") || token_.is("::") || token_.is("-"))) {
      if (token_.is("::")) colon = true;
      if (token_.is("-")) minus = true;
      advance();
    }
    skip("]");
    return minus && colon ? reversed(self) : Value{};
  }
  advance();
  ++brackets_;
  // plumbum: rm["-rf", "/"] is a command.
  const bool command = is_python() && self.kind == Value::object &&
                       (ascii::starts_with(self.known.text, "plumbum.cmd.") || ascii::starts_with(self.known.text, "plumbum.local."));
  Items<16> items;
  if (command) items.add(Known{self.known.text.substr(self.known.text.rfind('.') + 1), from(start), false, 0});
  const Value key = expression();
  if (command) items.add(known_or_blank(key, from(start)));
  while (token_.kind != Kind::end && !token_.is("]") && !token_.is(";") && !token_.is(")") && !token_.is("}")) {
    const std::size_t before = token_.start;
    if (!skip(",") && !skip(":")) {
      const Value next = expression();
      if (command) items.add(known_or_blank(next, from(start)));
    }
    if (token_.start == before) advance();
  }
  --brackets_;
  skip("]");
  const Span at = from(start);
  if (command) {
    run_words(items.begin(), items.size(), at);
    return Value{};
  }
  if (self.kind == Value::object) {
    if (self.known.text == "sys.modules" && key.kind == Value::text) return object(key.known.text);
    if (ascii::ends_with(self.known.text, ".__dict__") && key.kind == Value::text) {
      return special_member(member(object(self.known.text.substr(0, self.known.text.size() - 9)), key.known.text), at);
    }
    if (ascii::one_of(self.known.text, "os.environ environ env process.env os.environb")) return environment(key, at);
    if (language_ == Language::ruby && self.known.text == "Dir" && key.is_text()) {
      Value pattern = key;
      pattern.known.flags |= word_flag::kGlob;
      return pattern;
    }
    if (key.kind == Value::text && !key.known.is_unknown()) {
      return ascii::one_of(self.known.text, "globals locals vars") ? object(key.known.text) : special_member(member(self, key.known.text), at);
    }
    return Value{};
  }
  if (self.kind == Value::content || self.kind == Value::remote) return self;
  if (self.kind == Value::list && key.kind == Value::number && key.known.text.size() < 4) {
    std::uint32_t i = 0;
    for (const char c : key.known.text) {
      if (!ascii::is_digit(c)) return Value{};
      i = i * 10 + static_cast<std::uint32_t>(c - '0');
    }
    if (i == 0 && self.count == 1 && !self.known.text.empty()) return object(self.known.text);
    if (i < self.count) return text_value(memory_.item(self.first + i));
  }
  return Value{};
}

}  // namespace tipstaff::gate::program
