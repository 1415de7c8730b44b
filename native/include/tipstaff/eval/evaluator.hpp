// The evaluator's parts: runs a tree of shell syntax in every way that may happen. States fork where a status decides and join
// behind. For the files of native/eval alone; what others use is in call.hpp.
#pragma once

#include <cstring>
#include <new>

#include "tipstaff/eval/call.hpp"
#include "tipstaff/eval/patterns.hpp"
#include "tipstaff/syntax/shell/builtins.hpp"

namespace tipstaff::eval {

using std::string_view;
using std::uint32_t;
using std::uint8_t;
using syntax::Builtin;
using syntax::Edit;
using syntax::Kind;
using syntax::kNone;
using syntax::Node;
using syntax::Redirect;
namespace flag = syntax::flag;

constexpr uint8_t kVisits = 16;          // of a node
constexpr uint32_t kMoreVisits = 4096;   // in all, beyond them
constexpr uint8_t kDone = 255;           // evaluated with nothing known: that holds for every state
constexpr uint32_t kRuns = 48;           // combinations of values of one command
constexpr int kDepth = 96;               // of nodes in each other, calls and texts together
constexpr int kCalls = 8, kTexts = 24;
constexpr uint32_t kLocals = 24;
constexpr uint32_t kBuilt = 4096;        // bytes of a value that is edited

// Which of several values each part of a command takes in one run, the same for each mention of a variable.
struct Choices {
  static constexpr uint32_t kMost = 24;
  uint8_t digits[kMost], limits[kMost];
  uint32_t keys[kMost];
  uint32_t count = 0, at = 0, runs = 0;
  bool wide = false;  // too many: every choice is anything

  uint32_t choose(uint32_t key, uint32_t limit) noexcept {
    if (limit <= 1) return 0;
    for (uint32_t i = 0; i < at && key != 0; ++i)
      if (keys[i] == key && limits[i] == limit) return digits[i];
    if (at == kMost) {
      wide = true;
      return 0;
    }
    if (at == count) {
      digits[count] = 0;
      limits[count++] = static_cast<uint8_t>(limit);
    }
    keys[at] = key;
    return digits[at++];
  }
  // Whether there is another run.
  bool next() noexcept {
    if (wide && runs >= kRuns) return false;
    count = at < count ? at : count;
    at = 0;
    while (count != 0 && ++digits[count - 1] == limits[count - 1]) --count;
    if (count == 0) return false;
    if (++runs >= kRuns) {
      wide = true;
      count = 0;
    }
    return true;
  }
};

struct Loop {
  State broken, continued;
  Loop* outer = nullptr;
  bool barrier = false;  // a function or a shell of its own: `break` ends there
};

// Where what leaves a shell gets to.
struct Exits {
  State state;
  bool zero = false, nonzero = false;
};
class Evaluator {
 public:
  Evaluator(Store& store, syntax::Tree& tree, char* code, uint32_t code_capacity, uint8_t* visits, char* scratch, uint32_t scratch_capacity,
            Word* words, uint32_t word_capacity, const syntax::Options& options, const Host& host) noexcept
      : store_(store), tree_(tree), code_(code), code_capacity_(code_capacity), visits_(visits), scratch_(scratch),
        scratch_capacity_(scratch_capacity), words_(words), word_capacity_(word_capacity), options_(options), host_(host) {
    home_ = id("HOME");
    separators_ = id("IFS");
  }

  unsigned evaluate(string_view text, const Start& start) noexcept {
    State state = first_state(start);
    const Flow flow = run_text(text, state, false, {{0, static_cast<uint32_t>(text.size())}, true});
    at_exit(store_.join(flow.ok, flow.fail), nullptr);
    if (store_.full()) unresolved_ |= static_cast<unsigned>(Unresolved::limit);
    return unresolved_;
  }
  State first_state(const Start& start) noexcept {
    State state;
    state.live = true;
    if (!start.home.empty()) {
      store_.put(state, variable(home_), store_.one(id(start.home)));
      store_.put(state, key_of(Key::exported, home_), store_.one(kEmpty));
    }
    store_.put(state, key_of(Key::folder), start.folder.empty() ? store_.other : store_.one(id(start.folder)));
    store_.put(state, key_of(Key::exit_trap), store_.none);
    store_.put(state, key_of(Key::arguments), store_.one(kEmpty));
    store_.put(state, key_of(Key::errexit), store_.none);
    if (host_.judge != nullptr) store_.put(state, key_of(Key::arguments), store_.one(kOther, provenance::kEnvironment | provenance::kMayBeEmpty));
    return state;
  }

  // For hosts that judge. A text runs in the place of a call.
  struct Inner {
    string_view text;
    Origin origin;
    std::uint16_t via = 0;
    bool copy = true;                  // in a process of its own
    bool program = false;              // in a shell that is started: what is not exported is not there
    const Set* input = nullptr;
    bool has_arguments = false;
    TextId arguments = kEmpty, zero = kUnset;
    std::uint16_t argument_origin = 0;
    bool captured = false;
    uint32_t carrier = kNone, pipe_from = kNone;
  };
  Set run_inner(State& state, const Inner& inner) noexcept;
  Store& store() noexcept { return store_; }
  const syntax::Tree& tree() const noexcept { return tree_; }
  uint32_t inner_tail() const noexcept { return inner_tail_; }
  bool ended() const noexcept { return ended_; }  // the inner text ended the shell
  bool in_condition() const noexcept { return condition_; }
  const char* code_end() const noexcept { return code_ + code_size_; }
  const char* code_begin(const char* at) const noexcept {
    for (uint32_t k = source_count_, steps = 0; k-- > 0 && steps < kSources; ++steps)
      if (at >= code_ + sources_[k % kSources].start && at <= code_ + sources_[k % kSources].start + sources_[k % kSources].size) return code_ + sources_[k % kSources].start;
    return at;
  }
  // Whether the parameter that is expanded is the beginning of a path: $x/y
  bool is_followed_by_path() const noexcept {
    const uint32_t next = parameter_ == kNone ? kNone : tree_[parameter_].next;
    if (next == kNone || tree_[next].kind != Kind::literal) return false;
    const string_view rest = tree_.text(next);
    return rest.size() > 1 && rest[0] == '/' && (syntax::is_name_start(rest[1]) || rest[1] == '.');
  }
  Host exchange(const Host& host) noexcept {
    const Host before = host_;
    host_ = host;
    return before;
  }
  syntax::Options exchange(const syntax::Options& options) noexcept {
    const syntax::Options before = options_;
    options_ = options;
    return before;
  }
  Set written() const noexcept { return written_; }  // what a compound command printed
  // Where a part of the code stands in the text that was given.
  Origin origin_of(syntax::Span span) const noexcept;
  uint32_t carrier() const noexcept { return carrier_; }
  uint32_t pipe_from() const noexcept { return pipe_from_; }
  uint32_t tail() const noexcept { return tail_; }
  State* here() noexcept { return here_; }
  std::uint16_t via() const noexcept { return via_; }
  syntax::Span spot() const noexcept { return spot_; }
  bool is_captured(const State& state) noexcept {
    const Set set = store_.get(state, key_of(Key::output));
    return !(set.count == 1 && store_.values(set)->text == kUnset);
  }
  bool has_function(const State& state, TextId name) noexcept;

 private:
  TextId id(string_view text) noexcept { return store_.intern(text); }
  string_view text(TextId text_id) const noexcept { return store_.text(text_id); }
  static constexpr std::uint64_t variable(TextId name) noexcept { return key_of(Key::variable, name); }
  static bool is_known(string_view text) noexcept { return text.empty() || std::memchr(text.data(), kUnknownPart, text.size()) == nullptr; }
  void unresolved(Unresolved reason) noexcept {
    unresolved_ |= static_cast<unsigned>(reason);
    if (host_.judge != nullptr) host_.judge->unresolved(host_.self, reason, spot_);
  }
  bool judges() const noexcept { return host_.judge != nullptr; }
  State dead() const noexcept { return {}; }
  State cleared(const State& state) const noexcept {
    if (judges()) return state;  // what is not followed is said
    State all;
    all.live = state.live;
    all.cleared = true;
    return all;
  }

  // Texts, lists, pipelines, compounds, loops: flow.cpp
  Flow run_text(string_view source, const State& state, bool ignores, const Origin& origin) noexcept;
  void run_uncalled(uint32_t first, const State& state) noexcept;
  Flow run(uint32_t index, const State& given, bool ignores) noexcept;
  Flow evaluate_node(uint32_t index, const State& state, bool ignores) noexcept;
  Flow compound(uint32_t index, const State& given, bool ignores) noexcept;
  Flow compound_body(uint32_t index, const State& state, bool ignores) noexcept;
  Flow errexit(Flow flow, bool ignores) noexcept;
  void leave(const State& state, bool zero, bool nonzero) noexcept;
  State at_exit(const State& end, Exits* out) noexcept;
  Flow run_code(TextId code, const State& state, bool ignores, const Origin* origin = nullptr) noexcept;

  template <class Body>
  Flow in_copy(const State& state, State* end, Body&& body) noexcept;
  Flow subshell(uint32_t index, const State& state, bool ignores, State* end) noexcept {
    return in_copy(state, end, [&](const State& inner) { return run(index, inner, ignores); });
  }

  Flow pipeline(const Node& node, const State& state, bool ignores) noexcept;
  Flow loop(uint32_t condition, bool until, uint32_t body, const Set* item, const State& state, bool ignores) noexcept;
  Flow for_loop(const Node& node, const State& state, bool ignores) noexcept;
  TextId pattern_text(TextId pattern) noexcept;
  Flow case_clause(const Node& node, const State& state, bool ignores) noexcept;
  bool has_extended_glob(uint32_t word) const noexcept {
    for (uint32_t i = tree_[word].first_child; i != kNone; i = tree_[i].next)
      if (tree_[i].kind == Kind::extended_glob) return true;
    return false;
  }

  // Words and what they fall apart into: words.cpp
  // The state and the choices that words are expanded with.
  struct Hold {
    Hold(Evaluator& evaluator, State& state, Choices& choices) noexcept
        : evaluator_(evaluator), state_(evaluator.here_), choices_(evaluator.choices_), failed_(evaluator.failed_) {
      evaluator.here_ = &state;
      evaluator.choices_ = &choices;
      evaluator.failed_ = &failed;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      evaluator_.here_ = state_;
      evaluator_.choices_ = choices_;
      evaluator_.failed_ = failed_;
    }
    bool failed = false;  // ${x:?} ended it
    Evaluator& evaluator_;
    State* state_;
    Choices* choices_;
    bool* failed_;
  };

  // What is in here may not happen.
  struct Condition {
    explicit Condition(Evaluator& evaluator) noexcept : evaluator_(evaluator), via_(evaluator.via_) { evaluator.via_ |= via::kConditional; }
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;
    ~Condition() { evaluator_.via_ = via_; }
    Evaluator& evaluator_;
    std::uint16_t via_;
  };

  // Puts one word's texts together and lets it fall apart into fields.
  struct Builder {
    explicit Builder(Evaluator& evaluator) noexcept : evaluator_(evaluator), start_(evaluator.scratch_size_) {}
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;
    ~Builder() { evaluator_.scratch_size_ = start_; }

    void add(string_view text) noexcept {
      for (const char c : text) evaluator_.push_byte(c);
      some = some || !text.empty();
    }
    // As part of a pattern: quoted bytes stand for themselves.
    void add_quoted(string_view text) noexcept {
      if (!pattern) return add(text);
      for (const char c : text) {
        if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') evaluator_.push_byte('\\');
        evaluator_.push_byte(c);
      }
      some = true;
    }
    // Text that falls apart at separators.
    void add_split(string_view text) noexcept {
      const string_view blanks = evaluator_.separators();
      for (const char c : text) {
        const bool separates = blanks.find(c) != string_view::npos;
        if (!separates) {
          evaluator_.push_byte(c);
          some = true;
          if (c == kUnknownPart) many = true;
          if (c == '*' || c == '?' || c == '[') glob = true;
        } else if (c == ' ' || c == '\t' || c == '\n') {
          end_field();
        } else {
          some = true;
          end_field();
        }
      }
    }
    void end_field() noexcept {
      if (some) evaluator_.push_word({evaluator_.id(text()), origin, many, glob, quoted, evaluator_.word_});
      evaluator_.scratch_size_ = start_;
      some = many = glob = false;
    }
    void finish(bool fields) noexcept {
      if (fields) end_field();
    }
    string_view text() const noexcept { return {evaluator_.scratch_ + start_, evaluator_.scratch_size_ - start_}; }

    Evaluator& evaluator_;
    uint32_t start_;
    std::uint16_t origin = 0;
    bool some = false, many = false, glob = false, pattern = false, quoted = false;
  };

  void push_byte(char c) noexcept;
  void push_word(const Word& word) noexcept;
  string_view separators() noexcept {
    const Value value = choose(store_.get(*here_, variable(separators_)), separators_);
    return value.text > kOther && is_known(text(value.text)) ? text(value.text) : string_view(" \t\n");
  }

  Value choose(Set set, uint32_t key) noexcept;
  bool perhaps() noexcept { return choices_->choose(0, 2) == 0 || choices_->wide; }

  void expand(uint32_t word, bool split) noexcept;

  static constexpr uint32_t kParts = 96;
  static constexpr uint32_t kMade = 0x80000000u;  // a part that is a text, not a node

  void expand_braces(const uint32_t* parts, uint32_t count, uint32_t* left, bool split) noexcept;
  static bool is_home(string_view written) noexcept { return written == "~" || (written.size() > 1 && written[0] == '~' && written[1] == '/'); }
  template <class Sink>
  void sequence(uint32_t open, uint32_t close, Sink&& sink) noexcept;
  static bool to_number(string_view written, long long* number) noexcept;
  static string_view number_text(long long number, char (&out)[24]) noexcept;
  TextId one_text(uint32_t word, bool pattern, std::uint16_t* origin = nullptr) noexcept;
  void add_part(Builder& builder, uint32_t index, bool quoted, bool split, bool operand = false) noexcept;
  void add_value(Builder& builder, Value value, bool quoted, bool split) noexcept;

  // $x, ${x%y}, lists: parameters.cpp
  static bool is_all(string_view index) noexcept { return index == "@" || index == "*"; }
  bool gives_many(uint32_t index) const noexcept;
  void add_list(Builder& builder, Value list, bool quoted, bool split, bool fields) noexcept;
  void add_arguments(Builder& builder, bool quoted, bool split) noexcept {
    add_list(builder, choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1), quoted, split, true);
  }
  static string_view element(string_view list, std::size_t at) noexcept;
  static long long elements(string_view list) noexcept {
    long long count = 0;
    for (const char c : list) count += c == kBetween;
    return count;
  }

  Value parameter(string_view name, uint32_t index) noexcept;
  TextId referred(const State& state, TextId name) const noexcept;
  void add_parameter(Builder& builder, uint32_t at, bool quoted, bool split) noexcept;
  void run_operands(uint32_t operand) noexcept {
    for (; operand != kNone; operand = tree_[operand].next) one_text(operand, false);
  }
  void add_operand(Builder& builder, uint32_t operand, bool quoted, bool split) noexcept {
    if (operand == kNone) return;
    if (quoted) builder.some = true;
    for (uint32_t i = tree_[operand].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, quoted, split, true);
  }

  TextId cut(TextId value, TextId pattern, Edit edit, uint32_t operand) noexcept;
  TextId replaced(TextId value, TextId pattern, TextId replacement, Edit edit, uint32_t operand) noexcept;

  // $( ), arithmetic, tests: substitutions.cpp
  // What is printed before anything is.
  Set nothing() noexcept {
    const Value value{kEmpty, 0, judges() ? kNothing : std::uint8_t{0}};
    return store_.set_of(&value, 1);
  }
  void append_output(State& state, Set texts) noexcept;
  Set output_of(uint32_t index, uint32_t list, string_view code) noexcept;
  bool reads_file(uint32_t list) const noexcept;
  void arithmetic_effects(uint32_t index, State& state) noexcept;
  void arithmetic_text(string_view expression, State& state, int depth) noexcept;
  void run_subscripts(string_view held, State& state) noexcept;
  void test_effects(uint32_t index, State& state) noexcept;

  // Redirections, assignments, calls: simple.cpp
  bool leaves_output(uint32_t index) const noexcept;
  void redirect(uint32_t index, Target* target, Set* input) noexcept;
  TextId without_tabs(TextId given) noexcept;

  static constexpr uint32_t kTargets = 16, kNames = 16;

  Flow simple(uint32_t index, const State& state, bool ignores) noexcept;
  bool may_not_open(const Node& node) const noexcept;
  void declared_argument(uint32_t index) noexcept;
  TextId assign(uint32_t index, State& state, bool exported) noexcept;

  struct Command {
    uint32_t first, count;
    const Target* targets;
    uint32_t target_count;
    syntax::Span span;
    const TextId* names;  // of assignments before it
    uint32_t name_count;
  };

  string_view word_text(uint32_t index) const noexcept { return text(words_[index].text); }

  Flow dispatch_with(const Command& command, const State& before, const State& inside, bool ignores) noexcept;
  Flow dispatch(const Command& command, const State& state, bool ignores, bool functions) noexcept;
  Answer report(State& state, const Word* words, uint32_t count, const Target* targets, uint32_t target_count, syntax::Span span, bool function = false) noexcept;
  Flow program(const Command& command, const State& state) noexcept;
  Flow carried(const Answer& answer, const Command& command, const State& state) noexcept;
  TextId with_arguments(TextId code, const Command& command) noexcept;
  TextId joined(uint32_t from, uint32_t to) noexcept;
  TextId joined_by_blanks(uint32_t from, uint32_t to) noexcept;
  Flow call_function(uint32_t body, const Command& command, const State& state, bool ignores) noexcept;

  // The language's own commands: builtins.cpp
  Flow both(const State& state) const noexcept { return {state, state}; }

  Flow builtin(const syntax::BuiltinRow& row, const Command& command, const State& given, bool ignores, const Answer& answer) noexcept;
  void set_name(State& state, string_view name, Value value) noexcept;
  TextId with_newline(TextId given) noexcept;
  Set echoed(uint32_t first, uint32_t end) noexcept;
  Set formatted(uint32_t first, uint32_t end) noexcept;
  Flow change_folder(const State& state, uint32_t first, uint32_t end) noexcept;
  Set in_paths(Set found, Set paths, const Word& word) noexcept;
  TextId moved(TextId from, TextId to) noexcept;
  Flow jump(bool breaks, const State& state, uint32_t first, uint32_t end) noexcept;
  Flow set_options(State state, uint32_t first, uint32_t end) noexcept;
  Flow declare(Builtin which, State state, uint32_t first, uint32_t end) noexcept;

  struct Locals {
    TextId names[kLocals];
    uint32_t count = 0;
    bool full = false;
    const TextId* given = nullptr;  // names assigned before the call
    uint32_t given_count = 0;
  };
  void make_local(State& state, TextId name) noexcept;
  Flow test(const State& state, uint32_t first, uint32_t end, bool bracket) noexcept;

  struct Printed {
    uint32_t node = kNone, size = 0;
    State state;
    Set set;
    bool ok = false, fail = false;
  };
  static constexpr uint32_t kPrinted = 8;
  struct Source {
    uint32_t start = 0, size = 0;
    Origin origin;
  };
  static constexpr uint32_t kSources = 128;

  Store& store_;
  syntax::Tree& tree_;
  char* const code_;
  const uint32_t code_capacity_;
  uint32_t code_size_ = 0;
  uint8_t* const visits_;
  char* const scratch_;
  const uint32_t scratch_capacity_;
  uint32_t scratch_size_ = 0;
  Word* const words_;
  const uint32_t word_capacity_;
  uint32_t word_count_ = 0;
  syntax::Options options_;
  Host host_;
  TextId home_ = kUnset, separators_ = kUnset, item_name_ = kUnset;
  State* here_ = nullptr;
  Choices* choices_ = nullptr;
  bool* failed_ = nullptr;
  State discarded_;  // where an expansion was wrong
  uint32_t root_ = kNone;
  Exits own_exits_;
  Exits* exits_ = &own_exits_;
  Loop* loops_ = nullptr;
  State* returned_ = nullptr;
  Locals* locals_ = nullptr;
  Printed printed_[kPrinted];
  uint32_t next_printed_ = 0;
  bool substituted_ok_ = true, substituted_fail_ = false;
  bool exports_all_ = false;    // set -a was somewhere
  bool exports_functions_ = false;
  bool last_in_shell_ = false;  // the last stage of a pipeline may run in the shell itself
  uint32_t more_visits_ = kMoreVisits;
  int level_ = 0, calls_ = 0, texts_ = 0;
  std::uint16_t via_ = 0;
  unsigned unresolved_ = 0;
  // For a host that judges.
  Source sources_[kSources];
  uint32_t source_count_ = 0;
  uint32_t word_ = kNone;          // that is expanded
  static constexpr uint32_t kRunning = 16;
  TextId running_[kRunning];       // functions that are being called
  uint32_t running_count_ = 0;
  uint32_t parameter_ = kNone;     // that is expanded
  bool condition_ = false;         // between if or while and what depends on it
  Set written_;
  uint32_t inner_tail_ = kNone;
  bool ended_ = false;
  bool first_word_ = false;        // it is a command's first
  syntax::Span spot_;              // of the command that is run
  uint32_t carrier_ = kNone, pipe_from_ = kNone, head_ = kNone, tail_ = kNone;  // marks of the host's commands
};

// Runs in a copy; afterwards the shell is as before, but for what was printed.
template <class Body>
Flow Evaluator::in_copy(const State& state, State* end, Body&& body) noexcept {
  Exits own, left;
  Exits* const outer = exits_;
  Loop barrier;
  barrier.barrier = true;
  barrier.outer = loops_;
  Loop* const loops = loops_;
  State* const returned = returned_;
  State back;
  exits_ = &own;
  loops_ = &barrier;
  returned_ = returned == nullptr ? nullptr : &back;
  const State discarded = discarded_;
  discarded_ = {};
  State inner = state;
  store_.put(inner, key_of(Key::exit_trap), store_.none);
  const Flow flow = body(inner);
  leave(barrier.broken, true, true);
  leave(barrier.continued, true, true);
  leave(back, true, true);
  leave(discarded_, false, true);
  discarded_ = discarded;
  *end = at_exit(store_.join(flow.ok, flow.fail), &left);
  exits_ = outer;
  loops_ = loops;
  returned_ = returned;
  State after = state;
  if (end->live) {
    if (is_captured(state)) store_.put(after, key_of(Key::output), store_.get(*end, key_of(Key::output)));
  }
  return {flow.ok.live || left.zero ? after : State{}, flow.fail.live || left.nonzero ? after : State{}};
}

// An evaluator with all that it needs, in a block of memory.
class Machine {
 public:
  // Null where the block is too small. Nothing needs to be given back.
  static Machine* make(void* memory, std::size_t bytes, const syntax::Options& options, const Host& host) noexcept {
    constexpr std::size_t own = (sizeof(Machine) + 63) / 64 * 64;
    if (bytes < own + 4096) return nullptr;
    return new (memory) Machine(static_cast<unsigned char*>(memory) + own, (bytes - own) / 512 * 16, options, host);
  }
  Evaluator& evaluator() noexcept { return evaluator_; }

 private:
  // Of 32 parts the store has twelve, words two, nodes eight and their counters two, code six, what is built two.
  Machine(unsigned char* at, std::size_t part, const syntax::Options& options, const Host& host) noexcept
      : store_(at, 12 * part), tree_(at + 14 * part, 8 * part, reinterpret_cast<char*>(at + 24 * part)),
        evaluator_(store_, tree_, reinterpret_cast<char*>(at + 24 * part), static_cast<uint32_t>(6 * part), at + 22 * part, reinterpret_cast<char*>(at + 30 * part),
                   static_cast<uint32_t>(2 * part), reinterpret_cast<Word*>(at + 12 * part), static_cast<uint32_t>(2 * part / sizeof(Word)), options, host) {}

  Store store_;
  syntax::Tree tree_;
  Evaluator evaluator_;
};

}  // namespace tipstaff::eval
