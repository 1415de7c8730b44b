// Parameters: $x, ${x:-y}, $(command), `command`, $((1 + 1)), $'..'.
#pragma once

#include "tipstaff/gate/shell/language/braces.hpp"

namespace tipstaff::gate::shell {

// Variables, calls and escapes of PowerShell that a shell's double quotes hold: powershell -Command "... { $_.Id }". The shell
// would put in nothing or an error for those that it does not know, and other hosts hand them on: they are left for the reader of
// PowerShell, which asks about variables in the place of a program that it does not know either.
inline bool ShellReader::leave_to_powershell(Pieces& pieces) noexcept {
  const char* p = pos_ + 1;
  if (p >= end_) return false;
  if (*pos_ == '`') {
    if (!one_of(string_view(p, 1), "n r t") || (p + 1 < end_ && is_name_byte(p[1]))) return false;
    pos_ += 2;
    add_literal(pieces, string_view(pos_ - 2, 2), 0, true);
    return true;
  }
  const auto name_at = [this](const char* from) noexcept {
    const char* stop = from;
    while (stop < end_ && is_name_byte(*stop)) ++stop;
    return string_view(from, static_cast<std::size_t>(stop - from));
  };
  if (is_name_start(*p)) {
    const string_view name = name_at(p);
    Value value;
    if (session_.find(name) != nullptr || known_parameter(name, &value)) return false;
    pos_ = p + name.size();
    add_literal(pieces, string_view(p - 1, name.size() + 1), 0, true);
    return true;
  }
  if (*p != '(') return false;
  const char* q = p + 1;
  while (q < end_ && *q == ' ') ++q;
  if (q >= end_) return false;
  bool theirs = *q == '[';
  if (*q == '$' && q + 1 < end_ && is_name_start(q[1])) {
    const string_view name = name_at(q + 1);
    const char* const after = q + 1 + name.size();
    theirs = after < end_ && (*after == '.' || *after == '[' || *after == ':') && session_.find(name) == nullptr;
  } else if (*q >= 'A' && *q <= 'Z') {  // a cmdlet: verb, hyphen, noun
    const string_view verb = name_at(q);
    const char* const after = q + verb.size();
    theirs = after + 1 < end_ && *after == '-' && after[1] >= 'A' && after[1] <= 'Z';
  }
  if (!theirs) return false;
  int depth = 0;
  for (q = p; q < end_; ++q) {
    if (*q == '(') ++depth;
    if (*q == ')' && --depth == 0) break;
    if (*q == '"') return false;
  }
  if (q >= end_) return false;
  pos_ = q + 1;
  add_literal(pieces, string_view(p - 1, static_cast<std::size_t>(q - p) + 2), 0, true);
  return true;
}

// What follows a dollar sign at pos_.
inline void ShellReader::read_dollar(Pieces& pieces, bool quoted) noexcept {
  const char* const start = pos_;
  if (start + 1 == end_) {
    ++pos_;
    return add_literal(pieces, string_view(start, 1), 0, quoted);
  }
  const char next = start[1];
  if (is_name_start(next)) {
    const char* p = start + 2;
    while (p < end_ && is_name_byte(*p)) ++p;
    pos_ = p;
    return add_parameter(pieces, string_view(start + 1, static_cast<std::size_t>(p - start - 1)), quoted, true);
  }
  switch (next) {
    case '(': {
      if (const char* end = make_reference_end(start); end != nullptr) return add_make_reference(pieces, end, quoted);
      if (const char* end = make_function_end(start); end != nullptr) return add_make_function(pieces, end, quoted);
      if (end_ - start > 8 && starts_with(string_view(start + 2, 6), "shell ")) {
        pos_ = start + 8;  // $(shell date) of a recipe
        return add_stream(pieces, read_substitution(), quoted);
      }
      if (start + 2 < end_ && start[2] == '(') {
        const char* close = arithmetic_end(start + 3);
        if (close != nullptr) {
          pos_ = start + 3;
          return read_arithmetic(pieces, close, 2, quoted);
        }
      }
      pos_ = start + 2;
      const Stream stream = read_substitution();
      return add_stream(pieces, stream, quoted);
    }
    case '{': return read_parameter(pieces, quoted);
    case '[': {
      constexpr std::ptrdiff_t kFar = 256;  // an old form, and never long
      const char* p = start + 2;
      while (p < end_ && *p != ']' && *p != '\n' && p - start < kFar) ++p;
      if (p == end_ || *p != ']') break;
      pos_ = start + 2;
      return read_arithmetic(pieces, p, 1, quoted);
    }
    case '\'': {
      if (quoted) break;
      const char* p = start + 2;
      while (p < end_ && *p != '\'') p += *p == '\\' ? 2 : 1;
      if (p >= end_) {
        uncertain(Unresolved::syntax, span_of(start, end_), frame_.carrier);
        p = end_;
      }
      const string_view inside(start + 2, static_cast<std::size_t>(p - start - 2));
      pos_ = p < end_ ? p + 1 : end_;
      pieces.quoted = true;
      return add_literal(pieces, holds(inside, '\\') ? decode_escapes(tree_, inside, Escapes::ansi_c) : inside,
                         word_flag::kQuoted, true);
    }
    case '"':
      if (quoted) break;
      ++pos_;  // a translated text: the quotes follow
      return;
    default:
      if (is_digit(next) || next == '@' || next == '*' || next == '#' || next == '?' || next == '-' || next == '$' ||
          next == '!') {
        pos_ = start + 2;
        return add_parameter(pieces, string_view(start + 1, 1), quoted, true);
      }
  }
  ++pos_;
  add_literal(pieces, string_view(start, 1), 0, quoted);
}

// The variable that a name stands for: itself, or what it refers to.
inline string_view ShellReader::referred(string_view name) noexcept {
  for (int steps = 0; steps < 8; ++steps) {
    const Variable* const variable = session_.find(name);
    if (variable == nullptr || variable->count != 1) return name;
    const Value& value = session_.values(*variable)[0];
    if ((value.flags & kReference) == 0 || !is_name(value.text)) return name;
    name = value.text;
  }
  return name;
}

// What a parameter holds for certain, where it is one text.
inline bool ShellReader::known_parameter(string_view name, Value* value) noexcept {
  name = referred(name);
  const Variable* variable = session_.find(name);
  if (variable != nullptr) {
    if (variable->count == 0) return variable->array;
    *value = session_.values(*variable)[0];
    return (value->flags & word_flag::kUnknown) == 0;
  }
  const Surroundings& place = *reader_.surroundings;
  if (name == "HOME") {
    *value = place.home.empty() ? Value{"~", kHomeTilde} : Value{place.home, 0};
    return true;
  }
  if (name == "PWD") {
    *value = Value{session_.cwd, 0};
    return !session_.cwd.empty();
  }
  if (name == "OLDPWD") {
    *value = Value{session_.old_cwd, 0};
    return !session_.old_cwd.empty();
  }
  if (name == "TMPDIR") {
    *value = Value{place.temporary.empty() ? string_view("/tmp") : place.temporary, 0};
    return true;
  }
  if (one_of(name, "RUNNER_TEMP AGENT_TEMPDIRECTORY BATS_TEST_TMPDIR BATS_FILE_TMPDIR")) {
    *value = Value{"/tmp/job", 0};
    return true;
  }
  if (one_of(name, "AGENT_TOOLSDIRECTORY RUNNER_TOOL_CACHE")) {
    *value = Value{"/opt/hostedtoolcache", 0};
    return true;
  }
  if (name == "IFS") {
    *value = Value{" ", 0};
    return true;
  }
  if (name == "SHELL" || name == "BASH") {
    *value = Value{"/bin/bash", 0};
    return true;
  }
  const Positional& words = session_.positional;
  if (!words.known || name.empty() || name.size() > 4) return false;
  const int number = to_number(name);
  if (number == 0 && !words.zero.empty()) {
    *value = Value{words.zero, 0};
    return true;
  }
  if (number > 0) {
    if (static_cast<std::uint32_t>(number) <= words.count) {
      const Word& word = tree_.word(words.first + static_cast<std::uint32_t>(number) - 1);
      *value = Value{word.text, word.flags};
      return !word.has(word_flag::kUnknown);
    }
    *value = Value{};
    return true;
  }
  return false;
}

inline void ShellReader::add_variable(Pieces& pieces, const Variable& variable, bool quoted) noexcept {
  const Value* values = session_.values(variable);
  if (variable.count == 1 || (variable.array && variable.count != 0)) {
    return add_text(pieces, values[0].text, values[0].flags, quoted);
  }
  if (variable.count == 0) {
    if (variable.array) return;
    return add_unknown(pieces, word_flag::kMayBeEmpty, quoted);
  }
  if (quoted) pieces.quoted = true;
  std::uint16_t flags = 0;
  for (std::uint32_t i = 0; i < variable.count; ++i) flags |= values[i].flags;
  // The values may move while the word is read on: they are kept beside.
  const std::uint32_t first = session_.scratch.size();
  std::uint32_t kept = 0;
  for (; kept < variable.count; ++kept) {
    Value value = values[kept];
    if (!quoted) {
      for (const char c : value.text) {
        if ((class_of(c) & byte_class::kGlob) != 0) value.flags |= word_flag::kGlob;
      }
    }
    if (session_.scratch.add(value) == nullptr) break;
  }
  if (kept == 0) return add_unknown(pieces, word_flag::kMayBeEmpty, quoted);
  add_piece(pieces, Piece{Piece::choice, quoted, flags, {}, session_.scratch.begin() + first, 0, kept});
}

// Whether a variable is named as people name those that hold a credential: GITHUB_TOKEN, DB_PASSWORD, apiKey.
inline bool names_credential(string_view name) noexcept {
  constexpr string_view kEndings[] = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "SECRET_KEY", "ACCESS_KEY",
                                      "PRIVATE_KEY", "AUTH_KEY", "ENCRYPTION_KEY", "SIGNING_KEY", "CREDENTIALS", "_PAT", "_PASS", "_PWD", "PGPASSWORD"};
  for (const string_view ending : kEndings) {
    if (name.size() < ending.size()) continue;
    bool same = true;
    const string_view tail = name.substr(name.size() - ending.size());
    for (std::size_t i = 0; i < tail.size() && same; ++i) same = lower(tail[i]) == lower(ending[i]);
    if (same) return name != "_PWD" && name != "OLD_PWD";
  }
  return false;
}

inline void ShellReader::add_parameter(Pieces& pieces, string_view name, bool quoted, bool may_be_empty) noexcept {
  const std::uint16_t empty = may_be_empty ? word_flag::kMayBeEmpty : 0;
  name = referred(name);
  if (name == "@" || name == "*") {
    const Positional& words = session_.positional;
    if (!words.known) return add_unknown(pieces, word_flag::kEnvironment | empty, quoted);
    std::uint16_t flags = 0;
    for (std::uint32_t i = 0; i < words.count; ++i) flags |= tree_.word(words.first + i).flags;
    if (quoted && words.count == 0 && pieces.count == 0 && name == "@") {
      return add_piece(pieces, Piece{Piece::arguments, true, 0, {}, nullptr, 0, 0});
    }
    return add_piece(pieces, Piece{Piece::arguments, quoted, flags, {}, nullptr, words.first, words.count});
  }
  const Variable* variable = session_.find(name);
  if (variable != nullptr) return add_variable(pieces, *variable, quoted);
  Value value;
  if (known_parameter(name, &value)) return add_text(pieces, value.text, value.flags, quoted);
  if ((value.flags & word_flag::kUnknown) != 0) return add_text(pieces, value.text, value.flags, quoted);
  // These are always something.
  if (one_of(name, "# ? - $ ! RANDOM SECONDS UID EUID PPID BASHPID LINENO HOSTNAME USER LOGNAME PWD PATH")) {
    return add_unknown(pieces, 0, quoted);
  }
  if (quoted) pieces.quoted = true;
  const std::uint16_t credential = names_credential(name) ? word_flag::kCredential : 0;
  add_unknown(pieces, static_cast<std::uint16_t>(word_flag::kEnvironment | empty | credential), quoted);
}

// ${name...} at pos_.
inline void ShellReader::read_parameter(Pieces& pieces, bool quoted) noexcept {
  const char* const start = pos_;
  if (end_ - start > 4 && start[2] == '{') {
    // ${{ matrix.x || 'y' }}: what a pipeline puts in before a shell sees it; a shell refuses it.
    constexpr std::ptrdiff_t kFar = 512;
    for (const char* p = start + 3; p + 1 < end_ && p - start < kFar && *p != '\n'; ++p) {
      if (p[0] != '}' || p[1] != '}') continue;
      pos_ = p + 2;
      if (quoted) pieces.quoted = true;
      return add_unknown(pieces, 0, quoted);
    }
  }
  if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span_of(start, end_));
  ++session_.level;
  const char* p = start + 2;
  bool length = false, indirect = false;
  if (p + 1 < end_ && *p == '#' && p[1] != '}') {
    length = true;
    ++p;
  } else if (p + 1 < end_ && *p == '!') {
    indirect = true;
    ++p;
  }
  const char* const name_start = p;
  if (p < end_ && is_name_start(*p)) {
    while (p < end_ && is_name_byte(*p)) ++p;
  } else {
    while (p < end_ && is_digit(*p)) ++p;
    if (p == name_start && p < end_ && one_of(string_view(p, 1), "@ * # ? - $ !")) ++p;
  }
  string_view name(name_start, static_cast<std::size_t>(p - name_start));
  string_view index;
  if (p < end_ && *p == '[') {
    const char* q = p + 1;
    while (q < end_ && *q != ']' && *q != '}' && *q != '\n') ++q;
    if (q < end_ && *q == ']') {
      index = string_view(p + 1, static_cast<std::size_t>(q - p - 1));
      read_index(index);
      p = q + 1;
    }
  }
  // The operation: its sign, then an operand up to the brace.
  const char* const sign_start = p;
  if (p < end_ && *p == ':' && p + 1 < end_ && one_of(string_view(p + 1, 1), "- = ? +")) {
    p += 2;
  } else if (p < end_ && *p != '}') {
    const char c = *p++;
    if (p < end_ && *p == c && (c == '#' || c == '%' || c == '/' || c == '^' || c == ',')) ++p;
  }
  const string_view sign(sign_start, static_cast<std::size_t>(p - sign_start));
  pos_ = p;
  Pieces operand;
  const std::uint32_t via = frame_.via;
  frame_.via |= via::kConditional;
  if (!sign.empty()) collect(operand, Until::operand, quoted);
  frame_.via = via;
  --session_.level;
  if (pos_ < end_ && *pos_ == '}') {
    ++pos_;
  } else if (!stopped_) {
    uncertain(Unresolved::syntax, span_of(start, end_), frame_.carrier);
  }
  if (stopped_) return;

  name = referred(name);
  Value held;
  bool known = known_parameter(name, &held);
  if (indirect) {
    // ${!x}: the parameter whose name x holds.
    if (!known || !is_name(held.text)) return add_unknown(pieces, word_flag::kEnvironment, quoted);
    name = held.text;
    held = Value{};
    known = known_parameter(name, &held);
  }
  if (length) return add_unknown(pieces, 0, quoted);
  const Variable* variable = session_.find(name);
  if (!index.empty() && variable != nullptr && variable->array) {
    const Value* values = session_.values(*variable);
    if (index == "@" || index == "*") {
      if (variable->count != 0 && sign.empty()) {
        const std::uint32_t first = session_.scratch.size();
        std::uint32_t kept = 0;
        std::uint16_t flags = 0;
        while (kept < variable->count && session_.scratch.add(values[kept]) != nullptr) flags |= values[kept++].flags;
        return add_piece(pieces,
                         Piece{Piece::fields, quoted, flags, {}, session_.scratch.begin() + first, 0, kept});
      }
      if (variable->count == 0) return;
      return add_unknown(pieces, 0, quoted);
    }
    int number = to_number(index);
    if (number < 0 && sign.empty()) {
      // Some key: any of the values.
      Variable any = *variable;
      any.array = false;
      return add_variable(pieces, any, quoted);
    }
    if (number < 0 || static_cast<std::uint32_t>(number) >= variable->count) {
      return add_unknown(pieces, word_flag::kMayBeEmpty, quoted);
    }
    held = values[number];
    known = (held.flags & word_flag::kUnknown) == 0;
    if (sign.empty()) return add_text(pieces, held.text, held.flags, quoted);
  } else if (sign.empty()) {
    return add_parameter(pieces, name, quoted, true);
  }

  const char kind = sign.back();
  const bool colon = sign[0] == ':';
  if ((sign.size() == 1 || (colon && sign.size() == 2)) && (kind == '-' || kind == '=' || kind == '?' || kind == '+')) {
    const bool empty = known && held.text.empty();
    // A variable that was set from something unknown is rather set than not.
    const bool set = known || (held.flags & word_flag::kUnknown) != 0 || variable != nullptr;
    if (kind == '+') {
      if (set && empty && colon) return;
      const Value value = one_text(operand);
      return add_text(pieces, value.text, value.flags, quoted);
    }
    if (kind == '?') return add_parameter(pieces, name, quoted, !colon);
    if (set && !(empty && colon)) return add_parameter(pieces, name, quoted, false);
    const Value value = one_text(operand);
    if (kind == '=' && is_name(name)) session_.set(name, &value, 1, false, false);
    if (value.text.empty()) {
      // ${x:-}: nothing where x is not set, and nobody knows whether it is.
      return known ? void() : add_unknown(pieces, word_flag::kEnvironment | word_flag::kMayBeEmpty, quoted);
    }
    return add_text(pieces, value.text, value.flags, quoted);
  }
  if (known) {
    const Value value = one_text(operand);
    const Value result = edited(held, sign, value.text, (value.flags & word_flag::kUnknown) == 0);
    if ((result.flags & word_flag::kUnknown) == 0) return add_text(pieces, result.text, result.flags, quoted);
  }
  add_unknown(pieces, word_flag::kMayBeEmpty, quoted);
}

// ${x#prefix}, ${x%suffix}, ${x/from/to}, ${x:offset:length}, ${x^^}, ${x,,} of a known text.
inline Value ShellReader::edited(Value value, string_view operation, string_view operand,
                                 bool known_operand) noexcept {
  const Value unknown{kUnknown, word_flag::kUnknown};
  if (!known_operand) return unknown;
  const string_view text = value.text;
  const char kind = operation[0];
  const bool all = operation.size() == 2;
  if (kind == '^' || kind == ',') {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < text.size()) return unknown;
    for (std::size_t i = 0; i < text.size(); ++i) {
      out[i] = i > 0 && !all ? text[i] : kind == '^' ? upper(text[i]) : lower(text[i]);
    }
    value.text = tree_.keep(text.size());
    return value;
  }
  if (kind == ':') {
    const std::size_t colon = operand.find(':');
    string_view from_text = trim(operand.substr(0, colon));
    const bool from_end = !from_text.empty() && from_text[0] == '-';
    if (from_end) from_text.remove_prefix(1);
    const int from = to_number(from_text);
    if (from < 0) return unknown;
    std::size_t begin = static_cast<std::size_t>(from);
    if (begin > text.size()) begin = text.size();
    if (from_end) begin = text.size() - begin;
    value.text = text.substr(begin);
    if (colon != string_view::npos) {
      const int length = to_number(trim(operand.substr(colon + 1)));
      if (length < 0) return unknown;
      value.text = value.text.substr(0, static_cast<std::size_t>(length));
    }
    return value;
  }
  constexpr std::size_t kWork = 4096;  // a glob is tried at every place
  if (text.size() > kWork) return unknown;
  if (kind == '#' || kind == '%') {
    std::size_t best = string_view::npos;
    for (std::size_t n = 0; n <= text.size(); ++n) {
      const string_view part = kind == '#' ? text.substr(0, n) : text.substr(text.size() - n);
      if (matches_glob(operand, part)) {
        best = n;
        if (!all) break;
      }
      if (operand.find_first_of("*?[") == string_view::npos && n > operand.size()) break;
    }
    if (best != string_view::npos) {
      value.text = kind == '#' ? text.substr(best) : text.substr(0, text.size() - best);
    }
    return value;
  }
  if (kind == '/') {
    const std::size_t slash = operand.find('/');
    string_view from = operand.substr(0, slash);
    const string_view to = slash == string_view::npos ? string_view() : operand.substr(slash + 1);
    if (from.empty() || from.find_first_of("*?[#%") != string_view::npos) return unknown;
    string_view made;
    std::size_t at = 0;
    for (std::size_t found = text.find(from); found != string_view::npos; found = text.find(from, at)) {
      made = tree_.join(made, text.substr(at, found - at));
      made = tree_.join(made, to);
      at = found + from.size();
      if (!all) break;
    }
    value.text = tree_.join(made, text.substr(at));
    return value;
  }
  return unknown;
}

}  // namespace tipstaff::gate::shell
