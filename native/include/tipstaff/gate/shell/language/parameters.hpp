// Parameters: $x, ${x:-y}, $(command), `command`, $((1 + 1)), $'..'.
#pragma once

#include "tipstaff/gate/shell/language/braces.hpp"

namespace tipstaff::gate::shell {

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
      if (next == '$' && start + 2 < end_ && (is_name_start(start[2]) || start[2] == '{') && in_recipe()) {
        ++pos_;  // $$x of a recipe: make leaves $x
        return read_dollar(pieces, quoted);
      }
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
    return (value->flags & word_flag::kUnknown) == 0 && (variable->count == 1 || variable->array);
  }
  const Surroundings& place = *reader_.surroundings;
  const auto is = [value](string_view text, std::uint16_t flags = 0) noexcept {
    *value = Value{text, flags};
    return true;
  };
  if (name == "HOME") return place.home.empty() ? is("~", kHomeTilde) : is(place.home);
  if (name == "PWD") return is(session_.cwd) && !session_.cwd.empty() && session_.count == 0;
  if (name == "OLDPWD") return is(session_.old_cwd) && !session_.old_cwd.empty();
  if (name == "TMPDIR") return is(place.temporary.empty() ? "/tmp" : place.temporary);
  if (one_of(name, "RUNNER_TEMP AGENT_TEMPDIRECTORY BATS_TEST_TMPDIR BATS_FILE_TMPDIR")) return is("/tmp/job");
  if (one_of(name, "AGENT_TOOLSDIRECTORY RUNNER_TOOL_CACHE")) return is("/opt/hostedtoolcache");
  if (one_of(name, "BUNDLE_PATH GEM_HOME")) return is("/usr/local/bundle");  // as images of Ruby set them
  if (name == "IFS") return is(" ");
  if (name == "SHELL" || name == "BASH") return is("/bin/bash");
  const Positional& words = session_.positional;
  if (!words.known || name.empty() || name.size() > 4) return false;
  const int number = to_number(name);
  if (number == 0 && !words.zero.empty()) return is(words.zero);
  if (number <= 0) return false;
  if (static_cast<std::uint32_t>(number) > words.count) return is({});
  const Word& word = tree_.word(words.first + static_cast<std::uint32_t>(number) - 1);
  return is(word.text, word.flags) && !word.has(word_flag::kUnknown);
}

// The values may move while the word is read on: they are kept beside.
inline void ShellReader::add_choice(Pieces& pieces, const Value* values, std::uint32_t count, bool quoted) noexcept {
  if (quoted) pieces.quoted = true;
  const std::uint32_t first = session_.scratch.size();
  std::uint32_t kept = 0;
  for (; kept < count; ++kept) {
    Value value = values[kept];
    if (!quoted) {
      for (const char c : value.text) {
        if ((class_of(c) & byte_class::kGlob) != 0) value.flags |= word_flag::kGlob;
      }
    }
    if (session_.scratch.add(value) == nullptr) break;
  }
  if (kept == 0) return add_unknown(pieces, word_flag::kMayBeEmpty, quoted);
  add_piece(pieces, Piece{Piece::choice, quoted, word_flag::kLaterTurn, {}, session_.scratch.begin() + first, 0, kept});
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
  add_choice(pieces, values, variable.count, quoted);
}

// One of several texts.
inline void ShellReader::add_values(Pieces& pieces, const Value* values, std::uint32_t count, bool quoted) noexcept {
  if (count == 0) return;
  if (count == 1) return add_text(pieces, values[0].text, values[0].flags, quoted);
  add_choice(pieces, values, count, quoted);
}

inline std::uint32_t ShellReader::all_texts(const Pieces& pieces, Value* out) noexcept {
  std::uint32_t count = 0;
  enumerate(pieces, false, [&](string_view text, std::uint16_t flags, bool) noexcept {
    if (count < Session::kAlternatives) out[count++] = Value{text, flags};
    else out[count - 1] = Value{kUnknown, word_flag::kUnknown};
  });
  if (count == 0) out[0] = Value{};
  return count == 0 ? 1 : count;
}

// Whether a variable is named as people name those that hold a credential: GITHUB_TOKEN, DB_PASSWORD, apiKey.
inline bool names_credential(string_view name) noexcept {
  constexpr string_view kEndings[] = {"token", "secret", "password", "passwd", "passphrase", "api_key", "apikey", "secret_key", "access_key",
                                      "private_key", "auth_key", "encryption_key", "signing_key", "credentials", "_pat", "_pass", "_pwd"};
  for (const string_view ending : kEndings)
    if (ascii::ends_with(name, ending)) return name != "_PWD" && name != "OLD_PWD";
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
    if (quoted && name == "*" && session_.find("IFS") != nullptr) {
      string_view text = tree_.copy("");
      for (std::uint32_t i = 0; i < words.count; ++i) text = tree_.join(i == 0 ? text : tree_.join(text, session_.separators.substr(0, 1)), tree_.word(words.first + i).text);
      return add_text(pieces, text, flags, true);
    }
    return add_piece(pieces, Piece{Piece::arguments, quoted, flags, {}, nullptr, words.first, words.count});
  }
  const Variable* variable = session_.find(name);
  if (variable != nullptr) return add_variable(pieces, *variable, quoted);
  if (name == "PWD" && session_.count != 0) {
    Value folders[Folders::kMost + 1] = {Value{session_.cwd, 0}};
    for (std::uint32_t i = 0; i < session_.count; ++i) folders[i + 1].text = session_.others[i];
    return add_choice(pieces, folders, session_.count + 1, quoted);
  }
  Value value;
  if (known_parameter(name, &value)) return add_text(pieces, value.text, value.flags, quoted);
  if ((value.flags & word_flag::kUnknown) != 0) return add_text(pieces, value.text, value.flags, quoted);
  // "$GITHUB_WORKSPACE/build": where a pipeline has checked the repository out.
  if (pos_ + 1 < end_ && *pos_ == '/' && (is_name_start(pos_[1]) || pos_[1] == '.') && pieces.count == 0 && !session_.cwd.empty() &&
      one_of(name, "GITHUB_WORKSPACE CI_PROJECT_DIR TRAVIS_BUILD_DIR BITBUCKET_CLONE_DIR CIRCLE_WORKING_DIRECTORY BUILD_SOURCESDIRECTORY SYSTEM_DEFAULTWORKINGDIRECTORY APPVEYOR_BUILD_FOLDER BUILDKITE_BUILD_CHECKOUT_PATH"))
    return add_literal(pieces, reader_.surroundings->cwd.empty() ? session_.cwd : reader_.surroundings->cwd, 0, quoted);
  // These are always something.
  if (one_of(name, "# ? - $ ! RANDOM SECONDS UID EUID PPID BASHPID LINENO HOSTNAME USER LOGNAME PWD PATH")) {
    return add_unknown(pieces, 0, quoted);
  }
  if (quoted) pieces.quoted = true;
  const std::uint16_t credential = names_credential(name) ? word_flag::kCredential : 0;
  std::uint16_t flags = static_cast<std::uint16_t>(word_flag::kEnvironment | empty | credential);
  if (name == "DESTDIR" && pieces.count == 0 && pos_ < end_ && *pos_ == '$') {
    flags |= word_flag::kInstalled;  // ${DESTDIR}${bindir}/x: where things are installed, as makefiles write it
  } else if (pieces.count == 1 && pieces.items[0].text == kUnknown && (pieces.flags & word_flag::kInstalled) != 0) {
    flags = word_flag::kEnvironment | word_flag::kInstalled;
    pieces.flags &= static_cast<std::uint16_t>(~word_flag::kMayBeEmpty);
    pieces.items[0].flags &= static_cast<std::uint16_t>(~word_flag::kMayBeEmpty);
  }
  add_unknown(pieces, flags, quoted);
}

// ${x@P}: a prompt's text, in which substitutions run as they do between double quotes.
inline void ShellReader::read_prompt(const Value& value, Span span) noexcept {
  if ((value.flags & word_flag::kUnknown) != 0 || value.text.find_first_of("$`") == string_view::npos || stopped_) return;
  if (session_.level >= kLevels || reader_.out_of_stack()) return uncertain(Unresolved::depth, span, frame_.carrier);
  if (value.text.size() > reader_.nested_bytes) return uncertain(Unresolved::limit, span, frame_.carrier);
  reader_.nested_bytes -= value.text.size();
  Frame frame = frame_;
  frame.via |= via::kEvaluated;
  ++session_.level;
  const std::uint32_t scratch = session_.scratch.size();
  ShellReader inner(reader_, session_, Code{value.text, span, false}, frame);
  Pieces ignored;
  inner.collect(ignored, Until::end, true);
  session_.scratch.cut(scratch);
  --session_.level;
}

// ${name...} at pos_.
inline void ShellReader::read_parameter(Pieces& pieces, bool quoted) noexcept {
  const char* const start = pos_;
  if (end_ - start > 4 && start[2] == '{' && read_pipeline_expression(pieces, quoted)) return;
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
  // Quotes in a pattern are quotes, also between double quotes.
  const bool pattern = !sign.empty() && one_of(sign.substr(0, 1), "% # / ^ ,");
  if (!sign.empty()) collect(operand, Until::operand, quoted && !pattern);
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
    if (!known || !is_name(held.text)) {
      session_.unsure = true;  // an error, which ends what is read so far
      return add_unknown(pieces, word_flag::kEnvironment, quoted);
    }
    name = held.text;
    held = Value{};
    known = known_parameter(name, &held);
  }
  if (length) return add_unknown(pieces, 0, quoted);
  const Variable* variable = session_.find(name);
  if (sign == "@" && one_text(operand).text == "P") {
    constexpr std::uint32_t kMost = 8;
    Value prompts[kMost];  // the session's own may move while these are read
    std::uint32_t count = 0;
    for (; variable != nullptr && count < variable->count && count < kMost; ++count) prompts[count] = session_.values(*variable)[count];
    if (variable == nullptr && known) prompts[count++] = held;
    for (std::uint32_t i = 0; i < count; ++i) read_prompt(prompts[i], span_of(start, pos_));
    return add_unknown(pieces, word_flag::kMayBeEmpty, quoted);
  }
  if (!index.empty() && variable != nullptr && variable->array) {
    const Value* values = session_.values(*variable);
    if (index == "@" || index == "*") {
      if (variable->count != 0 && sign.empty()) {
        const std::uint32_t first = session_.scratch.size();
        std::uint32_t kept = 0;
        std::uint16_t flags = 0;
        while (kept < variable->count && session_.scratch.add(values[kept]) != nullptr) flags |= values[kept++].flags;
        if (quoted && index == "*" && session_.find("IFS") != nullptr) {  // one word: IFS=; "${x[*]}"
          string_view text = tree_.copy("");
          for (std::uint32_t i = 0; i < kept; ++i) text = tree_.join(i == 0 ? text : tree_.join(text, session_.separators.substr(0, 1)), session_.scratch[first + i].text);
          return add_text(pieces, text, flags, true);
        }
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
  // All that the parameter may hold, and all that the operand may be.
  Raw<Value, Session::kAlternatives> held_values, operands, results;
  std::uint32_t count = 0, n = 0;
  if (variable != nullptr && !variable->array && index.empty() && variable->count > 1) {
    for (; count < variable->count && count < Session::kAlternatives; ++count) held_values[count] = session_.values(*variable)[count];
  } else if (known) {
    held_values[count++] = held;
  }
  const auto add = [&](const Value& value) noexcept {
    for (std::uint32_t i = 0; i < n; ++i)
      if (results[i].text == value.text && results[i].flags == value.flags) return;
    if (n < Session::kAlternatives) results[n++] = value;
    else results[n - 1] = Value{kUnknown, word_flag::kUnknown | word_flag::kMayBeEmpty};
  };
  if ((sign.size() == 1 || (colon && sign.size() == 2)) && (kind == '-' || kind == '=' || kind == '?' || kind == '+')) {
    if (kind == '?') return add_parameter(pieces, name, quoted, !colon);
    const std::uint32_t others = all_texts(operand, operands.data());
    const auto add_operand = [&]() noexcept {
      for (std::uint32_t k = 0; k < others; ++k) add(operands[k]);
    };
    if (count > 1) {  // any of several
      for (std::uint32_t i = 0; i < count; ++i) {
        const Value value = held_values[i];
        const bool unset = (value.flags & Session::unset_flags) == Session::unset_flags;
        if (kind == '+') {
          if (!value.text.empty()) add_operand();
          else add(value);
          continue;
        }
        if (!value.text.empty() && !unset) {
          add(value);
        } else if (!colon && !unset) {
          add(value);
        }
        if (value.text.empty() || unset) add_operand();
      }
      if (kind == '=' && is_name(name)) session_.set(name, results.data(), n, false, false);
      return add_values(pieces, results.data(), n, quoted);
    }
    const bool empty = known && held.text.empty();
    // A variable that was set from something unknown is rather set than not.
    const bool set = known || (held.flags & word_flag::kUnknown) != 0 || variable != nullptr;
    if (kind == '+') {
      if (set && empty && colon) return;
      if (!known) add(Value{});
      add_operand();
      return add_values(pieces, results.data(), n, quoted);
    }
    if (set && !empty) return add_parameter(pieces, name, quoted, false);
    if (set && !colon) add(held);  // empty, or not set at all
    if (kind == '=' && is_name(name)) session_.set(name, operands.data(), others, false, set && !colon);
    if (others <= 1 && operands[0].text.empty()) {
      // ${x:-}: nothing where x is not set, and nobody knows whether it is.
      return known ? void() : add_unknown(pieces, word_flag::kEnvironment | word_flag::kMayBeEmpty, quoted);
    }
    add_operand();
    return add_values(pieces, results.data(), n, quoted);
  }
  if (count != 0) {
    const std::uint32_t others = all_texts(operand, operands.data());
    bool certain = true;
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t k = 0; k < (others == 0 ? 1 : others); ++k) {
        const string_view by = others == 0 ? string_view() : operands[k].text;
        const bool known_by = others == 0 || (operands[k].flags & word_flag::kUnknown) == 0;
        const Value result = (held_values[i].flags & word_flag::kUnknown) != 0 ? Value{kUnknown, word_flag::kUnknown} : edited(held_values[i], sign, by, known_by);
        certain = certain && (result.flags & word_flag::kUnknown) == 0;
        if ((result.flags & word_flag::kUnknown) != 0) add(Value{kUnknown, static_cast<std::uint16_t>(word_flag::kUnknown | word_flag::kMayBeEmpty | (held_values[i].flags & word_flag::kCredential))});
        else add(result);
      }
    }
    if (certain || count > 1 || others > 1) return add_values(pieces, results.data(), n, quoted);
  }
  // A part of a credential, unless it is a few letters that people recognise it by: ${TOKEN:0:4}.
  std::uint16_t credential = (variable == nullptr && names_credential(name) ? word_flag::kCredential : 0) | (held.flags & word_flag::kCredential);
  if (credential != 0 && sign == ":") {
    const string_view part = one_text(operand).text;
    const std::size_t colon_at = part.find(':');
    const int letters = to_number(trim(colon_at == string_view::npos ? part.substr(part.find('-') == string_view::npos ? part.size() : part.find('-') + 1) : part.substr(colon_at + 1)));
    if (letters > 0 && letters <= 8) credential = 0;
  }
  add_unknown(pieces, word_flag::kMayBeEmpty | credential, quoted);
}

}  // namespace tipstaff::gate::shell
