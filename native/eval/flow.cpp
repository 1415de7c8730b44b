// Texts, lists, pipelines, compounds and loops: states fork where a status decides and join behind.
#include "tipstaff/eval/evaluator.hpp"

namespace tipstaff::eval {

Flow Evaluator::run_text(string_view source, const State& state, bool ignores) noexcept {
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

Flow Evaluator::run(uint32_t index, const State& given, bool ignores) noexcept {
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

Flow Evaluator::evaluate_node(uint32_t index, const State& state, bool ignores) noexcept {
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
Flow Evaluator::compound(uint32_t index, const State& given, bool ignores) noexcept {
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

Flow Evaluator::compound_body(uint32_t index, const State& state, bool ignores) noexcept {
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

Flow Evaluator::errexit(Flow flow, bool ignores) noexcept {
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

void Evaluator::leave(const State& state, bool zero, bool nonzero) noexcept {
  if (!state.live) return;
  exits_->state = store_.join(exits_->state, state);
  exits_->zero = exits_->zero || zero;
  exits_->nonzero = exits_->nonzero || nonzero;
}

// What leaves the shell runs its trap.
State Evaluator::at_exit(const State& end, Exits* out) noexcept {
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

Flow Evaluator::run_code(TextId code, const State& state, bool ignores) noexcept {
  if (!is_known(text(code))) {
    unresolved(Unresolved::code);
    return {cleared(state), cleared(state)};
  }
  return run_text(text(code), state, ignores);
}

Flow Evaluator::pipeline(const Node& node, const State& state, bool ignores) noexcept {
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

// To a fixpoint; `item` gives the variable of a `for` its value at the head.
Flow Evaluator::loop(uint32_t condition, bool until, uint32_t body, const Set* item, const State& state, bool ignores) noexcept {
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

Flow Evaluator::for_loop(const Node& node, const State& state, bool ignores) noexcept {
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
TextId Evaluator::pattern_text(TextId pattern) noexcept {
  const string_view written = text(pattern);
  const std::size_t mark = scratch_size_;
  for (const char c : written) push_byte(c == '*' || c == '?' || c == '[' ? kUnknownPart : c);
  const TextId made = id({scratch_ + mark, scratch_size_ - mark});
  scratch_size_ = static_cast<uint32_t>(mark);
  return made;
}

Flow Evaluator::case_clause(const Node& node, const State& state, bool ignores) noexcept {
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
