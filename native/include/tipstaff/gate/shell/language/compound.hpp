// Compound commands: groups, subshells, conditionals, loops.
#pragma once

#include "tipstaff/gate/shell/language/assignments.hpp"

namespace tipstaff::gate::shell {

// Reads a compound command with its redirections, and gathers what it writes.
inline void ShellReader::read_compound(NodeKind kind, void (ShellReader::*body)() noexcept) noexcept {
  const char* const start = pos_;
  if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span_of(start, end_));
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
  const bool condition = condition_;
  condition_ = false;
  (this->*body)();
  const char* const body_end = pos_;
  const std::uint32_t body_commands = tree_.command_count();
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
  Stream given = redirections.has_input ? redirections.input : Stream{};
  if (given.kind == Stream::file) {
    // Only what this very text makes: <(command), a file that it wrote.
    const string_view path = resolve(session_.cwd, given.text);
    const WrittenFile* const made = session_.find_file(path.empty() ? given.text : path);
    if (made != nullptr && made->content.kind != Stream::file) given = made->content;
  }
  if (given.kind == Stream::file) {
    const Stream content = load_secretly(given);  // while read -r x; do ...; done < .env
    if ((content.flags & word_flag::kCredential) != 0) {
      given = Stream{};
      given.kind = Stream::unknown;
      given.flags = word_flag::kCredential;
    }
  }
  const bool secret = given.kind == Stream::unknown && (given.flags & word_flag::kCredential) != 0;
  if ((given.kind == Stream::known || given.kind == Stream::paths || secret) && !stopped_) {
    // Its input is after it: now that it is known, the commands are read again, and that reading counts.
    const std::size_t size = static_cast<std::size_t>(body_end - start);
    if (size <= reader_.nested_bytes) {
      reader_.nested_bytes -= size;
      const char* const resume = resume_;
      const char* const line_end = line_end_;
      const char* const after = pos_;
      const char* const end = end_;
      pos_ = start;
      line_end_ = resume_ = nullptr;
      input_ = given;
      for (std::uint32_t i = first; i < body_commands; ++i) tree_.command(i).via |= via::kDefinition;
      (this->*body)();
      end_ = end;
      pos_ = after;
      resume_ = resume;
      line_end_ = line_end;
    }
  }
  condition_ = condition;
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
  status_ = Status::unknown;
  fork_ = false;
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

// What a shell of its own does, but for what it leaves to its surroundings: traps of it run when it ends.
template <typename Body>
inline void ShellReader::in_subshell(Body&& body) noexcept {
  const Session::Mark mark = session_.enter();
  const Ends ends = ends_;
  const bool merge = merge_, trapped = has_trap_, left = has_left_;
  const std::uint32_t level = level_;
  const Raw<Invocation, 1> trap = trap_;
  const Word trap_code = trap_code_;
  ends_ = Ends::no;
  merge_ = has_trap_ = false;
  level_ = session_.level;
  body();
  if (has_trap_) run_trap();
  ends_ = ends;
  merge_ = merge;
  has_trap_ = trapped;
  has_left_ = left;
  level_ = level;
  trap_ = trap;
  trap_code_ = trap_code;
  fork_ = false;
  session_.leave(mark);
}

inline void ShellReader::read_subshell() noexcept {
  const char* const start = pos_++;
  in_subshell([&]() noexcept {
    if (read_list(stop::kParen) != stop::kParen && !stopped_) {
      uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
    }
  });
}

// The commands of a condition. Where they ended with a `cd`, `otherwise` is where it failed.
inline std::uint32_t ShellReader::read_condition(std::uint32_t stops, Folders* otherwise) noexcept {
  condition_ = true;
  const std::uint32_t ended = read_list(stops);
  condition_ = false;
  *otherwise = fork_ ? failed_ : session_.folders();
  if (fork_) session_.folders() = moved_;
  fork_ = false;
  return ended;
}

// Ends the scope of commands that may have happened.
inline void ShellReader::close_possible(const Session::Mark& mark) noexcept {
  if (ends_ == Ends::shell) {
    session_.leave(mark);
  } else {
    session_.join(mark);
    if (ends_ == Ends::construct) session_.folders() = mark.folders;
  }
  ends_ = Ends::no;
}

// One of several branches, in the scope that is around all of them. Returns what ended it.
inline std::uint32_t ShellReader::read_branch(Branches& branches, const Session::Mark& around, const Folders& otherwise, std::uint32_t stops) noexcept {
  Session::Mark mark = session_.enter();
  mark.folders = otherwise;
  ends_ = Ends::no;
  const std::uint32_t ended = read_list(stops);
  fork_ = false;
  if (ends_ == Ends::shell) {
    session_.leave(mark);
  } else if (ends_ == Ends::construct) {
    session_.join(mark);
    session_.folders() = otherwise;
  } else {
    session_.end_branch(mark, around);
    if (branches.count == 0) branches.folders = session_.folders();
    else branches.folders.add(session_.folders());
    ++branches.count;
    session_.folders() = otherwise;
  }
  ends_ = Ends::no;
  return ended;
}

inline void ShellReader::end_branches(const Branches& branches, const Session::Mark& mark, bool exhaustive, Ends ends) noexcept {
  session_.join_branches(mark, exhaustive ? branches.count : 0);
  if (branches.count != 0) {
    const Folders none_of_them = session_.folders();
    session_.folders() = branches.folders;
    if (!exhaustive) session_.folders().add(none_of_them);
  }
  ends_ = exhaustive && branches.count == 0 ? Ends::shell : ends;
  fork_ = false;
}

inline void ShellReader::read_if() noexcept {
  const char* const start = pos_;
  pos_ += 2;
  const std::uint32_t via = frame_.via;
  const Ends ends = ends_;
  Folders otherwise;
  std::uint32_t ended = read_condition(stop::kThen, &otherwise);
  frame_.via |= via::kConditional;
  const Session::Mark mark = session_.enter();
  Branches branches;
  bool exhaustive = false;
  while (ended == stop::kThen || ended == stop::kElse || ended == stop::kElif) {
    if (ended == stop::kElif) {
      ended = read_condition(stop::kThen, &otherwise);
      continue;
    }
    exhaustive = ended == stop::kElse;
    ended = read_branch(branches, mark, otherwise, stop::kElse | stop::kElif | stop::kFi);
  }
  end_branches(branches, mark, exhaustive, ends);
  if (ended != stop::kFi && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_.via = via;
}

// The body of a loop, up to one of `stops`. What a turn leaves is what the next one begins with: it is read twice where
// it sets something. `header`: how long what is before it in the loop is.
template <typename Body>
inline std::uint32_t ShellReader::read_turns(std::ptrdiff_t header, Body&& body) noexcept {
  const Ends ends = ends_;
  const bool merge = merge_, had_left = has_left_;
  const Folders left = left_;
  has_left_ = false;
  const char* const start = pos_;
  const char* const line_end = line_end_;
  const char* const resume = resume_;
  std::uint32_t ended = 0;
  ++loops_;
  for (int turn = 0; turn < 2; ++turn) {
    const Session::Mark mark = session_.enter();
    ends_ = Ends::no;
    merge_ = merge;
    if (loops_ == 1) target_count_ = 0;
    ended = body();
    const std::size_t size = static_cast<std::size_t>(pos_ - start);
    const bool again = turn == 0 && !stopped_ && session_.has_changed(mark) && size <= reader_.nested_bytes;
    if (ends_ == Ends::shell) ends_ = Ends::construct;  // or no turn of it happened
    close_possible(mark);
    if (!again) break;
    reader_.nested_bytes -= size;
    if (has_left_) session_.folders().add(left_);
    pos_ = start;
    line_end_ = line_end;
    resume_ = resume;
  }
  if (--loops_ == 0 && target_count_ != 0) emit_collisions(start - header);
  if (has_left_) session_.folders().add(left_);
  has_left_ = had_left;
  left_ = left;
  merge_ = merge;
  ends_ = ends;
  fork_ = false;
  return ended;
}

inline void ShellReader::read_while() noexcept {
  const char* const start = pos_;
  const bool until = *pos_ == 'u';
  pos_ += 5;
  const std::uint32_t via = frame_.via;
  frame_.via |= via::kConditional;
  std::uint32_t ended = read_turns(0, [&]() noexcept -> std::uint32_t {
    Folders otherwise;
    const std::uint32_t after = read_condition(stop::kDo, &otherwise);
    if (after != stop::kDo) return after;
    if (until) {
      const Folders moved = session_.folders();
      session_.folders() = otherwise;
      otherwise = moved;
    }
    const std::uint32_t done = read_list(stop::kDone);
    session_.folders().add(otherwise);
    return done;
  });
  if (ended != stop::kDone && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_.via = via;
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
  if (!name.empty() && count != 0) session_.set(name, found.data(), count, false, false);
  skip_lines();
  if (at_operator(';')) ++pos_;
  const std::uint32_t via = frame_.via;
  frame_.via |= via::kConditional;
  std::uint32_t ended = 0;
  skip_lines();
  if (at_operator('{')) {
    ++pos_;
    ended = read_turns(pos_ - start, [&]() noexcept { return read_list(stop::kBrace); }) == stop::kBrace ? stop::kDone : 0;
  } else if (expect_keyword("do")) {
    ended = read_turns(pos_ - start, [&]() noexcept { return read_list(stop::kDone); });
  }
  if (ended != stop::kDone && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_.via = via;
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
  const Ends ends = ends_;
  const Session::Mark outer = session_.enter();
  const Folders before = session_.folders();
  Folders next = before;
  Branches branches;
  bool exhaustive = false;
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
      const char* const pattern = pos_;
      while (pos_ < end_ && *pos_ != ')') {
        if (ends_word(*pos_)) {
          if (*pos_ == '\n') pass_newline();
          else ++pos_;
        } else {
          read_word();
          tree_.drop_pending(mark);
        }
      }
      exhaustive = exhaustive || trim(string_view(pattern, static_cast<std::size_t>(pos_ - pattern))) == "*";
      if (pos_ < end_) ++pos_;
      session_.folders() = next;
      const std::uint32_t ended = read_branch(branches, outer, before, stop::kCase | stop::kEsac);
      next = before;
      if (pos_[-1] == '&') next.add(branches.folders);  // ;& goes on with the next
      if (ended == stop::kEsac) {
        closed = true;
        break;
      }
      if (ended != stop::kCase) break;
    }
  }
  if (!closed && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  end_branches(branches, outer, exhaustive, ends);
  frame_.via = via;
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

}  // namespace tipstaff::gate::shell
