// Words: quotes, braces, and the fields they fall apart into.
#include "tipstaff/eval/evaluator.hpp"

namespace tipstaff::eval {

void Evaluator::push_byte(char c) noexcept {
  if (scratch_size_ == scratch_capacity_) {
    unresolved(Unresolved::limit);
    return;
  }
  scratch_[scratch_size_++] = c;
}

void Evaluator::push_word(const Word& word) noexcept {
  if (word_count_ == word_capacity_) {
    unresolved(Unresolved::limit);
    return;
  }
  words_[word_count_++] = word;
}

Value Evaluator::choose(Set set, uint32_t key) noexcept {
  if (set.count == 0) return {kUnset, 0};
  if (judges()) {
    // What nothing sets is one unknown text, which may be nothing.
    Value all[kValues];
    uint32_t count = 0;
    bool unset = false;
    for (uint32_t i = 0; i < set.count; ++i) unset = unset || store_.values(set)[i].text == kUnset;
    for (uint32_t i = 0; i < set.count && i < kValues; ++i) {
      Value value = store_.values(set)[i];
      const bool environment = value.kind == 0 && (value.origin & provenance::kEnvironment) != 0;
      if (environment && value.text == kUnset) continue;
      if (environment && value.text == kOther && unset) value.origin |= provenance::kMayBeEmpty;
      all[count++] = value;
    }
    if (count == 0) return {kUnset, 0};
    const uint32_t chosen = choices_->choose(key, count);
    if (choices_->wide && count > 1) return {kOther, provenance::kLimit};
    return all[chosen];
  }
  const uint32_t at = choices_->choose(key, set.count);
  if (choices_->wide && set.count > 1) return {kOther, provenance::kLimit};
  return store_.values(set)[at];
}

void Evaluator::expand(uint32_t word, bool split) noexcept {
  word_ = word;
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

void Evaluator::expand_braces(const uint32_t* parts, uint32_t count, uint32_t* left, bool split) noexcept {
  if (*left == 0) return unresolved(Unresolved::limit);
  uint32_t open = 0;
  while (open < count && ((parts[open] & kMade) != 0 || tree_[parts[open]].kind != Kind::brace_open)) ++open;
  if (open == count || level_ >= kDepth) {
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
      expand_braces(made, n, left, split);
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
  } else {  // its end was cut off
    *left = 0;
    unresolved(Unresolved::limit);
  }
  --level_;
}

template <class Sink>
void Evaluator::sequence(uint32_t open, uint32_t close, Sink&& sink) noexcept {
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
  // Of a long one it does not matter which.
  if (judges() && (from <= to ? to - from : from - to) / step > 255) return sink(kOther);
  uint32_t count = 0;
  for (long long at = from; from <= to ? at <= to : at >= to; at += from <= to ? step : -step) {
    if (++count > 256) return unresolved(Unresolved::limit);
    char digits[24];
    const string_view item = numbers ? number_text(at, digits) : (digits[0] = static_cast<char>(at), string_view(digits, 1));
    sink(id(item));
  }
}

bool Evaluator::to_number(string_view written, long long* number) noexcept {
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

string_view Evaluator::number_text(long long number, char (&out)[24]) noexcept {
  char* at = out + sizeof out;
  unsigned long long rest = number < 0 ? 0ull - static_cast<unsigned long long>(number) : static_cast<unsigned long long>(number);
  do *--at = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (number < 0) *--at = '-';
  return {at, static_cast<std::size_t>(out + sizeof out - at)};
}

// A word as one text: assignments, patterns, subjects.
TextId Evaluator::one_text(uint32_t word, bool pattern, std::uint16_t* origin) noexcept {
  Builder builder(*this);
  builder.pattern = pattern;
  for (uint32_t i = tree_[word].first_child; i != kNone; i = tree_[i].next) add_part(builder, i, false, false);
  if (origin != nullptr) *origin = builder.origin;
  return id(builder.text());
}

void Evaluator::add_part(Builder& builder, uint32_t index, bool quoted, bool split, bool operand) noexcept {
  const Node& node = tree_[index];
  switch (node.kind) {
    case Kind::literal:
    case Kind::brace_open:
    case Kind::brace_comma:
    case Kind::brace_close: {
      const string_view written = tree_.text(index);
      if (written.find(kUnknownPart) != string_view::npos) builder.origin |= provenance::kMayBeEmpty;
      if (quoted) return builder.add_quoted(written);
      if (operand && split) return builder.add_split(written);
      for (const char c : written) builder.glob = builder.glob || c == '*' || c == '?' || c == '[';
      return builder.add(written);
    }
    case Kind::escape: builder.quoted = true; return builder.add_quoted(tree_.text({node.span.start + 1, node.span.end}));
    case Kind::single_quoted: builder.some = builder.quoted = true; return builder.add_quoted(tree_.text(index));
    case Kind::ansi_quoted: {
      builder.some = builder.quoted = true;
      const string_view written = tree_.text(index);
      if (written.size() > scratch_capacity_ - scratch_size_) return unresolved(Unresolved::limit);
      const std::size_t size = syntax::decode_ansi(written, scratch_ + scratch_size_);
      const TextId decoded = id({scratch_ + scratch_size_, size});
      return builder.add_quoted(text(decoded));
    }
    case Kind::double_quoted: {
      const bool some = builder.some;
      builder.some = builder.quoted = true;
      const uint32_t only = node.first_child;
      if (only != kNone && tree_[only].next == kNone && tree_[only].kind == Kind::parameter && gives_many(only)) builder.some = some;
      for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next) add_part(builder, i, true, split);
      return;
    }
    case Kind::tilde: {
      if (node.span.end - node.span.start > 1 && judges()) return builder.add(tree_.text(index));
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
    case Kind::foreign: {
      Value value{kOther, 0};
      const TextId before = id(builder.text());
      const bool first = first_word_ && !quoted;
      const uint32_t word = word_;
      host_.judge->foreign(host_.self, index, text(before), first, &value);
      word_ = word;
      if (value.text == kUnset) return;
      return add_value(builder, value, quoted, split);
    }
    case Kind::process_substitution: {
      if (judges()) {
        State end, copy = *here_;
        const uint32_t head = head_, tail = tail_, pipe_from = pipe_from_, word = word_;
        const std::uint16_t was = via_;
        const syntax::Span spot = spot_;
        via_ |= via::kSubstitution;
        head_ = tail_ = pipe_from_ = kNone;
        const Set given = store_.get(copy, key_of(Key::input));
        if (node.has(flag::kOutput) && given.count == 1 && store_.values(given)->text == kUnset) store_.put(copy, key_of(Key::input), store_.other);
        store_.put(copy, key_of(Key::output), nothing());
        subshell(node.first_child, copy, false, &end);
        Value printed{kOther, 0}, path{kOther, 0};
        if (const Set set = store_.get(end, key_of(Key::output)); end.live && set.count == 1) printed = *store_.values(set);
        host_.judge->substituted(host_.self, index, printed, head_, &path);
        head_ = head;
        tail_ = tail;
        pipe_from_ = pipe_from;
        via_ = was;
        spot_ = spot;
        word_ = word;
        builder.origin |= path.origin;
        return builder.add(text(path.text));
      }
      State end;
      State copy = *here_;
      subshell(node.first_child, copy, false, &end);
      builder.add(string_view("/dev/fd/\x01", 9));
      return;
    }
    case Kind::extended_glob:
      if (judges()) run_operands(node.first_child);
      builder.add(judges() ? string_view("*") : tree_.text(index));
      builder.glob = true;
      return;
    default: return;
  }
}

void Evaluator::add_value(Builder& builder, Value value, bool quoted, bool split) noexcept {
  builder.origin |= value.origin & static_cast<std::uint16_t>(~provenance::kList);
  const string_view written = value.text == kUnset ? string_view() : text(value.text);
  if (quoted) {
    builder.some = true;
    return builder.add_quoted(written);
  }
  if (split) return builder.add_split(written);
  builder.add(written);
}

}  // namespace tipstaff::eval
