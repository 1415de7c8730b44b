// The statements of programs that matter: what imports bind, what loops run over, what is taken apart.
#pragma once

#include "tipstaff/gate/program_reader.hpp"

namespace tipstaff::gate::program {

inline void Program::statement() noexcept {
  if (token_.kind == Kind::name && token_.sigil == 0) {
    if (is_python()) {
      if (token_.is_name("import")) return import_modules();
      if (token_.is_name("from")) return import_from();
    }
    if (language_ == Language::node && token_.is_name("import") && !peek().is("(")) return import_node();
    if (token_.is_one_of("const let var") && language_ == Language::node) {
      advance();
      if (token_.is("{")) return destructure();
      return;
    }
    if (token_.is_one_of("for foreach async") && loop()) return;
    if (token_.is_name("new")) return advance();
    if (mongo_ && token_.is_one_of("show use it help exit")) {
      advance();
      while (token_.kind != Kind::end && !token_.line) advance();
      return;
    }
  }
  if (token_.kind == Kind::mark && !token_.is("(") && !token_.is("[") && !token_.is("{") && !token_.is("-") && !token_.is("!") &&
      !token_.is("\\") && !token_.is("&") && !token_.is("@")) {
    return advance();
  }
  expression();
}

// import a.b as c, d
inline void Program::import_modules() noexcept {
  advance();
  while (token_.kind == Kind::name) {
    const std::size_t start = token_.start;
    const std::string_view top = token_.text;
    advance();
    std::size_t stop = previous_stop_;
    while (token_.is(".") && !token_.line) {
      advance();
      if (token_.kind == Kind::name) advance();
      stop = previous_stop_;
    }
    if (token_.is_name("as")) {
      advance();
      memory_.bind(token_.text, object(lexer_.text().substr(start, stop - start)));
      advance();
    } else {
      memory_.bind(top, object(top));
    }
    if (!skip(",")) return;
  }
}

// from a.b import c as d, e
inline void Program::import_from() noexcept {
  advance();
  const std::size_t start = token_.start;
  while ((token_.kind == Kind::name && !token_.is_name("import")) || token_.is(".") || token_.is("...") || token_.is("..")) advance();
  const std::string_view module = lexer_.text().substr(start, previous_stop_ > start ? previous_stop_ - start : 0);
  if (!token_.is_name("import")) return;
  advance();
  const bool grouped = skip("(");
  if (token_.is("*")) {
    star_module_ = module;
    return advance();
  }
  while (token_.kind == Kind::name && (grouped || !token_.line)) {
    const std::string_view name = token_.text;
    advance();
    std::string_view local = name;
    if (token_.is_name("as")) {
      advance();
      local = token_.text;
      advance();
    }
    memory_.bind(local, member(object(module), name));
    if (!skip(",")) break;
  }
  if (grouped) skip(")");
}

inline std::string_view Program::module_name(std::string_view text) noexcept {
  if (ascii::starts_with(text, "node:")) text.remove_prefix(5);
  if (text == "fs/promises") return "fs";
  return text;
}

// import a, {b as c}, * as d from "module"
inline void Program::import_node() noexcept {
  advance();
  Lexer ahead = lexer_;
  Token token = token_;
  std::string_view module;
  for (int i = 0; i < 64 && token.kind != Kind::end && !token.is(";"); ++i, token = ahead.next()) {
    if (token.kind == Kind::text) {
      module = module_name(token.text);
      break;
    }
  }
  while (token_.kind != Kind::end && token_.kind != Kind::text && !token_.is(";")) {
    if (token_.is("{")) {
      names_of(object(module));
      continue;
    }
    if (token_.kind == Kind::name && !token_.is_one_of("from as")) memory_.bind(token_.text, object(module));
    advance();
  }
  if (token_.kind == Kind::text) advance();
}

// {a, b: c, d as e} of a module: binds them. At the opening brace.
inline void Program::names_of(const Value& whole) noexcept {
  advance();
  while (token_.kind == Kind::name) {
    const std::string_view name = token_.text;
    std::string_view local = name;
    advance();
    if (token_.is(":") || token_.is_name("as")) {
      advance();
      if (token_.kind == Kind::name) local = token_.text;
      advance();
    }
    memory_.bind(local, whole.kind == Value::object ? member(whole, name) : Value{});
    if (token_.is("=")) {
      advance();
      expression();
    }
    if (!skip(",")) break;
  }
  skip("}");
}

// const {a, b: c} = require("module")
inline void Program::destructure() noexcept {
  Lexer ahead = lexer_;
  Token token = ahead.next();
  for (int i = 0; i < 128 && token.kind != Kind::end && !token.is("}"); ++i) token = ahead.next();
  const Token sign = ahead.next();
  if (!token.is("}") || !sign.is("=")) return advance();
  // What is taken apart stands behind it: read that first, then the names.
  const Lexer names_lexer = lexer_;
  const Token names_token = token_;
  lexer_ = ahead;
  advance();
  const Value whole = expression();
  const Lexer after_lexer = lexer_;
  const Token after_token = token_;
  const std::size_t stop = previous_stop_;
  lexer_ = names_lexer;
  token_ = names_token;
  names_of(whole);
  lexer_ = after_lexer;
  token_ = after_token;
  previous_stop_ = stop;
}

// for x in list, for (const x of list), for my $x (list), foreach ($list as $x)
inline bool Program::loop() noexcept {
  if (token_.is_name("async")) return false;
  const bool each = token_.is_name("foreach");
  advance();
  std::string_view name;
  if (language_ == Language::php) {
    if (!each || !skip("(")) return true;
    ++brackets_;
    const Value value = expression();
    --brackets_;
    if (token_.is_name("as")) {
      advance();
      Token last = token_;
      while (token_.kind == Kind::name || token_.is("=>")) {
        last = token_;
        advance();
      }
      memory_.bind(last.text, items_of(value));
    }
    return true;
  }
  const bool grouped = language_ == Language::node && token_.is("(");
  if (grouped) advance();
  while (token_.is_one_of("const let var my our await each")) advance();
  const bool tuple = is_python() && token_.is("(");
  if (tuple) advance();
  if (token_.kind != Kind::name) {
    if (language_ == Language::perl && token_.is("(")) {  // for (list) { ... $_ ... }
      const Value value = expression();
      memory_.bind("_", items_of(value));
    }
    return true;
  }
  name = token_.text;
  advance();
  std::uint32_t names = 1;
  while (token_.is(",") && is_python()) {
    advance();
    if (token_.kind == Kind::name) {
      memory_.bind(token_.text, Value{});
      advance();
    }
    ++names;
  }
  if (tuple) skip(")");
  if (language_ == Language::perl) {
    memory_.bind(name, items_of(expression()));
    return true;
  }
  if (!token_.is_one_of("in of")) {
    if (token_.is("=")) {
      advance();
      memory_.bind(name, expression());
    }
    return true;
  }
  advance();
  Value value = expression();
  if (value.kind == Value::walk) {
    value = names > 1 ? fixed(value.known.text, value.known.span, value.known.flags) : Value{};
  } else if (names > 1) {
    value = Value{};
  }
  memory_.bind(name, items_of(value));
  return true;
}

inline Value Program::items_of(const Value& value) noexcept {
  Value each = value;
  if (each.kind == Value::list) each.kind = each.count == 0 ? Value::unknown : Value::any;
  if (each.kind == Value::content || each.kind == Value::options || each.kind == Value::object) return Value{};
  return each;
}

}  // namespace tipstaff::gate::program
