// Words of PowerShell: variables, quotes, escapes, and bare words as a command takes them.
#pragma once

#include "tipstaff/gate/powershell/reader.hpp"

namespace tipstaff::gate::powershell {

// $name, $env:NAME, ${name}, $_: leaves `at_` after it.
inline Value PowerShell::variable() noexcept {
  const std::size_t start = at_++;
  std::size_t begin = at_;
  std::string_view name;
  if (peek() == '{') {
    begin = ++at_;
    while (at_ < end_ && peek() != '}') ++at_;
    name = text_.substr(begin, at_ - begin);
    if (at_ < end_) ++at_;
  } else if (peek() == '$' || peek() == '?' || peek() == '^') {
    ++at_;
    return Value{};
  } else {
    while (at_ < end_ && (ascii::is_name(text_[at_]) || (text_[at_] == ':' && at_ + 1 < end_ && ascii::is_name(text_[at_ + 1])))) ++at_;
    name = text_.substr(begin, at_ - begin);
  }
  const Span span = from(start);
  for (const std::string_view scope : {"script:", "global:", "local:", "private:", "using:"}) {
    if (ascii::starts_with(name, scope)) name.remove_prefix(scope.size());
  }
  if (const Value* value = find(name)) return *value;
  static constexpr std::string_view kFolders[] = {
      "$env:userprofile", "$env:home", "$env:systemroot", "$env:windir", "$env:temp", "$env:tmp", "$env:tmpdir", "$env:systemdrive", "$env:homedrive",
      "$env:homepath", "$env:appdata", "$env:localappdata", "$env:programfiles", "$env:programdata", "$env:public", "$home", "$pwd"};
  for (const std::string_view folder : kFolders) {
    if (ascii::equals(name, folder.substr(1))) return text_value(Known{folder, span, false, 0});
  }
  if (ascii::equals(name, "null")) return text_value(Known{"$null", span, false, 0});
  if (ascii::one_of(name, "true false")) return text_value(Known{ascii::equals(name, "true") ? "$true" : "$false", span, false, 0});
  Value value = text_value(unknown_text(span));
  value.known.flags |= word_flag::kMayBeEmpty;
  if (ascii::starts_with(name, "env:")) value.known.flags |= word_flag::kEnvironment;
  if (ascii::one_of(name, "_ psitem args input psscriptroot pscommandpath myinvocation matches")) {
    value.known.flags = word_flag::kUnknown;
  }
  return value;
}

inline char PowerShell::unescaped(char c) noexcept {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '0': return '\0';
    default: return c;
  }
}

// A quoted text at `at_`.
inline Known PowerShell::quoted() noexcept {
  const char quote = peek();
  const std::size_t begin = ++at_;
  std::size_t i = begin;
  bool plain = true;
  while (i < end_) {
    if (text_[i] == quote) {
      if (i + 1 < end_ && text_[i + 1] == quote) {
        plain = false;
        i += 2;
        continue;
      }
      break;
    }
    if (quote == '"' && (text_[i] == '`' || text_[i] == '$')) {
      plain = false;
      if (text_[i] == '`') ++i;
      if (i < end_ && text_[i] == '$' && i + 1 < end_ && text_[i + 1] == '(') {
        const std::size_t keep = at_;
        at_ = i + 1;
        i = matching('(', ')');
        at_ = keep;
        continue;
      }
    }
    ++i;
  }
  if (i >= end_) {
    open_ = true;
    i = end_;
  }
  const Known known = plain ? Known{text_.substr(begin, i - begin), code_.at(begin, i), code_.verbatim, 0} : filled(begin, i, quote);
  at_ = i < end_ ? i + 1 : end_;
  return known;
}

inline Known PowerShell::here_string() noexcept {
  const char quote = peek(1);
  at_ += 2;
  while (at_ < end_ && text_[at_] != '\n') ++at_;
  if (at_ < end_) ++at_;
  const std::size_t begin = at_;
  const char close[3] = {'\n', quote, '@'};
  const std::size_t first = begin > 0 ? begin - 1 : 0;
  std::size_t stop = text_.find(std::string_view(close, 3), first);
  if (stop == std::string_view::npos || stop >= end_) {
    open_ = true;
    stop = end_;
  }
  const std::size_t last = stop < begin ? begin : stop;
  const Known known = quote == '"' ? filled(begin, last, '\0') : Known{text_.substr(begin, last - begin), code_.at(begin, last), code_.verbatim, 0};
  at_ = stop + 3 < end_ ? stop + 3 : end_;
  return known;
}

// What is from `begin` to `stop` with escapes undone and variables put in.
inline Known PowerShell::filled(std::size_t begin, std::size_t stop, char quote) noexcept {
  Known values[8];
  std::uint32_t count = 0;
  const std::size_t keep_at = at_, keep_end = end_;
  if (quote != '\'') {  // first what is inserted: it may be code
    std::size_t i = begin;
    while (i < stop) {
      if (text_[i] == '`') {
        i += 2;
        continue;
      }
      if (text_[i] == '$' && i + 1 < stop && (ascii::is_name_start(text_[i + 1]) || text_[i + 1] == '{' || text_[i + 1] == '(')) {
        at_ = i;
        end_ = stop;
        Value value;
        if (text_[i + 1] == '(') {
          ++at_;
          value = parenthesis();
        } else {
          value = variable();
        }
        end_ = keep_end;
        if (count < 8) values[count++] = known_or_blank(value, code_.at(i, i));
        i = at_ > i ? at_ : i + 1;
        continue;
      }
      ++i;
    }
  }
  Draft draft(tree_);
  std::uint32_t next = 0;
  std::uint16_t flags = 0;
  for (std::size_t i = begin; i < stop;) {
    if (quote != '\'' && text_[i] == '`' && i + 1 < stop) {
      const char c = unescaped(text_[i + 1]);
      draft.put(std::string_view(&c, 1));
      i += 2;
    } else if (quote != '\0' && text_[i] == quote && i + 1 < stop && text_[i + 1] == quote) {
      draft.put(text_.substr(i, 1));
      i += 2;
    } else if (quote != '\'' && text_[i] == '$' && i + 1 < stop && (ascii::is_name_start(text_[i + 1]) || text_[i + 1] == '{' || text_[i + 1] == '(')) {
      std::size_t k = i + 1;
      if (text_[k] == '(') {
        const std::size_t keep = at_;
        at_ = k;
        k = matching('(', ')');
        at_ = keep;
        if (k > stop) k = stop;
      } else if (text_[k] == '{') {
        while (k < stop && text_[k] != '}') ++k;
        if (k < stop) ++k;
      } else {
        while (k < stop && (ascii::is_name(text_[k]) || (text_[k] == ':' && k + 1 < stop && ascii::is_name(text_[k + 1])))) ++k;
      }
      if (next < count) {
        draft.put(values[next].text);
        flags |= values[next].flags;
      } else {
        draft.put_unknown();
      }
      ++next;
      i = k;
    } else {
      std::size_t k = i + 1;
      while (k < stop && text_[k] != '`' && text_[k] != '$' && text_[k] != quote) ++k;
      draft.put(text_.substr(i, k - i));
      i = k;
    }
  }
  at_ = keep_at;
  Known known{draft.keep(), code_.at(begin, stop), false, flags};
  note_unknown(&known);
  return known;
}

// The place after the bracket that closes the one at `at_`.
inline std::size_t PowerShell::matching(char open, char close) noexcept {
  std::uint32_t depth = 0;
  std::size_t i = at_;
  while (i < end_) {
    const char c = text_[i];
    if (c == '`') {
      i += 2;
      continue;
    }
    if (c == '\'' || c == '"') {
      std::size_t k = i + 1;
      while (k < end_ && text_[k] != c) k += text_[k] == '`' && c == '"' ? 2 : 1;
      i = k < end_ ? k + 1 : end_;
      continue;
    }
    if (c == open) ++depth;
    if (c == close && --depth == 0) return i + 1;
    ++i;
  }
  open_ = true;
  return end_;
}

// One word as a command takes it: bare text, quotes, variables, in any mixture.
inline Value PowerShell::argument_word() noexcept {
  const char c = peek();
  if (c == '(' || c == '{' || (c == '@' && (peek(1) == '(' || peek(1) == '{' || peek(1) == '"' || peek(1) == '\''))) return primary();
  const std::size_t start = at_;
  Known all;
  bool first = true, simple = true, is_bare = true;
  Value only;
  while (at_ < end_) {
    const char d = peek();
    if (ends(d, kWordEnd)) break;
    if ((d == '>' || d == '<') && at_ > start) break;
    Value part;
    if (d == '"' || d == '\'') {
      part = text_value(quoted());
      is_bare = false;
    } else if (d == '$' && peek(1) == '(') {
      ++at_;
      part = parenthesis();
      is_bare = false;
    } else if (d == '$' && (ascii::is_name_start(peek(1)) || peek(1) == '{' || peek(1) == '$')) {
      const std::size_t begin = at_;
      part = members(variable(), begin);
      is_bare = false;
    } else {
      const std::size_t begin = at_;
      bool escaped = false;
      while (at_ < end_ && !ends(text_[at_], kPieceEnd)) {
        if (peek() == '`') {
          escaped = true;
          ++at_;
          if (at_ >= end_) break;
        }
        ++at_;
      }
      if (at_ == begin) ++at_;
      if (at_ > end_) at_ = end_;
      part = text_value(escaped ? filled(begin, at_, '\0') : Known{text_.substr(begin, at_ - begin), code_.at(begin, at_), code_.verbatim, 0});
    }
    if (first) {
      only = part;
      all = known_or_blank(part, from(start));
    } else {
      simple = false;
      all = joined(all, {}, known_or_blank(part, from(start)));
    }
    first = false;
  }
  Value value = simple ? only : text_value(all);
  value.bare = is_bare;
  if (!simple) value.known.span = from(start);
  return value;
}

}  // namespace tipstaff::gate::powershell
