// What a PowerShell script names itself: functions, aliases, and tables whose entries are splatted as arguments.
//
// A function's body is read where it is, with nothing known of its parameters, and again where it is called, with
// what is known there; the commands of the first reading then count as a definition.
#pragma once

#include "tipstaff/gate/powershell/reader.hpp"

namespace tipstaff::gate::powershell {

// function name(parameters) { ... }: after the keyword.
inline void PowerShell::define() noexcept {
  skip_blanks(false);
  const std::size_t start = at_;
  while (at_ < end_ && !ascii::is_space(text_[at_]) && text_[at_] != '{' && text_[at_] != '(') ++at_;
  Function function;
  function.name = text_.substr(start, at_ - start);
  for (const std::string_view scope : {"global:", "script:", "local:", "private:"}) {
    if (ascii::starts_with(function.name, scope)) function.name.remove_prefix(scope.size());
  }
  skip_blanks(true);
  if (peek() == '(') {
    function.parameters = at_;
    parenthesis();
  }
  skip_blanks(true);
  if (peek() != '{') return;
  function.body = at_ + 1;
  function.first_command = tree_.command_count();
  const std::uint32_t outer = frame_.via;
  frame_.via |= via::kFunction;
  block_here();
  frame_.via = outer;
  function.body_stop = at_ > function.body && text_[at_ - 1] == '}' ? at_ - 1 : at_;
  function.last_command = tree_.command_count();
  if (function_count_ < kFunctions) functions_[function_count_++] = function;
}

inline PowerShell::Function* PowerShell::function_of(std::string_view name) noexcept {
  for (std::uint32_t i = function_count_; i-- > 0;) {
    if (same_word(functions_[i].name, name)) return &functions_[i];
  }
  return nullptr;
}

// False: it cannot be followed, and what its first reading said holds.
inline bool PowerShell::call(Function* function, const Argument* given, std::uint32_t count) noexcept {
  const std::size_t size = function->body_stop - function->body;
  if (function->running || level_ + 2 >= kLevels || size > reader_.nested_bytes || ++calls_ > kCalls) {
    function->escapes = true;
    return false;
  }
  reader_.nested_bytes -= size;
  const Level level(level_);
  const std::size_t at = at_, end = end_;
  const Argument* const outer = called_with_;
  const std::uint32_t outer_count = called_count_;
  const std::uint32_t outer_via = frame_.via;
  function->running = function->called = true;
  frame_.via |= via::kFunction;
  called_with_ = given;
  called_count_ = count;
  if (function->parameters != 0) {
    at_ = function->parameters;
    end_ = function->body;
    bind_parameters();
  }
  bind("args", count > 0 && given[0].parameter.empty() ? given[0].value : Value{});
  at_ = function->body;
  end_ = function->body_stop;
  while (at_ < end_) {
    statements('\0');
    if (at_ < end_) ++at_;
  }
  called_with_ = outer;
  called_count_ = outer_count;
  frame_.via = outer_via;
  at_ = at;
  end_ = end;
  function->running = false;
  return true;
}

// ($a, [string] $b = "x"): at the bracket. Each name gets its argument, by name or by place, or its default.
inline void PowerShell::bind_parameters() noexcept {
  ++at_;
  std::uint32_t place = 0;
  while (at_ < end_) {
    const std::size_t before = at_;
    skip_blanks(true);
    const char c = peek();
    if (c == ')') {
      ++at_;
      break;
    }
    if (c == '[') {  // a type, an attribute
      at_ = matching('[', ']');
      continue;
    }
    if (c != '$') {
      if (at_ < end_) ++at_;
      continue;
    }
    const std::size_t start = ++at_;
    while (at_ < end_ && ascii::is_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    skip_blanks(true);
    Value value;
    if (peek() == '=') {
      ++at_;
      skip_blanks(true);
      value = primary_sum();
    }
    std::uint32_t positional = 0;
    bool taken = false;
    for (std::uint32_t i = 0; i < called_count_; ++i) {
      const Argument& argument = called_with_[i];
      if (argument.parameter.empty()) {
        if (positional++ == place && !taken) value = argument.value, taken = true;
      } else if (!name.empty() && name.size() >= argument.parameter.size() && same_word(name.substr(0, argument.parameter.size()), argument.parameter)) {
        if (argument.has_value) {
          value = argument.value;
        } else if (i + 1 < called_count_ && called_with_[i + 1].parameter.empty()) {
          value = called_with_[i + 1].value;  // of a parameter that only the function knows
        }
        taken = true;
        break;
      }
    }
    ++place;
    bind(name, value);
    if (at_ == before) ++at_;
  }
}

inline void PowerShell::finish_functions() noexcept {
  for (std::uint32_t i = 0; i < function_count_; ++i) {
    const Function& function = functions_[i];
    if (!function.called || function.escapes) continue;
    for (std::uint32_t c = function.first_command; c < function.last_command; ++c) tree_.command(c).via |= via::kDefinition;
  }
}

// What `name` stands for; itself where it is no alias of the script's.
inline std::string_view PowerShell::resolved(std::string_view name) const noexcept {
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Value* known = nullptr;
    for (std::uint32_t k = 0; k < variables_.size() && known == nullptr; ++k) {
      const std::string_view variable = variables_.name(k);
      if (ascii::starts_with(variable, "alias:") && same_word(variable.substr(6), name)) known = &variables_.value(k);
    }
    if (known == nullptr || !known->is_text() || known->known.is_unknown()) return name;
    name = known->known.text;
  }
  return name;
}
inline void PowerShell::alias(const Value* name, const Value* value) noexcept {
  if (name == nullptr || value == nullptr || !name->is_text()) return;
  std::string_view text = name->known.text;
  if (ascii::starts_with(text, "alias:")) text.remove_prefix(6);
  while (!text.empty() && (text[0] == '\\' || text[0] == '/')) text.remove_prefix(1);
  Draft draft(tree_);
  if (text.empty() || !draft.put("alias:") || !draft.put(text)) return;
  bind(draft.keep(), *value);
}

// @{ name = value; ... }: at the brace. Names and values by turns; of several values each has the name.
inline Value PowerShell::table() noexcept {
  ++at_;
  Value pairs = list_of(nullptr, 0);
  pairs.kind = Value::table;
  if (level_ >= kLevels || reader_.out_of_stack()) {
    statements('\0');
    return Value{};
  }
  const Level level(level_);
  while (at_ < end_) {
    const std::size_t before = at_;
    skip_blanks(true);
    if (peek() == ';' || peek() == ',') {
      ++at_;
      continue;
    }
    if (peek() == '}') break;
    Known key;
    if (peek() == '"' || peek() == '\'') {
      key = quoted();
    } else {
      const std::size_t start = at_;
      while (at_ < end_ && (ascii::is_name(text_[at_]) || text_[at_] == '-' || text_[at_] == '.')) ++at_;
      key = Known{text_.substr(start, at_ - start), code_.at(start, at_), code_.verbatim, 0};
    }
    skip_blanks(false);
    if (peek() == '=') {
      ++at_;
      skip_blanks(true);
      const Value value = pipeline();
      if (value.kind == Value::block) run_block(value);
      const Span span = key.span;
      if (value.kind == Value::list) {
        for (std::uint32_t i = 0; i < value.count; ++i) {
          append(&pairs, key);
          append(&pairs, Known(items_[value.first + i]));
        }
      } else {
        append(&pairs, key);
        append(&pairs, known_or_blank(value, span));
      }
    }
    if (at_ == before && at_ < end_) ++at_;
  }
  if (peek() == '}') {
    ++at_;
  } else {
    open_ = true;
  }
  if (pairs.kind != Value::table || item_count_ == kItems) tree_.add_uncertainty(Unresolved::limit, code_.origin, frame_.carrier);
  return pairs;
}

// @name: the entries of a table are parameters, the items of a list are arguments. At the sign.
inline std::uint32_t PowerShell::splat(Argument* out, std::uint32_t count) noexcept {
  const std::size_t start = at_++;
  const std::size_t begin = at_;
  while (at_ < end_ && ascii::is_name(text_[at_])) ++at_;
  const Value* known = find(text_.substr(begin, at_ - begin));
  const Span span = from(start);
  const auto add = [&](const Argument& argument) noexcept {
    if (count < kArguments) new (&out[count++]) Argument(argument);
    else too_many(at_);
  };
  Argument argument;
  argument.span = span;
  if (known == nullptr || known->kind != Value::table) {
    argument.value = known != nullptr ? *known : text_value(unknown_text(span));
    argument.has_value = true;
    add(argument);
    return count;
  }
  for (std::uint32_t i = 0; i + 1 < known->count; i += 2) {
    const Known& key = items_[known->first + i];
    const Known& value = items_[known->first + i + 1];
    if (i > 0 && count > 0 && key.text.data() == items_[known->first + i - 2].text.data() && out[count - 1].has_value) {
      Value& last = out[count - 1].value;  // several values of one name
      if (last.kind != Value::list) {
        const Known first = known_or_blank(last, span);
        last = list_of(&first, 1);
      }
      append(&last, Known(value));
      continue;
    }
    argument = Argument();
    argument.span = span;
    argument.parameter = key.text;
    argument.off = ascii::equals(value.text, "$false");
    argument.has_value = !argument.off && !ascii::equals(value.text, "$true");
    argument.value = text_value(value);
    add(argument);
  }
  return count;
}

}  // namespace tipstaff::gate::powershell
