// Links that a text makes itself: what a later command of it does below such a link is done to what the link leads to.
//
// `ln -s ~/Documents /tmp/d; rm -rf /tmp/d/*` deletes documents, though each path that it deletes lies below /tmp.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/classes.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::gate::engine {

// Few links are remembered: a text that makes more where it may delete afterwards is said to be too much to know.
class MadeLinks {
 public:
  MadeLinks(KnownPaths& paths, Tree& tree) noexcept : paths_(paths), tree_(tree) {}

  static bool makes(std::string_view program) noexcept { return ascii::one_of(program, "ln gln mklink"); }
  static bool may_make(std::string_view program) noexcept { return ascii::one_of(program, "cp ln gcp gln mount mklink new-item"); }

  void clear() noexcept { count_ = 0, too_many_ = false; }
  bool any() const noexcept { return count_ != 0; }
  bool too_many() const noexcept { return too_many_; }

  [[gnu::noinline]] void remember(const Command& command, const Word* words) noexcept {
    const std::string_view program = command.program;
    if (program == "new-item") return new_item(command, words);
    if (program == "mklink") return mklink(command, words);
    const Word* operands[kOperands];
    const Word* folder = nullptr;
    std::uint32_t found = 0;
    bool linking = makes(program), plain = false, no_folder = false;
    for (std::uint32_t i = 0; i < command.word_count; ++i) {
      const std::string_view text = words[i].text;
      if (plain || text.size() < 2 || text[0] != '-') {
        if (found < kOperands) operands[found++] = &words[i];
        else too_many_ = too_many_ || linking;
      } else if (text == "--") {
        plain = true;
      } else if (program == "mount") {
        linking = linking || ascii::one_of(text, "-b --bind -r --rbind");
        if (ascii::one_of(text, "-o -t --options --types") && ++i < command.word_count) linking = linking || ascii::one_of(words[i].text, "bind rbind");
      } else if (text[1] == '-') {
        linking = linking || ascii::one_of(text, "--symbolic-link --link");
        no_folder = no_folder || text == "--no-target-directory";
        if (text == "--target-directory" && i + 1 < command.word_count) folder = &words[++i];
        else if (ascii::starts_with(text, "--target-directory=")) folder = part(words[i], 19);
        else if (text == "--suffix") ++i;
      } else {
        const std::size_t taken = text.find('t');
        const std::string_view letters = text.substr(1, taken == std::string_view::npos ? taken : taken - 1);
        if (program != "ln" && program != "gln") linking = linking || letters.find_first_of("sl") != std::string_view::npos;
        no_folder = no_folder || letters.find('T') != std::string_view::npos;
        if (taken != std::string_view::npos) {
          if (taken + 1 < text.size()) folder = part(words[i], taken + 1);
          else if (i + 1 < command.word_count) folder = &words[++i];
        } else if (letters.back() == 'S') {
          ++i;
        }
      }
    }
    if (!linking || found == 0) return;
    if (folder == nullptr && found == 1) {
      here_.text = ".";
      here_.span = operands[0]->span;
      if (program != "mount") add(command, here_, *operands[0], true);
      return;
    }
    const Word& last = folder != nullptr ? *folder : *operands[found - 1];
    const bool into = folder != nullptr || found > 2 || (!no_folder && program != "mount" && is_folder(command, last));
    for (std::uint32_t i = 0; i + (folder == nullptr ? 1 : 0) < found; ++i) add(command, last, *operands[i], into);
  }

  // The word as what it leads to, where it lies below one of the links; false where it does not.
  [[gnu::noinline]] bool follow(const Command& command, const Word& word, Word* out) noexcept {
    if (word.text.empty() || word.text.size() > kLongest || word.text[0] == '-') return false;
    bool changed = false;
    *out = word;
    for (std::uint32_t tries = 0; tries < 3; ++tries) {
      bool more = false;
      for (std::uint32_t i = count_; i-- > 0 && !more;) more = lead(links_[i], command, *out, changed, out);
      if (!more) break;
      changed = true;
    }
    return changed;
  }

 private:
  struct Link {
    Word name, target;
    const Command* command = nullptr;
  };

  static bool on_windows(const Command& command) noexcept { return command.dialect == Dialect::powershell || command.dialect == Dialect::cmd; }
  static bool is_whole(std::string_view text) noexcept {
    return !text.empty() && (text[0] == '/' || text[0] == '\\' || text[0] == '~' || text[0] == kUnknownPart || PathParts::is_drive_letter(text));
  }
  const Word* part(const Word& word, std::size_t from) noexcept {
    part_ = word;
    part_.text.remove_prefix(from);
    return &part_;
  }

  bool is_folder(const Command& command, const Word& word) noexcept {
    const std::string_view text = word.text;
    if (text.empty() || text.back() == '/' || ascii::one_of(text, ". .. ~")) return true;
    const std::uint32_t bits = classify_path(paths_, command, word);
    return (bits & path_class::kRepositoryRoot) != 0 ||
           (bits & (path_class::kTemporary | path_class::kOutside)) == (path_class::kTemporary | path_class::kOutside);
  }

  // Only links whose name lies where deleting is free matter: below others all is asked about in any case.
  void add(const Command& command, Word name, const Word& target, bool into) noexcept {
    using namespace path_class;
    if (name.text.empty() || target.text.empty() || name.text.size() > kLongest || target.text.size() > kLongest) return;
    if (into) {
      std::string_view base = target.text;
      while (base.size() > 1 && base.back() == '/') base.remove_suffix(1);
      base = base.substr(base.find_last_of('/') + 1);
      if (base.empty()) return;
      name.text = joined(joined(tree_.copy(name.text), "/"), base);
    }
    if ((classify_path(paths_, command, name) & (kRepository | kTemporary | kBuild | kUnknown)) == 0) return;
    if (count_ == kLinks) {
      too_many_ = true;
      return;
    }
    links_[count_++] = {name, target, &command};
  }

  void mklink(const Command& command, const Word* words) noexcept {
    const Word* operands[2];
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < command.word_count && found < 2; ++i)
      if (words[i].text.size() != 2 || words[i].text[0] != '/') operands[found++] = &words[i];
    if (found == 2) add(command, *operands[0], *operands[1], false);
  }
  // New-Item -ItemType SymbolicLink -Path NAME -Target TARGET
  void new_item(const Command& command, const Word* words) noexcept {
    const Word *name = nullptr, *target = nullptr;
    bool linking = false;
    for (std::uint32_t i = 0; i < command.word_count; ++i) {
      const std::string_view text = words[i].text;
      linking = linking || ascii::one_of(text, "symboliclink junction hardlink");
      if (i + 1 >= command.word_count) break;
      if (ascii::one_of(text, "-path -name")) name = &words[++i];
      else if (ascii::one_of(text, "-target -value")) target = &words[++i];
      else if (ascii::one_of(text, "-itemtype -type")) linking = linking || ascii::one_of(words[++i].text, "symboliclink junction hardlink");
      else if (!text.empty() && text[0] != '-' && name == nullptr) name = &words[i];
    }
    if (linking && name != nullptr && target != nullptr) add(command, *name, *target, false);
  }

  std::string_view joined(std::string_view head, std::string_view tail) noexcept { return tree_.join(head, tail); }

  void take(const Command& command, const Word& word, bool whole, PathParts* out) const noexcept {
    const bool remote = (command.via & (via::kRemote | via::kContainer)) != 0;
    out->glob = word.has(word_flag::kGlob);
    take_path_apart(word.text, whole ? std::string_view() : command.cwd, remote ? std::string_view() : paths_.around().home, on_windows(command),
                    word.has(word_flag::kTemporary), out);
  }

  bool lead(const Link& link, const Command& command, const Word& word, bool changed, Word* out) noexcept {
    constexpr std::uint32_t kPlace = via::kRemote | via::kContainer;
    if ((link.command->via & kPlace) != (command.via & kPlace)) return false;
    PathParts name, path;
    take(*link.command, link.name, false, &name);
    take(command, word, false, &path);
    if (name.too_long || path.too_long || name.count == 0 || name.climbs != path.climbs || name.base == PathBase::unknown) return false;
    const path_detail::Relation relation = path_detail::relate(path, name);
    const bool same = relation == path_detail::Relation::same;
    if (!same && relation != path_detail::Relation::inside) return false;
    // What these do to a symbolic link is done to the link.
    if (same && !path.ends_in_slash && !changed && ascii::one_of(command.program, "rm rmdir unlink mv @delete git shred trash del erase find readlink"))
      return false;
    const std::string_view target = link.target.text, called = link.name.text;
    Word led = word;
    led.flags = static_cast<std::uint16_t>((word.flags & ~word_flag::kTemporary) | link.target.flags);
    std::string_view text;
    if (is_whole(target)) {
      text = tree_.copy(target);
    } else {
      const bool named = is_whole(called);
      if (named) led.flags |= link.name.flags;
      text = named || link.command->cwd.empty() ? tree_.copy(std::string_view()) : joined(tree_.copy(link.command->cwd), "/");
      const std::string_view folder = called.substr(0, called.find_last_of(on_windows(*link.command) ? "/\\" : "/") + 1);
      text = text.empty() ? tree_.copy(folder) : joined(text, folder);
      text = text.empty() ? tree_.copy(target) : joined(text, target);
    }
    for (std::uint32_t i = name.count; i < path.count; ++i) text = joined(joined(text, "/"), path.part[i]);
    if (path.ends_in_slash) text = joined(text, "/");
    if (text.empty() || text.size() > kLongest) return false;
    led.text = text;
    *out = led;
    return true;
  }

  static constexpr std::uint32_t kLinks = 24, kOperands = 16;
  static constexpr std::size_t kLongest = 4096;

  KnownPaths& paths_;
  Tree& tree_;
  Link links_[kLinks];
  Word here_, part_;
  std::uint32_t count_ = 0;
  bool too_many_ = false;
};

}  // namespace tipstaff::gate::engine
