// Statements and pipelines of PowerShell: what runs, what is assigned, what flows from one command to the next.
#pragma once

#include "tipstaff/gate/powershell/reader.hpp"

namespace tipstaff::gate::powershell {

inline void PowerShell::skip_blanks(bool lines) noexcept {
  while (at_ < end_) {
    const char c = text_[at_];
    if (c == '`' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
    } else if (c == '<' && peek(1) == '#') {
      const std::size_t close = text_.find("#>", at_);
      if (close == std::string_view::npos || close >= end_) open_ = true;
      at_ = close == std::string_view::npos || close >= end_ ? end_ : close + 2;
    } else if (c == '#' && (at_ == 0 || ascii::is_space(text_[at_ - 1]) || std::string_view(";({|").find(text_[at_ - 1]) != std::string_view::npos)) {
      while (at_ < end_ && text_[at_] != '\n') ++at_;
    } else if (ascii::is_space(c) && (lines || c != '\n')) {
      ++at_;
    } else {
      return;
    }
  }
}

inline void PowerShell::statements(char close) noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) {
    if (!depth_reported_) tree_.add_uncertainty(Unresolved::depth, code_.at(at_, at_), frame_.carrier);
    depth_reported_ = true;
    at_ = end_;
    return;
  }
  const Level level(level_);
  while (at_ < end_) {
    skip_blanks(true);
    const char c = peek();
    if (at_ >= end_ || (close != '\0' && c == close)) return;
    if (c == ';' || c == ',' || c == '=') {
      ++at_;
      continue;
    }
    if ((c == '&' && peek(1) == '&') || (c == '|' && peek(1) == '|')) {
      at_ += 2;
      continue;
    }
    if (c == ')' || c == '}' || c == ']') {
      if (close == '\0') return;
      ++at_;
      continue;
    }
    const std::size_t before = at_;
    statement();
    if (at_ == before) ++at_;
  }
}

inline std::string_view PowerShell::keyword() const noexcept {
  std::size_t i = at_;
  while (i < end_ && ascii::is_letter(text_[i])) ++i;
  return text_.substr(at_, i - at_);
}

inline void PowerShell::statement() noexcept {
  const std::string_view word = keyword();
  const char after = at_ + word.size() < end_ ? text_[at_ + word.size()] : ' ';
  const bool ends = ascii::is_space(after) || after == '(' || after == '{' || after == ';';
  if (ends && ascii::one_of(word, "if elseif else while do until try catch finally switch for return throw begin process end exit trap in")) {
    at_ += word.size();
    skip_blanks(true);
    const bool conditional = ascii::one_of(word, "if elseif while switch for until");
    if (conditional && peek() == '(') parenthesis();
    skip_blanks(true);
    if (peek() == '{') block_here();
    return;
  }
  if (ends && ascii::equals(word, "foreach")) {
    const std::size_t start = at_;
    at_ += word.size();
    skip_blanks(true);
    if (peek() == '(') return each();
    at_ = start;
  }
  if (ends && ascii::one_of(word, "function filter")) {
    at_ += word.size();
    define();
    return;
  }
  if (ends && ascii::equals(word, "param")) {
    at_ += word.size();
    skip_blanks(true);
    if (peek() != '(') return;
    if (called_with_ != nullptr) return bind_parameters();
    parenthesis();
    return;
  }
  pipeline();
}

// foreach ($x in list) { ... }: the name stands for every item.
inline void PowerShell::each() noexcept {
  ++at_;
  skip_blanks(true);
  std::string_view name;
  if (peek() == '$') {
    const std::size_t start = ++at_;
    while (at_ < end_ && (ascii::is_name(text_[at_]) || text_[at_] == ':')) ++at_;
    name = text_.substr(start, at_ - start);
  }
  skip_blanks(true);
  if (ascii::equals(keyword(), "in")) at_ += 2;
  const Value items = pipeline();
  skip_blanks(true);
  while (at_ < end_ && peek() != ')') {
    const std::size_t before = at_;
    pipeline();
    skip_blanks(true);
    if (at_ == before) ++at_;
  }
  if (peek() == ')') ++at_;
  if (!name.empty()) bind(name, items);
  skip_blanks(true);
  if (peek() == '{') block_here();
}

inline void PowerShell::block_here() noexcept {  // at the opening brace
  ++at_;
  statements('}');
  if (peek() == '}') {
    ++at_;
  } else {
    open_ = true;
  }
}

inline Value PowerShell::parenthesis() noexcept {  // at the opening parenthesis
  if (level_ >= kLevels || reader_.out_of_stack()) {
    statements('\0');
    return Value{};
  }
  const Level level(level_);
  ++at_;
  skip_blanks(true);
  Value value;
  bool first = true;
  while (at_ < end_ && peek() != ')') {
    const std::size_t before = at_;
    skip_blanks(true);
    if (peek() == ';' || peek() == ',') {
      ++at_;
      continue;
    }
    if (peek() == ')') break;
    const std::string_view word = keyword();
    if (ascii::one_of(word, "if foreach while switch try for")) {
      statement();
      value = Value{};
    } else {
      const Value next = pipeline();
      value = first ? next : Value{};
    }
    first = false;
    if (at_ == before) ++at_;
  }
  if (peek() == ')') {
    ++at_;
  } else {
    open_ = true;
  }
  return value;
}

inline Value PowerShell::pipeline() noexcept {
  Value value;
  bool piped = false;
  for (;;) {
    skip_blanks(piped);
    value = element(value, piped);
    skip_blanks(false);
    if (peek() == '|' && peek(1) != '|') {
      ++at_;
      piped = true;
      skip_blanks(true);
      if (at_ >= end_) return value;
      continue;
    }
    if (peek() == '&' && peek(1) != '&') ++at_;  // in the background
    return value;
  }
}

inline Value PowerShell::element(const Value& input, bool piped) noexcept {
  const std::size_t start = at_;
  const char c = peek();
  if (c == '&' || (c == '.' && ascii::is_space(peek(1)))) {
    ++at_;
    skip_blanks(false);
    if (peek() == '{') {
      block_here();
      arguments_away();
      return Value{};
    }
    const Value target = argument_word();
    if (target.kind == Value::block) {
      run_block(target);
      return Value{};
    }
    return command(target, start, input, piped);
  }
  if (c == '$' && assignment()) return Value{};
  if (c == '$' && shells_words_ && !piped && is_strange()) tree_.add_uncertainty(Unresolved::program, code_.at(at_, at_), frame_.carrier);
  if (c == '[' && typed_assignment()) return Value{};
  if (c == '$' || c == '"' || c == '\'' || c == '(' || c == '@' || c == '[' || c == '{' || ascii::is_digit(c) || c == '!' || (c == '-' && !ascii::is_letter(peek(1)))) {
    if (c == '{') {
      block_here();
      return Value{};
    }
    if (c == '!') {
      ++at_;
      return Value{};
    }
    const Value value = expression();
    redirections();
    return value;
  }
  if (c == '+' || c == '*' || c == '/' || c == '<') {
    ++at_;
    return Value{};
  }
  const Value name = argument_word();
  return command(name, start, input, piped);
}

// A variable that nothing here sets, where a statement begins: in a shell's quotes the shell may put a command there.
inline bool PowerShell::is_strange() const noexcept {
  std::size_t i = at_ + 1;
  while (i < end_ && (ascii::is_name(text_[i]) || text_[i] == ':')) ++i;
  const std::string_view name = text_.substr(at_ + 1, i - at_ - 1);
  if (name.empty() || find(name) != nullptr) return false;
  if (i < end_ && (text_[i] == '.' || text_[i] == '[') && i + 1 < end_ && !ascii::is_space(text_[i + 1])) return false;
  if (name == "_") return level_ < 2;
  return !ascii::starts_with(name, "env:") &&
         !ascii::one_of(name, "true false null home pwd error host input args matches lastexitcode psversiontable pshome profile pid psitem this");
}

inline bool PowerShell::assignment() noexcept {
  std::size_t i = at_ + 1;
  if (i < end_ && text_[i] == '{') {
    while (i < end_ && text_[i] != '}' && text_[i] != '\n') ++i;
    ++i;
  } else {
    while (i < end_ && (ascii::is_name(text_[i]) || text_[i] == ':')) ++i;
  }
  const std::string_view name = text_.substr(at_ + 1, i - at_ - 1);
  while (i < end_ && (ascii::is_blank(text_[i]))) ++i;
  const bool more = i + 1 < end_ && (text_[i] == '+' || text_[i] == '-') && text_[i + 1] == '=';
  if (i >= end_ || (!more && (text_[i] != '=' || (i + 1 < end_ && text_[i + 1] == '=')))) return false;
  at_ = i + (more ? 2 : 1);
  skip_blanks(true);
  Value value;
  const std::string_view word = keyword();  // $x = if (..) {..} else {..}
  if (ascii::one_of(word, "if switch foreach for while do try") && at_ + word.size() < end_ && std::string_view(" \t\n({").find(text_[at_ + word.size()]) != std::string_view::npos) statement();
  else value = pipeline();
  if (more) {
    const Value* before = find(name);
    if (before != nullptr && before->is_text() && value.is_text()) {
      value = text_value(joined(before->known, {}, value.known));
    } else {
      value = Value{};
    }
  }
  bind(name, value);
  return true;
}

inline bool PowerShell::typed_assignment() noexcept {
  std::size_t i = type_end();
  if (i == at_) return false;
  while (i < end_ && ascii::is_blank(text_[i])) ++i;
  if (i >= end_ || text_[i] != '$') return false;
  const std::size_t before = at_;
  at_ = i;
  if (assignment()) return true;
  at_ = before;
  return false;
}

inline void PowerShell::redirections() noexcept {
  for (;;) {
    skip_blanks(false);
    std::size_t i = at_;
    if (i < end_ && (ascii::is_digit(text_[i]) || text_[i] == '*') && i + 1 < end_ && text_[i + 1] == '>') ++i;
    if (i >= end_ || text_[i] != '>') return;
    const std::size_t start = at_;
    at_ = i + 1;
    const bool append = peek() == '>';
    if (append) ++at_;
    if (peek() == '&') {
      at_ = at_ + 2 < end_ ? at_ + 2 : end_;
      continue;
    }
    skip_blanks(false);
    if (at_ >= end_) return;
    const Value target = argument_word();
    CommandWriter writer(reader_, frame_, Dialect::powershell, "@write", from(start));
    if (append) writer.flag("--append");
    writer.known(known_or_blank(target, from(start)), word_flag::kPseudo);
    writer.end();
  }
}

}  // namespace tipstaff::gate::powershell
