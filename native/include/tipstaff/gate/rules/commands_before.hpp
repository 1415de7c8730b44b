// What the commands of a line make that are run before one of them, read backwards from it.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/paths/surrounding_paths.hpp"
#include "tipstaff/gate/rules/makers.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::gate::rules::commands_before {

using ascii::one_of;
using makers::is_option;
using makers::Kind;
using makers::last_part;
using makers::without_ending;
using path_detail::Relation;
using std::string_view;

inline void take(string_view text, const Command& command, PathParts* out) noexcept {
  take_path_apart(text, command.cwd, {}, false, false, out);
}

// Calls `use(option, relation)` with how each path that a command names lies to another: `option` is the word before it or,
// of --option=PATH, the option.
template <typename Use>
inline void each_related(const Tree& tree, const Command& command, const PathParts& path, Use use) noexcept {
  const Word* const words = tree.arguments(command);
  for (std::uint32_t w = 0; w < command.word_count; ++w) {
    string_view name = words[w].text, option = w == 0 ? string_view() : words[w - 1].text;
    if (is_option(name)) {
      const std::size_t equals = name.find('=');
      if (equals == string_view::npos) continue;
      option = name.substr(0, equals);
      name.remove_prefix(equals + 1);
    }
    if (name.empty() || words[w].has(word_flag::kUnknown)) continue;
    PathParts other;
    take(name, command, &other);
    if (!other.too_long && other.base == path.base) use(option, path_detail::relate(other, path));
  }
}

// Walks back from a command over those that are run before it.
class Before {
 public:
  Before(const Tree& tree, string_view text, std::uint32_t index) noexcept : tree_(tree), text_(text), index_(index), top_(index) {
    while (command(top_).carrier != kNone && passes_on(command(top_).carrier, top_)) top_ = command(top_).carrier;
    carrier_ = command(top_).carrier;
  }

  const Command& command(std::uint32_t index) const noexcept { return tree_.command(index); }

  // Whether one of them made what `is_it(kind, path, literal, written, maker)` is true of.
  template <typename Is>
  bool made(Is is_it) noexcept {
    if (command(top_).dialect != Dialect::shell || !fits(command(top_).span) || tree_.command_count() > kCommands) return false;
    edge_ = command(top_).span.start;
    for (std::uint32_t i = top_, steps = 0; steps < kSteps; ++steps) {
      while (i-- > 0 && !(command(i).carrier == carrier_ && command(i).span.end <= edge_)) {
        if (++steps == kSteps) return false;
      }
      const bool none = i == kNone;
      const Joined joined = read_back(none ? start_of_code() : command(i).span.end);
      if (joined != Joined::on) return joined == Joined::begins;
      if (none) return begins();
      edge_ = command(i).span.start;
      if (!visit(i)) return false;
      if (depth_ != 0) continue;
      if (found_ || after_ != (crossed_ ? ';' : '&')) continue;
      PathParts path;
      if (!makes(i, is_it, &path)) continue;
      for (std::uint32_t k = i + 1; k < index_; ++k)
        if (brings_in(command(k), path)) return false;
      found_ = true;
      begins_here_ = crossed_;
    }
    return false;
  }

 private:
  enum class Joined : std::uint8_t { on, begins, fails };
  // More is not looked at: each word that is asked about may look at all commands.
  static constexpr std::uint32_t kSteps = 256, kCommands = 1024, kLongestGap = 4096, kLongestText = 1 << 15;

  // `sudo`, without what changes the folder: -D, -R, -i.
  bool passes_on(std::uint32_t outer, std::uint32_t inner) const noexcept {
    const std::uint32_t from = command(outer).span.start, to = command(inner).span.start;
    return one_of(command(outer).program, "sudo doas command") && from < to && to <= text_.size() &&
           text_.substr(from, to - from).find_first_of("DRi") == string_view::npos;
  }
  bool fits(Span span) const noexcept { return span.start <= span.end && span.end <= text_.size(); }
  std::uint32_t start_of_code() const noexcept { return carrier_ == kNone ? 0 : command(carrier_).span.start; }

  // The line may be one that a failure ends: `set -e` is its first command.
  bool ends_on_failure() const noexcept {
    const std::uint32_t first = carrier_ == kNone ? 0 : carrier_ + 1;
    const Command& set = command(first);
    if (set.carrier != carrier_ || set.program != "set" || set.word_count == 0) return false;
    const string_view flags = tree_.arguments(set)[0].text;
    return is_option(flags) && flags[1] != '-' && flags.find('e') != string_view::npos;
  }
  // Nothing is before: what was found is run, if all after it is; `set -e` was the first of all.
  bool begins() const noexcept { return found_ && (!crossed_ || first_is_set_); }

  // One command on the way: what it says of the others.
  bool visit(std::uint32_t i) noexcept {
    first_is_set_ = depth_ == 0 && after_ == ';' && command(i).program == "set";
    if (!crossed_ || depth_ != 0) return true;
    for (std::uint32_t w = 0; first_is_set_ && w < command(i).word_count; ++w)
      if (ascii::starts_with(tree_.arguments(command(i))[w].text, "+")) return false;
    // Where it is not known whether it was run, nobody knows where the others were.
    if (!found_ && one_of(command(i).program, "cd pushd popd")) {
      if (after_ != ';') return false;
      begins_here_ = true;
    }
    return true;
  }

  // What joins two commands, read backwards; a line's end is one of the signs, unless another one is before it.
  Joined read_back(std::uint32_t from) noexcept {
    bool line = false;
    if (from > edge_ || edge_ - from > kLongestGap) return Joined::fails;
    for (std::uint32_t at = edge_; at > from;) {
      const char c = text_[--at];
      const bool twice = at > from && text_[at - 1] == c;
      if (ascii::is_blank(c) || c == '\r') continue;
      if (c == '\n') {
        if (at > from && text_[at - 1] == '\\') {
          --at;
          continue;
        }
        std::uint32_t start = at;
        while (start > from && text_[start - 1] != '\n') --start;
        const std::size_t word = text_.find_first_not_of(" \t", start);
        if (word < at && text_[word] == '#' && (start > 0 || from == 0)) at = start;
        line = true;
        continue;
      }
      if (c == ';') {
        line = true;
        continue;
      }
      if ((c == '&' || c == '|') && twice) {
        --at;
        line = false;
        if (!join(c, true)) return Joined::fails;
        continue;
      }
      if (line && ends_list()) return Joined::begins;
      if (line && !can_cross()) return Joined::fails;
      line = false;
      if (c == ')') {
        ++depth_;
      } else if (c == '(') {
        if (depth_ > 0) --depth_;
        else if (found_ || crossed_) return found_ && !crossed_ ? Joined::begins : Joined::fails;
      } else if (ends_list() && passes_assignment(&at, from)) {
        continue;
      } else if (c == '&' && ends_list()) {
        return Joined::begins;
      } else if (c != '|' && c != '&' && !(carrier_ != kNone && from == start_of_code() && (c == '"' || c == '\''))) {
        return Joined::fails;
      } else if (c == '"' || c == '\'') {
        return begins() ? Joined::begins : Joined::fails;
      } else if (!join(c, false)) {
        return Joined::fails;
      }
    }
    if (line && ends_list()) return Joined::begins;
    return line && !can_cross() ? Joined::fails : Joined::on;
  }
  // NAME=VALUE, of which `at` is the last byte: `V=1 && tar xf a-$V.tgz && rm -rf a-$V`.
  bool passes_assignment(std::uint32_t* at, std::uint32_t from) const noexcept {
    std::uint32_t start = *at;
    const auto fine = [](char c) noexcept { return ascii::is_name(c) || string_view("=./:@+,%-").find(c) != string_view::npos; };
    if (!fine(text_[start])) return false;
    while (start > from && fine(text_[start - 1])) --start;
    const string_view whole = text_.substr(start, *at + 1 - start);
    const std::size_t equals = whole.find('=');
    if (equals == 0 || equals == string_view::npos || !ascii::is_name_start(whole[0])) return false;
    for (const char c : whole.substr(0, equals))
      if (!ascii::is_name(c)) return false;
    if (start > from && !ascii::is_space(text_[start - 1]) && string_view(";&(").find(text_[start - 1]) == string_view::npos) return false;
    *at = start;
    return true;
  }
  // The list that was found in began here.
  bool ends_list() const noexcept { return found_ && depth_ == 0 && !crossed_; }
  bool can_cross() noexcept {
    if (depth_ != 0) return true;
    if (!crossed_ && !ends_on_failure()) return false;
    crossed_ = true;
    begins_here_ = false;
    after_ = ';';
    return true;
  }
  bool join(char sign, bool twice) noexcept {
    if (depth_ != 0) return true;
    // What is after || or beside & is run without what was made; lines under `set -e` do not care.
    if (begins_here_ || (!crossed_ && (sign == '|') == twice)) return false;
    after_ = twice ? sign : '|';
    return true;
  }

  // What a command makes, or what the one does that it is passed on to; it is called by its own name, and that is the
  // program's: no function or alias, no other environment.
  template <typename Is>
  bool makes(std::uint32_t i, Is is_it, PathParts* path) const noexcept {
    for (std::uint32_t k = i + 1; k < index_; ++k)
      if (command(k).carrier == i && passes_on(i, k)) i = k;
    const Command& maker = command(i);
    if (maker.name.text != maker.program || maker.name.span.start != maker.span.start || (maker.via & via::kArgumentsAdded) != 0) return false;
    for (std::uint32_t k = i + 1; k < tree_.command_count(); ++k)
      if (command(k).carrier == i && (command(k).program.empty() || command(k).program[0] != '@')) return false;
    const auto use = [&](const Word& word, string_view name, Kind kind) noexcept {
      const bool literal = is_literal(word);
      string_view written = literal ? name : as_written(word);
      if (!literal && name.size() != word.text.size()) {
        written = last_part(written, "/");
        if (kind != Kind::file) written = without_ending(written);
      }
      *path = PathParts();
      take(name, maker, path);
      if (written.empty() || path->too_long || path->count == 0 || path->climbs != 0 || !is_it(kind, *path, literal, written, maker)) return false;
      return literal || !sets_variables(i);
    };
    return makers::Maker<decltype(use)>(tree_, maker, use).any();
  }
  // Whether a variable may have got another value since.
  bool sets_variables(std::uint32_t from) const noexcept {
    for (std::uint32_t k = from + 1; k < index_; ++k)
      if (one_of(command(k).program, "read export declare typeset local unset eval source . mapfile readarray getopts printf set shift let")) return true;
    return false;
  }

 public:
  // As it is in the text: no pattern, and no variable.
  bool is_literal(const Word& word) const noexcept {
    if ((word.flags & ~word_flag::kQuoted) != 0 || !fits(word.span)) return false;
    string_view written = text_.substr(word.span.start, word.span.end - word.span.start);
    if (written.size() > 2 && (written[0] == '"' || written[0] == '\'') && written.back() == written[0]) written = written.substr(1, written.size() - 2);
    return written == word.text || is_below_home(written, word.text) || is_below_working(written, word.text);
  }
  // $PWD/x, where nothing sets another PWD.
  bool is_below_working(string_view written, string_view read) const noexcept {
    for (const string_view working : {string_view("$PWD/"), string_view("${PWD}/")}) {
      if (written.substr(0, working.size()) != working || text_.size() > kLongestText) continue;
      const string_view rest = written.substr(working.size() - 1);
      return rest.find_first_of("$`\\\"'") == string_view::npos && !read.empty() && read[0] == '/' && ascii::ends_with(read, rest) && text_.find("PWD=") == string_view::npos;
    }
    return false;
  }
  // ~/x or $HOME/x, where nothing sets another home.
  bool is_below_home(string_view written, string_view read) const noexcept {
    if (text_.size() > kLongestText) return false;  // each word would look through all of it
    for (const string_view home : {string_view("~/"), string_view("$HOME/"), string_view("${HOME}/")}) {
      if (written.substr(0, home.size()) != home) continue;
      const string_view rest = written.substr(home.size() - 1);
      return rest.find_first_of("$`\\\"'") == string_view::npos && read.size() > rest.size() && ascii::ends_with(read, rest) &&
             (read[0] == '/' || read.size() == rest.size() + 1) && text_.find("HOME=") == string_view::npos && text_.find("HOME ") == string_view::npos;
    }
    return false;
  }

  // As it is in the text, with variables that are in it by name: foo-${VERSION}. Empty where it is anything else.
  string_view as_written(const Word& word) const noexcept {
    constexpr std::uint16_t kFine = word_flag::kQuoted | word_flag::kUnknown | word_flag::kMayBeEmpty | word_flag::kEnvironment;
    if ((word.flags & ~kFine) != 0 || !fits(word.span)) return {};
    string_view written = text_.substr(word.span.start, word.span.end - word.span.start);
    if (written.size() > 2 && written[0] == '"' && written.back() == '"') written = written.substr(1, written.size() - 2);
    if (written.empty() || !ascii::is_name(written[0])) return {};
    for (std::size_t at = 0; at < written.size(); ++at) {
      const char c = written[at];
      if (c == '$') {
        const bool braced = at + 1 < written.size() && written[at + 1] == '{';
        if (braced) ++at;
        const std::size_t name = at + 1;
        while (at + 1 < written.size() && ascii::is_name(written[at + 1])) ++at;
        if (at + 1 == name || (braced && (++at >= written.size() || written[at] != '}'))) return {};
      } else if (!ascii::is_name(c) && string_view(".-+/:@%").find(c) == string_view::npos) {
        return {};
      }
    }
    return written;
  }

 private:
  // Whether a command may have put into `made` what was elsewhere before.
  bool brings_in(const Command& other, const PathParts& made) const noexcept {
    const Word* const words = tree_.arguments(other);
    const std::uint32_t verb = other.word_count != 0 && one_of(words[0].text, "mv move rename") ? 1 : 0;  // git mv, gio move
    const bool moves = verb != 0 || one_of(other.program, "mv ln move rename lndir");
    if (one_of(other.program, "mount bindfs sshfs mergerfs unionfs overlay")) return true;
    const Word* target = nullptr;
    for (std::uint32_t i = 0; i < other.word_count; ++i) {
      const string_view text = words[i].text;
      if (one_of(text, "--remove-source-files --remove-sent-files --remove-files -sdel --move") || ascii::starts_with(text, "--target-directory")) return true;
      if (is_option(text) && text[1] != '-' && text.find(other.program == "zip" ? 'm' : 't') != string_view::npos && (moves || other.program == "zip")) return true;
      if (!is_option(text)) target = &words[i];
    }
    if (!moves || target == nullptr) return moves;
    const auto lies = [&](const Word& word) noexcept {
      PathParts path;
      take(word.text, other, &path);
      return path.base != made.base || path.climbs != 0 || word.has(word_flag::kUnknown) ? Relation::same : path_detail::relate(path, made);
    };
    if (const Relation there = lies(*target); there == Relation::other || there == Relation::holds) return false;
    for (std::uint32_t i = verb; i < other.word_count; ++i)
      if (&words[i] != target && !is_option(words[i].text) && lies(words[i]) != Relation::inside) return true;
    return other.program == "ln";
  }

  const Tree& tree_;
  const string_view text_;
  const std::uint32_t index_;
  std::uint32_t top_, carrier_ = kNone;
  std::uint32_t edge_ = 0, depth_ = 0;  // how far the text was read; how many groups are open there
  bool found_ = false, crossed_ = false;  // crossed: the end of a list, so that only `set -e` tells that it succeeded
  bool begins_here_ = false;            // the command that was seen last is the first of its list, or nothing is known
  bool first_is_set_ = false;
  char after_ = '&';                    // what is after it
};

}  // namespace tipstaff::gate::rules::commands_before
