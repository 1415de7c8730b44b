// What a shell would run: calls, with what each program is given. The evaluator knows the language; what a program does with
// its words says the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/eval/state.hpp"
#include "tipstaff/syntax/shell.hpp"

namespace tipstaff::eval {

struct Word {
  TextId text = kEmpty;
  std::uint16_t origin = 0;
  bool many = false;  // any number of words, as this text says: an unknown part that was not quoted
  bool glob = false;  // an unquoted pattern, as it is written
  bool quoted = false;  // a part of it was
  std::uint32_t node = syntax::kNone;  // of the tree, where it is written
};

struct Target {
  syntax::Redirect kind;
  TextId text;
  std::uint32_t node = syntax::kNone;  // of the redirection
  std::uint16_t origin = 0;
  bool glob = false, quoted = false;
  Set input;  // what it gives to read
};

namespace via {
constexpr std::uint16_t kSubstitution = 1;
constexpr std::uint16_t kFunction = 2;
constexpr std::uint16_t kTrap = 4;
constexpr std::uint16_t kEval = 8;
constexpr std::uint16_t kChild = 16;       // a program ran it
constexpr std::uint16_t kText = 32;        // a shell read it from a text
constexpr std::uint16_t kBackground = 64;
constexpr std::uint16_t kUncertain = 128;  // more is possible than what was followed
constexpr std::uint16_t kConditional = 256;  // it may not happen
constexpr std::uint16_t kUncalled = 512;     // a function's that nothing calls, or behind what ends the shell
}  // namespace via

struct Call {
  const Word* words;
  std::uint32_t count;
  const Target* targets;  // of its redirections
  std::uint32_t target_count;
  TextId folder;
  Set input;              // what it can read: texts, or kOther
  State* state;           // its environment: variables that are exported; what a host puts there stays
  std::uint16_t via;
  syntax::Span span;      // of the command in the text it stands in
  bool function = false;  // words call a function, whose calls follow
  bool recursive = false; // a function that is being called
  bool captured = false;  // what it prints is used
  bool prefixed = false;  // assignments stand before it
};

// Where a text stands in the one that was given.
struct Origin {
  syntax::Span span;
  bool verbatim = true;  // byte by byte; else every place in it is the span
};

// What a program does with what it is given.
struct Answer {
  enum Kind : std::uint8_t {
    plain,        // nothing that concerns a shell
    child,        // words from `first` on, or `words`, are a command; it runs in a process of its own
    shell_text,   // word `first` is a shell's text, those behind it its name and arguments
    shell_input,  // its input is a shell's text
  };
  Kind kind = plain;
  std::uint32_t first = 0;
  const Word* words = nullptr;    // a child's command where it is put together; the host keeps them until its next answer
  std::uint32_t word_count = 0;
  std::uint32_t assignments = 0;  // as many words before `first` are NAME=VALUE of the child's environment
  syntax::Shell shell = syntax::Shell::bash, perhaps = syntax::Shell::bash;  // which shell reads the text; either may
  bool may_succeed = true, may_fail = true;
  Set output;                     // count 0: any text
  std::uint32_t mark = syntax::kNone, tail = syntax::kNone;  // the host's, of the outermost and the innermost command
  bool done = false;              // the host did what a builtin of the language does to the state
};

enum class Unresolved : std::uint8_t {
  program = 1,  // a command's name is not known
  code = 2,     // text that is run is not known
  limit = 4,
  syntax = 8,
  depth = 16,
  script = 32,  // a file that is read as code
};

class Evaluator;

// What a host that judges knows beyond calls; it is handed what is not followed, code that nothing calls, and spans.
struct Judge {
  bool (*parameter)(void* self, std::string_view name, Value* value) noexcept;  // what the surroundings set
  void (*foreign)(void* self, std::uint32_t node, std::string_view before, bool program, Value* value) noexcept;
  void (*assigned)(void* self, State& state, TextId name, std::uint32_t node, bool alone) noexcept;
  void (*unresolved)(void* self, Unresolved reason, syntax::Span span) noexcept;
  void (*piped)(void* self, std::uint32_t from, std::uint32_t to) noexcept;
  Value (*load)(void* self, State& state, Value file) noexcept;  // the content of a file
  void (*substituted)(void* self, std::uint32_t node, Value printed, std::uint32_t tail, Value* path) noexcept;  // <( ), >( )
  void (*loop)(void* self, bool begins, syntax::Span span) noexcept;
  bool (*certain)(void* self, std::string_view folder) noexcept;  // it is there
  bool (*runs_itself)(void* self, std::string_view name) noexcept;  // a function that shells call on their own
  Origin (*place)(void* self, std::string_view text, syntax::Span span) noexcept;  // of a text that was a value
};

struct Host {
  void* self;
  Answer (*call)(void* self, Store& store, const Call& call) noexcept;
  const Judge* judge = nullptr;
};

struct Start {
  std::string_view folder;
  std::string_view home;              // empty: not known
  bool closed_environment = false;    // no variables but these
  syntax::Options options;
};

// Bytes of memory for a text: its nodes, what is built, what is known.
constexpr std::size_t memory_for(std::size_t text) noexcept { return (std::size_t{4} << 20) + 512 * text; }

// Evaluates a text and reports every call that may happen, in the order of the text. Returns bits of Unresolved.
unsigned evaluate(std::string_view text, const Start& start, const Host& host, void* memory, std::size_t bytes) noexcept;

}  // namespace tipstaff::eval
