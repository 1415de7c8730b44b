// Simple commands: redirections, assignments, and the calls that words become.
#include "tipstaff/eval/evaluator.hpp"

namespace tipstaff::eval {

bool Evaluator::leaves_output(uint32_t index) const noexcept {
  const auto kind = static_cast<Redirect>(tree_[index].aux);
  if (kind == Redirect::input || kind == Redirect::here_document || kind == Redirect::here_string || kind == Redirect::from_descriptor) return false;
  const uint32_t first = tree_[index].first_child;
  return first == kNone || tree_[first].kind != Kind::name || tree_.text(first) == "1";
}

void Evaluator::redirect(uint32_t index, Target* target, Set* input) noexcept {
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
    std::uint16_t origin = 0;
    TextId given = body == kNone ? kEmpty : one_text(body, false, &origin);
    if (node.has(flag::kStripsTabs)) given = without_tabs(given);
    if (is_input) *input = store_.one(given, origin);
    target->node = index;
    target->input = *input;
    return;
  }
  {
    Builder builder(*this);
    for (uint32_t i = tree_[word].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, false, false);
    target->text = id(builder.text());
    target->origin = builder.origin;
    target->glob = builder.glob;
    target->quoted = builder.quoted;
    target->node = index;
  }
  if (!is_input) return;
  if (kind == Redirect::here_string) {
    const uint32_t mark = scratch_size_;
    for (const char c : text(target->text)) push_byte(c);
    if (!judges()) push_byte('\n');
    *input = store_.one(id({scratch_ + mark, scratch_size_ - mark}), target->origin);
    scratch_size_ = mark;
  } else if (kind == Redirect::input || kind == Redirect::both || kind == Redirect::from_descriptor) {
    *input = store_.one(kOther, provenance::kInput);
    if (judges() && kind != Redirect::from_descriptor && is_known(text(target->text))) {
      const Value file{target->text, target->origin, 1};
      *input = store_.set_of(&file, 1);
    }
    if (judges() && kind == Redirect::from_descriptor) *input = {};
  }
  target->input = *input;
}

TextId Evaluator::without_tabs(TextId given) noexcept {
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

Flow Evaluator::simple(uint32_t index, const State& state, bool ignores) noexcept {
  const Node node = tree_[index];
  spot_ = node.span;
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
          first_word_ = word_count_ == first;
          expand(i, true);
          first_word_ = false;
        } else if (tree_[i].kind == Kind::assignment && tree_[i].has(flag::kArgument)) {
          word_ = i;
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

bool Evaluator::may_not_open(const Node& node) const noexcept {
  for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) {
    if (tree_[i].kind != Kind::redirection) continue;
    const auto kind = static_cast<Redirect>(tree_[i].aux);
    if (kind != Redirect::here_document && kind != Redirect::here_string && kind != Redirect::to_descriptor) return true;
  }
  return false;
}

// NAME=value as an argument of a command that declares: one word, with the list's elements where it is an array.
void Evaluator::declared_argument(uint32_t index) noexcept {
  Builder builder(*this);
  const uint32_t name = tree_[index].first_child;
  builder.add(tree_.text(name));
  uint32_t value = tree_[name].next;
  if (value != kNone && tree_[value].kind == Kind::subscript) value = tree_[value].next;
  builder.add("=");
  if (value != kNone && tree_[value].kind == Kind::array) {
    const uint32_t mark = word_count_, written = word_;
    bool known = judges();
    for (uint32_t i = tree_[value].first_child; i != kNone; i = tree_[i].next) {
      if (tree_[i].kind == Kind::word) {
        Builder inner(*this);
        expand(i, true);
      } else {
        for (uint32_t k = tree_[i].first_child; k != kNone; k = tree_[k].next)
          if (tree_[k].kind == Kind::word) push_word({one_text(k, false)});
      }
    }
    for (uint32_t i = mark; i < word_count_; ++i) known = known && !words_[i].many && !words_[i].glob;
    if (known) {
      for (uint32_t i = mark; i < word_count_; ++i) {
        builder.add(word_text(i));
        push_byte(kBetween);
      }
      builder.origin |= provenance::kList;
    } else {
      builder.add(string_view(&kUnknownPart, 1));
    }
    word_count_ = mark;
    word_ = written;
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

TextId Evaluator::assign(uint32_t index, State& state, bool exported) noexcept {
  const Node& node = tree_[index];
  const uint32_t name_at = node.first_child;
  const TextId name = referred(state, id(tree_.text(name_at)));
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
        known = known && judges();
        for (uint32_t k = tree_[i].first_child; k != kNone; k = tree_[k].next) {
          if (judges() && tree_[k].kind == Kind::word) push_word({one_text(k, false)});
          else one_text(k, false);
        }
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
      const bool long_text = judges() && builder.text().size() > 4 * kBuilt;
      if (long_text) unresolved(Unresolved::limit);
      made = {long_text ? kOther : id(builder.text()), builder.origin};
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
      if (subscript != kNone && judges() && (old.text == kUnset || (old.text == kOther && store_.get(state, variable(name)).first == store_.unset_or_other.first) || ((old.origin & provenance::kList) != 0 && old.text != kOther)) && made.text != kOther) {
        // An element more; which one it is does not matter where its key is no number.
        const uint32_t mark = scratch_size_;
        const string_view before = old.text > kOther ? text(old.text) : string_view();
        long long at = 0;
        const bool number = to_number(tree_.text(subscript), &at);
        long long k = 0;
        bool put = false;
        for (string_view rest = before; !rest.empty(); ++k) {
          const std::size_t end = rest.find(kBetween);
          const bool replaced = number && k == at;
          for (const char c : replaced ? text(made.text) : rest.substr(0, end)) push_byte(c);
          push_byte(kBetween);
          put = put || replaced;
          rest.remove_prefix(end + 1);
        }
        if (!put) {
          for (const char c : text(made.text)) push_byte(c);
          push_byte(kBetween);
        }
        made = {id({scratch_ + mark, scratch_size_ - mark}), static_cast<std::uint16_t>(made.origin | provenance::kList)};
        scratch_size_ = mark;
      } else if (subscript != kNone) {
        made = {kOther, provenance::kList};
      }
  }
  store_.put(state, variable(name), store_.set_of(&made, 1));
  if (judges()) host_.judge->assigned(host_.self, state, name, index, !exported);
  if (exports_all_) store_.put(state, key_of(Key::exported, name), store_.either(store_.get(state, key_of(Key::exported, name)), store_.one(kEmpty)));
  if (exported) store_.put(state, key_of(Key::exported, name), store_.one(kEmpty));
  return name;
}

// With assignments before it: afterwards each has the value from before, or keeps what was set inside.
Flow Evaluator::dispatch_with(const Command& command, const State& before, const State& inside, bool ignores) noexcept {
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

bool Evaluator::has_function(const State& state, TextId name) noexcept {
  const Set set = store_.get(state, key_of(Key::function, name));
  for (uint32_t i = 0; i < set.count; ++i)
    if (store_.values(set)[i].text != kUnset) return true;
  return false;
}

Flow Evaluator::dispatch(const Command& command, const State& state, bool ignores, bool functions) noexcept {
  if (command.count == 0) return {state, {}};
  const TextId name = words_[command.first].text;
  if (functions && has_function(state, name)) {
    Flow out;
    const uint32_t carrier = carrier_;
    if (judges()) {
      State own = state;
      carrier_ = report(own, words_ + command.first, command.count, command.targets, command.target_count, command.span, true).mark;
    }
    const Set bodies = store_.get(state, key_of(Key::function, name));
    for (uint32_t i = 0; i < bodies.count; ++i) {
      const TextId body = store_.values(bodies)[i].text;
      Flow flow;
      bool runs = false;
      for (uint32_t k = 0; k < running_count_ && k < kRunning; ++k) runs = runs || running_[k] == name;
      if (judges() && runs && body > kOther) {
        flow = {state, state};
      } else if (body == kUnset || body == kOther) {
        const uint32_t called = carrier_;
        carrier_ = carrier;
        flow = dispatch(command, state, ignores, false);
        carrier_ = called;
      } else {
        flow = call_function(body - 3, command, state, ignores);
      }
      out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
    }
    carrier_ = carrier;
    return out;
  }
  const Set aliases = functions ? store_.get(state, key_of(Key::alias, name)) : store_.none;
  if (!state.cleared && !(aliases.count == 1 && store_.values(aliases)->text == kUnset)) {
    // Whether aliases are expanded, and whether this was read before: either.
    Flow out;
    const uint32_t carrier = carrier_;
    const std::uint16_t was = via_;
    if (judges()) {
      State own = state;
      carrier_ = report(own, words_ + command.first, command.count, command.targets, command.target_count, command.span, true).mark;
      via_ |= via::kFunction;
    } else {
      out = dispatch(command, state, ignores, false);
    }
    for (uint32_t i = 0; i < aliases.count; ++i) {
      const TextId code = store_.values(aliases)[i].text;
      if (code == kUnset) continue;
      State inner = state;
      store_.put(inner, key_of(Key::alias, name), store_.none);
      const Flow flow = run_code(with_arguments(code, command), inner, ignores);
      out = {store_.join(out.ok, flow.ok), store_.join(out.fail, flow.fail)};
    }
    carrier_ = carrier;
    via_ = was;
    return out;
  }
  const syntax::BuiltinRow* const row = words_[command.first].many ? nullptr : syntax::find_builtin(text(name));
  if (row != nullptr && !(options_.shell == syntax::Shell::dash && (row->flags & syntax::builtin_flag::kBash) != 0)) {
    State own = state;
    const Answer answer = report(own, words_ + command.first, command.count, command.targets, command.target_count, command.span);
    return builtin(*row, command, own, ignores, answer);
  }
  return program(command, state);
}

Answer Evaluator::report(State& state, const Word* words, uint32_t count, const Target* targets, uint32_t target_count, syntax::Span span, bool function) noexcept {
  const Set folders = store_.get(state, key_of(Key::folder));
  Answer answer;
  for (uint32_t i = 0; i < folders.count; ++i) {
    Call call{words, count, targets, target_count, store_.values(folders)[i].text, store_.get(state, key_of(Key::input)), &state, via_, span};
    call.function = function;
    call.captured = is_captured(state);
    for (uint32_t k = 0; function && k < running_count_ && k < kRunning; ++k) call.recursive = call.recursive || running_[k] == words[0].text;
    if (i != 0 && judges()) call.via |= via::kConditional;
    const uint32_t carrier = carrier_, pipe_from = pipe_from_, head = head_, tail = tail_;
    answer = host_.call(host_.self, store_, call);
    carrier_ = carrier;
    pipe_from_ = pipe_from;
    head_ = head == kNone ? answer.mark : head;
    tail_ = answer.tail != kNone ? answer.tail : answer.mark != kNone ? answer.mark : tail;
  }
  return answer;
}

Flow Evaluator::program(const Command& command, const State& state) noexcept {
  if (!judges() && (!is_known(word_text(command.first)) || words_[command.first].many)) unresolved(Unresolved::program);
  State after = state;
  const Answer answer = report(after, words_ + command.first, command.count, command.targets, command.target_count, command.span);
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

Flow Evaluator::carried(const Answer& answer, const Command& command, const State& state) noexcept {
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
TextId Evaluator::with_arguments(TextId code, const Command& command) noexcept {
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
TextId Evaluator::joined(uint32_t from, uint32_t to) noexcept {
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

TextId Evaluator::joined_by_blanks(uint32_t from, uint32_t to) noexcept {
  const uint32_t mark = scratch_size_;
  for (uint32_t i = from; i < to; ++i) {
    if (i != from) push_byte(' ');
    for (const char c : word_text(i)) push_byte(c);
  }
  const TextId made = id({scratch_ + mark, scratch_size_ - mark});
  scratch_size_ = mark;
  return made;
}

Flow Evaluator::call_function(uint32_t body, const Command& command, const State& state, bool ignores) noexcept {
  const syntax::Span spot = spot_;
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
  if (running_count_ < kRunning) running_[running_count_] = words_[command.first].text;
  ++running_count_;
  const Flow flow = run(body, inner, ignores);
  --running_count_;
  via_ = was;
  spot_ = spot;
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

}  // namespace tipstaff::eval
