// Programs that the environment names: $SCCACHE_PATH --show-stats, where nothing in the text sets the variable.
#pragma once

#include "tipstaff/gate/shell/language/names.hpp"

namespace tipstaff::gate::shell {

namespace environment_programs {

// Variables that hold any command at all, or one that destroys or sends. $GOTESTSUM_CMD says which one it is.
constexpr string_view kCommand = "cmd command";
constexpr string_view kAnyCommand =
    "cmds commands payload code script scripts eval exec run args argv line input output result action actions step task job hook hooks tool prog program app "
    "clean cleanup remove delete destroy drop wipe purge prune rm kill stop reset uninstall teardown down deploy publish release push upload rollback undo migrate shutdown "
    "sudo su ssh remote prod production sql query psql mysql mongo redis kubectl helm terraform ansible aws gcloud az git docker podman shell sh bash zsh";
// Words of arguments that delete, send or run other code.
constexpr string_view kHarm =
    "delete del rm remove drop destroy wipe purge prune clean reset kill terminate uninstall push publish deploy apply exec eval truncate flush shutdown reboot halt format "
    "erase undo rollback revert restore down rmi nuke force recursive hard overwrite unlink shred rf fr sync upload release mirror migrate yes";

inline bool any_word(string_view text, string_view words) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (ascii::is_letter(text[end]) || ascii::is_digit(text[end]))) ++end;
    if (end > at && ascii::one_of(text.substr(at, end - at), words)) return true;
    at = end + 1;
  }
  return false;
}

// An argument that says of no harm: no other code, no path outside the folder, no word of kHarm.
inline bool is_tame(string_view text) noexcept {
  if (text.find_first_of(" \t\n;|&`$<>") != string_view::npos || text.find("..") != string_view::npos) return false;
  if (!text.empty() && (text[0] == '/' || text[0] == '~')) return false;
  if (text.find("://") != string_view::npos) return false;
  if (text.size() > 1 && text[0] == '-' && text[1] != '-' && text.size() < 5 && text.find_first_of("rRfFdDy") != string_view::npos) return false;
  return !any_word(text, kHarm);
}

}  // namespace environment_programs

// Whether the environment names the program, and nothing destructive is given to it.
inline bool ShellReader::is_of_environment(const Invocation& in) noexcept {
  using namespace environment_programs;
  const Word& name = argument(in, 0);
  if (name.text != kUnknown || !name.has(word_flag::kEnvironment)) return false;
  string_view text = source_of(name.span);
  if (text.size() > 2 && text[0] == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  if (text.size() < 4 || text[0] != '$') return false;
  text.remove_prefix(1);
  if (text[0] == '{' && text.back() == '}') text = text.substr(1, text.size() - 2);
  if (text.size() < 3 || !is_name(text) || session_.find(text) != nullptr || any_word(text, kAnyCommand) || ascii::one_of(text, kCommand)) return false;
  for (const char c : text)
    if (ascii::lower(c) != c) continue;  // the environment's are written in capitals
    else if (ascii::is_letter(c)) return false;
  if (in.input.kind != Stream::none && in.input.kind != Stream::unknown) return false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word& word = argument(in, i);
    if (word.has(word_flag::kUnknown) ? word.text != kUnknown : !is_tame(word.text)) return false;
  }
  return true;
}

// CXX="$CXX -Wall", CC="${CCACHE} gcc": a variable of the environment with options, or before a program, which is what is left to judge.
inline bool ShellReader::is_extended(string_view code, string_view* left) noexcept {
  if (code.size() < 3 || code[0] != kUnknownPart || code[1] != ' ') return false;
  string_view rest = trim(code.substr(2));
  if (!rest.empty() && rest[0] != '-') {
    *left = rest;
    return true;
  }
  *left = {};
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    const string_view word = rest.substr(0, end);
    if (!(word.size() == 1 && word[0] == kUnknownPart) && !environment_programs::is_tame(word)) return false;
    rest = end == string_view::npos ? string_view() : trim(rest.substr(end));
  }
  return true;
}

}  // namespace tipstaff::gate::shell
