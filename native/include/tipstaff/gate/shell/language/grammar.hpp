// The grammar of lists and pipelines.
#pragma once

#include "tipstaff/gate/shell/language/substitutions.hpp"

namespace tipstaff::gate::shell {

inline void ShellReader::read() noexcept {
  while (pos_ < end_) {
    const char* const before = pos_;
    read_list(stop::kEnd);
    if (pos_ == before) ++pos_;  // always advance
  }
  had_trap_ = has_trap_;
  if (has_trap_) run_trap();
  if (tree_.full()) uncertain(Unresolved::limit, code_.origin, frame_.carrier);
}

// Steps over the newline at pos_ and over the here-documents that follow it.
inline void ShellReader::pass_newline() noexcept {
  if (pos_ == line_end_) {
    pos_ = resume_;
    line_end_ = nullptr;
  } else {
    ++pos_;
  }
}

inline void ShellReader::skip_blanks() noexcept {
  while (pos_ < end_) {
    if (is_blank(*pos_)) {
      ++pos_;
    } else if (*pos_ == '\\' && pos_ + 1 < end_ && pos_[1] == '\n') {
      pos_ += 2;
    } else if (*pos_ == '\\' && pos_ + 2 < end_ && pos_[1] == '\r' && pos_[2] == '\n') {
      pos_ += 3;
    } else if (*pos_ == '#') {
      // Called between words only: a comment begins.
      const auto* newline = static_cast<const char*>(std::memchr(pos_, '\n', static_cast<std::size_t>(end_ - pos_)));
      pos_ = newline == nullptr ? end_ : newline;
      return;
    } else {
      return;
    }
  }
}

inline void ShellReader::skip_lines() noexcept {
  for (;;) {
    skip_blanks();
    if (pos_ >= end_ || *pos_ != '\n') return;
    pass_newline();
  }
}

// The plain word at pos_, without quotes or expansions; empty where there is none.
inline string_view ShellReader::peek_plain() const noexcept {
  const char* p = pos_;
  while (p < end_ && (class_of(*p) & byte_class::kSpecial) == 0) ++p;
  const bool continued = p + 1 < end_ && *p == '\\' && (p[1] == '\n' || p[1] == '\r');  // do\, at the end of a line
  if (p < end_ && (class_of(*p) & byte_class::kEnds) == 0 && !continued) return {};
  return {pos_, static_cast<std::size_t>(p - pos_)};
}

inline std::uint32_t ShellReader::keyword_stop(string_view word) noexcept {
  switch (word.size()) {
    case 1: return word[0] == '}' ? stop::kBrace : 0;
    case 2: return word == "do" ? stop::kDo : word == "fi" ? stop::kFi : 0;
    case 4:
      return word == "then" ? stop::kThen : word == "done" ? stop::kDone : word == "else" ? stop::kElse
             : word == "elif" ? stop::kElif : word == "esac" ? stop::kEsac : 0;
    default: return 0;
  }
}

// Reads commands until one of `stops`, which is consumed and returned; stop::kEnd at the end of the text.
inline std::uint32_t ShellReader::read_list(std::uint32_t stops) noexcept {
  for (;;) {
    skip_lines();
    if (tree_.full() && !stopped_) give_up(Unresolved::limit, span_of(pos_, end_));
    if (pos_ >= end_) return stop::kEnd;
    const char c = *pos_;
    if (c == ')') {
      ++pos_;
      if ((stops & stop::kParen) != 0) return stop::kParen;
      // In an alternative of a case nothing is closed by a parenthesis; elsewhere it is a mistake.
      uncertain(Unresolved::syntax, span_of(pos_ - 1, pos_), frame_.carrier);
      continue;
    }
    if (c == ';') {
      if (pos_ + 1 < end_ && (pos_[1] == ';' || pos_[1] == '&') && (stops & stop::kCase) != 0) {
        pos_ += 2;
        if (at_operator('&')) ++pos_;
        return stop::kCase;
      }
      ++pos_;
      continue;
    }
    if ((c == '&' && !(pos_ + 1 < end_ && pos_[1] == '>')) || c == '|') {
      ++pos_;
      continue;
    }
    const std::uint32_t ended = read_and_or(stops);
    if (ended != 0) return ended;
  }
}

// a && b || c, with what ends it: ; & or a newline. What is right of an operator happens in a scope of its own, and is
// a possibility afterwards, unless it ends the shell; all of it is forgotten where it runs in the background.
inline std::uint32_t ShellReader::read_and_or(std::uint32_t stops) noexcept {
  const std::uint32_t first = tree_.command_count();
  const std::uint32_t via = frame_.via;
  constexpr std::uint32_t kChain = 6;  // longer ones are joined on the way
  Session::Mark chain[kChain];
  bool sure[kChain];
  std::uint32_t count = 0;
  const Ends before = ends_;
  ends_ = Ends::no;
  fork_ = false;
  const auto unwind = [&](std::uint32_t to) noexcept {
    while (count > to) {
      --count;
      if (sure[count]) session_.stay(chain[count]);
      else close_possible(chain[count]);
    }
  };
  chain[0] = session_.enter();
  sure[0] = true;
  count = 1;
  std::uint32_t ended = 0;
  for (;;) {
    status_ = Status::unknown;
    fork_ = false;
    ended = read_pipeline(stops, chain[count - 1]);
    if (ended != 0) break;
    skip_blanks();
    if (pos_ + 1 < end_ && (*pos_ == '&' || *pos_ == '|') && pos_[1] == *pos_) {
      const bool and_then = *pos_ == '&';
      const Status status = status_;
      const bool forked = fork_;
      const Folders moved = session_.folders();
      Folders failed = forked ? failed_ : moved;
      if (and_then && certain_) failed = moved;
      fork_ = false;
      if (!and_then || count == kChain) {
        for (std::uint32_t i = 1; i < count && !and_then; ++i) failed.add(chain[i].folders);
        unwind(1);
        if (!and_then) session_.folders() = moved;
      }
      chain[count] = session_.enter();
      if (and_then) chain[count].folders = failed;
      else session_.folders() = failed;
      sure[count++] = and_then && (forked ? certain_ : status == Status::success);
      frame_.via |= via::kConditional;
      pos_ += 2;
      skip_lines();
      if (pos_ >= end_) break;
      continue;
    }
    break;
  }
  // After a `cd` the shell may also be where it was. A condition knows which it is.
  const bool simple = count == 1, forked = fork_;
  if (forked) moved_ = session_.folders();
  if (forked && !certain_ && !(simple && ends_with_failure())) session_.folders().add(failed_);
  unwind(1);
  fork_ = forked;
  if (forked && !simple) failed_ = session_.folders();
  if (ended == 0 && at_operator('&') && !(pos_ + 1 < end_ && pos_[1] == '>')) {
    ++pos_;
    for (std::uint32_t i = first; i < tree_.command_count(); ++i) tree_.command(i).via |= via::kBackground;
    session_.leave(chain[0]);
    ends_ = Ends::no;
    fork_ = false;
  } else {
    session_.stay(chain[0]);
  }
  if (ends_ < before) ends_ = before;
  if (session_.calls == 0 && capture_ == nullptr) session_.unsure = false;
  frame_.via = via;
  return ended;
}

// set -e, for a command that stands alone in the text itself: where it failed, nothing follows.
inline bool ShellReader::ends_with_failure() const noexcept {
  return session_.ends_on_failure && !condition_ && capture_ == nullptr && session_.calls == 0;
}

// Each stage of a pipeline is a shell of its own; `mark` is the scope that the first command is in.
inline std::uint32_t ShellReader::read_pipeline(std::uint32_t stops, Session::Mark& mark) noexcept {
  bool piped = false, negated = false;
  std::uint32_t ended = 0;
  Stream outer_input;
  std::uint32_t outer_from = kNone;
  for (;;) {
    output_ = Stream{};
    head_ = tail_ = kNone;
    while (pos_ < end_ && *pos_ == '!' && pos_ + 1 < end_ && ends_word(pos_[1])) {
      negated = !negated;
      ++pos_;
      skip_blanks();
    }
    const std::uint32_t from = pipe_from_;
    ended = read_command(stops);
    if (piped && from != kNone && head_ != kNone) tree_.command(from).pipe_to = head_;
    skip_blanks();
    if (ended != 0 || pos_ >= end_ || *pos_ != '|' || (pos_ + 1 < end_ && pos_[1] == '|')) break;
    ++pos_;
    if (at_operator('&')) ++pos_;
    if (!piped) {
      piped = true;
      outer_input = input_;
      outer_from = pipe_from_;
    }
    session_.leave(mark);
    mark = session_.enter();
    ends_ = Ends::no;
    input_ = output_;
    if (input_.kind == Stream::none) input_.kind = Stream::unknown;
    pipe_from_ = tail_;
    skip_lines();
  }
  if (piped) {
    input_ = outer_input;
    pipe_from_ = outer_from;
    session_.join(mark);  // the last stage is the shell itself in zsh, and in bash with an option
    mark = session_.enter();
    ends_ = Ends::no;
    fork_ = false;
    status_ = Status::unknown;
  }
  if (negated) {
    status_ = status_ == Status::success ? Status::failure : status_ == Status::failure ? Status::success : status_;
    if (fork_) {
      const Folders moved = session_.folders();
      session_.folders() = failed_;
      failed_ = moved;
    }
  }
  if (capture_ != nullptr) append(capture_->stream, output_);
  return ended;
}

// One command of a pipeline. Returns the terminator where one of `stops` is here instead.
inline std::uint32_t ShellReader::read_command(std::uint32_t stops) noexcept {
  skip_blanks();
  if (pos_ >= end_) return 0;
  while (pos_ < end_ && *pos_ == '$' && skip_make_prefix()) {}
  if (pos_ >= end_) return 0;
  const char c = *pos_;
  if (c == '(') {
    if (pos_ + 1 < end_ && pos_[1] == '(' && arithmetic_end(pos_ + 2) != nullptr) {
      read_double_paren();
    } else {
      read_compound(NodeKind::subshell, &ShellReader::read_subshell);
    }
    return 0;
  }
  if (c == '{') {
    if (pos_ + 1 < end_ && (is_blank(pos_[1]) || pos_[1] == '\n')) {
      read_compound(NodeKind::group, &ShellReader::read_group);
      return 0;
    }
    read_simple();
    return 0;
  }
  const bool keyword_like = (c >= 'c' && c <= 'w') || c == '}' || c == '[';
  if (keyword_like) {
    const string_view word = c == '[' ? string_view() : peek_plain();
    if (const std::uint32_t stop = keyword_stop(word); stop != 0) {
      pos_ += word.size();
      if ((stops & stop) != 0) return stop;
      uncertain(Unresolved::syntax, span_of(pos_ - word.size(), pos_), frame_.carrier);
      return 0;
    }
    switch (c) {
      case 'i':
        if (word == "if") return read_compound(NodeKind::branch, &ShellReader::read_if), 0;
        break;
      case 'f':
        if (word == "for") return read_compound(NodeKind::loop, &ShellReader::read_for), 0;
        if (word == "function") {
          pos_ += word.size();
          skip_blanks();
          const string_view name = peek_plain();
          if (name.empty()) break;
          pos_ += name.size();
          skip_blanks();
          if (at_operator('(')) {
            ++pos_;
            skip_blanks();
            if (at_operator(')')) ++pos_;
          }
          read_function(name);
          return 0;
        }
        break;
      case 's':
        if (word == "select") return read_compound(NodeKind::loop, &ShellReader::read_for), 0;
        break;
      case 'w':
        if (word == "while") return read_compound(NodeKind::loop, &ShellReader::read_while), 0;
        break;
      case 'u':
        if (word == "until") return read_compound(NodeKind::loop, &ShellReader::read_while), 0;
        break;
      case 'c':
        if (word == "case") return read_compound(NodeKind::branch, &ShellReader::read_case), 0;
        if (word == "coproc") return read_coproc(), 0;
        break;
      case 't':
        if (word == "time") {
          const char* const start = pos_;
          pos_ += word.size();
          skip_blanks();
          if (peek_plain() == "-p") {
            pos_ += 2;
            skip_blanks();
          }
          // The keyword as a command of its own, and what it times.
          if (pos_ < end_ && *pos_ != '-' && !ends_word(*pos_)) {
            std::uint32_t keyword = kNone;
            if (!run_keyword(word, span_of(start, start + word.size()), frame_.via, &keyword)) return 0;
            const std::uint32_t carrier = frame_.carrier;
            frame_.carrier = keyword;
            const std::uint32_t ended = read_command(stops);
            frame_.carrier = carrier;
            return ended;
          }
          pos_ = start;
        }
        break;
      case '[':
        if (pos_ + 2 < end_ && pos_[1] == '[' && (is_blank(pos_[2]) || pos_[2] == '\n')) {
          read_double_bracket();
          return 0;
        }
        break;
      default: break;
    }
  }
  read_simple();
  return 0;
}

}  // namespace tipstaff::gate::shell
