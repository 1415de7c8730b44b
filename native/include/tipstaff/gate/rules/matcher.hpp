// Answers whether a rule of a policy image holds for a command, and what it decides. Linear in the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/findings.hpp"
#include "tipstaff/gate/rules/command_paths.hpp"
#include "tipstaff/gate/rules/fetched.hpp"
#include "tipstaff/gate/rules/made.hpp"

namespace tipstaff::gate::rules {

// Answers one rule about one command.
class Matcher : private CommandPaths {
 public:
  using CommandPaths::CommandPaths;

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
  void judge(std::uint32_t table, const Word& word, Finding* finding) noexcept {
    // Nothing at all names no file: rm -rf "" is an error.
    if (word.text.empty() && command_.dialect == Dialect::shell && !word.has(word_flag::kUnknown)) return;
    std::uint32_t classes = classes_of(command_, word);
    // What a search finds below the repository's root is not the root.
    if (word.has(word_flag::kAppended) && (classes & path_class::kRepositoryRoot) != 0) {
      classes = (classes & ~path_class::kRepositoryRoot) | path_class::kGlob;
    }
    Decision decision = decision_of(table, classes);
    if (!worse(decision, finding->decision)) return;
    // What the line made itself is looked for last: only what is not allowed needs it.
    if (is_of_tree() && made(word)) {
      decision = decision_of(table, classes |= path_class::kMade);
      if (!worse(decision, finding->decision)) return;
    }
    // What is filled again is no worse than asked about.
    if (rank(decision) > rank(Decision::warn) && is_of_tree() && (classes & path_class::kMade) == 0 && MadeBefore{tree_, text_, index_}.refilled(word)) {
      decision = decision_of(table, classes |= path_class::kRefilled);
      if (!worse(decision, finding->decision)) return;
    }
    if (rank(decision) > rank(Decision::warn) && is_of_ecosystem(word)) {
      decision = decision_of(table, classes |= path_class::kEcosystem);
      if (!worse(decision, finding->decision)) return;
    }
    finding->decision = decision;
    finding->focus = word.span;
    finding->classes = classes;
  }
  bool made(const Word& word) const noexcept {
    const MadeBefore line{tree_, text_, index_};
    return line.names(word) || line.remade_by_next(word);
  }
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

  // Whether `use` returns true of an operand after the subcommand.
  template <typename Use>
  bool any_operand(Use use) const noexcept {
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < parsed_.count; ++i)
      if (positional(i) && seen++ >= skip_ && use(parsed_.words[i])) return true;
    return false;
  }
  static constexpr std::uint32_t kNoOutput = path_class::kOutside | path_class::kSystem | path_class::kHomeRoot | path_class::kRoot | path_class::kSibling |
                                             path_class::kVcs | path_class::kWiring | path_class::kSecrets | path_class::kDatabase | path_class::kRepositoryRoot;
  // Made again by a build of this project by its name alone, or in a temporary folder.
  bool is_output(const Word& word) const noexcept {
    const std::uint32_t classes = classes_of(command_, word);
    return (classes & kNoOutput) == 0 && (classes & (path_class::kBuild | path_class::kTemporary)) != 0;
  }
  bool is_rebuilt(const Word& word) const noexcept { return is_output(word) || ((classes_of(command_, word) & kNoOutput) == 0 && is_of_ecosystem(word)); }
  // Made by tools of an ecosystem that the text shows.
  bool is_of_ecosystem(const Word& word) const noexcept {
    if (!is_of_tree() || word.has(word_flag::kUnknown) || (classes_of(command_, word) & path_class::kRepository) == 0 || works_in_sources()) return false;
    if (asked_for_.data() != word.text.data() || asked_for_.size() != word.text.size()) {
      asked_for_ = word.text;
      const Ecosystems makers = Ecosystems::that_make(below_repository(word));
      if (!makers.none() && !shown_known_) {
        shown_ = Ecosystems::shown_by(tree_, index_);
        shown_known_ = true;
      }
      asked_shown_ = makers.meets(shown_);
    }
    return asked_shown_;
  }
  // cd data && rm -rf results: below a folder of sources or data.
  bool works_in_sources() const noexcept {
    const std::string_view outer = paths_.around().cwd, here = command_.cwd;
    return here.size() > outer.size() + 1 && here.substr(0, outer.size()) == outer && Ecosystems::is_below_sources(here.substr(outer.size() + 1));
  }
  // A path below the repository as it is from its root: /home/dev/proj/x is x, and ./x.
  std::string_view below_repository(const Word& word) const noexcept {
    std::string_view text = word.text;
    while (text.size() > 2 && text[0] == '.' && text[1] == '/') text.remove_prefix(2);
    if (text.empty() || text[0] != '/' || text.find("..") != std::string_view::npos || text.find("//") != std::string_view::npos || text.find("/./") != std::string_view::npos) return text;
    if ((classes_of(command_, word) & path_class::kRepository) == 0) return text;
    const Surroundings& around = paths_.around();
    const std::string_view root = around.repository.empty() ? around.cwd : around.repository;
    const bool below = root.size() > 1 && text.size() > root.size() + 1 && text[root.size()] == '/' && text.substr(0, root.size()) == root;
    return below ? text.substr(root.size() + 1) : text;
  }
  static bool is_unknown(const Word& word) noexcept { return (word.flags & (word_flag::kUnknown | word_flag::kAppended)) != 0; }
  static bool is_open(const Word& word) noexcept { return is_unknown(word) || (word.flags & word_flag::kGlob) != 0; }
  const Word* nth(std::uint32_t number) const noexcept {
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < parsed_.count; ++i)
      if (positional(i) && seen++ == number) return &parsed_.words[i];
    return nullptr;
  }
  // A repository below a temporary directory, where the session does not work.
  [[gnu::noinline]] bool works_in_scratch() noexcept {
    using namespace path_class;
    const MadeBefore made{tree_, text_, index_};
    if (command_.cwd.empty() || (command_.via & (via::kRemote | via::kContainer)) != 0 || !made.works_in_own_folder() || made.links_before() || !made.surely_there()) return false;
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
    const std::uint32_t missing = ~parsed_.all_letters();
    for (std::uint32_t s = c.a; s < c.a + c.b; ++s) {
      const record::Sequence& sequence = image_.sequences[s];
      if (sequence.count == 0 || sequence.count > parsed_.positionals) continue;
      // Most sequences end in a word with a letter that no word has.
      const record::Glob& first = image_.globs[sequence.first];
      if (((first.letters | image_.globs[sequence.first + sequence.count - 1].letters) & missing) != 0) continue;
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
      const record::Glob& glob = image_.globs[sequence.first + met];
      if (!outline_fits(glob, parsed_.words[i].text) || !matches(image_, glob, parsed_.words[i].text)) return false;
      ++met;
    }
    return met == sequence.count;
  }
  // Whether a glob matches a word; most globs have a letter that no word has. `operands`: after the subcommand.
  bool any_word(const record::Condition& c, bool operands) const noexcept {
    std::uint32_t from = 0;
    if (operands)
      for (std::uint32_t seen = 0; from < parsed_.count && seen < skip_; ++from) seen += positional(from) ? 1 : 0;
    for (std::uint32_t g = c.a; g < c.a + c.b; ++g) {
      const record::Glob& glob = image_.globs[g];
      if (!letters_fit(glob, parsed_)) continue;
      for (std::uint32_t i = from; i < parsed_.count; ++i) {
        if (operands && !positional(i)) continue;
        const std::string_view text = parsed_.words[i].text;
        if (outline_fits(glob, text) && matches(image_, glob, text)) return true;
      }
    }
    return false;
  }
  bool condition(const record::Condition& c) noexcept {
    GlobList globs(image_, c.a, c.b, parsed_);
    const auto any = [&](std::string_view text) noexcept { return globs.any(text); };
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
      case ConditionKind::first:
      case ConditionKind::second: {
        const Word* word = nth(skip_ + (static_cast<ConditionKind>(c.kind) == ConditionKind::second ? 1 : 0));
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
      case ConditionKind::patterns_none:  // patterns, and words known only when it runs; literal words are skipped
        return !any_operand([&](const Word& word) noexcept { return is_open(word) && any(word.text); });
      case ConditionKind::unbuilt_none:  // what a build makes again is skipped, by whatever name
        return !any_operand([&](const Word& word) noexcept { return !is_output(word) && any(below_repository(word)) && !is_rebuilt(word); });
      case ConditionKind::built_some: {  // two, and a quarter of all
        std::uint32_t all = 0, built = 0;
        any_operand([&](const Word& word) noexcept {
          ++all;
          if (is_rebuilt(word) || any(word.text)) ++built;
          return false;
        });
        return built > 1 && built >= (all + 3) / 4;
      }
      case ConditionKind::patterns_all:
      case ConditionKind::args_all: {
        const bool patterns = static_cast<ConditionKind>(c.kind) == ConditionKind::patterns_all;
        if (!may_match(image_, c.a, c.b, parsed_.all_letters())) return false;
        bool some = false;
        const auto fails = [&](const Word& word) noexcept {
          some = true;
          return !any(word.text) && (!patterns || is_open(word));
        };
        return !any_operand(fails) && some;
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
        if ((c.a & via::kMadeByName) != 0 && is_of_tree() && MadeBefore{tree_, text_, index_}.made_by_name()) return false;
        return (c.a & via::kInClone) == 0 || !is_of_tree() || !(MadeBefore{tree_, text_, index_}.works_in_clone() || works_in_scratch());
      case ConditionKind::reads_from: return any_program(c.a, c.b, command_.pipe_from, &Command::pipe_from);
      case ConditionKind::writes_to: return any_program(c.a, c.b, command_.pipe_to, &Command::pipe_to);
      case ConditionKind::inside: return any_program(c.a, c.b, command_.carrier, &Command::carrier);
      case ConditionKind::fetches:  // one that was made up to ask about a command is about the one that carries it
        return FetchedCode(tree_, is_of_tree() ? index_ : command_.carrier).all([&](std::string_view address) noexcept { return matches_any(image_, c.a, c.b, address); });
      case ConditionKind::reads_paths: return reads_paths(c.a);
      case ConditionKind::writes_paths: return writes_path(c.a);
      case ConditionKind::unknown_args: return any_operand(is_unknown) == (c.a != 0);
      case ConditionKind::input: return command_.has_input && matches_any(image_, c.a, c.b, command_.input.text);
      case ConditionKind::dialects: return (c.a >> static_cast<std::uint32_t>(command_.dialect)) & 1;
    }
    return false;
  }

  std::uint32_t skip_ = 0;  // positionals that belong to the subcommand
  // Rules ask about the same word one after another.
  mutable std::string_view asked_for_{};
  mutable Ecosystems shown_{};
  mutable bool shown_known_ = false, asked_shown_ = false;
};

}  // namespace tipstaff::gate::rules
