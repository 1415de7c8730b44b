// Parameters and what their operators make of them.
#include "tipstaff/eval/evaluator.hpp"

namespace tipstaff::eval {

bool Evaluator::gives_many(uint32_t index) const noexcept {
  const uint32_t name = tree_[index].first_child;
  if (name == kNone || tree_[index].has(flag::kLength)) return false;
  if (tree_.text(name) == "@") return true;
  const uint32_t next = tree_[name].next;
  return next != kNone && tree_[next].kind == Kind::subscript && tree_.text(next) == "@";
}

// All elements of a list, each its own field where `fields`.
void Evaluator::add_list(Builder& builder, Value list, bool quoted, bool split, bool fields) noexcept {
  const string_view joint = fields ? string_view(" ") : separators().substr(0, 1);
  if (list.text == kOther) {
    builder.origin |= list.origin & static_cast<std::uint16_t>(~provenance::kList);
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
        builder.add(joint);
      }
    }
    first = false;
    const TextId kept = id(element);
    add_value(builder, {kept, list.origin}, quoted, split);
  }
}

string_view Evaluator::element(string_view list, std::size_t at) noexcept {
  while (at-- != 0) {
    const std::size_t end = list.find(kBetween);
    if (end == string_view::npos) return {};
    list.remove_prefix(end + 1);
  }
  return list.substr(0, list.find(kBetween));
}

// The value of a parameter without its edits; kUnset where there is none.
// The variable that a name stands for: itself, or what it refers to.
TextId Evaluator::referred(const State& state, TextId name) const noexcept {
  for (int steps = 0; steps < 8; ++steps) {
    const Set set = store_.get(state, variable(name));
    if (set.count != 1 || (store_.values(set)->origin & provenance::kReference) == 0 || store_.values(set)->text <= kEmpty) return name;
    name = store_.values(set)->text;
  }
  return name;
}

Value Evaluator::parameter(string_view name, uint32_t index) noexcept {
  if (name == "0" && judges()) {
    const Set zero = store_.get(*here_, variable(id(name)));
    if (zero.count == 1) return *store_.values(zero);
  }
  if (syntax::is_digit(name[0])) {
    long long at = 0;
    const Value list = choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1);
    if (name == "0" || !to_number(name, &at) || list.text == kOther || list.text == kUnset)
      return {kOther, static_cast<std::uint16_t>(judges() ? provenance::kEnvironment | provenance::kMayBeEmpty : provenance::kEnvironment)};
    const string_view all = text(list.text);
    if (at > elements(all)) return {kUnset, 0};
    return {id(element(all, static_cast<std::size_t>(at - 1))), static_cast<std::uint16_t>(list.origin & ~provenance::kList)};
  }
  if (name == "#") {
    const Value list = choose(store_.get(*here_, key_of(Key::arguments)), kMade - 1);
    if (list.text == kOther || list.text == kUnset) return {kOther, provenance::kEnvironment};
    char digits[24];
    return {id(number_text(elements(text(list.text)), digits)), 0};
  }
  if (!syntax::is_name_start(name[0])) return {kOther, judges() ? std::uint16_t{0} : provenance::kProgram};
  if (name == "PWD" || name == "OLDPWD") {
    const Set folder = store_.get(*here_, key_of(name == "PWD" ? Key::folder : Key::old_folder));
    Value where = choose(folder, name == "PWD" ? kMade - 2 : kMade - 3);
    if (judges() && name == "OLDPWD" && where.text == kOther) where.origin |= provenance::kEnvironment | provenance::kMayBeEmpty;
    return where;
  }
  const TextId name_id = referred(*here_, id(name));
  Value value = choose(store_.get(*here_, variable(name_id)), name_id);
  if (value.text == kOther && store_.get(*here_, variable(name_id)).count == 0) value.text = kUnset;
  if (judges() && value.text == kOther && store_.get(*here_, variable(name_id)).first == store_.unset_or_other.first) host_.judge->parameter(host_.self, name, &value);
  if (index != kNone) {
    const string_view written = tree_.text(index);
    long long at = 0;
    if (value.text == kOther) return value;
    if ((value.origin & provenance::kList) == 0) return written == "0" || is_all(written) ? value : Value{kOther, value.origin};
    const string_view all = text(value.text);
    const bool number = to_number(written, &at);
    if (judges() && (!number || at >= elements(all))) {
      // Some key: any of the values.
      const long long count = elements(all);
      if (count == 0) return {kUnset, 0};
      if (count > static_cast<long long>(kValues)) return {kOther, provenance::kMayBeEmpty};
      const uint32_t chosen = choices_->choose(index | kMade, static_cast<uint32_t>(count));
      if (choices_->wide && count > 1) return {kOther, provenance::kMayBeEmpty};
      return {id(element(all, chosen)), static_cast<std::uint16_t>(value.origin & ~provenance::kList)};
    }
    if (!number) return {kOther, value.origin};
    if (at < 0) at += elements(all);
    if (at < 0 || at >= elements(all)) return {kUnset, 0};
    return {id(element(all, static_cast<std::size_t>(at))), static_cast<std::uint16_t>(value.origin & ~provenance::kList)};
  }
  if ((value.origin & provenance::kList) != 0 && value.text != kOther) {
    if (text(value.text).empty()) return {kUnset, 0};
    return {id(element(text(value.text), 0)), static_cast<std::uint16_t>(value.origin & ~provenance::kList)};
  }
  return value;
}

void Evaluator::add_parameter(Builder& builder, uint32_t at, bool quoted, bool split) noexcept {
  const Node& node = tree_[at];
  const uint32_t name_at = node.first_child;
  if (node.has(flag::kBad) || name_at == kNone || tree_[name_at].kind != Kind::name) {
    for (uint32_t i = node.first_child; i != kNone; i = tree_[i].next)
      if (tree_[i].kind == Kind::word) one_text(i, false);
    discarded_ = store_.join(discarded_, *here_);
    return add_value(builder, {kOther, 0}, quoted, split);
  }
  const string_view name = tree_.text(name_at);
  parameter_ = at;
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
    if (edit == Edit::transform) {
      const Set held = store_.get(*here_, variable(id(name)));
      for (uint32_t i = 0; i < held.count; ++i)
        if (store_.values(held)[i].text > kOther && text(store_.values(held)[i].text).find_first_of("$`") != string_view::npos) run_subscripts(text(store_.values(held)[i].text), *here_);
    }
    run_operands(operand);
    return add_list(builder, {kOther, judges() ? provenance::kMayBeEmpty : std::uint16_t{0}}, quoted, split, true);
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
      if (value.text == kOther && !judges()) has = perhaps();
      if (value.text == kOther && judges()) {
        const bool environment = (value.origin & provenance::kEnvironment) != 0;
        const bool nothing = operand == kNone || tree_[operand].first_child == kNone;
        if (edit == Edit::alternative) has = perhaps();
        else has = edit == Edit::fail || !environment || nothing;
        if (has && colon && !nothing && edit != Edit::alternative) value.origin &= static_cast<std::uint16_t>(~provenance::kMayBeEmpty);
        if (has && colon && edit == Edit::fail) value.origin &= static_cast<std::uint16_t>(~provenance::kMayBeEmpty);
      }
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
      const TextId made = cut(value.text, pattern, edit, operand);
      return add_value(builder, {made, static_cast<std::uint16_t>(value.origin | (made == kOther ? provenance::kMayBeEmpty : 0))}, quoted, split);
    }
    case Edit::replace_first:
    case Edit::replace_all:
    case Edit::replace_prefix:
    case Edit::replace_suffix: {
      const TextId pattern = operand == kNone ? kEmpty : one_text(operand, true);
      const uint32_t by = operand == kNone ? kNone : tree_[operand].next;
      const TextId replacement = by == kNone ? kEmpty : one_text(by, false);
      const TextId made = replaced(value.text, pattern, replacement, edit, operand);
      return add_value(builder, {made, static_cast<std::uint16_t>(value.origin | (made == kOther ? provenance::kMayBeEmpty : 0))}, quoted, split);
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
      // A prompt's text, in which substitutions run.
      if (edit == Edit::transform && operand != kNone && value.text > kOther) {
        const string_view held = text(value.text);
        if (text(one_text(operand, false)) == "P" && (held.find("$") != string_view::npos || held.find('`') != string_view::npos)) run_subscripts(held, *here_);
      }
      run_operands(operand);
      return add_value(builder, {kOther, value.origin}, quoted, split);
  }
}

TextId Evaluator::cut(TextId value, TextId pattern, Edit edit, uint32_t operand) noexcept {
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

TextId Evaluator::replaced(TextId value, TextId pattern, TextId replacement, Edit edit, uint32_t operand) noexcept {
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

}  // namespace tipstaff::eval
