// Text that a command carries as code: of words, of streams, of other dialects.
#pragma once

#include "tipstaff/gate/paths/guarded.hpp"
#include "tipstaff/gate/shell/language/commands.hpp"
#include "tipstaff/gate/shell/language/variables.hpp"

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
  // An alias's arguments follow its text.
  for (std::uint32_t i = 0; i < options.tail_count; ++i)
    text = tree_.join(tree_.join(i == 0 ? tree_.copy(text) : text, " "), quoted_for_shell(tree_, tree_.word(options.tail_first + i).text));
  eval::State* const now = session_.now;
  eval::State state = *now;
  const Frame outer = frame_;
  const std::uint32_t base_via = base_via_, loops = loops_;
  const string_view cwd = session_.cwd;
  const bool verbatim = verbatim_;
  eval::Store& store = run().store();
  eval::Evaluator::Inner inner;
  inner.text = text;
  inner.origin = {{code.origin.start, code.origin.end}, code.verbatim};
  inner.copy = options.subshell;
  inner.program = options.program;
  inner.captured = in.want_output;
  inner.carrier = in.command;
  inner.pipe_from = options.input == nullptr ? in.pipe_from : kNone;
  const eval::Value given = value_of(options.input != nullptr ? *options.input : in.input);
  const eval::Set input = store.set_of(&given, 1);
  inner.input = &input;
  if (options.has_positional) {
    char joined[4096];
    std::size_t size = 0;
    bool known = true;
    for (std::uint32_t i = 0; i < options.positional.count && known; ++i) {
      const string_view word = tree_.word(options.positional.first + i).text;
      inner.argument_origin |= tree_.word(options.positional.first + i).flags & (word_flag::kAppended | word_flag::kGlob | word_flag::kTemporary | word_flag::kMayBeEmpty);
      known = word.size() + 1 <= sizeof joined - size;
      if (!known) break;
      std::memcpy(joined + size, word.data(), word.size());
      size += word.size();
      joined[size++] = eval::kBetween;
    }
    inner.has_arguments = true;
    inner.arguments = known ? store.intern({joined, size}) : eval::kOther;
    if (!options.positional.zero.empty()) inner.zero = store.intern(options.positional.zero);
  }
  if (options.subshell) {
    const eval::TextId folder = frame.cwd.empty() ? eval::kOther : store.intern(frame.cwd);
    store.put(state, eval::key_of(eval::Key::folder), store.one(folder));
  }
  base_via_ = frame.via;
  frame_ = frame;
  loops_ = 0;
  session_.level += 2;
  const eval::Set printed = run().run_inner(state, inner);
  session_.level -= 2;
  if (in.want_output) in.output = stream_of(printed, false);
  if (run().inner_tail() != kNone) in.tail = run().inner_tail();
  if (!options.subshell) *now = state;
  session_.now = now;
  session_.cwd = cwd;
  base_via_ = base_via;
  loops_ = loops;
  frame_ = outer;
  verbatim_ = verbatim;
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

}  // namespace tipstaff::gate::shell
