// Functions as Ruby and Perl define them: def ... end, sub { ... }, ->(x) { ... }, and how their arguments reach them.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// Where a body ends that `end` closes, seen from the token that is now: that word's token.
inline Token ScriptReader::ruby_end() noexcept {
  Lexer ahead = lexer_;
  Token token = token_;
  std::uint32_t depth = 1;
  bool begins = true, loops = false;  // whether a statement begins; whether the next `do` belongs to a loop
  for (; token.kind != Kind::end && ahead_tokens_ < kAheadTokens; ++ahead_tokens_, token = ahead.next()) {
    begins = begins || token.line;
    if (token.line) loops = false;
    if (token.is_one_of("def begin case class module")) {
      ++depth;
    } else if (token.is_name("do")) {
      depth += loops ? 0u : 1u;
      loops = false;
    } else if (begins && token.is_one_of("if unless while until for")) {
      ++depth;
      loops = token.is_one_of("while until for");
    } else if (token.is_name("end") && --depth == 0) {
      return token;
    }
    begins = token.is(";") || token.is("=") || token.is("(") || token.is_one_of("then else do return");
  }
  return token;
}

// A body that `end` closes; its parameters are known. At its first token.
inline Value ScriptReader::ended_body(Function* function) noexcept {
  const Token end = ruby_end();
  function->body = previous_stop_;
  function->body_stop = end.start > function->body ? end.start : function->body;
  begins(function);
  read_body(*function, Arguments());
  ends(function);
  const Value value = defined(*function);
  lexer_.go_to(end.stop);
  advance();
  return value;
}

// def name(parameters) ... end, def name(parameters) = expression. At `def`.
inline void ScriptReader::define_ruby() noexcept {
  advance();
  if (token_.kind != Kind::name || level_ + 4 >= kLevels) return;
  std::string_view name = token_.text;
  advance();
  if (token_.is(".") && !token_.line) {  // def self.name
    advance();
    if (token_.kind != Kind::name) return;
    name = token_.text;
    advance();
  }
  Function function;
  if (token_.is("(") && !token_.line) {
    pass_parameters(&function);
  } else {
    function.parameters = function.parameters_stop = token_.start;
    while (token_.kind != Kind::end && !token_.line && !token_.is(";") && !token_.is("=")) {
      advance();
      function.parameters_stop = previous_stop_;
    }
  }
  memory_.bind(name, Value{});
  if (token_.is("=") && !token_.line) {
    advance();
    memory_.bind(name, expression_body(&function));
    return;
  }
  const Value value = ended_body(&function);
  settle(name, function);
  memory_.bind(name, value);
}

// ->(parameters) { ... }, ->(parameters) do ... end. At the arrow.
inline Value ScriptReader::define_stabby() noexcept {
  advance();
  Function function;
  function.parameters = function.parameters_stop = token_.start;
  if (token_.is("(")) pass_parameters(&function);
  if (token_.is("{")) return braced_body(&function);
  if (!token_.is_name("do")) return Value{};
  advance();
  return ended_body(&function);
}

// lambda { |parameters| ... }, proc { ... }. At the name.
inline Value ScriptReader::define_block() noexcept {
  advance();
  Function function;
  Lexer ahead = lexer_;
  Token token = ahead.next();
  function.parameters = function.parameters_stop = token.stop;
  if (token.is("|")) {
    do token = ahead.next();
    while (token.kind == Kind::name || token.is(",") || token.is("*") || token.is("&"));
    function.parameters_stop = token.start;
  }
  return braced_body(&function);
}

// sub name { ... }, sub ($x) { ... }. At `sub`.
inline Value ScriptReader::define_perl() noexcept {
  advance();
  std::string_view name;
  if (token_.kind == Kind::name && token_.sigil == 0) {
    name = token_.text;
    advance();
  }
  Function function;
  if (token_.is("(")) pass_parameters(&function);
  if (!token_.is("{")) return Value{};
  const Value value = braced_body(&function);
  if (!name.empty()) {
    settle(name, function);
    memory_.bind(name, value);
  }
  return value;
}

// What Perl's functions get: @_.
inline Value ScriptReader::list_of(const Arguments& arguments) noexcept {
  Value list;
  list.kind = Value::list;
  list.first = memory_.item_count();
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    if (!memory_.add_item(known_or_blank(arguments.at(i), code_.origin))) return Value{};
    ++list.count;
  }
  return list;
}

// shift, shift @_, shift(@_): the first argument, which then is gone. Behind the name; false: something else is meant.
inline bool ScriptReader::take_argument(Value* value) noexcept {
  Lexer ahead = lexer_;
  Token next = token_;
  const bool bracket = next.is("(");
  if (bracket) next = ahead.next();
  const bool names = next.kind == Kind::name && next.sigil == '@';
  if (names && next.text != "_") return false;
  if (bracket && !names && !next.is(")")) return false;
  if (bracket) advance();
  if (names) advance();
  if (bracket) skip(")");
  const Value* const list = memory_.find("@_");
  if (list == nullptr || list->kind != Value::list || list->count == 0) {
    *value = Value{};
    return true;
  }
  Value rest = *list;
  *value = text_value(memory_.item(rest.first));
  ++rest.first;
  --rest.count;
  memory_.bind("@_", rest);
  return true;
}

// my ($x, $y) = list. At the bracket; false: it is none of these.
inline bool ScriptReader::take_list_apart() noexcept {
  constexpr std::uint32_t kMost = 8;
  std::string_view names[kMost];
  std::uint32_t count = 0;
  Lexer ahead = lexer_;
  Token token = ahead.next();
  for (; token.kind == Kind::name || token.is(","); token = ahead.next()) {
    if (token.is(",")) continue;
    if (count == kMost || token.sigil != '$') return false;
    names[count++] = token.text;
  }
  if (!token.is(")") || !ahead.next().is("=")) return false;
  lexer_ = ahead;
  advance();
  const Value list = expression();
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool here = list.kind == Value::list && i < list.count;
    memory_.bind(names[i], here ? text_value(memory_.item(list.first + i)) : i == 0 && list.kind != Value::list ? list : Value{});
  }
  return true;
}

}  // namespace tipstaff::gate::program
