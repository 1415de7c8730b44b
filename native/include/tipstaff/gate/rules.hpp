// Runs the rules of a policy image over the commands of a tree: those that can hold at all.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/findings.hpp"
#include "tipstaff/gate/guards.hpp"
#include "tipstaff/gate/matcher.hpp"
#include "tipstaff/gate/options.hpp"

namespace tipstaff::gate::rules {

// Says what happened with each rule that was looked at; for `gate --explain`.
struct Trace {
  void (*tried)(void* self, std::uint32_t command, std::uint32_t rule, bool held, Decision decision) noexcept = nullptr;
  void* self = nullptr;
};

struct Judging {
  const Image* image;
  const Surroundings* surroundings;
  const Tree* tree;
  Verdict* verdict;
  Decision uncertain;   // what the policy says of the uncertain
  Parsed* parsed;       // room to work in
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
  Trial(const Judging& judging, const Command& command, std::uint32_t index) noexcept
      : judging_(judging), image_(*judging.image), command_(command), index_(index),
        guarded_(*judging.image, *judging.parsed, facts_of(command, *judging.parsed), command.via),
        matcher_(*judging.image, *judging.surroundings, *judging.tree, command, index, *judging.parsed) {}

  // `guard`: of the candidates that need something.
  void run(const record::Candidate* list, std::uint32_t count, std::uint32_t guard) noexcept {
    const bool all = judging_.trace != nullptr;
    if (!all && !guarded_.open(guard)) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (list[i].trigger == kNothing) try_rule(image_.instances[list[i].instance]);
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t trigger = list[i].trigger;
      if (trigger != kNothing && !all && !guarded_.met(i, image_.triggers[trigger])) continue;
      try_rule(image_.instances[list[i].instance]);
    }
  }

 private:
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
  Guarded guarded_;
  Matcher matcher_;
};

// Whether its words tell, before they are read as options and operands, that no rule of a command's program holds.
inline bool none_holds(const Image& image, const record::Spec& spec, const Options& options, const Parsed& parsed,
                       const Command& command) noexcept {
  if (image.shared.count != 0) return false;
  const record::Bucket* const bucket = parsed.bucket;
  const std::uint32_t first = bucket != nullptr ? bucket->rules : spec.rules;
  const std::uint32_t count = bucket != nullptr ? bucket->rule_count : spec.rule_count;
  for (std::uint32_t i = first; i < first + count; ++i)
    if (image.candidates[i].trigger == kNothing) return false;
  const std::uint32_t index = bucket != nullptr ? bucket->guard : spec.guard;
  if (index == kNothing) return true;
  const record::Guard& guard = image.guards[index];
  if (guard.present != kNothing || guard.valued != kNothing) {
    Bits asked;
    if (guard.present != kNothing) asked.add(image.masks[guard.present]);
    if (guard.valued != kNothing) asked.add(image.masks[guard.valued]);
    if (options.may_name(asked)) return false;
  }
  return !Guarded(image, parsed, facts_of(command, parsed), command.via).open(index);
}

// Runs the rules of one program over one command of the tree (or one that a caller made up, with its words).
inline void judge_command(const Judging& judging, const Command& command, std::uint32_t index, const Word* words,
                          std::uint32_t word_count) noexcept {
  const Image& image = *judging.image;
  const record::Spec* spec = image.find(command.program.empty() ? std::string_view("@unknown") : command.program);
  if (spec == nullptr && image.shared.count == 0) return;
  const record::Spec& used = spec != nullptr ? *spec : record::kPlainSpec;
  Parsed& parsed = *judging.parsed;
  parsed.begin(words, word_count, command.as_written && words == judging.tree->arguments(command));
  Options options(image, used, &parsed);
  const bool entered = options.enter_first();
  if (entered && judging.trace == nullptr && none_holds(image, used, options, parsed, command)) return;
  options.read(entered);
  if (used.harmless != kNothing && parsed.sure.meets(image.masks[used.harmless])) return;
  const record::Bucket* const bucket = parsed.bucket;
  if (bucket != nullptr && bucket->harmless != kNothing && parsed.sure.meets(image.masks[bucket->harmless])) return;
  Trial trial(judging, command, index);
  if (bucket != nullptr) trial.run(image.candidates.items + bucket->rules, bucket->rule_count, bucket->guard);
  else trial.run(image.candidates.items + used.rules, used.rule_count, used.guard);
  trial.run(image.shared.items, image.shared.count, kNothing);
}

}  // namespace tipstaff::gate::rules
