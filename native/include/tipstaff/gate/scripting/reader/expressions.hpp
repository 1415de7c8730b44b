// Expressions of programs: operators, groups, lists, mappings and blocks, indexes.
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
        loop();
        value = gathered(value);
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
      value = add(value, unary(), from(start));
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
        if (value.kind != Value::list) value = Value{};
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

// ( ... ) and [ ... ]: one value in parentheses is itself, else a list.
inline Value ScriptReader::group(std::string_view close) noexcept {
  const bool square = close == "]";
  const std::size_t opened = token_.start;
  const Seen outer_seen = seen_;
  const bool outer_list = one_list_;
  seen_.start = seen_.stop = 0;
  one_list_ = false;
  if (is_python()) look_ahead();
  advance();
  ++brackets_;
  Items<48> items;
  std::uint32_t written = 0;
  Value only;
  bool comma = false, spliced = false;
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
  seen_ = outer_seen;
  one_list_ = outer_list;
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
  bool empty = true;
  while (token_.kind != Kind::end && !token_.is("}")) {
    empty = false;
    const std::size_t before = token_.start;
    const std::string_view key = token_.kind == Kind::name || token_.kind == Kind::text ? token_.text : std::string_view();
    const Token next = key.empty() ? Token() : peek();
    if (next.is(":") || next.is("=>")) {
      if (mongo_ && command_key_.empty()) command_key_ = program_name(tree_, key);
      advance();
      advance();
      option_value(&value, key, expression());
    } else {
      statement();
    }
    skip(",");
    if (token_.start == before && token_.kind != Kind::end) advance();
  }
  brackets_ = outer - 1;
  skip("}");
  if (empty) value.bits |= option::kEmpty;
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
