// Simple commands: assignments, words, redirections.
#pragma once

#include "tipstaff/gate/shell/language/grammar.hpp"
#include "tipstaff/gate/shell/redirections/emptied_files.hpp"

namespace tipstaff::gate::shell {

// powershell, pwsh, with a path before it or .exe after it.
inline bool starts_powershell(string_view text) noexcept {
  if (text.size() > 4 && ends_with(text, ".exe")) text.remove_suffix(4);
  if (text.size() < 4 || (text.back() != 'l' && text.back() != 'h')) return false;
  const std::size_t slash = text.find_last_of("/\\");
  if (slash != string_view::npos) text.remove_prefix(slash + 1);
  return text == "powershell" || text == "pwsh";
}

// for x in ls rm; do $x file; done: the program may be either. All but the first run here; that one is left in `in`.
inline void ShellReader::run_alternatives(Invocation& in) noexcept {
  const Span span = argument(in, 0).span;
  string_view name = source_of(span);
  if (name.size() < 2 || (name[0] != '$' && name[0] != '"')) return;
  if (name[0] == '"') name = name.substr(1, name.size() - 2);
  if (name.empty() || name[0] != '$') return;
  name.remove_prefix(1);
  if (!name.empty() && name[0] == '{') name = name.substr(1, name.size() - 2);
  const Variable* const variable = is_name(name) ? session_.find(name) : nullptr;
  if (variable == nullptr || variable->array || variable->count < 2) return;
  std::uint32_t rest = 0;
  while (rest < in.count && argument(in, rest).span.start == span.start) ++rest;
  const Variable held = *variable;
  for (std::uint32_t k = held.count; k-- > 0;) {
    const Value value = session_.values(held)[k];
    Invocation one = in;
    one.first = tree_.word_count();
    Word word;
    word.span = span;
    word.flags = value.flags & kPublicFlags;
    for (std::size_t at = 0; at < value.text.size();) {
      std::size_t stop = at;
      while (stop < value.text.size() && !session_.separates(value.text[stop])) ++stop;
      word.text = value.text.substr(at, stop - at);
      if (stop > at && tree_.add_word(word) == kNone) return;
      at = stop + 1;
    }
    for (std::uint32_t i = rest; i < in.count; ++i)
      if (tree_.add_word(argument(in, i)) == kNone) return;
    one.count = tree_.word_count() - one.first;
    if (one.count == 0) continue;
    if (k == 0) {
      in.first = one.first;
      in.count = one.count;
    } else {
      run(one);
    }
  }
}

// Whether what is beside digits is the same: web1, web12.
inline bool differ_in_digits(string_view one, string_view other) noexcept {
  std::size_t a = 0, b = 0;
  for (;; ++a, ++b) {
    while (a < one.size() && is_digit(one[a])) ++a;
    while (b < other.size() && is_digit(other[b])) ++b;
    if (a == one.size() || b == other.size()) return a == one.size() && b == other.size();
    if (one[a] != other[b]) return false;
  }
}

// for h in a b; do ssh $h reboot; done: all that a variable can be is in one command, `ssh a b reboot`. Where other words
// follow it, or the last word is another than the rest, each turn is a command of its own; all but the first run here,
// that one is left in `in`.
inline void ShellReader::run_turns(Invocation& in) noexcept {
  std::uint32_t run_of = 0, most = 0;
  bool shifts = false;
  const bool has_target = one_of(text_of(in, 0), "cp mv ln install rsync scp");
  for (std::uint32_t i = 1; i < in.count; ++i) {
    run_of = argument(in, i).has(word_flag::kLaterTurn) ? run_of + 1 : 0;
    most = most < run_of ? run_of : most;
    shifts = shifts || (most != 0 && (run_of == 0 || has_target));
  }
  if (!shifts) return;
  for (std::uint32_t turn = most;; --turn) {
    Invocation one = in;
    one.first = tree_.word_count();
    bool differs = turn == 0;
    for (std::uint32_t i = 0; i < in.count;) {
      std::uint32_t later = 0;
      while (i + later + 1 < in.count && argument(in, i + later + 1).has(word_flag::kLaterTurn)) ++later;
      const std::uint32_t chosen = turn > later ? later : turn;
      differs = differs || (chosen == turn && !differ_in_digits(text_of(in, i + chosen - 1), text_of(in, i + chosen)));
      if (tree_.add_word(argument(in, i + chosen)) == kNone) return;
      i += later + 1;
    }
    one.count = tree_.word_count() - one.first;
    if (turn == 0) {
      in.first = one.first;
      in.count = one.count;
      return;
    }
    if (differs) run(one);
  }
}

// Whether something further on goes to an open file by its number: >&3, > /dev/fd/3. Who locks it has no use for what it holds.
inline bool ShellReader::writes_to_descriptors() noexcept {
  if (last_descriptor_ == nullptr) {  // looked for once
    last_descriptor_ = pos_;
    const string_view text(pos_, static_cast<std::size_t>(end_ - pos_));
    const auto at_least = [&](std::size_t at) noexcept { if (at != string_view::npos && pos_ + at > last_descriptor_) last_descriptor_ = pos_ + at; };
    std::size_t copied = text.rfind(">&");
    while (copied != string_view::npos && copied != 0 && (copied + 2 >= text.size() || text[copied + 2] == '-')) copied = text.rfind(">&", copied - 1);
    if (copied != string_view::npos && copied + 2 < text.size() && text[copied + 2] != '-') at_least(copied);
    at_least(text.rfind("/fd/"));
    at_least(text.rfind("flock"));
  }
  return pos_ < last_descriptor_;
}

// The status of a command by its nature: what fails on no account that the text has a say in succeeds.
inline ShellReader::Status ShellReader::expected_status(const Invocation& in) noexcept {
  const string_view name = text_of(in, 0);
  if (name == "false") return Status::failure;
  if (one_of(name, ": true echo")) return Status::success;
  if (!one_of(name, "rm mkdir")) return Status::unknown;
  const string_view last = text_of(in, in.count - 1);
  const bool forced = in.count > 2 && starts_with(text_of(in, 1), "-") && holds(text_of(in, 1), name == "rm" ? 'f' : 'p');
  const bool again = name == "mkdir" && last == removed_;  // rm -rf x && mkdir x
  removed_ = name == "rm" && forced ? last : string_view();
  return forced || again ? Status::success : Status::unknown;
}

// Whether a command works on the state of the shell itself, and so on all folders that it may be in.
inline bool ShellReader::keeps_state(const Invocation& in) noexcept {
  const string_view name = text_of(in, 0);
  for (std::uint32_t i = 0; i < session_.functions.size(); ++i)
    if (session_.functions[i].name == name) return true;
  const Handler handler = find_program(name).handler;
  return handler == Handler::builtin || handler == Handler::eval || handler == Handler::source || one_of(name, ": command builtin exit exec return break continue");
}

inline void ShellReader::read_simple() noexcept {
  // trap .. DEBUG, ERR: it runs at any command, with the values of then.
  constexpr std::uint32_t kMostTraps = 24;
  if (traps_each_ && has_trap_ && trap_runs_ < kMostTraps) {
    ++trap_runs_;
    const Session::Mark mark = session_.enter();
    run_trap(false);
    session_.join(mark);
    has_trap_ = traps_each_ = true;
  }
  const char* const start = pos_;
  const std::uint32_t mark = tree_.pending();
  Redirections redirections;
  bool assigned = false, called = false;  // a program is started for a value
  Session::Mark scope{};
  // Words and redirections see what was before: until the command runs, what is assigned to it is put aside.
  constexpr std::uint32_t kHere = kNone;
  std::uint32_t aside = kHere;
  string_view assigned_separators;
  const std::uint32_t scratch = session_.scratch.size();
  const auto put_aside = [&]() noexcept {
    if (!assigned || aside != kHere) return;
    aside = session_.put_aside(scope);
    assigned_separators = session_.separators;
    session_.separators = scope.separators;
  };
  const auto bring_back = [&](bool exported) noexcept {
    if (aside == kHere) return;
    session_.bring_back(aside, exported);
    session_.scratch.cut(scratch);
    session_.separators = assigned_separators;
    aside = kHere;
  };
  const std::uint32_t before = tree_.command_count();
  const char* last = pos_;
  const string_view separators = session_.separators;
  const bool outer_powershell = for_powershell_;
  for_powershell_ = false;
  skipped_ = false;
  while (pos_ < end_) {
    const char c = *pos_;
    const std::uint8_t kind = class_of(c);
    if ((kind & byte_class::kOperator) != 0) {
      if (c == '<' || c == '>') {
        put_aside();
        if (pos_ + 1 < end_ && pos_[1] == '(') {
          read_word();
        } else {
          read_redirection(redirections);
        }
      } else if (c == '&' && pos_ + 1 < end_ && pos_[1] == '>') {
        put_aside();
        read_redirection(redirections);
      } else if (c == '(' && tree_.pending() == mark + 1) {
        // name () body
        const char* p = pos_ + 1;
        while (p < end_ && is_blank(*p)) ++p;
        if (p == end_ || *p != ')') break;
        pos_ = p + 1;
        const string_view name = tree_.pending_word(mark).text;
        tree_.drop_pending(mark);
        read_function(name);
        return;
      } else {
        break;
      }
    } else if (is_digit(c) && tree_.pending() >= mark) {
      const char* p = pos_ + 1;
      while (p < end_ && is_digit(*p)) ++p;
      if (p < end_ && (*p == '<' || *p == '>') && !(p + 1 < end_ && p[1] == '(')) {
        read_redirection(redirections);
      } else {
        read_word();
      }
    } else if (c == '{' && pos_ + 1 < end_ && is_name_start(pos_[1])) {
      const char* p = pos_ + 2;
      while (p < end_ && is_name_byte(*p)) ++p;
      if (p + 1 < end_ && *p == '}' && (p[1] == '<' || p[1] == '>')) {
        pos_ = p + 1;  // {fd}>file
        read_redirection(redirections);
      } else {
        read_word();
      }
    } else if (tree_.pending() == mark && is_name_start(c)) {
      if (!assigned) {
        const char* p = pos_ + 1;
        while (p < end_ && is_name_byte(*p)) ++p;
        if (p < end_ && (*p == '=' || *p == '+' || *p == '[')) scope = session_.enter(), assigned = true;
      }
      bring_back(false);
      const char* const value = pos_;
      if (!assigned || !read_assignment(mark)) {
        put_aside();
        read_word();
      } else {
        const string_view written(value, static_cast<std::size_t>(pos_ - value));
        called = called || written.find("$(") != string_view::npos || holds(written, '`');
      }
    } else if (c == '$' && tree_.pending() == mark && make_reference_end(pos_) != nullptr) {
      const char* const from = pos_;
      if (!read_make_program()) {
        if (pos_ != from) continue;  // $(AM_V_at)PATH=x: what is after it is read as if it began here
        read_word();
      }
    } else if (c == '$' && tree_.pending() == mark && pos_ + 1 < end_ && pos_[1] == '(' && read_make_function()) {
      // What it carries was read.
    } else if (put_aside(); !declares(mark) || !read_assignment(tree_.pending())) {
      read_word();
    }
    last = pos_;
    if (tree_.pending() > mark) for_powershell_ = for_powershell_ || starts_powershell(tree_.pending_word(tree_.pending() - 1).text);
    skip_blanks();
    if (tree_.pending() - mark > tree_.word_capacity() / 4) {
      // Very many words: the first of them tell enough, and the commands that follow must be seen too.
      tree_.drop_pending(mark + tree_.word_capacity() / 4);
      uncertain(Unresolved::limit, span_of(start, last), frame_.carrier);
    }
  }
  for_powershell_ = outer_powershell;
  if (pos_ >= end_ && tail_count_ != 0) {
    for (std::uint32_t i = 0; i < tail_count_; ++i) tree_.push_pending(tree_.word(tail_first_ + i));
    tail_count_ = 0;
  }
  const std::uint32_t count = tree_.pending() - mark;
  if (count == 0) {
    bring_back(false);
    if (assigned) {
      session_.stay(scope);
      status_ = called || redirections.count != 0 ? Status::unknown : Status::success;
      const char* p = start;
      while (p < end_ && is_name_byte(*p)) ++p;
      const string_view name(start, static_cast<std::size_t>(p - start));
      if (!session_.exports && session_.names_environment && names_database(name)) session_.unexported = name;
    }
    if (redirections.count != 0) {
      // A redirection without a command: the file is made or emptied.
      const std::uint32_t made = tree_.command_count();
      redirections.idle = true;
      emit_redirections(redirections, frame_.carrier, frame_.via, Stream{});
      if (tree_.command_count() != made) head_ = tail_ = made;
    }
    output_ = redirections.has_input ? redirections.input : Stream{};
    if (skipped_) output_.kind = Stream::unknown;
    if (!redirections.has_input && tree_.command_count() != before) tail_ = tree_.command_count() - 1;
    return;
  }
  if (count > limits::kWords) uncertain(Unresolved::limit, span_of(start, last), frame_.carrier);
  // cat < FILE is cat FILE; so is any program that prints what it reads.
  std::uint32_t total = count;
  if (redirections.has_input && redirections.input.kind == Stream::file && count < 16 && prints_its_files(tree_.pending_word(mark).text)) {
    Word word;
    word.text = redirections.input.text;
    word.span = redirections.input.span;
    word.flags = static_cast<std::uint16_t>(redirections.input.flags & kPublicFlags);
    tree_.push_pending(word);
    ++total;
  }
  const std::uint32_t first = tree_.take_pending(mark);
  if (first == kNone) return;
  Invocation in;
  in.first = first;
  in.count = total;
  in.span = span_of(start, last);
  in.node = frame_.node;
  in.carrier = frame_.carrier;
  in.via = frame_.via;
  in.cwd = session_.cwd;
  in.pipe_from = pipe_from_;
  if (redirections.has_input) {
    in.input = redirections.input;
  } else {
    in.input = input_;
  }
  in.want_output = capture_ != nullptr || redirections.count != 0 || redirections.feeds || (pos_ < end_ && *pos_ == '|');
  bring_back(true);
  const std::uint32_t prefix = assigned ? session_.variable_count() - scope.variables : 0;
  const bool special = assigned && keeps_state(in);
  run_alternatives(in);
  run_turns(in);
  const Folders folders = session_.folders();
  const bool elsewhere = folders.count != 0 && !keeps_state(in);
  const Invocation again = in;
  if (elsewhere) session_.count = 0;
  fork_ = false;
  redirected_ = false;
  for (std::uint32_t i = 0; i < redirections.count; ++i) redirected_ = redirected_ || redirections.items[i].output;
  run(in);
  status_ = in.command == kNone || in.tail != in.command || redirections.count != 0 ? Status::unknown : expected_status(again);
  if (fed_ && in.command != kNone) {
    fed_ = false;
    for (std::uint32_t i = before; i < in.command; ++i)
      if (tree_.command(i).fed && tree_.command(i).pipe_from == kNone) tree_.command(i).pipe_from = in.command;
  }
  // export $(grep -v '^#' .env | xargs): what is printed becomes variables, and is seen by nobody.
  const bool exported = count == 2 && text_of(in, 0) == "export" && text_of(in, 1).size() == 1 && text_of(in, 1)[0] == kUnknownPart;
  if (in.command != kNone && (exported || (text_of(in, 0) == "env" && sets_printed_variables(in, 1) && !one_of(program_name(argument(in, 2)), "env printenv echo printf set export declare")))) {
    for (std::uint32_t i = before; i < in.command; ++i) {
      Command& inner = tree_.command(i);
      if (inner.carrier == in.carrier && (inner.via & via::kSubstitution) != 0 && inner.pipe_to == kNone) inner.pipe_to = in.command;
    }
  }
  if (redirections.feeds) {
    Nested options;
    options.via = via::kEvaluated;
    nested_stream(in, in.output, options, Dialect::shell);
    in.output = Stream{};
  }
  if (redirections.count != 0) {
    // exec 3>FILE opens it for what writes to it further on: exec 3>FILE; echo x >&3
    redirections.shell_itself = text_of(in, 0) == "exec" && count == 1;
    if (redirections.shell_itself) {
      const char* begin = start;
      while (begin > code_.text.data() && is_blank(begin[-1])) --begin;
      redirections.passing = (in.carrier != kNone && one_of(tree_.command(in.carrier).program, "bash zsh ksh")) || (begin > code_.text.data() && begin[-1] == '(') || string_view(pos_, static_cast<std::size_t>(end_ - pos_) < 48 ? static_cast<std::size_t>(end_ - pos_) : 48).find("&-") != string_view::npos;
    }
    redirections.idle = one_of(text_of(in, 0), ": true false") || (redirections.shell_itself && !writes_to_descriptors());
    const bool itself = empties_what_it_reads(in, redirections);
    for (std::uint32_t i = 0; itself && i < redirections.count; ++i)
      if (redirections.items[i].kind == Redirection::write && redirections.items[i].output) emit_file("@onto-itself", redirections.items[i].target, false, in.command, in.via, in.cwd);
    emit_redirections(redirections, in.command, in.via, itself ? Stream{} : in.output);
    for (std::uint32_t i = 0; i < redirections.count; ++i) {
      // What went into a file does not go on.
      if (redirections.items[i].output) in.output = Stream{};
    }
  }
  if (elsewhere) {
    for (std::uint32_t i = 0; i < folders.count; ++i) {
      Invocation other = again;
      session_.cwd = other.cwd = folders.others[i];
      other.via |= via::kConditional;
      run(other);
      if (redirections.count != 0) emit_redirections(redirections, other.command, other.via, other.output);
      if (other.output.kind != in.output.kind || other.output.text != in.output.text) in.output.kind = Stream::unknown;
    }
    session_.folders() = folders;
  }
  if (assigned) {
    // An assignment before a command lasts as long as the command; a later one sees it no more.
    // What `IFS= read name` reads stays.
    session_.leave_prefix(scope, prefix, special);
    session_.separators = separators;
  }
  head_ = in.command;
  tail_ = in.tail != kNone ? in.tail : in.command;
  output_ = in.output;
}

}  // namespace tipstaff::gate::shell
