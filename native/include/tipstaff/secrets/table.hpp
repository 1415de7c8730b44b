// The table of rules that the secrets scanner runs on, laid over bytes and checked once.
#ifndef TIPSTAFF_SECRETS_TABLE_HPP
#define TIPSTAFF_SECRETS_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/text/literals.hpp"
#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

enum class Fault : int { none = 0, too_short, magic, version, size, section, rule, anchor, code, checksum };

inline constexpr std::size_t header_bytes = 128;
inline constexpr std::size_t rule_bytes = 48;
inline constexpr std::size_t anchor_bytes = 40;
inline constexpr std::size_t anchor_checks = 3;
// Of classes that a byte names; what is looked up at anchors is named by two.
inline constexpr std::uint32_t no_class = 255;
inline constexpr std::uint32_t most_classes = 0x10000;
inline constexpr std::uint32_t no_anchor = 0xFFFF;

enum Kind : Byte { kind_shape = 0, kind_assign, kind_url, kind_pem };
enum Flag : std::uint32_t { flag_wary = 1, flag_repeats_fine = 2, flag_anywhere = 4, flag_named = 8, flag_no_stops = 16 };
enum Code : Byte { code_end = 0, code_literal, code_folded, code_class, code_choice, code_option, code_open, code_close };

struct Rule {
  const Byte* code;
  std::uint32_t code_size;
  std::uint32_t flags;
  std::uint32_t entropy;
  std::uint32_t context;
  Byte kind, show, left, right, need, severity, checksum, judge, check, priority;
};

class Table {
 public:
  // Lays a table over bytes, all of which are looked at once: what is open leads nowhere outside. `known`: somebody has
  // looked at these very bytes before and vouches for them; then only their outline is looked at.
  static Fault open(const Byte* data, std::size_t size, Table* out, bool known = false) noexcept {
    static constexpr Byte magic[8] = {0x89, 'T', 'S', 'S', '\r', '\n', 0x1A, '\n'};
    if (size < header_bytes) return Fault::too_short;
    if (std::memcmp(data, magic, sizeof magic) != 0) return Fault::magic;
    if (load32(data + 8) != 4) return Fault::version;
    if (load32(data + 12) != size) return Fault::size;
    static constexpr std::uint32_t widths[7] = {rule_bytes, anchor_bytes, 32, 1, 1, 8, 514};
    std::uint64_t counts[7];
    const Byte* sections[11];
    for (int i = 0; i < 11; ++i) {
      std::uint64_t bytes = 0;
      std::uint64_t offset = 0;
      if (i < 7) {
        counts[i] = load32(data + 16 + 8 * i);
        offset = load32(data + 20 + 8 * i);
        bytes = counts[i] * widths[i];
      } else {
        static constexpr std::uint32_t fixed[4] = {2 * literal_heads, literal_groups * literal_window * 64,
                                                   4 * log_count, sieve_bytes};
        offset = load32(data + 72 + 4 * (i - 7));
        bytes = fixed[i - 7];
      }
      if (offset < header_bytes || offset > size || bytes > size - offset) return Fault::section;
      sections[i] = data + offset;
    }
    out->rules_ = sections[0];
    out->anchors_ = sections[1];
    out->classes_ = sections[2];
    out->codes_ = sections[3];
    out->known_ = {sections[6], sections[5], sections[4], sections[9]};
    out->windows_ = {sections[7], sections[8], sections[10]};
    out->n_rules_ = static_cast<std::uint32_t>(counts[0]);
    out->n_anchors_ = static_cast<std::uint32_t>(counts[1]);
    out->n_classes_ = static_cast<std::uint32_t>(counts[2]);
    if (counts[0] == 0 || counts[0] >= no_anchor || counts[1] >= no_anchor || counts[2] > most_classes) return Fault::rule;
    if (counts[6] < fixed_lists) return Fault::section;
    return known ? Fault::none : out->check(counts[3], counts[4], counts[5], static_cast<std::uint32_t>(counts[6]));
  }

  std::uint32_t rule_count() const noexcept { return n_rules_; }
  const LiteralWindows& windows() const noexcept { return windows_; }
  const Knowledge& known() const noexcept { return known_; }

  Rule rule(std::uint32_t number) const noexcept {
    const Byte* x = rules_ + rule_bytes * number;
    return {codes_ + load32(x + 8), load16(x + 12), load16(x + 16), load32(x + 20), load16(x + 28),
            x[6], x[7], x[14], x[15], x[18], x[19], x[24], x[25], x[26], x[27]};
  }
  Byte rule_kind(std::uint32_t number) const noexcept { return rules_[rule_bytes * number + 6]; }
  std::uint32_t rule_flags(std::uint32_t number) const noexcept { return load16(rules_ + rule_bytes * number + 16); }
  // The rule's id.
  Bytes rule_name(std::uint32_t number) const noexcept {
    const Byte* x = rules_ + rule_bytes * number;
    return {known_.names + load32(x), load16(x + 4)};
  }
  bool in_class(std::uint32_t number, Byte byte) const noexcept {
    return (classes_[32 * number + (byte >> 3)] >> (byte & 7) & 1) != 0;
  }
  const Byte* anchor(std::uint32_t number) const noexcept { return anchors_ + anchor_bytes * number; }

 private:
  Fault check(std::uint64_t code_size, std::uint64_t names_size, std::uint64_t n_words,
              std::uint32_t n_lists) const noexcept {
    for (std::uint32_t i = 0; i < n_rules_; ++i) {
      const Byte* x = rules_ + rule_bytes * i;
      if (std::uint64_t{load32(x)} + load16(x + 4) > names_size) return Fault::rule;
      const std::uint64_t start = load32(x + 8);
      const std::uint64_t length = load16(x + 12);
      if (start + length > code_size) return Fault::rule;
      if (x[6] > kind_pem || (x[14] != no_class && x[14] >= n_classes_) || (x[15] != no_class && x[15] >= n_classes_) ||
          load16(x + 28) > n_lists) {
        return Fault::rule;
      }
      if (!code_holds(codes_ + start, static_cast<std::size_t>(length), 0)) return Fault::code;
      if (x[6] == kind_shape && length == 0) return Fault::code;
    }
    for (std::uint32_t i = 0; i < n_anchors_; ++i) {
      const Byte* x = anchor(i);
      if (std::uint64_t{load32(x + 16)} + x[20] > names_size || x[20] < 3 || load16(x + 26) >= n_rules_) {
        return Fault::anchor;
      }
      if (x[22] != no_class && x[22] >= n_classes_) return Fault::anchor;
      for (std::size_t check = 0; check < anchor_checks; ++check) {
        if (x[30 + check] != 0 && load16(x + 34 + 2 * check) >= n_classes_) return Fault::anchor;
      }
      // Chains lead to higher numbers alone: each ends.
      const std::uint32_t next = load16(x + 28);
      if (next != no_anchor && (next <= i || next >= n_anchors_)) return Fault::anchor;
    }
    for (std::uint32_t i = 0; i < literal_heads; ++i) {
      const std::uint32_t head = literal_head(windows_, i);
      if (head != no_anchor && head >= n_anchors_) return Fault::anchor;
    }
    for (std::uint64_t i = 0; i < n_words; ++i) {
      const Byte* x = known_.words + 8 * i;
      if (load16(x + 4) == 0 || std::uint64_t{load32(x)} + load16(x + 4) > names_size) return Fault::section;
    }
    for (std::uint32_t i = 0; i < n_lists; ++i) {
      const Words words = known_.list(i);
      for (std::uint32_t byte = 0; byte < 256; ++byte) {
        if (words.first(byte) > words.first(byte + 1)) return Fault::section;
      }
      if (words.first(256) > n_words) return Fault::section;
    }
    return Fault::none;
  }

  bool code_holds(const Byte* code, std::size_t size, int depth) const noexcept {
    if (depth > 8) return false;
    std::size_t at = 0;
    while (at < size) {
      const std::size_t left = size - at;
      switch (code[at]) {
        case code_literal:
        case code_folded:
          if (left < 2 || left - 2 < code[at + 1]) return false;
          at += 2 + std::size_t{code[at + 1]};
          break;
        case code_class:
          if (left < 6 || code[at + 1] >= n_classes_ || load16(code + at + 2) > load16(code + at + 4)) return false;
          at += 6;
          break;
        case code_open:
        case code_close:
          if (depth != 0) return false;
          ++at;
          break;
        case code_option: {
          if (left < 3) return false;
          const std::size_t inner = load16(code + at + 1);
          if (left - 3 < inner || !code_holds(code + at + 3, inner, depth + 1)) return false;
          at += 3 + inner;
          break;
        }
        case code_choice: {
          if (left < 4) return false;
          const std::size_t whole = load16(code + at + 2);
          if (left - 4 < whole) return false;
          const std::size_t end = at + 4 + whole;
          at += 4;
          for (int i = 0, n = code[at - 3]; i < n; ++i) {
            if (end - at < 2) return false;
            const std::size_t inner = load16(code + at);
            if (end - at - 2 < inner || !code_holds(code + at + 2, inner, depth + 1)) return false;
            at += 2 + inner;
          }
          if (at != end) return false;
          break;
        }
        default: return false;
      }
    }
    return true;
  }

  const Byte* rules_ = nullptr;
  const Byte* anchors_ = nullptr;
  const Byte* classes_ = nullptr;
  const Byte* codes_ = nullptr;
  Knowledge known_ = {};
  LiteralWindows windows_ = {};
  std::uint32_t n_rules_ = 0;
  std::uint32_t n_anchors_ = 0;
  std::uint32_t n_classes_ = 0;
};

}  // namespace tipstaff::secrets

#endif
