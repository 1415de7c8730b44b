// What the quoted texts of programs hold: escapes undone, what they interpolate read as code and put in.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// $`...`, Bun.$`...`, execa`...`, sql`...`
inline Value ScriptReader::tagged(const Value& tag) noexcept {
  const Known text = text_of(token_);
  const std::size_t start = token_.start;
  advance();
  const std::string_view name = tag.kind == Value::object ? tag.known.text : std::string_view();
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  if (last == "$" || ascii::one_of(last, "execa sh bash") || ascii::starts_with(name, "dax")) {
    run_code(Dialect::shell, text);
  } else if (ascii::one_of(last, "sql $queryraw $executeraw query raw") || (start > 3 && lexer_.text().substr(start - 3, 3) == "sql")) {
    read_statement(text_value(text));
  } else if (ascii::equals(name, "string.raw")) {
    return text_value(text);
  }
  (void)start;
  return Value{};
}

// What a text holds when its escapes are undone and what it interpolates is put in, as far as that is known.
inline Known ScriptReader::text_of(const Token& token) noexcept {
  Known known{token.text, span(token.inner, token.inner + token.text.size()), code_.verbatim, 0};
  const bool escapes = token.text.find('\\') != std::string_view::npos && !(token.raw && is_python());
  const bool opens = token.interpolates && token.text.find_first_of(language_ == Language::python ? "{" : language_ == Language::node ? "$"
                                                                    : language_ == Language::ruby ? "#" : "$@") != std::string_view::npos;
  if (!escapes && !opens) {
    if (known.text.find(kUnknownPart) != std::string_view::npos) known.flags |= word_flag::kUnknown;
    return known;
  }
  Value inserted[6];
  std::uint32_t count = 0;
  if (opens) interpolate(token, inserted, &count);
  Draft draft(tree_);
  std::uint32_t next = 0;
  const std::string_view text = token.text;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      char bytes[4];
      std::size_t made = 0;
      i = unescape(token, text, i, bytes, &made);
      draft.put(std::string_view(bytes, made));
      continue;
    }
    std::size_t stop = 0;
    if (opens && insertion(text, i, &stop, nullptr, nullptr)) {
      const Value* value = next < 6 ? &inserted[next] : nullptr;
      if (next < count && value != nullptr && value->kind == Value::any && value->count == 1) {  // one of one
        inserted[next] = text_value(memory_.item(value->first));
      }
      if (next < count && value != nullptr && (value->is_text())) {
        draft.put(value->known.text);
        known.flags |= value->known.flags;
      } else {
        draft.put_unknown();
        if (value != nullptr && value->kind == Value::unknown) known.flags |= value->known.flags;
      }
      ++next;
      i = stop;
      continue;
    }
    if (is_python() && token.interpolates && (text[i] == '{' || text[i] == '}') && i + 1 < text.size() && text[i + 1] == text[i]) ++i;
    draft.put(text.substr(i, 1));
    ++i;
  }
  known.text = draft.keep();
  known.verbatim = false;
  note_unknown(&known);
  return known;
}

// Whether something is inserted at `i`: its end, and the code or the name of it.
inline bool ScriptReader::insertion(std::string_view text, std::size_t i, std::size_t* stop, std::size_t* code, std::size_t* code_end) const noexcept {
  std::size_t open = 0;
  const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
  if (language_ == Language::python && c == '{' && next != '{') open = i + 1;
  if (language_ == Language::node && c == '$' && next == '{') open = i + 2;
  if (language_ == Language::ruby && c == '#' && next == '{') open = i + 2;
  if (language_ == Language::php && ((c == '{' && next == '$') || (c == '$' && next == '{'))) open = i + (c == '{' ? 1 : 2);
  if (language_ == Language::perl && (c == '$' || c == '@') && (next == '{' || (next == '[' && false))) open = i + 2;
  if (open != 0) {
    const std::size_t end = Lexer::skip_code(text, open, text.size(), '{', '}');
    if (end == text.size() && (text.empty() || text.back() != '}')) return false;
    *stop = end;
    if (code != nullptr) {
      *code = open;
      *code_end = end - 1;
    }
    return true;
  }
  if ((language_ == Language::perl && (c == '$' || c == '@')) || (language_ == Language::php && c == '$')) {
    std::size_t end = i + 1;
    if (end < text.size() && ascii::is_name_start(text[end])) {
      while (end < text.size() && ascii::is_name(text[end])) ++end;
    } else {
      return false;
    }
    const std::size_t name_end = end;
    if (end < text.size() && (text[end] == '{' || text[end] == '[')) {
      const std::size_t close = text.substr(end, 64).find(text[end] == '{' ? '}' : ']');
      if (close != std::string_view::npos) end += close + 1;
    }
    *stop = end;
    if (code != nullptr) {
      *code = i;
      *code_end = end > name_end ? end : name_end;
    }
    return true;
  }
  return false;
}

inline void ScriptReader::interpolate(const Token& token, Value* inserted, std::uint32_t* count) noexcept {
  const std::string_view text = token.text;
  std::uint32_t failed = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\\') {
      i += 2;
      continue;
    }
    std::size_t stop = 0, code = 0, code_end = 0;
    if (failed >= 4 || !insertion(text, i, &stop, &code, &code_end)) {
      if (text[i] == '{' || text[i] == '$') failed += std::string_view(&text[i], 1) == "{" ? 1 : 0;
      if (is_python() && i + 1 < text.size() && text[i] == '{' && text[i + 1] == '{') {
        ++i;
        if (failed > 0) --failed;
      }
      ++i;
      continue;
    }
    const Value value = part_value(token.inner + code, token.inner + code_end);
    if (*count < 6) inserted[(*count)++] = value;
    i = stop;
  }
}

// The value of a part of the text, read as code.
inline Value ScriptReader::part_value(std::size_t start, std::size_t end) noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) return too_deep();
  const Level level(level_);
  const Lexer outer = lexer_;
  const Token token = token_;
  const std::size_t stop = previous_stop_;
  const std::uint32_t brackets = brackets_;
  lexer_ = outer.part(start, end);
  brackets_ = 1;
  advance();
  Value value = expression();
  while (token_.kind != Kind::end) {  // a format, or more than one expression
    const std::size_t before = token_.start;
    if (token_.is(":") && is_python()) break;
    expression();
    if (token_.start == before) advance();
  }
  lexer_ = outer;
  token_ = token;
  previous_stop_ = stop;
  brackets_ = brackets;
  return value;
}

// One escape at `i`; returns the position after it.
inline std::size_t ScriptReader::unescape(const Token& token, std::string_view text, std::size_t i, char* bytes, std::size_t* made) const noexcept {
  const char e = text[i + 1];
  const auto one = [&](char c, std::size_t step) noexcept {
    bytes[0] = c;
    *made = 1;
    return i + step;
  };
  if (token.raw && language_ != Language::node && language_ != Language::python) {  // '...': only the quote and the backslash
    if (e == '\\' || e == token.quote) return one(e, 2);
    return one('\\', 1);
  }
  switch (e) {
    case 'n': return one('\n', 2);
    case 't': return one('\t', 2);
    case 'r': return one('\r', 2);
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': {
      std::uint32_t value = 0;
      std::size_t k = i + 1;
      for (; k < text.size() && k < i + 4 && text[k] >= '0' && text[k] <= '7'; ++k) value = value * 8 + static_cast<std::uint32_t>(text[k] - '0');
      return one(static_cast<char>(value == 1 ? '?' : value & 255), k - i);
    }
    case 'x': case 'u': case 'U': {
      std::size_t k = i + 2;
      std::uint32_t value = 0;
      const bool braced = k < text.size() && text[k] == '{';
      if (braced) ++k;
      const std::size_t most = k + (braced ? 6 : e == 'x' ? 2 : e == 'u' ? 4 : 8);
      const std::size_t first = k;
      while (k < text.size() && k < most && ascii::hex_value(text[k]) >= 0) {
        value = value * 16 + static_cast<std::uint32_t>(ascii::hex_value(text[k++]));
      }
      if (k == first || value > 0x10FFFF) return one(e, 2);
      if (braced && k < text.size() && text[k] == '}') ++k;
      if (value == 1) value = '?';
      *made = write_utf8(value, bytes);
      return k;
    }
    case '\n':
      *made = 0;
      return i + 2;
    default: break;
  }
  if (is_python() && e != '\\' && e != '\'' && e != '"') return one('\\', 1);
  return one(e, 2);
}

}  // namespace tipstaff::gate::program
