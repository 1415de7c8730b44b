// What programs do for each of several: loops, comprehensions, callbacks, blocks, modifiers.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// for x in list, for (const x of list), for my $x (list), foreach ($list as $x)
inline bool ScriptReader::loop() noexcept {
  if (token_.is_name("async")) return false;
  if (pass_seen()) return true;
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
  if (language_ == Language::node && token_.is_name("await")) advance();  // for await (...)
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
  Token last = token_;
  while (token_.is(",") && is_python()) {
    advance();
    if (token_.kind == Kind::name) {
      last = token_;
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
  const bool outer = one_list_;
  one_list_ = true;
  Value value = expression();
  one_list_ = outer;
  over_environment_ = over_environment_ || is_environment(value);
  if (value.kind == Value::walk && names > 1) {  // for root, dirs, files in os.walk(path)
    memory_.bind(last.text, within({}, value.known.span));
    value = fixed(value.known.text, value.known.span, value.known.flags);
  } else if (names > 1) {
    if ((value.bits & option::kNumbered) != 0) memory_.bind(last.text, items_of(value));
    value = Value{};
  }
  memory_.bind(name, items_of(value));
  return true;
}

// What lies below a folder that is walked through.
inline Value ScriptReader::below(const Value& walk) noexcept {
  Value all = within(text_value(walk.known), walk.known.span);
  all.kind = Value::path;
  return all;
}

inline Value ScriptReader::items_of(const Value& value) noexcept {
  Value each = value;
  if (each.kind == Value::list) each.kind = each.count == 0 ? Value::unknown : Value::any;
  each.bits = 0;
  if (each.kind == Value::walk) return below(each);
  if (each.kind == Value::content || each.kind == Value::options || each.kind == Value::object || each.kind == Value::function ||
      each.kind == Value::process) {
    return Value{};
  }
  return each;
}

// list.forEach(p => ...), list.map(function (p) ...): the name gets the items. At the opening parenthesis.
inline void ScriptReader::bind_callback(const Value& items) noexcept {
  Lexer ahead = lexer_;
  Token token = ahead.next();
  bool opened = false;
  while (token.is("(") || token.is_name("function") || token.is_name("async")) {
    opened = true;
    token = ahead.next();
  }
  if (token.kind == Kind::name && (opened || ahead.next().is("=>"))) memory_.bind(token.text, items);
}

// Perl: unlink for ("a", "b"); unlink $_ for glob("*")
inline void ScriptReader::for_each_after(Arguments* arguments) noexcept {
  if (language_ != Language::perl || !token_.is_one_of("for foreach")) return;
  Value list;
  if (pass_seen()) {
    if (const Value* known = memory_.find("_")) list = *known;
  } else {
    advance();
    list = items_of(expression());
  }
  for (std::uint32_t i = 0; i < arguments->count; ++i) {
    if (arguments->value[i].kind == Value::unknown) arguments->value[i] = list;
  }
  if (arguments->count == 0) {
    arguments->value[0] = list;
    arguments->count = arguments->written = 1;
  }
}

// The list of a comprehension, or of a modifier after a statement, is after what is done for each: its names are
// bound before that is read. Only so far ahead is looked.
inline void ScriptReader::look_ahead() noexcept {
  const std::string_view text = lexer_.text();
  if (next_for_ < token_.start) next_for_ = text.find("for", token_.start);
  if (next_for_ == std::string_view::npos || next_for_ - token_.start > 1024) return;
  Lexer ahead = lexer_;
  Token token = is_python() ? ahead.next() : token_;
  std::uint32_t depth = 0;
  bool closed = false;  // a block: what follows on its line may still belong to it
  for (std::uint32_t i = 0; i < 120 && ahead_tokens_ < kAheadTokens && token.kind != Kind::end; ++i, ++ahead_tokens_, token = ahead.next()) {
    if (token.is("(") || token.is("[") || token.is("{")) ++depth;
    if (token.is(")") || token.is("]") || token.is("}")) {
      if (depth == 0) return;
      --depth;
      closed = token.is("}");
      continue;
    }
    if (depth > 0) continue;
    if (token.is(";") || (closed && !is_python() && (token.line || !token.is_one_of("for foreach")))) return;
    closed = false;
    if (!is_python() && i > 0 && token.line && token.is_one_of("my our foreach for while if")) return;
    if (!token.is_one_of(is_python() ? "for" : "for foreach") || (i == 0 && !is_python())) continue;
    const Lexer here = lexer_;
    const Token now = token_;
    const std::size_t stop = previous_stop_;
    lexer_ = ahead;
    token_ = token;
    over_environment_ = false;
    if (is_python()) {
      while (token_.is_name("for") && loop()) {
      }
    } else {
      advance();
      memory_.bind("_", items_of(expression()));
    }
    seen_ = Seen{token.start, lexer_, token_, previous_stop_, over_environment_};
    lexer_ = here;
    token_ = now;
    previous_stop_ = stop;
    return;
  }
}
// At a `for` that was looked at already: goes after its list. False: it was not.
inline bool ScriptReader::pass_seen() noexcept {
  if (seen_.stop == 0 || token_.start != seen_.start) return false;
  lexer_ = seen_.lexer;
  token_ = seen_.token;
  previous_stop_ = seen_.stop;
  seen_.stop = 0;
  over_environment_ = seen_.environment;
  return true;
}
// Perl's find(sub { ... }, "folder"): the block gets what lies below the folder, which is after it. At the bracket.
inline void ScriptReader::bind_found() noexcept {
  Lexer ahead = lexer_;
  Token token = ahead.next();
  std::uint32_t depth = 0;
  for (std::uint32_t i = 0; i < 120 && ahead_tokens_ < kAheadTokens && token.kind != Kind::end; ++i, ++ahead_tokens_, token = ahead.next()) {
    if (token.is("(") || token.is("{") || token.is("[")) ++depth;
    if (token.is(")") || token.is("}") || token.is("]")) {
      if (depth == 0) return;
      --depth;
    }
    if (depth > 0 || (token.kind != Kind::text && token.kind != Kind::name)) continue;
    if (token.kind == Kind::name && token.sigil == 0) continue;
    const Value* known = token.kind == Kind::name ? memory_.find(token.text) : nullptr;
    Value walk = token.kind == Kind::text ? text_value(text_of(token)) : known != nullptr ? *known : Value{};
    if (!walk.is_text()) walk = text_value(unknown_text(span(token.start, token.stop)));
    memory_.bind("_", below(walk));
    memory_.bind("File::Find::name", below(walk));
    return;
  }
}

// Ruby's block after a call that gives several: its name gets each. False: it has no block.
inline bool ScriptReader::block() noexcept {
  if (language_ != Language::ruby || block_value_.kind == Value::unknown) return false;
  if (token_.is("{")) {
    mapping();
    return true;
  }
  if (!token_.is_name("do")) return false;
  advance();
  if (skip("|")) {
    while (token_.kind == Kind::name || token_.is(",")) {
      if (token_.kind == Kind::name) memory_.bind(token_.text, block_value_);
      advance();
    }
    skip("|");
  }
  block_value_ = Value{};
  return true;
}

// What a comprehension gives: the list of what each becomes.
inline Value ScriptReader::gathered(Value each) noexcept {
  if (each.kind == Value::any) {
    each.kind = Value::list;
  } else if (!each.is_text() || (each.known.flags & word_flag::kGlob) == 0) {
    return Value{};
  }
  return each;
}

}  // namespace tipstaff::gate::program
