// Whether a folder that a command deletes is filled again by another command of the same text: rm -rf ~/.tool; git clone URL ~/.tool.
#include "tipstaff/gate/rules/made.hpp"
#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/paths/surrounding_paths.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {
namespace {

using ascii::one_of;
using path_detail::Relation;
using std::string_view;

void take(string_view text, const Command& command, PathParts* out) noexcept {
  take_path_apart(text, command.cwd, {}, false, false, out);
}
bool is_option(string_view text) noexcept { return text.size() > 1 && text[0] == '-'; }

// A folder of one application, no part of the system that others are in: /opt/x, /etc/nginx/conf.d, /usr/local/x.
bool is_own(const PathParts& path) noexcept {
  if (path.too_long || path.climbs != 0 || path.glob || path.count == 0) return false;
  if (path.base == PathBase::home) return true;
  if (path.base != PathBase::root || path.count < 2) return false;
  if (path.names(0, "etc")) return !path.names_one_of(1, "ssh pam.d ssl pki systemd sudoers.d apt yum security selinux apparmor.d kubernetes letsencrypt init.d cron.d cron.daily network netplan ld.so.conf.d alternatives default profile.d claude-code tipstaff codex");
  if (path.names(0, "usr")) return path.count > 2 && path.names_one_of(1, "local share src") && !path.names_one_of(2, "bin sbin lib lib64 share etc include libexec man src");
  if (path.names(0, "var")) return path.count > 2 && !path.names_one_of(2, "dpkg apt rpm systemd docker containerd pam dbus");
  return path.names_one_of(0, "opt srv home users root workspace workspaces work app tmp builds data mnt media volumes repo");
}

// Whether `path` is what a word of a command names, or the .git of that; `target`: or what lies in the folder that it names.
bool fills(const Command& command, const Word& word, const PathParts& path, bool target, bool only_same) noexcept {
  if (word.has(word_flag::kUnknown) || word.text.empty()) return false;
  PathParts other;
  take(word.text, command, &other);
  if (other.too_long || other.base != path.base || other.climbs != 0) return false;
  const Relation relation = path_detail::relate(path, other);
  if (relation == Relation::same) return true;
  if (relation != Relation::inside) return false;
  if (!only_same && path.count == other.count + 1 && path.names(other.count, ".git")) return true;
  return target && path.count == other.count + 1;
}

}  // namespace

bool MadeBefore::refilled(const Word& word) const noexcept {
  constexpr std::uint32_t kNear = 64;
  const Command& asked = tree.command(index);
  if (word.has(word_flag::kUnknown) || word.has(word_flag::kGlob) || asked.dialect != Dialect::shell) return false;
  PathParts path;
  take(word.text, asked, &path);
  if (!is_own(path) || one_of(path.part[path.count - 1], kKeptNames)) return false;
  const std::uint32_t from = index > kNear ? index - kNear : 0;
  const std::uint32_t to = tree.command_count() - index > kNear ? index + kNear : tree.command_count();
  for (std::uint32_t i = from; i < to; ++i) {
    const Command& other = tree.command(i);
    if (i == index || (other.via & (via::kDefinition | via::kRemote | via::kContainer)) != (asked.via & (via::kDefinition | via::kRemote | via::kContainer))) continue;
    const Word* const words = tree.arguments(other);
    const std::uint32_t count = other.word_count;
    if (count == 0) continue;
    // A clone fails where a folder is: what is in it afterwards is the clone's.
    if (other.program == "git" && words[0].text == "clone") {
      const bool before = i < index;  // only the clone's own .git is sure to come from it
      if (count > 2 && (!before || path.names(path.count - 1, ".git")) && fills(other, words[count - 1], path, false, !before)) return true;
      continue;
    }
    if (i < index) continue;
    if (one_of(other.program, "cp rsync mv ln")) {
      if (count > 1 && !is_option(words[count - 1].text) && fills(other, words[count - 1], path, false, true)) return true;
      // cp -r nvim ~/.config/
      if (count > 1 && other.program != "ln" && fills(other, words[count - 1], path, true, true) && path.count != 0) {
        for (std::uint32_t w = 0; w + 1 < count; ++w) {
          const string_view text = words[w].text, base = text.substr(text.find_last_of('/') + 1);
          if (base == path.part[path.count - 1]) return true;
        }
      }
    } else if (one_of(other.program, "tar unzip")) {
      for (std::uint32_t w = 0; w + 1 < count; ++w)
        if (one_of(words[w].text, "-C --directory -d") && fills(other, words[w + 1], path, true, true)) return true;
    }
  }
  return false;
}

}  // namespace tipstaff::gate::rules
