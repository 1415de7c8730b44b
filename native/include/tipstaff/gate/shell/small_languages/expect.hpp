// expect: the programs that its scripts start, and what they type into them.
#pragma once

#include "tipstaff/gate/shell/language/nested.hpp"

namespace tipstaff::gate::shell {

// Tcl that starts programs and types into them: spawn sh; send "rm x\r". What is typed is code for a shell, or for what was started.
inline void ShellReader::run_expect(Invocation& in, const Nested& options) noexcept {
  Word code;
  if (find_option(in, 'c', "", &code) == kNone) {
    const std::uint32_t at = after_options(in, 1, "cdfbi", "");
    Stream file = in.input;
    if (at < in.count && text_of(in, at) != "-") {
      file.kind = Stream::file;
      file.text = text_of(in, at);
      file.span = argument(in, at).span;
    }
    const Stream script = file.kind == Stream::file ? load(file, in.cwd) : file;
    if (script.kind != Stream::known) return;
    code.text = script.text;
    code.span = script.span;
  }
  string_view typed;
  Word started = code;
  for (const string_view starts : {"spawn ", "exec ", "system ", "file delete "}) {
    for (std::size_t at = code.text.find(starts); at != string_view::npos; at = code.text.find(starts, at)) {
      at += starts.size();
      string_view line = code.text.substr(at, code.text.find_first_of(";\n]", at) - at);
      if (starts_with(line, "-noecho ")) line.remove_prefix(8);
      started.text = starts == "file delete " ? tree_.join(tree_.copy("rm -r -f "), starts_with(line, "-force ") ? line.substr(7) : line) : line;
      code_word(in, started, options, Dialect::shell);
      if (starts == "spawn ") typed = line;
      at += line.size();
    }
  }
  const string_view client = base_name(typed.substr(0, typed.find(' ')));
  std::size_t read = 0;
  for (std::size_t at = code.text.find("send "); at != string_view::npos; at = code.text.find("send ", read)) {
    read = at + 5;
    string_view text = code.text.substr(read);
    while (starts_with(text, "-")) text.remove_prefix(text.find(' ') == string_view::npos ? text.size() : text.find(' ') + 1);
    if (text.empty() || (text[0] != '"' && text[0] != '{')) continue;
    const char close = text[0] == '"' ? '"' : '}';
    std::size_t stop = 1;
    while (stop < text.size() && text[stop] != close) stop += text[stop] == '\\' ? 2u : 1u;
    read = static_cast<std::size_t>(text.data() - code.text.data()) + (stop < text.size() ? stop : text.size());
    started.text = decode_escapes(tree_, text.substr(1, stop < text.size() ? stop - 1 : string_view::npos), Escapes::ansi_c);
    if (!holds(trim(started.text), ' ')) continue;  // an answer
    const bool sql = one_of(client, "psql mysql mariadb sqlite3 sqlplus");
    code_word(in, started, options, sql ? Dialect::sql : Dialect::shell);
  }
}

}  // namespace tipstaff::gate::shell
