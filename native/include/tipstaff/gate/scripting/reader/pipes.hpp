// What a program writes to the programs that it has started: print {$pipe} "x", pipe.write("x"), p.communicate(b"x").
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// Perl's open(HANDLE, ...): the handle's name, seen from the bracket or the first argument.
inline std::string_view ScriptReader::handle_ahead() const noexcept {
  Lexer ahead = lexer_;
  Token token = token_;
  if (token.is("(")) token = ahead.next();
  if (token.is_one_of("my our local")) token = ahead.next();
  return token.kind == Kind::name ? token.text : std::string_view();
}

// print HANDLE list, print {$handle} list. At `print`; false: it prints elsewhere.
inline bool ScriptReader::print_to_process() noexcept {
  Lexer ahead = lexer_;
  Token token = ahead.next();
  const bool bracket = token.is("(");
  if (bracket) token = ahead.next();
  const bool brace = token.is("{");
  if (brace) token = ahead.next();
  const Value* const found = token.kind == Kind::name ? memory_.find(token.text) : nullptr;
  if (found == nullptr || found->kind != Value::process) return false;
  const Value process = *found;
  if (brace && !ahead.next().is("}")) return false;
  const std::size_t start = token_.start;
  lexer_ = ahead;
  advance();
  if (token_.kind == Kind::mark && !token_.is("(") && !token_.is("@")) return false;
  Value text = expression();
  while (skip(",")) text = add(text, expression(), from(start));
  if (bracket) skip(")");
  feed(process, text, from(start));
  return true;
}

// Methods of a program that was started. Null: none that give it something to read.
inline const Value* ScriptReader::process_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept {
  if (!ascii::one_of(name, "write writelines puts print communicate end send")) return nullptr;
  if (arguments.has_input) {
    feed(self, text_value(arguments.input), at);
  } else if (arguments.written > 0) {
    feed(self, arguments.at(0).kind == Value::list && arguments.at(0).count > 0 ? text_value(memory_.item(arguments.at(0).first)) : arguments.at(0), at);
  }
  result_ = Value{};
  return &result_;
}

}  // namespace tipstaff::gate::program
