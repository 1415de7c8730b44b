// Reads awk programs: the commands that they start, and the files that they write and read.
#pragma once

#include "tipstaff/gate/scripting/actions/actions.hpp"

namespace tipstaff::gate::program {

class Awk : private Actions {
 public:
  Awk(Reader& reader, const Code& code, const Frame& frame) noexcept
      : Actions(reader, code, frame, Language::perl, Dialect::awk), text_(code.text) {}

  void read() noexcept {
    advance();
    while (kind_ != Kind::end) step();
    finish_reverse_shell();
    if (open_) tree_.add_uncertainty(Unresolved::syntax, code_.origin, frame_.carrier);
  }

 private:
  void advance() noexcept {
    previous_ends_value_ = kind_ == Kind::text || kind_ == Kind::number || (kind_ == Kind::name && !is("print printf return getline in")) ||
                           (kind_ == Kind::mark && (token_ == ")" || token_ == "]" || token_ == "$"));
    line_ = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n') {
        line_ = true;
        ++at_;
      } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        at_ += 2;
      } else if (ascii::is_space(c)) {
        ++at_;
      } else {
        break;
      }
    }
    start_ = at_;
    if (at_ >= text_.size()) {
      kind_ = Kind::end;
      token_ = {};
      return;
    }
    const char c = text_[at_];
    if (c == '"') {
      const std::size_t begin = ++at_;
      bool escaped = false;
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '\\') {
          escaped = true;
          ++at_;
        }
        ++at_;
      }
      if (at_ >= text_.size()) {
        at_ = text_.size();
        open_ = true;
      }
      kind_ = Kind::text;
      token_ = text_.substr(begin, at_ - begin);
      escaped_ = escaped;
      if (at_ < text_.size()) ++at_;
      return;
    }
    if (c == '/' && !previous_ends_value_) {
      ++at_;
      bool in_class = false;
      while (at_ < text_.size() && (text_[at_] != '/' || in_class) && text_[at_] != '\n') {
        if (text_[at_] == '\\') ++at_;
        else if (text_[at_] == '[') in_class = true;
        else if (text_[at_] == ']') in_class = false;
        ++at_;
      }
      if (at_ < text_.size()) ++at_;
      if (at_ > text_.size()) at_ = text_.size();
      kind_ = Kind::pattern;
      token_ = {};
      return;
    }
    if (ascii::is_name_start(c)) {
      while (at_ < text_.size() && ascii::is_name(text_[at_])) ++at_;
      kind_ = Kind::name;
    } else if (ascii::is_digit(c)) {
      while (at_ < text_.size() && (ascii::is_name(text_[at_]) || text_[at_] == '.')) ++at_;
      kind_ = Kind::number;
    } else {
      static constexpr std::string_view kMarks[] = {"|&", "||", "&&", ">>", ">=", "<=", "==", "!=", "+=", "-=", "*=", "/="};
      kind_ = Kind::mark;
      at_ += 1;
      for (const std::string_view mark : kMarks) {
        if (text_.substr(start_, 2) == mark) at_ = start_ + 2;
      }
    }
    token_ = text_.substr(start_, at_ - start_);
  }
  bool is(std::string_view names) const noexcept { return kind_ == Kind::name && ascii::one_of(token_, names); }
  bool is_mark(std::string_view mark) const noexcept { return kind_ == Kind::mark && token_ == mark; }

  Known literal() noexcept {
    Known known{token_, code_.at(start_ + 1, start_ + 1 + token_.size()), code_.verbatim, 0};
    if (escaped_) {
      known.text = shell::decode_escapes(tree_, token_, shell::Escapes::printf);
      known.verbatim = false;
    }
    if (known.text.find(kUnknownPart) != std::string_view::npos) known.flags |= word_flag::kUnknown;
    return known;
  }

  // What is adjacent from here on is one text; has() if there was anything.
  Value concatenation() noexcept {
    Value value;
    bool any = false;
    for (;;) {
      Value part;
      const Span at = code_.at(start_, at_);
      if (kind_ == Kind::text) {
        part = text_value(literal());
        advance();
      } else if (kind_ == Kind::number) {
        part = fixed(token_, at);
        advance();
      } else if (kind_ == Kind::name && !is("getline in print printf if else while for do next exit return delete function system close")) {
        const Value* found = memory_.find(token_);
        if (found != nullptr) part = *found;
        part.known.span = part.is_text() ? part.known.span : at;
        if (!part.is_text()) part = text_value(unknown_text(at));
        const std::string_view name = token_;
        advance();
        if (name == "ENVIRON" && is_mark("[")) {
          advance();
          part = environment(concatenation(), at);
          if (is_mark("]")) advance();
        } else if (name == "sprintf" && is_mark("(") && level_ < 16) {
          part = formatted(at);
        } else if (is_mark("[") || is_mark("(")) {
          skip_brackets();
          part = text_value(unknown_text(at));
        }
      } else if (is_mark("$")) {
        advance();
        if (kind_ == Kind::number || kind_ == Kind::name) {
          advance();
        } else if (is_mark("(")) {
          skip_brackets();
        }
        part = text_value(unknown_text(at));
      } else if (is_mark("(")) {
        advance();
        part = level_ < 16 ? inner() : Value{};
        if (is_mark(")")) advance();
        if (!part.is_text()) part = text_value(unknown_text(at));
      } else {
        break;
      }
      value = any ? add(value, part, at) : part;
      any = true;
      if (line_ && kind_ != Kind::end) break;
    }
    return value;
  }
  // sprintf(format, value): at the bracket.
  Value formatted(Span at) noexcept {
    advance();
    const Value format = inner();
    Items<16> items;
    while (is_mark(",")) {
      advance();
      const std::size_t before = start_;
      const Value value = inner();
      items.add(known_or_blank(value, at));
      if (start_ == before) break;
    }
    if (is_mark(")")) advance();
    if (!format.is_text()) return text_value(unknown_text(at));
    const Value value = filled(format, kept(items, Value::list), at);
    return value.is_text() ? value : text_value(unknown_text(at));
  }
  Value inner() noexcept {
    ++level_;
    const Value value = concatenation();
    --level_;
    return value;
  }
  void skip_brackets() noexcept {
    std::uint32_t depth = 0;
    while (kind_ != Kind::end) {
      if (is("system") && depth > 0) {
        step();
        continue;
      }
      if (is_mark("(") || is_mark("[")) ++depth;
      const bool closes = is_mark(")") || is_mark("]");
      if (is_mark("{") || is_mark("}") || is_mark(";")) return;
      advance();
      if (closes && --depth == 0) return;
    }
  }

  void step() noexcept {
    if (line_ && parentheses_ == 0) printing_ = false;
    const std::size_t start = start_;
    if (is("print printf")) {
      printing_ = true;
      formats_ = token_ == "printf";
      printed_ = Value{};
      parentheses_ = 0;
      advance();
      return;
    }
    if (is("system")) {
      advance();
      if (!is_mark("(")) return;
      advance();
      const Value command = concatenation();
      run_shell(command, code_.at(start, at_));
      return;
    }
    if (is("getline")) {
      advance();
      if (kind_ == Kind::name || is_mark("$")) {
        if (is_mark("$")) advance();
        if (kind_ != Kind::end) advance();
      }
      if (is_mark("<")) {
        advance();
        const Value path = concatenation();
        emit_read(code_.at(start, at_), path);
      }
      return;
    }
    if (kind_ == Kind::text || kind_ == Kind::number || kind_ == Kind::name || is_mark("$") || (is_mark("(") && !printing_)) {
      if (kind_ == Kind::name && is("if else while for do next exit return delete function in BEGIN END close")) return advance();
      const std::string_view name = kind_ == Kind::name ? token_ : std::string_view();
      if (is_mark("(")) return advance();
      last_ = concatenation();
      // Two values with a comma between them are printed with a blank between them; a format is followed no further.
      if (printing_) {
        const Span here = code_.at(start, at_);
        printed_ = printed_.kind == Value::unknown ? last_ : formats_ ? text_value(unknown_text(here)) : add(add(printed_, fixed(" ", here), here), last_, here);
      }
      if (is_mark("=") && !name.empty()) {
        advance();
        const Value value = concatenation();
        memory_.bind(name, value);
        last_ = value;
      }
      if (start_ == start) advance();
      return;
    }
    if (is_mark("|") || is_mark("|&")) {
      const bool both = is_mark("|&");
      advance();
      if (is("getline")) {
        run(last_, both, code_.at(start, at_));
      } else if (printing_ || both) {
        const Value command = concatenation();
        const Span here = code_.at(start, at_);
        if (printing_ && !both && command.is_text() && !command.known.is_blank()) {
          Value process = command;
          process.kind = Value::process;
          feed(process, printed_, here);
        } else {
          run(command, both, here);
        }
        printing_ = false;
      }
      return;
    }
    if (printing_ && parentheses_ == 0 && (is_mark(">") || is_mark(">>"))) {
      const bool append = is_mark(">>");
      advance();
      Value path = concatenation();
      const bool blank = printed_.is_text() && (printed_.known.flags & word_flag::kUnknown) == 0 &&
                         printed_.known.text.find_first_not_of(" \t\r\n") == std::string_view::npos;
      emit_one("@write", code_.at(start, at_), path, append ? "--append" : blank ? "--empty" : std::string_view());
      printing_ = false;
      return;
    }
    if (is_mark("(")) ++parentheses_;
    if (is_mark(")") && parentheses_ > 0) --parentheses_;
    if (is_mark(";") || is_mark("{") || is_mark("}")) {
      printing_ = false;
      parentheses_ = 0;
    }
    advance();
  }

  void run(const Value& command, bool both, Span span) noexcept {
    if (command.is_text() && command.known.text.substr(0, 6) == "/inet/") {
      if (both && !connects_) {
        connects_ = has_shell_ = true;
        connect_span_ = span;
      }
      return;
    }
    if (both && connects_) return;
    run_shell(command, span);
  }

  std::string_view text_, token_;
  std::size_t at_ = 0, start_ = 0;
  std::uint32_t parentheses_ = 0, level_ = 0;
  Kind kind_ = Kind::mark;
  Value last_, printed_;
  bool line_ = false, escaped_ = false, open_ = false, printing_ = false, formats_ = false, previous_ends_value_ = false;
};

}  // namespace tipstaff::gate::program
