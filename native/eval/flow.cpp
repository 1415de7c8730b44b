// Texts, lists, pipelines, compounds and loops: states fork where a status decides and join behind.
#include "tipstaff/eval/evaluator.hpp"

namespace tipstaff::eval {

Flow Evaluator::run_text(string_view source, const State& state, bool ignores, const Origin& origin) noexcept {
  if (source.size() > code_capacity_ - code_size_ || texts_ == kTexts) {
    unresolved(Unresolved::limit);
    return {cleared(state), cleared(state)};
  }
  const uint32_t start = code_size_;
  sources_[source_count_++ % kSources] = {start, static_cast<uint32_t>(source.size()), origin};
  if (!source.empty()) std::memcpy(code_ + start, source.data(), source.size());
  if (judges())  // what another system's line ends leave over
    for (uint32_t i = start; i < start + source.size(); ++i)
      if (code_[i] == '\r') code_[i] = i + 1 < start + source.size() && code_[i + 1] == '\n' ? '\v' : ' ';
  code_size_ += static_cast<uint32_t>(source.size());
  const uint32_t first = tree_.size();
  const syntax::Span spot = spot_;
  spot_ = {start, static_cast<uint32_t>(start + source.size())};
  const syntax::Parsed parsed = syntax::parse_shell(tree_, start, static_cast<uint32_t>(source.size()), options_);
  std::memset(visits_ + first, 0, tree_.size() - first);
  if (parsed.status == syntax::Status::depth) unresolved(Unresolved::depth);
  else if (parsed.status == syntax::Status::full) unresolved(Unresolved::limit);
  else if (parsed.status != syntax::Status::complete) unresolved(Unresolved::syntax);
  if (parsed.root == kNone) {
    spot_ = spot;
    return {state, state};
  }
  ++texts_;
  if (texts_ == 1) root_ = parsed.root;
  Flow flow = run(parsed.root, state, ignores);
  if (judges()) run_uncalled(first, store_.join(store_.join(flow.ok, flow.fail), state));
  --texts_;
  spot_ = spot;
  if (parsed.status != syntax::Status::complete) flow.fail = store_.join(flow.fail, flow.ok);
  return flow;
}

Flow Evaluator::run(uint32_t index, const State& given, bool ignores) noexcept {
  if (!given.live) return {};
  if (index == kNone) return {given, given};  // of a text that ends before
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
      State shadow = state;
      bool ended = false;
      uint32_t last = kNone;
      for (uint32_t i = node.first_child; i != kNone; last = i, i = tree_[i].next) {
        // A wrong expansion drops the rest of the line, and the shell reads on.
        if (index == root_ && discarded_.live && last != kNone &&
            tree_.text({tree_[last].span.end, tree_[i].span.start}).find('\n') != string_view::npos) {
          flow.fail = store_.join(flow.fail, discarded_);
          discarded_ = {};
        }
        const State before = store_.join(flow.ok, flow.fail);
        if (before.live) {
          shadow = before;
        } else if (judges() && shadow.live) {
          if (!ended && exits_->state.live) shadow = exits_->state;
          ended = true;
          // Behind what ends the shell: judged as if it ran.
          State end;
          in_copy(shadow, &end, [&](const State& inner) {
            const Flow dead = run(i, inner, true);
            shadow = store_.join(shadow, store_.join(dead.ok, dead.fail));
            return dead;
          });
          continue;
        }
        flow = run(i, before, ignores);
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
      const Condition conditional(*this);
      const uint32_t right = tree_[node.first_child].next;
      const State& next = node.kind == Kind::and_if ? left.ok : left.fail;
      if (judges() && !next.live && (left.ok.live || left.fail.live)) {
        // It does not happen as far as is known, and is judged nevertheless.
        State end;
        in_copy(state, &end, [&](const State& inner) { return run(right, inner, true); });
      }
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
      if (tree_[node.first_child].next == kNone) return {state, {}};
      store_.put(defined, key_of(Key::function, id(tree_.text(node.first_child))), store_.one(3 + tree_[node.first_child].next));
      return {defined, {}};
    }
    case Kind::foreign: return {state, state};
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
  Target targets[kTargets];
  uint32_t count = 0;
  for (uint32_t i = tree_[index].first_child; i != kNone; i = tree_[i].next) {
    if (tree_[i].kind != Kind::redirection) continue;
    if (leaves_output(i)) captured = false;
    Choices choices;
    const Hold hold(*this, state, choices);
    Set input;
    Target target{};
    redirect(i, &target, &input);
    if (count < kTargets) targets[count++] = target;
    else unresolved(Unresolved::limit);
    if (input.count != 0) {
      store_.put(state, key_of(Key::input), input);
      has_input = true;
    }
  }
  const bool looks = tree_[index].kind == Kind::while_loop || tree_[index].kind == Kind::until_loop || tree_[index].kind == Kind::for_loop;
  const Set printed = store_.get(state, key_of(Key::output)), fed = store_.get(given, key_of(Key::input));
  if (!captured && judges()) store_.put(state, key_of(Key::output), nothing());
  if (!judges() && count != 0) report(state, nullptr, 0, targets, count, tree_[index].span);
  if (judges() && looks) host_.judge->loop(host_.self, true, tree_[index].span);
  const bool condition = condition_;
  condition_ = false;
  Flow flow = compound_body(index, state, ignores);
  condition_ = condition;
  if (judges() && looks) host_.judge->loop(host_.self, false, tree_[index].span);
  if (judges() && count != 0) {
    // What it printed is what is written.
    State end = store_.join(flow.ok, flow.fail);
    if (!end.live) end = state;
    written_ = store_.get(end, key_of(Key::output));
    State at = given;
    report(at, nullptr, 0, targets, count, tree_[index].span);
    written_ = {};
  }
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
          const Condition conditional(*this);
          const Flow body = run(i, rest, ignores);
          return {store_.join(out.ok, body.ok), store_.join(out.fail, body.fail)};
        }
        const bool was = condition_;
        condition_ = true;
        const Flow condition = run(i, rest, true);
        condition_ = was;
        const Condition conditional(*this);
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

Flow Evaluator::run_code(TextId code, const State& state, bool ignores, const Origin* origin) noexcept {
  Origin own = origin != nullptr ? *origin : Origin{origin_of(spot_).span, false};
  if (judges() && code != kOther) own = host_.judge->place(host_.self, text(code), own.span);
  if (judges() && code != kOther) return run_text(text(code), state, ignores, own);
  if (!is_known(text(code))) {
    unresolved(Unresolved::code);
    if (judges()) return {state, state};
    return {cleared(state), cleared(state)};
  }
  return run_text(text(code), state, ignores, own);
}

Flow Evaluator::pipeline(const Node& node, const State& state, bool ignores) noexcept {
  Set input = store_.get(state, key_of(Key::input));
  const uint32_t pipe_from = pipe_from_;
  for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
    State stage = state;
    const uint32_t from = i == node.first_child ? kNone : tail_;
    if (i != node.first_child) pipe_from_ = from;
    head_ = tail_ = kNone;
    store_.put(stage, key_of(Key::input), input);
    State end;
    if (tree_[i].next == kNone) {
      Flow flow = subshell(i, stage, ignores, &end);
      if (judges() && from != kNone && head_ != kNone) host_.judge->piped(host_.self, from, head_);
      if (last_in_shell_ || options_.shell == syntax::Shell::zsh) {
        const Flow here = run(i, stage, ignores);
        flow = {store_.join(flow.ok, here.ok), store_.join(flow.fail, here.fail)};
      }
      for (State* after : {&flow.ok, &flow.fail})
        if (after->live) store_.put(*after, key_of(Key::input), store_.get(state, key_of(Key::input)));
      pipe_from_ = pipe_from;
      return errexit(flow, ignores);
    }
    store_.put(stage, key_of(Key::output), nothing());
    subshell(i, stage, ignores, &end);
    if (judges() && from != kNone && head_ != kNone) host_.judge->piped(host_.self, from, head_);
    input = end.live ? store_.get(end, key_of(Key::output)) : store_.one(kEmpty);
  }
  return {state, state};
}

// To a fixpoint; `item` gives the variable of a `for` its value at the head.
Flow Evaluator::loop(uint32_t condition, bool until, uint32_t body, const Set* item, const State& state, bool ignores) noexcept {
  const Condition conditional(*this);
  Loop own;
  own.outer = loops_;
  Loop* const outer = loops_;
  State head = state, done;
  for (int round = 0; round < 8; ++round) {
    loops_ = &own;
    Flow tested{head, head};
    if (condition != kNone) {
      const bool was = condition_;
      condition_ = true;
      tested = run(condition, head, true);
      condition_ = was;
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
      exact = exact && (judges() || (!word.many && !word.glob));
      if (kept < kValues) items[kept++] = {word.text, static_cast<std::uint16_t>(word.origin | provenance::kItem)};
      if (judges() && word.glob) items[kept - 1].origin |= provenance::kPattern;
      else if (word.many || word.glob) items[kept - 1].text = word.glob && !word.many ? pattern_text(word.text) : word.text;
    }
    const uint32_t written = node.has(flag::kIn) ? tree_[tree_[node.first_child].next].kind == Kind::word : 0;
    if (judges() && count == 0 && written != 0) {
      // A list of which nothing is left here.
      items[kept++] = {kOther, provenance::kMayBeEmpty};
      exact = false;
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
      if (count > kValues || (node.kind == Kind::select_loop && !judges())) items[0] = {kOther, provenance::kItem}, kept = 1;
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
    if (!from.live && judges()) {
      // What no value reaches is judged, too.
      const Condition conditional(*this);
      uint32_t dead = tree_[item].first_child;
      while (dead != kNone && tree_[dead].kind == Kind::word) dead = tree_[dead].next;
      State end;
      if (dead != kNone) in_copy(state, &end, [&](const State& inner) { return run(dead, inner, true); });
    }
    if (!from.live) continue;
    const Condition conditional(*this);
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

// Bodies of functions that nothing called: what they would do is judged, too.
void Evaluator::run_uncalled(uint32_t first, const State& state) noexcept {
  const uint32_t end = tree_.size();
  for (uint32_t i = first; i < end; ++i) {
    if (tree_[i].kind != Kind::function) continue;
    const uint32_t body = tree_[tree_[i].first_child].next;
    if (body == kNone || visits_[body] != 0) continue;
    State inner = state;
    store_.put(inner, key_of(Key::arguments), store_.one(kOther, provenance::kEnvironment | provenance::kMayBeEmpty));
    store_.put(inner, key_of(Key::errexit), store_.none);
    store_.put(inner, key_of(Key::output), store_.none);
    const std::uint16_t was = via_;
    via_ |= host_.judge->runs_itself(host_.self, tree_.text(tree_[i].first_child)) ? via::kTrap : via::kUncalled;
    Locals locals;
    Locals* const outer = locals_;
    State back;
    State* const returned = returned_;
    locals_ = &locals;
    returned_ = &back;
    ++calls_;
    State after;
    in_copy(inner, &after, [&](const State& copy) { return run(body, copy, true); });
    --calls_;
    returned_ = returned;
    locals_ = outer;
    via_ = was;
  }
}

Origin Evaluator::origin_of(syntax::Span span) const noexcept {
  for (uint32_t k = source_count_, steps = 0; k-- > 0 && steps < kSources; ++steps) {
    const Source& source = sources_[k % kSources];
    if (span.start < source.start || span.end > source.start + source.size) continue;
    if (!source.origin.verbatim) return source.origin;
    return {{source.origin.span.start + (span.start - source.start), source.origin.span.start + (span.end - source.start)}, true};
  }
  return {{0, 0}, false};
}

Set Evaluator::run_inner(State& state, const Inner& inner) noexcept {
  if (++texts_ >= kTexts || level_ >= kDepth) {
    --texts_;
    unresolved(Unresolved::depth);
    return {};
  }
  const uint32_t carrier = carrier_, pipe_from = pipe_from_, head = head_, tail = tail_;
  const std::uint16_t was = via_;
  State* const here = here_;
  Choices* const choices = choices_;
  bool* const failed = failed_;
  carrier_ = inner.carrier;
  pipe_from_ = inner.pipe_from;
  head_ = tail_ = kNone;
  via_ = inner.via;
  const bool condition = condition_;
  condition_ = false;
  State own = state;
  if (inner.program) {
    own = store_.environment(state, exports_functions_);
    for (const Key key : {Key::folder, Key::output, Key::input}) store_.put(own, key_of(key), store_.get(state, key_of(key)));
    store_.put(own, key_of(Key::exit_trap), store_.none);
    store_.put(own, key_of(Key::errexit), store_.none);
    store_.put(own, key_of(Key::arguments), store_.one(kEmpty));
  }
  const Set arguments = store_.get(state, key_of(Key::arguments)), output = store_.get(state, key_of(Key::output)), input = store_.get(state, key_of(Key::input));
  if (inner.has_arguments) store_.put(own, key_of(Key::arguments), store_.one(inner.arguments, static_cast<std::uint16_t>(provenance::kList | inner.argument_origin)));
  if (inner.zero != kUnset) store_.put(own, variable(id("0")), store_.one(inner.zero, inner.argument_origin));
  if (inner.input != nullptr) store_.put(own, key_of(Key::input), *inner.input);
  store_.put(own, key_of(Key::output), inner.captured ? nothing() : store_.none);
  Set printed;
  if (inner.copy) {
    State end;
    in_copy(own, &end, [&](const State& copy) { return run_text(inner.text, copy, false, inner.origin); });
    if (end.live) printed = store_.get(end, key_of(Key::output));
  } else {
    State back;
    State* const returned = returned_;
    returned_ = &back;
    const Flow flow = run_text(inner.text, own, false, inner.origin);
    returned_ = returned;
    State end = store_.join(store_.join(flow.ok, flow.fail), back);
    printed = end.live ? store_.get(end, key_of(Key::output)) : Set{};
    const bool live = end.live;
    if (live) {
      state = end;
      store_.put(state, key_of(Key::arguments), arguments);
      store_.put(state, key_of(Key::output), output);
      store_.put(state, key_of(Key::input), input);
    }
    ended_ = !live;
  }
  inner_tail_ = tail_;
  here_ = here;
  choices_ = choices;
  failed_ = failed;
  carrier_ = carrier;
  pipe_from_ = pipe_from;
  head_ = head;
  tail_ = tail;
  via_ = was;
  condition_ = condition;
  --texts_;
  return printed;
}

unsigned evaluate(string_view text, const Start& start, const Host& host, void* memory, std::size_t bytes) noexcept {
  Machine* const machine = Machine::make(memory, bytes, start.options, host);
  if (machine == nullptr) return static_cast<unsigned>(Unresolved::limit);
  machine->evaluator().store().closed = start.closed_environment;
  return machine->evaluator().evaluate(text, start);
}

}  // namespace tipstaff::eval
