// What a reader of shell text passes on: parts of words, programs ready to run, redirections, where a list may end.
#pragma once

#include "tipstaff/gate/shell/language/session.hpp"

namespace tipstaff::gate::shell {

// One part of a word.
struct Piece {
  enum Kind : std::uint8_t {
    literal,
    split,      // text that falls apart at blanks
    choice,     // one of several texts: a brace expression, a loop's variable
    fields,     // each a word of its own: "${array[@]}"
    arguments,  // words of the tree, each a word of its own: "$@"
  };
  Kind kind;
  bool quoted;
  std::uint16_t flags;
  string_view text;
  const Value* values;
  std::uint32_t first;
  std::uint32_t count;
};

struct Pieces {
  static constexpr std::uint32_t kMost = 20;
  Raw<Piece, kMost> items;
  std::uint32_t count = 0;
  bool quoted = false;  // quotes were seen: the word is there even if it is empty
  std::uint16_t flags = 0;
};

// The outputs of several commands, one after the other.
struct Capture {
  Stream stream;
};

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
  bool no_functions = false;  // `command x`: functions and aliases do not count
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

namespace stop {
constexpr std::uint32_t kParen = 1;
constexpr std::uint32_t kBrace = 2;
constexpr std::uint32_t kThen = 4;
constexpr std::uint32_t kDo = 8;
constexpr std::uint32_t kDone = 16;
constexpr std::uint32_t kElse = 32;  // else, elif
constexpr std::uint32_t kFi = 64;
constexpr std::uint32_t kCase = 128;  // ;; ;& ;;&
constexpr std::uint32_t kEsac = 256;
constexpr std::uint32_t kElif = 512;
constexpr std::uint32_t kEnd = 1024;  // of the text
}  // namespace stop

}  // namespace tipstaff::gate::shell
