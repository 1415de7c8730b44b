// Shell text to a tree. It knows the language and no program; nothing is expanded or run.
//
// Nodes point into the text. All storage is the caller's; reading takes one step a byte for each level of nesting that
// looks ahead (arithmetic alone does), and at most kLevels levels of the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tipstaff::syntax {

// Bytes of the text, half open.
struct Span {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
};

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr int kLevels = 48;  // of compounds and substitutions in each other

enum class Shell : std::uint8_t { bash, dash, zsh };

// What each node's children are.
enum class Kind : std::uint8_t {
  list,           // commands
  background,     // the command before `&`
  and_if,         // left, right
  or_if,          // left, right
  negated,        // the pipeline after `!`, if there is one
  timed,          // the pipeline after `time`, if there is one
  pipeline,       // two or more stages
  subshell,       // list, redirections
  group,          // list, redirections
  if_clause,      // condition and body lists, in turn, the last alone where there is an `else`; redirections
  while_loop,     // condition, body, redirections
  until_loop,     // condition, body, redirections
  for_loop,       // name, words (with flag::kIn), body, redirections
  select_loop,    // as for_loop
  counting_loop,  // three arithmetic nodes, body, redirections
  case_clause,    // word, items, redirections
  case_item,      // patterns, list
  function,       // name, body
  coprocess,      // name (with flag::kNamed), command
  simple,         // assignments, words, redirections as they are written
  test,           // [[: an expression, redirections
  test_or,        // left, right
  test_and,       // left, right
  test_not,       // an expression
  test_unary,     // operator, word
  test_binary,    // word, operator, word
  arithmetic,     // (( )): parts as of a quoted word, redirections
  assignment,     // name, subscript if there is one, value: a word, an array, or nothing
  array,          // words and assignments without name
  redirection,    // descriptor if there is one, target; for a here-document its delimiter, then its body
  name,           // a name, an operator, a descriptor: its text
  word,           // parts
  literal,        // text as it is
  escape,         // a backslash and a byte
  single_quoted,  // '...'
  ansi_quoted,    // $'...'
  double_quoted,  // parts
  parameter,      // name, subscript if there is one, operands as words
  command_substitution,  // list
  back_quoted,    // text that is read when it runs
  arithmetic_expansion,  // parts as of a quoted word
  process_substitution,  // list
  extended_glob,  // alternatives as words
  brace_open, brace_comma, brace_close,  // around and between alternatives
  tilde,          // ~ and a login name
  subscript,      // parts
  foreign,        // what others put in before a shell sees it; only where Options::foreign finds it
};

namespace flag {
constexpr std::uint8_t kAppends = 1;     // assignment: +=
constexpr std::uint8_t kArgument = 2;    // assignment: an argument of a command that declares
constexpr std::uint8_t kIn = 1;          // for_loop: words are given
constexpr std::uint8_t kNamed = 1;       // coprocess
constexpr std::uint8_t kFallsOn = 1;     // case_item: ;&
constexpr std::uint8_t kTestsOn = 2;     // case_item: ;;&
constexpr std::uint8_t kErrorToo = 64;   // a stage of a pipeline: |&
constexpr std::uint8_t kLength = 1;      // parameter: ${#x}
constexpr std::uint8_t kIndirect = 2;    // parameter: ${!x}
constexpr std::uint8_t kColon = 4;       // parameter: an empty value counts as none
constexpr std::uint8_t kBad = 8;         // parameter: no such form
constexpr std::uint8_t kQuoted = 16;     // a part within double quotes
constexpr std::uint8_t kSequence = 1;    // brace_open: {1..3}
constexpr std::uint8_t kOutput = 1;      // process_substitution: >( )
constexpr std::uint8_t kPlainText = 1;   // redirection: the here-document's body is not expanded
constexpr std::uint8_t kStripsTabs = 2;  // redirection: <<-
constexpr std::uint8_t kElse = 32;       // list: after `else`
}  // namespace flag

enum class Redirect : std::uint8_t {
  input, output, append, clobber, both, from_descriptor, to_descriptor, all_output, all_append, here_document, here_string,
};  // clang-format skip

// What ${x...} does with its operand; `aux` of a parameter.
enum class Edit : std::uint8_t {
  none, fallback, assign, fail, alternative, cut_shortest_suffix, cut_longest_suffix, cut_shortest_prefix, cut_longest_prefix,
  replace_first, replace_all, replace_prefix, replace_suffix, upper_first, upper_all, lower_first, lower_all, substring, transform,
  names,  // ${!x*}, ${!x@}, ${!x[@]}
};  // clang-format skip

struct Node {
  Kind kind = Kind::list;
  std::uint8_t flags = 0;
  std::uint8_t aux = 0;  // a Redirect, an Edit, the byte before the bracket of an extended_glob
  Shell shell = Shell::bash;
  Span span;
  std::uint32_t first_child = kNone;
  std::uint32_t next = kNone;

  bool has(std::uint8_t bit) const noexcept { return (flags & bit) != 0; }
};
static_assert(sizeof(Node) == 20, "the tree of a text takes a known part of the caller's block");

// Nodes of one or several texts that lie one after the other in memory.
class Tree {
 public:
  Tree(void* memory, std::size_t bytes, const char* base) noexcept
      : base_(base), nodes_(static_cast<Node*>(memory)), capacity_(static_cast<std::uint32_t>(bytes / sizeof(Node))) {}

  const Node& operator[](std::uint32_t index) const noexcept { return nodes_[index]; }
  Node& at(std::uint32_t index) noexcept { return nodes_[index]; }
  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t capacity() const noexcept { return capacity_; }
  void cut(std::uint32_t size) noexcept { size_ = size; }
  std::string_view text(Span span) const noexcept { return {base_ + span.start, span.end - span.start}; }
  std::string_view text(std::uint32_t index) const noexcept { return text(nodes_[index].span); }
  const char* base() const noexcept { return base_; }

  // The new node's index, kNone where there is no room.
  std::uint32_t add(const Node& node) noexcept {
    if (size_ == capacity_) return kNone;
    nodes_[size_] = node;
    return size_++;
  }

 private:
  const char* base_;
  Node* nodes_;
  std::uint32_t capacity_;
  std::uint32_t size_ = 0;
};

enum class Status : std::uint8_t {
  complete,
  open,   // the text ends within something
  wrong,  // no shell would read it
  depth,  // more than kLevels levels
  full,   // the tree has no more room
};

struct Parsed {
  std::uint32_t root = kNone;  // a list of what is before the line that is not complete: a shell has run it by then
  Status status = Status::complete;
  std::uint32_t stopped = 0;   // the byte where reading stopped
};

struct Options {
  Shell shell = Shell::bash;
  bool extended_globs = false;  // `shopt -s extglob` in an earlier line of the text turns them on, too
  bool reads_on = false;        // after an error what is left is read nevertheless
  // Where a foreign part that begins at `from` ends, null where none does; asked at $ and {{.
  const char* (*foreign)(void* self, const char* from, const char* end) noexcept = nullptr;
  // Where a command begins behind what has no effect on it, null where it begins at `from`.
  const char* (*prefix)(void* self, const char* from, const char* end) noexcept = nullptr;
  void* self = nullptr;
};

// Reads text.size() bytes at `start` bytes after the tree's base.
Parsed parse_shell(Tree& tree, std::uint32_t start, std::uint32_t size, const Options& options) noexcept;

// The next word's part that a ANSI-quoted text ($'...') stands for: bytes written to `out`, which has the text's size.
// A NUL ends it, as it does in a shell.
std::size_t decode_ansi(std::string_view text, char* out) noexcept;

constexpr bool is_name_start(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_name_byte(char c) noexcept { return is_name_start(c) || is_digit(c); }

}  // namespace tipstaff::syntax
