// What find and fd find where they are asked for names alone.
#pragma once

#include "tipstaff/gate/shell/programs/filters.hpp"

namespace tipstaff::gate::shell {

// The paths that find starts from: the words [begin, end) of its own.
inline void ShellReader::starts_of_find(const Invocation& in, std::uint32_t* begin, std::uint32_t* end) noexcept {
  *begin = 1;
  while (*begin < in.count && one_of(text_of(in, *begin), "-H -L -P")) ++*begin;
  for (*end = *begin; *end < in.count; ++*end) {
    const string_view text = text_of(in, *end);
    if (text.empty() || text[0] == '-' || text == "(" || text == "!") break;
  }
}

// What find finds below a place nearby where it is asked for names alone: ./*.pyc for `find . -name '*.pyc'`, a line
// for each. Empty where more than names decides, or where the place is not below the directory that it is run in.
inline string_view ShellReader::found_by_name(const Invocation& in) noexcept {
  string_view lines;
  bool printed = false, below = false;
  std::uint32_t begin = 0, end = 0;
  starts_of_find(in, &begin, &end);
  for (std::uint32_t i = begin; i < end; ++i) {
    const string_view text = text_of(in, i);
    const bool temporary = text == "/tmp" || text == "/var/tmp" || starts_with(text, "/tmp/") || starts_with(text, "/var/tmp/");
    const bool here = in.cwd.size() > 1 && starts_with(text, in.cwd) && (text.size() == in.cwd.size() || text[in.cwd.size()] == '/');
    const bool programs = text == "/usr/local" || starts_with(text, "/usr/local/");
    if ((text[0] == '/' && !temporary && !here && !programs) || text[0] == '~' || text.find("..") != string_view::npos) return {};
  }
  for (std::uint32_t i = end; i + 1 < in.count; ++i) {
    const string_view text = text_of(in, i), next = text_of(in, i + 1);
    if (text == "-o") break;
    below = below || (text == "-mindepth" && !one_of(next, "0 1")) || (one_of(text, "-path -wholename") && i > end && one_of(text_of(in, i - 1), "! -not") && next == "./.git");
  }
  for (std::uint32_t i = end; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (one_of(text, "! -not") && i + 2 < in.count && one_of(text_of(in, i + 1), "-path -ipath -wholename")) {
      i += 2;  // which only leaves some out
      continue;
    }
    if (one_of(text, "-path -ipath -wholename") && i + 2 < in.count && text_of(in, i + 2) == "-prune") {
      ++i;
      continue;
    }
    // What is left out goes before the names that are meant.
    if (text == "-prune" && i + 1 < in.count && one_of(text_of(in, i + 1), "-o -or") && !printed) {
      lines = {};
      continue;
    }
    printed = printed || starts_with(text, "-print") || text == "-ls";
    if (one_of(text, "! -not -regex -iregex -path -ipath -wholename") || text == ",") return {};
    if (one_of(text, "-exec -execdir -ok -okdir")) {
      if (i > end && one_of(text_of(in, i - 1), "-o -or")) return {};  // for what has none of the names
      break;
    }
    if (!one_of(text, "-name -iname") || i + 1 >= in.count) continue;
    const string_view name = text_of(in, ++i);
    if (argument(in, i).has(word_flag::kUnknown) || name.find_first_not_of("*?.") == string_view::npos) return {};
    for (std::uint32_t k = begin; k < end || k == begin; ++k) {
      const string_view place = end > begin ? text_of(in, k) : string_view(".");
      if (name == ".git" && holds(place, kUnknownPart)) return {};
      if (!lines.empty()) lines = tree_.join(lines, "\n");
      else lines = tree_.copy("");
      // Below /usr/local it is found in some program's own folder, not in one that all share.
      const bool deep = starts_with(place, "/usr/local") && !ascii::one_of(name, "bin sbin lib lib64 share etc include libexec man games src var opt local");
      lines = tree_.join(tree_.join(tree_.join(lines, place), deep || (below && name == ".git") ? "/found/" : "/"), name);
    }
  }
  return lines;
}

// Names that tools and systems leave behind; who gives fd one of them means it, although fd takes it for a part of a name.
constexpr string_view kLitterNames = ".ds_store ds_store thumbs.db desktop.ini __pycache__ node_modules .pytest_cache .mypy_cache .ruff_cache .ipynb_checkpoints .next .turbo .parcel-cache";

// fd's pattern as a pattern of the shell: \.pyc$ is *.pyc. Empty where it is more than a text between anchors.
inline string_view ShellReader::fd_pattern(string_view pattern) noexcept {
  const bool begins = starts_with(pattern, "^");
  if (begins) pattern.remove_prefix(1);
  const bool ends = ends_with(pattern, "$") && !ends_with(pattern, "\\$");
  if (ends) pattern.remove_suffix(1);
  string_view name = tree_.copy("");
  bool wild = true;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t stop = pattern.find('\\', at);
    const string_view part = pattern.substr(at, stop == string_view::npos ? stop : stop - at);
    if (part.find_first_of("*+?()[]{}|^$") != string_view::npos) return {};
    name = tree_.join(name, part);
    wild = wild && part.find_first_not_of('.') == string_view::npos;
    if (stop == string_view::npos) break;
    if (stop + 1 >= pattern.size() || is_name_byte(pattern[stop + 1])) return {};
    name = tree_.join(name, pattern.substr(stop + 1, 1));
    at = stop + 2;
  }
  if (wild || name.size() < 2) return {};
  if (ascii::one_of(name, kLitterNames)) return name;
  if (!begins) name = tree_.join(tree_.copy("*"), name);
  return ends ? name : tree_.join(name, "*");
}

// What fd finds below a place nearby where it is asked for names alone, as found_by_name() tells it of find.
inline string_view ShellReader::found_by_fd(const Invocation& in) noexcept {
  Word operands[8];
  string_view names = tree_.copy("");
  std::uint32_t count = 0;
  bool by_glob = false, by_ending = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (argument(in, i).has(word_flag::kUnknown)) return {};
    if (text.size() < 2 || text[0] != '-') {
      if (count == 8) return {};
      operands[count++] = argument(in, i);
      continue;
    }
    const bool next = i + 1 < in.count;
    if (one_of(text, "-e --extension") && next) {
      if (names.size() != 0) names = tree_.join(names, "\n");
      names = tree_.join(tree_.join(names, "*."), text_of(in, ++i));
      if (argument(in, i).has(word_flag::kUnknown) || text_of(in, i).empty()) return {};
      by_ending = true;
    } else if (one_of(text, "-g --glob")) {
      by_glob = true;
    } else if (one_of(text, "-t --type -d --max-depth --min-depth --exact-depth -E --exclude -j --threads -c --color -S --size --changed-within --changed-before") && next) {
      ++i;
    } else if (!one_of(text, "-H --hidden -I --no-ignore -u --unrestricted -HI -IH -uu -s --case-sensitive -i --ignore-case -L --follow -0 --print0 -a --absolute-path -q --no-ignore-vcs -tf -td -tl --type=f --type=d")) {
      return {};
    }
  }
  if (!by_ending) {
    if (count == 0) return {};
    names = by_glob ? operands[0].text : fd_pattern(operands[0].text);
    if (names.empty() || names.find_first_not_of("*?.") == string_view::npos || names.find('/') != string_view::npos) return {};
  }
  string_view lines = tree_.copy("");
  for (std::uint32_t k = 1; k < count || k == 1; ++k) {
    const string_view place = k < count ? operands[k].text : string_view(".");
    if (place[0] == '/' || place[0] == '~' || place.find("..") != string_view::npos) return {};
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t stop = names.find('\n', at);
      if (lines.size() != 0) lines = tree_.join(lines, "\n");
      lines = tree_.join(tree_.join(tree_.join(lines, place), "/"), names.substr(at, stop == string_view::npos ? stop : stop - at));
      at = stop == string_view::npos ? names.size() : stop + 1;
    }
  }
  return lines;
}

}  // namespace tipstaff::gate::shell
