// Runs the rules of a policy image over the commands of a tree: those that can hold at all.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/findings.hpp"
#include "tipstaff/gate/rules/guards.hpp"
#include "tipstaff/gate/rules/matcher.hpp"
#include "tipstaff/gate/rules/options.hpp"
#include "tipstaff/gate/rules/cannot_match.hpp"
#include "tipstaff/gate/rules/trace.hpp"
#include "tipstaff/text/lowest_bit.hpp"

namespace tipstaff::gate::rules {

struct Judging {
  const Image* image;
  KnownPaths* paths;
  const Tree* tree;
  Verdict* verdict;
  Decision uncertain;   // what the policy says of the uncertain
  Parsed* parsed;       // room to work in
  bool followed;        // whether the calls of a run are followed: what one of them did matters to those after it
  const Trace* trace = nullptr;
  std::string_view text = {};  // what the spans of the tree's commands are of
};

// `flags`: of all words; `followed`: whether the calls of a run are.
inline std::uint32_t facts_of(const Command& command, std::uint16_t flags, bool followed) noexcept {
  std::uint32_t facts = followed ? fact::kFollowed : 0;
  if (command.pipe_from != kNone) facts |= fact::kReadsPipe;
  if (command.pipe_to != kNone) facts |= fact::kWritesPipe;
  if (command.carrier != kNone) facts |= fact::kCarried;
  if (command.has_input) facts |= fact::kHasInput;
  if ((flags & (word_flag::kUnknown | word_flag::kAppended)) != 0) facts |= fact::kUnknownWords;
  return facts;
}

// Tries the rules of one command.
class Trial {
 public:
  Trial(const Judging& judging, const Command& command, std::uint32_t index, std::uint32_t facts) noexcept
      : judging_(judging), image_(*judging.image), command_(command), index_(index),
        guarded_(*judging.image, *judging.parsed, facts, command.via),
        matcher_(*judging.image, *judging.paths, *judging.tree, judging.text, command, index, *judging.parsed) {}

  // `guard`: what tells which of the candidates may hold.
  void run(std::uint32_t first, std::uint32_t count, std::uint32_t guard) noexcept {
    const std::uint32_t* const list = image_.candidates.items + first;
    const std::uint32_t met = judging_.trace != nullptr ? ~std::uint32_t{0} : guarded_.open(guard);
    if (met == 0) return;
    const std::uint32_t own = count < 31 ? count : 31;  // of those that have a bit of their own
    for (std::uint32_t left = met & ((std::uint32_t{1} << own) - 1); left != 0; left &= left - 1)
      try_rule(image_.instances[list[lowest_bit(left)]]);
    if ((met >> 31) == 0) return;
    for (std::uint32_t i = own; i < count; ++i) try_rule(image_.instances[list[i]]);
  }
  // Those that look at every program.
  void run_shared() noexcept {
    for (std::uint32_t i = 0; i < image_.shared.count; ++i) try_rule(image_.instances[image_.shared[i]]);
  }

 private:
  void try_rule(const record::Instance& instance) noexcept {
    const bool held = matcher_.holds(instance);
    const Decision decision = held ? decide(instance) : Decision::allow;
    if (judging_.trace != nullptr && judging_.trace->tried != nullptr)
      judging_.trace->tried(judging_.trace->self, index_, instance.rule, held, decision);
  }

  Decision decide(const record::Instance& instance) noexcept {
    Finding finding;
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
    return finding.decision;
  }

  const Judging& judging_;
  const Image& image_;
  const Command& command_;
  const std::uint32_t index_;
  Guarded guarded_;
  Matcher matcher_;
};

inline const record::Spec* spec_of(const Image& image, std::string_view program) noexcept {
  return program.empty() ? image.find("@unknown") : image.find_any(program, hash_name(program));
}

// Runs the rules of one program over one command of the tree (or one that a caller made up, with its words).
// `known`: what tells about the program, where it is known already that some rule may hold.
inline void judge_command(const Judging& judging, const Command& command, std::uint32_t index, const Word* words,
                          std::uint32_t word_count, const record::Spec* known = nullptr) noexcept {
  const Image& image = *judging.image;
  const record::Spec* const spec = known != nullptr ? known : spec_of(image, command.program);
  if (spec == nullptr && image.shared.count == 0) return;
  std::uint16_t flags = 0;
  for (std::uint32_t i = 0; i < word_count; ++i) flags |= words[i].flags;
  const std::uint32_t facts = facts_of(command, flags, judging.followed);
  const bool in_place = command.as_written && words == judging.tree->arguments(command);
  if (judging.trace == nullptr && known == nullptr) {
    const Outline outline{words, word_count, word_count != 0 ? hash_name(words[0].text) : 0, facts, command.via, in_place};
    if (none_holds(image, spec, outline)) return;
  }
  const record::Spec& used = spec != nullptr ? *spec : record::kPlainSpec;
  Parsed& parsed = *judging.parsed;
  parsed.begin(words, word_count, flags, in_place);
  Options(image, used, &parsed).read();
  if (used.harmless != kNothing && parsed.sure.meets(image.masks[used.harmless])) return;
  const record::Bucket* const bucket = parsed.bucket;
  if (bucket != nullptr && bucket->harmless != kNothing && parsed.sure.meets(image.masks[bucket->harmless])) return;
  Trial trial(judging, command, index, facts);
  if (bucket != nullptr) trial.run(bucket->rules, bucket->rule_count, bucket->guard);
  else trial.run(used.rules, used.rule_count, used.guard);
  trial.run_shared();
}

}  // namespace tipstaff::gate::rules
