// What a program is called, and under which other name it is known.
#pragma once

#include "tipstaff/gate/shell/programs/table.hpp"
#include "tipstaff/gate/shell/redirections/redirections.hpp"

namespace tipstaff::gate::shell {

// A word as it is written, without the quotes around it.
inline string_view unquoted_name(string_view text) noexcept {
  const bool quoted = text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// The base name in lower case, without .exe; empty where it is only known when the command runs.
inline string_view ShellReader::program_name(const Word& word) noexcept {
  string_view name = word.text;
  while (name.size() > 1 && name.back() == '/') name.remove_suffix(1);
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != string_view::npos && slash + 1 < name.size()) name.remove_prefix(slash + 1);
  if (word.has(word_flag::kUnknown)) {
    // npx "eslint@$VERSION": of a package with its version the name is known.
    const std::size_t version = name.find('@');
    if (version != string_view::npos && version > 0) name = name.substr(0, version);
    if (const std::size_t open = name.find(kUnknownPart); open != string_view::npos) {
      // scan-build-$VERSION: of a name with a dash that begins no program that is feared, all but its end is known.
      string_view known = name.substr(0, open);
      if (name.find_first_not_of(kUnknownPart, open) != string_view::npos || known.size() < 6 || !holds(known, '-') || starts_with(known, "git-") || word.has(word_flag::kGlob)) return {};
      for (const string_view feared : kFeared)
        if (starts_with(feared, known)) return {};
      while (known.back() == '-') known.remove_suffix(1);
      name = known;
    }
  }
  bool capitals = false;
  for (const char c : name) capitals = capitals || (c >= 'A' && c <= 'Z');
  if (capitals) {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < name.size()) {
      tree_.set_full();
      return name;
    }
    for (std::size_t i = 0; i < name.size(); ++i) out[i] = lower(name[i]);
    name = tree_.keep(name.size());
  }
  if (name.size() > 4 && ends_with(name, ".exe")) name.remove_suffix(4);
  // npx prisma@5: a program of a package with its version.
  if (const std::size_t version = name.find('@'); version != string_view::npos && version > 0 && name[0] != '@') {
    name = name.substr(0, version);
  }
  // [INFO] as a whole names files of one letter; [INFO is no pattern.
  if (word.has(word_flag::kGlob) && name.size() > 2 && name[0] == '[' && name.find_first_of("*?") == string_view::npos) {
    const std::size_t close = name.find(']');
    if (close == string_view::npos || close + 1 == name.size()) return name;
  }
  if (word.has(word_flag::kGlob) && name != "[" && name.find_first_of("*?[") != string_view::npos) {
    for (const string_view feared : kFeared) {
      if (matches_glob(name, feared)) return feared;
    }
    return {};
  }
  if (const std::size_t prefix = foreign_prefix(name); prefix > 0) return name.substr(prefix);
  // python3.11 is a python3, pythonsomething is not.
  if (starts_with(name, "python") && name.size() > 7 && is_digit(name[6])) return name[6] == '2' ? "python2" : "python3";
  if (name.size() > 3 && starts_with(name, "php") && is_digit(name[3])) return "php";
  if (name.size() > 4 && starts_with(name, "perl") && is_digit(name[4])) return "perl";
  if (name.size() > 4 && starts_with(name, "ruby") && is_digit(name[4])) return "ruby";
  return name;
}

// git-reset is git reset, /etc/init.d/ssh stop is service ssh stop; killing all that ps lists is kill -1.
// Returns whether the command was read as another one.
inline bool ShellReader::run_under_other_name(Invocation& in, string_view program) noexcept {
  string_view before[2];
  std::uint32_t count = 0, skip = 1;
  const string_view written = text_of(in, 0);
  if (starts_with(program, "git-") &&
      one_of(program.substr(4), "reset clean checkout push stash branch restore switch rm gc prune reflog update-ref worktree rebase "
                                "read-tree checkout-index send-pack tag commit config filter-branch submodule")) {
    before[count++] = "git";
    before[count++] = program.substr(4);
  } else if (starts_with(written, "/etc/init.d/") || starts_with(written, "/etc/rc.d/")) {
    before[count++] = "service";
    before[count++] = base_name(written);
  } else if (program == "kill" && kills_all_listed(in)) {
    before[count++] = "kill";
    before[count++] = "-1";
    skip = in.count;
  } else if (program == "kill" && ends_found(in)) {
    return true;
  } else if (session_.files.size() != 0) {
    // A program that this very text copied, or made a link to, under the name of another: in a folder of PATH, or by its path.
    const string_view place = holds(written, '/') ? resolve(in.cwd, written) : string_view();
    for (std::uint32_t i = 0; i < session_.files.size() && count == 0; ++i) {
      const WrittenFile& file = session_.files[i];
      if (file.content.kind != Stream::file || (holds(written, '/') ? file.path != place : base_name(file.path) != written)) continue;
      const string_view other = base_name(file.content.text);
      if (other != written && is_feared(other)) before[count++] = other;
    }
    if (count == 0) return false;
  } else {
    return false;
  }
  const std::uint32_t first = tree_.word_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    Word word = argument(in, 0);
    word.text = before[i];
    word.flags = word_flag::kPseudo;
    if (tree_.add_word(word) == kNone) return false;
  }
  for (std::uint32_t i = skip; i < in.count; ++i) {
    if (tree_.add_word(argument(in, i)) == kNone) return false;
  }
  run_copied(in, first, tree_.word_count() - first, 0, nullptr);
  return true;
}

// kill $(pgrep x), pgrep x | xargs kill: what pkill x ends. Returns whether it was read so.
inline bool ShellReader::ends_found(Invocation& in) noexcept {
  const std::uint32_t from = in.carrier == kNone ? kNone : tree_.command(in.carrier).pipe_from;
  const bool listed_before = (in.via & via::kArgumentsAdded) != 0 && from != kNone && one_of(tree_.command(from).program, "pgrep pidof");
  bool substituted = false;
  for (std::uint32_t i = 1; i < in.count; ++i) substituted = substituted || argument(in, i).has(word_flag::kUnknown);
  if (!substituted && !listed_before) return false;
  const std::uint32_t first = tree_.word_count();
  Word word = argument(in, 0);
  word.flags = word_flag::kPseudo;
  const auto add = [&](string_view text) noexcept {
    word.text = text;
    return tree_.add_word(word) != kNone;
  };
  if (!add("pkill")) return false;
  for (std::uint32_t i = 1; i < in.count && starts_with(text_of(in, i), "-"); ++i)
    if (!add(text_of(in, i))) return false;
  bool found = false;
  for (std::uint32_t i = 1; i < in.count && !found; ++i) {
    string_view text = argument(in, i).has(word_flag::kUnknown) ? source_of(argument(in, i).span) : string_view();
    while (!text.empty() && holds("\"$(`", text[0])) text.remove_prefix(1);
    while (!text.empty() && holds("\")`", text.back())) text.remove_suffix(1);
    if (!starts_with(text, "pgrep ") && !starts_with(text, "pidof ")) continue;
    if (text.find_first_of("|;&<>$\n") != string_view::npos) return false;
    for (text.remove_prefix(6), found = true; !text.empty();) {
      const std::size_t blank = text.find(' ');
      const string_view part = text.substr(0, blank);
      if (!part.empty() && !one_of(part, "-l -a -x -n -o") && !add(unquoted_name(part))) return false;
      text.remove_prefix(blank == string_view::npos ? text.size() : blank + 1);
    }
  }
  if (!found && listed_before) {
    const Command listed = tree_.command(from);
    found = true;
    for (std::uint32_t i = 0; i < listed.word_count; ++i) {
      const string_view text = tree_.word(listed.first_word + i).text;
      if (!one_of(text, "-l -a -x -n -o") && !add(text)) return false;
    }
  }
  if (found) run_copied(in, first, tree_.word_count() - first, 0, nullptr);
  return found;
}

// kill $(ps -eo pid), ps -eo pid | xargs kill: every process, where nothing narrows the list.
inline bool ShellReader::kills_all_listed(const Invocation& in) noexcept {
  const auto narrows = [](string_view text) noexcept {
    return text.find("grep") != string_view::npos || holds(text, '/') || text.find("-C") != string_view::npos ||
           text.find("--ppid") != string_view::npos || text.find(" -p ") != string_view::npos || text.find(" -u") != string_view::npos ||
           text.find(" -t") != string_view::npos || text.find("==") != string_view::npos || holds(text, '~');
  };
  for (std::uint32_t i = 1; i < in.count; ++i) {
    if (!argument(in, i).has(word_flag::kUnknown)) continue;
    string_view text = source_of(argument(in, i).span);
    while (!text.empty() && holds("\"$(` ", text[0])) text.remove_prefix(1);
    if (starts_with(text, "ps ") && !narrows(text)) return true;
  }
  if ((in.via & via::kArgumentsAdded) == 0 || argument(in, 0).has(word_flag::kPseudo)) return false;
  const auto chooses = [&](std::uint32_t index) noexcept {  // or what it carries: fzf --preview 'ps {}'
    for (std::uint32_t steps = 0; index != kNone && steps < 8; ++steps, index = tree_.command(index).carrier)
      if (one_of(tree_.command(index).program, "head tail pgrep fzf sk peco percol gum")) return true;
    return false;
  };
  std::uint32_t at = in.carrier == kNone ? in.pipe_from : tree_.command(in.carrier).pipe_from;
  for (std::uint32_t steps = 0; at != kNone && steps < 16; ++steps) {
    const Command& other = tree_.command(at);
    if (narrows(source_of(other.span)) || chooses(at)) return false;
    if (other.program == "ps") return true;
    at = other.pipe_from;
  }
  return false;
}

}  // namespace tipstaff::gate::shell
