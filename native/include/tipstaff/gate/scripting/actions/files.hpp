// What a program does to files, and what it sends.
#pragma once

#include "tipstaff/gate/scripting/actions/actions.hpp"

namespace tipstaff::gate::program {

inline Value Actions::mode_of(const Value& value) noexcept {  // 0o777, 0777
  if (value.kind != Value::number && !value.is_text()) return value;
  Value mode = value;
  string_view& text = mode.known.text;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'o' || text[1] == 'O')) {
    text.remove_prefix(2);
  } else if (text == "511") {  // 0o777 in decimal
    text = "777";
  }
  while (text.size() > 3 && text[0] == '0') text.remove_prefix(1);
  return mode;
}

inline Value Actions::remove(const Arguments& arguments, Span span, string_view flag, string_view second) noexcept {
  const bool many = language_ != Language::python && language_ != Language::node;
  std::uint32_t count = many ? arguments.count : arguments.count < 1 ? 0 : 1;
  if (count == 0) {
    emit_one("rm", span, fixed(string_view("\x01", 1), span, word_flag::kUnknown), flag, second);
    return Value{};
  }
  emit("rm", span, flag, second, arguments.value, count);
  return Value{};
}

// Whether nothing in the whole code writes to what is open: it is opened to be emptied. Writing {} or '' empties it, too.
inline bool Actions::writes_nothing() const noexcept {
  const string_view code = code_.text;
  for (const string_view writes : {"write", "dump", "print", "say", "puts", "put", "save", "copy", "<<", "to_", "extract", "truncate", "encode"}) {
    for (std::size_t at = code.find(writes); at != string_view::npos; at = code.find(writes, at)) {
      if (writes == "put" && at > 1 && code.substr(at - 2, 5) == "input") {  // which reads
        ++at;
        continue;
      }
      at += writes.size();
      bool literal = false;
      for (;;) {
        while (at < code.size() && (ascii::is_name(code[at]) || code[at] == '.')) ++at;
        if (at >= code.size() || code[at] != '(') break;
        ++at;
        literal = true;
      }
      if (at < code.size() && !literal && (code[at] == '"' || code[at] == '\'')) continue;  // of a path
      if (!literal || !begins_empty(code.substr(at))) return false;
    }
  }
  return true;
}

// {}, [], '' or "" before what ends an argument.
inline bool Actions::begins_empty(string_view text) noexcept {
  if (text.size() < 3 || (text[2] != ',' && text[2] != ')')) return false;
  const string_view pair = text.substr(0, 2);
  return pair == "{}" || pair == "[]" || pair == "''" || pair == "\"\"";
}

inline void Actions::emit_write(const Value& path, const Arguments& arguments, Span span) noexcept {
  const Value& content = arguments.at(1);
  const bool empty = arguments.written > 1 && ((content.kind == Value::text && content.known.text.empty()) || (content.bits & option::kScrambled) != 0);
  emit_one("@write", span, path, empty ? string_view("--empty") : string_view());
  if (arguments.remote && path.is_text()) note_saved({}, path.known.text);
}

inline Value Actions::open(const Arguments& arguments, Span span) noexcept {
  std::uint32_t at = 0;
  if (language_ == Language::perl) at = 1;
  const Value& path = arguments.at(at);
  const Value& mode = arguments.at(at + 1);
  if (language_ == Language::perl) return open_perl(arguments, span);
  if (language_ == Language::ruby && path.is_text() && !path.known.text.empty() && path.known.text[0] == '|') {
    Known command = path.known;
    command.text.remove_prefix(1);
    if (command.verbatim) ++command.span.start;
    run_code(Dialect::shell, command);
    return Value{};
  }
  const string_view how = mode.kind == Value::text ? mode.known.text : string_view();
  Value content;
  content.kind = Value::content;
  content.known = known_or_blank(path, span);
  if (!path.is_text() && path.kind != Value::any) return content;
  if (how.find_first_of("wxc+") != string_view::npos) {
    emit_one("@write", span, path, how[0] == 'w' && writes_nothing() ? string_view("--empty") : string_view());
  } else if (how.find('a') != string_view::npos) {
    emit_one("@write", span, path, "--append");
  } else {
    emit_read(span, path);
  }
  return content;
}

// open(F, "cmd |"), open(F, "-|", "cmd", ...), open(F, ">", path), open(F, ">path")
inline Value Actions::open_perl(const Arguments& arguments, Span span) noexcept {
  const Value& how = arguments.at(1);
  if (!how.is_text()) return Value{};
  Known text = how.known;
  const string_view mode = ascii::trim(text.text);
  if (arguments.count > 2) {
    if (mode.find('|') != string_view::npos) {
      Known items[Arguments::kMost];
      std::uint32_t n = 0;
      for (std::uint32_t i = 2; i < arguments.count; ++i) items[n++] = known_or_blank(arguments.at(i), span);
      if (n == 1) {
        run_code(Dialect::shell, items[0]);
      } else {
        run_words(items, n, span);
      }
      if (mode[0] == '|') {
        QuotedWords quoted(tree_);
        for (std::uint32_t i = 0; i < n; ++i) n == 1 ? quoted.code(items[i].text) : quoted.word(items[i].text);
        if (!quoted.fits()) return tree_.set_full(), Value{};
        Value process;
        process.kind = Value::process;
        process.known = Known{quoted.keep(), span, false, 0};
        return process;
      }
    } else if (mode.find("&") != string_view::npos) {
      duplicates_ = duplicates_ || connects_;
    } else if (!mode.empty() && mode[0] == '<') {
      emit_read(span, arguments.at(2));
    } else {
      emit_one("@write", span, arguments.at(2), mode.substr(0, 2) == ">>" ? "--append" : writes_nothing() ? "--empty" : string_view());
    }
    return Value{};
  }
  if (mode.empty()) return Value{};
  const auto part = [&](std::size_t skip, std::size_t drop) noexcept {
    Known piece = text;
    piece.verbatim = false;
    piece.text = ascii::trim(mode.substr(skip, mode.size() - skip - drop));
    return piece;
  };
  if (mode.size() > 1 && mode[1] == '&') {
    duplicates_ = duplicates_ || connects_;
  } else if (mode.back() == '|') {
    run_code(Dialect::shell, part(0, 1));
  } else if (mode[0] == '|') {
    run_code(Dialect::shell, part(1, 0));
    Value process;
    process.kind = Value::process;
    process.known = part(1, 0);
    return process;
  } else if (mode[0] == '>') {
    const std::size_t skip = mode.size() > 1 && mode[1] == '>' ? 2 : 1;
    emit_one("@write", span, text_value(part(skip, 0)), skip == 2 ? "--append" : string_view());
  } else {
    emit_read(span, text_value(part(mode[0] == '<' ? 1 : 0, 0)));
  }
  return Value{};
}

inline bool Actions::posts(string_view name, const Arguments& arguments) const noexcept {
  if (ascii::ends_with(name, ".post") || ascii::ends_with(name, ".put") || ascii::ends_with(name, ".patch")) return true;
  if (ascii::ends_with(name, ".request") && arguments.at(0).kind == Value::text) {
    return ascii::one_of(arguments.at(0).known.text, "post put patch");
  }
  return ascii::equals(name, "urllib.request.urlopen") && arguments.written > 1 && (arguments.bits & option::kSends) != 0;
}

inline Value Actions::send(const Arguments& arguments, Span span) noexcept {
  CommandWriter writer(reader_, frame_, dialect_, "@send", span);
  if (arguments.has_file) writer.known(arguments.file, word_flag::kPseudo);
  writer.end();
  Value value;
  value.kind = Value::remote;
  return value;
}

}  // namespace tipstaff::gate::program
