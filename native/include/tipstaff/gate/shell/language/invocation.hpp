// What a reader of shell text passes on: programs ready to run, redirections.
#pragma once

#include "tipstaff/gate/shell/language/session.hpp"

namespace tipstaff::gate::shell {

// A program with its words, ready to run.
struct Invocation {
  std::uint32_t first = 0;  // tree words: the program's name, then its arguments
  std::uint32_t count = 0;
  Span span;
  std::uint32_t node = kNone;
  std::uint32_t carrier = kNone;
  std::uint32_t via = 0;
  string_view cwd;
  Stream input;
  std::uint32_t pipe_from = kNone;
  bool want_output = false;
  bool direct = false;          // the evaluator calls it; else a program of the text does
  bool calls_function = false;  // what it does is called next
  bool calls_itself = false;    // the function that it is in
  bool reads_names = false;     // it set what it reads, or read a file
  bool no_builtins = false;   // `nohup x`: it is a program that is started
  Stream output;
  std::uint32_t command = kNone;  // the outermost command
  std::uint32_t tail = kNone;     // the innermost one
};

struct Redirection {
  enum Kind : std::uint8_t { read, write, append };
  Kind kind;
  bool output;  // of the standard output
  Word target;
  int descriptor = -1;
};

struct Redirections {
  static constexpr std::uint32_t kMost = 12;
  Raw<Redirection, kMost> items;
  std::uint32_t count = 0;
  bool has_input = false;
  bool feeds = false;  // >&"${COPROC[1]}": what is printed is read by a program that runs beside
  bool idle = false;  // nothing is written to what is opened besides the standard output
  bool shell_itself = false;  // exec: what is opened stays open
  bool passing = false;       // of a shell that ends with it, or closed by the text
  Stream input;
};

}  // namespace tipstaff::gate::shell
