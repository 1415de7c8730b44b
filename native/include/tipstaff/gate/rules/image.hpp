// The policy image: every rule and setting of the gates in one flat block of little-endian bytes.
//
// It is written by tipstaff.gates.image.policy_image and may be mapped from a file. open_image() (open_image.hpp) checks
// it once; afterwards reading it needs no check.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/rules/image_records.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/name_hash.hpp"

namespace tipstaff::gate {

enum class ImageFault : std::uint32_t { none, too_short, magic, version, length, checksum, section, content, alignment };

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
  List<std::uint32_t> indexes;  // hash tables: a name's index among the program's options or buckets, or kNothing
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
    if (spec.bucket_slots == 0) return nullptr;
    const std::uint32_t last = spec.bucket_slots - 1;
    for (std::uint32_t at = hash & last;; at = (at + 1) & last) {
      const std::uint32_t index = indexes[spec.bucket_index + at];
      if (index == kNothing) return nullptr;
      const record::Bucket& found = buckets[spec.buckets + index];
      if (found.hash != hash) continue;
      if (ascii::same_bytes(operand, text(found.name)) || ascii::equals(operand, text(found.name))) return &found;
    }
  }

  friend ImageFault open_image(const unsigned char* data, std::size_t bytes, Image* image, bool known) noexcept;

 private:
  const char* strings_ = nullptr;
  std::uint32_t string_bytes_ = 0;

  friend class ImageChecker;
};

}  // namespace tipstaff::gate
