// Databases that are spoken to over a plain connection: echo FLUSHALL | nc HOST 6379.
#pragma once

#include "tipstaff/gate/shell/programs/clients.hpp"

namespace tipstaff::gate::shell {

// The commands in what Redis is sent: lines of words, or the protocol's own form, in which *N begins a command and $N
// is before each of its words.
inline string_view redis_lines(Tree& tree, string_view text) noexcept {
  if (text.find('*') == string_view::npos) return text;
  std::size_t room = 0;
  char* out = tree.draft(&room);
  if (room < text.size() + 1) {
    tree.set_full();
    return {};
  }
  std::size_t n = 0;
  bool framed = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == string_view::npos) end = text.size();
    const string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    const bool counts = line.size() > 1 && is_digit(line[1]);
    if (counts && line[0] == '$') continue;
    if (n > 0 && out[n - 1] != '\n') out[n++] = framed && !(counts && line[0] == '*') ? ' ' : '\n';
    if (counts && line[0] == '*') {
      framed = true;
      continue;
    }
    for (const char c : line) out[n++] = c;
  }
  return tree.keep(n);
}

// nc, ncat, telnet, socat: what goes in is read as what the other side takes, where its port tells.
inline void ShellReader::run_socket(Invocation& in) noexcept {
  if (in.input.kind != Stream::known) return;
  bool redis = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.empty() || text[0] == '-') continue;
    redis = redis || one_of(text, "6379 6380") || ends_with(text, ":6379") || ends_with(text, ":6380");
  }
  if (!redis) return;
  other_dialect(in, Dialect::redis, redis_lines(tree_, in.input.text), in.input.span, 0);
}

}  // namespace tipstaff::gate::shell
