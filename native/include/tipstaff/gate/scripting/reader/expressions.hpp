// Expressions of programs: operators, and what these join.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// Words before what they are about.
inline constexpr Words kPrefixes("new await not yield return typeof void delete throw raise const let var my our "
                                        "local print echo puts async function_ lambda_ assert_ then do_ else elif elsif if unless while until use_ begin p pp static public");

inline Value ScriptReader::expression() noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) return too_deep();
  const Level level(level_);
  const std::size_t start = token_.start;
  Value value = unary();
  for (;;) {
    if (token_.kind == Kind::end || at_line()) break;
    if (token_.kind == Kind::name) {
      if (token_.sigil != 0) break;
      if (is_python() && token_.is_name("if")) {  // a if condition else b
        advance();
        expression();
        if (!token_.is_name("else")) break;
        advance();
        const Value other = expression();
        value = either(value, other, from(start));
        continue;
      }
      if (is_python() && token_.is_name("for")) {  // a comprehension
        if (one_list_) break;
        over_environment_ = false;
        loop();
        value = over_environment_ ? whole_environment(object("environ"), from(start)) : gathered(value);
        continue;
      }
      if (is_python() && token_.is_name("as") && peek().kind == Kind::name && value.kind != Value::object) {  // with open(x) as f
        advance();
        memory_.bind(token_.text, value);
        advance();
        continue;
      }
      static constexpr Words kJoined("or and xor");
      if (token_.is_one_of(kJoined)) {
        const bool other = token_.is_name("or");
        advance();
        const Value right = unary();
        if (other && is_python()) value = either(value, right, from(start));
        continue;
      }
      static constexpr Words kCompared("in not is instanceof of x eq ne lt gt le ge cmp");
      if (token_.is_one_of(kCompared)) {
        advance();
        if (token_.is_one_of("in not")) advance();
        unary();
        value = Value{};
        continue;
      }
      break;
    }
    if (token_.kind != Kind::mark) break;
    if (token_.is("+") || (token_.is(".") && (language_ == Language::perl || language_ == Language::php))) {
      advance();
      const Value right = unary();
      if (holds_environment(right)) value = right;
      else if (!holds_environment(value)) value = add(value, right, from(start));
    } else if (token_.is("/") && (value.kind == Value::path || is_python())) {
      advance();
      const Value right = unary();
      const bool path = value.kind == Value::path || right.kind == Value::path;
      value = path ? join(value, right, from(start)) : Value{};
      if (path) value.kind = Value::path;
    } else if (token_.is("%") && value.kind == Value::text && (is_python() || language_ == Language::ruby)) {
      advance();
      value = filled(value, unary(), from(start));
    } else if (token_.is("=") || token_.is(":=") || token_.is("+=") || token_.is(".=") || token_.is("||=") || token_.is("?\?=")) {
      const bool more = token_.is("+=") || token_.is(".=");
      const bool simple = value.simple;
      const std::string_view name = assigned_;
      const Value before = value;
      advance();
      if (is_python() && token_.is("!") && shell_line()) return Value{};
      Value right = expression();
      if (more) right = add(before.kind == Value::object ? Value{} : before, right, from(start));
      if (!simple) keep_for_later(right);
      if (simple) memory_.bind(name, bound(right));
      value = right;
    } else if (token_.is("?")) {
      advance();
      const Value left = expression();
      if (skip(":")) {
        const Value right = expression();
        value = either(left, right, from(start));
      } else {
        value = Value{};
      }
    } else if (token_.is("||") || token_.is("??")) {
      advance();
      const Value right = unary();
      value = value.kind == Value::unknown || value.is_text() ? either(value, right, from(start)) : value;
    } else if (token_.is("&&")) {
      advance();
      value = unary();
    } else if (token_.is("=>") && language_ == Language::node) {  // a function
      const std::size_t stop = previous_stop_;
      advance();
      value = define_arrow(start, stop > start ? stop : start);
    } else if (token_.is("==") || token_.is("===") || token_.is("!=") || token_.is("!==") || token_.is("<") || token_.is(">") ||
               token_.is("<=") || token_.is(">=") || token_.is("-") || token_.is("*") || token_.is("/") || token_.is("%") ||
               token_.is("=~") || token_.is("!~") || token_.is("|") || token_.is("&") || token_.is("<<") || token_.is(">>") ||
               token_.is("**") || token_.is("^") || token_.is("..") || token_.is("-=")) {
      const bool times = token_.is("*") && value.is_text();
      const bool pours = token_.is("<<") && value.kind == Value::process;
      advance();
      const Value right = unary();
      if (pours) feed(value, right, from(start));
      value = times && right.kind == Value::number && right.known.text == "1" ? value : Value{};
    } else {
      break;
    }
    value.simple = false;
  }
  return value;
}

// A variable of a list is one; a path's object stays one.
inline Value ScriptReader::bound(Value value) noexcept {
  value.simple = false;
  return value;
}

inline Value ScriptReader::too_deep() noexcept {
  if (!depth_reported_) tree_.add_uncertainty(Unresolved::depth, span(token_.start, token_.stop), frame_.carrier);
  depth_reported_ = true;
  if (token_.kind != Kind::end) advance();
  return Value{};
}

inline Value ScriptReader::unary() noexcept {
  for (std::uint32_t i = 0; i < 64; ++i) {
    if (token_.kind == Kind::mark) {
      if (token_.is("-") && language_ == Language::perl && peek().kind == Kind::name) {
        advance();
        if (token_.text.size() == 1) advance();  // -e $file
        continue;
      }
      if (token_.is("!") || token_.is("-") || token_.is("~") || token_.is("&") || token_.is("*") || token_.is("**") || token_.is("\\") ||
          token_.is("+") || token_.is("...") || token_.is("@") || token_.is("::")) {
        negative_ = token_.is("-");
        const bool named = language_ == Language::perl && token_.is("&") && peek().is("{");
        const std::size_t start = token_.start;
        advance();
        if (named) {  // &{"sys" . "tem"}("rm x")
          advance();
          const Value name = expression();
          skip("}");
          return trailers(name.kind == Value::text ? object(name.known.text) : Value{}, start);
        }
        continue;
      }
    } else if (language_ == Language::perl && token_.is_one_of("print say printf") && print_to_process()) {
      return Value{};
    } else if (language_ == Language::perl && token_.is_one_of("my our local") && peek().is("(")) {
      advance();
      if (take_list_apart()) return Value{};
      continue;
    } else if (token_.is_one_of(kPrefixes)) {
      if (is_python() && token_.is_one_of("delete throw new puts echo p pp my our local void then static public begin")) break;
      if (language_ != Language::ruby && token_.is_one_of("p pp puts begin then")) break;
      if (peek().is("=") || peek().is(".") || (token_.text.size() == 1 && memory_.find(token_.text) != nullptr)) break;
      if (token_.line && i > 0 && lines_end()) break;
      advance();
      continue;
    }
    break;
  }
  const Value value = primary();
  negative_ = false;
  return value;
}

inline Value ScriptReader::primary() noexcept {
  const std::size_t start = token_.start;
  Value value;
  switch (token_.kind) {
    case Kind::end: return value;
    case Kind::text: {
      value = text_value(text_of(token_));
      if (token_.glob) value.known.flags |= word_flag::kGlob;
      advance();
      while (token_.kind == Kind::text && !at_line() && (is_python() || language_ == Language::ruby)) {
        const Value next = text_value(text_of(token_));
        advance();
        value = add(value, next, from(start));
      }
      break;
    }
    case Kind::shell:
      run_code(Dialect::shell, text_of(token_));
      advance();
      break;
    case Kind::words:
      value = words_in(Known{token_.text, span(token_.inner, token_.inner + token_.text.size()), code_.verbatim, 0});
      advance();
      break;
    case Kind::pattern: advance(); return trailers(value, start);
    case Kind::number:
      value.kind = Value::number;
      value.known = Known{token_.text, span(token_.start, token_.stop), code_.verbatim, 0};
      if (negative_ && start > 0) {
        value.known.text = lexer_.text().substr(start - 1, token_.stop - start + 1);
        if (value.known.text[0] != '-') value.known.text.remove_prefix(1);
      }
      advance();
      break;
    case Kind::name:
      if (is_python() && token_.is_name("lambda")) return trailers(define_lambda(), start);
      if (language_ == Language::perl && token_.is_name("sub") && level_ + 4 < kLevels) return trailers(define_perl(), start);
      if (language_ == Language::ruby && token_.is_one_of("lambda proc") && level_ + 4 < kLevels && peek().is("{")) return trailers(define_block(), start);
      if (language_ == Language::php && token_.is_name("fn") && level_ + 4 < kLevels && peek().is("(")) return trailers(define_short(), start);
      if ((language_ == Language::node || language_ == Language::php) && token_.is_name("function") && level_ + 4 < kLevels) {
        return trailers(define_braced(), start);
      }
      return named();
    case Kind::mark:
      if (token_.is("(")) {
        value = group(")");
      } else if (token_.is("[")) {
        value = group("]");
        if (value.kind != Value::list && !holds_environment(value)) value = Value{};
      } else if (token_.is("{")) {
        value = mapping();
      } else if (token_.is("->") && language_ == Language::ruby && level_ + 4 < kLevels) {
        value = define_stabby();
      } else if (token_.is("$") || token_.is("%")) {
        advance();  // ${ ... }, @{ ... }
        return value;
      } else if (!token_.is(")") && !token_.is("]") && !token_.is("}") && !token_.is(",") && !token_.is(";") && !token_.is(":") &&
                 !token_.is("=")) {
        advance();
        return value;
      } else {
        return value;
      }
      break;
  }
  return trailers(value, start);
}

}  // namespace tipstaff::gate::program
