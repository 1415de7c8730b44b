// Expressions of PowerShell: operators, members and methods, types and what they are called for.
#pragma once

#include "tipstaff/gate/powershell/reader.hpp"

namespace tipstaff::gate::powershell {

inline Value PowerShell::expression() noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) {
    statements('\0');
    return Value{};
  }
  const Level level(level_);
  Value value = primary();
  for (;;) {
    skip_blanks(false);
    const char c = peek();
    const std::size_t start = at_;
    if (c == '+') {
      at_ += peek(1) == '=' ? 2 : 1;
      skip_blanks(true);
      const Value right = primary();
      value = value.is_text() || right.is_text() ? text_value(joined(known_or_blank(value, from(start)), {}, known_or_blank(right, from(start)))) : Value{};
    } else if (c == ',') {
      const Known first = known_or_blank(value, from(start));
      value = list_of(&first, 1);
      while (peek() == ',') {
        ++at_;
        skip_blanks(true);
        const Value next = primary();
        append(&value, known_or_blank(next, from(start)));
        skip_blanks(false);
      }
    } else if (c == '-' && ascii::is_letter(peek(1))) {
      ++at_;
      const std::string_view name = keyword();
      at_ += name.size();
      skip_blanks(true);
      const bool unary_join = ascii::equals(name, "join");
      const Value right = primary();
      if (unary_join) {
        value = joined_list(value, known_or_blank(right, from(start)));
      } else if (ascii::equals(name, "f")) {
        value = format(value, right);
      } else if (ascii::one_of(name, "replace ireplace creplace")) {
        skip_blanks(false);
        if (peek() == ',') {
          ++at_;
          skip_blanks(true);
          value = replaced(value, right, primary());
        } else {
          value = Value{};
        }
      } else if (!ascii::equals(name, "as")) {
        value = Value{};
      }
    } else if (c == '*' || c == '/' || c == '%' || c == '=') {
      if (c == '%' && (peek(1) == '{' || ascii::is_space(peek(1)))) return value;
      ++at_;
      skip_blanks(true);
      primary();
      value = Value{};
    } else {
      return value;
    }
  }
}

// What is formatted may be several values: those after the first follow here.
inline Value PowerShell::format(const Value& text, const Value& with) noexcept {
  if (!text.is_text()) return Value{};
  Items<kListed> items;
  if (with.kind == Value::list) {
    for (std::uint32_t i = 0; i < with.count; ++i) items.add(items_[with.first + i]);
  } else {
    items.add(known_or_blank(with, text.known.span));
  }
  skip_blanks(false);
  while (peek() == ',') {
    const std::size_t start = at_++;
    skip_blanks(true);
    const Value next = primary();
    items.add(known_or_blank(next, from(start)));
    skip_blanks(false);
  }
  return formatted(text.known, items.begin(), items.size());
}

inline Value PowerShell::primary() noexcept {
  const std::size_t start = at_;
  const char c = peek();
  Value value;
  if (c == '"' || c == '\'') {
    value = text_value(quoted());
  } else if (c == '@' && (peek(1) == '"' || peek(1) == '\'')) {
    value = text_value(here_string());
  } else if (c == '@' && peek(1) == '(') {
    ++at_;
    value = parenthesis();
  } else if (c == '@' && peek(1) == '{') {
    ++at_;
    value = table();
  } else if (c == '$' && peek(1) == '(') {
    ++at_;
    value = parenthesis();
  } else if (c == '$') {
    value = variable();
  } else if (c == '(') {
    value = parenthesis();
  } else if (c == '{') {
    value.kind = Value::block;
    value.start = at_ + 1;
    at_ = matching('{', '}');
    value.stop = at_ > value.start ? at_ - 1 : value.start;
  } else if (c == '[') {
    return type();
  } else if (c == '-' || c == '!' || c == '+') {
    while (peek() == '-' || peek() == '!' || peek() == '+') ++at_;
    if (at_ >= end_ || ascii::is_space(peek()) || level_ >= kLevels || reader_.out_of_stack()) return value;
    const Level level(level_);
    return primary();
  } else if (ascii::is_digit(c)) {
    while (at_ < end_ && (ascii::is_name(text_[at_]) || (text_[at_] == '.' && ascii::is_digit(peek(1))))) ++at_;
    value = text_value(Known{text_.substr(start, at_ - start), from(start), code_.verbatim, 0});
  } else if (c == '`' || ascii::is_name_start(c)) {
    return argument_word();
  } else if (at_ < end_ && std::string_view(");|},]&\n").find(c) == std::string_view::npos) {
    ++at_;
    return value;
  } else {
    return value;
  }
  return members(value, start);
}

// [type]::Method(...), [char]114, [IO.File]::Delete('x')
// The place after the type at `at_`: [string], [string[]], [System.Collections.Generic.List[int]]. `at_` where it is none.
inline std::size_t PowerShell::type_end() const noexcept {
  constexpr std::size_t kLongest = 128;
  std::uint32_t depth = 0;
  for (std::size_t i = at_; i < end_ && i - at_ < kLongest; ++i) {
    if (text_[i] == '[') ++depth;
    if (text_[i] == ']' && --depth == 0) return i + 1;
  }
  return at_;
}

inline Value PowerShell::type() noexcept {
  const std::size_t start = at_;
  const std::size_t stop = type_end();
  if (stop == at_) {
    ++at_;
    return Value{};
  }
  std::string_view name = text_.substr(at_ + 1, stop - at_ - 2);
  if (ascii::starts_with(name, "system.")) name.remove_prefix(7);
  at_ = stop;
  skip_blanks(false);
  if (peek() == ':' && peek(1) == ':') {
    at_ += 2;
    const std::size_t begin = at_;
    while (at_ < end_ && ascii::is_name(text_[at_])) ++at_;
    const std::string_view method = text_.substr(begin, at_ - begin);
    if (peek() == '(') return members(static_method(name, method, start), start);
    return members(Value{}, start);
  }
  if (at_ >= end_ || std::string_view(");|},\n").find(peek()) != std::string_view::npos) return Value{};
  if (level_ >= kLevels || reader_.out_of_stack()) return Value{};
  const Level level(level_);
  Value value = primary();
  if (ascii::equals(name, "char") && value.is_text()) return character(value);
  if (ascii::one_of(name, "string scriptblock char[]")) return value;
  return value;
}

// The arguments of a method, at the opening parenthesis.
inline std::uint32_t PowerShell::method_arguments(Value* values, std::uint32_t most) noexcept {
  ++at_;
  std::uint32_t n = 0;
  skip_blanks(true);
  while (at_ < end_ && peek() != ')') {
    const std::size_t before = at_;
    Value value = primary_sum();
    if (n < most) values[n++] = value;
    skip_blanks(true);
    if (peek() == ',') ++at_;
    skip_blanks(true);
    if (at_ == before) ++at_;
  }
  if (peek() == ')') ++at_;
  return n;
}

inline Value PowerShell::primary_sum() noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) {
    statements('\0');
    return Value{};
  }
  const Level level(level_);
  Value value = primary();
  skip_blanks(false);
  while (peek() == '+') {
    const std::size_t start = at_++;
    skip_blanks(true);
    const Value right = primary();
    value = text_value(joined(known_or_blank(value, from(start)), {}, known_or_blank(right, from(start))));
    skip_blanks(false);
  }
  return value;
}

inline Value PowerShell::static_method(std::string_view type, std::string_view method, std::size_t start) noexcept {
  Value arguments[4];
  const std::uint32_t n = method_arguments(arguments, 4);
  const Span span = from(start);
  const bool file = ascii::one_of(type, "io.file"), directory = ascii::one_of(type, "io.directory");
  if ((file || directory) && ascii::equals(method, "delete")) {
    one("rm", span, arguments[0], directory && n > 1 ? "-r" : std::string_view());
  } else if (file && ascii::starts_with(method, "write")) {
    one("@write", span, arguments[0]);
  } else if (file && ascii::starts_with(method, "append")) {
    one("@write", span, arguments[0], "--append");
  } else if (file && (ascii::starts_with(method, "read") || ascii::starts_with(method, "open"))) {
    one("@read", span, arguments[0]);
    seen_file_ = known_or_blank(arguments[0], span);
    has_file_ = true;
  } else if ((file || directory) && ascii::equals(method, "move")) {
    CommandWriter writer(reader_, frame_, Dialect::powershell, "mv", span);
    writer.known(known_or_blank(arguments[0], span), word_flag::kPseudo).known(known_or_blank(arguments[1], span), word_flag::kPseudo);
    writer.end();
  } else if ((file || directory) && ascii::one_of(method, "getfiles getdirectories getfilesystementries enumeratefiles enumeratedirectories enumeratefilesystementries")) {
    return text_value(joined(known_or_blank(arguments[0], span), "/", Known{"*", span, false, word_flag::kGlob}));
  } else if (ascii::one_of(type, "io.fileinfo io.directoryinfo") && ascii::equals(method, "new")) {
    return arguments[0];
  } else if (ascii::equals(type, "microsoft.visualbasic.fileio.filesystem") && ascii::starts_with(method, "delete")) {
    one("rm", span, arguments[0], ascii::equals(method, "deletedirectory") ? "-r" : std::string_view());
  } else if (ascii::equals(type, "io.path") && ascii::one_of(method, "gettempfilename gettemppath")) {
    Value value = text_value(unknown_text(span));
    value.known.flags |= word_flag::kTemporary;
    return value;
  } else if (ascii::equals(type, "diagnostics.process") && ascii::equals(method, "start")) {
    start_program(arguments[0], arguments[1], span);
  } else if (ascii::equals(type, "convert") && ascii::equals(method, "frombase64string")) {
    return decoded(arguments[0]);
  } else if (ascii::equals(method, "getstring") || ascii::one_of(method, "concat tostring unescapedatastring")) {
    return narrowed(arguments[0]);
  } else if (ascii::equals(type, "scriptblock") && ascii::equals(method, "create")) {
    evaluate(arguments[0], span);
  } else if (ascii::equals(type, "environment") && ascii::equals(method, "getenvironmentvariable")) {
    if (arguments[0].is_text() && ascii::one_of(arguments[0].known.text, "userprofile home")) return text_value(Known{"$env:userprofile", span, false, 0});
  } else if (ascii::equals(type, "environment") && ascii::equals(method, "getfolderpath")) {
    if (arguments[0].is_text() && ascii::equals(arguments[0].known.text, "userprofile")) return text_value(Known{"$env:userprofile", span, false, 0});
  } else if (ascii::equals(type, "io.path") && ascii::equals(method, "combine")) {
    return text_value(joined(known_or_blank(arguments[0], span), "\\", known_or_blank(arguments[1], span)));
  }
  return Value{};
}

// .Member, .Method(...), ::Member, [index]
inline Value PowerShell::members(Value value, std::size_t start) noexcept {
  for (;;) {
    if (peek() == '[' && value.kind != Value::block) {
      ++at_;
      while (at_ < end_ && peek() != ']' && peek() != '\n') {
        const std::size_t before = at_;
        expression();
        if (at_ == before) ++at_;
      }
      if (peek() == ']') ++at_;
      if (value.kind != Value::remote) value = Value{};
      continue;
    }
    const bool dot = (peek() == '.' && ascii::is_name_start(peek(1))) || (peek() == '?' && peek(1) == '.');
    if (!dot && !(peek() == ':' && peek(1) == ':')) return value;
    at_ += peek() == '.' ? 1 : 2;
    const std::size_t begin = at_;
    while (at_ < end_ && ascii::is_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (peek() == '(') {
      value = method(value, name, start);
    } else if (!ascii::one_of(name, "fullname path name pspath content value directoryname tostring rawcontent")) {
      if (value.kind != Value::remote) value = Value{};
    }
  }
}

inline Value PowerShell::method(const Value& self, std::string_view name, std::size_t start) noexcept {
  Value arguments[4];
  const std::uint32_t n = method_arguments(arguments, 4);
  const Span span = from(start);
  if (ascii::one_of(name, "downloadstring downloaddata getstringasync")) {
    Value value;
    value.kind = Value::remote;
    return value;
  }
  if (ascii::equals(name, "downloadfile")) {
    one("@write", span, arguments[1]);
  } else if (ascii::equals(name, "uploadfile")) {
    one("@send", span, arguments[n > 1 ? n - 1 : 0]);
  } else if (ascii::one_of(name, "uploadstring uploaddata uploadvalues postasync")) {
    CommandWriter writer(reader_, frame_, Dialect::powershell, "@send", span);
    if (has_file_) writer.known(seen_file_, word_flag::kPseudo);
    writer.end();
    has_file_ = false;
  } else if (ascii::equals(name, "delete")) {
    one("rm", span, self, n > 0 ? "-r" : std::string_view());
  } else if (ascii::equals(name, "kill")) {
    CommandWriter writer(reader_, frame_, Dialect::powershell, "stop-process", span);
    writer.end();
  } else if (ascii::one_of(name, "run exec shellexecute create") && arguments[0].is_text()) {
    Frame frame = frame_;
    frame.via |= via::kEvaluated;
    if (n > 1 && arguments[1].is_text() && ascii::equals(name, "shellexecute")) {
      start_program(arguments[0], arguments[1], span);
    } else {
      read_code(reader_, Dialect::cmd, arguments[0].known.code(), frame);
    }
  } else if (ascii::one_of(name, "invoke invokescript newscriptblock addscript")) {
    if (self.kind == Value::block) run_block(self);
    if (n > 0) evaluate(arguments[0], span);
  } else if (ascii::one_of(name, "tostring trim tolower toupper trimend trimstart replace insert")) {
    if (ascii::equals(name, "replace")) return replaced(self, arguments[0], arguments[1]);
    return self;
  } else if (ascii::equals(name, "getstring")) {
    return narrowed(arguments[0]);
  } else if (ascii::one_of(name, "foreach where") && arguments[0].kind == Value::block) {
    bind("_", self);
    run_block(arguments[0]);
  } else if (ascii::equals(name, "connect")) {
    note_connection(span);
  }
  return Value{};
}

}  // namespace tipstaff::gate::powershell
