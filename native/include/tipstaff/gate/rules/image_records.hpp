// The records of the policy image as they lie in it, and the numbers that they use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tipstaff::gate {

constexpr char kImageMagic[9] = "TIPSGATE";
constexpr std::uint32_t kImageVersion = 8;
constexpr std::uint32_t kNothing = 0xffffffffu;
constexpr std::uint32_t kFlagBits = 128;
// Signs of words: see word_signs.hpp.
constexpr std::uint32_t kEndSigns = 8192, kSigns = 9216;

enum class Decision : std::uint32_t { allow, warn, confirm, block, uncertain, mark };
// evidence: what is lost is looked at, and kept; asks_for_losses and allows_proven are switches alone.
enum class Gate : std::uint32_t { destructive, allowlist, diff_size, secrets, evidence, asks_for_losses, allows_proven };
// whole: as gnu, and long options are never abbreviated; guessed: as whole, of a program that nothing is known of.
enum class OptionStyle : std::uint32_t { gnu, go, single, operands, powershell, slash, whole, guessed };
constexpr bool has_bundles(OptionStyle style) noexcept {
  return style == OptionStyle::gnu || style == OptionStyle::whole || style == OptionStyle::guessed;
}
// Added to the letter of an option whose value, where it has one, is in the same word: -Iseconds.
constexpr std::uint32_t kAttached = 128;
enum class GlobKind : std::uint32_t { literal, prefix, suffix, contains, general, anything };

enum class ConditionKind : std::uint32_t {
  subcommand,    // a: first sequence, b: sequences
  flags_any,     // a: mask
  flags_none,    // a: mask
  value,         // a: first glob, b: globs, c: mask
  first,         // a: first glob, b: globs (and so for the next ones)
  second,
  last,
  args_any,
  args_all,
  args_none,
  words_any,
  count,         // a: least, b: most
  paths,         // a: first selector, b: selectors, c: table of one row
  via_any,       // a: bits
  via_none,      // a: bits
  reads_from,    // a: first glob, b: globs of programs
  writes_to,
  inside,
  reads_paths,   // a: table of one row
  unknown_args,  // a: 1 or 0
  input,         // a: first glob, b: globs
  dialects,      // a: bits by Dialect
  patterns_all,  // a: first glob, b: globs
  writes_paths,  // a: table of one row
  patterns_none, // a: first glob, b: globs
  ends_with,     // a: first glob, b: globs
  fetches,       // a: first glob, b: globs of addresses
  unbuilt_none,  // a: first glob, b: globs
  built_some,    // a: first glob, b: globs
};
constexpr std::uint32_t kConditionKinds = 29;

enum class SelectorKind : std::uint32_t { args, first, last, rest, init, option, key, words, input };
constexpr std::uint32_t kSelectorKinds = 9;

constexpr std::uint32_t kTriggerBits = 64 + 2 * kFlagBits;

namespace mark {
constexpr std::uint32_t kReadsSecret = 1;
constexpr std::uint32_t kSends = 2;
constexpr std::uint32_t kRunsFile = 4;
}  // namespace mark

// The records as they lie in the image: numbers of 32 bits only.
namespace record {
struct Section { std::uint32_t offset, bytes; };
struct Text { std::uint32_t offset, bytes; };
struct Slot { std::uint32_t hash, name, spec; };  // name: text; kNothing where the slot is free
struct Spec {
  std::uint32_t style, flags, flag_count, short_count, buckets, bucket_count;
  std::uint32_t bucket_index, bucket_slots;  // where to find a bucket by its name
  std::uint32_t rules, rule_count;  // candidates where the first operand is none of the buckets'
  std::uint32_t values_any, values_before, harmless;  // masks
  std::uint32_t option_index, option_slots;  // where to find an option by its name
  std::uint32_t letters[4];  // bits of the one-letter options, without their highest bit
  std::uint32_t starts;      // the first two letters of the other options: a table
  std::uint32_t guard;       // of the candidates
};
// Of a program that no rule tells about.
inline constexpr Spec kPlainSpec{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, kNothing, kNothing, kNothing, 0, 0, {}, kNothing, kNothing};
// letter: of a one-letter option; of the others the first two letters' classes, by which they are sorted.
struct Flag { std::uint32_t name, bit, letter, hash; };
struct Bucket { std::uint32_t hash, name, rules, rule_count, values, harmless, guard; };
// What must be there for some candidates of a guard to be tried, as bits of these; all from the 32nd on have the last one.
// what: the number of a bit, after one another those of the facts, of how a command is run, of the options that are
// there, and of those whose value is.
struct Trigger { std::uint32_t what, candidates; };
// What tells which of some candidates may hold: those that are always tried, and those with a trigger or a sign that is
// met; see tipstaff.gates.image.triggers, where the bits of facts are. facts, via: of all triggers.
// The signs are sorted, those of letter pairs last, and after all of them the bits of the candidates that each is of,
// then the letters of each pair. Two tables tell from two letters of a word that none of the signs is there: by the first
// two letters, and by the last two for signs of ends alone. first_signs: the lowest six bits of the first signs, as bits.
// Of the options that triggers ask for: starts, the first two letters of their names; letters, those of one letter as bits
// without their highest one (`--` alone counts as the letter `-`); names, where the texts of the names in starts lie
// among the signs.
struct Guard {
  std::uint32_t always, facts, via, triggers, trigger_count;
  std::uint32_t signs, pairs_from, sign_count, firsts, lasts, first_signs[2];
  std::uint32_t asks, starts, letters[4], names, name_count;
};
// For each class of one letter, bits of the other's.
struct Letters { std::uint32_t second[32]; };
struct Instance { std::uint32_t rule, base, any, any_count, unless, unless_count, table, selectors, selector_count, missing; };
struct Group { std::uint32_t first, count; };
struct Condition { std::uint32_t kind, a, b, c; };
// least: the shortest text that can match; edge: its first letter (last, of a suffix), 0 for any.
// letters: the classes of letters that every match has, as bits.
// `letters` and `pairs`: what every text has that it matches, as bits of letters and of letters side by side.
struct Glob {
  std::uint32_t kind, text, least, edge, letters, pairs[2];
  constexpr std::uint64_t all_pairs() const noexcept { return pairs[0] | std::uint64_t{pairs[1]} << 32; }
};
struct Mask { std::uint32_t bits[4]; };
struct Sequence { std::uint32_t first, count; };
struct Rule { std::uint32_t id, pack, reason, safer, severity, decision, marks, because, former; };
struct Table { std::uint32_t first, count; };
struct Row { std::uint32_t decision, first, count; };
struct Term { std::uint32_t require, forbid; };
struct Selector { std::uint32_t kind, mask, text, strip; };
struct Config {
  std::uint32_t switches;  // bits by Gate
  std::uint32_t diff_lines, run_diff_lines;
  std::uint32_t uncertain_interactive, uncertain_unattended, on_error;
  std::uint32_t undo_mb, undo_files, undo_wait_ms, undo_free_mb;  // what is kept of one call at most, and what stays free
};
}  // namespace record

enum class SectionKind : std::uint32_t {
  strings, texts, slots, specs, flags, buckets, candidates, instances, groups, conditions, globs, masks, sequences,
  rules, tables, rows, terms, selectors, config, allowlist, secrets, shared, triggers, signs, indexes, guards,
  letters,
};
constexpr std::uint32_t kSectionCount = 27;

}  // namespace tipstaff::gate
