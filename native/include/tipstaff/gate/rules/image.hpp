// The policy image: every rule and setting of the gates in one flat block of little-endian bytes.
//
// It is written by tipstaff.gates.image.policy_image and may be mapped from a file. open_image() trusts nothing: it
// checks the checksum and then every index and range in it, once; afterwards reading it needs no check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/name_hash.hpp"
#include <type_traits>

namespace tipstaff::gate {

constexpr char kImageMagic[9] = "TIPSGATE";
constexpr std::uint32_t kImageVersion = 5;
constexpr std::uint32_t kNothing = 0xffffffffu;
constexpr std::uint32_t kFlagBits = 128;
// Signs of words: see word_signs.hpp.
constexpr std::uint32_t kEndSigns = 8192, kSigns = 9216;

enum class Decision : std::uint32_t { allow, warn, confirm, block, uncertain, mark };
enum class Gate : std::uint32_t { destructive, allowlist, diff_size, secrets };
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
};
constexpr std::uint32_t kConditionKinds = 26;

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
  std::uint32_t rules, rule_count;  // candidates where the first operand is none of the buckets'
  std::uint32_t values_any, values_before, harmless;  // masks
  std::uint32_t options, option_slots;  // where to find an option by its name
  std::uint32_t letters[4];  // bits of the one-letter options, without their highest bit
  std::uint32_t starts;      // the first two letters of the other options: a table
  std::uint32_t guard;       // of the candidates
};
// Of a program that no rule tells about.
inline constexpr Spec kPlainSpec{0, 0, 0, 0, 0, 0, 0, 0, kNothing, kNothing, kNothing, 0, 0, {}, kNothing, kNothing};
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
struct Glob { std::uint32_t kind, text, least, edge, letters; };
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
};
}  // namespace record

enum class SectionKind : std::uint32_t {
  strings, texts, slots, specs, flags, buckets, candidates, instances, groups, conditions, globs, masks, sequences,
  rules, tables, rows, terms, selectors, config, allowlist, secrets, shared, triggers, signs, options, guards,
  letters,
};
constexpr std::uint32_t kSectionCount = 27;

enum class ImageFault : std::uint32_t { none, too_short, magic, version, length, checksum, section, content, alignment };

inline std::uint64_t image_checksum(const unsigned char* data, std::size_t bytes) noexcept {
  std::uint64_t sum = 0x243f6a8885a308d3u ^ bytes;
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, bytes - at < 8 ? bytes - at : 8);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  }
  return sum;
}

// A view of a checked image; the bytes must outlive it and must not change.
class Image {
 public:
  template <typename T>
  struct List {
    const T* items = nullptr;
    std::uint32_t count = 0;
    const T& operator[](std::uint32_t index) const noexcept { return items[index]; }
  };

  List<record::Text> texts;
  List<record::Slot> slots;
  List<record::Spec> specs;
  List<record::Flag> flags;
  List<record::Bucket> buckets;
  List<std::uint32_t> candidates;  // instances: rules that may hold
  List<record::Instance> instances;
  List<record::Group> groups;
  List<record::Condition> conditions;
  List<record::Glob> globs;
  List<record::Mask> masks;
  List<record::Sequence> sequences;
  List<record::Rule> rules;
  List<record::Table> tables;
  List<record::Row> rows;
  List<record::Term> terms;
  List<record::Selector> selectors;
  List<std::uint32_t> allowlist;  // texts
  List<std::uint32_t> shared;      // of rules that look at every program
  List<record::Trigger> triggers;
  List<std::uint32_t> signs;    // two signs each, of word_signs.hpp: the upper and the lower half
  List<std::uint32_t> options;  // places of a table by hash: the option's index among the program's, or kNothing
  List<record::Guard> guards;
  List<record::Letters> letters;
  record::Config config{};
  const record::Spec* other = nullptr;  // of programs that no rule names: those of the program "@other"
  std::string_view secrets;  // the secret scanner's own table

  std::string_view text(std::uint32_t index) const noexcept {
    return {strings_ + texts[index].offset, texts[index].bytes};
  }

  // Returns the program's slot, or null: most programs have no rule.
  const record::Spec* find(std::string_view program) const noexcept { return find(program, hash_name(program)); }
  const record::Spec* find(std::string_view program, std::uint32_t hash) const noexcept {
    if (slots.count == 0) return nullptr;
    const std::uint32_t last = slots.count - 1;
    for (std::uint32_t at = hash & last;; at = (at + 1) & last) {
      const record::Slot& slot = slots[at];
      if (slot.name == kNothing) return nullptr;
      if (slot.hash == hash && ascii::same_bytes(text(slot.name), program)) return &specs[slot.spec];
    }
  }
  // The same, and for a program that no rule names what looks at those; never for pseudo programs.
  const record::Spec* find_any(std::string_view program, std::uint32_t hash) const noexcept {
    const record::Spec* const found = find(program, hash);
    return found != nullptr || program.empty() || program[0] == '@' ? found : other;
  }

  // What the first operand of a program's command enters, or null.
  const record::Bucket* bucket(const record::Spec& spec, std::string_view operand, std::uint32_t hash) const noexcept {
    if (spec.bucket_count == 0) return nullptr;
    const std::uint32_t last = spec.bucket_count - 1;
    for (std::uint32_t at = hash & last;; at = (at + 1) & last) {
      const record::Bucket& found = buckets[spec.buckets + at];
      if (found.name == kNothing) return nullptr;
      if (found.hash != hash) continue;
      if (ascii::same_bytes(operand, text(found.name)) || ascii::equals(operand, text(found.name))) return &found;
    }
  }

  friend ImageFault open_image(const unsigned char* data, std::size_t bytes, Image* image, bool known) noexcept;

 private:
  const char* strings_ = nullptr;
  std::uint32_t string_bytes_ = 0;

  static bool within(std::uint32_t first, std::uint32_t count, std::uint32_t size) noexcept {
    return first <= size && count <= size - first;
  }
  bool optional_text(std::uint32_t index) const noexcept { return index == kNothing || index < texts.count; }
  bool optional_mask(std::uint32_t index) const noexcept { return index == kNothing || index < masks.count; }
  bool globs_within(std::uint32_t first, std::uint32_t count) const noexcept { return within(first, count, globs.count); }
  bool power_of_two(std::uint32_t count) const noexcept { return (count & (count - 1)) == 0; }
  bool rules_within(std::uint32_t first, std::uint32_t count) const noexcept {
    return within(first, count, candidates.count);
  }
  bool condition_holds(const record::Condition& c) const noexcept {
    switch (static_cast<ConditionKind>(c.kind)) {
      case ConditionKind::subcommand: return within(c.a, c.b, sequences.count);
      case ConditionKind::flags_any:
      case ConditionKind::flags_none: return c.a < masks.count;
      case ConditionKind::value: return globs_within(c.a, c.b) && c.c < masks.count;
      case ConditionKind::count:
      case ConditionKind::via_any:
      case ConditionKind::via_none:
      case ConditionKind::unknown_args:
      case ConditionKind::dialects: return true;
      case ConditionKind::paths: return within(c.a, c.b, selectors.count) && c.c < tables.count;
      case ConditionKind::writes_paths:
      case ConditionKind::reads_paths: return c.a < tables.count;
      case ConditionKind::first:
      case ConditionKind::second:
      case ConditionKind::last:
      case ConditionKind::args_any:
      case ConditionKind::args_all:
      case ConditionKind::args_none:
      case ConditionKind::patterns_all:
      case ConditionKind::patterns_none:
      case ConditionKind::ends_with:
      case ConditionKind::words_any:
      case ConditionKind::reads_from:
      case ConditionKind::writes_to:
      case ConditionKind::inside:
      case ConditionKind::input: return globs_within(c.a, c.b);
    }
    return false;
  }
  static bool optional(std::uint32_t index, std::uint32_t count) noexcept { return index == kNothing || index < count; }
  bool signs_hold(const record::Guard& g) const noexcept {
    if (g.sign_count > signs.count / 2 || g.pairs_from > g.sign_count) return false;
    if (!within(g.signs, 3 * g.sign_count - g.pairs_from, signs.count)) return false;
    for (std::uint32_t s = 0; s < g.sign_count; ++s) {
      const std::uint32_t limit = s < g.pairs_from ? kEndSigns : kSigns, packed = signs[g.signs + s];
      if ((packed & 0xffff) >= limit || packed >> 16 >= limit) return false;
    }
    if (!within(g.names, g.name_count, signs.count)) return false;
    for (std::uint32_t i = 0; i < g.name_count; ++i)
      if (signs[g.names + i] >= texts.count) return false;
    return optional(g.firsts, letters.count) && optional(g.lasts, letters.count) && optional(g.starts, letters.count);
  }
  bool options_hold(const record::Spec& s) const noexcept {
    if (!within(s.options, s.option_slots, options.count) || !power_of_two(s.option_slots)) return false;
    bool free_slot = s.option_slots == 0;
    for (std::uint32_t i = 0; i < s.option_slots; ++i) {
      const std::uint32_t option = options[s.options + i];
      if (option == kNothing) free_slot = true;
      else if (option >= s.flag_count) return false;
    }
    return free_slot;
  }
  // Checks every index and range; the sections themselves lie inside the image by now.
  bool holds() const noexcept {
    for (std::uint32_t i = 0; i < texts.count; ++i)
      if (!within(texts[i].offset, texts[i].bytes, string_bytes_)) return false;
    bool free_slot = slots.count == 0;
    if (!power_of_two(slots.count)) return false;
    for (std::uint32_t i = 0; i < slots.count; ++i) {
      if (slots[i].name == kNothing) free_slot = true;
      else if (slots[i].name >= texts.count || slots[i].spec >= specs.count) return false;
    }
    if (!free_slot) return false;  // a search must end
    for (std::uint32_t i = 0; i < specs.count; ++i) {
      const record::Spec& s = specs[i];
      if (s.style > static_cast<std::uint32_t>(OptionStyle::guessed)) return false;
      if (!within(s.flags, s.flag_count, flags.count) || s.short_count > s.flag_count) return false;
      if (!within(s.buckets, s.bucket_count, buckets.count) || !power_of_two(s.bucket_count)) return false;
      bool free_bucket = s.bucket_count == 0;
      for (std::uint32_t b = 0; b < s.bucket_count; ++b) free_bucket |= buckets[s.buckets + b].name == kNothing;
      if (!free_bucket || !options_hold(s)) return false;
      if (!rules_within(s.rules, s.rule_count)) return false;
      if (!optional(s.guard, guards.count) || !optional(s.starts, letters.count)) return false;
      if (!optional_mask(s.values_any) || !optional_mask(s.values_before) || !optional_mask(s.harmless)) return false;
    }
    for (std::uint32_t i = 0; i < flags.count; ++i)
      if (flags[i].name >= texts.count || flags[i].bit >= kFlagBits || flags[i].letter > 1023) return false;
    for (std::uint32_t i = 0; i < buckets.count; ++i) {
      const record::Bucket& b = buckets[i];
      if (b.name == kNothing) continue;
      if (b.name >= texts.count || !rules_within(b.rules, b.rule_count)) return false;
      if (!optional_mask(b.values) || !optional_mask(b.harmless) || !optional(b.guard, guards.count)) return false;
    }
    for (const List<std::uint32_t>* list : {&candidates, &shared})
      for (std::uint32_t i = 0; i < list->count; ++i)
        if ((*list)[i] >= instances.count) return false;
    for (std::uint32_t i = 0; i < triggers.count; ++i)
      if (triggers[i].what >= kTriggerBits) return false;
    for (std::uint32_t i = 0; i < guards.count; ++i)
      if (!within(guards[i].triggers, guards[i].trigger_count, triggers.count) || !signs_hold(guards[i])) return false;
    for (std::uint32_t i = 0; i < instances.count; ++i) {
      const record::Instance& n = instances[i];
      if (n.rule >= rules.count || n.base >= groups.count) return false;
      if (!within(n.any, n.any_count, groups.count) || !within(n.unless, n.unless_count, groups.count)) return false;
      if (n.table != kNothing && n.table >= tables.count) return false;
      if (!within(n.selectors, n.selector_count, selectors.count) || !optional_text(n.missing)) return false;
    }
    for (std::uint32_t i = 0; i < groups.count; ++i)
      if (!within(groups[i].first, groups[i].count, conditions.count)) return false;
    for (std::uint32_t i = 0; i < conditions.count; ++i)
      if (conditions[i].kind >= kConditionKinds || !condition_holds(conditions[i])) return false;
    for (std::uint32_t i = 0; i < globs.count; ++i)
      if (globs[i].kind > static_cast<std::uint32_t>(GlobKind::anything) || globs[i].text >= texts.count) return false;
    for (std::uint32_t i = 0; i < sequences.count; ++i)
      if (!globs_within(sequences[i].first, sequences[i].count)) return false;
    for (std::uint32_t i = 0; i < rules.count; ++i) {
      const record::Rule& r = rules[i];
      if (r.id >= texts.count || r.pack >= texts.count || r.reason >= texts.count || r.safer >= texts.count) return false;
      if (r.severity > 3 || r.decision > static_cast<std::uint32_t>(Decision::mark)) return false;
      if (!optional_text(r.because) || r.former > static_cast<std::uint32_t>(Decision::mark)) return false;
    }
    for (std::uint32_t i = 0; i < tables.count; ++i)
      if (!within(tables[i].first, tables[i].count, rows.count)) return false;
    for (std::uint32_t i = 0; i < rows.count; ++i)
      if (rows[i].decision > static_cast<std::uint32_t>(Decision::mark) || !within(rows[i].first, rows[i].count, terms.count))
        return false;
    for (std::uint32_t i = 0; i < selectors.count; ++i) {
      const record::Selector& s = selectors[i];
      if (s.kind >= kSelectorKinds || s.strip > 127) return false;
      if (s.kind == static_cast<std::uint32_t>(SelectorKind::option) && s.mask >= masks.count) return false;
      if (s.kind == static_cast<std::uint32_t>(SelectorKind::key) && s.text >= texts.count) return false;
    }
    for (std::uint32_t i = 0; i < allowlist.count; ++i)
      if (allowlist[i] >= texts.count) return false;
    constexpr auto kWorst = static_cast<std::uint32_t>(Decision::block);
    return config.uncertain_interactive <= kWorst && config.uncertain_unattended <= kWorst && config.on_error <= kWorst;
  }
};

// Checks `bytes` at `data` (aligned to 4) and fills `image`, which is left as it was where a fault is returned.
// `known`: somebody has checked these very bytes before and vouches for them (a program's own image, a file whose
// checksum was made after such a check); then only their outline is looked at.
inline ImageFault open_image(const unsigned char* data, std::size_t bytes, Image* image, bool known = false) noexcept {
  constexpr std::size_t kHeader = 32 + kSectionCount * sizeof(record::Section);
  if (data == nullptr || bytes < kHeader) return ImageFault::too_short;
  if (reinterpret_cast<std::uintptr_t>(data) % 4 != 0) return ImageFault::alignment;
  if (std::memcmp(data, kImageMagic, 8) != 0) return ImageFault::magic;
  std::uint32_t version = 0, length = 0, sections = 0;
  std::uint64_t checksum = 0;
  std::memcpy(&version, data + 8, 4);
  std::memcpy(&length, data + 12, 4);
  std::memcpy(&checksum, data + 16, 8);
  std::memcpy(&sections, data + 24, 4);
  if (version != kImageVersion) return ImageFault::version;
  if (length != bytes || sections != kSectionCount) return ImageFault::length;
  if (!known && image_checksum(data + 24, bytes - 24) != checksum) return ImageFault::checksum;
  record::Section table[kSectionCount];
  std::memcpy(table, data + 32, sizeof table);
  for (const record::Section& s : table)
    if (s.offset % 4 != 0 || s.offset < kHeader || s.offset > bytes || s.bytes > bytes - s.offset) return ImageFault::section;

  Image opened;
  bool whole = true;
  const auto list = [&](SectionKind kind, auto* out) noexcept {
    using Item = typename std::remove_pointer<decltype(out->items)>::type;
    const record::Section& s = table[static_cast<std::uint32_t>(kind)];
    if (s.bytes % sizeof(Item) != 0) whole = false;
    out->items = reinterpret_cast<const Item*>(data + s.offset);
    out->count = static_cast<std::uint32_t>(s.bytes / sizeof(Item));
  };
  const record::Section& strings = table[static_cast<std::uint32_t>(SectionKind::strings)];
  opened.strings_ = reinterpret_cast<const char*>(data + strings.offset);
  opened.string_bytes_ = strings.bytes;
  list(SectionKind::texts, &opened.texts);
  list(SectionKind::slots, &opened.slots);
  list(SectionKind::specs, &opened.specs);
  list(SectionKind::flags, &opened.flags);
  list(SectionKind::buckets, &opened.buckets);
  list(SectionKind::candidates, &opened.candidates);
  list(SectionKind::instances, &opened.instances);
  list(SectionKind::groups, &opened.groups);
  list(SectionKind::conditions, &opened.conditions);
  list(SectionKind::globs, &opened.globs);
  list(SectionKind::masks, &opened.masks);
  list(SectionKind::sequences, &opened.sequences);
  list(SectionKind::rules, &opened.rules);
  list(SectionKind::tables, &opened.tables);
  list(SectionKind::rows, &opened.rows);
  list(SectionKind::terms, &opened.terms);
  list(SectionKind::selectors, &opened.selectors);
  list(SectionKind::allowlist, &opened.allowlist);
  list(SectionKind::shared, &opened.shared);
  list(SectionKind::triggers, &opened.triggers);
  list(SectionKind::signs, &opened.signs);
  list(SectionKind::options, &opened.options);
  list(SectionKind::guards, &opened.guards);
  list(SectionKind::letters, &opened.letters);
  const record::Section& config = table[static_cast<std::uint32_t>(SectionKind::config)];
  if (!whole || config.bytes != sizeof(record::Config)) return ImageFault::section;
  std::memcpy(&opened.config, data + config.offset, sizeof(record::Config));
  const record::Section& secrets = table[static_cast<std::uint32_t>(SectionKind::secrets)];
  opened.secrets = {reinterpret_cast<const char*>(data + secrets.offset), secrets.bytes};
  if (!known && !opened.holds()) return ImageFault::content;
  opened.other = opened.find("@other");
  *image = opened;
  return ImageFault::none;
}

}  // namespace tipstaff::gate
