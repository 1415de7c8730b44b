// Here-documents: where their text is, and what a shell makes of it.
#pragma once

#include <cstring>

#include "tipstaff/gate/shell/language/reader.hpp"
#include "tipstaff/gate/shell/language/words.hpp"

namespace tipstaff::gate::shell {

// << word: its text is after the end of the line.
inline void ShellReader::read_here_document(Redirections& out, bool strip_tabs) noexcept {
  skip_blanks();
  // The delimiter is not expanded; any quote in it makes the text literal.
  const char* p = pos_;
  bool literal = false;
  string_view delimiter;
  while (p < end_ && !ends_word(*p)) {
    const char c = *p;
    if (c == '\'' || c == '"') {
      literal = true;
      const char* q = p + 1;
      while (q < end_ && *q != c) ++q;
      delimiter = tree_.join(delimiter, string_view(p + 1, static_cast<std::size_t>(q - p - 1)));
      p = q < end_ ? q + 1 : q;
    } else if (c == '\\' && p + 1 < end_) {
      literal = true;
      delimiter = tree_.join(delimiter, string_view(p + 1, 1));
      p += 2;
    } else {
      const char* q = p;
      while (q < end_ && !ends_word(*q) && *q != '\'' && *q != '"' && *q != '\\') ++q;
      if (q == p) ++q;  // a backslash that ends the text
      delimiter = tree_.join(delimiter, string_view(p, static_cast<std::size_t>(q - p)));
      p = q;
    }
  }
  pos_ = p;
  if (line_end_ == nullptr || line_end_ < pos_) {
    // Where this line ends: not inside quotes, but quotes that do not close on this side of a parenthesis that was
    // opened before belong to what is around it.
    int depth = 0;
    const char* end = pos_;
    char quote = 0;
    bool loose = false;
    for (; end < end_; ++end) {
      const char c = *end;
      if (quote != 0) {
        if (c == '\\' && quote == '"') ++end;
        else if (c == quote) quote = 0;
      } else if (c == '\n') {
        break;
      } else if (loose) {
        continue;
      } else if (c == '\\') {
        ++end;
      } else if (c == '\'' || c == '"' || c == '`') {
        quote = c;
      } else if (c == '(') {
        ++depth;
      } else if (c == ')' && --depth < 0) {
        loose = true;
      }
    }
    if (end >= end_) {
      // A quote that never closes: take the line as it is.
      const auto* newline =
          static_cast<const char*>(std::memchr(pos_, '\n', static_cast<std::size_t>(end_ - pos_)));
      end = newline == nullptr ? end_ : newline;
    }
    line_end_ = end;
    resume_ = end < end_ ? end + 1 : end_;
  }
  const char* const begin = resume_;
  const char* line = begin;
  const char* body_end = end_;
  bool found = false, tabs = false;
  while (line < end_) {
    const auto* newline = static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(end_ - line)));
    const char* const stop = newline == nullptr ? end_ : newline;
    const char* from = line;
    if (strip_tabs) {
      while (from < stop && *from == '\t') ++from;
      tabs = tabs || from != line;
    }
    const char* to = stop;
    while (to > from && to[-1] == '\r') --to;
    if (string_view(from, static_cast<std::size_t>(to - from)) == delimiter) {
      body_end = line;
      resume_ = newline == nullptr ? end_ : newline + 1;
      found = true;
      break;
    }
    line = newline == nullptr ? end_ : newline + 1;
  }
  if (!found) resume_ = end_;
  string_view body(begin, static_cast<std::size_t>(body_end - begin));
  const Span span = span_of(begin, body_end);
  add_node(NodeKind::here_document, span, frame_.node, false);
  out.has_input = true;
  out.input = Stream{};
  out.input.kind = Stream::known;
  out.input.span = span;
  out.input.text = body;
  if (tabs) {
    std::size_t room = 0;
    char* text = tree_.draft(&room);
    if (room < body.size()) {
      tree_.set_full();
      return;
    }
    std::size_t n = 0;
    bool line_start = true;
    for (const char c : body) {
      if (line_start && c == '\t') continue;
      line_start = c == '\n';
      text[n++] = c;
    }
    out.input.text = tree_.keep(n);
  }
  if (literal || body.find_first_of("$`\\") == string_view::npos) return;
  // Substitutions in it run.
  if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span);
  ++session_.level;
  Pieces pieces;
  const std::uint32_t scratch = session_.scratch.size();
  if (out.input.text.data() == body.data()) {
    const char* const end = end_;
    const char* const at = pos_;
    const char* const line_end = line_end_;
    const char* const resume = resume_;
    pos_ = begin;
    end_ = body_end;
    line_end_ = resume_ = nullptr;
    collect(pieces, Until::end, true);
    end_ = end;
    pos_ = stopped_ ? end : at;
    line_end_ = line_end;
    resume_ = resume;
    if (pieces.count != 0) {
      const Value value = one_text(pieces);
      out.input.text = value.text;
      out.input.flags = static_cast<std::uint16_t>(value.flags & kPublicFlags & ~word_flag::kQuoted);
    } else {
      out.input.text = {};
    }
  } else {
    ShellReader inner(reader_, session_, Code{out.input.text, span, false}, frame_);
    inner.collect(pieces, Until::end, true);
    const Value value = inner.one_text(pieces);
    out.input.text = value.text;
    out.input.flags = static_cast<std::uint16_t>(value.flags & kPublicFlags & ~word_flag::kQuoted);
  }
  session_.scratch.cut(scratch);
  --session_.level;
}

}  // namespace tipstaff::gate::shell
