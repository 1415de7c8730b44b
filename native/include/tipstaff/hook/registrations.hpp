// The settings files by which hosts start this program: which of a repository would not outlast a `git stash`, and which
// were there once and are no more.
//
//   STATE/registrations/<16 hex>   lines `HOST PATH`, one for each file that `tipstaff install` wrote for a repository
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/state.hpp"
#include "tipstaff/undo/facts.hpp"

namespace tipstaff::hook::registrations {

// Of a project; a subset of gate::kRegistrations, and Copilot's.
inline constexpr std::string_view kFiles[] = {
    ".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json",
    ".cursor/hooks.json", ".github/hooks/tipstaff.json", ".qwen/settings.json", ".opencode/plugins/tipstaff.js",
};
inline constexpr std::size_t kLongest = 256 * 1024;

// Whether a file holds a text; false where it cannot be read.
inline bool holds(const Path& path, std::string_view text, struct stat* about = nullptr) noexcept {
  char part[8192];
  if (!path.ok() || text.empty() || text.size() > sizeof part / 2) return false;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  struct stat found;
  std::size_t kept = 0, seen = 0;
  bool there = false;
  if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
    while (!there && seen < kLongest) {
      const ssize_t got = ::read(file, part + kept, sizeof part - kept);
      if (got <= 0) break;
      seen += static_cast<std::size_t>(got);
      const std::size_t size = kept + static_cast<std::size_t>(got);
      there = std::string_view(part, size).find(text) != std::string_view::npos;
      kept = size < text.size() ? size : text.size() - 1;  // it may continue in the next part
      std::memmove(part, part + size - kept, kept);
    }
  }
  if (about != nullptr) *about = found;
  ::close(file);
  return there;
}

struct Unsaved {
  bool changed = false;    // one that git follows differs from the last commit: `git stash` takes it away
  bool untracked = false;  // one that git does not follow: `git stash -u` does
};

inline Unsaved unsaved(std::string_view repository) noexcept {
  Unsaved found;
  if (repository.empty()) return found;
  undo::Arena arena;
  undo::Facts facts(arena);
  for (const std::string_view name : kFiles) {
    Path path;
    struct stat about;
    if (!holds(path.add(repository).add("/").add(name), "tipstaff-hook", &about)) continue;
    undo::Repository* own = nullptr;
    switch (facts.of(arena.copy(path.view()), about, &own)) {
      case undo::Class::unchanged: break;
      case undo::Class::changed:
      case undo::Class::staged: found.changed = true; break;
      default: found.untracked = true; break;
    }
  }
  return found;
}

// Names the hosts whose registration for a repository is gone, with their files; returns how many.
inline std::uint32_t lost(const Path& state, std::string_view repository, Writer& out) noexcept {
  if (!state.ok() || repository.empty()) return 0;
  Path record = state;
  char text[8192];
  const long bytes = read_private(record.add("/registrations/").hex(fnv64(repository)), text, sizeof text);
  std::uint32_t count = 0;
  std::string_view rest(text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const std::size_t space = line.find(' ');
    Path path;
    if (space == std::string_view::npos || !path.add(line.substr(space + 1)).ok() || holds(path, "tipstaff-hook")) continue;
    out.raw(count++ == 0 ? "" : ", ").raw(line.substr(0, space)).raw(" (").raw(line.substr(space + 1)).raw(")");
  }
  return count;
}

// Copilot runs the hooks in Claude Code's project settings as well: whether it has a registration of its own besides.
inline bool copilot_has_own(std::string_view repository) noexcept {
  Path user, project;
  if (const std::string_view own = environment("COPILOT_HOME"); !own.empty()) user.add(own);
  else user.add(environment("HOME")).add("/.copilot");
  return holds(user.add("/hooks/tipstaff.json"), "tipstaff-hook") ||
         (!repository.empty() && holds(project.add(repository).add("/.github/hooks/tipstaff.json"), "tipstaff-hook"));
}

}  // namespace tipstaff::hook::registrations
