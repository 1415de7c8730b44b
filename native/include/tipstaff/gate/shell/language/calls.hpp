// Calls of functions and aliases.
#pragma once

#include "tipstaff/gate/shell/language/nested.hpp"

namespace tipstaff::gate::shell {

inline bool ShellReader::call_function(Invocation& in) noexcept {
  const string_view name = argument(in, 0).text;
  for (std::uint32_t i = session_.functions.size(); i-- > 0;) {
    Function& function = session_.functions[i];
    if (function.name != name) continue;
    if (function.running) {
      // A function that starts itself beside itself.
      const Command& self = tree_.command(in.command);
      if (self.pipe_from != kNone || (pos_ < end_ && (*pos_ == '|' || *pos_ == '&'))) {
        emit_file("@fork-bomb", argument(in, 0), false, in.command, in.via, in.cwd);
      }
      return true;
    }
    if (function.body.size() > reader_.nested_bytes || frame_.depth >= limits::kDepth ||
        session_.level + 2 > kLevels || reader_.out_of_stack()) {
      uncertain(Unresolved::depth, in.span, in.command);
      return true;
    }
    reader_.nested_bytes -= function.body.size();
    function.running = true;
    const Positional outer = session_.positional;
    session_.positional = Positional{in.first + 1, in.count - 1, true, outer.zero};
    Frame frame = inner_frame(in, via::kFunction);
    frame.via &= ~via::kDefinition;
    frame.via |= in.via & via::kDefinition;
    ++frame.depth;
    session_.level += 2;
    ShellReader inner(reader_, session_, Code{function.body, function.origin, function.verbatim}, frame);
    inner.input_ = in.input;
    inner.pipe_from_ = in.pipe_from;
    Capture capture;
    if (in.want_output) inner.capture_ = &capture;
    inner.read();
    session_.level -= 2;
    session_.positional = outer;
    session_.functions[i].running = false;
    in.output = capture.stream;
    if (inner.tail_ != kNone) in.tail = inner.tail_;
    return true;
  }
  return false;
}

inline bool ShellReader::call_alias(Invocation& in) noexcept {
  const Word& name = argument(in, 0);
  if (name.has(word_flag::kQuoted)) return false;
  for (std::uint32_t i = session_.aliases.size(); i-- > 0;) {
    const Alias alias = session_.aliases[i];
    if (alias.name != name.text) continue;
    Nested options;
    options.via = via::kFunction;
    options.subshell = false;
    options.tail_first = in.first + 1;
    options.tail_count = in.count - 1;
    // An alias does not name itself.
    session_.aliases[i].name = {};
    nested(in, alias.text, alias.span, options);
    if (i < session_.aliases.size()) session_.aliases[i].name = alias.name;
    return true;
  }
  return false;
}

}  // namespace tipstaff::gate::shell
