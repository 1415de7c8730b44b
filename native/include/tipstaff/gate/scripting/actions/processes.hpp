// Programs that a program starts, and text that becomes code in it.
#pragma once

#include "tipstaff/gate/scripting/actions/actions.hpp"

namespace tipstaff::gate::program {

inline void Actions::run_code(Dialect dialect, const Known& text, std::uint32_t more) noexcept {
  Frame frame = frame_;
  frame.via |= more;
  if (decoded_) frame.via |= via::kDecoded;
  if (text.is_blank()) {
    tree_.add_uncertainty(Unresolved::code, text.span, frame.carrier);
    return;
  }
  if (dialect == Dialect::shell) {
    note_shell(text.text);
    const string_view line = ascii::trim(text.text);
    const std::size_t blank = line.find(' ');
    if (saved_count_ > 0 && runs_saved(line.substr(0, blank), blank == string_view::npos ? string_view() : line.substr(line.rfind(' ') + 1))) {
      tree_.add_uncertainty(Unresolved::remote_code, text.span, frame_.carrier);
    }
  }
  read_code(reader_, dialect, text.code(), frame);
}

// A file that holds what an address gave; installers that projects publish are for their packs of rules.
inline void Actions::note_saved(string_view address, string_view path) noexcept {
  for (const string_view known : {string_view("https://bootstrap.pypa.io/"), string_view("https://install.python-poetry.org"), string_view("https://sh.rustup.rs"), string_view("https://astral.sh/")})
    if (ascii::starts_with(address, known)) return;
  if (!path.empty() && path.find(kUnknownPart) == string_view::npos && saved_count_ < kSaved) saved_[saved_count_++] = path;
}

inline bool Actions::is_saved(string_view path) const noexcept {
  if (ascii::starts_with(path, "./")) path.remove_prefix(2);
  for (std::uint32_t i = 0; i < saved_count_; ++i)
    if (path == (ascii::starts_with(saved_[i], "./") ? saved_[i].substr(2) : saved_[i])) return true;
  return false;
}

// Whether a program is such a file, or an interpreter that is given one.
inline bool Actions::runs_saved(string_view program, string_view file) const noexcept {
  if (is_saved(program)) return true;
  const std::size_t slash = program.rfind('/');
  if (slash != string_view::npos) program.remove_prefix(slash + 1);
  return ascii::one_of(program, "sh bash zsh dash ksh ash sudo source . python python3 node perl ruby php pwsh lua") && is_saved(file);
}

// A value that a shell gets.
inline void Actions::run_shell(const Value& value, Span span) noexcept {
  if (value.is_text()) {
    Known text = value.known;
    if (text.is_blank()) text.span = span;
    run_code(Dialect::shell, text);
  } else if (value.kind == Value::any) {
    for (std::uint32_t i = 0; i < value.count; ++i) run_code(Dialect::shell, memory_.item(value.first + i));
  } else if (value.kind == Value::list) {
    run_list(value, span);
  } else {
    tree_.add_uncertainty(value.kind == Value::remote ? Unresolved::remote_code : Unresolved::code, span, frame_.carrier);
  }
}

inline void Actions::run_words(const Known* items, std::uint32_t count, Span span) noexcept {
  Frame frame = frame_;
  if (decoded_) frame.via |= via::kDecoded;
  if (count == 1 || (count == 2 && items[1].text == "-i")) note_shell(items[0].text);
  if (saved_count_ > 0 && count > 0 && runs_saved(items[0].text, count > 1 ? items[1].text : string_view())) {
    tree_.add_uncertainty(Unresolved::remote_code, span, frame_.carrier);
  }
  read_words(reader_, frame, items, count, span);
}

inline void Actions::run_list(const Value& list, Span span) noexcept {
  if (list.count == 0) {
    tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
    return;
  }
  Items<64> items;
  for (std::uint32_t i = 0; i < list.count; ++i) items.add(memory_.item(list.first + i));
  run_words(items.begin(), items.size(), span);
}

// What a reverse shell is made of.
inline void Actions::note_shell(string_view text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && !ascii::is_space(text[end])) ++end;
  std::size_t start = end;
  while (start > 0 && text[start - 1] != '/' && text[start - 1] != '\\') --start;
  const string_view program = text.substr(start, end - start);
  if (!ascii::one_of(program, "sh bash zsh dash ksh ash cmd cmd.exe powershell powershell.exe pwsh")) return;
  string_view rest = ascii::trim(text.substr(end));
  if (rest.empty() || ascii::starts_with(rest, "-i") || rest[0] == '<' || rest[0] == '>' || rest[0] == '0') shell_span_ = code_.origin, has_shell_ = true;
}

inline void Actions::finish_reverse_shell() noexcept {
  if (!connects_ || !(has_shell_ || duplicates_)) return;
  CommandWriter writer(reader_, frame_, dialect_, "nc", connect_span_);
  writer.flag("-e").flag("/bin/sh").known(unknown_text(connect_span_), word_flag::kPseudo);
  writer.end();
}

// A program that was started, for what it is given to read later; what it is given at once is read here.
inline Value Actions::started(const Arguments& arguments, Span span) noexcept {
  const Value& first = arguments.at(0);
  const Value* list = first.kind == Value::list ? &first : arguments.at(1).kind == Value::list ? &arguments.at(1) : nullptr;
  Value process;
  process.kind = Value::process;
  process.known = first.known;
  if (list != nullptr) {
    QuotedWords quoted(tree_);
    if (list != &first) quoted.word(first.is_text() ? first.known.text : string_view("\x01", 1));
    for (std::uint32_t i = 0; i < list->count; ++i) quoted.word(memory_.item(list->first + i).text);
    if (!quoted.fits()) {
      tree_.set_full();
      return Value{};
    }
    process.known = Known{quoted.keep(), span, false, 0};
  } else if (!first.is_text()) {
    return Value{};
  }
  if (process.known.text.empty() || process.known.is_blank()) return Value{};
  if (arguments.has_input) feed(process, text_value(arguments.input), span);
  return process;
}

// Whether code is a shell that reads what it runs: sh, /bin/bash -s.
inline bool Actions::is_shell(string_view command) noexcept {
  command = ascii::trim(command);
  string_view program = command.substr(0, command.find_first_of(" \t\n"));
  const std::size_t slash = program.rfind('/');
  if (slash != string_view::npos) program.remove_prefix(slash + 1);
  return ascii::one_of(program, "sh bash zsh dash ksh ash fish sudo su ssh busybox");
}

// What a program that was started gets to read: as if it were piped into it.
inline void Actions::feed(const Value& process, const Value& text, Span span) noexcept {
  constexpr std::uint32_t kMost = 32;  // of very many, only shells are worth a word, and once
  if (process.kind != Value::process) return;
  if (++feeds_ > kMost) {
    if (!feeds_reported_ && is_shell(process.known.text)) {
      feeds_reported_ = true;
      tree_.add_uncertainty(Unresolved::code, span, frame_.carrier);
    }
    return;
  }
  const bool known = text.is_text() && text.known.text.size() <= kLongestMade;
  QuotedWords quoted(tree_);
  quoted.word("printf");
  quoted.word("%s");
  quoted.word(known ? text.known.text : string_view("\x01", 1));
  quoted.code("|");
  quoted.code(process.known.text);
  if (!quoted.fits()) return tree_.set_full();
  const string_view code = quoted.keep();
  const std::uint16_t flags = code.find(kUnknownPart) != string_view::npos ? word_flag::kUnknown : std::uint16_t{0};
  run_code(Dialect::shell, Known{code, text.known.text.empty() ? span : both(text.known.span, process.known.span), false, flags});
}

// Text that an interface to a database gets: read where it begins as a statement does.
inline void Actions::read_statement(const Value& value) noexcept {
  if (value.kind == Value::any) {
    for (std::uint32_t i = 0; i < value.count; ++i) read_statement(text_value(memory_.item(value.first + i)));
    return;
  }
  if (!value.is_text()) return;
  string_view text = ascii::trim(value.known.text);
  std::size_t end = 0;
  while (end < text.size() && ascii::is_letter(text[end])) ++end;
  const string_view verb = text.substr(0, end);
  const bool comment = text.size() > 1 && ((text[0] == '-' && text[1] == '-') || (text[0] == '/' && text[1] == '*'));
  if (!comment && !ascii::one_of(verb, "drop truncate delete update alter with grant revoke merge replace begin set select insert create "
                                       "exec execute call do copy attach detach vacuum explain load use kill shutdown purge reset flush rename pragma")) {
    return;
  }
  Frame frame = frame_;
  read_code(reader_, Dialect::sql, value.known.code(), frame);
}

inline Value Actions::run_several(const Arguments& arguments, Span span) noexcept {
  std::uint32_t first = 0;
  if (arguments.at(0).kind == Value::options && arguments.count > 1) first = 1;  // Ruby's environment
  if (arguments.count == first + 1 || (arguments.count == first + 2 && arguments.at(first + 1).kind == Value::options) ||
      (language_ == Language::php && arguments.count > 0)) {
    run_shell(arguments.at(first), span);
    return Value{};
  }
  Items<64> items;
  for (std::uint32_t i = first; i < arguments.count; ++i) {
    const Value& value = arguments.at(i);
    if (value.kind == Value::options) continue;
    if (value.kind == Value::list) {
      for (std::uint32_t k = 0; k < value.count; ++k) items.add(memory_.item(value.first + k));
    } else {
      items.add(known_or_blank(value, span));
    }
  }
  run_words(items.begin(), items.size(), span);
  return Value{};
}

inline Value Actions::run_from(const Arguments& arguments, std::uint32_t path, Span span) noexcept {
  Items<16> items;
  items.add(known_or_blank(arguments.at(path), span));
  for (std::uint32_t i = path + 2; i < arguments.count; ++i) items.add(known_or_blank(arguments.at(i), span));
  run_words(items.begin(), items.size(), span);
  return Value{};
}

// subprocess.run(list), spawn(program, list), Deno.Command(program, {args}), Bun.spawn({cmd})
inline Value Actions::run(const Arguments& arguments, Span span) noexcept {
  const Value& first = arguments.at(0);
  if (first.kind == Value::list) {
    if ((arguments.bits & option::kShell) != 0 && language_ == Language::python && first.count > 0) {
      run_code(Dialect::shell, memory_.item(first.first));
    } else {
      run_list(first, span);
    }
    return Value{};
  }
  const Value* list = arguments.at(1).kind == Value::list ? &arguments.at(1) : nullptr;
  if (list == nullptr && arguments.named.kind == Value::list && first.kind != Value::options) list = &arguments.named;
  if (list == nullptr && first.kind == Value::options && first.count > 0) {
    Value command = first;
    command.kind = Value::list;
    run_list(command, span);
    return Value{};
  }
  if (list != nullptr && language_ != Language::python && (first.is_text() || first.kind == Value::unknown || first.kind == Value::object)) {
    Items<64> items;
    if ((arguments.bits & option::kShell) != 0 && first.is_text()) {  // all of it is one text then
      Known text = first.known;
      for (std::uint32_t i = 0; i < list->count; ++i) text = joined(text, " ", memory_.item(list->first + i));
      run_code(Dialect::shell, text);
      return Value{};
    }
    items.add(first.is_text() ? first.known : unknown_text(span));
    for (std::uint32_t i = 0; i < list->count; ++i) items.add(memory_.item(list->first + i));
    run_words(items.begin(), items.size(), span);
    return Value{};
  }
  if (first.is_text()) {
    if (first.known.is_blank()) {
      tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
      return Value{};
    }
    if (arguments.written > 1 && arguments.at(1).kind == Value::unknown && language_ != Language::python && (arguments.bits & option::kShell) == 0) {
      const Known items[2] = {first.known, unknown_text(span)};  // its arguments are not known
      run_words(items, 2, span);
      return Value{};
    }
    run_code(Dialect::shell, first.known);
    return Value{};
  }
  if (arguments.written > 0) tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
  return Value{};
}

inline Value Actions::evaluate(const Arguments& arguments, Span span) noexcept {
  if (arguments.written == 0) return Value{};
  // The last text is the code: new Function("a", "return a"), create_function('$a', '...').
  const Value& value = arguments.at(arguments.count > 1 && arguments.at(1).kind == Value::text && language_ != Language::python ? arguments.count - 1 : 0);
  if (value.kind == Value::options || value.kind == Value::list || value.kind == Value::number) return Value{};
  if (value.is_text()) {
    if (value.known.is_blank()) {
      tree_.add_uncertainty(Unresolved::code, span, frame_.carrier);
      return Value{};
    }
    Frame frame = frame_;
    frame.via |= via::kEvaluated | (decoded_ ? via::kDecoded : 0u);
    read_code(reader_, dialect_, value.known.code(), frame);
    return value;
  }
  if (value.kind == Value::remote || arguments.remote) {
    tree_.add_uncertainty(Unresolved::remote_code, span, frame_.carrier);
  } else if (value.kind == Value::content) {
    tree_.add_uncertainty(is_saved(value.known.text) ? Unresolved::remote_code : Unresolved::script, span, frame_.carrier);
  } else {
    tree_.add_uncertainty(Unresolved::code, span, frame_.carrier);
  }
  return Value{};
}

}  // namespace tipstaff::gate::program
