// A path taken apart: where it begins, and its parts after `.`, `..` and repeated slashes are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/patterns.hpp"

namespace tipstaff::gate {

enum class PathBase : std::uint8_t {
  root,      // POSIX root, or a path from the root of the current drive
  drive,     // C:\ and so on; /mnt/c and /c are drives too
  share,     // \\server\share
  home,      // a home directory whose place is not known
  relative,  // below a directory that is not known
  temporary, // below what mktemp made
  unknown,   // begins with a part that is only known when the command runs
  device,    // \\.\ and the like
};

// Whether a pattern of * ? [...] can name `name` (in lower case). As in a shell, a leading dot must be written.
// Callers give names of a few letters and patterns of at most 128.
inline bool glob_names(std::string_view pattern, std::string_view name) noexcept {
  if (!name.empty() && name[0] == '.' && (pattern.empty() || pattern[0] != '.')) return false;
  return matches_stars(pattern, name, [pattern](std::size_t at, char letter, std::size_t* next) noexcept {
    return pattern[at] == kUnknownPart || matches_shell_place<true>(pattern, at, letter, next);
  });
}

// Room for the parts of a path: only those that are put there are written, and copied.
class PartList {
 public:
  static constexpr std::uint32_t kMax = 128;

  std::string_view& operator[](std::uint32_t index) noexcept { return *at(index); }
  const std::string_view& operator[](std::uint32_t index) const noexcept { return *at(index); }
  void put(std::uint32_t index, std::string_view text) noexcept { new (memory_ + index * sizeof text) std::string_view(text); }
  void take(const PartList& other, std::uint32_t count) noexcept {
    std::memcpy(memory_, other.memory_, count * sizeof(std::string_view));
  }

 private:
  std::string_view* at(std::uint32_t index) noexcept { return std::launder(reinterpret_cast<std::string_view*>(memory_)) + index; }
  const std::string_view* at(std::uint32_t index) const noexcept {
    return std::launder(reinterpret_cast<const std::string_view*>(memory_)) + index;
  }

  alignas(std::string_view) unsigned char memory_[kMax * sizeof(std::string_view)];
};

struct PathParts {
  static constexpr std::uint32_t kMax = PartList::kMax;
  static constexpr std::uint32_t kBeginning = kMax / 2, kLeftOut = kMax / 4;
  static constexpr std::size_t kLongestPattern = 128;

  PartList part;
  std::uint32_t count = 0;
  PathBase base = PathBase::relative;
  char drive = 0;              // in lower case
  std::uint32_t climbs = 0;    // steps above a base that is not a root
  bool glob = false;           // unquoted * ? [ were seen in the word
  bool folded = false;         // upper and lower case are the same (Windows, macOS)
  bool ends_in_slash = false;  // names what a symbolic link leads to, and not the link
  bool too_long = false;       // it has more parts than there is room for: those in its middle are left out
  std::uint32_t left_out = 0;  // how many these are now

  PathParts() noexcept {}
  PathParts(const PathParts& other) noexcept { *this = other; }
  PathParts& operator=(const PathParts& other) noexcept {
    if (this == &other) return *this;
    part.take(other.part, other.count);
    count = other.count;
    base = other.base;
    drive = other.drive;
    climbs = other.climbs;
    glob = other.glob;
    folded = other.folded;
    ends_in_slash = other.ends_in_slash;
    too_long = other.too_long;
    left_out = other.left_out;
    return *this;
  }

  static constexpr bool is_drive_letter(std::string_view text) noexcept {
    return text.size() >= 2 && text[1] == ':' && ascii::is_letter(text[0]);
  }

  static constexpr bool is_unknown(std::string_view part) noexcept {
    return part.find(kUnknownPart) != std::string_view::npos;
  }
  // Only unknown parts, so that nothing may be left of it.
  static constexpr bool is_only_unknown(std::string_view part) noexcept {
    for (const char c : part) {
      if (c != kUnknownPart) return false;
    }
    return !part.empty();
  }

  // Every name there is, or every name with a leading dot: *, **, .*, *.*, ?*, .[!.]*, .??*
  bool is_everything(std::string_view text) const noexcept {
    if (!glob) return false;
    bool star = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '*') {
        star = true;
      } else if (text[i] == '[') {
        const std::size_t close = text.find(']', i + 2);
        if (close == std::string_view::npos || close + 1 >= text.size()) return false;
        if (text[i + 1] != '!' && text[i + 1] != '^') return false;
        i = close;
      } else if (text[i] != '.' && text[i] != '?') {
        return false;
      }
    }
    return star;
  }

  bool has_glob(std::string_view text) const noexcept {
    return glob && text.find_first_of("*?[") != std::string_view::npos;
  }

  // `.github/**/*.md`: whether a folder is left open, and what is meant below it are documents and the like.
  bool means_documents(std::uint32_t open) const noexcept {
    if (open + 1 >= count || !has_glob(part[open])) return false;
    const std::string_view last = part[count - 1];
    const std::size_t dot = last.rfind('.');
    if (dot == std::string_view::npos || has_glob(last.substr(dot))) return false;
    return ascii::one_of(last.substr(dot + 1), "md mdx markdown rst txt adoc html css scss yml yaml svg png");
  }

  // `name` in lower case.
  bool names(std::uint32_t index, std::string_view name) const noexcept {
    if (index >= count) return false;
    const std::string_view text = part[index];
    if (!has_glob(text)) return ascii::equals(text, name);
    return text.size() > kLongestPattern || glob_names(text, name);
  }
  bool names_one_of(std::uint32_t index, std::string_view known) const noexcept {
    if (index >= count) return false;
    if (!has_glob(part[index])) return ascii::one_of(part[index], known);
    for (std::size_t start = 0; start < known.size();) {
      std::size_t end = known.find(' ', start);
      if (end == std::string_view::npos) end = known.size();
      if (names(index, known.substr(start, end - start))) return true;
      start = end + 1;
    }
    return false;
  }
  bool ends(std::uint32_t index, std::string_view suffix) const noexcept {
    return index < count && ascii::ends_with(part[index], suffix);
  }

  void push(std::string_view text) noexcept {
    if (text.empty() || text == ".") return;
    if (text == "..") {
      if (left_out > 0 && count == kBeginning) {
        --left_out;
      } else if (count > 0) {
        --count;
      } else if (base != PathBase::root && base != PathBase::drive) {
        ++climbs;
      }
      return;
    }
    if (count == kMax) {
      for (std::uint32_t i = kBeginning; i + kLeftOut < kMax; ++i) part[i] = part[i + kLeftOut];
      count -= kLeftOut;
      left_out += kLeftOut;
    }
    part.put(count++, text);
  }

  void push_all(std::string_view text, bool backslashes) noexcept {
    const char other = backslashes ? '\\' : '/';
    const char* const end = text.data() + text.size();
    for (const char* start = text.data();; ++start) {
      const char* at = start;
      while (at != end && *at != '/' && *at != other) ++at;
      push({start, static_cast<std::size_t>(at - start)});
      if (at == end) break;
      start = at;
    }
    too_long = left_out > 0;
    ends_in_slash = !text.empty() && (text.back() == '/' || (backslashes && text.back() == '\\'));
  }

  // The drive that a POSIX path means under WSL, MSYS or Cygwin, and what /proc/self/root hides.
  void see_through_mounts() noexcept {
    if (base != PathBase::root) return;
    while (count >= 3 && ascii::equals(part[0], "proc") && ascii::equals(part[2], "root")) drop_first(3);
    if (count >= 1 && part[0].size() == 1 && ascii::is_letter(part[0][0])) {
      to_drive(part[0][0], 1);
    } else if (count >= 2 && part[1].size() == 1 && ascii::is_letter(part[1][0]) &&
               (ascii::equals(part[0], "mnt") || ascii::equals(part[0], "cygdrive"))) {
      to_drive(part[1][0], 2);
    }
  }

 private:
  void drop_first(std::uint32_t n) noexcept {
    for (std::uint32_t i = n; i < count; ++i) part[i - n] = part[i];
    count -= n;
  }
  void to_drive(char letter, std::uint32_t n) noexcept {
    base = PathBase::drive;
    drive = ascii::lower(letter);
    folded = true;
    drop_first(n);
  }
};

// Variables that name a place, wherever they are written and whoever would expand them.
struct PathVariable {
  std::string_view name;  // in lower case
  enum Place : std::uint8_t { kHome, kHomeData, kTemporary, kWindows, kDrive, kPrograms, kWorking } place;
};
inline constexpr PathVariable kPathVariables[] = {
    {"%userprofile%", PathVariable::kHome},     {"%homedrive%%homepath%", PathVariable::kHome},
    {"%home%", PathVariable::kHome},            {"%homepath%", PathVariable::kHome},
    {"%appdata%", PathVariable::kHomeData},     {"%localappdata%", PathVariable::kHomeData},
    {"%temp%", PathVariable::kTemporary},       {"%tmp%", PathVariable::kTemporary},
    {"%systemroot%", PathVariable::kWindows},   {"%windir%", PathVariable::kWindows},
    {"%systemdrive%", PathVariable::kDrive},    {"%homedrive%", PathVariable::kDrive},
    {"%programfiles%", PathVariable::kPrograms}, {"%programfiles(x86)%", PathVariable::kPrograms},
    {"%programdata%", PathVariable::kPrograms}, {"%allusersprofile%", PathVariable::kPrograms},
    {"%public%", PathVariable::kHome},          {"%cd%", PathVariable::kWorking},
    {"$env:userprofile", PathVariable::kHome},  {"$env:homedrive$env:homepath", PathVariable::kHome},
    {"$env:homepath", PathVariable::kHome},     {"$env:home", PathVariable::kHome},
    {"$env:appdata", PathVariable::kHomeData},  {"$env:localappdata", PathVariable::kHomeData},
    {"$env:temp", PathVariable::kTemporary},    {"$env:tmpdir", PathVariable::kTemporary},
    {"$env:tmp", PathVariable::kTemporary},     {"$env:systemroot", PathVariable::kWindows},
    {"$env:windir", PathVariable::kWindows},    {"$env:systemdrive", PathVariable::kDrive},
    {"$env:homedrive", PathVariable::kDrive},   {"$env:programfiles", PathVariable::kPrograms},
    {"$env:programdata", PathVariable::kPrograms}, {"$env:public", PathVariable::kHome},
    {"$home", PathVariable::kHome},             {"${home}", PathVariable::kHome},
    {"$tmpdir", PathVariable::kTemporary},      {"${tmpdir}", PathVariable::kTemporary},
    {"$pwd", PathVariable::kWorking},           {"${pwd}", PathVariable::kWorking},
};

// Takes `text` apart as a command in directory `cwd` (empty: not known) would see it. `home` may be empty.
// Views in `out` point into the arguments. Linear.
inline void take_path_apart(std::string_view text, std::string_view cwd, std::string_view home, bool windows,
                            bool temporary, PathParts* out) noexcept {
  const auto absolute = [out](std::string_view path) noexcept {  // as surroundings give them: "/x" or "C:\x"
    if (PathParts::is_drive_letter(path)) {
      out->base = PathBase::drive;
      out->drive = ascii::lower(path[0]);
      out->folded = true;
      out->push_all(path.substr(2), true);
    } else {
      out->base = PathBase::root;
      out->push_all(path, false);
      out->see_through_mounts();
    }
  };
  const auto at_home = [&](std::string_view rest, bool backslashes) noexcept {
    if (home.empty()) {
      out->base = PathBase::home;
    } else {
      absolute(home);
    }
    out->push_all(rest, backslashes);
  };
  if (const std::size_t provider = text.find("::"); windows && provider != std::string_view::npos) {
    text = text.substr(provider + 2);  // Microsoft.PowerShell.Core\FileSystem::C:\x
  }
  if (ascii::starts_with(text, "file://")) text = text.substr(7);

  if (PathParts::is_drive_letter(text) &&
      (text.size() == 2 || text[2] == '/' || text[2] == '\\' || windows)) {
    absolute(text);  // C:x means the drive's current directory; the drive's root is the safer reading
    return;
  }
  const bool unc = text.size() > 2 && text[0] == '\\' && text[1] == '\\';
  if (unc || (windows && text.size() > 2 && text[0] == '/' && text[1] == '/')) {
    std::string_view rest = text.substr(2);
    if (rest.size() >= 2 && (rest[0] == '.' || rest[0] == '?') && (rest[1] == '\\' || rest[1] == '/')) {
      rest.remove_prefix(2);
      if (PathParts::is_drive_letter(rest) && rest.size() > 2) {
        absolute(rest);
        return;
      }
      out->base = PathBase::device;
    } else {
      out->base = PathBase::share;
    }
    out->folded = true;
    out->push_all(rest, true);
    return;
  }
  const bool backslashes = windows;
  const auto is_slash = [&](char c) noexcept { return c == '/' || (backslashes && c == '\\'); };
  if (!text.empty() && is_slash(text[0])) {
    out->base = PathBase::root;
    if (windows && PathParts::is_drive_letter(cwd)) {
      out->base = PathBase::drive;
      out->drive = ascii::lower(cwd[0]);
    }
    out->folded = windows;
    out->push_all(text, backslashes);
    out->see_through_mounts();
    return;
  }
  if (!text.empty() && text[0] == '~') {
    std::size_t end = 1;
    while (end < text.size() && !is_slash(text[end])) ++end;
    const std::string_view user = text.substr(1, end - 1);
    if (user.empty()) {
      at_home(text.substr(end), backslashes);
      return;
    }
    if (user == "root") {
      absolute("/root");
      out->push_all(text.substr(end), backslashes);
      return;
    }
    if (ascii::is_name_start(user[0])) {  // another's home
      absolute("/home");
      out->push(user);
      out->push_all(text.substr(end), backslashes);
      return;
    }
    if (user == "+") text = text.substr(end < text.size() ? end + 1 : end);
  }
  if (!text.empty() && (text[0] == '%' || text[0] == '$')) {
    for (const PathVariable& variable : kPathVariables) {
      if (!ascii::starts_with(text, variable.name)) continue;
      const std::string_view rest = text.substr(variable.name.size());
      if (!rest.empty() && rest[0] != '/' && rest[0] != '\\') continue;
      switch (variable.place) {
        case PathVariable::kHome: at_home(rest, true); return;
        case PathVariable::kHomeData:
          at_home("AppData/Roaming", true);
          out->push_all(rest, true);
          return;
        case PathVariable::kTemporary:
          absolute("/tmp");
          out->push_all(rest, true);
          return;
        case PathVariable::kWindows:
          absolute("C:\\Windows");
          out->push_all(rest, true);
          return;
        case PathVariable::kDrive:
          absolute("C:\\");
          out->push_all(rest, true);
          return;
        case PathVariable::kPrograms:
          absolute("C:\\Program Files");
          out->push_all(rest, true);
          return;
        case PathVariable::kWorking:
          text = rest.empty() ? std::string_view(".") : rest.substr(1);
          break;
      }
      break;
    }
  }
  if (!text.empty() && text[0] == kUnknownPart) {
    out->base = temporary ? PathBase::temporary : PathBase::unknown;
    std::size_t end = 0;  // the part that begins with what is unknown
    while (end < text.size() && !is_slash(text[end])) ++end;
    if (!PathParts::is_only_unknown(text.substr(0, end))) out->push(text.substr(0, end));
    out->push_all(text.substr(end), backslashes);
    return;
  }
  if (cwd.empty()) {
    out->base = PathBase::relative;
  } else {
    absolute(cwd);
  }
  out->push_all(text, backslashes);
}

}  // namespace tipstaff::gate
