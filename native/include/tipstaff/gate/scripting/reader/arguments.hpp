// What the calls of programs get: arguments in brackets and without, by place and by name.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// Ruby and Perl call without parentheses.
inline bool ScriptReader::takes_bare_arguments(const Value& value) const noexcept {
  if (language_ != Language::perl && language_ != Language::ruby) return false;
  if (token_.line) return false;
  if (value.kind == Value::function && value.simple) {
    return token_.kind == Kind::text || token_.kind == Kind::words || token_.kind == Kind::number ||
           (token_.kind == Kind::name && !token_.is_one_of("if unless and or while until for foreach do then x eq ne lt gt cmp rescue in end"));
  }
  if (value.kind != Value::object) return false;
  if (language_ == Language::ruby && token_.is("*") && token_.start == previous_stop_ + 1 && peek().start == token_.stop) {  // system *words
    return bare_action(value) != Action::none;
  }
  if (language_ == Language::perl && token_.is("{")) return bare_action(value) == Action::shell;
  if (language_ == Language::perl && token_.is("[")) return ascii::one_of(value.known.text, kStarts);  // run [ "rm", "x" ]
  if (token_.kind == Kind::mark || token_.kind == Kind::end || token_.kind == Kind::pattern) return false;
  if (language_ == Language::perl && token_.is_one_of("for foreach") && bare_action(value) == Action::remove_file) return true;
  if (token_.kind == Kind::name && token_.sigil == 0 &&
      token_.is_one_of("if unless and or while until for foreach do then x eq ne lt gt cmp rescue in end")) {
    return false;
  }
  return bare_action(value) != Action::none;
}

inline Value ScriptReader::bare_call(const Value& value, std::size_t start) noexcept {
  const Action action = bare_action(value);
  Arguments arguments;
  const std::string_view name = value.known.text;
  const std::string_view handle = action == Action::open && language_ == Language::perl ? handle_ahead() : std::string_view();
  if (language_ == Language::perl && token_.kind == Kind::name && token_.sigil == 0 && action == Action::open) {
    arguments.count = arguments.written = 1;  // a bareword for the file
    advance();
    skip(",");
  }
  if (language_ == Language::perl && action == Action::shell && token_.is("{")) mapping();  // system { $program } list
  while (token_.kind != Kind::end && !token_.is(";") && !token_.is("}") && !token_.is(")") && !token_.is("]")) {
    if (token_.line && lines_end() && brackets_ == 0) break;
    if (token_.is_one_of("if unless and or while until for foreach do rescue")) break;
    const std::size_t before = token_.start;
    argument(&arguments);
    if (!skip(",") && !skip("=>")) break;
    if (token_.start == before) break;
  }
  for_each_after(&arguments);
  if (language_ == Language::perl && action == Action::none && value.kind == Value::object) return plain_call(name, name, {}, arguments, from(start));
  if (value.kind == Value::function) return call_function(value.first, arguments);
  const Value result = act(action, arguments, from(start), name);
  if (result.kind == Value::process && !handle.empty()) memory_.bind(handle, result);
  return result;
}

// Python's sh: bash(c="rm x") is bash -c "rm x", rm(r=True, force=True) is rm -r --force.
inline void ScriptReader::add_option(Arguments* arguments, std::string_view key, const Value& value, Span at) noexcept {
  if (key[0] == '_') return;
  const std::string_view dashes = key.size() == 1 ? "-" : "--";
  arguments->add(fixed(tree_.join(tree_.copy(dashes), key), at));
  ++arguments->written;
  if (value.is_text()) {
    arguments->add(value);
    ++arguments->written;
  }
}

inline void ScriptReader::argument(Arguments* arguments) noexcept {
  std::string_view key;
  if (token_.kind == Kind::name && (is_python() || language_ == Language::ruby || language_ == Language::php || language_ == Language::perl)) {
    const Token next = peek();
    const bool named = (is_python() && next.is("=")) || (language_ == Language::ruby && next.is(":")) ||
                       (token_.sigil != '$' && next.is("=>"));
    if (named) {
      key = token_.text;
      advance();
      advance();
    }
  }
  has_file_seen_ = false;
  // What a call among the arguments gets to read is not what this one's program gets.
  const bool outer_input = has_input_seen_;
  const Known outer_seen = input_seen_;
  has_input_seen_ = false;
  const std::size_t start = token_.start;
  const bool words = options_are_words_;
  options_are_words_ = false;
  Value value = expression();
  if (value.kind == Value::object && !ascii::equals(key, "env")) value = whole_environment(value, from(start));
  options_are_words_ = words;
  if (token_.start == start && token_.kind != Kind::end) advance();
  if (has_file_seen_ || value.kind == Value::content) {
    arguments->file = value.kind == Value::content ? value.known : file_seen_;
    arguments->has_file = true;
    has_file_seen_ = false;
  }
  if (value.kind == Value::remote) arguments->remote = true;
  Value options;
  if (!key.empty()) option_value(&options, key, value);
  if (has_input_seen_) {
    arguments->input = input_seen_;
    arguments->has_input = true;
  }
  has_input_seen_ = outer_input;
  input_seen_ = outer_seen;
  if (!key.empty()) {
    if (words) add_option(arguments, key, value, from(start));
    arguments->bits |= options.bits;
    if (options.count > 0) {
      arguments->named = options;
      arguments->named.kind = Value::list;
    }
    if (ascii::one_of(key, "target func function callback initializer")) arguments->target = value;
    if (ascii::one_of(key, "mode") && arguments->count == 1 && value.is_text()) {
      arguments->value[arguments->count++] = value;
    }
    if (ascii::one_of(key, "path args file filename query sql statement") && arguments->count == 0) {
      arguments->value[arguments->count++] = value;
      ++arguments->written;
    }
    has_file_seen_ = false;
    return;
  }
  ++arguments->written;
  if (value.kind == Value::options) {
    arguments->bits |= value.bits;
    if (value.count > 0) {
      arguments->named = value;
      arguments->named.kind = Value::list;
    }
  }
  arguments->add(value);
}

inline void ScriptReader::arguments_of(Arguments* arguments) noexcept {  // at the opening parenthesis
  const Outside outside = enter_bracket();
  while (token_.kind != Kind::end && !token_.is(")")) {
    const std::size_t before = token_.start;
    if (token_.is("]") || (token_.is("}") && level_ < 2)) break;
    argument(arguments);
    skip(",");
    if (token_.start == before && token_.kind != Kind::end && !token_.is(")")) advance();
  }
  --brackets_;
  skip(")");
  leave_bracket(outside);
}

}  // namespace tipstaff::gate::program
