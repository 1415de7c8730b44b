// What ${...} makes of a known text.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

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
