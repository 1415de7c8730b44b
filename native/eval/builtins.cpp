// The language's own commands.
#include "tipstaff/eval/evaluator.hpp"

namespace tipstaff::eval {

Flow Evaluator::builtin(const syntax::BuiltinRow& row, const Command& command, const State& given, bool ignores, const Answer& answer) noexcept {
  State state = given;
  const uint32_t first = command.first + 1, end = command.first + command.count;
  const auto rest = [&](uint32_t from) { return Command{from, end - from, command.targets, command.target_count, command.span, command.names, command.name_count}; };
  const uint32_t carrier = carrier_;
  if (judges()) {
    // One that sets a name evaluates the subscript of an element, whatever is known of what it prints.
    const bool sets = row.which == Builtin::read || row.which == Builtin::mapfile || (row.which == Builtin::printf && end - first > 1 && word_text(first) == "-v");
    for (uint32_t i = first; sets && i < end; ++i)
      if (!word_text(i).empty() && syntax::is_name_start(word_text(i)[0]) && word_text(i).find('[') != string_view::npos) arithmetic_text(word_text(i), state, 0);
    const bool prints = row.which == Builtin::echo || row.which == Builtin::printf || row.which == Builtin::pwd;
    if (answer.done || prints) {
      append_output(state, answer.output.count != 0 ? answer.output : store_.one(kEmpty));
      return {answer.may_succeed ? state : State{}, answer.may_fail ? state : State{}};
    }
    if (row.which == Builtin::eval || row.which == Builtin::command || row.which == Builtin::builtin || row.which == Builtin::trap) carrier_ = answer.mark;
  }
  struct Back {
    uint32_t& to;
    uint32_t from;
    ~Back() { to = from; }
  } const back{carrier_, carrier};
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
      store_.put(moved, key_of(Key::folder), judges() ? store_.get(state, key_of(Key::old_folder)) : store_.either(store_.get(state, key_of(Key::old_folder)), store_.other));
      return {moved, state};
    }
    case Builtin::command:
    case Builtin::builtin: {
      uint32_t at = first;
      while (at < end && row.which == Builtin::command && word_text(at) == "-p") ++at;
      if (at < end && word_text(at).size() > 1 && word_text(at)[0] == '-' && word_text(at) != "--") {
        append_output(state, judges() ? answer.output : store_.one(kOther, provenance::kProgram));
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
      // The text stands in the word where it is one.
      const Origin origin = end - first == 1 && words_[first].node != kNone ? Origin{origin_of(tree_[words_[first].node].span).span, false} : Origin{origin_of(command.span).span, false};
      const Flow flow = run_code(many && !judges() ? kOther : joined_by_blanks(first, end), state, ignores, &origin);
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
      if (!judges()) program(rest(at), state);
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
      append_output(state, judges() && answer.output.count != 0 ? answer.output : store_.one(kOther, provenance::kProgram));
      return both(state);
  }
}

// One that reads or computes sets a name, or an element, whose subscript is evaluated.
void Evaluator::set_name(State& state, string_view name, Value value) noexcept {
  const std::size_t bracket = name.find('[');
  if (bracket != string_view::npos) {
    arithmetic_text(name.substr(bracket), state, 0);
    name = name.substr(0, bracket);
  }
  store_.put(state, variable(id(name)), store_.set_of(&value, 1));
}

TextId Evaluator::with_newline(TextId given) noexcept {
  const uint32_t mark = scratch_size_;
  for (const char c : text(given)) push_byte(c);
  push_byte('\n');
  const TextId made = id({scratch_ + mark, scratch_size_ - mark});
  scratch_size_ = mark;
  return made;
}

Set Evaluator::echoed(uint32_t first, uint32_t end) noexcept {
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

Set Evaluator::formatted(uint32_t first, uint32_t end) noexcept {
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
  return store_.one(made, known ? std::uint16_t{0} : provenance::kProgram);
}

Flow Evaluator::change_folder(const State& state, uint32_t first, uint32_t end) noexcept {
  uint32_t at = first;
  while (at < end && word_text(at).size() > 1 && word_text(at)[0] == '-' && word_text(at) != "--" && !syntax::is_digit(word_text(at)[1])) ++at;
  if (at < end && word_text(at) == "--") ++at;
  constexpr uint32_t kFolders = 4;  // beyond them it may be any
  Set from = store_.get(state, key_of(Key::folder));
  if (judges() && from.count >= kFolders) from = store_.other;
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
    TextId to = words_[at].text;
    if (judges() && (words_[at].origin & provenance::kTemporary) != 0 && !text(to).empty() && text(to)[0] == kUnknownPart) {
      const uint32_t mark = scratch_size_;
      for (const char c : string_view("/tmp/made-by-mktemp")) push_byte(c);
      for (const char c : text(to).substr(1)) push_byte(c);
      to = id({scratch_ + mark, scratch_size_ - mark});
      scratch_size_ = mark;
    }
    for (uint32_t i = 0; i < from.count && i < kValues; ++i) kept[count++] = {moved(store_.values(from)[i].text, to), words_[at].origin};
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
  bool certain = judges() && made.count != 0;
  for (uint32_t i = 0; i < made.count && certain; ++i) certain = is_known(text(store_.values(made)[i].text)) && host_.judge->certain(host_.self, text(store_.values(made)[i].text));
  return {there, certain ? State{} : state};
}

// Folders that CDPATH may lead to.
Set Evaluator::in_paths(Set found, Set paths, const Word& word) noexcept {
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
TextId Evaluator::moved(TextId from, TextId to) noexcept {
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

Flow Evaluator::jump(bool breaks, const State& state, uint32_t first, uint32_t end) noexcept {
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

Flow Evaluator::set_options(State state, uint32_t first, uint32_t end) noexcept {
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

Flow Evaluator::declare(Builtin which, State state, uint32_t first, uint32_t end) noexcept {
  bool exports = which == Builtin::export_, unexports = false, global = false, functions = false, computed = false;
  bool fails = false, refers = false;
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
        if (c == 'f' && exports) exports_functions_ = true;
        // Another name for a variable: then any assignment may set it.
        if (c == 'n' && which != Builtin::export_) {
          refers = true;
          if (!judges()) {
            unresolved(Unresolved::code);
            state = cleared(state);
          }
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
      if (!judges()) state = store_.join(state, cleared(state));
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
      const std::uint16_t origin = static_cast<std::uint16_t>(words_[i].origin | (refers ? provenance::kReference : 0));
      store_.put(state, variable(name_id), appends || element || (computed && (!judges() || (origin & provenance::kList) == 0)) ? store_.other : store_.one(value, origin));
      if (judges()) host_.judge->assigned(host_.self, state, name_id, words_[i].node, false);
    }
    if (exports) store_.put(state, key_of(Key::exported, name_id), store_.one(kEmpty));
    if (unexports) store_.put(state, key_of(Key::exported, name_id), store_.none);
  }
  // Outside of a function `local` sets nothing.
  if (which == Builtin::local && (calls_ == 0 || locals_ == nullptr)) return {state, refers && judges() ? state : store_.join(before, state)};
  return {state, fails ? state : State{}};
}

void Evaluator::make_local(State& state, TextId name) noexcept {
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
Flow Evaluator::test(const State& state, uint32_t first, uint32_t end, bool bracket) noexcept {
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

}  // namespace tipstaff::eval
