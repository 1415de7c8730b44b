// What is put in for commands and sums: $(command), `command`, <(command), $((1 + 1)).
#pragma once

#include "tipstaff/gate/paths/names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/shell/language/parameters.hpp"

namespace tipstaff::gate::shell {

// Where $(( or (( ends: at its "))"; null where it does not, and the parentheses are groups.
inline const char* ShellReader::arithmetic_end(const char* from) const noexcept {
  int depth = 0;
  for (const char* p = from; p < end_; ++p) {
    const char c = *p;
    if (c == '(') {
      ++depth;
    } else if (c == ')') {
      if (depth == 0) return p + 1 < end_ && p[1] == ')' ? p : nullptr;
      --depth;
    } else if (c == '\'' || c == '"' || c == '\\' || c == '\n' || c == ';') {
      // Quotes may be in arithmetic; what decides is whether it looks like a command.
      if (c == ';' && depth == 0) return nullptr;
      if (c == '\\') ++p;
    }
  }
  return nullptr;
}

// Arithmetic from pos_ to `close`: only what it substitutes matters.
inline void ShellReader::read_arithmetic(Pieces& pieces, const char* close, std::size_t closing,
                                         bool quoted) noexcept {
  const char* const begin = pos_;
  const string_view inside = trim(string_view(begin, static_cast<std::size_t>(close - begin)));
  if (to_number(inside) >= 0) {
    pos_ = close + closing;
    return add_literal(pieces, inside, 0, quoted);
  }
  if (inside.find_first_of("$`") != string_view::npos) {
    if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span_of(begin, end_));
    ++session_.level;
    const char* const end = end_;
    end_ = close;
    Pieces ignored;
    const std::uint32_t scratch = session_.scratch.size();
    collect(ignored, Until::end, true);
    session_.scratch.cut(scratch);
    end_ = end;
    --session_.level;
  }
  if (stopped_) {
    pos_ = end_;
    return;
  }
  pos_ = close + closing;
  add_unknown(pieces, 0, quoted);
}

// What $(cat FILE) is; of a key or a credential it is marked as one, whatever it is.
inline Stream ShellReader::load_secretly(const Stream& file) noexcept {
  PathParts path;
  take_path_apart(file.text, session_.cwd, reader_.surroundings->home, false, false, &path);
  Stream content = load(file, session_.cwd);
  if (!path.too_long && is_secret(path)) {
    content.flags |= word_flag::kCredential;
    session_.secret_file.text = file.text;
    session_.secret_file.span = file.span;
  }
  return content;
}

// The commands of $( ... ), read where they are; pos_ is after the parenthesis.
inline Stream ShellReader::read_substitution() noexcept {
  const char* const start = pos_;
  if (session_.level >= kLevels || reader_.out_of_stack()) {
    give_up(Unresolved::depth, span_of(start, end_));
    return {};
  }
  ++session_.level;
  Capture capture;
  Capture* const outer_capture = capture_;
  const Frame outer_frame = frame_;
  const Stream outer_output = output_, outer_input = input_;
  const std::uint32_t outer_head = head_, outer_tail = tail_, outer_from = pipe_from_;
  capture_ = &capture;
  pipe_from_ = kNone;
  frame_.via |= via::kSubstitution;
  frame_.node = add_node(NodeKind::substitution, span_of(start, start), frame_.node);
  const std::uint32_t node = frame_.node;
  std::uint32_t ended = 0;
  const Status status = status_;
  in_subshell([&]() noexcept { ended = read_list(stop::kParen); });
  status_ = status;
  if (node != kNone) tree_.node(node).span = span_of(start, pos_);
  if (ended != stop::kParen && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_ = outer_frame;
  capture_ = outer_capture;
  output_ = outer_output;
  input_ = outer_input;
  head_ = outer_head;
  tail_ = outer_tail;
  pipe_from_ = outer_from;
  --session_.level;
  if (capture.stream.kind == Stream::file) return load_secretly(capture.stream);
  return capture.stream;
}

// `commands`: its text loses one level of backslashes, so it is read as a text of its own.
inline void ShellReader::read_back_ticks(Pieces& pieces, bool quoted) noexcept {
  const char* const start = pos_ + 1;
  const char* p = start;
  bool escapes = false;
  while (p < end_ && *p != '`') {
    if (*p == '\\') {
      escapes = true;
      ++p;
    }
    ++p;
  }
  if (p >= end_) {
    p = end_;
    uncertain(Unresolved::syntax, span_of(start, end_), frame_.carrier);
  }
  const string_view inside(start, static_cast<std::size_t>(p - start));
  pos_ = p < end_ ? p + 1 : end_;
  string_view text = inside;
  const Span span = span_of(start, p);
  if (escapes) {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < inside.size()) {
      tree_.set_full();
      return give_up(Unresolved::limit, span);
    }
    std::size_t n = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      char c = inside[i];
      if (c == '\\' && i + 1 < inside.size() &&
          (inside[i + 1] == '`' || inside[i + 1] == '\\' || inside[i + 1] == '$' ||
           (quoted && inside[i + 1] == '"'))) {
        c = inside[++i];
      }
      out[n++] = c;
    }
    text = tree_.keep(n);
  }
  Capture capture;
  Nested options;
  options.via = via::kSubstitution;
  options.capture = &capture;
  Invocation in = for_carried_code();
  nested(in, text, span, options);
  const Stream stream =
      capture.stream.kind == Stream::file ? load_secretly(capture.stream) : capture.stream;
  add_stream(pieces, stream, quoted);
}

// <(commands): a file whose content is what they write. >(commands): a file that they read.
inline void ShellReader::read_process_substitution(Pieces& pieces) noexcept {
  const bool output = *pos_ == '>';
  if (pos_ + 1 >= end_ || pos_[1] != '(') return;
  pos_ += 2;
  const Stream outer = input_;
  if (output && input_.kind == Stream::none) input_.kind = Stream::unknown;
  const std::uint32_t made = tree_.command_count();
  Stream stream = read_substitution();
  input_ = outer;
  if (stopped_) return;
  if (output && made < tree_.command_count()) {
    tree_.command(made).fed = true;
    fed_ = true;
  }
  constexpr string_view kPrefix = "/dev/fd/63.";
  const char digits[] = {static_cast<char>('0' + session_.made_files / 10 % 10),
                         static_cast<char>('0' + session_.made_files % 10)};
  ++session_.made_files;
  string_view path = tree_.copy(kPrefix);
  path = tree_.join(path, string_view(digits, 2));
  if (!output) {
    if (stream.kind == Stream::none) stream.kind = Stream::unknown;
    remember_file({}, path, stream, false);
  }
  add_literal(pieces, path, word_flag::kPseudo | word_flag::kTemporary, false);
}

}  // namespace tipstaff::gate::shell
