// Functions that a program defines: each is read where it is, with nothing known of what it gets, and again where it
// is called, with what is known there. What a function that is only called by its name would do is then known from its
// calls, so that the first reading counts as a definition. Functions that others get (targets, callbacks) run as well.
#pragma once

#include <algorithm>

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// What reading a function's body adds to the tree.
inline void ScriptReader::begins(Function* function) const noexcept {
  function->first_command = tree_.command_count();
  function->first_open = tree_.uncertainty_count();
}
inline void ScriptReader::ends(Function* function) const noexcept {
  function->last_command = tree_.command_count();
  function->last_open = tree_.uncertainty_count();
}

// Whether the code has a name more than once; names whose hashes are alike count as one.
inline bool ScriptReader::is_mentioned(std::string_view name) noexcept {
  const auto slot = [](std::string_view word) noexcept {
    std::uint32_t hash = 2166136261u;
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return (hash ^ hash >> 15) % kMentions;
  };
  if (!counted_) {
    counted_ = true;
    const std::string_view text = code_.text;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t start = at;
      while (at < text.size() && ascii::is_name(text[at])) ++at;
      if (at == start) {
        ++at;
        continue;
      }
      std::uint8_t& count = mentions_[slot(text.substr(start, at - start))];
      if (count < 2) ++count;
    }
  }
  return mentions_[slot(name)] > 1;
}

// A function that nothing names again does not run.
inline void ScriptReader::settle(std::string_view name, const Function& function) noexcept {
  if ((function.first_command == function.last_command && function.first_open == function.last_open) || ascii::starts_with(name, "__") || is_mentioned(name)) return;
  tree_.mark_definition(function.first_command, function.last_command, function.first_open, function.last_open);
}

// A function's value; nothing where there is no room for more of them.
inline Value ScriptReader::defined(const Function& function) noexcept {
  Value value;
  if (function_count_ == kFunctions) return value;
  value.kind = Value::function;
  value.first = function_count_;
  functions_[function_count_++] = function;
  return value;
}

// Parameters up to the closing bracket, each bound to its argument, to its default, or to nothing that is known.
inline void ScriptReader::bind_parameters(const Arguments& arguments, Kept* kept) noexcept {
  std::uint32_t place = 0;
  bool expects = true, takes_rest = false;
  while (token_.kind != Kind::end && !token_.is(")") && !(token_.is(":") && expects_colon_)) {
    const std::size_t before = token_.start;
    if (skip(",")) {
      expects = true;
      continue;
    }
    if (expects && language_ == Language::node && token_.is("{")) {  // ({a, b: c}) => ...
      names_of(arguments.at(place++));
      expects = false;
      continue;
    }
    if (expects && token_.kind == Kind::name && (language_ != Language::php || token_.sigil == '$')) {
      const std::string_view name = token_.text;
      const bool given = place < arguments.count;
      Value value = arguments.at(place++);
      if (takes_rest) {  // *args, ...args
        value = given ? as_list(arguments, place - 1) : Value{};
        place = arguments.count;
        takes_rest = false;
      }
      expects = false;
      advance();
      if (token_.is(":") && !expects_colon_) {  // a type
        while (token_.kind != Kind::end && !token_.is(",") && !token_.is("=") && !token_.is(")")) {
          if (token_.is("[") || token_.is("(")) {
            group(token_.is("[") ? "]" : ")");
          } else {
            advance();
          }
        }
      }
      if (skip("=")) {
        const Value usual = expression();
        if (!given) value = usual;
      }
      if (kept->count < Kept::kMost) {
        const Value* const old = memory_.find(name);
        kept->name[kept->count] = name;
        kept->value[kept->count++] = old != nullptr ? *old : Value{};
      }
      memory_.bind(name, value);
      continue;
    }
    takes_rest = token_.is("*") || token_.is("...");
    if (token_.start == before) advance();
  }
}

// Reads a function's body, and before it its parameters where they are written; returns what it returns.
inline Value ScriptReader::read_body(const Function& function, const Arguments& arguments) noexcept {
  const Level level(level_);
  const Lexer outer = lexer_;
  const Token token = token_;
  const std::size_t stop = previous_stop_;
  const std::uint32_t brackets = brackets_;
  const bool colon = expects_colon_;
  const Value returned = returned_;
  Kept kept;
  if (language_ == Language::perl) {
    const Value* const outside = memory_.find("@_");
    kept.name[0] = "@_";
    kept.value[0] = outside != nullptr ? *outside : Value{};
    kept.count = 1;
    memory_.bind("@_", list_of(arguments));
  }
  brackets_ = 1;
  expects_colon_ = function.is_lambda;
  lexer_ = outer.part(function.parameters, function.parameters_stop);
  advance();
  bind_parameters(arguments, &kept);
  expects_colon_ = false;
  brackets_ = 0;
  returned_ = Value{};
  lexer_ = outer.part(function.body, function.body_stop);
  advance();
  if (function.is_lambda) {
    returned_ = expression();
  }
  while (token_.kind != Kind::end) {
    const std::size_t before = token_.start;
    statement();
    if (token_.kind != Kind::end && token_.start == before) advance();
  }
  const Value result = returned_;
  const bool open = lexer_.is_open();
  lexer_ = outer;
  if (open) lexer_.note_open();
  token_ = token;
  previous_stop_ = stop;
  brackets_ = brackets;
  expects_colon_ = colon;
  returned_ = returned;
  for (std::uint32_t i = kept.count; i-- > 0;) memory_.bind(kept.name[i], kept.value[i]);
  return result;
}

inline Value ScriptReader::call_function(std::uint32_t index, const Arguments& arguments) noexcept {
  Function& function = functions_[index];
  const std::size_t size = function.body_stop - function.body + function.parameters_stop - function.parameters;
  if (function.running || level_ + 4 >= kLevels || size > reader_.nested_bytes || ++calls_ > kCalls) {
    function.escapes = true;  // what it does then is known from the first reading
    return Value{};
  }
  reader_.nested_bytes -= size;
  function.running = function.called = true;
  const Value result = read_body(function, arguments);
  functions_[index].running = false;
  return result;
}

// What functions that are only called by their names do is said by their calls.
inline void ScriptReader::finish_functions() noexcept {
  for (std::uint32_t i = 0; i < function_count_; ++i) {
    const Function& function = functions_[i];
    if (!function.called || function.escapes) continue;
    tree_.mark_definition(function.first_command, function.last_command, function.first_open, function.last_open);
  }
}

// Parameters in brackets, at the opening one: where they are, for the readings to come.
inline void ScriptReader::pass_parameters(Function* function) noexcept {
  function->parameters = token_.stop;
  std::uint32_t open = 0;
  do {
    if (token_.is("(") || token_.is("[") || token_.is("{")) ++open;
    if (token_.is(")") || token_.is("]") || token_.is("}")) --open;
    function->parameters_stop = token_.start;
    advance();
  } while (token_.kind != Kind::end && open > 0);
}

// Where a body of Python ends that begins at `at`: before the first line that is not indented more than `depth`, and that
// neither a text nor a bracket goes on to. A body that begins on the line of its colon ends with that line.
inline std::size_t ScriptReader::block_end(std::string_view text, std::size_t at, std::size_t depth) noexcept {
  std::size_t code = at;
  while (code < text.size() && (ascii::is_blank(text[code]) || text[code] == '\r')) ++code;
  const bool one_line = code < text.size() && text[code] != '\n' && text[code] != '#';
  std::uint32_t open = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      const bool triple = at + 2 < text.size() && text[at + 1] == c && text[at + 2] == c;
      const auto closes = [&]() noexcept { return text[at] == c && (!triple || (at + 2 < text.size() && text[at + 1] == c && text[at + 2] == c)); };
      for (at += triple ? 3 : 1; at < text.size() && !closes() && (triple || text[at] != '\n');) at += text[at] == '\\' ? 2 : 1;
      if (at < text.size() && text[at] == c) at += triple ? 3 : 1;
    } else if (c == '\n' && open == 0) {
      if (one_line) return at;
      std::size_t first = at + 1;
      while (first < text.size() && ascii::is_blank(text[first])) ++first;
      const bool blank = first >= text.size() || text[first] == '\n' || text[first] == '\r' || text[first] == '#';
      if (!blank && first - at - 1 <= depth) return at;
      at = first;
    } else {
      if (c == '(' || c == '[' || c == '{') ++open;
      if ((c == ')' || c == ']' || c == '}') && open > 0) --open;
      at += c == '\\' ? 2 : 1;
    }
  }
  return text.size();
}

// def name(parameters): a body that is indented, or is after the colon. At `def`.
inline void ScriptReader::define_python() noexcept {
  const std::string_view text = lexer_.text();
  std::size_t line = token_.start;
  while (line > 0 && text[line - 1] != '\n') --line;
  std::size_t indent = line;
  while (indent < text.size() && ascii::is_blank(text[indent])) ++indent;
  const std::size_t depth = indent - line;
  // A decorator may call it.
  const std::size_t above = line > 1 ? text.find_last_not_of(" \t\r\n", line - 1) : std::string_view::npos;
  const std::size_t begin = above == std::string_view::npos ? above : text.rfind('\n', above);
  const bool decorated = above != std::string_view::npos && (text[begin == std::string_view::npos ? 0 : begin + 1] == '@' || text[above] == ')');
  advance();
  if (token_.kind != Kind::name) return;
  const std::string_view name = token_.text;
  advance();
  if (!token_.is("(") || level_ + 4 >= kLevels) return;
  Function function;
  pass_parameters(&function);
  while (token_.kind != Kind::end && !token_.is(":")) advance();
  if (token_.kind == Kind::end) return;
  function.body = token_.stop;
  const std::size_t end = lexer_.end();
  const std::size_t stop = block_end(text.substr(0, end), function.body, depth);
  function.body_stop = stop;
  begins(&function);
  memory_.bind(name, Value{});
  read_body(function, Arguments());
  ends(&function);
  if (depth == 0 && !decorated) settle(name, function);
  memory_.bind(name, defined(function));
  lexer_.go_to(stop);
  advance();
}

// lambda parameters: expression. At `lambda`.
inline Value ScriptReader::define_lambda() noexcept {
  Function function;
  function.is_lambda = true;
  function.parameters = token_.stop;
  advance();
  std::uint32_t open = 0;
  while (token_.kind != Kind::end && !(token_.is(":") && open == 0)) {
    if (token_.is("(") || token_.is("[") || token_.is("{")) ++open;
    if (token_.is(")") || token_.is("]") || token_.is("}")) {
      if (open == 0) return Value{};
      --open;
    }
    advance();
  }
  function.parameters_stop = token_.start;
  function.body = token_.stop;
  begins(&function);
  skip(":");
  expression();
  function.body_stop = previous_stop_ > function.body ? previous_stop_ : function.body;
  ends(&function);
  return defined(function);
}

// function name(parameters) { ... }. At `function`.
inline Value ScriptReader::define_braced() noexcept {
  advance();
  skip("*");
  skip("&");
  std::string_view name;
  if (token_.kind == Kind::name) {
    name = token_.text;
    advance();
  }
  if (!token_.is("(")) return Value{};
  Function function;
  pass_parameters(&function);
  while (token_.kind != Kind::end && !token_.is("{") && !token_.is(";")) advance();  // its type, what it uses
  if (!token_.is("{")) return Value{};
  const Value value = braced_body(&function);
  if (!name.empty()) {
    settle(name, function);
    memory_.bind(name, value);
  }
  return value;
}

// PHP's fn (parameters): type => expression. At `fn`.
inline Value ScriptReader::define_short() noexcept {
  advance();
  Function function;
  pass_parameters(&function);
  while (token_.kind != Kind::end && !token_.is("=>") && !token_.is(";") && !token_.is(")") && !token_.is(",")) advance();  // its type
  if (!skip("=>")) return Value{};
  return expression_body(&function);
}

// The body of a function in braces, at the opening one.
inline Value ScriptReader::braced_body(Function* function) noexcept {
  function->body = token_.stop;
  begins(function);
  mapping();
  const std::size_t stop = previous_stop_ > function->body ? previous_stop_ : function->body;
  function->body_stop = stop > function->body && lexer_.text()[stop - 1] == '}' ? stop - 1 : stop;
  ends(function);
  return defined(*function);
}

// parameters => body, with what is before the arrow from `start` on. Behind the arrow.
inline Value ScriptReader::define_arrow(std::size_t start, std::size_t stop) noexcept {
  Function function;
  function.parameters = start;
  function.parameters_stop = stop;
  if (lexer_.text()[start] == '(') ++function.parameters;
  if (token_.is("{")) return braced_body(&function);
  return expression_body(&function);
}

// A body that is one expression, which is what calling the function gives. At its first word.
inline Value ScriptReader::expression_body(Function* function) noexcept {
  function->is_lambda = true;
  function->body = token_.start;
  begins(function);
  expression();
  function->body_stop = previous_stop_ > function->body ? previous_stop_ : function->body;
  ends(function);
  return defined(*function);
}

// Functions among the arguments of a call that nothing is known of: each runs with what is after it, as in
// Thread(target=f, args=(x,)), pool.submit(f, x), partial(f, x).
inline void ScriptReader::hand_over(std::string_view last, const Arguments& arguments, Span at) noexcept {
  static constexpr Words kHarmless("print isinstance issubclass type repr str callable help dir log patch setattr assert assertequal toequal debug "
      "info warn warning mock patched spyon fn stub hasattr describe it test expect");
  if (kHarmless.has(last)) {
    return;
  }
  static constexpr Words kEach("map imap starmap foreach array_map array_walk each filter some every any all imap_unordered map_async");
  const bool each = kEach.has(last);
  for (std::uint32_t i = 0; i <= arguments.count; ++i) {
    const Value& function = i == arguments.count ? arguments.target : arguments.at(i);
    Action action = Action::none;
    if (function.kind == Value::object || (function.kind == Value::text && language_ == Language::php)) action = find_call(language_, function.known.text);
    if (function.kind != Value::function && !does_harm(action)) continue;
    Arguments inner;
    const auto take = [&](const Value& value) noexcept {
      inner.add(value);
      ++inner.written;
    };
    const std::uint32_t first = i == arguments.count ? i : i + 1;
    if (each) {
      for (std::uint32_t k = first; k < arguments.count; ++k) take(items_of(arguments.at(k)));
    } else if (arguments.named.kind == Value::list || (arguments.count == first + 1 && arguments.at(first).kind == Value::list)) {
      const Value& list = arguments.named.kind == Value::list ? arguments.named : arguments.at(first);
      for (std::uint32_t k = 0; k < list.count; ++k) take(text_value(memory_.item(list.first + k)));
    } else {
      for (std::uint32_t k = first; k < arguments.count; ++k) take(arguments.at(k));
    }
    if (function.kind == Value::function) {
      if (inner.count == 0) {
        functions_[function.first].escapes = true;
      } else {
        call_function(function.first, inner);
      }
    } else if (inner.count > 0) {
      act(action, inner, at, function.known.text);
    }
  }
}

}  // namespace tipstaff::gate::program
