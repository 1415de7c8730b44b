// What a tool call would run: commands, found in text and in the code that text carries.
//
// Readers (shell.hpp and the other dialects) turn text into a Tree; rules look at its commands and
// never at raw text, so that a word in a commit message is never taken for an instruction.
//
// Everything a dialect can do is said as a command. Python's shutil.rmtree(p) is `rm -r -f p`,
// a DROP TABLE is `sql drop table p`, a redirection to a file is `@write p`: one rule serves all of them.
// Pseudo programs (no file of that name is started):
//   @write PATH [--append|--empty]  a file is written: redirections, tee, Write and Edit tools, patches, open(p, "w")
//   @read PATH               a file is read: redirections, open(p)
//   @tool-read PATH          a file is shown: the Read tool and the like
//   @delete PATH             a file is removed by an editing tool or a patch
//   @send [PATH...]          data leave for the network by other means than a program (requests.post ...)
//   @assign NAME=VALUE       a variable that switches checks off: HUSKY=0, LEFTHOOK=0 ...
//   @fork-bomb NAME          a function that starts itself again and again
//   sql VERB [OBJECT [NAME]] one statement: verb and object in lower case, then flags --where, --always-true
//                            (a condition that is always true), --cascade, --if-exists, --temporary
//   redis, mongo ...         as their clients' commands: `redis flushall`, `mongo dropdatabase`
//
// All storage is one block that the caller owns; nothing is allocated while reading. Where a limit is
// reached the tree says so (Unresolved::limit): it never ends in silence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace tipstaff::gate {

// Bytes of the text that was given, half open.
struct Span {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
};

constexpr std::uint32_t kNone = 0xffffffffu;

// Stands in a resolved text for a part that is only known when the command runs.
constexpr char kUnknownPart = '\x01';

enum class Dialect : std::uint8_t {
  shell,
  powershell,
  cmd,
  python,
  node,
  perl,
  ruby,
  php,
  awk,
  sql,
  redis,
  mongo,
  patch,
  make,
  crontab,
  prose,
};

namespace word_flag {
constexpr std::uint16_t kUnknown = 1;        // at least one part is not known (kUnknownPart in the text)
constexpr std::uint16_t kGlob = 2;           // holds an unquoted * ? or [
constexpr std::uint16_t kQuoted = 4;         // at least one part was quoted or escaped
constexpr std::uint16_t kTemporary = 8;      // comes from mktemp or the like
constexpr std::uint16_t kMayBeEmpty = 16;    // an unknown part may be nothing: "$UNSET"/* may be /*
constexpr std::uint16_t kAppended = 32;      // stands for arguments that a program adds: xargs, find -exec {}
constexpr std::uint16_t kPseudo = 64;        // not written there: made by a reader
constexpr std::uint16_t kEnvironment = 128;  // an unknown part comes from a variable that nothing here sets
constexpr std::uint16_t kHostPath = 256;     // in a container's command: a path of the host, through a mount
constexpr std::uint16_t kNetwork = 512;      // an unknown part comes from the network: $(curl ...)
constexpr std::uint16_t kTrusted = 1024;     // an unknown part is code that its program is there to print: $(ssh-agent)
constexpr std::uint16_t kDecoded = 2048;     // a part was decoded: base64, printf escapes
constexpr std::uint16_t kCredential = 4096;  // a part comes from a variable that is named as a credential is: $API_KEY
}  // namespace word_flag

struct Word {
  std::string_view text;  // after quotes, escapes and what expansion is certain
  Span span;
  std::uint16_t flags = 0;

  bool has(std::uint16_t flag) const noexcept { return (flags & flag) != 0; }
};

// How a command came to be run; bits.
namespace via {
constexpr std::uint32_t kSudo = 1;            // sudo, doas, su, pkexec, runas
constexpr std::uint32_t kRemote = 2;          // ssh and the like: paths are those of another machine
constexpr std::uint32_t kContainer = 4;       // docker exec, docker run, kubectl exec
constexpr std::uint32_t kArgumentsAdded = 8;  // xargs, parallel, find -exec, fd -x: more arguments follow
constexpr std::uint32_t kInterpreter = 16;    // from a program's inline code (python -c, awk ...)
constexpr std::uint32_t kScript = 32;         // from a file named on the command line
constexpr std::uint32_t kScheduled = 64;      // at, crontab, systemd-run, trap: later
constexpr std::uint32_t kSubstitution = 128;  // inside $(...) or back-ticks
constexpr std::uint32_t kFunction = 256;      // in the body of a function or an alias that is called
constexpr std::uint32_t kDefinition = 512;    // in the body of a function that nothing here calls
constexpr std::uint32_t kConditional = 1024;  // after &&, ||, if, while, case: it may not run
constexpr std::uint32_t kBackground = 2048;
constexpr std::uint32_t kDecoded = 4096;   // from text that was decoded: base64, printf escapes
constexpr std::uint32_t kEvaluated = 8192;  // eval, sh -c, source /dev/stdin: text that became code
constexpr std::uint32_t kFresh = 16384;     // in a container that is made for it and has no volume: docker run
constexpr std::uint32_t kTrial = 32768;     // on a database of tests on this machine, by its name or the environment
constexpr std::uint32_t kInClone = 65536;   // in a repository that the same line cloned: asked of rules, never set here
}  // namespace via

struct Command {
  std::string_view program;  // base name in lower case, without .exe; pseudo programs as above; empty: not known
  Word name;                 // the program as it is there
  std::uint32_t first_word = 0;  // its arguments, without the program: tree.words()[first_word ...]
  std::uint32_t word_count = 0;
  std::string_view cwd;       // empty where it is not known
  std::uint32_t node = kNone;
  std::uint32_t carrier = kNone;    // the command that carries this one: sudo, xargs, bash -c, python -c ...
  std::uint32_t pipe_from = kNone;  // the command whose output it reads, in the same pipeline
  std::uint32_t pipe_to = kNone;
  Word input;                 // what is known of its standard input (here-document, here-string, echo ... |)
  bool has_input = false;
  std::uint32_t via = 0;      // bits of tipstaff::gate::via
  Dialect dialect = Dialect::shell;
  Span span;                  // the whole command
  bool fed = false;           // it reads what the command around it writes: tee >(it)
  bool as_written = false;    // its arguments are parts of one text, in their order
};

enum class NodeKind : std::uint8_t {
  root,
  pipeline,
  list,
  group,
  subshell,
  substitution,
  loop,
  branch,
  function,
  command,
  assignment,
  redirection,
  here_document,
  code,  // nested code of some dialect
  data,  // text that nothing runs
};

// The tree as `gate --explain` draws it, in pre-order of first children and next siblings.
struct Node {
  NodeKind kind = NodeKind::root;
  Dialect dialect = Dialect::shell;
  bool is_code = true;
  Span span;
  std::uint32_t parent = kNone;
  std::uint32_t first_child = kNone;
  std::uint32_t last_child = kNone;
  std::uint32_t next = kNone;
  std::uint32_t command = kNone;
};

// Why something could not be resolved.
enum class Unresolved : std::uint8_t {
  program,        // the program's name is only known when it runs
  code,           // text that would be run is not known: eval "$X", sh -c "$(cmd)"
  remote_code,    // text that would be run comes from the network: curl | sh
  script,         // a script's text could not be read
  script_size,    // a script is longer than what is read
  depth,          // nested deeper than what is followed
  flag,           // a variable of the environment alone as a condition: `if $VERBOSE; then`
  limit,          // more words, commands or expansions than what is followed
  syntax,         // the text is not complete code of its dialect: an open quote, an open group
  encoding,       // bytes that are no text
  unreadable,     // a script that is there and cannot be read
};

// As rules and explanations call it.
inline std::string_view name_of(Unresolved reason) noexcept {
  switch (reason) {
    case Unresolved::program: return "program";
    case Unresolved::flag: return "flag";
    case Unresolved::code: return "code";
    case Unresolved::remote_code: return "remote-code";
    case Unresolved::script: return "script";
    case Unresolved::script_size: return "script-size";
    case Unresolved::depth: return "depth";
    case Unresolved::limit: return "limit";
    case Unresolved::syntax: return "syntax";
    case Unresolved::encoding: return "encoding";
    case Unresolved::unreadable: return "unreadable";
  }
  return "limit";
}

struct Uncertainty {
  Unresolved reason = Unresolved::limit;
  Span span;
  std::uint32_t command = kNone;  // the command that it is about
};

// Text of a dialect, and where it is in the text that was given.
struct Code {
  std::string_view text;
  Span origin;
  bool verbatim = true;  // text is byte by byte what is at origin; else every place in it maps to origin

  Span at(std::size_t start, std::size_t end) const noexcept {
    if (!verbatim) return origin;
    return {static_cast<std::uint32_t>(origin.start + start), static_cast<std::uint32_t>(origin.start + end)};
  }
};

// What a reader inherits from the code around its own.
struct Frame {
  std::uint32_t node = kNone;
  std::uint32_t carrier = kNone;
  std::uint32_t via = 0;
  std::uint32_t depth = 0;
  std::string_view cwd;
};

class OwnPaths;

// The machine as far as reading needs it. Views must outlive the tree.
struct Surroundings {
  std::string_view cwd;         // absolute; empty where it is not known
  std::string_view repository;  // the working repository's root; empty where there is none
  std::string_view home;        // empty where it is not known
  std::string_view temporary;   // a further temporary directory ($TMPDIR), empty for none
  std::string_view state;       // the gate's own state folder; empty where it is not guarded
  std::string_view program;     // the gate's own program, likewise
  bool typed_later = false;     // the host does not show the gate what is typed into a program that runs already
  bool stash_takes_changed = false;    // `git stash` would take away a registration of the gate
  bool stash_takes_untracked = false;  // `git stash -u` would
  bool follows_links = false;   // each word is followed through links, not those alone that a rule asks about
  // Reads a file for its text: at most `capacity` bytes into `out`; returns the file's size, -1 where there is none, -2
  // where there is something that cannot be read.
  long long (*read_file)(void* self, std::string_view path, char* out, std::size_t capacity) noexcept = nullptr;
  // Resolves symbolic links of an existing path into `out`; returns its length, 0 where nothing is to be resolved.
  std::size_t (*real_path)(void* self, std::string_view path, char* out, std::size_t capacity) noexcept = nullptr;
  // What a caller keeps of the gate's own places from one judgement to the next; null: nothing.
  OwnPaths* (*own_paths)(void* self) noexcept = nullptr;
  void* self = nullptr;
  const void* stack_end = nullptr;  // the lowest byte of the thread's stack; null where it is not known
};

namespace limits {
constexpr std::uint32_t kDepth = 24;
constexpr std::size_t kScriptBytes = 256 * 1024;
constexpr std::uint32_t kExpansions = 256;  // words that one word may become
constexpr std::size_t kNestedBytes = 4 * 1024 * 1024;  // text that is read again or deeper, all of it together
constexpr std::size_t kStackBytes = 112 * 1024;        // what a level takes until it asks again, twice
}  // namespace limits

// Memory for the tree of a text of so many bytes. A command takes two bytes at least and 288 of a tree, so that the small block
// holds every text that gets it, and none is asked about for being shorter than what gets the large one: that holds all
// texts of up to 233 KB, and many commands of most that are longer. Pages of it that nothing is written to cost nothing.
namespace tree_bytes {
constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{64} << 20;
constexpr std::size_t kSmallText = kSmall / 288;
constexpr std::size_t for_text(std::size_t text_bytes) noexcept { return text_bytes < kSmallText ? kSmall : kLarge; }
}  // namespace tree_bytes

// The commands of one text, in one block of memory.
class Tree {
 public:
  // `memory` is cut into fixed parts; of 1 MiB, 4,096 words, 1,820 commands, 4,096 nodes and 480 KiB of text.
  Tree(void* memory, std::size_t bytes) noexcept {
    auto* at = static_cast<unsigned char*>(memory);
    const std::size_t share = bytes / 8;
    words_ = cut<Word>(&at, share, &word_capacity_);
    commands_ = cut<Command>(&at, 2 * share, &command_capacity_);
    nodes_ = cut<Node>(&at, share, &node_capacity_);
    uncertain_ = cut<Uncertainty>(&at, share / 4, &uncertain_capacity_);
    text_ = reinterpret_cast<char*>(at);
    text_capacity_ = static_cast<std::size_t>(static_cast<unsigned char*>(memory) + bytes - at);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void clear() noexcept {
    word_count_ = pending_count_ = command_count_ = node_count_ = uncertain_count_ = 0;
    text_size_ = 0;
    full_ = false;
  }

  const Word* words() const noexcept { return words_; }
  const Word* arguments(const Command& command) const noexcept { return words_ + command.first_word; }
  Word& word(std::uint32_t index) noexcept { return words_[index]; }
  std::uint32_t word_count() const noexcept { return word_count_; }
  std::uint32_t word_capacity() const noexcept { return word_capacity_; }
  const Command* commands() const noexcept { return commands_; }
  Command& command(std::uint32_t index) noexcept { return commands_[index]; }
  const Command& command(std::uint32_t index) const noexcept { return commands_[index]; }
  std::uint32_t command_count() const noexcept { return command_count_; }
  const Node* nodes() const noexcept { return nodes_; }
  Node& node(std::uint32_t index) noexcept { return nodes_[index]; }
  std::uint32_t node_count() const noexcept { return node_count_; }
  const Uncertainty* uncertainties() const noexcept { return uncertain_; }
  std::uint32_t uncertainty_count() const noexcept { return uncertain_count_; }
  bool full() const noexcept { return full_; }

  // Each returns the new one's index, kNone where there is no room (and the tree is then full()).
  std::uint32_t add_word(const Word& word) noexcept {
    return add(words_, &word_count_, word_capacity_ - pending_count_, word);
  }
  // Room for words that a reader writes itself: as many as free_words() tells, then taken at once.
  std::uint32_t free_words() const noexcept { return word_capacity_ - pending_count_ - word_count_; }
  void* next_word() noexcept { return words_ + word_count_; }
  void take_words(std::uint32_t count) noexcept { word_count_ += count; }
  std::uint32_t add_command(const Command& command) noexcept {
    return add(commands_, &command_count_, command_capacity_, command);
  }
  // New ones where they are to stay, to be filled in there; null where there is no room.
  Command* new_command() noexcept { return place(commands_, &command_count_, command_capacity_); }
  Node* new_node(std::uint32_t parent_index) noexcept {
    Node* const node = place(nodes_, &node_count_, node_capacity_);
    if (node == nullptr || parent_index == kNone) return node;
    const std::uint32_t index = node_count_ - 1;
    Node& parent = nodes_[parent_index];
    if (parent.last_child == kNone) {
      parent.first_child = index;
    } else {
      nodes_[parent.last_child].next = index;
    }
    parent.last_child = index;
    node->parent = parent_index;
    return node;
  }
  std::uint32_t add_node(const Node& given) noexcept {
    Node* const node = new_node(given.parent);
    if (node == nullptr) return kNone;
    node->kind = given.kind;
    node->dialect = given.dialect;
    node->is_code = given.is_code;
    node->span = given.span;
    node->command = given.command;
    return node_count_ - 1;
  }
  void add_uncertainty(Unresolved reason, Span span, std::uint32_t command = kNone) noexcept {
    if (uncertain_count_ < uncertain_capacity_) {
      new (&uncertain_[uncertain_count_++]) Uncertainty{reason, span, command};
    } else {
      full_ = true;
    }
  }

  // Words that belong to no command yet: a stack at the far end of the words' memory, since the words of one
  // command lie together and reading one of them may find whole commands inside it.
  std::uint32_t pending() const noexcept { return pending_count_; }
  Word& pending_word(std::uint32_t index) noexcept { return words_[word_capacity_ - 1 - index]; }
  void push_pending(const Word& word) noexcept {
    if (word_count_ + pending_count_ >= word_capacity_) {
      full_ = true;
      return;
    }
    new (&words_[word_capacity_ - 1 - pending_count_++]) Word(word);
  }
  void drop_pending(std::uint32_t mark) noexcept { pending_count_ = mark; }
  // Makes words of the pending ones from `mark` on; returns the first one's index.
  std::uint32_t take_pending(std::uint32_t mark) noexcept {
    const std::uint32_t count = pending_count_ - mark;
    const std::uint32_t first = word_count_;
    if (count > word_capacity_ - pending_count_ - word_count_) {
      full_ = true;
      pending_count_ = mark;
      return kNone;
    }
    for (std::uint32_t i = 0; i < count; ++i) new (&words_[word_count_++]) Word(pending_word(mark + i));
    pending_count_ = mark;
    return first;
  }

  // Room for text that is built piece by piece: write at most `room` bytes at the returned place, then keep() them.
  char* draft(std::size_t* room) noexcept {
    *room = text_capacity_ - text_size_;
    return text_ + text_size_;
  }
  std::string_view keep(std::size_t bytes) noexcept {
    std::string_view kept(text_ + text_size_, bytes);
    text_size_ += bytes;
    return kept;
  }
  std::string_view copy(std::string_view text) noexcept {
    if (text.size() > text_capacity_ - text_size_) {
      full_ = true;
      return {};
    }
    if (!text.empty()) std::memcpy(text_ + text_size_, text.data(), text.size());
    return keep(text.size());
  }
  // `head` and `tail` as one text; a head that was the last one built grows where it is.
  std::string_view join(std::string_view head, std::string_view tail) noexcept {
    if (tail.empty()) return head;
    if (head.empty()) return tail;
    if (head.data() + head.size() != text_ + text_size_) head = copy(head);
    if (head.empty() || copy(tail).empty()) return head;
    return {head.data(), head.size() + tail.size()};
  }
  void set_full() noexcept { full_ = true; }

 private:
  template <typename T>
  static T* cut(unsigned char** at, std::size_t bytes, std::uint32_t* capacity) noexcept {
    const std::size_t off = reinterpret_cast<std::uintptr_t>(*at) % alignof(T);
    if (off != 0) *at += alignof(T) - off;
    T* begin = reinterpret_cast<T*>(*at);
    *capacity = static_cast<std::uint32_t>(bytes / sizeof(T));
    *at += *capacity * sizeof(T);
    return begin;
  }
  template <typename T>
  T* place(T* items, std::uint32_t* count, std::uint32_t capacity) noexcept {
    if (*count >= capacity) {
      full_ = true;
      return nullptr;
    }
    return new (&items[(*count)++]) T;
  }
  template <typename T>
  std::uint32_t add(T* items, std::uint32_t* count, std::uint32_t capacity, const T& item) noexcept {
    if (*count >= capacity) {
      full_ = true;
      return kNone;
    }
    new (&items[*count]) T(item);
    return (*count)++;
  }

  Word* words_ = nullptr;
  Command* commands_ = nullptr;
  Node* nodes_ = nullptr;
  Uncertainty* uncertain_ = nullptr;
  char* text_ = nullptr;
  std::size_t text_capacity_ = 0, text_size_ = 0;
  std::uint32_t word_capacity_ = 0, command_capacity_ = 0, node_capacity_ = 0, uncertain_capacity_ = 0;
  std::uint32_t pending_count_ = 0;
  std::uint32_t word_count_ = 0, command_count_ = 0, node_count_ = 0, uncertain_count_ = 0;
  bool full_ = false;
};

// What all readers of one text share.
struct Reader {
  Tree* tree;
  const Surroundings* surroundings;
  std::size_t nested_bytes = limits::kNestedBytes;  // what is left of them

  // Whether no more levels fit on the stack: asked wherever reading goes one deeper.
  bool out_of_stack() const noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto end = reinterpret_cast<std::uintptr_t>(surroundings->stack_end);
    return end != 0 && here < end + limits::kStackBytes;
  }
};

}  // namespace tipstaff::gate
