// How programs quote: texts, commands in back-ticks, patterns, lists of words, here-documents, and where each ends.
#pragma once

#include "tipstaff/gate/scripting/lexer.hpp"

namespace tipstaff::gate::program {

inline Token Lexer::pattern(Token token, char close, std::uint32_t parts) noexcept {
  token.kind = Kind::pattern;
  ++at_;
  bool in_class = false;
  while (at_ < end_ && parts > 0) {
    const char c = text_[at_];
    if (c == '\\') {
      at_ += 2;
      continue;
    }
    if (c == '\n' && language_ == Language::node) break;
    if (language_ == Language::node && c == '[') in_class = true;
    if (c == ']') in_class = false;
    if (c == close && !in_class) --parts;
    ++at_;
  }
  while (at_ < end_ && ascii::is_letter(text_[at_])) ++at_;
  return finish(token);
}

inline Token Lexer::quoted(Token token) noexcept {
  const char quote = text_[at_];
  token.kind = Kind::text;
  token.quote = quote;
  const bool is_double = quote == '"';
  switch (language_) {
    case Language::python: {
      token.interpolates = has_prefix_ && prefix_f_;
      token.raw = has_prefix_ && prefix_r_;
      has_prefix_ = false;
      if (peek(1) == quote && peek(2) == quote) {
        const char triple[3] = {quote, quote, quote};
        at_ += 3;
        return until(token, std::string_view(triple, 3), true);
      }
      ++at_;
      return until(token, std::string_view(&text_[token.start], 1), false);
    }
    case Language::node:
      ++at_;
      return until(token, is_double ? "\"" : "'", false);
    default:
      token.interpolates = is_double;
      token.raw = !is_double;
      ++at_;
      return until(token, is_double ? "\"" : "'", true);
  }
}

inline Token Lexer::back_ticks(Token token) noexcept {
  token.kind = language_ == Language::node ? Kind::text : Kind::shell;
  token.interpolates = true;
  token.quote = '`';
  if (language_ == Language::python) {
    ++at_;
    return mark_here(token);
  }
  ++at_;
  return until(token, "`", true);
}

inline Token Lexer::mark_here(Token token) noexcept {
  token.kind = Kind::mark;
  return finish(token);
}

// What is before `close`, which is one quote or three.
inline Token Lexer::until(Token token, std::string_view close, bool lines) noexcept {
  token.inner = at_;
  bool closed = false, balanced = true;
  while (at_ < end_) {
    const char c = text_[at_];
    if (c == '\\') {
      at_ += 2;
      continue;
    }
    if (c == close[0] && text_.substr(at_, close.size()) == close && at_ + close.size() <= end_) {
      closed = true;
      break;
    }
    if (c == '\n' && !lines) break;
    if (token.interpolates && balanced && failures_ < kFailures) {
      std::size_t code = 0;
      if (language_ == Language::node && c == '$' && peek(1) == '{') code = at_ + 2;
      if (language_ == Language::ruby && c == '#' && peek(1) == '{') code = at_ + 2;
      if (language_ == Language::python && c == '{' && peek(1) != '{') code = at_ + 1;
      if (language_ == Language::python && c == '{' && peek(1) == '{') ++at_;
      if (code != 0) {
        const std::size_t after = skip_code(text_, code, end_, '{', '}');
        const bool one_line = lines || text_.substr(code, after - code).find('\n') == std::string_view::npos;
        if (after < end_ && one_line) {
          at_ = after;
          continue;
        }
        balanced = false;  // each search reads what is left: some may fail, then the text is not whole
        if (++failures_ == kFailures) open_ = true;
      }
    }
    ++at_;
  }
  if (at_ > end_) at_ = end_;
  token.text = text_.substr(token.inner, at_ - token.inner);
  if (closed) {
    at_ += close.size();
  } else {
    open_ = true;
  }
  return finish(token);
}

inline char Lexer::closing(char open) noexcept {
  switch (open) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    case '<': return '>';
    default: return open;
  }
}

// q(...), %w[...]: from the opening mark on.
inline void Lexer::delimited(Token* token, Kind kind, bool interpolates) noexcept {
  const char open = text_[at_], close = closing(open);
  token->kind = kind;
  token->interpolates = interpolates;
  token->raw = !interpolates;
  token->quote = close;
  token->inner = ++at_;
  std::uint32_t depth = 1;
  while (at_ < end_) {
    const char c = text_[at_];
    if (c == '\\') {
      at_ += 2;
      continue;
    }
    if (c == close && --depth == 0) break;
    if (c == open && open != close) ++depth;
    ++at_;
  }
  if (at_ >= end_) {
    at_ = end_;
    open_ = true;
  }
  token->text = text_.substr(token->inner, at_ - token->inner);
  if (at_ < end_) ++at_;
}

// Ruby's %w[] %q() %x{} %()
inline bool Lexer::percent(Token* token) noexcept {
  if (language_ != Language::ruby) return false;
  const char kind = peek(1);
  if (previous_.ends_value()) {  // `rm_rf %w[a b]` is a call, `a %b` is not known to be one
    const bool apart = at_ > 0 && ascii::is_blank(text_[at_ - 1]) && previous_.kind == Kind::name;
    const char open = peek(2);
    if (!apart || (kind != 'w' && kind != 'W' && kind != 'q' && kind != 'Q' && kind != 'x' && kind != 'i') ||
        (open != '[' && open != '(' && open != '{' && open != '<')) {
      return false;
    }
  }
  if (kind == '(' || kind == '[' || kind == '{' || kind == '<' || kind == '|') {
    ++at_;
    delimited(token, Kind::text, true);
    return true;
  }
  if (std::string_view("wWiIqQxsr").find(kind) == std::string_view::npos || kind == '\0') return false;
  const char open = peek(2);
  if (open == '\0' || ascii::is_name(open) || ascii::is_space(open) || open == '=') return false;
  at_ += 2;
  delimited(token, kind == 'x' ? Kind::shell : ascii::lower(kind) == 'w' || ascii::lower(kind) == 'i' ? Kind::words
                   : kind == 'r' ? Kind::pattern : Kind::text,
            kind != 'q' && kind != 'w' && kind != 'i');
  return true;
}

// Perl's </etc/*>: a glob, where it holds more than a name.
inline bool Lexer::angles(Token* token) noexcept {
  if (language_ != Language::perl) return false;
  const bool bare = previous_.kind == Kind::name && previous_.sigil == 0 && at_ > 0 && ascii::is_blank(text_[at_ - 1]);  // unlink <*.o>
  if (previous_.ends_value() && !bare) return false;
  const std::size_t size = text_.substr(at_ + 1, 128).find_first_of(">\n;=");
  if (size == std::string_view::npos || size == 0 || at_ + 1 + size >= end_ || text_[at_ + 1 + size] != '>') return false;
  const std::string_view inside = text_.substr(at_ + 1, size);
  if (inside.find_first_of("*?/~.") == std::string_view::npos || ascii::is_space(inside[0])) return false;
  token->kind = Kind::text;
  token->interpolates = token->glob = true;
  token->inner = at_ + 1;
  token->text = inside;
  at_ += size + 2;
  return true;
}

inline bool Lexer::here_document(Token* token) noexcept {
  if (language_ == Language::python || language_ == Language::node) return false;
  std::size_t i = at_ + 1;
  if (language_ == Language::php) {
    if (peek(1) != '<' || peek(2) != '<') return false;
    i = at_ + 3;
    while (i < end_ && ascii::is_blank(text_[i])) ++i;
  } else {
    if (peek(1) != '<' || (previous_.ends_value() && peek(2) != '~' && peek(2) != '"' && peek(2) != '\'')) return false;
    i = at_ + 2;
    if (i < end_ && (text_[i] == '~' || text_[i] == '-')) ++i;
  }
  char quote = 0;
  if (i < end_ && (text_[i] == '"' || text_[i] == '\'' || text_[i] == '`')) quote = text_[i++];
  const std::size_t name = i;
  while (i < end_ && ascii::is_name(text_[i])) ++i;
  if (i == name) return false;
  const std::string_view tag = text_.substr(name, i - name);
  if (quote != 0 && (i >= end_ || text_[i++] != quote)) return false;
  std::size_t body = skip_to_;
  if (body == 0) {
    if (last_line_) return false;
    const std::size_t newline = text_.find('\n', i);
    if (newline == std::string_view::npos || newline >= end_) {
      last_line_ = true;
      return false;
    }
    skip_from_ = newline;
    body = newline + 1;
  }
  token->kind = quote == '`' ? Kind::shell : Kind::text;
  token->interpolates = quote != '\'';
  token->raw = quote == '\'';
  token->inner = body;
  std::size_t line = body;
  while (line < end_) {
    std::size_t end = text_.find('\n', line);
    if (end == std::string_view::npos || end > end_) end = end_;
    std::size_t first = line;
    while (first < end && ascii::is_blank(text_[first])) ++first;
    std::string_view written = text_.substr(first, end - first);
    if (written.substr(0, tag.size()) == tag && (written.size() == tag.size() || !ascii::is_name(written[tag.size()]))) {
      token->text = text_.substr(body, line - body);
      skip_to_ = language_ == Language::php ? first + tag.size() : end < end_ ? end + 1 : end_;
      at_ = i;
      return true;
    }
    line = end + 1;
  }
  open_ = true;
  token->text = text_.substr(body, end_ - body);
  skip_to_ = end_;
  at_ = i;
  return true;
}

}  // namespace tipstaff::gate::program
