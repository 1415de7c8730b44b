// Opens a policy image. open_image() trusts nothing: it checks the checksum and then every index and range, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "tipstaff/gate/rules/image.hpp"

namespace tipstaff::gate {

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

// Checks every index and range of an image whose sections lie inside it.
class ImageChecker : private Image {
 public:
  explicit ImageChecker(const Image& image) noexcept : Image(image) {}

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
      if (!within(s.buckets, s.bucket_count, buckets.count)) return false;
      if (!index_holds(s.bucket_index, s.bucket_slots, s.bucket_count) || !index_holds(s.option_index, s.option_slots, s.flag_count))
        return false;
      if (!rules_within(s.rules, s.rule_count)) return false;
      if (!optional(s.guard, guards.count) || !optional(s.starts, letters.count)) return false;
      if (!optional_mask(s.values_any) || !optional_mask(s.values_before) || !optional_mask(s.harmless)) return false;
    }
    for (std::uint32_t i = 0; i < flags.count; ++i)
      if (flags[i].name >= texts.count || flags[i].bit >= kFlagBits || flags[i].letter > 1023) return false;
    for (std::uint32_t i = 0; i < buckets.count; ++i) {
      const record::Bucket& b = buckets[i];
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
 private:
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
      case ConditionKind::unbuilt_none:
      case ConditionKind::built_some:
      case ConditionKind::ends_with:
      case ConditionKind::words_any:
      case ConditionKind::reads_from:
      case ConditionKind::writes_to:
      case ConditionKind::inside:
      case ConditionKind::fetches:
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
  bool index_holds(std::uint32_t first, std::uint32_t slots, std::uint32_t count) const noexcept {
    if (!within(first, slots, indexes.count) || !power_of_two(slots)) return false;
    bool free_slot = slots == 0;  // a search must end
    for (std::uint32_t i = 0; i < slots; ++i) {
      const std::uint32_t index = indexes[first + i];
      if (index == kNothing) free_slot = true;
      else if (index >= count) return false;
    }
    return free_slot;
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
  list(SectionKind::indexes, &opened.indexes);
  list(SectionKind::guards, &opened.guards);
  list(SectionKind::letters, &opened.letters);
  const record::Section& config = table[static_cast<std::uint32_t>(SectionKind::config)];
  if (!whole || config.bytes != sizeof(record::Config)) return ImageFault::section;
  std::memcpy(&opened.config, data + config.offset, sizeof(record::Config));
  const record::Section& secrets = table[static_cast<std::uint32_t>(SectionKind::secrets)];
  opened.secrets = {reinterpret_cast<const char*>(data + secrets.offset), secrets.bytes};
  if (!known && !ImageChecker(opened).holds()) return ImageFault::content;
  opened.other = opened.find("@other");
  *image = opened;
  return ImageFault::none;
}

}  // namespace tipstaff::gate
