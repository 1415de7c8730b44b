// m4: the commands that its macros have a shell run.
#pragma once

#include "tipstaff/gate/shell/programs/inline.hpp"
#include "tipstaff/gate/shell/small_languages/code_texts.hpp"

namespace tipstaff::gate::shell {

// Macros of m4: syscmd(`rm 'NAME), with what define(`NAME', `TEXT') and -DNAME=TEXT put in.
inline void ShellReader::read_macros(Invocation& in, string_view text, Span span) noexcept {
  NamedTexts names;
  const auto define = [&names](string_view name, string_view value) noexcept {
    if (names.count == NamedTexts::kMost || name.empty()) return;
    names.name[names.count] = name;
    names.text[names.count++] = value;
  };
  for (std::uint32_t i = 1; i < in.count; ++i) {
    string_view given = text_of(in, i);
    if (given == "-D" && i + 1 < in.count) given = text_of(in, ++i);
    else if (starts_with(given, "-D")) given.remove_prefix(2);
    else continue;
    if (const std::size_t equals = given.find('='); equals != string_view::npos) define(given.substr(0, equals), given.substr(equals + 1));
  }
  for (std::size_t at = text.find("define(`"); at != string_view::npos; at = text.find("define(`", at + 1)) {
    const string_view rest = text.substr(at + 8);
    const std::size_t close = rest.find('\''), open = rest.find('`'), end = rest.find('\'', open == string_view::npos ? 0 : open);
    if (close < open && open < end && end != string_view::npos) define(rest.substr(0, close), rest.substr(open + 1, end - open - 1));
  }
  std::size_t i = 0;
  for (std::size_t at = text.find("syscmd("); at != string_view::npos; at = text.find("syscmd(", i)) {
    string_view made = tree_.copy("");
    int depth = 0;
    for (i = at + 7; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '(') ++depth;
      if (c == ')' && depth-- == 0) break;
      if (c == '`' || c == '\'') continue;
      if (is_name_start(c) && (i == 0 || !is_name_byte(text[i - 1]))) {
        std::size_t stop = i;
        while (stop < text.size() && is_name_byte(text[stop])) ++stop;
        const string_view* const known = names.find(text.substr(i, stop - i));
        made = tree_.join(made, known != nullptr ? *known : text.substr(i, stop - i));
        i = stop - 1;
      } else {
        made = tree_.join(made, text.substr(i, 1));
      }
    }
    Word code;
    code.text = made;
    code.span = span;
    Nested options;
    options.via = via::kInterpreter | via::kEvaluated;
    code_word(in, code, options, Dialect::shell);
  }
}

}  // namespace tipstaff::gate::shell
