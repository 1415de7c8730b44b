// Programs that print nothing with the options that they have: if $(git check-ignore -q x); then.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// Whether an option is there: as a word, or as a letter among others, before any that takes the rest of its word.
inline bool ShellReader::has_option(const Invocation& in, std::uint32_t from, char letter, string_view valued, string_view names) noexcept {
  for (std::uint32_t i = from; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text == "--") return false;
    if (text.size() < 2 || text[0] != '-') continue;
    if (one_of(text, names)) return true;
    if (text[1] == '-') continue;
    for (std::size_t k = 1; k < text.size() && !holds(valued, text[k]); ++k)
      if (text[k] == letter) return true;
  }
  return false;
}

inline bool ShellReader::prints_nothing_by_options(const Invocation& in) noexcept {
  const string_view program = program_name(argument(in, 0));
  if (program == "git") {
    const std::uint32_t at = after_options(in, 1, "cC", "--git-dir --work-tree");
    if (at >= in.count) return false;
    const string_view verb = text_of(in, at);
    if (verb == "check-ignore" || verb == "show-ref") return has_option(in, at + 1, 'q', "", "--quiet") && (verb != "show-ref" || has_option(in, at + 1, '\0', "", "--verify --quiet"));
    if (one_of(verb, "diff diff-index diff-files diff-tree")) return has_option(in, at + 1, '\0', "", "--quiet");
    if (verb == "merge-base") return has_option(in, at + 1, '\0', "", "--is-ancestor");
    return verb == "cat-file" && has_option(in, at + 1, 'e', "", "");
  }
  if (one_of(program, "grep egrep fgrep zgrep rg ag ack")) return has_option(in, 1, 'q', "efmABCdDgtT", "--quiet --silent");
  if (program == "cmp") return has_option(in, 1, 's', "in", "--silent --quiet");
  if (program == "systemctl") return has_option(in, 1, 'q', "HMtpnso", "--quiet") && in.count > 2;
  if (one_of(program, "pg_isready mountpoint")) return has_option(in, 1, 'q', "dhpUt", "--quiet");
  if (one_of(program, "nc ncat netcat")) return has_option(in, 1, 'z', "ipqswxX", "");
  if (program == "pgrep") return has_option(in, 1, 'q', "dfgGPstuUF", "--quiet");
  if (program == "tmux") return in.count > 1 && one_of(text_of(in, 1), "has has-session");
  if (one_of(program, "sha1sum sha256sum sha512sum md5sum shasum")) return has_option(in, 1, '\0', "", "--status");
  return false;
}

}  // namespace tipstaff::gate::shell
