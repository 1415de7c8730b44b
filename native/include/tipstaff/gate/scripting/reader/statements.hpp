// The statements of programs that matter: what imports bind, what loops run over, what is taken apart.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

inline void ScriptReader::statement() noexcept {
  block_value_ = Value{};
  if (is_python() && brackets_ == 0 && (token_.is("!") || token_.is("%")) && shell_line()) return;
  if (language_ == Language::perl) look_ahead();
  if (token_.kind == Kind::name && token_.sigil == 0) {
    if (is_python()) {
      if (token_.is_name("import")) return import_modules();
      if (token_.is_name("from")) return import_from();
      if (token_.is_name("def")) return define_python();
      if (token_.is_name("with")) return with_resource();
    }
    if (language_ == Language::node && token_.is_name("import") && !peek().is("(")) return import_node();
    if (token_.is_one_of("const let var") && language_ == Language::node) {
      advance();
      if (token_.is("{")) return destructure();
      return;
    }
    if (token_.is_one_of("for foreach async") && loop()) return;
    if (language_ == Language::ruby && token_.is_name("def")) return define_ruby();
    if (token_.is_name("new")) return advance();
    if (token_.is_name("return") && language_ != Language::ruby) {
      advance();
      if (token_.kind != Kind::end && !at_line() && !token_.is(";") && !token_.is("}")) returned_ = expression();
      return;
    }
    if (mongo_ && token_.is_one_of("show use it help exit")) {
      advance();
      while (token_.kind != Kind::end && !token_.line && !token_.is(";")) advance();
      return;
    }
  }
  if (token_.kind == Kind::mark && !token_.is("(") && !token_.is("[") && !token_.is("{") && !token_.is("-") && !token_.is("!") &&
      !token_.is("\\") && !token_.is("&") && !token_.is("@")) {
    return advance();
  }
  expression();
}

// with engine.begin() as connection: what is opened in memory stays known.
inline void ScriptReader::with_resource() noexcept {
  advance();
  const Value value = expression();
  if (!token_.is_name("as")) return;
  advance();
  if (token_.kind == Kind::name && value.kind == Value::object && value.known.text == "memory-database") memory_.bind(token_.text, value);
}

// Lines of IPython: !command, !!command, %sx command, and cells %%bash. At the mark. False: it is none of them.
inline bool ScriptReader::shell_line() noexcept {
  const std::string_view text = lexer_.text();
  std::size_t start = token_.start, end = text.find('\n', start);
  if (end == std::string_view::npos || end > lexer_.end()) end = lexer_.end();
  if (token_.is("%")) {
    if (!token_.line) return false;
    const bool cell = start + 1 < end && text[start + 1] == '%';
    std::size_t name = start + (cell ? 2 : 1), stop = name;
    while (stop < end && ascii::is_name(text[stop])) ++stop;
    const std::string_view magic = text.substr(name, stop - name);
    if (cell ? !ascii::one_of(magic, "bash sh script system sx !") : !ascii::one_of(magic, "sx system sc")) {
      if (stop == name || stop >= end || !(ascii::is_blank(text[stop]) || stop == end)) return false;
      lexer_.go_to(stop);  // another magic: the code after it is met as usual
      advance();
      return true;
    }
    start = stop;
    if (cell) {
      start = end;
      end = lexer_.end();
    }
  } else {
    while (start < end && text[start] == '!') ++start;
  }
  Token line;
  line.kind = Kind::text;
  line.inner = start;
  line.text = text.substr(start, end - start);
  run_code(Dialect::shell, Known{line.text, span(start, end), code_.verbatim, line.text.find(kUnknownPart) != std::string_view::npos ? word_flag::kUnknown : std::uint16_t{0}});
  lexer_.go_to(end);
  advance();
  return true;
}

// import a.b as c, d
inline void ScriptReader::import_modules() noexcept {
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
inline void ScriptReader::import_from() noexcept {
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

inline std::string_view ScriptReader::module_name(std::string_view text) noexcept {
  if (ascii::starts_with(text, "node:")) text.remove_prefix(5);
  if (text == "fs/promises") return "fs";
  return text;
}

// import a, {b as c}, * as d from "module"
inline void ScriptReader::import_node() noexcept {
  advance();
  Lexer ahead = lexer_;
  Token token = token_;
  std::string_view module;
  for (; ahead_tokens_ < kAheadTokens && token.kind != Kind::end && !token.is(";"); ++ahead_tokens_, token = ahead.next()) {
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
inline void ScriptReader::names_of(const Value& whole) noexcept {
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
inline void ScriptReader::destructure() noexcept {
  Lexer ahead = lexer_;
  Token token = ahead.next();
  for (; ahead_tokens_ < kAheadTokens && token.kind != Kind::end && !token.is("}"); ++ahead_tokens_) token = ahead.next();
  const Token sign = ahead.next();
  if (!token.is("}") || !sign.is("=")) return advance();
  // The value that is destructured follows: read that first, then the names.
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

}  // namespace tipstaff::gate::program
