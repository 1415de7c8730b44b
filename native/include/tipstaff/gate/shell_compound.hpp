// Compound commands: groups, subshells, conditionals, loops, functions.
#pragma once

#include "tipstaff/gate/shell_assignments.hpp"

namespace tipstaff::gate::shell {

// Reads a compound command with its redirections, and gathers what it writes.
inline void ShellReader::read_compound(NodeKind kind, void (ShellReader::*body)() noexcept) noexcept {
  const char* const start = pos_;
  if (session_.level >= kLevels) return give_up(Unresolved::depth, span_of(start, end_));
  ++session_.level;
  const std::uint32_t outer_node = frame_.node;
  const std::uint32_t node = add_node(kind, span_of(start, start), outer_node);
  const std::uint32_t first = tree_.command_count();
  if (node != kNone) frame_.node = node;
  Capture capture;
  Capture* const outer = capture_;
  const Stream outer_input = input_;
  const std::uint32_t outer_from = pipe_from_;
  capture_ = &capture;
  (this->*body)();
  const char* const body_end = pos_;
  Redirections redirections;
  skip_blanks();
  while (pos_ < end_ && !stopped_) {
    const char* p = pos_;
    while (p < end_ && is_digit(*p)) ++p;
    if (p < end_ && ((*p == '<' || *p == '>') || (*p == '&' && p + 1 < end_ && p[1] == '>'))) {
      read_redirection(redirections);
      skip_blanks();
    } else {
      break;
    }
  }
  if (redirections.has_input && redirections.input.kind == Stream::known && !stopped_) {
    // Its input stands behind it: now that it is known, the commands are read once more.
    const std::size_t size = static_cast<std::size_t>(body_end - start);
    if (size <= reader_.nested_bytes) {
      reader_.nested_bytes -= size;
      const char* const resume = resume_;
      const char* const line_end = line_end_;
      const char* const after = pos_;
      const char* const end = end_;
      pos_ = start;
      line_end_ = resume_ = nullptr;
      input_ = redirections.input;
      (this->*body)();
      end_ = end;
      pos_ = after;
      resume_ = resume;
      line_end_ = line_end;
    }
  }
  input_ = outer_input;
  pipe_from_ = outer_from;
  capture_ = outer;
  frame_.node = outer_node;
  if (node != kNone) tree_.node(node).span = span_of(start, pos_);
  head_ = tree_.command_count() > first ? first : kNone;
  tail_ = tree_.command_count() > first ? tree_.command_count() - 1 : kNone;
  if (redirections.count != 0) {
    emit_redirections(redirections, tail_ == kNone ? frame_.carrier : tail_, frame_.via, capture.stream);
    for (std::uint32_t i = 0; i < redirections.count; ++i) {
      if (redirections.items[i].output) capture.stream = Stream{};
    }
  }
  output_ = capture.stream;
  --session_.level;
}

inline bool ShellReader::expect_keyword(string_view word) noexcept {
  skip_lines();
  if (peek_plain() != word) return false;
  pos_ += word.size();
  return true;
}

inline void ShellReader::read_group() noexcept {
  const char* const start = pos_++;
  if (read_list(stop::kBrace) != stop::kBrace && !stopped_) {
    uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  }
}

inline void ShellReader::read_subshell() noexcept {
  const char* const start = pos_++;
  const Session::Mark mark = session_.enter();
  if (read_list(stop::kParen) != stop::kParen && !stopped_) {
    uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  }
  session_.leave(mark);
}

inline void ShellReader::read_if() noexcept {
  const char* const start = pos_;
  pos_ += 2;
  const std::uint32_t via = frame_.via;
  const bool merge = merge_;
  merge_ = false;
  std::uint32_t ended = read_list(stop::kThen);
  frame_.via |= via::kConditional;
  while (ended == stop::kThen || ended == stop::kElse || ended == stop::kElif) {
    if (ended == stop::kElif) {
      ended = read_list(stop::kThen);
      continue;
    }
    const Session::Mark mark = session_.enter();
    ended = read_list(stop::kElse | stop::kElif | stop::kFi);
    session_.join(mark);
  }
  if (ended != stop::kFi && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_.via = via;
  merge_ = merge;
}

inline void ShellReader::read_while() noexcept {
  const char* const start = pos_;
  pos_ += 5;
  const std::uint32_t via = frame_.via;
  const bool merge = merge_;
  merge_ = false;
  frame_.via |= via::kConditional;
  std::uint32_t ended = read_list(stop::kDo);
  if (ended == stop::kDo) {
    const Session::Mark mark = session_.enter();
    ended = read_list(stop::kDone);
    session_.join(mark);
  }
  if (ended != stop::kDone && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_.via = via;
  merge_ = merge;
}

// for and select.
inline void ShellReader::read_for() noexcept {
  const char* const start = pos_;
  pos_ += *pos_ == 'f' ? 3 : 6;
  skip_blanks();
  string_view name;
  const std::uint32_t mark = tree_.pending();
  if (pos_ + 1 < end_ && *pos_ == '(' && pos_[1] == '(') {
    const char* close = pos_ + 2;
    int depth = 0;
    while (close < end_ && !(depth == 0 && *close == ')' && close + 1 < end_ && close[1] == ')')) {
      if (*close == '(') ++depth;
      if (*close == ')') --depth;
      ++close;
    }
    if (close >= end_) {
      uncertain(Unresolved::syntax, span_of(start, end_), frame_.carrier);
      pos_ = end_;
      return;
    }
    pos_ += 2;
    Pieces ignored;
    read_arithmetic(ignored, close, 2, true);
  } else {
    name = peek_plain();
    pos_ += name.size();
    skip_lines();
    if (peek_plain() == "in") {
      pos_ += 2;
      for (;;) {
        skip_blanks();
        if (pos_ >= end_ || *pos_ == '\n' || *pos_ == ';') break;
        if (ends_word(*pos_) && !((*pos_ == '<' || *pos_ == '>') && pos_ + 1 < end_ && pos_[1] == '(')) {
          ++pos_;
          continue;
        }
        read_word();
      }
    } else if (session_.positional.known) {
      for (std::uint32_t i = 0; i < session_.positional.count; ++i) {
        tree_.push_pending(tree_.word(session_.positional.first + i));
      }
    } else {
      Word unknown;
      unknown.text = kUnknown;
      unknown.flags = word_flag::kUnknown | word_flag::kEnvironment;
      tree_.push_pending(unknown);
    }
  }
  // The variable may be any of the words; of very many, only some are followed.
  Raw<Value, Session::kAlternatives> found;
  std::uint32_t count = 0;
  const std::uint32_t words = tree_.pending() - mark;
  for (std::uint32_t i = 0; i < words && count < Session::kAlternatives; ++i) {
    const Word& word = tree_.pending_word(mark + i);
    found[count++] = Value{word.text, word.flags};
  }
  if (words > Session::kAlternatives) {
    found[count - 1] = Value{kUnknown, word_flag::kUnknown};
  }
  tree_.drop_pending(mark);
  if (!name.empty()) session_.set(name, found.data(), count, false, false);
  skip_lines();
  if (at_operator(';')) ++pos_;
  const std::uint32_t via = frame_.via;
  const bool merge = merge_;
  merge_ = false;
  frame_.via |= via::kConditional;
  std::uint32_t ended = 0;
  skip_lines();
  if (at_operator('{')) {
    ++pos_;
    ended = read_list(stop::kBrace) == stop::kBrace ? stop::kDone : 0;
  } else if (expect_keyword("do")) {
    const Session::Mark scope = session_.enter();
    ended = read_list(stop::kDone);
    session_.join(scope);
  }
  if (ended != stop::kDone && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_.via = via;
  merge_ = merge;
}

inline void ShellReader::read_case() noexcept {
  const char* const start = pos_;
  pos_ += 4;
  skip_blanks();
  const std::uint32_t mark = tree_.pending();
  if (pos_ < end_ && !ends_word(*pos_)) read_word();
  tree_.drop_pending(mark);
  bool closed = false;
  const std::uint32_t via = frame_.via;
  const bool merge = merge_;
  merge_ = false;
  frame_.via |= via::kConditional;
  if (expect_keyword("in")) {
    while (pos_ < end_ && !stopped_) {
      skip_lines();
      if (peek_plain() == "esac") {
        pos_ += 4;
        closed = true;
        break;
      }
      if (at_operator('(')) ++pos_;
      while (pos_ < end_ && *pos_ != ')') {
        if (ends_word(*pos_)) {
          if (*pos_ == '\n') pass_newline();
          else ++pos_;
        } else {
          read_word();
          tree_.drop_pending(mark);
        }
      }
      if (pos_ < end_) ++pos_;
      const Session::Mark scope = session_.enter();
      const std::uint32_t ended = read_list(stop::kCase | stop::kEsac);
      session_.join(scope);
      if (ended == stop::kEsac) {
        closed = true;
        break;
      }
      if (ended != stop::kCase) break;
    }
  }
  if (!closed && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_.via = via;
  merge_ = merge;
}

// [[ ... ]]: a test; its operators are no redirections.
inline void ShellReader::read_double_bracket() noexcept {
  const char* const start = pos_;
  const std::uint32_t mark = tree_.pending();
  Word name;
  name.text = string_view(start, 2);
  name.span = span_of(start, start + 2);
  tree_.push_pending(name);
  pos_ += 2;
  bool closed = false;
  while (pos_ < end_ && !closed) {
    skip_lines();
    if (pos_ >= end_) break;
    if (peek_plain() == "]]") {
      pos_ += 2;
      closed = true;
    } else if (ends_word(*pos_)) {
      if (*pos_ == ';') break;
      ++pos_;
    } else {
      read_word();
    }
  }
  if (!closed && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  Invocation in;
  in.count = tree_.pending() - mark;
  in.first = tree_.take_pending(mark);
  if (in.first == kNone) return;
  in.span = span_of(start, pos_);
  in.node = frame_.node;
  in.carrier = frame_.carrier;
  in.via = frame_.via;
  in.cwd = session_.cwd;
  run(in);
  head_ = tail_ = in.command;
  output_ = Stream{};
}

// (( ... )): arithmetic.
inline void ShellReader::read_double_paren() noexcept {
  const char* const close = arithmetic_end(pos_ + 2);
  pos_ += 2;
  Pieces ignored;
  read_arithmetic(ignored, close, 2, true);
  output_ = Stream{};
}

// name(){name|name&}: bash wants blanks inside the braces, other shells do not.
inline bool ShellReader::read_tight_bomb(string_view name) noexcept {
  const char* p = pos_;
  if (p >= end_ || *p != '{') return false;
  ++p;
  const auto take = [&](string_view text) noexcept {
    if (static_cast<std::size_t>(end_ - p) < text.size() || string_view(p, text.size()) != text) return false;
    p += text.size();
    return true;
  };
  if (!take(name) || !(take("|") || take("&")) || !take(name) || !take("&")) return false;
  if (p < end_ && *p == ';') ++p;
  if (p >= end_ || *p != '}') return false;
  Word word;
  word.text = name;
  word.span = span_of(pos_, p + 1);
  pos_ = p + 1;
  emit_file("@fork-bomb", word, false, frame_.carrier, frame_.via & ~via::kDefinition, session_.cwd);
  return true;
}

// The body of a function: read where it stands, as something that may never run, and again when it is called.
inline void ShellReader::read_function(string_view name) noexcept {
  skip_lines();
  const char* const start = pos_;
  if (session_.level >= kLevels) return give_up(Unresolved::depth, span_of(start, end_));
  Function function;
  function.name = name;
  function.verbatim = code_.verbatim;
  function.running = true;  // a call of itself is not followed
  Function* const kept = session_.functions.add(function);
  if (kept == nullptr) uncertain(Unresolved::limit, span_of(start, start), frame_.carrier);
  const std::uint32_t via = frame_.via, node = frame_.node;
  const bool merge = merge_;
  frame_.via |= via::kDefinition;
  const std::uint32_t made = add_node(NodeKind::function, span_of(start, start), node);
  if (made != kNone) frame_.node = made;
  const Session::Mark mark = session_.enter();
  const Stream input = input_;
  input_ = Stream{};
  session_.positional = Positional{};
  if (read_tight_bomb(name)) {
    session_.leave(mark);
    input_ = input;
    frame_.via = via;
    frame_.node = node;
    merge_ = merge;
    if (kept != nullptr) kept->running = false;
    output_ = Stream{};
    head_ = tail_ = kNone;
    return;
  }
  read_command(0);
  input_ = input;
  session_.leave(mark);
  frame_.via = via;
  frame_.node = node;
  merge_ = merge;
  if (made != kNone) tree_.node(made).span = span_of(start, pos_);
  if (kept != nullptr) {
    kept->body = string_view(start, static_cast<std::size_t>(pos_ - start));
    kept->origin = span_of(start, pos_);
    kept->running = false;
  }
  output_ = Stream{};
  head_ = tail_ = kNone;
}

// coproc [name] command: a command of its own, and the one that it starts.
inline void ShellReader::read_coproc() noexcept {
  const char* const start = pos_;
  const string_view word = peek_plain();
  pos_ += word.size();
  skip_blanks();
  Word name;
  name.text = word;
  name.span = span_of(start, start + word.size());
  const std::uint32_t at = tree_.add_word(name);
  if (at == kNone) return;
  Invocation in;
  in.first = at;
  in.count = 1;
  in.span = name.span;
  in.node = frame_.node;
  in.carrier = frame_.carrier;
  in.via = frame_.via | via::kBackground;
  in.cwd = session_.cwd;
  run(in);
  const string_view label = peek_plain();
  if (is_name(label)) {
    const char* p = pos_ + label.size();
    while (p < end_ && is_blank(*p)) ++p;
    if (p < end_ && (*p == '{' || *p == '(')) pos_ = p;
  }
  const std::uint32_t carrier = frame_.carrier, via = frame_.via;
  frame_.carrier = in.command;
  frame_.via |= via::kBackground;
  read_command(0);
  frame_.carrier = carrier;
  frame_.via = via;
}

}  // namespace tipstaff::gate::shell
