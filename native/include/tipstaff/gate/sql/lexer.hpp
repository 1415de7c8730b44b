// SQL as all servers write it, cut into tokens. What quotes and comments hold is never a word.
#pragma once

#include "tipstaff/gate/tree/command_writer.hpp"

namespace tipstaff::gate::sql {

enum class Kind : std::uint8_t { end, word, name, text, number, mark, meta };

struct Token {
  Kind kind = Kind::end;
  std::string_view text;  // a word or a mark as written; what is between the quotes of a name or a text
  std::size_t start = 0, stop = 0;
  std::size_t inner = 0;   // where `text` begins
  char quote = 0;          // of a name or a text; '$' for dollar quotes
  bool escaped = false;    // holds doubled quotes or backslashes

  bool is(std::string_view word) const noexcept { return kind == Kind::word && ascii::equals(text, word); }
  bool is_one_of(std::string_view words) const noexcept { return kind == Kind::word && ascii::one_of(text, words); }
  bool is_mark(char c) const noexcept { return kind == Kind::mark && text[0] == c; }
};

// One pass, no memory: next() gives tokens until Kind::end. Copies of a lexer look ahead.
class Lexer {
 public:
  Lexer() = default;
  Lexer(std::string_view text, bool backslashes) noexcept : text_(text), backslashes_(backslashes) {}

  // A quote or a comment that nothing closes was met.
  bool is_open() const noexcept { return open_; }
  std::size_t place() const noexcept { return at_; }
  std::string_view text() const noexcept { return text_; }

  // The rest of the line from `place`, which is then passed over.
  std::string_view take_line(std::size_t place) noexcept {
    std::size_t end = text_.find('\n', place);
    if (end == std::string_view::npos) end = text_.size();
    at_ = end;
    std::string_view line = text_.substr(place, end - place);
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  void go_back_to(std::size_t place) noexcept { at_ = place; }

  Token next() noexcept {
    skip();
    Token token;
    token.start = token.inner = at_;
    if (at_ >= text_.size()) {
      token.stop = at_;
      return token;
    }
    const char c = text_[at_];
    if (c == '\'') return quoted(token, '\'', Kind::text, backslashes_);
    if (c == '"') return quoted(token, '"', Kind::name, backslashes_);
    if (c == '`') return quoted(token, '`', Kind::name, false);
    if (c == '[' && at_ + 1 < text_.size() && (ascii::is_name_start(text_[at_ + 1]) || text_[at_ + 1] == kUnknownPart)) {
      return bracketed(token);
    }
    if (c == '$') {
      if (dollars(&token)) return token;
    }
    if (c == '\\' && at_ + 1 < text_.size()) {
      token.kind = Kind::meta;
      ++at_;
      const std::size_t start = at_;
      if (ascii::is_letter(text_[at_])) {
        while (at_ < text_.size() && ascii::is_name(text_[at_])) ++at_;
      } else {
        ++at_;
      }
      token.text = text_.substr(start, at_ - start);
      token.inner = start;
      token.stop = at_;
      return token;
    }
    if (ascii::is_name_start(c) || c == kUnknownPart) return word(token);
    if (ascii::is_digit(c)) {
      while (at_ < text_.size() && (ascii::is_name(text_[at_]) || text_[at_] == '.')) ++at_;
      token.kind = Kind::number;
    } else {
      ++at_;
      token.kind = Kind::mark;
    }
    token.stop = at_;
    token.text = text_.substr(token.start, at_ - token.start);
    return token;
  }

 private:
  char peek(std::size_t ahead) const noexcept { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_line() noexcept {
    at_ = text_.find('\n', at_);
    if (at_ == std::string_view::npos) at_ = text_.size();
  }

  // White space and comments. The code in /*! ... */ is run by MySQL, so that only its marks are passed over.
  void skip() noexcept {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_begins_ = true;
        ++at_;
      } else if (ascii::is_space(c) || c == '\0') {
        ++at_;
      } else if (c == '-' && peek(1) == '-') {
        skip_line();
      } else if (c == '#' && (line_begins_ || at_ == 0)) {
        skip_line();
      } else if (c == '/' && peek(1) == '*' && peek(2) == '!') {
        at_ += 3;
        while (ascii::is_digit(peek(0))) ++at_;
        run_by_mysql_ = true;
      } else if (c == '*' && peek(1) == '/' && run_by_mysql_) {
        at_ += 2;
        run_by_mysql_ = false;
      } else if (c == '/' && peek(1) == '*') {
        at_ = text_.find("*/", at_ + 2);
        if (at_ == std::string_view::npos) {
          at_ = text_.size();
          open_ = true;
        } else {
          at_ += 2;
        }
      } else {
        line_begins_ = false;
        return;
      }
    }
  }

  // The closing quote, doubled quotes passed over.
  Token quoted(Token token, char quote, Kind kind, bool backslashes) noexcept {
    token.kind = kind;
    token.quote = quote;
    token.inner = ++at_;
    bool closed = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == quote) {
        if (peek(1) != quote) {
          closed = true;
          break;
        }
        token.escaped = true;
        ++at_;
      } else if (c == '\\' && backslashes) {
        token.escaped = true;
        if (at_ + 1 < text_.size()) ++at_;
      }
      ++at_;
    }
    token.text = text_.substr(token.inner, at_ - token.inner);
    if (closed) {
      ++at_;
    } else {
      open_ = true;
    }
    token.stop = at_;
    return token;
  }

  Token bracketed(Token token) noexcept {
    const std::size_t length = text_.substr(at_, 130).find_first_of("]\n");  // names are short, lines may be long
    const std::size_t close = length == std::string_view::npos ? length : at_ + length;
    if (close == std::string_view::npos || text_[close] != ']') {
      token.kind = Kind::mark;
      token.text = text_.substr(at_++, 1);
      token.stop = at_;
      return token;
    }
    token.kind = Kind::name;
    token.quote = '[';
    token.inner = at_ + 1;
    token.text = text_.substr(token.inner, close - token.inner);
    at_ = token.stop = close + 1;
    return token;
  }

  // $$ ... $$ and $tag$ ... $tag$; false where this is a parameter ($1) or a lone dollar.
  bool dollars(Token* token) noexcept {
    std::size_t end = at_ + 1;
    if (end < text_.size() && ascii::is_digit(text_[end])) return false;
    while (end < text_.size() && ascii::is_name(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != '$' || end - at_ > 64) return false;
    const std::string_view tag = text_.substr(at_, end + 1 - at_);
    token->kind = Kind::text;
    token->quote = '$';
    token->inner = end + 1;
    const std::size_t close = text_.find(tag, token->inner);
    if (close == std::string_view::npos) {
      open_ = true;
      at_ = text_.size();
      token->text = text_.substr(token->inner);
    } else {
      token->text = text_.substr(token->inner, close - token->inner);
      at_ = close + tag.size();
    }
    token->stop = at_;
    return true;
  }

  Token word(Token token) noexcept {
    while (at_ < text_.size() && (ascii::is_name(text_[at_]) || text_[at_] == kUnknownPart || text_[at_] == '$')) ++at_;
    token.kind = Kind::word;
    token.stop = at_;
    token.text = text_.substr(token.start, at_ - token.start);
    const std::size_t size = token.text.size();
    if (at_ < text_.size() && text_[at_] == '\'' && size <= 2) {  // E'...', N'...', B'...', X'...', q'[...]'
      if ((size == 1 && ascii::one_of(token.text, "e n b x u r")) || ascii::one_of(token.text, "br rb")) {
        const bool escapes = backslashes_ || ascii::lower(token.text[0]) == 'e';
        return quoted(token, '\'', Kind::text, escapes);
      }
      if (ascii::one_of(token.text, "q nq") && at_ + 2 < text_.size()) {
        char close = text_[at_ + 1];
        if (close == '[') close = ']';
        else if (close == '{') close = '}';
        else if (close == '(') close = ')';
        else if (close == '<') close = '>';
        const char tail[2] = {close, '\''};
        token.kind = Kind::text;
        token.quote = '\'';
        token.inner = at_ + 2;
        const std::size_t end = text_.find(std::string_view(tail, 2), token.inner);
        if (end == std::string_view::npos) {
          open_ = true;
          at_ = text_.size();
          token.text = text_.substr(token.inner);
        } else {
          token.text = text_.substr(token.inner, end - token.inner);
          at_ = end + 2;
        }
        token.stop = at_;
      }
    }
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool backslashes_ = false;
  bool line_begins_ = true;
  bool run_by_mysql_ = false;
  bool open_ = false;
};

}  // namespace tipstaff::gate::sql
