// Walks through SQL token by token, and knows names, texts and where parentheses open and close.
#pragma once

#include "tipstaff/gate/tree/known_texts.hpp"
#include "tipstaff/gate/sql/lexer.hpp"

namespace tipstaff::gate::sql {

// A parenthesis or a statement has ended; whoever reads statements wants to know.
class Cursor {
 public:
  Cursor(Reader& reader, const Code& code, bool backslashes) noexcept
      : tree_(*reader.tree), code_(code), lexer_(code.text, backslashes) {
    token_ = lexer_.next();
    note_parenthesis();
  }

  const Token& token() const noexcept { return token_; }
  const Token& previous() const noexcept { return previous_; }
  std::uint32_t depth() const noexcept { return depth_; }
  bool at_end() const noexcept { return token_.kind == Kind::end; }
  bool is_open() const noexcept { return lexer_.is_open(); }
  Tree& tree() noexcept { return tree_; }
  const Code& code() const noexcept { return code_; }
  Span span(std::size_t start, std::size_t stop) const noexcept { return code_.at(start, stop); }

  void advance() noexcept {
    previous_ = token_;
    if (token_.is_mark(')') && depth_ > 0) --depth_;
    token_ = lexer_.next();
    note_parenthesis();
  }
  Token peek() const noexcept {
    Lexer ahead = lexer_;
    return ahead.next();
  }
  bool skip_word(std::string_view word) noexcept {
    if (!token_.is(word)) return false;
    advance();
    return true;
  }
  bool skip_words(std::string_view words) noexcept {
    bool any = false;
    for (; token_.is_one_of(words); advance()) any = true;
    return any;
  }
  void skip_parentheses() noexcept {  // at an opening one
    const std::uint32_t inside = depth_;
    advance();
    while (!at_end() && !token_.is_mark(';') && depth_ >= inside && !(token_.is_mark(')') && depth_ == inside)) advance();
    if (token_.is_mark(')') && depth_ == inside) advance();
  }

  // The rest of the line after the current token, up to `stop` where that is not NUL; the token after it is next.
  Known rest_of_line(char stop = '\0') noexcept {
    std::string_view line = lexer_.take_line(token_.stop);
    const std::size_t start = token_.stop;
    if (stop != '\0') {
      const std::size_t end = line.find(stop);
      if (end != std::string_view::npos) {
        line = line.substr(0, end);
        lexer_.go_back_to(start + end);
      }
    }
    std::size_t begin = 0;
    while (begin < line.size() && ascii::is_space(line[begin])) ++begin;
    line = line.substr(begin);
    while (!line.empty() && ascii::is_space(line.back())) line.remove_suffix(1);
    const Known known{line, span(start + begin, start + begin + line.size()), code_.verbatim, flags_of(line)};
    advance();
    return known;
  }

  static std::uint16_t flags_of(std::string_view text) noexcept {
    return text.find(kUnknownPart) != std::string_view::npos ? word_flag::kUnknown : std::uint16_t{0};
  }

  // What a text or a quoted name holds, with its doubled quotes and backslashes undone.
  Known contents(const Token& token) noexcept {
    Known known{token.text, span(token.inner, token.inner + token.text.size()), code_.verbatim, flags_of(token.text)};
    if (!token.escaped) return known;
    Draft draft(tree_);
    for (std::size_t i = 0; i < token.text.size(); ++i) {
      const char c = token.text[i];
      const bool skips = i + 1 < token.text.size() && (c == '\\' || (c == token.quote && token.text[i + 1] == c));
      if (skips) ++i;
      if (!draft.put(skips && c == '\\' && token.text[i] == 'n' ? std::string_view("\n") : token.text.substr(i, 1))) {
        return unknown_text(known.span);
      }
    }
    known.text = draft.keep();
    known.verbatim = false;
    return known;
  }

  // A dotted name, however it is quoted, without the quotes; empty where there is none.
  Known take_name() noexcept {
    if (token_.kind == Kind::mark) return take_parameter();
    if (token_.kind != Kind::word && token_.kind != Kind::name && token_.kind != Kind::text) return Known{};
    const std::size_t start = token_.start;
    Known name = token_.kind == Kind::word ? Known{token_.text, span(start, token_.stop), code_.verbatim, flags_of(token_.text)}
                                           : contents(token_);
    const bool plain = token_.kind == Kind::word;
    advance();
    if (!token_.is_mark('.')) return name;
    Draft draft(tree_);
    std::size_t stop = token_.stop;
    bool all_plain = plain;
    draft.put(name.text);
    while (token_.is_mark('.')) {
      draft.put(".");
      stop = token_.stop;
      advance();
      if (token_.kind != Kind::word && token_.kind != Kind::name && !token_.is_mark('*')) continue;
      all_plain = all_plain && token_.kind != Kind::name;
      draft.put(token_.text);
      stop = token_.stop;
      advance();
    }
    name.span = span(start, stop);
    name.verbatim = code_.verbatim && all_plain && draft.size() == stop - start;
    name.text = name.verbatim ? lexer_.text().substr(start, stop - start) : draft.keep();
    name.flags = flags_of(name.text);
    return name;
  }

 private:
  void note_parenthesis() noexcept {
    if (token_.is_mark('(')) ++depth_;
  }
  // A parameter, a variable or a template's place: what it names is not known. MSSQL's #t is a temporary table.
  Known take_parameter() noexcept {
    const char first = token_.text[0];
    if (std::string_view("@:$%#{?*").find(first) == std::string_view::npos) return Known{};
    const std::size_t start = token_.start;
    advance();
    if (first == '*') {
      while (token_.is_mark('.') || token_.is_mark('*')) advance();
      return rest_from(start);
    }
    if (first == '{') {
      while (!at_end() && !token_.is_mark('}') && !token_.is_mark(';')) advance();
      if (token_.is_mark('}')) advance();
    } else if (first != '?') {
      while (token_.is_mark('#') || token_.is_mark('@') || token_.is_mark(':') || token_.is_mark('{')) advance();
      if (token_.kind == Kind::word || token_.kind == Kind::number || token_.kind == Kind::name) advance();
      if (token_.is_mark('}')) advance();
    }
    if (first == '#') return rest_from(start);
    return unknown_text(span(start, previous_.stop));
  }
  // What was read since `start`, as it is written.
  Known rest_from(std::size_t start) const noexcept {
    const std::string_view text = lexer_.text().substr(start, previous_.stop - start);
    return Known{text, span(start, previous_.stop), code_.verbatim, flags_of(text)};
  }

  Tree& tree_;
  const Code& code_;
  Lexer lexer_;
  Token token_, previous_;
  std::uint32_t depth_ = 0;
};

}  // namespace tipstaff::gate::sql
