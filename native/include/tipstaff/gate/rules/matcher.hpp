// Answers whether a rule of a policy image holds for a command, and what it decides. Linear in the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/findings.hpp"
#include "tipstaff/gate/rules/made.hpp"
#include "tipstaff/gate/rules/options.hpp"
#include "tipstaff/gate/paths/classes.hpp"

namespace tipstaff::gate::rules {

// Answers one rule about one command.
class Matcher {
 public:
  // `text`: what the spans of the tree's commands are of.
  Matcher(const Image& image, KnownPaths& paths, const Tree& tree, std::string_view text, const Command& command,
          std::uint32_t index, const Parsed& parsed) noexcept
      : image_(image), paths_(paths), tree_(tree), text_(text), command_(command), index_(index), parsed_(parsed) {}

  bool holds(const record::Instance& rule) noexcept {
    skip_ = 0;
    if (!group(image_.groups[rule.base])) return false;
    const std::uint32_t skip = skip_;
    bool any = rule.any_count == 0;
    for (std::uint32_t i = 0; i < rule.any_count && !any; ++i) {
      skip_ = skip;
      any = group(image_.groups[rule.any + i]);
    }
    if (!any) return false;
    const std::uint32_t kept = skip_;
    for (std::uint32_t i = 0; i < rule.unless_count; ++i) {
      skip_ = skip;
      if (group(image_.groups[rule.unless + i])) return false;
    }
    skip_ = kept;
    return true;
  }

  // Decides a rule that holds: its own decision, or the worst of its table over the chosen paths.
  void decide(const record::Instance& rule, Finding* finding) noexcept {
    const record::Rule& named = image_.rules[rule.rule];
    finding->decision = static_cast<Decision>(named.decision);
    if (rule.table == kNothing) return;
    finding->decision = Decision::allow;
    bool chosen = false;
    select(rule.selectors, rule.selector_count, [&](const Word& word) noexcept {
      chosen = true;
      judge(rule.table, word, finding);
      return false;
    });
    if (!chosen && rule.missing != kNothing) {
      Word word;
      word.text = image_.text(rule.missing);
      word.span = command_.span;
      word.flags = word_flag::kPseudo;
      judge(rule.table, word, finding);
    }
  }

 private:
  static constexpr std::uint32_t kChain = 64;  // how far pipes and carriers are followed
  static constexpr std::uint32_t kFed = 512;    // commands before and after one that may feed it

  void judge(std::uint32_t table, const Word& word, Finding* finding) noexcept {
    std::uint32_t classes = classes_of(command_, word);
    // What a search finds below the repository's root is not the root.
    if (word.has(word_flag::kAppended) && (classes & path_class::kRepositoryRoot) != 0) {
      classes = (classes & ~path_class::kRepositoryRoot) | path_class::kGlob;
    }
    Decision decision = decision_of(table, classes);
    if (!worse(decision, finding->decision)) return;
    // What the line made itself is looked for last: only what would interrupt needs it.
    if (rank(decision) > rank(Decision::warn) && is_of_tree() && made(word)) {
      decision = decision_of(table, classes |= path_class::kMade);
      if (!worse(decision, finding->decision)) return;
    }
    finding->decision = decision;
    finding->focus = word.span;
    finding->classes = classes;
  }
  Decision decision_of(std::uint32_t table, std::uint32_t classes) const noexcept {
    const record::Table& rows = image_.tables[table];
    for (std::uint32_t r = rows.first; r < rows.first + rows.count; ++r)
      if (fits(image_.rows[r], classes)) return static_cast<Decision>(image_.rows[r].decision);
    return Decision::allow;
  }
  bool made(const Word& word) const noexcept {
    const MadeBefore line{tree_, text_, index_};
    return line.names(word) || line.remade_by_next(word);
  }
  // Not one that was made up to ask about.
  bool is_of_tree() const noexcept { return index_ < tree_.command_count() && &tree_.command(index_) == &command_; }
  // What the policy decides of the uncertain is above a warning and below a block.
  static int rank(Decision decision) noexcept {
    switch (decision) {
      case Decision::warn: return 1;
      case Decision::confirm: return 2;
      case Decision::uncertain: return 3;
      case Decision::block: return 4;
      default: return 0;
    }
  }
  static bool worse(Decision left, Decision right) noexcept { return rank(left) > rank(right); }

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
      const std::uint32_t left = parsed_.count - last_asked_, end = last_asked_ + (left < kWords ? left : kWords);
      for (std::uint32_t i = last_asked_; i < end; ++i) {
        const Word& own = parsed_.words[i];
        if (own.text.data() != word.text.data() || own.text.size() != word.text.size()) continue;
        last_asked_ = i;
        if (i >= kWords) break;
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

  bool positional(std::uint32_t index) const noexcept { return parsed_.kind_of(index) == WordKind::positional; }

  // Calls `use` with each chosen word until it returns true; returns whether it did.
  template <typename Use>
  bool select(std::uint32_t first, std::uint32_t count, Use use) noexcept {
    for (std::uint32_t s = first; s < first + count; ++s)
      if (select_one(image_.selectors[s], use)) return true;
    return false;
  }
  template <typename Use>
  bool select_one(const record::Selector& selector, Use use) noexcept {
    const auto kind = static_cast<SelectorKind>(selector.kind);
    const auto give = [&](Word word, std::size_t from) noexcept {
      word.text = word.text.substr(from < word.text.size() ? from : word.text.size());
      if (selector.strip != 0) {
        const std::size_t at = word.text.find(static_cast<char>(selector.strip));
        if (at == std::string_view::npos) return false;
        word.text.remove_prefix(at + 1);
      }
      return bool(use(word));
    };
    if (kind == SelectorKind::input) return command_.has_input && give(command_.input, 0);
    const std::uint32_t total = parsed_.positionals;
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < parsed_.count; ++i) {
      const Word& word = parsed_.words[i];
      const bool operand = positional(i);
      const std::uint32_t number = seen;
      if (operand) ++seen;
      switch (kind) {
        case SelectorKind::args:
          if (operand && number >= skip_ && give(word, 0)) return true;
          break;
        case SelectorKind::first:
          if (operand && number == skip_) return give(word, 0);
          break;
        case SelectorKind::last:
          if (operand && number >= skip_ && number + 1 == total) return give(word, 0);
          break;
        case SelectorKind::rest:
          if (operand && number > skip_ && give(word, 0)) return true;
          break;
        case SelectorKind::init:
          if (operand && number >= skip_ && number + 1 < total && give(word, 0)) return true;
          break;
        case SelectorKind::option:
          if (i < kWords && parsed_.readings[i].bit != kNoBit && in_mask(image_.masks[selector.mask], parsed_.readings[i].bit) &&
              give(word, parsed_.readings[i].kind == WordKind::value ? 0 : parsed_.readings[i].value_at))
            return true;
          break;
        case SelectorKind::key: {
          const std::string_view name = image_.text(selector.text);
          if (word.text.size() > name.size() && word.text[name.size()] == '=' && starts_folded(word.text, name) &&
              give(word, name.size() + 1))
            return true;
          break;
        }
        case SelectorKind::words:
          if (give(word, 0)) return true;
          break;
        case SelectorKind::input: break;
      }
    }
    return false;
  }

  const Word* nth(std::uint32_t number) const noexcept {
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < parsed_.count; ++i)
      if (positional(i) && seen++ == number) return &parsed_.words[i];
    return nullptr;
  }
  bool any_program(std::uint32_t first, std::uint32_t count, std::uint32_t start,
                   std::uint32_t Command::*next) const noexcept {
    for (std::uint32_t steps = 0; start != kNone && steps < kChain; ++steps) {
      const Command& other = tree_.command(start);
      if (matches_any(image_, first, count, keeps_names(other) ? std::string_view("cut:names") : other.program)) return true;
      start = other.*next;
    }
    return false;
  }
  // cut -d= -f1: what is before the first equals sign of each line, and nothing of the values.
  bool keeps_names(const Command& command) const noexcept {
    if (command.program != "cut") return false;
    const Word* const words = tree_.arguments(command);
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

  // A repository below a temporary directory, where the session does not work.
  [[gnu::noinline]] bool works_in_scratch() noexcept {
    using namespace path_class;
    const MadeBefore made{tree_, text_, index_};
    if (command_.cwd.empty() || (command_.via & (via::kRemote | via::kContainer)) != 0 || !made.works_in_own_folder() || made.links_before()) return false;
    Word here;
    here.text = "./";
    const std::uint32_t bits = classify_path(paths_, command_, here);
    return (bits & kTemporary) != 0 && (bits & (kOutside | kRepository | kSibling | kUnknown | kRemote)) == 0;
  }

  bool group(const record::Group& conditions) noexcept {
    const record::Condition* const end = image_.conditions.items + conditions.first + conditions.count;
    for (const record::Condition* c = image_.conditions.items + conditions.first; c != end; ++c) {
      switch (static_cast<ConditionKind>(c->kind)) {  // most are of these kinds, and decided at once
        case ConditionKind::subcommand:
          if (!subcommand(*c)) return false;
          break;
        case ConditionKind::flags_any:
          if (!parsed_.present.meets(image_.masks[c->a])) return false;
          break;
        case ConditionKind::flags_none:
          if (parsed_.sure.meets(image_.masks[c->a])) return false;
          break;
        default:
          if (!condition(*c)) return false;
      }
    }
    return true;
  }
  bool subcommand(const record::Condition& c) noexcept {
    for (std::uint32_t s = c.a; s < c.a + c.b; ++s) {
      const record::Sequence& sequence = image_.sequences[s];
      if (sequence.count == 0) continue;
      const record::Glob& first = image_.globs[sequence.first];
      const bool by_bucket = parsed_.bucket != nullptr && first.kind == static_cast<std::uint32_t>(GlobKind::literal);
      // The first operand is the bucket's name, and equal texts are one in an image.
      if (by_bucket && first.text != parsed_.bucket->name) continue;
      if ((by_bucket && sequence.count == 1) || matches_operands(sequence)) {
        skip_ = sequence.count;
        return true;
      }
    }
    return false;
  }
  // Whether the first operands are those of a sequence.
  [[gnu::noinline]] bool matches_operands(const record::Sequence& sequence) const noexcept {
    std::uint32_t met = 0;
    for (std::uint32_t i = 0; i < parsed_.count && met < sequence.count; ++i) {
      if (!positional(i)) continue;
      if (!matches(image_, image_.globs[sequence.first + met], parsed_.words[i].text)) return false;
      ++met;
    }
    return met == sequence.count;
  }
  // Whether a glob matches a word; most globs have a letter that no word has. `operands`: after the subcommand.
  bool any_word(const record::Condition& c, bool operands) const noexcept {
    const std::uint32_t letters = ~parsed_.all_letters();
    std::uint32_t from = 0;
    if (operands)
      for (std::uint32_t seen = 0; from < parsed_.count && seen < skip_; ++from) seen += positional(from) ? 1 : 0;
    for (std::uint32_t g = c.a; g < c.a + c.b; ++g) {
      const record::Glob& glob = image_.globs[g];
      if ((glob.letters & letters) != 0) continue;
      for (std::uint32_t i = from; i < parsed_.count; ++i) {
        if (operands && !positional(i)) continue;
        const std::string_view text = parsed_.words[i].text;
        if (outline_fits(glob, text) && matches(image_, glob, text)) return true;
      }
    }
    return false;
  }
  bool condition(const record::Condition& c) noexcept {
    const auto any = [&](std::string_view text) noexcept { return matches_any(image_, c.a, c.b, text, parsed_.all_letters()); };
    switch (static_cast<ConditionKind>(c.kind)) {
      case ConditionKind::subcommand:
      case ConditionKind::flags_any:
      case ConditionKind::flags_none: break;  // group() tells them
      case ConditionKind::value:
        if (!may_match(image_, c.a, c.b, parsed_.all_letters())) return false;
        for (std::uint32_t i = 0; i < parsed_.count && i < kWords; ++i) {
          const Reading& reading = parsed_.readings[i];
          if (reading.bit == kNoBit || !in_mask(image_.masks[c.c], reading.bit)) continue;
          std::string_view text = parsed_.words[i].text;
          if (reading.kind != WordKind::value) text.remove_prefix(reading.value_at < text.size() ? reading.value_at : text.size());
          if (any(text)) return true;
        }
        return false;
      case ConditionKind::first: {
        const Word* word = nth(skip_);
        return word != nullptr && any(word->text);
      }
      case ConditionKind::second: {
        const Word* word = nth(skip_ + 1);
        return word != nullptr && any(word->text);
      }
      case ConditionKind::last: {
        const Word* word = parsed_.positionals > skip_ ? nth(parsed_.positionals - 1) : nullptr;
        return word != nullptr && any(word->text);
      }
      case ConditionKind::args_any: return any_word(c, true);
      case ConditionKind::args_none: return !any_word(c, true);
      case ConditionKind::words_any: return any_word(c, false);
      case ConditionKind::ends_with: return parsed_.count != 0 && any(parsed_.words[parsed_.count - 1].text);
      case ConditionKind::patterns_none: {  // patterns, and words known only when it runs; literal words are skipped
        std::uint32_t seen = 0;
        for (std::uint32_t i = 0; i < parsed_.count; ++i) {
          if (!positional(i) || seen++ < skip_) continue;
          const bool open = (parsed_.words[i].flags & (word_flag::kGlob | word_flag::kUnknown | word_flag::kAppended)) != 0;
          if (open && any(parsed_.words[i].text)) return false;
        }
        return true;
      }
      case ConditionKind::patterns_all:
      case ConditionKind::args_all: {
        const bool patterns = static_cast<ConditionKind>(c.kind) == ConditionKind::patterns_all;
        if (!may_match(image_, c.a, c.b, parsed_.all_letters())) return false;
        std::uint32_t seen = 0, met = 0;
        for (std::uint32_t i = 0; i < parsed_.count; ++i) {
          if (!positional(i) || seen++ < skip_) continue;
          const bool open = (parsed_.words[i].flags & (word_flag::kGlob | word_flag::kUnknown | word_flag::kAppended)) != 0;
          if (any(parsed_.words[i].text) || (patterns && !open)) ++met;
        }
        return met != 0 && met + skip_ == seen;
      }
      case ConditionKind::count: {
        const std::uint32_t count = parsed_.positionals > skip_ ? parsed_.positionals - skip_ : 0;
        return (count >= c.a || (c.a > count && (command_.via & via::kArgumentsAdded) != 0)) && count <= c.b;
      }
      case ConditionKind::paths:
        return select(c.a, c.b, [&](const Word& word) noexcept { return of_classes(c.c, command_, word); });
      case ConditionKind::via_any: return (command_.via & c.a) != 0;
      case ConditionKind::via_none:
        if ((command_.via & c.a) != 0) return false;
        return (c.a & via::kInClone) == 0 || !is_of_tree() || !(MadeBefore{tree_, text_, index_}.works_in_clone() || works_in_scratch());
      case ConditionKind::reads_from: return any_program(c.a, c.b, command_.pipe_from, &Command::pipe_from);
      case ConditionKind::writes_to: return any_program(c.a, c.b, command_.pipe_to, &Command::pipe_to);
      case ConditionKind::inside: return any_program(c.a, c.b, command_.carrier, &Command::carrier);
      case ConditionKind::reads_paths: return reads_paths(c.a);
      case ConditionKind::writes_paths: return writes_path(c.a);
      case ConditionKind::unknown_args: {
        bool unknown = false;
        std::uint32_t seen = 0;
        for (std::uint32_t i = 0; i < parsed_.count && !unknown; ++i)
          unknown = positional(i) && seen++ >= skip_ &&
                    (parsed_.words[i].flags & (word_flag::kUnknown | word_flag::kAppended)) != 0;
        return unknown == (c.a != 0);
      }
      case ConditionKind::input: return command_.has_input && matches_any(image_, c.a, c.b, command_.input.text);
      case ConditionKind::dialects: return (c.a >> static_cast<std::uint32_t>(command_.dialect)) & 1;
    }
    return false;
  }

  const Image& image_;
  KnownPaths& paths_;
  const Tree& tree_;
  const std::string_view text_;
  const Command& command_;
  std::uint32_t index_;
  const Parsed& parsed_;
  std::uint32_t skip_ = 0;  // positionals that belong to the subcommand
  mutable std::uint32_t last_asked_ = 0;
};

}  // namespace tipstaff::gate::rules
