// Commands that make what was not there before, or fail: what they name.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::gate::rules::makers {

using ascii::one_of;
using std::string_view;

enum class Kind : std::uint8_t { folder, clone, unpacked, file };  // unpacked: what an archive holds

inline bool is_option(string_view text) noexcept { return text.size() > 1 && text[0] == '-'; }
inline string_view last_part(string_view text, string_view ends) noexcept { return text.substr(text.find_last_of(ends) + 1); }

inline string_view without_ending(string_view base) noexcept {
  for (const string_view ending : {".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tar", ".zip", ".git"})
    if (ascii::ends_with(base, ending)) return base.substr(0, base.size() - ending.size());
  return base;
}

// The words of one command as what it makes: calls `use(word, name, kind)` for each name and the word that it is of.
template <typename Use>
class Maker {
 public:
  Maker(const Tree& tree, const Command& command, Use use) noexcept
      : tree_(tree), command_(command), words_(tree.arguments(command)), count_(command.word_count), use_(use) {}

  bool any() noexcept {
    if (command_.program == "mkdir") return folders();
    if (command_.program == "git" && first("clone")) return clone(1, Kind::clone);
    if (command_.program == "git" && first("worktree") && count_ > 1 && words_[1].text == "add") return worktree();
    if (command_.program == "gh" && first("repo") && count_ > 1 && words_[1].text == "clone") return clone(2, Kind::clone);
    if (command_.program == "hg" && first("clone")) return clone(1, Kind::folder);
    if (command_.program == "cargo" && first("new")) return count_ == 2 && give(words_[1], words_[1].text, Kind::folder);
    if (one_of(command_.program, "curl wget")) return download();
    if (command_.program == "zip") return packed(1);
    if (command_.program == "tar" && creates()) return packed(2);
    if (one_of(command_.program, "tar unzip")) return unpacked();
    return output();
  }

 private:
  bool first(string_view verb) const noexcept { return count_ != 0 && words_[0].text == verb; }
  bool give(const Word& word, string_view name, Kind kind) noexcept { return !name.empty() && !is_option(name) && use_(word, name, kind); }

  // With -p a folder may have been there.
  bool folders() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
      if (is_option(words_[i].text) && !one_of(words_[i].text, "-v --verbose")) return false;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (give(words_[i], words_[i].text, Kind::folder)) return true;
    return false;
  }
  // train --output-dir runs/debug: the results of one run, unless the name is one of sources or data.
  bool output() noexcept {
    if (one_of(command_.program, "echo printf true false : test cp mv rsync install ln ls cat")) return false;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const string_view text = words_[i].text;
      if (!is_option(text) || text[1] != '-' || i + 1 == count_ ||
          !one_of(text, "--output-dir --output_dir --out-dir --outdir --output-path --results-dir --log-dir --logdir --log_dir --save-dir --save_dir --report-dir --reports-dir --basetemp --workdir --run-dir"))
        continue;
      const Word& word = words_[i + 1];
      string_view name = word.text;
      while (!name.empty() && name.back() == '/') name.remove_suffix(1);
      // One folder of several: those that are a part of a project by themselves are not results.
      if (name.find('/') == string_view::npos || name.find("..") != string_view::npos || name[0] == '/' || name[0] == '~' || ascii::starts_with(name, "src/") ||
          one_of(last_part(name, "/"), kKeptNames))
        continue;
      if (give(word, name, Kind::folder)) return true;
    }
    return false;
  }
  // [OPTION...] SOURCE [FOLDER]; an option that is not known may take the next word, and then nothing is known.
  bool clone(std::uint32_t at, Kind kind) noexcept {
    const Word* operands[2] = {};
    std::uint32_t found = 0;
    for (; at < count_ && !(kind == Kind::clone && command_.program == "gh" && words_[at].text == "--"); ++at) {
      const string_view text = words_[at].text;
      if (!is_option(text)) {
        if (found == 2) return false;
        operands[found++] = &words_[at];
      } else if (one_of(text, "-b --branch --depth -o --origin -j --jobs --filter --shallow-since -c --config -u --updaterev -r --rev")) {
        ++at;
      } else if (text.find('=') == string_view::npos &&
                 !one_of(text, "-q --quiet -v --verbose --progress --recursive --recurse-submodules --single-branch --no-single-branch --no-tags -n "
                               "--no-checkout --shallow-submodules --sparse -l --local --no-hardlinks --remote-submodules --dissociate")) {
        return false;
      }
    }
    if (found == 0) return false;
    if (found == 2) return give(*operands[1], operands[1]->text, kind);
    string_view name = operands[0]->text;
    while (!name.empty() && name.back() == '/') name.remove_suffix(1);
    for (const string_view ending : {string_view("/.git"), string_view(".git")})
      if (ascii::ends_with(name, ending)) name.remove_suffix(ending.size());
    return give(*operands[0], last_part(name, "/:"), kind);
  }
  // Another branch's files; its commits are the repository's own, so that this is no clone.
  bool worktree() noexcept {
    for (std::uint32_t i = 2; i < count_; ++i) {
      const string_view text = words_[i].text;
      if (one_of(text, "-b --reason")) ++i;
      else if (!is_option(text)) return give(words_[i], text, Kind::folder);
      else if (!one_of(text, "--detach -d --checkout --no-checkout --track --lock -q --quiet")) return false;
    }
    return false;
  }
  // Writing to a name fails where a folder has it; and no folder is named as archives are.
  bool download() noexcept {
    const char letter = command_.program == "curl" ? 'o' : 'O';
    for (std::uint32_t i = 0; i < count_; ++i) {
      const string_view text = words_[i].text;
      const bool named = (is_option(text) && text[1] != '-' && text.back() == letter) || one_of(text, "--output --output-document");
      if (named && i + 1 < count_ && give(words_[i + 1], words_[i + 1].text, Kind::file)) return true;
      const string_view base = last_part(text, "/");
      if (text.size() != base.size() && without_ending(base) != base && give(words_[i], base, Kind::file)) return true;
    }
    return false;
  }
  // NAME.tar.gz holds NAME where it was fetched just now, or where NAME has a version. A plain word as a name might be a
  // folder that is there already, which unpacking only adds to.
  bool unpacked() noexcept {
    const Word* archive = nullptr;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const string_view text = words_[i].text;
      if (command_.program == "tar" && i == 0) {
        if (text.find('x') == string_view::npos || text.find_first_not_of("-xzjJvf") != string_view::npos) return false;
      } else if (is_option(text) ? text != "-q" : archive != nullptr) {
        return false;
      } else if (!is_option(text)) {
        archive = &words_[i];
      }
    }
    if (archive == nullptr || archive->text == "-") return piped();
    const string_view base = last_part(archive->text, "/");
    const string_view name = without_ending(base);
    if (name.size() == base.size() || !(has_version(name) || (name.find_first_of("-_0123456789") != string_view::npos && is_fetched(base)))) return false;
    return give(*archive, name, Kind::unpacked);
  }
  // zip -r x.zip FOLDER && rm -rf FOLDER: the archive, which lies in the same folder, holds it.
  bool creates() const noexcept {
    if (count_ < 3) return false;
    const string_view letters = words_[0].text;
    return letters.find('c') != string_view::npos && letters.back() == 'f' && letters.find_first_not_of("-czjJavf") == string_view::npos;
  }
  bool packed(std::uint32_t at) noexcept {
    if (command_.program == "zip") {
      while (at <= count_ && at != 0 && is_option(words_[at - 1].text) && words_[at - 1].text.find_first_not_of("-rqyX9") == string_view::npos) ++at;
    }
    if (at == 0 || at >= count_ || words_[at - 1].has(word_flag::kUnknown) || words_[at - 1].text[0] == '/' || without_ending(words_[at - 1].text) == words_[at - 1].text) return false;
    for (std::uint32_t i = at; i < count_; ++i)
      if (is_option(words_[i].text)) return false;
    for (; at < count_; ++at)
      if (give(words_[at], words_[at].text, Kind::file)) return true;
    return false;
  }
  // curl URL | tar xz
  bool piped() noexcept {
    if (command_.program != "tar" || command_.pipe_from == kNone) return false;
    const Command& source = tree_.command(command_.pipe_from);
    if (!one_of(source.program, "curl wget")) return false;
    for (std::uint32_t i = 0; i < source.word_count; ++i) {
      const Word& word = tree_.arguments(source)[i];
      const string_view base = last_part(word.text, "/"), name = without_ending(base);
      if (name.size() != base.size() && has_version(name) && give(word, name, Kind::unpacked)) return true;
    }
    return false;
  }
  static bool has_version(string_view name) noexcept {
    for (std::size_t at = name.find('-'); at != string_view::npos; at = name.find('-', at + 1)) {
      std::size_t next = at + 1;
      if (next < name.size() && name[next] == 'v') ++next;
      if (next < name.size() && name[next] == kUnknownPart) return true;
      if (next < name.size() && ascii::is_digit(name[next]) && name.find('.', next) != string_view::npos) return true;
    }
    return false;
  }
  bool is_fetched(string_view base) const noexcept {
    for (const Command* other = tree_.commands(); other != &command_; ++other) {
      if (!one_of(other->program, "curl wget")) continue;
      for (std::uint32_t i = 0; i < other->word_count; ++i)
        if (last_part(tree_.arguments(*other)[i].text, "/") == base) return true;
    }
    return false;
  }

  const Tree& tree_;
  const Command& command_;
  const Word* const words_;
  const std::uint32_t count_;
  Use use_;
};

}  // namespace tipstaff::gate::rules::makers
