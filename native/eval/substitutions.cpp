// What substitutions print; arithmetic and tests, whose subscripts are code.
#include "tipstaff/eval/evaluator.hpp"

namespace tipstaff::eval {

void Evaluator::append_output(State& state, Set texts) noexcept {
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
      if (a.kind != 0 || b.kind != 0) {
        // What is no text stays what it is where it is all that is printed.
        const bool nothing = a.kind == kNothing || (a.kind == 0 && (a.text == kUnset || a.text == kEmpty));
        if (b.kind == kNothing) made[count] = nothing ? b : a;
        else if (nothing) made[count] = b;
        else made[count] = {b.kind == 0 && a.kind == b.kind ? b.text : kOther, static_cast<std::uint16_t>(a.origin | b.origin)};
        ++count;
        continue;
      }
      const uint32_t mark = scratch_size_;
      if (a.text != kUnset)
        for (const char c : text(a.text)) push_byte(c);
      if (judges() && scratch_size_ != mark && scratch_[scratch_size_ - 1] != '\n') push_byte('\n');
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
Set Evaluator::output_of(uint32_t index, uint32_t list, string_view code) noexcept {
  for (const Printed& known : printed_)
    if (known.node == index && known.size == code.size() && known.state.live && known.state.head == here_->head && known.state.cleared == here_->cleared) {
      substituted_ok_ = known.ok;
      substituted_fail_ = known.fail;
      return known.set;
    }
  const State before = *here_;
  State inner = *here_, end;
  store_.put(inner, key_of(Key::output), nothing());
  const std::uint16_t was = via_;
  const uint32_t head = head_, tail = tail_, pipe_from = pipe_from_, word = word_;
  const bool first_word = first_word_;
  const syntax::Span spot = spot_;
  head_ = tail_ = pipe_from_ = kNone;
  via_ |= via::kSubstitution;
  const Flow flow = in_copy(inner, &end, [&](const State& state) {
    State own = state;
    if (options_.shell != syntax::Shell::dash) store_.put(own, key_of(Key::errexit), store_.either(store_.get(own, key_of(Key::errexit)), store_.none));
    const Origin origin{origin_of(tree_[index].span).span, false};
    return list != kNone ? run(list, own, false) : run_text(code, own, false, origin);
  });
  via_ = was;
  head_ = head;
  tail_ = tail;
  pipe_from_ = pipe_from;
  word_ = word;
  first_word_ = first_word;
  spot_ = spot;
  Set result = store_.one(kEmpty);
  if (list != kNone && reads_file(list)) {
    result = store_.one(kOther, provenance::kProgram);
    if (judges()) {
      Choices choices;
      const Hold hold(*this, inner, choices);
      Target target{};
      Set input;
      redirect(tree_[tree_[tree_[list].first_child].first_child].kind == Kind::redirection ? tree_[tree_[list].first_child].first_child : kNone, &target, &input);
      if (input.count == 1) {
        const Value read = host_.judge->load(host_.self, inner, *store_.values(input));
        result = store_.set_of(&read, 1);
      }
    }
  } else if (end.live) {
    const Set set = store_.get(end, key_of(Key::output));
    Value made[kValues];
    for (uint32_t i = 0; i < set.count && i < kValues; ++i) {
      made[i] = store_.values(set)[i];
      if (judges() && made[i].kind != 0) made[i] = host_.judge->load(host_.self, inner, made[i]);
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
bool Evaluator::reads_file(uint32_t list) const noexcept {
  const uint32_t command = tree_[list].first_child;
  if (command == kNone || tree_[command].next != kNone || tree_[command].kind != Kind::simple) return false;
  const uint32_t only = tree_[command].first_child;
  return only != kNone && tree_[only].next == kNone && tree_[only].kind == Kind::redirection;
}

// Names that an arithmetic text may set may hold anything; what its values hold is read again as code.
void Evaluator::arithmetic_effects(uint32_t index, State& state) noexcept {
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

void Evaluator::arithmetic_text(string_view expression, State& state, int depth) noexcept {
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
void Evaluator::run_subscripts(string_view held, State& state) noexcept {
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

void Evaluator::test_effects(uint32_t index, State& state) noexcept {
  if (index == kNone) return;
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
  if (node.kind == Kind::test_unary && tree_[node.first_child].kind == Kind::name && tree_.text(node.first_child) == "-v" && tree_[node.first_child].next != kNone) {
    Choices choices;
    const Hold hold(*this, state, choices);
    const TextId written = one_text(tree_[node.first_child].next, false);
    if (text(written).find('[') != string_view::npos) arithmetic_text(text(written), state, 0);
  }
}

}  // namespace tipstaff::eval
