// Commands of git that would take the gate's registration out of the working tree: stashes, sparse checkouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/paths/guarded.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/patterns.hpp"
#include "tipstaff/gate/tree/surroundings.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::gate {
namespace engine {

class HiddenRegistrations {
 public:
  HiddenRegistrations(const Surroundings& surroundings, const Tree& tree, GuardedPaths& guarded) noexcept
      : surroundings_(surroundings), tree_(tree), guarded_(guarded) {}

  // `git stash`, unless it names files and these are others.
  bool stashed(const Command& command, const Word* words, std::uint32_t index) noexcept {
    if (command.program != "git") return false;
    std::uint32_t i = 0;
    for (; i < command.word_count && !words[i].text.empty() && words[i].text[0] == '-'; ++i)
      if (ascii::one_of(words[i].text, "-C -c --git-dir --work-tree --namespace")) ++i;
    if (i >= command.word_count || words[i].text != "stash") return false;
    bool untracked = false, paths = false, named = false, first = true, message = false;
    for (++i; i < command.word_count; ++i) {
      const std::string_view text = words[i].text;
      if (text.empty()) continue;
      if (!paths && text[0] == '-') {
        if (text == "--") paths = true;
        else if (text[1] != '-' ? text.find_first_of("ua") != std::string_view::npos : ascii::one_of(text, "--include-untracked --all")) untracked = true;
        if (ascii::one_of(text, "-m --message")) ++i;
        if (ascii::one_of(text, "--help -h")) return false;
        continue;
      }
      if (first && !paths) {
        first = false;
        if (text == "save") message = true;
        else if (text != "push") return false;
        continue;
      }
      if (message && !paths) continue;
      named = true;
      if (may_name_all(text) || guarded_.find(command, words[i]) >= Guarded::holds_registration) {
        named = false;
        break;
      }
    }
    return !named && (surroundings_.stash_takes_changed || (surroundings_.stash_takes_untracked && (untracked || adds_registration(index))));
  }

  // `git sparse-checkout set src` where the repository holds a registration, unless it names the folders of hosts as well.
  bool left_out(const Command& command, const Word* words) noexcept {
    if (command.program != "git" || surroundings_.read_file == nullptr || surroundings_.repository.empty()) return false;
    std::uint32_t i = 0;
    while (i < command.word_count && words[i].text != "sparse-checkout") ++i;
    if (i + 1 >= command.word_count || !ascii::one_of(words[i + 1].text, "set reapply")) return false;
    for (const std::string_view file : kRegistered) {
      bool named = false;
      for (std::uint32_t k = i + 2; k < command.word_count; ++k) {
        std::string_view text = words[k].text;
        if (!text.empty() && text[0] == '/') text.remove_prefix(1);
        named = named || text.empty() || text[0] == '*' || ascii::starts_with(text, file.substr(0, file.find('/')));
      }
      if (!named && holds_file(file)) return true;
    }
    return false;
  }

 private:
  // A pathspec that takes more than the files of one name: its * crosses slashes, and one that leaves files out takes all others.
  static bool may_name_all(std::string_view text) noexcept {
    if (ascii::one_of(text, ". :/ :/. ./ ..")) return true;
    if (text.size() > 1 && text[0] == ':') {
      const bool named = text[1] == '(';
      const std::string_view magic = named ? text.substr(2, text.find(')') - 2) : text.substr(1, 2);
      if (named ? magic.find("exclude") != std::string_view::npos : magic.find_first_of("!^") != std::string_view::npos) return true;
      if (named && magic.find("literal") != std::string_view::npos) return false;
      text = named && text.find(')') != std::string_view::npos ? text.substr(text.find(')') + 1) : text.substr(text[1] == '/' ? 2 : 1);
    }
    if (text.find('[') != std::string_view::npos) return true;
    if (text.find_first_of("*?") == std::string_view::npos) return text.empty();
    for (const std::string_view file : kRegistered)
      if (names_across(text, file) || names_across(text, file.substr(0, file.find('/')))) return true;
    return false;
  }

  // As git matches: * names slashes and leading dots as well. At most pattern * name steps, of names that are short.
  static bool names_across(std::string_view pattern, std::string_view name) noexcept {
    const auto place = [pattern](std::size_t at, char letter, std::size_t*) noexcept {
      return pattern[at] == '?' || ascii::lower(pattern[at]) == letter;
    };
    return matches_stars(pattern, name, place, "*/");
  }

  // `git add -A && git stash`: whether one of the commands before makes git follow a registration.
  bool adds_registration(std::uint32_t index) noexcept {
    const std::uint32_t from = index > kLookedBack ? index - kLookedBack : 0;
    for (std::uint32_t at = from; at < index; ++at) {
      const Command& command = tree_.command(at);
      if (command.program != "git" || (command.via & via::kDefinition) != 0) continue;
      const Word* const words = tree_.arguments(command);
      bool adding = false;
      for (std::uint32_t i = 0; i < command.word_count && i < kWords; ++i) {
        const std::string_view text = words[i].text;
        if (!adding) adding = ascii::one_of(text, "add stage");
        else if (text == "-A" || text == "-N" || ascii::one_of(text, "--all --no-ignore-removal --intent-to-add") || may_name_all(text)) return true;
        else if (guarded_.find(command, words[i]) >= Guarded::holds_registration) return true;
      }
    }
    return false;
  }

  bool holds_file(std::string_view name) const noexcept {
    char path[4096];
    std::size_t size = 0;
    for (const std::string_view part : {surroundings_.repository, std::string_view("/"), name}) {
      if (part.size() > sizeof path - size) return false;
      std::memcpy(path + size, part.data(), part.size());
      size += part.size();
    }
    char first = 0;
    return surroundings_.read_file(surroundings_.self, {path, size}, &first, 1) != -1;
  }

  // By which hosts start the gate in a repository.
  static constexpr std::string_view kRegistered[] = {
      ".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json",           ".codex/config.toml",           ".gemini/settings.json",
      ".cursor/hooks.json",    ".qwen/settings.json",         ".github/hooks/tipstaff.json", ".opencode/plugins/tipstaff.js", ".tipstaff/gates.toml"};
  static constexpr std::uint32_t kWords = 512, kLookedBack = 64;

  const Surroundings& surroundings_;
  const Tree& tree_;
  GuardedPaths& guarded_;
};

}  // namespace engine
}  // namespace tipstaff::gate
