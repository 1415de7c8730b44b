// Functions and coprocesses: what a name stands for, and how it is called.
#pragma once

#include "tipstaff/gate/shell/language/compound.hpp"

namespace tipstaff::gate::shell {

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

// The body of a function: read where it is, as something that may never run, and again when it is called.
inline void ShellReader::read_function(string_view name) noexcept {
  skip_lines();
  const char* const start = pos_;
  if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span_of(start, end_));
  Function function;
  function.name = name;
  function.verbatim = code_.verbatim;
  function.perhaps = (frame_.via & via::kConditional) != 0;
  function.running = true;  // a call of itself is not followed
  Function* const kept = session_.functions.add(function);
  if (kept == nullptr) uncertain(Unresolved::limit, span_of(start, start), frame_.carrier);
  const std::uint32_t via = frame_.via, node = frame_.node;
  // Some functions are called by the shell itself.
  const bool hook = one_of(name, "command_not_found_handle command_not_found_handler precmd preexec chpwd periodic zshexit zshaddhistory TRAPEXIT "
                                 "TRAPINT TRAPTERM TRAPDEBUG TRAPZERR TRAPHUP fish_prompt fish_command_not_found");
  frame_.via |= hook ? via::kScheduled : via::kDefinition;
  const std::uint32_t made = add_node(NodeKind::function, span_of(start, start), node);
  if (made != kNone) frame_.node = made;
  const Stream input = input_;
  input_ = Stream{};
  bool bomb = false;
  const bool ends_on_failure = session_.ends_on_failure;
  in_subshell([&]() noexcept {
    ++session_.calls;
    session_.positional = Positional{};
    bomb = read_tight_bomb(name);
    if (!bomb) read_command(0);
    has_trap_ = false;
    --session_.calls;
  });
  session_.ends_on_failure = ends_on_failure;
  input_ = input;
  frame_.via = via;
  frame_.node = node;
  if (made != kNone) tree_.node(made).span = span_of(start, pos_);
  if (kept != nullptr && bomb) {
    kept->running = false;
  } else if (kept != nullptr) {
    kept->body = string_view(start, static_cast<std::size_t>(pos_ - start));
    kept->origin = span_of(start, pos_);
    kept->running = false;
  }
  output_ = Stream{};
  head_ = tail_ = kNone;
}

// Runs a keyword as a command of its own, and says which that is; false where the tree has no room for its word.
inline bool ShellReader::run_keyword(string_view word, Span span, std::uint32_t via, std::uint32_t* command) noexcept {
  Word name;
  name.text = word;
  name.span = span;
  Invocation in;
  in.first = tree_.add_word(name);
  if (in.first == kNone) return false;
  in.count = 1;
  in.span = span;
  in.node = frame_.node;
  in.carrier = frame_.carrier;
  in.via = via;
  in.cwd = session_.cwd;
  run(in);
  *command = in.command;
  return true;
}

// coproc [name] command: a command of its own, and the one that it starts.
inline void ShellReader::read_coproc() noexcept {
  const char* const start = pos_;
  const string_view word = peek_plain();
  pos_ += word.size();
  skip_blanks();
  std::uint32_t keyword = kNone;
  if (!run_keyword(word, span_of(start, start + word.size()), frame_.via | via::kBackground, &keyword)) return;
  const string_view label = peek_plain();
  if (is_name(label)) {
    const char* p = pos_ + label.size();
    while (p < end_ && is_blank(*p)) ++p;
    if (p < end_ && (*p == '{' || *p == '(')) pos_ = p;
  }
  const std::uint32_t carrier = frame_.carrier, via = frame_.via;
  frame_.carrier = keyword;
  frame_.via |= via::kBackground;
  in_subshell([&]() noexcept { read_command(0); });
  frame_.carrier = carrier;
  frame_.via = via;
}

}  // namespace tipstaff::gate::shell
