// Of which classes the words of a command are, and those of the commands that feed it or take what it prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/classes.hpp"
#include "tipstaff/gate/rules/globs.hpp"
#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/options.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::gate::rules {

class CommandPaths {
 public:
  // `text`: what the spans of the tree's commands are of.
  CommandPaths(const Image& image, KnownPaths& paths, const Tree& tree, std::string_view text, const Command& command,
               std::uint32_t index, const Parsed& parsed) noexcept
      : image_(image), paths_(paths), tree_(tree), text_(text), command_(command), index_(index), parsed_(parsed) {}

 protected:
  // Not one that was made up to ask about.
  bool is_of_tree() const noexcept { return index_ < tree_.command_count() && &tree_.command(index_) == &command_; }
  Decision decision_of(std::uint32_t table, std::uint32_t classes) const noexcept {
    const record::Table& rows = image_.tables[table];
    for (std::uint32_t r = rows.first; r < rows.first + rows.count; ++r)
      if (fits(image_.rows[r], classes)) return static_cast<Decision>(image_.rows[r].decision);
    return Decision::allow;
  }
  bool fits(const record::Row& row, std::uint32_t classes) const noexcept {
    for (std::uint32_t t = row.first; t < row.first + row.count; ++t) {
      const record::Term& term = image_.terms[t];
      if ((classes & term.require) == term.require && (classes & term.forbid) == 0) return true;
    }
    return false;
  }
  bool of_classes(std::uint32_t table, const Command& command, const Word& word) const noexcept {
    const record::Table& rows = image_.tables[table];
    return rows.count != 0 && fits(image_.rows[rows.first], classes_of(command, word));
  }
  // Several rules ask about one word; it is looked at once.
  std::uint32_t classes_of(const Command& command, const Word& word) const noexcept {
    // A chosen word is a copy: it is one of the command's own where its text is. Words are asked about in turn, so that it is
    // near the last one.
    if (&command == &command_) {
      // Options are not asked about; beyond kWords none is taken for one.
      constexpr std::uint32_t kGap = kWords + 2;
      const std::uint32_t left = parsed_.count - last_asked_, end = last_asked_ + (left < kGap ? left : kGap);
      for (std::uint32_t i = last_asked_; i < end; ++i) {
        const Word& own = parsed_.words[i];
        if (own.text.data() != word.text.data() || own.text.size() != word.text.size()) continue;
        last_asked_ = i;
        if (i >= kWords) return classes_beyond(word);
        if (parsed_.readings[i].classes == kUnclassified) parsed_.readings[i].classes = classify_path(paths_, command, word);
        return parsed_.readings[i].classes;
      }
      if (last_asked_ != 0 && parsed_.words[last_asked_].text.data() != word.text.data()) {
        last_asked_ = 0;
        return classes_of(command, word);
      }
    }
    return classify_path(paths_, command, word);
  }

  // Of words that are too many for each to be remembered: the last one's, which padding repeats.
  std::uint32_t classes_beyond(const Word& word) const noexcept {
    if (beyond_.text != word.text || beyond_.flags != word.flags || beyond_classes_ == kUnclassified) {
      beyond_ = word;
      beyond_classes_ = classify_path(paths_, command_, word);
    }
    return beyond_classes_;
  }

  bool any_program(std::uint32_t first, std::uint32_t count, std::uint32_t start,
                   std::uint32_t Command::*next) const noexcept {
    for (std::uint32_t steps = 0; start != kNone && steps < kChain; ++steps) {
      const Command& other = tree_.command(start);
      // env $(cat .env) npm start: it is given them as words, by no pipe.
      const bool variables = next == &Command::pipe_to && other.program == "env" && other.pipe_from == kNone;
      if (matches_any(image_, first, count, variables ? std::string_view("env:variables") : keeps_names(other) ? std::string_view("cut:names") : other.program)) return true;
      if (finds_links(other) && matches_any(image_, first, count, "find:links")) return true;
      start = other.*next;
    }
    return false;
  }
  // find x -type l: symbolic links below a folder of the working directory, and nothing else.
  bool finds_links(const Command& command) const noexcept {
    if (command.program != "find") return false;
    const Word* const words = tree_.arguments(command);
    bool links = false, tests = false;
    for (std::uint32_t i = 0; i < command.word_count; ++i) {
      const std::string_view text = words[i].text;
      tests = tests || (!text.empty() && text[0] == '-');
      if (!tests && (text.empty() || words[i].has(word_flag::kUnknown) || text[0] == '/' || text[0] == '~' || text.find("..") != std::string_view::npos)) return false;
      if (text == "-L" || text == "-H" || text == "-follow" || text == "-o" || text == "-or" || text == "," || text == "!" || text == "-not") return false;
      links = links || (text == "-type" && i + 1 < command.word_count && words[i + 1].text == "l");
    }
    return links;
  }
  // cut -d= -f1: what is before the first equals sign of each line, and nothing of the values.
  // jq -r 'keys[]': the names of an object's values.
  bool keeps_names(const Command& command) const noexcept {
    const Word* const words = tree_.arguments(command);
    if (command.program == "jq") {
      std::uint32_t filters = 0;
      for (std::uint32_t i = 0; i < command.word_count; ++i) {
        const std::string_view text = words[i].text;
        if (text.size() > 1 && text[0] == '-') {
          if (text != "-r" && text != "-c" && text != "-S" && text != "-M" && text != "--raw-output") return false;
        } else if (text != "keys" && text != "keys[]" && text != "keys_unsorted" && text != "keys_unsorted[]" && text != "keys | length" && text != "keys|length" && text != "length" && text != "to_entries[].key" && text != "keys | .[]") {
          return false;
        } else {
          ++filters;
        }
      }
      return filters == 1;
    }
    if (command.program != "cut") return false;
    bool equals = false, field = false;
    for (std::uint32_t i = 0; i < command.word_count; ++i) {
      const std::string_view text = words[i].text, after = i + 1 < command.word_count ? words[i + 1].text : std::string_view();
      if (text == "-d=" || (text == "-d" && after == "=")) equals = true;
      else if (text == "-f1" || (text == "-f" && after == "1")) field = true;
      else if (text != "=" && text != "1") return false;
    }
    return equals && field;
  }
  bool reads_path(std::uint32_t table, const Command& command) const noexcept {
    const Word* words = tree_.arguments(command);
    if (command.program == "echo" || command.program == "printf") {
      // What they print is text, no path; it may be a credential all the same.
      for (std::uint32_t i = 0; i < command.word_count; ++i)
        if (words[i].has(word_flag::kCredential) && of_classes(table, command, words[i])) return true;
      return false;
    }
    for (std::uint32_t i = 0; i < command.word_count; ++i)
      if (!words[i].text.empty() && words[i].text[0] != '-' && of_classes(table, command, words[i])) return true;
    return false;
  }
  // What it prints goes into a file of the class, and nowhere else: the last thing of the command is `> FILE`.
  bool writes_path(std::uint32_t table) const noexcept {
    if (!is_of_tree() || command_.span.end > text_.size()) return false;
    for (std::uint32_t i = index_ + 1; i < tree_.command_count(); ++i) {
      const Command& other = tree_.command(i);
      if (other.span.start > command_.span.end) break;  // of a later command; its own files come before
      if (other.carrier != index_ || other.program != "@write" || other.span.end != command_.span.end || other.span.start > other.span.end) continue;
      const std::string_view before = text_.substr(0, other.span.start);
      const std::size_t sign = before.find_last_not_of(" \t");
      if (sign == std::string_view::npos || sign == 0 || before[sign] != '>') return false;
      const char number = before[before[sign - 1] == '>' && sign > 1 ? sign - 2 : sign - 1];
      return (number == '1' || !ascii::is_digit(number)) && of_classes(table, other, tree_.arguments(other)[0]);
    }
    return false;
  }
  // Commands that feed this one: before it in the pipeline, or inside its words.
  bool reads_paths(std::uint32_t table) const noexcept {
    std::uint32_t at = command_.pipe_from;
    for (std::uint32_t steps = 0; at != kNone && steps < kChain; ++steps) {
      const Command& other = tree_.command(at);
      if (reads_path(table, other) || feeds(table, at)) return true;
      at = other.pipe_from;
    }
    return feeds(table, index_);
  }
  bool feeds(std::uint32_t table, std::uint32_t index) const noexcept {
    const Span span = tree_.command(index).span;
    const auto inside = [&](const Command& other) noexcept {
      return other.span.start >= span.start && other.span.end <= span.end;
    };
    const std::uint32_t end = tree_.command_count() - index > kFed ? index + kFed : tree_.command_count();
    for (std::uint32_t i = index + 1; i < end && inside(tree_.command(i)); ++i)
      if (fed_by(table, tree_.command(i))) return true;
    const std::uint32_t begin = index > kFed ? index - kFed : 0;
    for (std::uint32_t i = index; i-- > begin && inside(tree_.command(i));)
      if (fed_by(table, tree_.command(i))) return true;
    return false;
  }
  bool fed_by(std::uint32_t table, const Command& other) const noexcept {
    // The environment holds secrets too.
    const bool substituted = (other.via & via::kSubstitution) != 0;
    if (substituted && other.word_count == 0 && (other.program == "env" || other.program == "printenv")) return true;
    return (other.program == "@read" || substituted) && reads_path(table, other);
  }

  const Image& image_;
  KnownPaths& paths_;
  const Tree& tree_;
  const std::string_view text_;
  const Command& command_;
  std::uint32_t index_;
  const Parsed& parsed_;

 private:
  static constexpr std::uint32_t kChain = 64;  // how far pipes and carriers are followed
  static constexpr std::uint32_t kFed = 512;    // commands before and after one that may feed it

  mutable std::uint32_t last_asked_ = 0;
  mutable Word beyond_{};
  mutable std::uint32_t beyond_classes_ = kUnclassified;
};

}  // namespace tipstaff::gate::rules
