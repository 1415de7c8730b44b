// Runs a tree of shell syntax in every way that may happen: states fork where a status decides and join behind.
#include <cstring>

#include "tipstaff/eval/call.hpp"
#include "tipstaff/eval/patterns.hpp"
#include "tipstaff/syntax/shell/builtins.hpp"

namespace tipstaff::eval {
namespace {

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
            Word* words, uint32_t word_capacity, const Start& start, const Host& host) noexcept
      : store_(store), tree_(tree), code_(code), code_capacity_(code_capacity), visits_(visits), scratch_(scratch),
        scratch_capacity_(scratch_capacity), words_(words), word_capacity_(word_capacity), options_(start.options), host_(host) {
    home_ = id("HOME");
    separators_ = id("IFS");
  }

  unsigned evaluate(string_view text, const Start& start) noexcept {
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
    const Flow flow = run_text(text, state, false);
    at_exit(store_.join(flow.ok, flow.fail), nullptr);
    if (store_.full()) unresolved_ |= static_cast<unsigned>(Unresolved::limit);
    return unresolved_;
  }

 private:
  TextId id(string_view text) noexcept { return store_.intern(text); }
  string_view text(TextId text_id) const noexcept { return store_.text(text_id); }
  static constexpr std::uint64_t variable(TextId name) noexcept { return key_of(Key::variable, name); }
  static bool is_known(string_view text) noexcept { return text.empty() || std::memchr(text.data(), kUnknownPart, text.size()) == nullptr; }
  void unresolved(Unresolved reason) noexcept { unresolved_ |= static_cast<unsigned>(reason); }
  State dead() const noexcept { return {}; }
  State cleared(const State& state) const noexcept {
    State all;
    all.live = state.live;
    all.cleared = true;
    return all;
  }

  // ---- texts that are read while running

  Flow run_text(string_view source, const State& state, bool ignores) noexcept {
    if (source.size() > code_capacity_ - code_size_ || texts_ == kTexts) {
      unresolved(Unresolved::limit);
      return {cleared(state), cleared(state)};
    }
    const uint32_t start = code_size_;
    if (!source.empty()) std::memcpy(code_ + start, source.data(), source.size());
    code_size_ += static_cast<uint32_t>(source.size());
    const uint32_t first = tree_.size();
    const syntax::Parsed parsed = syntax::parse_shell(tree_, start, static_cast<uint32_t>(source.size()), options_);
    std::memset(visits_ + first, 0, tree_.size() - first);
    if (parsed.status == syntax::Status::depth) unresolved(Unresolved::depth);
    else if (parsed.status == syntax::Status::full) unresolved(Unresolved::limit);
    else if (parsed.status != syntax::Status::complete) unresolved(Unresolved::syntax);
    if (parsed.root == kNone) return {state, state};
    ++texts_;
    if (texts_ == 1) root_ = parsed.root;
    Flow flow = run(parsed.root, state, ignores);
    --texts_;
    if (parsed.status != syntax::Status::complete) flow.fail = store_.join(flow.fail, flow.ok);
    return flow;
  }

  // ---- commands

  Flow run(uint32_t index, const State& given, bool ignores) noexcept {
    if (!given.live) return {};
    State state = given;
    if (visits_[index] == kDone) return {cleared(state), cleared(state)};
    if (level_ >= kDepth || store_.full()) {
      unresolved(store_.full() ? Unresolved::limit : Unresolved::depth);
      return {cleared(state), cleared(state)};
    }
    if (visits_[index] >= kVisits) {
      if (more_visits_ == 0) {
        // Once for every state that can get here, and never again.
        visits_[index] = kDone - 1;
        unresolved(Unresolved::limit);
        state = cleared(state);
      } else if (visits_[index] < kDone - 1) {
        --more_visits_;
        if (visits_[index] < kDone - 2) ++visits_[index];
      }
    } else {
      ++visits_[index];
    }
    ++level_;
    const Flow flow = evaluate_node(index, state, ignores);
    --level_;
    if (visits_[index] == kDone - 1) {
      visits_[index] = kDone;
      return {cleared(state), cleared(state)};
    }
    return flow;
  }

  Flow evaluate_node(uint32_t index, const State& state, bool ignores) noexcept {
    const Node& node = tree_[index];
    switch (node.kind) {
      case Kind::list: {
        Flow flow{state, {}};
        uint32_t last = kNone;
        for (uint32_t i = node.first_child; i != kNone; last = i, i = tree_[i].next) {
          // A wrong expansion drops the rest of the line, and the shell reads on.
          if (index == root_ && discarded_.live && last != kNone &&
              tree_.text({tree_[last].span.end, tree_[i].span.start}).find('\n') != string_view::npos) {
            flow.fail = store_.join(flow.fail, discarded_);
            discarded_ = {};
          }
          flow = run(i, store_.join(flow.ok, flow.fail), ignores);
        }
        return flow;
      }
      case Kind::background: {
        const std::uint16_t before = via_;
        via_ |= via::kBackground;
        State own = state;
        State end;
        subshell(node.first_child, state, false, &end);
        via_ = before;
        if (is_captured(own)) append_output(own, store_.other);
        return {own, {}};
      }
      case Kind::and_if:
      case Kind::or_if: {
        const Flow left = run(node.first_child, state, true);
        const uint32_t right = tree_[node.first_child].next;
        if (node.kind == Kind::and_if) {
          const Flow both = run(right, left.ok, ignores);
          return {both.ok, store_.join(left.fail, both.fail)};
        }
        const Flow both = run(right, left.fail, ignores);
        return {store_.join(left.ok, both.ok), both.fail};
      }
      case Kind::negated: {
        if (node.first_child == kNone) return {{}, state};
        const Flow flow = run(node.first_child, state, true);
        return {flow.fail, flow.ok};
      }
      case Kind::timed: return node.first_child == kNone ? Flow{state, {}} : run(node.first_child, state, ignores);
      case Kind::pipeline: return pipeline(node, state, ignores);
      case Kind::function: {
        State defined = state;
        store_.put(defined, key_of(Key::function, id(tree_.text(node.first_child))), store_.one(3 + tree_[node.first_child].next));
        return {defined, {}};
      }
      case Kind::coprocess: {
        const uint32_t body = node.has(flag::kNamed) ? tree_[node.first_child].next : node.first_child;
        State end;
        subshell(body, state, false, &end);
        return {state, {}};
      }
      case Kind::simple: return simple(index, state, ignores);
      default: return compound(index, state, ignores);
    }
  }

  // A compound command with its redirections.
  Flow compound(uint32_t index, const State& given, bool ignores) noexcept {
    State state = given;
    bool captured = true, has_input = false;
    for (uint32_t i = tree_[index].first_child; i != kNone; i = tree_[i].next) {
      if (tree_[i].kind != Kind::redirection) continue;
      if (leaves_output(i)) captured = false;
      Choices choices;
      const Hold hold(*this, state, choices);
      Set input;
      Target target{};
      redirect(i, &target, &input);
      report_targets(state, &target, 1, tree_[i].span);
      if (input.count != 0) {
        store_.put(state, key_of(Key::input), input);
        has_input = true;
      }
    }
    const Set printed = store_.get(state, key_of(Key::output)), fed = store_.get(given, key_of(Key::input));
    Flow flow = compound_body(index, state, ignores);
    for (State* end : {&flow.ok, &flow.fail}) {
      if (!captured) store_.put(*end, key_of(Key::output), printed);
      if (has_input) store_.put(*end, key_of(Key::input), fed);
    }
    return flow;
  }

  Flow compound_body(uint32_t index, const State& state, bool ignores) noexcept {
    const Node& node = tree_[index];
    switch (node.kind) {
      case Kind::group: return run(node.first_child, state, ignores);
      case Kind::subshell: {
        State end;
        return errexit(subshell(node.first_child, state, ignores, &end), ignores);
      }
      case Kind::if_clause: {
        Flow out;
        State rest = state;
        uint32_t i = node.first_child;
        while (i != kNone && tree_[i].kind == Kind::list) {
          if (tree_[i].has(flag::kElse)) {
            const Flow body = run(i, rest, ignores);
            return {store_.join(out.ok, body.ok), store_.join(out.fail, body.fail)};
          }
          const Flow condition = run(i, rest, true);
          i = tree_[i].next;
          const Flow body = run(i, condition.ok, ignores);
          out = {store_.join(out.ok, body.ok), store_.join(out.fail, body.fail)};
          rest = condition.fail;
          i = tree_[i].next;
        }
        out.ok = store_.join(out.ok, rest);
        return out;
      }
      case Kind::while_loop:
      case Kind::until_loop: {
        const uint32_t body = tree_[node.first_child].next;
        return loop(node.first_child, node.kind == Kind::until_loop, body, nullptr, state, ignores);
      }
      case Kind::counting_loop: {
        uint32_t part = node.first_child;
        State set = state;
        arithmetic_effects(part, set);
        part = tree_[part].next;
        const uint32_t step = tree_[part].next;
        arithmetic_effects(part, set);
        arithmetic_effects(step, set);
        return loop(kNone, false, tree_[step].next, nullptr, set, ignores);
      }
      case Kind::for_loop:
      case Kind::select_loop: return for_loop(node, state, ignores);
      case Kind::case_clause: return case_clause(node, state, ignores);
      case Kind::arithmetic: {
        State set = state;
        arithmetic_effects(index, set);
        return errexit({set, set}, ignores);
      }
      case Kind::test: {
        State set = state;
        test_effects(node.first_child, set);
        return errexit({set, set}, ignores);
      }
      default: return {state, state};
    }
  }

  Flow errexit(Flow flow, bool ignores) noexcept {
    if (!flow.fail.live || ignores) return flow;
    const Set set = store_.get(flow.fail, key_of(Key::errexit));
    bool on = false, off = false;
    for (uint32_t i = 0; i < set.count; ++i) {
      on = on || store_.values(set)[i].text != kUnset;
      off = off || store_.values(set)[i].text != kEmpty;
    }
    if (!on) return flow;
    leave(flow.fail, false, true);
    if (!off) flow.fail = {};
    return flow;
  }
  void leave(const State& state, bool zero, bool nonzero) noexcept {
    if (!state.live) return;
    exits_->state = store_.join(exits_->state, state);
    exits_->zero = exits_->zero || zero;
    exits_->nonzero = exits_->nonzero || nonzero;
  }

  // What leaves the shell runs its trap.
  State at_exit(const State& end, Exits* out) noexcept {
    State all = store_.join(end, exits_->state);
    if (out != nullptr) *out = *exits_;
    *exits_ = {};
    if (!all.live) return all;
    const Set traps = store_.get(all, key_of(Key::exit_trap));
    State after;
    const std::uint16_t before = via_;
    via_ |= via::kTrap;
    for (uint32_t i = 0; i < traps.count; ++i) {
      const TextId code = store_.values(traps)[i].text;
      State inner = all;
      store_.put(inner, key_of(Key::exit_trap), store_.none);
      if (code == kUnset || code == kEmpty) {
        after = store_.join(after, inner);
        continue;
      }
      const Flow flow = run_code(code, inner, false);
      after = store_.join(after, store_.join(flow.ok, flow.fail));
    }
    via_ = before;
    after = store_.join(after, exits_->state);
    *exits_ = {};
    return after;
  }

  Flow run_code(TextId code, const State& state, bool ignores) noexcept {
    if (!is_known(text(code))) {
      unresolved(Unresolved::code);
      return {cleared(state), cleared(state)};
    }
    return run_text(text(code), state, ignores);
  }

  // Runs in a copy; afterwards the shell is as before, but for what was printed.
  template <class Body>
  Flow in_copy(const State& state, State* end, Body&& body) noexcept {
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
  Flow subshell(uint32_t index, const State& state, bool ignores, State* end) noexcept {
    return in_copy(state, end, [&](const State& inner) { return run(index, inner, ignores); });
  }

  Flow pipeline(const Node& node, const State& state, bool ignores) noexcept {
    Set input = store_.get(state, key_of(Key::input));
    for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
      State stage = state;
      store_.put(stage, key_of(Key::input), input);
      State end;
      if (tree_[i].next == kNone) {
        Flow flow = subshell(i, stage, ignores, &end);
        if (last_in_shell_ || options_.shell == syntax::Shell::zsh) {
          const Flow here = run(i, stage, ignores);
          flow = {store_.join(flow.ok, here.ok), store_.join(flow.fail, here.fail)};
        }
        for (State* after : {&flow.ok, &flow.fail})
          if (after->live) store_.put(*after, key_of(Key::input), store_.get(state, key_of(Key::input)));
        return errexit(flow, ignores);
      }
      store_.put(stage, key_of(Key::output), store_.one(kEmpty));
      subshell(i, stage, ignores, &end);
      input = end.live ? store_.get(end, key_of(Key::output)) : store_.one(kEmpty);
    }
    return {state, state};
  }

  // ---- loops

  // To a fixpoint; `item` gives the variable of a `for` its value at the head.
  Flow loop(uint32_t condition, bool until, uint32_t body, const Set* item, const State& state, bool ignores) noexcept {
    Loop own;
    own.outer = loops_;
    Loop* const outer = loops_;
    State head = state, done;
    for (int round = 0; round < 8; ++round) {
      loops_ = &own;
      Flow tested{head, head};
      if (condition != kNone) {
        tested = run(condition, head, true);
        // `continue` there may end the loop.
        done = store_.join(done, own.continued);
        if (until) tested = {tested.fail, tested.ok};
      }
      done = store_.join(done, tested.fail);
      State turn = tested.ok;
      if (item != nullptr && turn.live) store_.put(turn, variable(item_name_), *item);
      const TextId name = item_name_;
      const Flow flow = run(body, turn, ignores);
      item_name_ = name;
      loops_ = outer;
      State next = store_.join(head, store_.join(store_.join(flow.ok, flow.fail), own.continued));
      own.continued = {};
      if (store_.same(next, head)) break;
      head = round < 2 ? next : store_.widened(head, next);
      if (round == 6) head = cleared(head);
    }
    const State after = store_.join(done, own.broken);
    return {after, after};
  }

  Flow for_loop(const Node& node, const State& state, bool ignores) noexcept {
    const TextId name = id(tree_.text(node.first_child));
    uint32_t body = tree_[node.first_child].next;
    while (body != kNone && tree_[body].kind == Kind::word) body = tree_[body].next;
    if (body == kNone) return {state, state};
    Flow out;
    Choices choices;
    do {
      State cur = state;
      const uint32_t first = word_count_;
      bool exact = node.kind == Kind::for_loop;
      {
        const Hold hold(*this, cur, choices);
        if (node.has(flag::kIn)) {
          for (uint32_t i = tree_[node.first_child].next; tree_[i].kind == Kind::word; i = tree_[i].next) expand(i, true);
        } else {
          Builder builder(*this);
          add_arguments(builder, true, true);
          builder.finish(true);
        }
        if (hold.failed) {
          leave(cur, false, true);
          word_count_ = first;
          continue;
        }
      }
      const uint32_t count = word_count_ - first;
      Value items[kValues];
      uint32_t kept = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const Word& word = words_[first + i];
        exact = exact && !word.many && !word.glob;
        if (kept < kValues) items[kept++] = {word.text, static_cast<uint8_t>(word.origin | provenance::kItem)};
        if (word.many || word.glob) items[kept - 1].text = word.glob && !word.many ? pattern_text(word.text) : word.text;
      }
      if (exact && count <= kValues) {
        Loop own;
        own.outer = loops_;
        Flow flow{cur, {}};
        for (uint32_t i = 0; i < count; ++i) {
          State turn = store_.join(flow.ok, flow.fail);
          if (!turn.live) break;
          store_.put(turn, variable(name), store_.set_of(&items[i], 1));
          Loop* const outer = loops_;
          loops_ = &own;
          flow = run(body, turn, ignores);
          loops_ = outer;
          flow.ok = store_.join(flow.ok, own.continued);
          own.continued = {};
        }
        out = {store_.join(out.ok, store_.join(flow.ok, own.broken)), store_.join(out.fail, flow.fail)};
      } else {
        if (count > kValues || node.kind == Kind::select_loop) items[0] = {kOther, provenance::kItem}, kept = 1;
        const Set item = store_.set_of(items, kept);
        item_name_ = name;
        const Flow flow = loop(kNone, false, body, &item, cur, ignores);
        out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
      }
      word_count_ = first;
    } while (choices.next());
    return out;
  }
  // What a pattern may stand for: itself where nothing matches, or other names.
  TextId pattern_text(TextId pattern) noexcept {
    const string_view written = text(pattern);
    const std::size_t mark = scratch_size_;
    for (const char c : written) push_byte(c == '*' || c == '?' || c == '[' ? kUnknownPart : c);
    const TextId made = id({scratch_ + mark, scratch_size_ - mark});
    scratch_size_ = static_cast<uint32_t>(mark);
    return made;
  }

  Flow case_clause(const Node& node, const State& state, bool ignores) noexcept {
    constexpr uint32_t kItems = 64;
    bool may[kItems] = {};
    bool none_sure = false;
    State cur = state;
    Choices choices;
    do {
      const Hold hold(*this, cur, choices);
      const TextId subject = one_text(node.first_child, false);
      bool open = true;
      uint32_t n = 0;
      for (uint32_t item = tree_[node.first_child].next; item != kNone && tree_[item].kind == Kind::case_item && open; item = tree_[item].next, ++n) {
        for (uint32_t i = tree_[item].first_child; i != kNone && tree_[i].kind == Kind::word; i = tree_[i].next) {
          if (has_extended_glob(i)) {
            if (n < kItems) may[n] = true;
            continue;
          }
          const Match match = choices.wide ? Match::perhaps : matches(text(one_text(i, true)), text(subject));
          if (match == Match::no) continue;
          if (n < kItems) may[n] = true;
          if (match == Match::yes && !tree_[item].has(flag::kTestsOn)) {
            open = false;
            break;
          }
        }
      }
      none_sure = none_sure || open;
    } while (choices.next());
    Flow out{none_sure ? cur : State{}, {}};
    Flow fallen;
    uint32_t n = 0;
    for (uint32_t item = tree_[node.first_child].next; item != kNone && tree_[item].kind == Kind::case_item; item = tree_[item].next, ++n) {
      State from = store_.join(fallen.ok, fallen.fail);
      if (n >= kItems || may[n]) from = store_.join(from, cur);
      fallen = {};
      if (!from.live) continue;
      uint32_t body = tree_[item].first_child;
      while (tree_[body].kind == Kind::word) body = tree_[body].next;
      const Flow flow = run(body, from, ignores);
      if (tree_[item].has(flag::kFallsOn)) fallen = flow;
      // After ;;& the later items are tried in the state that is there then.
      if (tree_[item].has(flag::kTestsOn)) cur = store_.join(cur, store_.join(flow.ok, flow.fail));
      out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
    }
    return {store_.join(out.ok, fallen.ok), store_.join(out.fail, fallen.fail)};
  }
  bool has_extended_glob(uint32_t word) const noexcept {
    for (uint32_t i = tree_[word].first_child; i != kNone; i = tree_[i].next)
      if (tree_[i].kind == Kind::extended_glob) return true;
    return false;
  }

  // ---- words

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
      if (some) evaluator_.push_word({evaluator_.id(text()), origin, many, glob});
      evaluator_.scratch_size_ = start_;
      some = many = glob = false;
    }
    void finish(bool fields) noexcept {
      if (fields) end_field();
    }
    string_view text() const noexcept { return {evaluator_.scratch_ + start_, evaluator_.scratch_size_ - start_}; }

    Evaluator& evaluator_;
    uint32_t start_;
    uint8_t origin = 0;
    bool some = false, many = false, glob = false, pattern = false;
  };

  void push_byte(char c) noexcept {
    if (scratch_size_ == scratch_capacity_) {
      unresolved(Unresolved::limit);
      return;
    }
    scratch_[scratch_size_++] = c;
  }
  void push_word(const Word& word) noexcept {
    if (word_count_ == word_capacity_) {
      unresolved(Unresolved::limit);
      return;
    }
    words_[word_count_++] = word;
  }
  string_view separators() noexcept {
    const Value value = choose(store_.get(*here_, variable(separators_)), separators_);
    return value.text > kOther && is_known(text(value.text)) ? text(value.text) : string_view(" \t\n");
  }

  Value choose(Set set, uint32_t key) noexcept {
    if (set.count == 0) return {kUnset, 0};
    const uint32_t at = choices_->choose(key, set.count);
    if (choices_->wide && set.count > 1) return {kOther, provenance::kLimit};
    return store_.values(set)[at];
  }
  bool perhaps() noexcept { return choices_->choose(0, 2) == 0 || choices_->wide; }

  void expand(uint32_t word, bool split) noexcept {
    uint32_t parts[kParts], count = 0;
    bool braces = false;
    for (uint32_t i = tree_[word].first_child; i != kNone; i = tree_[i].next) {
      if (count == kParts) {
        unresolved(Unresolved::limit);
        break;
      }
      braces = braces || tree_[i].kind == Kind::brace_open;
      parts[count++] = i;
    }
    if (braces && split) {
      uint32_t left = 256;
      expand_braces(parts, count, &left, true);
      return;
    }
    Builder builder(*this);
    for (uint32_t i = 0; i < count; ++i) add_part(builder, parts[i], false, split);
    builder.finish(true);
  }

  static constexpr uint32_t kParts = 96;
  static constexpr uint32_t kMade = 0x80000000u;  // a part that is a text, not a node

  void expand_braces(const uint32_t* parts, uint32_t count, uint32_t* left, bool split) noexcept {
    uint32_t open = 0;
    while (open < count && ((parts[open] & kMade) != 0 || tree_[parts[open]].kind != Kind::brace_open)) ++open;
    if (open == count || level_ >= kDepth) {
      if (*left == 0) return unresolved(Unresolved::limit);
      --*left;
      Builder builder(*this);
      for (uint32_t i = 0; i < count; ++i) {
        if ((parts[i] & kMade) != 0) {
          builder.add(text(parts[i] & ~kMade));
        } else if (i == 0 && tree_[parts[i]].kind == Kind::literal && is_home(tree_.text(parts[i]))) {
          const Value home = choose(store_.get(*here_, variable(home_)), home_);
          builder.add_quoted(home.text == kUnset ? string_view(&kUnknownPart, 1) : text(home.text));
          builder.add(tree_.text(parts[i]).substr(1));
        } else {
          add_part(builder, parts[i], false, split);
        }
      }
      if (!split) builder.many = builder.glob = false;
      builder.finish(true);
      return;
    }
    ++level_;
    uint32_t made[kParts];
    for (uint32_t i = 0; i < open; ++i) made[i] = parts[i];
    const auto with = [&](uint32_t from, uint32_t to, uint32_t close) {
      uint32_t n = open;
      for (uint32_t i = from; i < to && n < kParts; ++i) made[n++] = parts[i];
      for (uint32_t i = close + 1; i < count && n < kParts; ++i) made[n++] = parts[i];
      expand_braces(made, n, left, split);
    };
    uint32_t depth = 0, from = open + 1, close = open + 1;
    for (; close < count; ++close) {
      if ((parts[close] & kMade) != 0) continue;
      const Kind kind = tree_[parts[close]].kind;
      if (kind == Kind::brace_open) ++depth;
      if (kind == Kind::brace_close && depth-- == 0) break;
    }
    if (close < count && tree_[parts[open]].has(flag::kSequence)) {
      sequence(parts[open], parts[close], [&](TextId item) {
        uint32_t n = open;
        made[n++] = kMade | item;
        for (uint32_t i = close + 1; i < count && n < kParts; ++i) made[n++] = parts[i];
        if (*left != 0) expand_braces(made, n, left, split);
      });
    } else if (close < count) {
      depth = 0;
      for (uint32_t i = open + 1; i <= close; ++i) {
        if ((parts[i] & kMade) != 0) continue;
        const Kind kind = tree_[parts[i]].kind;
        if (i < close && kind == Kind::brace_open) ++depth;
        if (i < close && kind == Kind::brace_close) --depth;
        if (i == close || (kind == Kind::brace_comma && depth == 0)) {
          with(from, i, close);
          from = i + 1;
        }
      }
    }
    --level_;
  }
  static bool is_home(string_view written) noexcept { return written == "~" || (written.size() > 1 && written[0] == '~' && written[1] == '/'); }
  template <class Sink>
  void sequence(uint32_t open, uint32_t close, Sink&& sink) noexcept {
    const string_view written = tree_.text({tree_[open].span.end, tree_[close].span.start});
    const std::size_t dots = written.find("..");
    if (dots == string_view::npos) return;
    std::size_t second = written.find("..", dots + 2);
    const string_view a = written.substr(0, dots), b = written.substr(dots + 2, second == string_view::npos ? second : second - dots - 2);
    long long from = 0, to = 0, step = 1;
    const bool numbers = to_number(a, &from) && to_number(b, &to);
    if (!numbers) {
      from = static_cast<unsigned char>(a[0]);
      to = static_cast<unsigned char>(b[0]);
    }
    if (second != string_view::npos) to_number(written.substr(second + 2), &step);
    if (step < 0) step = -step;
    if (step == 0) step = 1;
    uint32_t count = 0;
    for (long long at = from; from <= to ? at <= to : at >= to; at += from <= to ? step : -step) {
      if (++count > 256) return unresolved(Unresolved::limit);
      char digits[24];
      const string_view item = numbers ? number_text(at, digits) : (digits[0] = static_cast<char>(at), string_view(digits, 1));
      sink(id(item));
    }
  }
  static bool to_number(string_view written, long long* number) noexcept {
    const bool minus = !written.empty() && written[0] == '-';
    if (minus || (!written.empty() && written[0] == '+')) written.remove_prefix(1);
    if (written.empty() || written.size() > 15) return false;
    long long value = 0;
    for (const char c : written) {
      if (!syntax::is_digit(c)) return false;
      value = value * 10 + (c - '0');
    }
    *number = minus ? -value : value;
    return true;
  }
  static string_view number_text(long long number, char (&out)[24]) noexcept {
    char* at = out + sizeof out;
    unsigned long long rest = number < 0 ? 0ull - static_cast<unsigned long long>(number) : static_cast<unsigned long long>(number);
    do *--at = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0) *--at = '-';
    return {at, static_cast<std::size_t>(out + sizeof out - at)};
  }

  // A word as one text: assignments, patterns, subjects.
  TextId one_text(uint32_t word, bool pattern, uint8_t* origin = nullptr) noexcept {
    Builder builder(*this);
    builder.pattern = pattern;
    for (uint32_t i = tree_[word].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, false, false);
    if (origin != nullptr) *origin = builder.origin;
    return id(builder.text());
  }

  void add_part(Builder& builder, uint32_t index, bool quoted, bool split, bool operand = false) noexcept {
    const Node& node = tree_[index];
    switch (node.kind) {
      case Kind::literal:
      case Kind::brace_open:
      case Kind::brace_comma:
      case Kind::brace_close: {
        const string_view written = tree_.text(index);
        if (quoted) return builder.add_quoted(written);
        if (operand && split) return builder.add_split(written);
        for (const char c : written) builder.glob = builder.glob || c == '*' || c == '?' || c == '[';
        return builder.add(written);
      }
      case Kind::escape: return builder.add_quoted(tree_.text({node.span.start + 1, node.span.end}));
      case Kind::single_quoted: builder.some = true; return builder.add_quoted(tree_.text(index));
      case Kind::ansi_quoted: {
        builder.some = true;
        const string_view written = tree_.text(index);
        if (written.size() > scratch_capacity_ - scratch_size_) return unresolved(Unresolved::limit);
        const std::size_t size = syntax::decode_ansi(written, scratch_ + scratch_size_);
        const TextId decoded = id({scratch_ + scratch_size_, size});
        return builder.add_quoted(text(decoded));
      }
      case Kind::double_quoted: {
        const bool some = builder.some;
        builder.some = true;
        const uint32_t only = node.first_child;
        if (only != kNone && tree_[only].next == kNone && tree_[only].kind == Kind::parameter && gives_many(only)) builder.some = some;
        for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) add_part(builder, i, true, split);
        return;
      }
      case Kind::tilde: {
        if (node.span.end - node.span.start > 1) return builder.add_quoted(string_view(&kUnknownPart, 1));
        const Value home = choose(store_.get(*here_, variable(home_)), home_);
        builder.origin |= home.origin;
        // An empty home is no word in dash.
        builder.some = builder.some || options_.shell == syntax::Shell::bash;
        builder.many = builder.many || (home.text == kOther && options_.shell != syntax::Shell::bash);
        return builder.add_quoted(home.text == kUnset ? string_view(&kUnknownPart, 1) : text(home.text));
      }
      case Kind::parameter: return add_parameter(builder, index, quoted, split);
      case Kind::command_substitution: {
        const Value printed = choose(output_of(index, node.first_child, {}), index | kMade);
        return add_value(builder, printed, quoted, split);
      }
      case Kind::back_quoted: {
        const uint32_t mark = scratch_size_;
        const string_view written = tree_.text(index);
        for (std::size_t i = 0; i < written.size(); ++i) {
          if (written[i] == '\\' && i + 1 < written.size() &&
              (written[i + 1] == '`' || written[i + 1] == '\\' || written[i + 1] == '$' || (written[i + 1] == '"' && quoted)))
            ++i;
          push_byte(written[i]);
        }
        const TextId code = id({scratch_ + mark, scratch_size_ - mark});
        scratch_size_ = mark;
        const Value printed = choose(output_of(index, kNone, text(code)), index | kMade);
        return add_value(builder, printed, quoted, split);
      }
      case Kind::arithmetic_expansion: {
        arithmetic_effects(index, *here_);
        TextId value = kOther;
        {
          Builder inner(*this);
          for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) add_part(inner, i, true, false);
          long long number = 0;
          if (to_number(inner.text(), &number)) value = id(inner.text());
        }
        builder.some = true;
        builder.add(text(value));
        return;
      }
      case Kind::process_substitution: {
        State end;
        State copy = *here_;
        subshell(node.first_child, copy, false, &end);
        builder.add(string_view("/dev/fd/\x01", 9));
        return;
      }
      case Kind::extended_glob:
        builder.add(tree_.text(index));
        builder.glob = true;
        return;
      default: return;
    }
  }

  void add_value(Builder& builder, Value value, bool quoted, bool split) noexcept {
    builder.origin |= value.origin & static_cast<uint8_t>(~provenance::kList);
    const string_view written = value.text == kUnset ? string_view() : text(value.text);
    if (quoted) {
      builder.some = true;
      return builder.add_quoted(written);
    }
    if (split) return builder.add_split(written);
    builder.add(written);
  }

  // ---- parameters

  static bool is_all(string_view index) noexcept { return index == "@" || index == "*"; }
  bool gives_many(uint32_t index) const noexcept {
    const uint32_t name = tree_[index].first_child;
    if (name == kNone || tree_[index].has(flag::kLength)) return false;
    if (tree_.text(name) == "@") return true;
    const uint32_t next = tree_[name].next;
    return next != kNone && tree_[next].kind == Kind::subscript && tree_.text(next) == "@";
  }
  // All elements of a list, each its own field where `fields`.
  void add_list(Builder& builder, Value list, bool quoted, bool split, bool fields) noexcept {
    if (list.text == kOther) {
      builder.some = true;
      builder.many = true;
      builder.add(string_view(&kUnknownPart, 1));
      return;
    }
    string_view rest = text(list.text);
    bool first = true;
    while (!rest.empty()) {
      const std::size_t end = rest.find(kBetween);
      const string_view element = rest.substr(0, end);
      rest.remove_prefix(end == string_view::npos ? rest.size() : end + 1);
      if (!first) {
        if (fields && split) {
          builder.end_field();
        } else {
          builder.add(" ");
        }
      }
      first = false;
      const TextId kept = id(element);
      add_value(builder, {kept, list.origin}, quoted, split);
    }
  }
  void add_arguments(Builder& builder, bool quoted, bool split) noexcept {
    add_list(builder, choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1), quoted, split, true);
  }
  static string_view element(string_view list, std::size_t at) noexcept {
    while (at-- != 0) {
      const std::size_t end = list.find(kBetween);
      if (end == string_view::npos) return {};
      list.remove_prefix(end + 1);
    }
    return list.substr(0, list.find(kBetween));
  }
  static long long elements(string_view list) noexcept {
    long long count = 0;
    for (const char c : list) count += c == kBetween;
    return count;
  }

  // The value of a parameter without its edits; kUnset where there is none.
  Value parameter(string_view name, uint32_t index) noexcept {
    if (syntax::is_digit(name[0])) {
      long long at = 0;
      const Value list = choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1);
      if (name == "0" || !to_number(name, &at) || list.text == kOther || list.text == kUnset) return {kOther, provenance::kEnvironment};
      const string_view all = text(list.text);
      if (at > elements(all)) return {kUnset, 0};
      return {id(element(all, static_cast<std::size_t>(at - 1))), list.origin};
    }
    if (name == "#") {
      const Value list = choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1);
      if (list.text == kOther || list.text == kUnset) return {kOther, provenance::kEnvironment};
      char digits[24];
      return {id(number_text(elements(text(list.text)), digits)), 0};
    }
    if (!syntax::is_name_start(name[0])) return {kOther, provenance::kProgram};
    if (name == "PWD" || name == "OLDPWD") {
      const Set folder = store_.get(*here_, key_of(name == "PWD" ? Key::folder : Key::old_folder));
      return choose(folder, name == "PWD" ? kMade - 2 : kMade - 3);
    }
    const TextId name_id = id(name);
    Value value = choose(store_.get(*here_, variable(name_id)), name_id);
    if (value.text == kOther && store_.get(*here_, variable(name_id)).count == 0) value.text = kUnset;
    if (index != kNone) {
      const string_view written = tree_.text(index);
      long long at = 0;
      if (value.text == kOther) return value;
      if ((value.origin & provenance::kList) == 0) return written == "0" || is_all(written) ? value : Value{kOther, value.origin};
      if (!to_number(written, &at)) return {kOther, value.origin};
      const string_view all = text(value.text);
      if (at < 0) at += elements(all);
      if (at < 0 || at >= elements(all)) return {kUnset, 0};
      return {id(element(all, static_cast<std::size_t>(at))), static_cast<uint8_t>(value.origin & ~provenance::kList)};
    }
    if ((value.origin & provenance::kList) != 0 && value.text != kOther) {
      if (text(value.text).empty()) return {kUnset, 0};
      return {id(element(text(value.text), 0)), static_cast<uint8_t>(value.origin & ~provenance::kList)};
    }
    return value;
  }

  void add_parameter(Builder& builder, uint32_t at, bool quoted, bool split) noexcept {
    const Node& node = tree_[at];
    const uint32_t name_at = node.first_child;
    if (node.has(flag::kBad) || name_at == kNone || tree_[name_at].kind != Kind::name) {
      for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next)
        if (tree_[i].kind == Kind::word) one_text(i, false);
      discarded_ = store_.join(discarded_, *here_);
      return add_value(builder, {kOther, 0}, quoted, split);
    }
    const string_view name = tree_.text(name_at);
    uint32_t index = tree_[name_at].next, operand = index;
    if (index != kNone && tree_[index].kind == Kind::subscript) {
      operand = tree_[index].next;
      for (uint32_t i = tree_[index].first_child; i != kNone; i = tree_[i].next)
        if (tree_[i].kind != Kind::literal) {
          Builder inner(*this);
          add_part(inner, i, true, false);
        }
    } else {
      index = kNone;
    }
    const auto edit = static_cast<Edit>(node.aux);
    // Other shells know no such edit: that ends them.
    if (options_.shell == syntax::Shell::dash && edit >= Edit::replace_first) leave(*here_, false, true);
    const bool all = name == "@" || name == "*" || (index != kNone && is_all(tree_.text(index)));
    if (node.has(flag::kIndirect)) {
      if (edit == Edit::none && !all) {
        const Value target = parameter(name, index);
        const string_view named = target.text == kUnset ? string_view() : text(target.text);
        bool is_name = !named.empty() && syntax::is_name_start(named[0]);
        for (const char c : named) is_name = is_name && syntax::is_name_byte(c);
        if (!is_name) discarded_ = store_.join(discarded_, *here_);
        return add_value(builder, is_name ? parameter(named, kNone) : Value{kOther, target.origin}, quoted, split);
      }
      run_operands(operand);
      return add_list(builder, {kOther, 0}, quoted, split, true);
    }
    if (node.has(flag::kLength)) {
      builder.some = true;
      if (all) {
        const Value list = name == "@" || name == "*" ? choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1) : choose(store_.get(*here_, variable(id(name))), id(name));
        char digits[24];
        return builder.add(list.text == kOther || (list.origin & provenance::kList) == 0 ? string_view(&kUnknownPart, 1) : number_text(elements(text(list.text)), digits));
      }
      const Value value = parameter(name, index);
      char digits[24];
      const string_view written = value.text == kUnset ? string_view() : text(value.text);
      return builder.add(is_known(written) ? number_text(static_cast<long long>(written.size()), digits) : string_view(&kUnknownPart, 1));
    }
    if (all && edit == Edit::none) {
      const bool fields = !quoted || name == "@" || (index != kNone && tree_.text(index) == "@");
      if (name == "@" || name == "*") return add_list(builder, choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1), quoted, split, fields);
      const Value list = choose(store_.get(*here_, variable(id(name))), id(name));
      if (list.text == kUnset) return;
      if ((list.origin & provenance::kList) == 0 && list.text != kOther) return add_value(builder, list, quoted, split);
      return add_list(builder, list, quoted, split, fields);
    }
    if (all) {
      run_operands(operand);
      return add_list(builder, {kOther, 0}, quoted, split, true);
    }
    Value value = parameter(name, index);
    const bool colon = node.has(flag::kColon);
    switch (edit) {
      case Edit::none: return add_value(builder, value, quoted, split);
      case Edit::fallback:
      case Edit::assign:
      case Edit::fail:
      case Edit::alternative: {
        bool has = value.text != kUnset && !(colon && value.text == kEmpty);
        // What is not known may be nothing.
        if (value.text == kOther) has = perhaps();
        if (choices_->wide && value.text == kOther) {
          run_operands(operand);
          return add_value(builder, value, quoted, split);
        }
        if (edit == Edit::alternative) {
          if (has) add_operand(builder, operand, quoted, split);
          return;
        }
        if (has) return add_value(builder, value, quoted, split);
        if (edit == Edit::fail) {
          run_operands(operand);
          *failed_ = true;
          return;
        }
        if (edit == Edit::assign) {
          const TextId given = operand == kNone ? kEmpty : one_text(operand, false);
          if (syntax::is_name_start(name[0])) store_.put(*here_, variable(id(name)), store_.one(given));
          return add_value(builder, {given, 0}, quoted, split);
        }
        return add_operand(builder, operand, quoted, split);
      }
      case Edit::cut_shortest_suffix:
      case Edit::cut_longest_suffix:
      case Edit::cut_shortest_prefix:
      case Edit::cut_longest_prefix: {
        const TextId pattern = operand == kNone ? kEmpty : one_text(operand, true);
        return add_value(builder, {cut(value.text, pattern, edit, operand), value.origin}, quoted, split);
      }
      case Edit::replace_first:
      case Edit::replace_all:
      case Edit::replace_prefix:
      case Edit::replace_suffix: {
        const TextId pattern = operand == kNone ? kEmpty : one_text(operand, true);
        const uint32_t by = operand == kNone ? kNone : tree_[operand].next;
        const TextId replacement = by == kNone ? kEmpty : one_text(by, false);
        return add_value(builder, {replaced(value.text, pattern, replacement, edit, operand), value.origin}, quoted, split);
      }
      case Edit::upper_first:
      case Edit::upper_all:
      case Edit::lower_first:
      case Edit::lower_all: {
        const bool plain = operand == kNone || tree_[operand].first_child == kNone;
        run_operands(operand);
        if (value.text == kUnset) return add_value(builder, value, quoted, split);
        if (!plain) return add_value(builder, {kOther, value.origin}, quoted, split);
        const string_view written = text(value.text);
        const uint32_t mark = scratch_size_;
        const bool upper = edit == Edit::upper_first || edit == Edit::upper_all;
        const bool first_only = edit == Edit::upper_first || edit == Edit::lower_first;
        for (std::size_t i = 0; i < written.size(); ++i) {
          const char c = written[i];
          const bool letter = upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
          push_byte(letter && (i == 0 || !first_only) ? static_cast<char>(c ^ 0x20) : c);
        }
        const TextId changed = id({scratch_ + mark, scratch_size_ - mark});
        scratch_size_ = mark;
        return add_value(builder, {changed, value.origin}, quoted, split);
      }
      case Edit::substring: {
        long long from = 0, length = 0;
        const TextId a = operand == kNone ? kEmpty : one_text(operand, false);
        const uint32_t second = operand == kNone ? kNone : tree_[operand].next;
        const TextId b = second == kNone ? kEmpty : one_text(second, false);
        const string_view written = value.text == kUnset ? string_view() : text(value.text);
        const auto trimmed = [](string_view number) {
          while (!number.empty() && number[0] == ' ') number.remove_prefix(1);
          return number;
        };
        if (!is_known(written) || !to_number(trimmed(text(a)), &from) || (second != kNone && !to_number(trimmed(text(b)), &length)))
          return add_value(builder, {value.text == kUnset ? kUnset : kOther, value.origin}, quoted, split);
        const auto size = static_cast<long long>(written.size());
        if (from < 0) from = from + size < 0 ? size : from + size;
        if (from > size) from = size;
        long long end = second == kNone ? size : length < 0 ? size + length : from + length;
        if (end > size) end = size;
        if (end < from) end = from;
        return add_value(builder, {id(written.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(end - from))), value.origin}, quoted, split);
      }
      default:
        run_operands(operand);
        return add_value(builder, {kOther, value.origin}, quoted, split);
    }
  }
  void run_operands(uint32_t operand) noexcept {
    for (; operand != kNone; operand = tree_[operand].next) one_text(operand, false);
  }
  void add_operand(Builder& builder, uint32_t operand, bool quoted, bool split) noexcept {
    if (operand == kNone) return;
    if (quoted) builder.some = true;
    for (uint32_t i = tree_[operand].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, quoted, split, true);
  }

  TextId cut(TextId value, TextId pattern, Edit edit, uint32_t operand) noexcept {
    if (value == kUnset) return kUnset;
    const string_view written = text(value), what = text(pattern);
    if (what.empty()) return value;
    if (!is_known(written) || !is_known(what) || written.size() > kBuilt || what.size() > 256 || has_extended_glob(operand)) return kOther;
    const bool prefix = edit == Edit::cut_shortest_prefix || edit == Edit::cut_longest_prefix;
    const bool longest = edit == Edit::cut_longest_prefix || edit == Edit::cut_longest_suffix;
    const std::size_t size = written.size();
    for (std::size_t i = 0; i <= size; ++i) {
      const std::size_t length = longest ? size - i : i;
      const string_view part = prefix ? written.substr(0, length) : written.substr(size - length);
      if (matches(what, part) != Match::yes) continue;
      return id(prefix ? written.substr(length) : written.substr(0, size - length));
    }
    return value;
  }
  TextId replaced(TextId value, TextId pattern, TextId replacement, Edit edit, uint32_t operand) noexcept {
    if (value == kUnset) return kUnset;
    const string_view written = text(value), what = text(pattern), by = text(replacement);
    if (what.empty() && edit != Edit::replace_prefix && edit != Edit::replace_suffix) return value;
    if (!is_known(written) || !is_known(what) || written.size() > 512 || what.size() > 128 || has_extended_glob(operand) || by.find('&') != string_view::npos)
      return kOther;
    const uint32_t mark = scratch_size_;
    bool done = false;
    std::size_t at = 0;
    while (at <= written.size()) {
      std::size_t length = 0;
      bool found = false;
      if (!(done && edit != Edit::replace_all) && !(edit == Edit::replace_prefix && at != 0)) {
        for (std::size_t n = written.size() - at + 1; n-- > 0 && !found;) {
          if (n == 0 && edit != Edit::replace_prefix && edit != Edit::replace_suffix) break;
          if (edit == Edit::replace_suffix && at + n != written.size()) continue;
          if (matches(what, written.substr(at, n)) == Match::yes) {
            found = true;
            length = n;
          }
        }
      }
      if (found) {
        for (const char c : by) push_byte(c);
        done = true;
        at += length;
        if (length != 0) continue;
      }
      if (at == written.size()) break;
      push_byte(written[at++]);
    }
    const TextId made = id({scratch_ + mark, scratch_size_ - mark});
    scratch_size_ = mark;
    return made;
  }

  // ---- substitutions and arithmetic

  bool is_captured(const State& state) noexcept {
    const Set set = store_.get(state, key_of(Key::output));
    return !(set.count == 1 && store_.values(set)->text == kUnset);
  }
  void append_output(State& state, Set texts) noexcept {
    if (!is_captured(state)) return;
    const Set before = store_.get(state, key_of(Key::output));
    Value made[kValues];
    uint32_t count = 0;
    for (uint32_t i = 0; i < before.count; ++i) {
      for (uint32_t k = 0; k < texts.count; ++k) {
        if (count == kValues) {
          store_.put(state, key_of(Key::output), store_.one(kOther, provenance::kProgram));
          return;
        }
        const Value a = store_.values(before)[i], b = store_.values(texts)[k];
        const uint32_t mark = scratch_size_;
        if (a.text != kUnset)
          for (const char c : text(a.text)) push_byte(c);
        for (const char c : text(b.text))
          if (c != kUnknownPart || scratch_size_ == mark || scratch_[scratch_size_ - 1] != kUnknownPart) push_byte(c);
        made[count].text = scratch_size_ - mark > 4 * kBuilt ? kOther : id({scratch_ + mark, scratch_size_ - mark});
        made[count++].origin = a.origin | b.origin;
        scratch_size_ = mark;
      }
    }
    store_.put(state, key_of(Key::output), store_.set_of(made, count));
  }

  // What a substitution may print, without the newlines at its end. `list` or else `code` is run.
  Set output_of(uint32_t index, uint32_t list, string_view code) noexcept {
    for (const Printed& known : printed_)
      if (known.node == index && known.size == code.size() && known.state.live && std::memcmp(known.state.heads, here_->heads, sizeof here_->heads) == 0 && known.state.cleared == here_->cleared) {
        substituted_ok_ = known.ok;
        substituted_fail_ = known.fail;
        return known.set;
      }
    const State before = *here_;
    State inner = *here_, end;
    store_.put(inner, key_of(Key::output), store_.one(kEmpty));
    const std::uint16_t was = via_;
    via_ |= via::kSubstitution;
    const Flow flow = in_copy(inner, &end, [&](const State& state) {
      State own = state;
      if (options_.shell != syntax::Shell::dash) store_.put(own, key_of(Key::errexit), store_.either(store_.get(own, key_of(Key::errexit)), store_.none));
      return list != kNone ? run(list, own, false) : run_text(code, own, false);
    });
    via_ = was;
    Set result = store_.one(kEmpty);
    if (list != kNone && reads_file(list)) {
      result = store_.one(kOther, provenance::kProgram);
    } else if (end.live) {
      const Set set = store_.get(end, key_of(Key::output));
      Value made[kValues];
      for (uint32_t i = 0; i < set.count && i < kValues; ++i) {
        made[i] = store_.values(set)[i];
        string_view written = made[i].text == kUnset ? string_view() : text(made[i].text);
        while (!written.empty() && written.back() == '\n') written.remove_suffix(1);
        made[i].text = id(written);
        // What is not known may end in nothing.
      }
      result = store_.set_of(made, set.count < kValues ? set.count : kValues);
    }
    substituted_ok_ = flow.ok.live;
    substituted_fail_ = flow.fail.live;
    printed_[next_printed_++ % kPrinted] = {index, static_cast<uint32_t>(code.size()), before, result, substituted_ok_, substituted_fail_};
    return result;
  }
  // $(< file)
  bool reads_file(uint32_t list) const noexcept {
    const uint32_t command = tree_[list].first_child;
    if (command == kNone || tree_[command].next != kNone || tree_[command].kind != Kind::simple) return false;
    const uint32_t only = tree_[command].first_child;
    return only != kNone && tree_[only].next == kNone && tree_[only].kind == Kind::redirection;
  }

  // Names that an arithmetic text may set may hold anything; what its values hold is read again as code.
  void arithmetic_effects(uint32_t index, State& state) noexcept {
    Choices choices;
    do {
      const Hold hold(*this, state, choices);
      Builder builder(*this);
      for (uint32_t i = tree_[index].first_child; i != kNone; i = tree_[i].next)
        if (tree_[i].kind != Kind::redirection) add_part(builder, i, true, false);
      const TextId written = id(builder.text());
      arithmetic_text(text(written), state, 0);
    } while (choices.next());
  }
  void arithmetic_text(string_view expression, State& state, int depth) noexcept {
    bool sets = false;
    for (std::size_t i = 0; i < expression.size(); ++i) {
      const char c = expression[i], next = i + 1 < expression.size() ? expression[i + 1] : '\0', last = i > 0 ? expression[i - 1] : '\0';
      if ((c == '+' && next == '+') || (c == '-' && next == '-')) sets = true;
      if (c == '=' && next != '=' && last != '=' && last != '!' && (last != '<' || (i > 1 && expression[i - 2] == '<')) && (last != '>' || (i > 1 && expression[i - 2] == '>')))
        sets = true;
    }
    for (std::size_t i = 0; i < expression.size();) {
      if (!syntax::is_name_start(expression[i])) {
        // 0x1f and the like are numbers.
        if (syntax::is_digit(expression[i]))
          while (i < expression.size() && syntax::is_name_byte(expression[i])) ++i;
        else
          ++i;
        continue;
      }
      std::size_t end = i;
      while (end < expression.size() && syntax::is_name_byte(expression[end])) ++end;
      const TextId name = id(expression.substr(i, end - i));
      const Set set = store_.get(state, variable(name));
      for (uint32_t k = 0; k < set.count && depth < 8; ++k) {
        const TextId value = store_.values(set)[k].text;
        if (value == kUnset || value == kOther) continue;
        const string_view held = text(value);
        if (held.find('[') != string_view::npos && (held.find("$(") != string_view::npos || held.find('`') != string_view::npos)) {
          run_subscripts(held, state);
        } else if (!held.empty() && syntax::is_name_start(held[0])) {
          arithmetic_text(held, state, depth + 1);
        }
      }
      if (sets) store_.put(state, variable(name), store_.either(set, store_.other));
      i = end;
    }
    if (depth == 0 && (expression.find("$(") != string_view::npos || expression.find('`') != string_view::npos)) run_subscripts(expression, state);
  }
  // Code within brackets that a value brings along.
  void run_subscripts(string_view held, State& state) noexcept {
    const uint32_t mark = scratch_size_;
    // A here-document leaves quotes within the code as they are.
    for (const char c : string_view(": <<'\x02'\n")) if (c != '\'') push_byte(c);
    for (const char c : held) push_byte(c);
    for (const char c : string_view("\n\x02\n")) push_byte(c);
    const TextId code = id({scratch_ + mark, scratch_size_ - mark});
    scratch_size_ = mark;
    State end;
    in_copy(state, &end, [&](const State& inner) { return run_code(code, inner, true); });
  }

  void test_effects(uint32_t index, State& state) noexcept {
    const Node& node = tree_[index];
    if (node.kind == Kind::word) {
      Choices choices;
      do {
        const Hold hold(*this, state, choices);
        one_text(index, false);
      } while (choices.next());
      return;
    }
    if (node.kind == Kind::test_binary) {
      const uint32_t operation = tree_[node.first_child].next, right = tree_[operation].next;
      const string_view name = tree_.text(operation);
      if (name.size() == 3 && name[0] == '-' && name != "-nt" && name != "-ot" && name != "-ef") {
        for (const uint32_t side : {node.first_child, right}) {
          Choices choices;
          do {
            const Hold hold(*this, state, choices);
            const TextId written = one_text(side, false);
            arithmetic_text(text(written), state, 0);
          } while (choices.next());
        }
        return;
      }
    }
    for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next)
      if (tree_[i].kind != Kind::name) test_effects(i, state);
    if (node.kind == Kind::test_unary && tree_[node.first_child].kind == Kind::name && tree_.text(node.first_child) == "-v") {
      Choices choices;
      const Hold hold(*this, state, choices);
      const TextId written = one_text(tree_[node.first_child].next, false);
      if (text(written).find('[') != string_view::npos) arithmetic_text(text(written), state, 0);
    }
  }

  // ---- redirections

  bool leaves_output(uint32_t index) const noexcept {
    const auto kind = static_cast<Redirect>(tree_[index].aux);
    if (kind == Redirect::input || kind == Redirect::here_document || kind == Redirect::here_string || kind == Redirect::from_descriptor) return false;
    const uint32_t first = tree_[index].first_child;
    return first == kNone || tree_[first].kind != Kind::name || tree_.text(first) == "1";
  }
  void redirect(uint32_t index, Target* target, Set* input) noexcept {
    const Node& node = tree_[index];
    const auto kind = static_cast<Redirect>(node.aux);
    uint32_t word = node.first_child;
    const bool named = word != kNone && tree_[word].kind == Kind::name;
    const bool is_input = !named || tree_.text(word) == "0";
    if (named) word = tree_[word].next;
    target->kind = kind;
    target->text = kEmpty;
    if (word == kNone) return;
    if (kind == Redirect::here_document) {
      const uint32_t body = tree_[word].next;
      TextId given = body == kNone ? kEmpty : one_text(body, false);
      if (node.has(flag::kStripsTabs)) given = without_tabs(given);
      if (is_input) *input = store_.one(given);
      return;
    }
    target->text = one_text(word, false);
    if (!is_input) return;
    if (kind == Redirect::here_string) {
      const uint32_t mark = scratch_size_;
      for (const char c : text(target->text)) push_byte(c);
      push_byte('\n');
      *input = store_.one(id({scratch_ + mark, scratch_size_ - mark}));
      scratch_size_ = mark;
    } else if (kind == Redirect::input || kind == Redirect::both || kind == Redirect::from_descriptor) {
      *input = store_.one(kOther, provenance::kInput);
    }
  }
  TextId without_tabs(TextId given) noexcept {
    const uint32_t mark = scratch_size_;
    bool start = true;
    for (const char c : text(given)) {
      if (!(start && c == '\t')) push_byte(c);
      start = c == '\n' || (start && c == '\t');
    }
    const TextId made = id({scratch_ + mark, scratch_size_ - mark});
    scratch_size_ = mark;
    return made;
  }
  void report_targets(const State& state, const Target* targets, uint32_t count, syntax::Span span) noexcept {
    report(state, nullptr, 0, targets, count, span);
  }

  // ---- simple commands

  static constexpr uint32_t kTargets = 16, kNames = 16;

  Flow simple(uint32_t index, const State& state, bool ignores) noexcept {
    const Node node = tree_[index];
    bool has_words = false;
    for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next)
      has_words = has_words || tree_[i].kind == Kind::word || (tree_[i].kind == Kind::assignment && tree_[i].has(flag::kArgument));
    Flow out;
    Choices choices;
    do {
      const uint32_t first = word_count_;
      State cur = state, words_state = state;
      Target targets[kTargets];
      uint32_t target_count = 0, name_count = 0;
      TextId names[kNames];
      Set input;
      bool captured = true, failed = false, status_of_substitution = false;
      substituted_ok_ = true;
      substituted_fail_ = false;
      {
        const Hold hold(*this, words_state, choices);
        for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
          if (tree_[i].kind == Kind::word) {
            expand(i, true);
          } else if (tree_[i].kind == Kind::assignment && tree_[i].has(flag::kArgument)) {
            declared_argument(i);
          } else if (tree_[i].kind == Kind::redirection) {
            Target target{};
            redirect(i, &target, &input);
            if (leaves_output(i)) captured = false;
            if (target_count < kTargets) targets[target_count++] = target;
            else unresolved(Unresolved::limit);
          }
        }
        failed = hold.failed;
      }
      // What words set stays: ${x:=y}, $((x=1)).
      // A program's redirections are expanded in its own process.
      cur = target_count != 0 ? store_.join(words_state, state) : words_state;
      {
        const Hold hold(*this, cur, choices);
        substituted_ok_ = true;
        substituted_fail_ = false;
        for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
          if (tree_[i].kind != Kind::assignment || tree_[i].has(flag::kArgument)) continue;
          const TextId name = assign(i, cur, has_words);
          if (name_count < kNames) names[name_count++] = name;
          else unresolved(Unresolved::limit);
          status_of_substitution = true;
        }
        failed = failed || hold.failed;
      }
      if (failed) {
        leave(words_state, false, true);
        // In a program's redirection it ends that program alone.
        if (target_count != 0) out.fail = store_.join(out.fail, state);
      } else if (!has_words) {
        if (target_count != 0) report(cur, nullptr, 0, targets, target_count, node.span);
        Flow flow{substituted_ok_ || !status_of_substitution ? cur : State{}, status_of_substitution && substituted_fail_ ? cur : State{}};
        // A target that cannot be opened fails.
        if (target_count != 0) flow.fail = store_.join(flow.fail, cur);
        out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
      } else {
        const Set fed = store_.get(state, key_of(Key::input)), printed = store_.get(cur, key_of(Key::output));
        if (input.count != 0) store_.put(cur, key_of(Key::input), input);
        if (!captured) store_.put(cur, key_of(Key::output), store_.none);
        Command command{first, word_count_ - first, targets, target_count, node.span, names, name_count};
        Flow flow = dispatch_with(command, words_state, cur, ignores);
        for (State* end : {&flow.ok, &flow.fail}) {
          if (!end->live) continue;
          if (input.count != 0) store_.put(*end, key_of(Key::input), fed);
          if (!captured) store_.put(*end, key_of(Key::output), printed);
        }
        if (target_count != 0 && may_not_open(node)) flow.fail = store_.join(flow.fail, words_state);
        out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
      }
      word_count_ = first;
    } while (choices.next());
    return errexit(out, ignores);
  }
  bool may_not_open(const Node& node) const noexcept {
    for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
      if (tree_[i].kind != Kind::redirection) continue;
      const auto kind = static_cast<Redirect>(tree_[i].aux);
      if (kind != Redirect::here_document && kind != Redirect::here_string && kind != Redirect::to_descriptor) return true;
    }
    return false;
  }

  // NAME=value as an argument of a command that declares: one word, with the list's elements where it is an array.
  void declared_argument(uint32_t index) noexcept {
    Builder builder(*this);
    const uint32_t name = tree_[index].first_child;
    builder.add(tree_.text(name));
    uint32_t value = tree_[name].next;
    if (value != kNone && tree_[value].kind == Kind::subscript) value = tree_[value].next;
    builder.add("=");
    if (value != kNone && tree_[value].kind == Kind::array) {
      builder.add(string_view(&kUnknownPart, 1));
      const uint32_t mark = word_count_;
      for (uint32_t i = tree_[value].first_child; i != kNone; i = tree_[i].next)
        if (tree_[i].kind == Kind::word) expand(i, true);
      word_count_ = mark;
    } else if (value != kNone) {
      uint32_t made[kParts], count = 0;
      bool braces = false;
      made[count++] = kMade | id(builder.text());
      for (uint32_t i = tree_[value].first_child; i != kNone && count < kParts; i = tree_[i].next) {
        braces = braces || tree_[i].kind == Kind::brace_open;
        made[count++] = i;
      }
      if (braces) {
        uint32_t left = 256;
        scratch_size_ = builder.start_;
        return expand_braces(made, count, &left, false);
      }
      for (uint32_t i = tree_[value].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, false, false);
    }
    builder.many = builder.glob = false;
    builder.end_field();
  }

  TextId assign(uint32_t index, State& state, bool exported) noexcept {
    const Node& node = tree_[index];
    const uint32_t name_at = node.first_child;
    const TextId name = id(tree_.text(name_at));
    uint32_t value = tree_[name_at].next, subscript = kNone;
    if (value != kNone && tree_[value].kind == Kind::subscript) {
      subscript = value;
      value = tree_[value].next;
      Builder builder(*this);
      for (uint32_t i = tree_[subscript].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, true, false);
      const TextId written = id(builder.text());
      arithmetic_text(text(written), state, 0);
    }
    Value made{kEmpty, 0};
    const Value old = choose(store_.get(state, variable(name)), name);
    if (value != kNone && tree_[value].kind == Kind::array) {
      const uint32_t first = word_count_;
      bool known = !node.has(flag::kAppends) || ((old.origin & provenance::kList) != 0 && old.text != kOther) || old.text == kUnset;
      for (uint32_t i = tree_[value].first_child; i != kNone; i = tree_[i].next) {
        if (tree_[i].kind == Kind::word) {
          expand(i, true);
        } else {
          known = false;
          for (uint32_t k = tree_[i].first_child; k != kNone; k = tree_[k].next) one_text(k, false);
        }
      }
      const uint32_t mark = scratch_size_;
      if (node.has(flag::kAppends) && known && old.text != kUnset)
        for (const char c : text(old.text)) push_byte(c);
      for (uint32_t i = first; i < word_count_; ++i) {
        known = known && !words_[i].many && !words_[i].glob && text(words_[i].text).find(kBetween) == string_view::npos;
        for (const char c : text(words_[i].text)) push_byte(c);
        push_byte(kBetween);
      }
      made = {known ? id({scratch_ + mark, scratch_size_ - mark}) : kOther, provenance::kList};
      scratch_size_ = mark;
      word_count_ = first;
    } else {
      if (value != kNone) {
        Builder builder(*this);
        for (uint32_t i = tree_[value].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, false, false);
        made = {id(builder.text()), builder.origin};
      }
      if (node.has(flag::kAppends)) {
        const uint32_t mark = scratch_size_;
        if (old.text != kUnset)
          for (const char c : text(old.text)) push_byte(c);
        for (const char c : text(made.text)) push_byte(c);
        // With `declare -i` it would be a sum.
        made.text = (old.origin & provenance::kList) != 0 || scratch_size_ - mark > 16 * kBuilt ? kOther : id({scratch_ + mark, scratch_size_ - mark});
        scratch_size_ = mark;
      }
      if (subscript != kNone) made = {kOther, provenance::kList};
    }
    store_.put(state, variable(name), store_.set_of(&made, 1));
    if (exports_all_) store_.put(state, key_of(Key::exported, name), store_.either(store_.get(state, key_of(Key::exported, name)), store_.one(kEmpty)));
    if (exported) store_.put(state, key_of(Key::exported, name), store_.one(kEmpty));
    return name;
  }

  struct Command {
    uint32_t first, count;
    const Target* targets;
    uint32_t target_count;
    syntax::Span span;
    const TextId* names;  // of assignments before it
    uint32_t name_count;
  };

  string_view word_text(uint32_t index) const noexcept { return text(words_[index].text); }

  // With assignments before it: afterwards each has the value from before, or keeps what was set inside.
  Flow dispatch_with(const Command& command, const State& before, const State& inside, bool ignores) noexcept {
    if (command.name_count == 0) return dispatch(command, inside, ignores, true);
    bool keeps = false;
    if (command.count != 0) {
      const syntax::BuiltinRow* const row = syntax::find_builtin(word_text(command.first));
      keeps = has_function(inside, words_[command.first].text) || (row != nullptr && (row->flags & syntax::builtin_flag::kSpecial) != 0) || !is_known(word_text(command.first));
    }
    Exits own;
    Exits* const outer = exits_;
    exits_ = &own;
    Flow flow = dispatch(command, inside, ignores, true);
    exits_ = outer;
    const auto back = [&](State& state) {
      if (!state.live) return;
      State old = state;
      for (uint32_t i = 0; i < command.name_count; ++i) {
        store_.put(old, variable(command.names[i]), store_.get(before, variable(command.names[i])));
        store_.put(old, key_of(Key::exported, command.names[i]), store_.get(before, key_of(Key::exported, command.names[i])));
      }
      state = keeps ? store_.join(old, state) : old;
    };
    back(flow.ok);
    back(flow.fail);
    back(own.state);
    leave(own.state, own.zero, own.nonzero);
    return flow;
  }

  bool has_function(const State& state, TextId name) noexcept {
    const Set set = store_.get(state, key_of(Key::function, name));
    for (uint32_t i = 0; i < set.count; ++i)
      if (store_.values(set)[i].text != kUnset) return true;
    return false;
  }

  Flow dispatch(const Command& command, const State& state, bool ignores, bool functions) noexcept {
    if (command.count == 0) return {state, {}};
    const TextId name = words_[command.first].text;
    if (functions && has_function(state, name)) {
      Flow out;
      const Set bodies = store_.get(state, key_of(Key::function, name));
      for (uint32_t i = 0; i < bodies.count; ++i) {
        const TextId body = store_.values(bodies)[i].text;
        Flow flow;
        if (body == kUnset) {
          flow = dispatch(command, state, ignores, false);
        } else if (body == kOther) {
          flow = dispatch(command, state, ignores, false);
        } else {
          flow = call_function(body - 3, command, state, ignores);
        }
        out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
      }
      return out;
    }
    const Set aliases = functions ? store_.get(state, key_of(Key::alias, name)) : store_.none;
    if (!state.cleared && !(aliases.count == 1 && store_.values(aliases)->text == kUnset)) {
      // Whether aliases are expanded, and whether this was read before: either.
      Flow out = dispatch(command, state, ignores, false);
      for (uint32_t i = 0; i < aliases.count; ++i) {
        const TextId code = store_.values(aliases)[i].text;
        if (code == kUnset) continue;
        State inner = state;
        store_.put(inner, key_of(Key::alias, name), store_.none);
        const Flow flow = run_code(with_arguments(code, command), inner, ignores);
        out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
      }
      return out;
    }
    const syntax::BuiltinRow* const row = words_[command.first].many ? nullptr : syntax::find_builtin(text(name));
    if (row != nullptr && !(options_.shell == syntax::Shell::dash && (row->flags & syntax::builtin_flag::kBash) != 0)) {
      report(state, words_ + command.first, command.count, command.targets, command.target_count, command.span);
      return builtin(*row, command, state, ignores);
    }
    return program(command, state);
  }

  Answer report(const State& state, const Word* words, uint32_t count, const Target* targets, uint32_t target_count, syntax::Span span) noexcept {
    const Set folders = store_.get(state, key_of(Key::folder));
    Answer answer;
    for (uint32_t i = 0; i < folders.count; ++i) {
      Call call{words, count, targets, target_count, store_.values(folders)[i].text, store_.get(state, key_of(Key::input)), &state, via_, span};
      answer = host_.call(host_.self, store_, call);
    }
    return answer;
  }

  Flow program(const Command& command, const State& state) noexcept {
    if (!is_known(word_text(command.first)) || words_[command.first].many) unresolved(Unresolved::program);
    const Answer answer = report(state, words_ + command.first, command.count, command.targets, command.target_count, command.span);
    State after = state;
    const std::uint16_t before = via_;
    if (answer.kind == Answer::child || answer.kind == Answer::shell_text || answer.kind == Answer::shell_input) {
      via_ |= answer.kind == Answer::child ? via::kChild : via::kText;
      State end;
      const Flow flow = in_copy(state, &end, [&](const State& inner) { return carried(answer, command, inner); });
      via_ = before;
      if (answer.kind == Answer::child) {
        const State kept = store_.join(flow.ok, flow.fail);
        return {kept, kept};
      }
      return flow;
    }
    append_output(after, answer.output.count != 0 ? answer.output : store_.one(kOther, provenance::kProgram));
    return {answer.may_succeed ? after : State{}, answer.may_fail ? after : State{}};
  }

  Flow carried(const Answer& answer, const Command& command, const State& state) noexcept {
    if (++texts_ >= kTexts || level_ >= kDepth) {
      --texts_;
      unresolved(Unresolved::depth);
      return {state, state};
    }
    Flow flow{state, state};
    ++level_;
    if (answer.kind == Answer::child) {
      State inner = state;
      const uint32_t first = answer.first < command.count ? answer.first : command.count;
      for (uint32_t i = first - (answer.assignments < first ? answer.assignments : first); i < first; ++i) {
        const string_view word = word_text(command.first + i);
        const std::size_t equals = word.find('=');
        if (equals == string_view::npos) continue;
        const TextId name = id(word.substr(0, equals));
        const TextId value = id(word_text(command.first + i).substr(equals + 1));
        store_.put(inner, variable(name), store_.one(value));
        store_.put(inner, key_of(Key::exported, name), store_.one(kEmpty));
      }
      if (answer.words != nullptr) {
        const uint32_t mark = word_count_;
        for (uint32_t i = 0; i < answer.word_count; ++i) push_word(answer.words[i]);
        const Command carried{mark, word_count_ - mark, nullptr, 0, command.span, nullptr, 0};
        if (carried.count != 0) flow = program(carried, inner);
        word_count_ = mark;
      } else if (first < command.count) {
        const Command carried{command.first + first, command.count - first, nullptr, 0, command.span, nullptr, 0};
        flow = program(carried, inner);
      }
    } else {
      State inner = store_.environment(state);
      for (const Key key : {Key::folder, Key::output, Key::input}) store_.put(inner, key_of(key), store_.get(state, key_of(key)));
      store_.put(inner, key_of(Key::exit_trap), store_.none);
      store_.put(inner, key_of(Key::errexit), store_.none);
      store_.put(inner, key_of(Key::arguments), store_.one(joined(command.first + answer.first + 2, command.first + command.count), provenance::kList));
      const syntax::Shell before = options_.shell;
      flow = {};
      for (const syntax::Shell shell : {answer.shell, answer.perhaps}) {
        options_.shell = shell;
        const bool is_text = answer.kind == Answer::shell_text;
        const Set given = is_text ? store_.one(answer.first < command.count ? words_[command.first + answer.first].text : kEmpty)
                                  : store_.get(state, key_of(Key::input));
        for (uint32_t i = 0; i < given.count; ++i) {
          const TextId code = store_.values(given)[i].text;
          const Flow one = run_code(code == kUnset ? kEmpty : code, inner, false);
          flow = {store_.join(flow.ok, one.ok), store_.join(flow.fail, one.fail)};
        }
        if (answer.shell == answer.perhaps) break;
      }
      options_.shell = before;
    }
    --level_;
    --texts_;
    return flow;
  }

  // A command's text with its words behind it, quoted.
  TextId with_arguments(TextId code, const Command& command) noexcept {
    const uint32_t mark = scratch_size_;
    bool known = true;
    for (const char c : text(code)) push_byte(c);
    for (uint32_t i = 1; i < command.count; ++i) {
      known = known && !words_[command.first + i].many;
      for (const char c : string_view(" '")) push_byte(c);
      for (const char c : word_text(command.first + i)) {
        if (c == '\'') for (const char q : string_view("'\\'")) push_byte(q);
        push_byte(c);
      }
      push_byte('\'');
    }
    const TextId made = known ? id({scratch_ + mark, scratch_size_ - mark}) : kOther;
    scratch_size_ = mark;
    return made;
  }
  // Words as a list; kOther where one of them is any number of words.
  TextId joined(uint32_t from, uint32_t to) noexcept {
    const uint32_t mark = scratch_size_;
    bool known = true;
    for (uint32_t i = from; i < to; ++i) {
      known = known && !words_[i].many && word_text(i).find(kBetween) == string_view::npos;
      for (const char c : word_text(i)) push_byte(c);
      push_byte(kBetween);
    }
    const TextId list = known ? id({scratch_ + mark, scratch_size_ - mark}) : kOther;
    scratch_size_ = mark;
    return list;
  }
  TextId joined_by_blanks(uint32_t from, uint32_t to) noexcept {
    const uint32_t mark = scratch_size_;
    for (uint32_t i = from; i < to; ++i) {
      if (i != from) push_byte(' ');
      for (const char c : word_text(i)) push_byte(c);
    }
    const TextId made = id({scratch_ + mark, scratch_size_ - mark});
    scratch_size_ = mark;
    return made;
  }

  Flow call_function(uint32_t body, const Command& command, const State& state, bool ignores) noexcept {
    if (calls_ >= kCalls || body >= tree_.size()) {
      // Deeper calls may do all that the body does: once, with nothing known.
      if (visits_[body] == kDone || calls_ >= kCalls + 1) return {cleared(state), cleared(state)};
    }
    ++calls_;
    const uint32_t depth = static_cast<uint32_t>(calls_);
    State inner = calls_ > kCalls ? cleared(state) : state;
    if (calls_ > kCalls) unresolved(Unresolved::limit);
    const Set arguments = store_.get(state, key_of(Key::arguments));
    store_.put(inner, key_of(Key::arguments), store_.one(joined(command.first + 1, command.first + command.count), provenance::kList));
    State back;
    State* const returned = returned_;
    Loop barrier;
    barrier.barrier = true;
    barrier.outer = loops_;
    Loop* const loops = loops_;
    Locals locals;
    locals.given = command.names;
    locals.given_count = command.name_count;
    Locals* const outer = locals_;
    returned_ = &back;
    loops_ = &barrier;
    locals_ = &locals;
    const std::uint16_t was = via_;
    via_ |= via::kFunction;
    const Flow flow = run(body, inner, ignores);
    via_ = was;
    returned_ = returned;
    loops_ = loops;
    locals_ = outer;
    back = store_.join(back, store_.join(barrier.broken, barrier.continued));
    const bool exhausted = calls_ > kCalls;
    --calls_;
    if (exhausted) visits_[body] = kDone;
    const auto leave_call = [&](State end) {
      if (!end.live) return end;
      for (uint32_t i = 0; i < locals.count; ++i) {
        const TextId name = locals.names[i];
        const Set is_local = store_.get(end, key_of(Key::is_local, name, depth));
        const Set saved = store_.get(end, key_of(Key::saved, name, depth));
        bool sure = is_local.count == 1 && store_.values(is_local)->text == kEmpty;
        for (uint32_t k = 0; k < command.name_count; ++k) sure = sure && command.names[k] != name;
        if (is_local.count == 1 && store_.values(is_local)->text == kUnset) continue;
        store_.put(end, variable(name), sure ? saved : store_.either(saved, store_.get(end, variable(name))));
        const Set export_before = store_.get(end, key_of(Key::saved_export, name, depth));
        store_.put(end, key_of(Key::exported, name), store_.either(export_before, store_.get(end, key_of(Key::exported, name))));
        store_.put(end, key_of(Key::is_local, name, depth), store_.none);
      }
      store_.put(end, key_of(Key::arguments), arguments);
      return end;
    };
    if (locals.full) return {cleared(state), cleared(state)};
    return {leave_call(store_.join(flow.ok, back)), leave_call(store_.join(flow.fail, back))};
  }

  // ---- the language's own commands

  Flow both(const State& state) const noexcept { return {state, state}; }

  Flow builtin(const syntax::BuiltinRow& row, const Command& command, const State& given, bool ignores) noexcept {
    State state = given;
    const uint32_t first = command.first + 1, end = command.first + command.count;
    const auto rest = [&](uint32_t from) { return Command{from, end - from, command.targets, command.target_count, command.span, command.names, command.name_count}; };
    switch (row.which) {
      case Builtin::colon:
      case Builtin::true_: return {state, {}};
      case Builtin::false_: return {{}, state};
      case Builtin::echo: {
        append_output(state, echoed(first, end));
        return {state, command.target_count != 0 ? state : State{}};
      }
      case Builtin::printf: {
        if (end - first > 1 && word_text(first) == "-v") {
          set_name(state, word_text(first + 1), {kOther, 0});
          return both(state);
        }
        append_output(state, formatted(first, end));
        return both(state);
      }
      case Builtin::pwd: {
        const Set folders = store_.get(state, key_of(Key::folder));
        Value made[kValues];
        for (uint32_t i = 0; i < folders.count; ++i) made[i] = {with_newline(store_.values(folders)[i].text), 0};
        append_output(state, store_.set_of(made, folders.count));
        return both(state);
      }
      case Builtin::cd:
      case Builtin::pushd: return change_folder(state, first, end);
      case Builtin::popd: {
        State moved = state;
        store_.put(moved, key_of(Key::folder), store_.either(store_.get(state, key_of(Key::old_folder)), store_.other));
        return {moved, state};
      }
      case Builtin::command:
      case Builtin::builtin: {
        uint32_t at = first;
        while (at < end && row.which == Builtin::command && word_text(at) == "-p") ++at;
        if (at < end && word_text(at).size() > 1 && word_text(at)[0] == '-' && word_text(at) != "--") {
          append_output(state, store_.one(kOther, provenance::kProgram));
          return both(state);
        }
        if (at < end && word_text(at) == "--") ++at;
        return dispatch(rest(at), state, ignores, false);
      }
      case Builtin::eval: {
        bool many = false;
        for (uint32_t i = first; i < end; ++i) many = many || words_[i].many;
        const std::uint16_t before = via_;
        via_ |= via::kEval;
        const Flow flow = run_code(many ? kOther : joined_by_blanks(first, end), state, ignores);
        via_ = before;
        return flow;
      }
      case Builtin::source: {
        const string_view file = first < end ? word_text(first) : string_view();
        if (file != "/dev/stdin" && file != "/dev/fd/0" && file != "/proc/self/fd/0") {
          unresolved(Unresolved::script);
          return both(state);
        }
        const Set given = store_.get(state, key_of(Key::input));
        State back;
        State* const returned = returned_;
        returned_ = &back;
        Flow flow;
        for (uint32_t i = 0; i < given.count; ++i) {
          const TextId code = store_.values(given)[i].text;
          const Flow one = run_code(code == kUnset ? kEmpty : code, state, ignores);
          flow = {store_.join(flow.ok, one.ok), store_.join(flow.fail, one.fail)};
        }
        returned_ = returned;
        return {store_.join(flow.ok, back), store_.join(flow.fail, back)};
      }
      case Builtin::exec: {
        uint32_t at = first;
        while (at < end && word_text(at).size() > 1 && word_text(at)[0] == '-') at += word_text(at) == "-a" ? 2 : 1;
        if (at >= end) {
          if (command.target_count != 0 && is_captured(state)) append_output(state, store_.other);
          return both(state);
        }
        program(rest(at), state);
        store_.put(state, key_of(Key::exit_trap), store_.none);
        leave(state, true, true);
        return {};
      }
      case Builtin::exit: {
        const bool known = first < end && is_known(word_text(first));
        const bool zero = known && word_text(first) == "0";
        leave(state, !known || zero, !known || !zero);
        return {};
      }
      case Builtin::return_:
        if (returned_ == nullptr) return {{}, state};
        *returned_ = store_.join(*returned_, state);
        return {};
      case Builtin::break_:
      case Builtin::continue_: return jump(row.which == Builtin::break_, state, first, end);
      case Builtin::set: return set_options(state, first, end);
      case Builtin::shift: {
        const Set lists = store_.get(state, key_of(Key::arguments));
        Value made[kValues];
        long long by = 1;
        const bool known = first >= end || to_number(word_text(first), &by);
        for (uint32_t i = 0; i < lists.count; ++i) {
          made[i] = store_.values(lists)[i];
          if (made[i].text == kOther || made[i].text == kUnset) continue;
          string_view list = text(made[i].text);
          if (!known || by < 0) made[i].text = kOther;
          else if (by <= elements(list)) {
            for (long long k = 0; k < by; ++k) list.remove_prefix(list.find(kBetween) + 1);
            made[i].text = id(list);
          }
        }
        store_.put(state, key_of(Key::arguments), store_.set_of(made, lists.count));
        return both(state);
      }
      case Builtin::trap: {
        uint32_t at = first;
        if (at < end && word_text(at) == "--") ++at;
        if (at + 1 >= end) {
          if (at < end && (word_text(at) == "EXIT" || word_text(at) == "0")) store_.put(state, key_of(Key::exit_trap), store_.none);
          return {state, {}};
        }
        const TextId code = words_[at].text;
        for (uint32_t i = at + 1; i < end; ++i) {
          const string_view signal = word_text(i);
          if (signal == "EXIT" || signal == "0" || !is_known(signal)) {
            store_.put(state, key_of(Key::exit_trap), word_text(at) == "-" ? store_.none : store_.one(code));
          } else if (word_text(at) != "-" && code != kEmpty) {
            // It may run at any time from here on.
            State end_state;
            in_copy(cleared(state), &end_state, [&](const State& inner) { return run_code(code, inner, true); });
            if (signal == "DEBUG") unresolved(Unresolved::code);
            const Flow flow = run_code(code, state, true);
            state = store_.join(state, store_.join(flow.ok, flow.fail));
          }
        }
        // There may be no such signal.
        return both(state);
      }
      case Builtin::export_:
      case Builtin::readonly:
      case Builtin::declare:
      case Builtin::local: return declare(row.which, state, first, end);
      case Builtin::unset: {
        bool function = false;
        for (uint32_t i = first; i < end; ++i) {
          if (word_text(i) == "-f") function = true;
          else if (word_text(i) == "-v" || word_text(i) == "-n") function = false;
          else if (!is_known(word_text(i))) state = store_.join(state, cleared(state));
          else if (function) store_.put(state, key_of(Key::function, words_[i].text), store_.none);
          else {
            store_.put(state, variable(words_[i].text), store_.none);
            store_.put(state, key_of(Key::exported, words_[i].text), store_.none);
          }
        }
        return {state, {}};
      }
      case Builtin::read:
      case Builtin::mapfile:
      case Builtin::getopts: {
        bool named = false;
        for (uint32_t i = first; i < end; ++i) {
          const string_view word = word_text(i);
          if (word.empty() || word[0] == '-' || !syntax::is_name_start(word[0])) continue;
          named = true;
          set_name(state, word, {kOther, provenance::kInput});
        }
        for (const string_view name : {string_view("REPLY"), string_view("MAPFILE"), string_view("OPTARG"), string_view("OPTIND")})
          if (!named || row.which == Builtin::getopts) set_name(state, name, {kOther, provenance::kInput});
        return both(state);
      }
      case Builtin::let:
        for (uint32_t i = first; i < end; ++i) arithmetic_text(word_text(i), state, 0);
        return both(state);
      case Builtin::test: return test(state, first, end, text(words_[command.first].text) == "[");
      case Builtin::shopt:
        for (uint32_t i = first; i < end; ++i) last_in_shell_ = last_in_shell_ || word_text(i) == "lastpipe" || !is_known(word_text(i));
        return both(state);
      case Builtin::wait:
      case Builtin::unalias: return both(state);
      case Builtin::alias:
        for (uint32_t i = first; i < end; ++i) {
          const std::size_t equals = word_text(i).find('=');
          if (equals == string_view::npos || equals == 0) continue;
          const TextId name = id(word_text(i).substr(0, equals)), code = id(word_text(i).substr(equals + 1));
          store_.put(state, key_of(Key::alias, name), store_.either(store_.get(state, key_of(Key::alias, name)), store_.one(code)));
        }
        return both(state);
      default:
        append_output(state, store_.one(kOther, provenance::kProgram));
        return both(state);
    }
  }

  // One that reads or computes sets a name, or an element, whose subscript is evaluated.
  void set_name(State& state, string_view name, Value value) noexcept {
    const std::size_t bracket = name.find('[');
    if (bracket != string_view::npos) {
      arithmetic_text(name.substr(bracket), state, 0);
      name = name.substr(0, bracket);
    }
    store_.put(state, variable(id(name)), store_.set_of(&value, 1));
  }

  TextId with_newline(TextId given) noexcept {
    const uint32_t mark = scratch_size_;
    for (const char c : text(given)) push_byte(c);
    push_byte('\n');
    const TextId made = id({scratch_ + mark, scratch_size_ - mark});
    scratch_size_ = mark;
    return made;
  }
  Set echoed(uint32_t first, uint32_t end) noexcept {
    bool newline = true;
    if (first < end && word_text(first) == "-n") {
      newline = false;
      ++first;
    }
    const bool options = first < end && word_text(first).size() > 1 && word_text(first)[0] == '-';
    const TextId joined = joined_by_blanks(first, end);
    bool escapes = false;
    for (const char c : text(joined)) escapes = escapes || c == '\\';
    for (uint32_t i = first; i < end; ++i) escapes = escapes || words_[i].glob;
    if (options || (escapes && (options_.shell != syntax::Shell::bash)) || store_.full()) return store_.one(kOther, provenance::kProgram);
    for (uint32_t i = first; i < end; ++i)
      if (words_[i].glob) return store_.one(kOther, provenance::kProgram);
    return store_.one(newline ? with_newline(joined) : joined);
  }
  Set formatted(uint32_t first, uint32_t end) noexcept {
    if (first >= end) return store_.one(kEmpty);
    const string_view format = word_text(first);
    const uint32_t mark = scratch_size_;
    uint32_t next = first + 1;
    bool known = is_known(format) && format.find('\\') == string_view::npos;
    // A format of plain text and %s, used again while arguments are left.
    std::size_t given = 0;
    for (std::size_t i = 0; i < format.size(); ++i) given += format[i] == '%';
    do {
      for (std::size_t i = 0; i < format.size() && known; ++i) {
        if (format[i] != '%') {
          push_byte(format[i]);
        } else if (i + 1 < format.size() && format[i + 1] == 's') {
          ++i;
          if (next < end) {
            known = known && !words_[next].many && !words_[next].glob;
            for (const char c : word_text(next)) push_byte(c);
            ++next;
          }
        } else {
          known = false;
        }
      }
    } while (known && next < end && given != 0);
    const TextId made = known ? id({scratch_ + mark, scratch_size_ - mark}) : kOther;
    scratch_size_ = mark;
    return store_.one(made, known ? uint8_t{0} : provenance::kProgram);
  }

  Flow change_folder(const State& state, uint32_t first, uint32_t end) noexcept {
    uint32_t at = first;
    while (at < end && word_text(at).size() > 1 && word_text(at)[0] == '-' && word_text(at) != "--" && !syntax::is_digit(word_text(at)[1])) ++at;
    if (at < end && word_text(at) == "--") ++at;
    const Set from = store_.get(state, key_of(Key::folder));
    Set made = store_.other;
    if (at < end && word_text(at) == "-") {
      made = store_.get(state, key_of(Key::old_folder));
    } else if (at >= end) {
      made = store_.get(state, variable(home_));
      Value kept[kValues];
      uint32_t count = 0;
      for (uint32_t i = 0; i < made.count && i < kValues; ++i) {
        const Value value = store_.values(made)[i];
        if (value.text != kUnset) kept[count++] = value;
      }
      made = count != 0 ? store_.set_of(kept, count) : from;
    } else if (!words_[at].many && !words_[at].glob) {
      Value kept[kValues];
      uint32_t count = 0;
      for (uint32_t i = 0; i < from.count && i < kValues; ++i) kept[count++] = {moved(store_.values(from)[i].text, words_[at].text), words_[at].origin};
      made = store_.set_of(kept, count);
      const Set paths = store_.get(state, variable(id("CDPATH")));
      const char start = word_text(at).empty() ? '/' : word_text(at)[0];
      if (start != '/' && start != '.' && !(paths.count == 1 && store_.values(paths)->text == kUnset)) made = in_paths(made, paths, words_[at]);
    }
    State there = state;
    const Set searched = store_.get(state, variable(id("CDPATH")));
    // Where it was found along CDPATH, the folder is printed.
    if (searched.count == 1 && store_.values(searched)->text != kUnset) append_output(there, store_.one(kOther, provenance::kProgram));
    store_.put(there, key_of(Key::folder), made);
    store_.put(there, key_of(Key::old_folder), from);
    return {there, state};
  }
  // Folders that CDPATH may lead to.
  Set in_paths(Set found, Set paths, const Word& word) noexcept {
    for (uint32_t i = 0; i < paths.count; ++i) {
      const TextId path = store_.values(paths)[i].text;
      if (path == kUnset || path == kEmpty) continue;
      const bool one = is_known(text(path)) && text(path).find(':') == string_view::npos && text(path)[0] == '/';
      // Nothing tells that there is a CDPATH where the text sets none.
      if (path == kOther && (store_.values(paths)[i].origin & provenance::kEnvironment) != 0) continue;
      found = store_.either(found, one ? store_.one(moved(path, word.text), word.origin) : store_.other);
    }
    return found;
  }
  // `to` seen from `from`, without . and ..
  TextId moved(TextId from, TextId to) noexcept {
    const string_view target = text(to);
    if (!is_known(target)) return kOther;
    if (target.empty()) return from;
    if (target[0] != '/' && (from == kOther || !is_known(text(from)))) return kOther;
    const uint32_t mark = scratch_size_;
    const auto add = [&](string_view path) {
      while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const string_view part = path.substr(0, slash);
        path.remove_prefix(slash == string_view::npos ? path.size() : slash + 1);
        if (part.empty() || part == ".") continue;
        if (part == "..") {
          while (scratch_size_ > mark && scratch_[scratch_size_ - 1] != '/') --scratch_size_;
          if (scratch_size_ > mark) --scratch_size_;
          continue;
        }
        push_byte('/');
        for (const char c : part) push_byte(c);
      }
    };
    if (target[0] != '/') add(text(from));
    add(target);
    if (scratch_size_ == mark) push_byte('/');
    const TextId made = id({scratch_ + mark, scratch_size_ - mark});
    scratch_size_ = mark;
    return made;
  }

  Flow jump(bool breaks, const State& state, uint32_t first, uint32_t end) noexcept {
    long long levels = 1;
    const bool known = first >= end || to_number(word_text(first), &levels);
    Loop* loop = loops_;
    if (loop == nullptr) return {state, {}};
    if (loop->barrier && calls_ != 0 && loop->outer == nullptr) return {state, {}};
    if (loop->barrier) {
      // In a function or a shell of its own: it ends that, or does nothing.
      loop->broken = store_.join(loop->broken, state);
      return {state, {}};
    }
    for (; known && levels > 1 && loop->outer != nullptr && !loop->outer->barrier; --levels) loop = loop->outer;
    if (breaks) {
      loop->broken = store_.join(loop->broken, state);
    } else {
      loop->continued = store_.join(loop->continued, state);
    }
    if (!known) return both(state);
    return {};
  }

  Flow set_options(State state, uint32_t first, uint32_t end) noexcept {
    for (uint32_t i = first; i < end; ++i) {
      const string_view word = word_text(i);
      if (!is_known(word) || words_[i].many) {
        store_.put(state, key_of(Key::errexit), store_.unset_or_other);
        store_.put(state, key_of(Key::arguments), store_.other);
        continue;
      }
      const bool on = !word.empty() && word[0] == '-', off = !word.empty() && word[0] == '+';
      if (word == "--" || (!on && !off)) {
        const uint32_t from = word == "--" ? i + 1 : i;
        store_.put(state, key_of(Key::arguments), store_.one(joined(from, end), provenance::kList));
        break;
      }
      bool errexit = word.find('e', 1) != string_view::npos;
      if (on && word.find('a', 1) != string_view::npos) exports_all_ = true;
      if (word.find('o', 1) != string_view::npos && i + 1 < end) {
        ++i;
        exports_all_ = exports_all_ || word_text(i) == "allexport" || !is_known(word_text(i));
        errexit = errexit || word_text(i) == "errexit" || !is_known(word_text(i));
      }
      if (errexit) store_.put(state, key_of(Key::errexit), on ? store_.one(kEmpty) : store_.none);
    }
    return {state, {}};
  }

  Flow declare(Builtin which, State state, uint32_t first, uint32_t end) noexcept {
    bool exports = which == Builtin::export_, unexports = false, global = false, functions = false, computed = false;
    bool fails = false;
    const State before = state;
    for (uint32_t i = first; i < end; ++i) {
      const string_view word = word_text(i);
      if (word.size() > 1 && (word[0] == '-' || word[0] == '+') && is_known(word)) {
        for (const char c : word.substr(1)) {
          // An error of a special builtin ends dash.
          if (c != 'p' && which != Builtin::declare && options_.shell != syntax::Shell::bash) {
            fails = true;
            leave(state, false, true);
          }
          if (c == 'x' && which != Builtin::export_) (word[0] == '-' ? exports : unexports) = true;
          if (c == 'n' && which == Builtin::export_) unexports = true;
          if (c == 'g') global = true;
          if (c == 'f' || c == 'F' || c == 'p') functions = true;
          // Another name for a variable: then any assignment may set it.
          if (c == 'n' && which != Builtin::export_) {
            unresolved(Unresolved::code);
            state = cleared(state);
          }
          if (c == 'i' || c == 'u' || c == 'l' || c == 'A') computed = computed || which != Builtin::export_;
        }
        continue;
      }
      if (functions) continue;
      const std::size_t equals = word.find('=');
      string_view name = word.substr(0, equals);
      if (!name.empty() && name.back() == '+') name.remove_suffix(1);
      if (!is_known(name) || words_[i].many) {
        state = store_.join(state, cleared(state));
        continue;
      }
      if (name.empty() || !syntax::is_name_start(name[0])) fails = true;
      const TextId name_id = id(name.substr(0, name.find('[')));
      const bool appends = equals != string_view::npos && equals > 0 && word_text(i)[equals - 1] == '+';
      const bool element = name.find('[') != string_view::npos;
      if (element) arithmetic_text(text(id(name.substr(name.find('[')))), state, 0);
      if ((which == Builtin::local || which == Builtin::declare) && !global && calls_ != 0 && locals_ != nullptr) make_local(state, name_id);
      else if (which == Builtin::local) fails = true;
      if (equals != string_view::npos) {
        const TextId value = id(word_text(i).substr(equals + 1));
        store_.put(state, variable(name_id), appends || element || computed ? store_.other : store_.one(value, words_[i].origin));
      }
      if (exports) store_.put(state, key_of(Key::exported, name_id), store_.one(kEmpty));
      if (unexports) store_.put(state, key_of(Key::exported, name_id), store_.none);
    }
    // Outside of a function `local` sets nothing.
    if (which == Builtin::local && (calls_ == 0 || locals_ == nullptr)) return {state, store_.join(before, state)};
    return {state, fails ? state : State{}};
  }

  struct Locals {
    TextId names[kLocals];
    uint32_t count = 0;
    bool full = false;
    const TextId* given = nullptr;  // names assigned before the call
    uint32_t given_count = 0;
  };
  void make_local(State& state, TextId name) noexcept {
    const auto depth = static_cast<uint32_t>(calls_);
    uint32_t at = 0;
    while (at < locals_->count && locals_->names[at] != name) ++at;
    if (at == locals_->count) {
      if (at == kLocals) {
        locals_->full = true;
        return;
      }
      locals_->names[locals_->count++] = name;
    }
    const std::uint64_t is_local = key_of(Key::is_local, name, depth), saved = key_of(Key::saved, name, depth);
    const std::uint64_t saved_export = key_of(Key::saved_export, name, depth);
    const Set was = store_.get(state, is_local);
    bool may_be = false, may_not = false;
    for (uint32_t i = 0; i < was.count; ++i) {
      may_be = may_be || store_.values(was)[i].text != kUnset;
      may_not = may_not || store_.values(was)[i].text != kEmpty;
    }
    if (may_not) {
      const Set old = store_.get(state, variable(name)), old_export = store_.get(state, key_of(Key::exported, name));
      store_.put(state, saved, may_be ? store_.either(store_.get(state, saved), old) : old);
      store_.put(state, saved_export, may_be ? store_.either(store_.get(state, saved_export), old_export) : old_export);
    }
    store_.put(state, is_local, store_.one(kEmpty));
    // Unset in bash, as it was in dash; a second one leaves it.
    if (!may_not) return;
    for (uint32_t i = 0; i < locals_->given_count; ++i) may_be = may_be || locals_->given[i] == name;
    store_.put(state, variable(name), may_be || options_.shell != syntax::Shell::bash ? store_.either(store_.get(state, variable(name)), store_.none) : store_.none);
  }

  // Exact on constants alone.
  Flow test(const State& state, uint32_t first, uint32_t end, bool bracket) noexcept {
    if (bracket && end > first && word_text(end - 1) == "]") --end;
    for (uint32_t i = first; i < end; ++i) {
      if (is_known(word_text(i)) && !words_[i].many && !words_[i].glob) continue;
      State read = state;
      for (uint32_t k = first; k < end; ++k)
        if (word_text(k).find('[') != string_view::npos) arithmetic_text(word_text(k), read, 0);
      return both(read);
    }
    const uint32_t count = end - first;
    int holds = -1;
    if (count == 0) holds = 0;
    if (count == 1) holds = !word_text(first).empty();
    if (count == 2 && word_text(first) == "-n") holds = !word_text(first + 1).empty();
    if (count == 2 && word_text(first) == "-z") holds = word_text(first + 1).empty();
    if (count == 3 && (word_text(first + 1) == "=" || word_text(first + 1) == "==")) holds = word_text(first) == word_text(first + 2);
    if (count == 3 && word_text(first + 1) == "!=") holds = word_text(first) != word_text(first + 2);
    if (holds < 0) {
      State read = state;
      for (uint32_t k = first; k < end; ++k)
        if (word_text(k).find('[') != string_view::npos) arithmetic_text(word_text(k), read, 0);
      return both(read);
    }
    return {holds != 0 ? state : State{}, holds != 0 ? State{} : state};
  }

  struct Printed {
    uint32_t node = kNone, size = 0;
    State state;
    Set set;
    bool ok = false, fail = false;
  };
  static constexpr uint32_t kPrinted = 8;

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
  const Host host_;
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
  bool last_in_shell_ = false;  // the last stage of a pipeline may run in the shell itself
  uint32_t more_visits_ = kMoreVisits;
  int level_ = 0, calls_ = 0, texts_ = 0;
  std::uint16_t via_ = 0;
  unsigned unresolved_ = 0;
};

}  // namespace

unsigned evaluate(string_view text, const Start& start, const Host& host, void* memory, std::size_t bytes) noexcept {
  // Half for the store; then nodes and their counters, code, scratch and words.
  auto* at = static_cast<unsigned char*>(memory);
  Store store(at, bytes / 2);
  store.closed = start.closed_environment;
  at += bytes / 2;
  const std::size_t share = bytes / 16 & ~std::size_t{15};
  auto* const words = reinterpret_cast<Word*>(at);
  at += share;
  auto* const nodes = at;
  at += 4 * share;
  auto* const code = reinterpret_cast<char*>(at);
  at += share;
  auto* const scratch = reinterpret_cast<char*>(at);
  at += share;
  syntax::Tree tree(nodes, 4 * share, code);
  Evaluator evaluator(store, tree, code, static_cast<uint32_t>(share), at, scratch, static_cast<uint32_t>(share), words,
                      static_cast<uint32_t>(share / sizeof(Word)), start, host);
  return evaluator.evaluate(text, start);
}

}  // namespace tipstaff::eval
