// Python, JavaScript, Perl, Ruby and PHP cut into tokens: names, texts however they are quoted, commands in back-ticks.
// What comments, texts and patterns hold is never code, except where a text interpolates it.
#pragma once

#include "tipstaff/gate/tree/command_writer.hpp"
#include "tipstaff/gate/tree/name_signs.hpp"

namespace tipstaff::gate::program {

enum class Language : std::uint8_t { python, node, perl, ruby, php };

enum class Kind : std::uint8_t {
  end,
  name,
  number,
  text,
  shell,    // `...`, qx(...), %x(...): run when it is met
  words,    // qw(...), %w[...]
  pattern,  // a regular expression
  mark,
};

struct Token {
  Kind kind = Kind::end;
  std::string_view text;  // as written; of a text what is between its quotes
  std::size_t start = 0, stop = 0, inner = 0;
  bool line = false;           // the first of its line
  bool raw = false;            // backslashes are themselves
  bool interpolates = false;
  char sigil = 0;              // of a variable: $ @ %
  char quote = 0;
  bool glob = false;           // </etc/*>: the files that match

  [[gnu::always_inline]] bool is(std::string_view mark) const noexcept {
    return kind == Kind::mark && text.size() == mark.size() && text[0] == mark[0] && (mark.size() == 1 || ascii::same_bytes(text, mark));
  }
  bool is_name(std::string_view name) const noexcept { return kind == Kind::name && sigil == 0 && text == name; }
  bool is_one_of(std::string_view names) const noexcept { return kind == Kind::name && sigil == 0 && ascii::one_of(text, names); }
  bool is_one_of(const Words& names) const noexcept { return kind == Kind::name && sigil == 0 && names.has(text); }
  // Whether a value ends here, so that a slash after it divides.
  bool ends_value() const noexcept {
    if (kind == Kind::mark) return is(")") || is("]") || is("}");
    if (kind == Kind::name && sigil == 0) {
      static constexpr Words kBefore("return if unless while until and or not in of case typeof void delete new throw elsif when then split grep map "
          "join push puts print else do yield await x");
      return !kBefore.has(text);
    }
    return kind != Kind::end;
  }
};

class Lexer {
 public:
  Lexer() = default;
  Lexer(std::string_view text, Language language) noexcept : text_(text), end_(text.size()), language_(language) {
    if (language == Language::php) in_html_ = text.find("<?") != std::string_view::npos;
    if (text.size() > 2 && text[0] == '#' && text[1] == '!') skip_line();
  }

  bool is_open() const noexcept { return open_; }
  std::string_view text() const noexcept { return text_; }
  std::size_t end() const noexcept { return end_; }
  void note_open() noexcept { open_ = true; }
  // Goes on at `at`, which ends a line or a token.
  void go_to(std::size_t at) noexcept {
    at_ = at < end_ ? at : end_;
    previous_ = Token();
  }
  // Reads a part of the same text: what a text interpolates.
  Lexer part(std::size_t start, std::size_t end) const noexcept {
    Lexer inner;
    inner.text_ = text_;
    inner.at_ = start;
    inner.end_ = end;
    inner.language_ = language_;
    return inner;
  }

  Token next() noexcept {
    Token token;
    token.line = skip();
    token.start = token.inner = token.stop = at_;
    if (at_ >= end_) return token;
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(token);
    if (c == '`') return back_ticks(token);
    if (c == '$' || c == '@' || c == '%') {
      if (variable(&token)) return finish(token);
      if (c == '%' && percent(&token)) return finish(token);
    }
    if (c == '<' && (here_document(&token) || angles(&token))) return finish(token);
    if (c == '/' && takes_pattern()) return pattern(token, '/', 1);
    if (ascii::is_name_start(c) || (c == '$' && language_ == Language::node)) return name(token);
    if (ascii::is_digit(c)) {
      while (at_ < end_ && (ascii::is_name(text_[at_]) || (text_[at_] == '.' && at_ + 1 < end_ && ascii::is_digit(text_[at_ + 1])))) ++at_;
      token.kind = Kind::number;
      return finish(token);
    }
    if (c == ':' && language_ == Language::ruby && at_ + 1 < end_ && ascii::is_name_start(text_[at_ + 1]) &&
        !(at_ > 0 && text_[at_ - 1] == ':')) {
      ++at_;
      while (at_ < end_ && ascii::is_name(text_[at_])) ++at_;
      token.kind = Kind::name;
      token.sigil = ':';
      token.inner = token.start + 1;
      return finish(token);
    }
    return mark(token);
  }

  // The place after the bracket that closes the one before `at`; quotes in between hold what they hold. `end` where
  // nothing closes it.
  static std::size_t skip_code(std::string_view text, std::size_t at, std::size_t end, char open, char close,
                               std::uint32_t depth = 0) noexcept {
    std::uint32_t opened = 1;
    while (at < end) {
      const char c = text[at];
      if (c == '\\') {
        at += 2;
        continue;
      }
      if ((c == '"' || c == '\'' || c == '`') && depth < 8) {
        std::size_t i = at + 1;
        while (i < end && text[i] != c) {
          if (text[i] == '\\') {
            i += 2;
          } else if (c == '`' && text[i] == '$' && i + 1 < end && text[i + 1] == '{') {
            i = skip_code(text, i + 2, end, '{', '}', depth + 1);
          } else {
            ++i;
          }
        }
        at = i < end ? i + 1 : end;
        continue;
      }
      if (c == open) ++opened;
      if (c == close && --opened == 0) return at + 1;
      ++at;
    }
    return end;
  }

 private:
  char peek(std::size_t ahead) const noexcept { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }
  Token finish(Token token) noexcept {
    if (at_ > end_) at_ = end_;
    token.stop = at_;
    if (token.kind == Kind::name || token.kind == Kind::number || token.kind == Kind::mark) {
      token.text = text_.substr(token.inner, at_ - token.inner);
    }
    previous_ = token;
    return token;
  }

  void skip_line() noexcept {
    std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos || end > end_) end = end_;
    at_ = end;
  }
  void skip_to(std::string_view mark) noexcept {
    const std::size_t place = text_.find(mark, at_);
    if (place == std::string_view::npos || place + mark.size() > end_) {
      at_ = end_;
    } else {
      at_ = place + mark.size();
    }
  }

  // White space and comments; whether a line has ended.
  bool skip() noexcept {
    bool line = at_ == 0;
    while (at_ < end_) {
      const char c = text_[at_];
      if (in_html_) {
        skip_to("<?");
        in_html_ = false;
        if (text_.substr(at_, 3) == "php") at_ += 3;
        if (text_.substr(at_, 1) == "=") ++at_;
        line = true;
        continue;
      }
      if (c == '\n') {
        line = true;
        if (skip_to_ != 0 && skip_from_ <= at_) {
          at_ = skip_to_;
          skip_to_ = 0;
        } else {
          ++at_;
        }
        if (at_ < end_ && text_[at_] == '=' && (language_ == Language::perl || language_ == Language::ruby)) skip_documentation();
      } else if (ascii::is_space(c)) {
        ++at_;
      } else if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r') && language_ != Language::php) {
        at_ += peek(1) == '\r' && peek(2) == '\n' ? 3 : 2;
      } else if (c == '#' && language_ != Language::node && !(language_ == Language::php && peek(1) == '[')) {
        skip_line();
      } else if (c == '/' && peek(1) == '/' && (language_ == Language::node || language_ == Language::php)) {
        skip_line();
      } else if (c == '/' && peek(1) == '*' && (language_ == Language::node || language_ == Language::php)) {
        at_ += 2;
        skip_to("*/");
      } else if (c == '?' && peek(1) == '>' && language_ == Language::php) {
        at_ += 2;
        in_html_ = true;
      } else {
        break;
      }
    }
    return line;
  }
  void skip_documentation() noexcept {  // =pod ... =cut, =begin ... =end
    if (at_ + 1 >= end_ || !ascii::is_letter(text_[at_ + 1])) return;
    skip_to(language_ == Language::perl ? "\n=cut" : "\n=end");
    skip_line();
  }

  bool takes_pattern() const noexcept {
    if (language_ == Language::python || language_ == Language::php) return false;
    return !previous_.ends_value() || (previous_.is(")") && closed_condition_);
  }

  // if (x) /'/.test(y): after the condition of a statement no value has ended.
  void note_bracket() noexcept {
    constexpr std::uint32_t kMost = 64;
    if (text_[at_] == '(') {
      if (brackets_ < kMost) {
        const std::uint64_t bit = std::uint64_t{1} << brackets_;
        conditions_ = previous_.is_one_of("if while for with") ? conditions_ | bit : conditions_ & ~bit;
      }
      ++brackets_;
    } else if (text_[at_] == ')') {
      if (brackets_ != 0) --brackets_;
      closed_condition_ = language_ == Language::node && brackets_ < kMost && (conditions_ >> brackets_ & 1) != 0;
    }
  }

  bool variable(Token* token) noexcept {
    const char sigil = text_[at_];
    if (language_ == Language::python || language_ == Language::node) return false;
    if (language_ == Language::php && sigil != '$') return false;
    if (language_ == Language::ruby && sigil == '%') return false;
    if (sigil == '%' && previous_.ends_value()) return false;
    std::size_t i = at_ + 1;
    if (language_ == Language::ruby && sigil == '@' && i < end_ && text_[i] == '@') ++i;
    const std::size_t start = i;
    if (i < end_ && ascii::is_name_start(text_[i])) {
      while (i < end_ && (ascii::is_name(text_[i]) || (language_ == Language::perl && text_[i] == ':' && i + 2 < end_ &&
                                                       text_[i + 1] == ':' && ascii::is_name_start(text_[i + 2])))) {
        i += text_[i] == ':' ? 2 : 1;
      }
    } else if (language_ == Language::perl && sigil == '$' && i < end_ && text_[i] != '{' && text_[i] != '$' && text_[i] != '(' &&
               !ascii::is_space(text_[i])) {
      ++i;  // $_, $!, $0, $1
    } else {
      return false;
    }
    token->kind = Kind::name;
    token->sigil = sigil;
    token->inner = start;
    at_ = i;
    return true;
  }

  Token name(Token token) noexcept {
    token.kind = Kind::name;
    ++at_;
    while (at_ < end_ && (ascii::is_name(text_[at_]) || (text_[at_] == '$' && language_ == Language::node))) ++at_;
    if (language_ == Language::ruby && at_ < end_ && (text_[at_] == '?' || text_[at_] == '!') && peek(1) != '=') ++at_;
    const std::string_view word = text_.substr(token.start, at_ - token.start);
    const char next = peek(0);
    if (language_ == Language::python && (next == '"' || next == '\'') && word.size() <= 2) {
      bool prefix = true, r = false, f = false;
      for (const char c : word) {
        const char l = ascii::lower(c);
        if (l == 'r') r = true;
        else if (l == 'f' || l == 't') f = true;
        else if (l != 'b' && l != 'u') prefix = false;
      }
      if (prefix) {
        has_prefix_ = true;
        prefix_r_ = r;
        prefix_f_ = f;
        const std::size_t start = token.start;
        token.start = at_;
        Token text = quoted(token);
        text.start = start;
        return text;
      }
    }
    if (language_ == Language::perl && next != '\0' && !previous_.is("->") && !previous_.is("-") && !previous_.is("{")) {
      const bool is_quote = word == "q" || word == "qq" || word == "qw" || word == "qx";
      const bool is_pattern = word == "m" || word == "qr" || word == "s" || word == "y" || word == "tr";
      if (is_quote || is_pattern) {
        std::size_t i = at_;
        while (i < end_ && ascii::is_blank(text_[i])) ++i;
        const char open = i < end_ ? text_[i] : '\0';
        const bool apart = i > at_;
        const bool delimiter = open != '\0' && !ascii::is_name(open) && !ascii::is_space(open) && open != '=' && open != ',' &&
                               open != ';' && open != ')' && !(apart && open == '#') && !(is_pattern && apart && open != '{');
        if (delimiter) {
          at_ = i;
          if (is_quote) {
            delimited(&token, word == "qx" ? Kind::shell : word == "qw" ? Kind::words : Kind::text, word == "qq" || word == "qx");
            return finish(token);
          }
          const bool two = word == "s" || word == "y" || word == "tr";
          delimited(&token, Kind::pattern, false);
          if (two && closing(open) != open) {
            while (at_ < end_ && ascii::is_space(text_[at_])) ++at_;
            if (at_ < end_) delimited(&token, Kind::pattern, false);
          } else if (two && at_ <= end_ && at_ > 0) {
            --at_;  // one mark ends the first part and begins the second
            delimited(&token, Kind::pattern, false);
          }
          while (at_ < end_ && ascii::is_letter(text_[at_])) ++at_;
          return finish(token);
        }
      }
    }
    return finish(token);
  }

  Token mark(Token token) noexcept {
    token.kind = Kind::mark;
    static constexpr std::string_view kMarks[] = {"===", "!==", "...", "**=", "||=", "&&=", "?\?=", "<=>", "==", "!=", "=>", "->", "::",
                                                  "+=", ".=", "||", "&&", "??", "?.", "=~", "!~", "<=", ">=", ":=", "-=", "*=",
                                                  "/=", "%=", "|=", "&=", "**", "<<", ">>", ".."};
    // Most are of one sign: what follows begins none of these.
    const char first = text_[at_], second = peek(1);
    note_bracket();
    if (!ascii::is_name(second) && !ascii::is_space(second) && second != '\0') {
      for (const std::string_view mark : kMarks) {
        if (mark[0] != first || mark[1] != second || at_ + mark.size() > end_) continue;
        if (mark.size() == 3 && text_[at_ + 2] != mark[2]) continue;
        at_ += mark.size();
        return finish(token);
      }
    }
    ++at_;
    return finish(token);
  }

  // All that has quotes: scripting/quotes.hpp.
  Token pattern(Token token, char close, std::uint32_t parts) noexcept;
  Token quoted(Token token) noexcept;
  Token back_ticks(Token token) noexcept;
  Token mark_here(Token token) noexcept;
  Token until(Token token, std::string_view close, bool lines) noexcept;
  static char closing(char open) noexcept;
  void delimited(Token* token, Kind kind, bool interpolates) noexcept;
  bool percent(Token* token) noexcept;
  bool here_document(Token* token) noexcept;
  bool angles(Token* token) noexcept;

  std::string_view text_;
  std::size_t at_ = 0, end_ = 0;
  std::size_t skip_from_ = 0, skip_to_ = 0;  // bodies of here-documents that are after the current line
  Token previous_;
  std::uint64_t conditions_ = 0;  // which of the open brackets hold the condition of a statement
  std::uint32_t brackets_ = 0;
  bool closed_condition_ = false;  // the last bracket that closed was one of them
  Language language_ = Language::python;
  static constexpr std::uint32_t kFailures = 16;
  std::uint32_t failures_ = 0;
  bool open_ = false, in_html_ = false, last_line_ = false;
  bool has_prefix_ = false, prefix_r_ = false, prefix_f_ = false;
};

}  // namespace tipstaff::gate::program
