// Text that a command carries as code: of words, of streams, of other dialects.
#pragma once

#include "tipstaff/gate/paths/guarded.hpp"
#include "tipstaff/gate/shell/language/commands.hpp"

namespace tipstaff::gate::shell {

inline Frame ShellReader::inner_frame(const Invocation& in, std::uint32_t via) const noexcept {
  Frame frame;
  frame.node = in.node;
  frame.carrier = in.command;
  frame.via = in.via | via;
  frame.depth = frame_.depth;
  frame.cwd = leaves_machine(in.via, via) ? string_view() : in.cwd;
  return frame;
}

// What carries code that no command of this text does: a substitution, the value of a variable. It belongs to the command
// that carries the text itself.
inline Invocation ShellReader::for_carried_code(Span span, std::uint32_t via) const noexcept {
  Invocation in;
  in.span = span;
  in.node = frame_.node;
  in.carrier = in.command = frame_.carrier;
  in.via = frame_.via | via;
  in.cwd = session_.cwd;
  return in;
}

// Reads text that `in` carries as shell code, over the same session.
inline void ShellReader::nested(Invocation& in, string_view text, Span span, const Nested& options) noexcept {
  if (text.empty()) return;
  Frame frame = inner_frame(in, options.via);
  if (frame.depth >= limits::kDepth || session_.level + 2 > kLevels || reader_.out_of_stack()) {
    uncertain(Unresolved::depth, span, in.command);
    return;
  }
  if (text.size() > reader_.nested_bytes) {
    uncertain(Unresolved::limit, span, in.command);
    return;
  }
  reader_.nested_bytes -= text.size();
  ++frame.depth;
  const Code code = code_for(text, span);
  frame.node = add_node(NodeKind::code, code.origin, frame.node);
  session_.level += 2;
  ShellReader inner(reader_, session_, code, frame);
  if (options.input != nullptr) inner.input_ = *options.input;
  else inner.input_ = in.input;
  if (options.input == nullptr) inner.pipe_from_ = in.pipe_from;
  Capture capture;
  inner.capture_ = options.capture != nullptr ? options.capture : in.want_output ? &capture : nullptr;
  inner.tail_first_ = options.tail_first;
  inner.tail_count_ = options.tail_count;
  Session::Mark mark{};
  const Positional positional = session_.positional;
  if (options.subshell) {
    mark = session_.enter();
    if (session_.cwd != frame.cwd) {
      session_.cwd = frame.cwd;
      session_.count = 0;
    }
    if (options.program) session_.enter_program();
  }
  if (options.has_positional) session_.positional = options.positional;
  inner.read();
  if (options.subshell) {
    session_.leave(mark);
  } else {
    if (options.has_positional) session_.positional = positional;
    take_over(inner);
  }
  session_.level -= 2;
  if (inner.capture_ == &capture) in.output = capture.stream;
  if (inner.tail_ != kNone) in.tail = inner.tail_;
}

// Reads text that `in` carries as code of another dialect.
inline void ShellReader::other_dialect(Invocation& in, Dialect dialect, string_view text, Span span,
                                       std::uint32_t via) noexcept {
  if (text.empty()) return;
  if (text.size() > reader_.nested_bytes) {
    uncertain(Unresolved::limit, span, in.command);
    return;
  }
  reader_.nested_bytes -= text.size();
  if (dialect == Dialect::sql && (in.via & via::kTrial) != 0 && leaves_database(text)) in.via &= ~via::kTrial;
  // The command line under another name: its verbs are the words after the script.
  bool answers = false;
  if (text.find("tipstaff.cli") != string_view::npos)
    for (std::uint32_t i = 1; i < in.count && !answers; ++i)
      answers = ascii::one_of(argument(in, i).text, "approve uninstall accept");
  if (dialect != Dialect::patch && (answers || calls_for_answer(text))) {
    Word word;
    word.text = "script";
    word.span = span;
    emit_file("@answers", word, false, in.command, in.via, in.cwd);
  }
  if (dialect != Dialect::sql && dialect != Dialect::redis && dialect != Dialect::mongo) via |= via::kInterpreter;
  read_code(reader_, dialect, code_for(text, span), inner_frame(in, via));
}

// Code from a stream: a pipe, a here-document, a file.
inline void ShellReader::nested_stream(Invocation& in, const Stream& stream, Nested options,
                                       Dialect dialect) noexcept {
  Stream source = stream;
  if (source.kind == Stream::file) {
    source = load(stream, in.cwd);
    if (source.kind == Stream::known) options.via |= via::kScript;
    if (source.kind == Stream::unknown) {
      uncertain(source.refused ? Unresolved::unreadable : starts_with(stream.text, "/dev/fd/") ? Unresolved::code : Unresolved::script,
                stream.span, in.command);
      return;
    }
  }
  if (source.decoded) options.via |= via::kDecoded;
  switch (source.kind) {
    case Stream::none:
    case Stream::trusted: return;
    case Stream::known: {
      Stream nothing;
      if (options.input == nullptr) options.input = &nothing;
      if (dialect == Dialect::shell) {
        nested(in, source.text, source.span, options);
      } else {
        other_dialect(in, dialect, source.text, source.span, options.via);
      }
      return;
    }
    case Stream::remote: uncertain(Unresolved::remote_code, in.span, in.command); return;
    case Stream::unknown:
    case Stream::file:
    case Stream::paths:
      uncertain(Unresolved::code, in.span, in.command);
      if (dialect == Dialect::shell && stream.kind == Stream::unknown) read_texts_before(in, options);
      return;
  }
}

// What a pipe makes is not known, but the texts that its commands are given are: print("rm -rf ~") | sh.
inline void ShellReader::read_texts_before(Invocation& in, const Nested& options) noexcept {
  std::uint32_t at = in.pipe_from;
  for (std::uint32_t steps = 0; at != kNone && steps < 4; ++steps) {
    const Command other = tree_.command(at);
    at = other.pipe_from;
    for (std::uint32_t i = 0; i < other.word_count && i < 8; ++i) {
      const Word word = tree_.word(other.first_word + i);
      if (word.has(word_flag::kUnknown)) continue;
      read_texts_in(in, word.text, word.span, options);
    }
    if (other.has_input && !other.input.has(word_flag::kUnknown)) read_texts_in(in, other.input.text, other.input.span, options);
  }
}

inline void ShellReader::read_texts_in(Invocation& in, string_view text, Span span, const Nested& options) noexcept {
  if (!holds(text, ' ') || text.size() > 4096) return;
  const auto feared = [](string_view code) noexcept {
    code = trim(code);
    const string_view first = code.substr(0, code.find_first_of(" \t"));
    for (const string_view name : kFeared) {
      if (first == name && first.size() < code.size()) return true;
    }
    return false;
  };
  if (feared(text)) return nested(in, text, span, options);
  std::uint32_t found = 0;
  for (std::size_t at = 0; at < text.size() && found < 8; ++at) {
    const char quote = text[at];
    if (quote != '"' && quote != '\'') continue;
    const std::size_t close = text.find(quote, at + 1);
    if (close == string_view::npos) return;
    const string_view inside = text.substr(at + 1, close - at - 1);
    at = close;
    if (!feared(inside)) continue;
    ++found;
    nested(in, inside, span, options);
  }
}

// Code from a word: bash -c WORD, eval WORD, psql -c WORD.
inline void ShellReader::code_word(Invocation& in, const Word& word, const Nested& given, Dialect dialect) noexcept {
  Nested options = given;
  if (word.has(word_flag::kDecoded)) options.via |= via::kDecoded;
  if (word.has(word_flag::kUnknown)) {
    const bool all = trim(word.text) == kUnknown;
    if (word.has(word_flag::kNetwork)) {
      uncertain(Unresolved::remote_code, word.span, in.command);
    } else if (all && !word.has(word_flag::kTrusted)) {
      uncertain(Unresolved::code, word.span, in.command);
    }
    if (all) return;
  }
  if (dialect == Dialect::shell) {
    nested(in, word.text, word.span, options);
  } else {
    other_dialect(in, dialect, word.text, word.span, options.via);
  }
}

// What a word says as text: a quoted tilde is written ./~ where it is meant as a path.
inline string_view as_text(const Word& word) noexcept {
  const string_view text = word.text;
  const bool tilde = word.has(word_flag::kQuoted) && starts_with(text, "./~") && (text.size() == 3 || text[3] == '/');
  return tilde ? text.substr(2) : text;
}

// Words as one text with single spaces between them.
inline string_view ShellReader::joined(std::uint32_t first, std::uint32_t count, std::uint16_t* flags) noexcept {
  string_view text;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Word& word = tree_.word(first + i);
    *flags |= word.flags;
    if (i > 0) text = tree_.join(text, " ");
    text = tree_.join(text, as_text(word));
  }
  return text;
}

// The words from `at` on as one text, as a program passes them on.
inline Word ShellReader::rest_of(const Invocation& in, std::uint32_t at) noexcept {
  Word word = argument(in, at);
  if (at + 1 >= in.count) return word;
  std::uint16_t flags = 0;
  word.text = joined(in.first + at, in.count - at, &flags);
  word.flags = flags;
  word.span.end = argument(in, in.count - 1).span.end;
  return word;
}

// What a text of this very shell leaves: whether the shell has ended, and a trap.
inline void ShellReader::take_over(const ShellReader& inner) noexcept {
  if (ends_ < inner.ends_) ends_ = inner.ends_;
  merge_ = merge_ || inner.merge_;
  if (inner.has_left_) {
    if (!has_left_) left_ = inner.left_;
    else left_.add(inner.left_);
    has_left_ = true;
  }
  if (inner.had_trap_) {
    trap_ = inner.trap_;
    trap_code_ = inner.trap_code_;
    has_trap_ = true;
  }
  fork_ = inner.fork_;
  certain_ = inner.certain_;
  failed_ = inner.failed_;
  moved_ = inner.moved_;
}

inline bool ShellReader::call_function(Invocation& in) noexcept {
  const string_view name = argument(in, 0).text;
  for (std::uint32_t i = session_.functions.size(); i-- > 0;) {
    Function& function = session_.functions[i];
    if (function.name != name || (i < session_.own_functions && !function.exported)) continue;
    if (function.running) {
      // A function that starts itself beside itself.
      const Command& self = tree_.command(in.command);
      if (self.pipe_from != kNone || (pos_ < end_ && (*pos_ == '|' || *pos_ == '&'))) {
        emit_file("@fork-bomb", argument(in, 0), false, in.command, in.via, in.cwd);
      }
      return true;
    }
    if (function.body.size() > reader_.nested_bytes || frame_.depth >= limits::kDepth ||
        session_.level + 2 > kLevels || reader_.out_of_stack()) {
      uncertain(Unresolved::depth, in.span, in.command);
      return true;
    }
    reader_.nested_bytes -= function.body.size();
    function.running = true;
    const Positional outer = session_.positional;
    session_.positional = Positional{in.first + 1, in.count - 1, true, outer.zero};
    Frame frame = inner_frame(in, via::kFunction);
    frame.via &= ~via::kDefinition;
    frame.via |= in.via & via::kDefinition;
    ++frame.depth;
    session_.level += 2;
    ShellReader inner(reader_, session_, Code{function.body, function.origin, function.verbatim}, frame);
    inner.input_ = in.input;
    inner.pipe_from_ = in.pipe_from;
    Capture capture;
    if (in.want_output) inner.capture_ = &capture;
    const bool perhaps = function.perhaps;
    const Session::Mark mark = session_.enter();
    ++session_.calls;
    inner.read();
    session_.end_locals(session_.calls--);
    if (perhaps) session_.join(mark);
    else session_.stay(mark);
    session_.level -= 2;
    session_.positional = outer;
    if (inner.has_left_) session_.folders().add(inner.left_);
    inner.has_left_ = inner.merge_ = inner.fork_ = false;
    if (inner.ends_ == Ends::construct || perhaps) inner.ends_ = Ends::no;
    take_over(inner);
    session_.functions[i].running = false;
    in.output = capture.stream;
    if (inner.tail_ != kNone) in.tail = inner.tail_;
    if (!perhaps) return true;
  }
  return false;
}

inline bool ShellReader::call_alias(Invocation& in) noexcept {
  const Word& name = argument(in, 0);
  if (name.has(word_flag::kQuoted)) return false;
  for (std::uint32_t i = session_.aliases.size(); i-- > 0;) {
    const Alias alias = session_.aliases[i];
    if (alias.name != name.text || i < session_.own_aliases) continue;
    Nested options;
    options.via = via::kFunction;
    options.subshell = false;
    options.tail_first = in.first + 1;
    options.tail_count = in.count - 1;
    // An alias does not name itself.
    session_.aliases[i].name = {};
    nested(in, alias.text, alias.span, options);
    if (i < session_.aliases.size()) session_.aliases[i].name = alias.name;
    return true;
  }
  return false;
}

}  // namespace tipstaff::gate::shell
