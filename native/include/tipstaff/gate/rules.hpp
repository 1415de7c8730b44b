// Runs the rules of a policy image over the commands of a tree: those that can hold at all.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/findings.hpp"
#include "tipstaff/gate/word_signs.hpp"
#include "tipstaff/gate/matcher.hpp"
#include "tipstaff/gate/options.hpp"

namespace tipstaff::gate::rules {

// Says what happened with each rule that was looked at; for `gate --explain`.
struct Trace {
  void (*tried)(void* self, std::uint32_t command, std::uint32_t rule, bool held, Decision decision) noexcept = nullptr;
  void* self = nullptr;
};

// The signs of all words of a tree, looked for when the first rule asks.
class TreeSigns {
 public:
  void forget() noexcept { known_ = pairs_known_ = false; }
  const WordSigns& of(const Tree& tree) noexcept {
    if (!known_) {
      known_ = true;
      signs_.clear();
      for (std::uint32_t i = 0; i < tree.word_count(); ++i) signs_.add(tree.words()[i].text);
    }
    return signs_;
  }
  const WordSigns& with_pairs(const Tree& tree) noexcept {
    if (!pairs_known_) {
      pairs_known_ = true;
      signs_.clear_pairs();
      for (std::uint32_t i = 0; i < tree.word_count(); ++i) signs_.add_pairs(tree.words()[i].text);
    }
    return signs_;
  }

 private:
  WordSigns signs_;
  bool known_ = false, pairs_known_ = false;
};

struct Judging {
  const Image* image;
  const Surroundings* surroundings;
  const Tree* tree;
  Verdict* verdict;
  Decision uncertain;   // what the policy says of the uncertain
  Parsed* parsed;       // room to work in
  TreeSigns* signs;     // likewise
  const Trace* trace = nullptr;
};

// Facts that triggers ask for; tipstaff.gates.image_triggers has the same.
namespace fact {
constexpr std::uint32_t kReadsPipe = 1;
constexpr std::uint32_t kWritesPipe = 2;
constexpr std::uint32_t kCarried = 4;
constexpr std::uint32_t kHasInput = 8;
constexpr std::uint32_t kUnknownWords = 16;
}  // namespace fact

inline std::uint32_t facts_of(const Command& command, const Parsed& parsed) noexcept {
  std::uint32_t facts = 0;
  if (command.pipe_from != kNone) facts |= fact::kReadsPipe;
  if (command.pipe_to != kNone) facts |= fact::kWritesPipe;
  if (command.carrier != kNone) facts |= fact::kCarried;
  if (command.has_input) facts |= fact::kHasInput;
  if ((parsed.flags & (word_flag::kUnknown | word_flag::kAppended)) != 0) facts |= fact::kUnknownWords;
  return facts;
}

// Tries the rules of one command.
class Trial {
 public:
  // `own`: the words are those of the tree.
  Trial(const Judging& judging, const Command& command, std::uint32_t index, bool own) noexcept
      : judging_(judging), image_(*judging.image), command_(command), index_(index), own_(own),
        facts_(facts_of(command, *judging.parsed)),
        matcher_(*judging.image, *judging.surroundings, *judging.tree, command, index, *judging.parsed) {}

  void run(const record::Candidate* list, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (list[i].trigger != kNothing && !met(image_.triggers[list[i].trigger]) && judging_.trace == nullptr) continue;
      try_rule(image_.instances[list[i].instance]);
    }
  }

 private:
  bool met(const record::Trigger& trigger) noexcept {
    const Parsed& parsed = *judging_.parsed;
    if ((trigger.facts & facts_) != 0 || (trigger.via & command_.via) != 0) return true;
    if (trigger.present != kNothing && parsed.present.meets(image_.masks[trigger.present])) return true;
    if (trigger.valued != kNothing && parsed.valued.meets(image_.masks[trigger.valued])) return true;
    if (!own_) return trigger.sign_count != 0;
    if (trigger.sign_count == 0) return false;
    const std::uint32_t* const wanted = image_.signs.items + trigger.signs;
    std::uint32_t i = 0;
    if (trigger.pairs_from != 0) {
      const WordSigns& signs = judging_.signs->of(*judging_.tree);
      for (; i < trigger.pairs_from; ++i)
        if (signs.has(wanted[i])) return true;
    }
    if (i == trigger.sign_count) return false;
    const WordSigns& signs = judging_.signs->with_pairs(*judging_.tree);
    for (; i < trigger.sign_count; ++i)
      if (signs.has_pairs(wanted[i])) return true;
    return false;
  }
  void try_rule(const record::Instance& instance) noexcept {
    const bool held = matcher_.holds(instance);
    Finding finding;
    if (held) {
      finding.rule = instance.rule;
      finding.span = finding.focus = command_.span;
      finding.command = index_;
      matcher_.decide(instance, &finding);
      if (finding.decision == Decision::uncertain) {
        finding.decision = judging_.uncertain;
        finding.uncertain = true;
      }
      const record::Rule& rule = image_.rules[instance.rule];
      if (finding.decision != Decision::allow) judging_.verdict->marks |= rule.marks;
      if (finding.decision == Decision::mark) finding.decision = Decision::allow;
      // A rule that a repository made weaker is named even where it says nothing any more.
      if (finding.decision != Decision::allow || rule.because != kNothing) judging_.verdict->add(finding);
    }
    if (judging_.trace != nullptr && judging_.trace->tried != nullptr)
      judging_.trace->tried(judging_.trace->self, index_, instance.rule, held, finding.decision);
  }

  const Judging& judging_;
  const Image& image_;
  const Command& command_;
  const std::uint32_t index_;
  const bool own_;
  const std::uint32_t facts_;
  Matcher matcher_;
};

// Runs the rules of one program over one command of the tree (or one that a caller made up, with its words).
inline void judge_command(const Judging& judging, const Command& command, std::uint32_t index, const Word* words,
                          std::uint32_t word_count) noexcept {
  const Image& image = *judging.image;
  const record::Spec* spec = image.find(command.program.empty() ? std::string_view("@unknown") : command.program);
  if (spec == nullptr && image.shared.count == 0) return;
  const record::Spec& used = spec != nullptr ? *spec : record::kPlainSpec;
  Parsed& parsed = *judging.parsed;
  parsed.begin(words, word_count);
  Options(image, used, &parsed).read();
  if (used.harmless != kNothing && parsed.sure.meets(image.masks[used.harmless])) return;
  const record::Bucket* const bucket = parsed.bucket;
  if (bucket != nullptr && bucket->harmless != kNothing && parsed.sure.meets(image.masks[bucket->harmless])) return;
  Trial trial(judging, command, index, words == judging.tree->arguments(command));
  if (bucket != nullptr) trial.run(image.candidates.items + bucket->rules, bucket->rule_count);
  else trial.run(image.candidates.items + used.rules, used.rule_count);
  trial.run(image.shared.items, image.shared.count);
}

}  // namespace tipstaff::gate::rules
