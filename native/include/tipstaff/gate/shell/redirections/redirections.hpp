// Redirections as commands on files.
#pragma once

#include "tipstaff/gate/shell/redirections/written_files.hpp"

namespace tipstaff::gate::shell {

// A pseudo command on a file.
inline void ShellReader::emit_file(string_view program, const Word& path, bool append, std::uint32_t carrier,
                                   std::uint32_t via, string_view cwd, bool empty) noexcept {
  const std::uint32_t first = tree_.add_word(path);
  if (first == kNone) return;
  Command command;
  command.program = program;
  command.name.text = program;
  command.name.span = path.span;
  command.name.flags = word_flag::kPseudo;
  command.first_word = first;
  command.word_count = 1;
  if (append || empty) {
    Word flag;
    flag.text = append ? "--append" : "--empty";
    flag.span = path.span;
    flag.flags = word_flag::kPseudo;
    if (tree_.add_word(flag) != kNone) ++command.word_count;
  }
  command.cwd = cwd;
  command.carrier = carrier;
  command.via = via;
  command.span = path.span;
  command.node = add_node(NodeKind::redirection, path.span, frame_.node);
  const std::uint32_t index = tree_.add_command(command);
  if (index != kNone && command.node != kNone) tree_.node(command.node).command = index;
}

// Whether it is certain that nothing is written.
inline bool empties(const Stream& output) noexcept {
  return output.kind == Stream::none || (output.kind == Stream::known && trim(output.text).empty()) ||
         (output.kind == Stream::file && output.text == "/dev/null");
}

// Whether the text uses an open file by its number: >&3, <&3, /dev/fd/3, read -u 3.
inline bool ShellReader::uses_descriptors() noexcept {
  if (looked_in_ == code_.text.data()) return descriptors_used_;  // looked for once
  const string_view text = code_.text;
  looked_in_ = text.data();
  descriptors_used_ = text.find("/fd/") != string_view::npos || text.find(" -u") != string_view::npos;
  for (std::size_t at = text.find('&'); at != string_view::npos && !descriptors_used_; at = text.find('&', at + 1)) {
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
    descriptors_used_ = at != 0 && (text[at - 1] == '>' || text[at - 1] == '<') && !holds("12-/", after);
  }
  return descriptors_used_;
}

// One behind the last place where the text may write to an open file by its number: looked for once.
inline std::size_t ShellReader::descriptors_until() noexcept {
  if (descriptors_until_ != string_view::npos) return descriptors_until_;
  const string_view text = code_.text;
  std::size_t at = text.rfind(">&");
  while (at != string_view::npos && (at + 2 == text.size() || text[at + 2] == '-')) at = at == 0 ? string_view::npos : text.rfind(">&", at - 1);
  std::size_t until = 0;
  for (const std::size_t found : {at, text.rfind("/fd/"), text.rfind("flock")})
    if (found != string_view::npos && found >= until) until = found + 1;
  return descriptors_until_ = until;
}

inline void ShellReader::emit_redirections(const Redirections& redirections, std::uint32_t carrier, std::uint32_t via,
                                           const Stream& output) noexcept {
  for (std::uint32_t i = 0; i < redirections.count; ++i) {
    const Redirection& item = redirections.items[i];
    const string_view target = item.target.text;
    if (target == "/dev/null" || target == "/dev/stderr" || target == "/dev/stdout" || target == "/dev/stdin") continue;
    if (item.kind == Redirection::read && (item.target.flags & word_flag::kPseudo) != 0) continue;
    const bool append = item.kind == Redirection::append;
    // Of several files only the last one gets what is printed.
    bool last = true;
    for (std::uint32_t k = i + 1; k < redirections.count; ++k) last = last && !(redirections.items[k].kind != Redirection::read && redirections.items[k].output);
    // Whether somebody listens there is all that is asked: (exec 3<>/dev/tcp/db/5432), echo > /dev/tcp/db/5432
    if (starts_with(target, "/dev/tcp/") || starts_with(target, "/dev/udp/")) {
      const bool asks = redirections.shell_itself ? redirections.idle && redirections.passing && item.descriptor > 2 && !uses_descriptors()
                        : item.kind == Redirection::read ? redirections.idle && (via & via::kSubstitution) == 0
                                                         : item.output && last && empties(output);
      emit_file(item.kind == Redirection::read ? "@read" : "@write", item.target, append && !asks, carrier, via, session_.cwd, asks);
      continue;
    }
    const bool empty = item.kind == Redirection::write && (item.output ? empties(output) || !last : redirections.idle && (item.descriptor != 2 || carrier == frame_.carrier));
    emit_file(item.kind == Redirection::read ? "@read" : "@write", item.target, append, carrier, via, session_.cwd, empty);
    if (item.kind != Redirection::read && item.output) {
      remember_file(session_.cwd, target, output, append);
      run_at_startup(target, output, item.target.span);
    }
  }
}

}  // namespace tipstaff::gate::shell
