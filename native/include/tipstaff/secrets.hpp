// The secrets scanner: a table of rules, and one walk over a text.
//
// The table lies anywhere, in a file or a section of an image, and holds offsets alone;
// `tipstaff.kernels.plain_secrets` states its layout. Nothing here allocates, throws or keeps state.
//
//   Table table;
//   if (Table::open(bytes, size, &table) != Fault::none) ...
//   std::size_t found = scan(table, text, size, find_literals_portable, false, out, capacity);
//   if (found > capacity) ...   // once more with more room
//   found = resolve(out, found);
#ifndef TIPSTAFF_SECRETS_HPP
#define TIPSTAFF_SECRETS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/literals.hpp"
#include "tipstaff/secret_assignments.hpp"
#include "tipstaff/secret_encodings.hpp"
#include "tipstaff/secret_values.hpp"

namespace tipstaff::secrets {

// A secret in a text: bytes [start, end).
struct Finding {
  std::size_t start;
  std::size_t end;
  std::uint32_t rule;
  std::uint32_t priority;
};

enum class Fault : int { none = 0, too_short, magic, version, size, section, rule, anchor, code, checksum };

inline constexpr std::size_t header_bytes = 128;
inline constexpr std::size_t rule_bytes = 48;
inline constexpr std::size_t anchor_bytes = 36;
inline constexpr std::uint32_t no_class = 255;
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
    if (load32(data + 8) != 2) return Fault::version;
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
    if (counts[0] == 0 || counts[0] >= no_anchor || counts[1] >= no_anchor || counts[2] > no_class) return Fault::rule;
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
      // Chains go on to higher numbers alone: each ends.
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

// A match of a shape: where it ends, and the marks within.
struct Match {
  std::size_t end;
  std::size_t open;
  std::size_t close;
};

// The stretch of bytes of a class that was walked over last: of many that overlap, each byte is looked at once.
struct Run {
  std::uint32_t members;
  std::size_t start;
  std::size_t end;
};

inline constexpr std::size_t nowhere = ~std::size_t{0};

// Walks the codes from match->end, up to `limit`; false where they do not fit.
inline bool match_code(const Table& table, const Byte* code, std::size_t code_size, Bytes text, std::size_t limit,
                       Run* run, Match* match) noexcept {
  std::size_t at = 0;
  std::size_t place = match->end;
  while (at < code_size) {
    switch (code[at]) {
      case code_literal: {
        const std::size_t size = code[at + 1];
        if (limit - place < size || std::memcmp(text.data + place, code + at + 2, size) != 0) return false;
        place += size;
        at += 2 + size;
        break;
      }
      case code_folded: {
        const std::size_t size = code[at + 1];
        if (limit - place < size) return false;
        for (std::size_t i = 0; i < size; ++i) {
          if (lower(text[place + i]) != code[at + 2 + i]) return false;
        }
        place += size;
        at += 2 + size;
        break;
      }
      case code_class: {
        const std::uint32_t members = code[at + 1];
        const std::size_t least = load16(code + at + 2);
        const std::size_t most = load16(code + at + 4);
        const std::size_t end = most < limit - place ? place + most : limit;
        const std::size_t start = place;
        const bool walked = run->members == members && run->start <= place && place < run->end;
        if (walked) place = run->end < end ? run->end : end;
        while (place < end && table.in_class(members, text[place])) ++place;
        if (walked) {
          if (place > run->end) run->end = place;
        } else if (place - start > 64) {
          *run = {members, start, place};
        }
        if (place - start < least) return false;
        at += 6;
        break;
      }
      case code_open:
        match->open = place;
        ++at;
        break;
      case code_close:
        match->close = place;
        ++at;
        break;
      case code_option: {
        const std::size_t size = load16(code + at + 1);
        Match inner = {place, nowhere, nowhere};
        if (match_code(table, code + at + 3, size, text, limit, run, &inner)) place = inner.end;
        at += 3 + size;
        break;
      }
      default: {
        const std::size_t end = at + 4 + load16(code + at + 2);
        at += 4;
        bool fits = false;
        while (at < end && !fits) {
          const std::size_t size = load16(code + at);
          Match inner = {place, nowhere, nowhere};
          if (match_code(table, code + at + 2, size, text, limit, run, &inner)) {
            place = inner.end;
            fits = true;
          }
          at += 2 + size;
        }
        if (!fits) return false;
        at = end;
      }
    }
  }
  match->end = place;
  return true;
}

// Whether a letter or a digit before `at` ends an escape, and so is no part of the word behind it.
inline bool after_escape(Bytes text, std::size_t at) noexcept {
  if (at >= 2 && text[at - 2] == '\\' && one_of(text[at - 1], "nrtbfv")) return true;
  if (at < 3 || !is_hex(text[at - 1]) || !is_hex(text[at - 2])) return false;
  if (text[at - 3] == '%') return true;
  if (at >= 4 && text[at - 3] == 'x' && text[at - 4] == '\\') return true;
  return at >= 6 && is_hex(text[at - 3]) && is_hex(text[at - 4]) && text[at - 5] == 'u' && text[at - 6] == '\\';
}

inline std::uint32_t crc32_of(Bytes data) noexcept {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 0; i < data.size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

// Value of a digit as tokens count with them, 62 for none.
inline std::uint32_t base62_digit(Byte c) noexcept {
  if (is_digit(c)) return c - '0';
  if (is_upper(c)) return 10u + (c - 'A');
  if (is_lower(c)) return 36u + (c - 'a');
  return 62;
}

// 1: six base-62 digits at the end are the CRC-32 of what is between the first underscore and them;
// 2: eight hexadecimal digits behind the last underscore are that of all before it.
inline bool checksum_holds(Bytes token, Byte kind) noexcept {
  std::size_t sign = 0;
  if (kind == 1) {
    while (sign < token.size && token[sign] != '_') ++sign;
    const std::size_t start = sign < token.size ? sign + 1 : 0;
    if (token.size < start + 6) return false;
    std::uint64_t number = 0;
    for (std::size_t i = token.size - 6; i < token.size; ++i) {
      const std::uint32_t digit = base62_digit(token[i]);
      if (digit > 61) return false;
      number = number * 62 + digit;
    }
    return number == crc32_of(token.part(start, token.size - 6));
  }
  sign = token.size;
  while (sign > 0 && token[sign - 1] != '_') --sign;
  if (sign == 0 || token.size - sign != 8) return false;
  std::uint32_t number = 0;
  for (std::size_t i = sign; i < token.size; ++i) {
    const Byte c = static_cast<Byte>(token[i] | 0x20);
    if (!is_hex(token[i])) return false;
    number = number << 4 | static_cast<std::uint32_t>(is_digit(token[i]) ? c - '0' : c - 'a' + 10);
  }
  return number == crc32_of(token.part(0, sign - 1));
}

// Decodes base64 up to its first sign that is none, or `capacity` bytes; returns their number.
inline std::size_t decode_base64(Bytes data, Byte* out, std::size_t capacity) noexcept {
  std::size_t count = 0;
  std::uint32_t bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    std::uint32_t value;
    if (is_upper(c)) {
      value = c - 'A';
    } else if (is_lower(c)) {
      value = 26u + (c - 'a');
    } else if (is_digit(c)) {
      value = 52u + (c - '0');
    } else if (c == '+') {
      value = 62;
    } else if (c == '/') {
      value = 63;
    } else {
      break;
    }
    bits = bits << 6 | value;
    held += 6;
    if (held >= 8) {
      if (count == capacity) break;
      held -= 8;
      out[count++] = static_cast<Byte>(bits >> held);
      bits &= (1u << held) - 1;
    }
  }
  return count;
}

// Whether base64 says a name, a colon and a password that is no placeholder.
inline bool says_pair(Bytes secret, const Knowledge& known) noexcept {
  Byte buffer[320];
  const Bytes text = {buffer, decode_base64(secret.part(0, secret.size < 400 ? secret.size : 400), buffer, 320)};
  std::size_t colon = 0;
  while (colon < text.size && text[colon] != ':') ++colon;
  if (colon == text.size || text.size - colon - 1 < 4) return false;
  for (std::size_t i = 0; i < text.size; ++i) {
    if (text[i] < 0x20 || text[i] >= 0x7F) return false;
  }
  const Bytes password = text.part(colon + 1, text.size);
  return !is_template(password) && !is_repeated(password) && !known.list(placeholder).within(password) &&
         !known.list(known_passwords).equals(password);
}

inline constexpr std::size_t context_before = 200;
inline constexpr std::size_t context_behind = 64;

// Whether a secret of the right shape is one by what it is made of.
inline bool secret_holds(const Table& table, const Rule& rule, Bytes text, std::size_t start, std::size_t end,
                         bool wary) noexcept {
  const Knowledge& known = table.known();
  const Bytes secret = text.part(start, end);
  const Counts counts = counts_of(secret);
  if (((rule.need & 1) != 0 && counts.digit == 0) || ((rule.need & 2) != 0 && counts.upper == 0) ||
      ((rule.need & 4) != 0 && counts.lower == 0) || ((rule.need & 8) != 0 && counts.upper + counts.lower == 0)) {
    return false;
  }
  if (wary) {
    if (counts.distinct < 5) return false;
  } else {
    const Bytes behind = secret.part(least_of(rule.show, secret.size), secret.size);
    if ((rule.flags & flag_repeats_fine) == 0 && is_repeated(rule.show < secret.size ? behind : secret)) return false;
    if (!entropy_holds(behind, rule.entropy, known)) return false;
    if (rule.checksum != 0 && !checksum_holds(secret, rule.checksum)) return false;
  }
  if ((rule.flags & flag_no_stops) == 0 && known.list(wary ? obvious : placeholder).within(secret)) return false;
  if (rule.check == 1 && !says_pair(secret, known)) return false;
  if (rule.check == 2) {
    Byte buffer[90];
    const std::size_t size = decode_base64(secret.part(0, secret.size < 120 ? secret.size : 120), buffer, 90);
    if (!holds({buffer, size}, "PRIVATE KEY")) return false;
  }
  if (rule.context != 0) {
    const Words words = known.list(rule.context - 1);
    const std::size_t from = start > context_before ? start - context_before : 0;
    const std::size_t to = least_of(text.size, end + context_behind);
    if (!words.within(text.part(from, start)) && !words.within(text.part(end, to))) return false;
  }
  if (rule.judge != judge_none && rule.kind == kind_shape) {
    return judged(secret, {start, end, true, false, true, false}, rule.judge, known);
  }
  return true;
}

// Where the scan writes to.
struct Findings {
  Finding* out;
  std::size_t capacity;
  std::size_t count;
  // Where what is scanned was decoded from.
  const Stretch* source = nullptr;
  Run run = {no_class, 0, 0};

  void add(std::size_t start, std::size_t end, std::uint32_t rule, const Rule& record) noexcept {
    if (source != nullptr) {
      const bool placed = source->places != nullptr;
      end = placed ? source->start + source->places[end] : source->end;
      start = placed ? source->start + source->places[start] : source->start;
    }
    if (count < capacity) out[count] = {start, end, rule, record.priority};
    ++count;
  }
};

inline void try_shape(const Table& table, std::uint32_t number, const Rule& rule, const Byte* anchor, Bytes text,
                      std::size_t place, bool wary, Findings* findings) noexcept {
  std::size_t start = place;
  if (anchor[22] != no_class) {
    const std::size_t most = load16(anchor + 24);
    while (start > 0 && place - start < most && table.in_class(anchor[22], text[start - 1])) --start;
  } else {
    if (place < anchor[21]) return;
    start -= anchor[21];
  }
  if (rule.left != no_class && start > 0 && table.in_class(rule.left, text[start - 1]) && !after_escape(text, start)) {
    return;
  }
  Match match = {start, nowhere, nowhere};
  if (!match_code(table, rule.code, rule.code_size, text, text.size, &findings->run, &match)) return;
  if (rule.right != no_class && match.end < text.size && table.in_class(rule.right, text[match.end])) return;
  const bool marked = match.open != nowhere && match.close != nowhere;
  const std::size_t from = marked ? match.open : start;
  const std::size_t to = marked ? match.close : match.end;
  if (from < to && secret_holds(table, rule, text, from, to, wary)) findings->add(from, to, number, rule);
}

inline void try_assignment(const Table& table, std::uint32_t number, const Rule& rule, Bytes text, std::size_t start,
                           std::size_t end, bool wary, Findings* findings) noexcept {
  const Knowledge& known = table.known();
  const bool named = (rule.flags & flag_named) != 0;
  Value value;
  if (!assignment(text, start, end, (rule.flags & flag_anywhere) != 0, named, known, &value)) return;
  if (named && !known.list(secret_names).within(text.part(name_start(text, start), name_end(text, end)))) return;
  std::size_t stop = value.end;
  if (rule.code_size != 0) {
    Match match = {value.start, nowhere, nowhere};
    if (!match_code(table, rule.code, rule.code_size, text, value.end, &findings->run, &match)) return;
    if (rule.judge != judge_none) {
      if (match.end != value.end) return;
    } else {
      stop = match.end;
      if (stop < value.end && (is_alnum(text[stop]) || one_of(text[stop], "-_+/=."))) return;
      if (stop == value.start || !secret_holds(table, rule, text, value.start, stop, wary)) return;
    }
  }
  if (rule.judge != judge_none && !judged(text.part(value.start, stop), value, rule.judge, known)) return;
  findings->add(value.start, stop, number, rule);
}

inline bool is_scheme(Byte c) noexcept { return is_alnum(c) || one_of(c, "+.-"); }
inline bool ends_user(Byte c) noexcept { return one_of(c, " \t\r\n\"'`<>/\\@?#|"); }

inline bool address_password_holds(Bytes password, Bytes user, const Knowledge& known) noexcept {
  if (password.size < 4 || is_template(password) || (password[0] == '$' && is_letter(password[1]))) return false;
  if (password.size == user.size) {
    std::size_t i = 0;
    while (i < user.size && lower(user[i]) == lower(password[i])) ++i;
    if (i == user.size) return false;
  }
  if (is_repeated(password) || is_sequence(password) || known.list(placeholder).within(password) ||
      known.list(known_passwords).equals(password)) {
    return false;
  }
  const Counts counts = counts_of(password);
  if (counts.lower + counts.upper == 0 || counts.distinct < 4) return false;
  if (counts.digit + counts.other == 0) return password.size >= 12 && !is_wordy(password);
  return !(counts.digit == 0 && is_wordy(password));
}

// The password of `scheme://user:password@host`; `place` is that of `://`.
inline void try_address(const Table& table, std::uint32_t number, const Rule& rule, Bytes text, std::size_t place,
                        Findings* findings) noexcept {
  if (place == 0 || !is_scheme(text[place - 1])) return;
  const std::size_t start = place + 3;
  std::size_t limit = least_of(text.size, start + 128);
  std::size_t colon = start;
  while (colon < limit && !ends_user(text[colon]) && text[colon] != ':') ++colon;
  if (colon >= limit || text[colon] != ':') return;
  const std::size_t begin = colon + 1;
  limit = least_of(text.size, begin + 256);
  std::size_t last = nowhere;
  for (std::size_t end = begin; end < limit && (!ends_user(text[end]) || one_of(text[end], "@?#|")); ++end) {
    if (text[end] == '@') last = end;
  }
  if (last == nowhere || last + 1 >= text.size) return;
  if (!is_alnum(text[last + 1]) && text[last + 1] != '[' && text[last + 1] != '_') return;
  if (last > begin && address_password_holds(text.part(begin, last), text.part(start, colon), table.known())) {
    findings->add(begin, last, number, rule);
  }
}

inline bool is_base64(Byte c) noexcept { return is_alnum(c) || c == '+' || c == '/' || c == '='; }

// Where five hyphens stand in [at, end), or `end`.
inline std::size_t find_dashes(Bytes text, std::size_t at, std::size_t end) noexcept {
  while (end - at >= 5) {
    const void* found = std::memchr(text.data + at, '-', end - at - 4);
    if (found == nullptr) return end;
    at = static_cast<std::size_t>(static_cast<const Byte*>(found) - text.data);
    if (stands_at(text, at, "-----")) return at;
    ++at;
  }
  return end;
}

// A private key in PEM form, also one that is cut short; `place` is that of `-----BEGIN `.
inline void try_private_key(std::uint32_t number, const Rule& rule, Bytes text, std::size_t place,
                            Findings* findings) noexcept {
  if (!stands_at(text, place, "-----BEGIN ")) return;
  const std::size_t label = place + 11;
  std::size_t begin = label;
  const std::size_t limit = least_of(text.size, label + 80);
  while (begin < limit && (is_alnum(text[begin]) || text[begin] == ' ')) ++begin;
  if (!stands_at(text, begin, "-----")) return;
  const Bytes name = text.part(label, begin);
  if (!holds(name, "PRIVATE KEY") && !holds(name, "Static key")) return;
  begin += 5;
  const std::size_t reach = least_of(text.size, begin + 32768);
  const std::size_t stop = find_dashes(text, begin, reach);
  const bool ended = stop < reach && stands_at(text, stop, "-----END ");
  const Bytes body = text.part(begin, stop);
  std::size_t count = 0;
  std::size_t last = begin;
  std::uint64_t seen[4] = {0, 0, 0, 0};
  bool blank = true;
  std::size_t letters_x = 0;
  bool placeholder_x = false;
  for (std::size_t i = begin; i < stop; ++i) {
    const Byte c = text[i];
    letters_x = (c | 0x20) == 'x' ? letters_x + 1 : 0;
    placeholder_x |= letters_x >= 6;
    blank &= one_of(c, " \t\r\n\"'\\");
    if (!is_base64(c)) continue;
    ++count;
    last = i;
    seen[c >> 6] |= std::uint64_t{1} << (c & 63);
  }
  std::size_t distinct = 0;
  for (const std::uint64_t word : seen) distinct += static_cast<std::size_t>(__builtin_popcountll(word));
  if (count >= 40 && distinct >= 12 && !placeholder_x && !holds(body, "...") && !holds(body, "${")) {
    if (!ended) {
      findings->add(place, last + 1, number, rule);
      return;
    }
    const std::size_t most = least_of(text.size, stop + 96);
    const std::size_t close = find_dashes(text, stop + 9, most);
    std::size_t end = close < most ? close + 5 : stop;
    // In a JSON string, the line end that is written before the quote belongs to the value.
    if (stands_at(text, end, "\\n\"") || stands_at(text, end, "\\n'")) end += 2;
    findings->add(place, end, number, rule);
  } else if (blank && stop == text.size && (findings->source == nullptr || findings->source->places == nullptr)) {
    // A line with escapes ends before its text does.
    findings->add(place, begin, number, rule);
  }
}

inline std::uint64_t load64(const Byte* x) noexcept {
  std::uint64_t value;
  std::memcpy(&value, x, sizeof value);
  return value;
}

// Tries the rule of an anchor whose first bytes stand at `place`. Never inline: the walk to it is the hot one.
[[gnu::noinline]] inline void try_anchor(const Table& table, const Byte* anchor, Bytes text, std::size_t place,
                                         bool wary, Findings* findings) noexcept {
  const std::uint32_t number = load16(anchor + 26);
  const Byte kind = table.rule_kind(number);
  const std::size_t size = anchor[20];
  if (kind != kind_shape) {
    const Byte* literal = table.known().names + load32(anchor + 16);
    if (place < anchor[21]) return;
    place -= anchor[21];
    if (size > text.size - place) return;
    std::size_t i = 0;
    while (i < size && lower(text[place + i]) == literal[i]) ++i;
    if (i < size) return;
  }
  const Rule rule = table.rule(number);
  if ((rule.flags & flag_wary) != 0 && !wary) return;
  switch (kind) {
    case kind_shape: try_shape(table, number, rule, anchor, text, place, wary, findings); break;
    case kind_assign: try_assignment(table, number, rule, text, place, place + size, wary, findings); break;
    case kind_url: try_address(table, number, rule, text, place, findings); break;
    default: try_private_key(number, rule, text, place, findings);
  }
}

inline void try_place(const Table& table, Bytes text, std::size_t place, bool wary, Findings* findings) noexcept {
  std::uint32_t at = literal_head(table.windows(), literal_hash(text.data + place));
  if (at == no_anchor) return;
  std::uint64_t here = 0;
  if (text.size - place >= 8) {
    here = load64(text.data + place);
  } else {
    std::memcpy(&here, text.data + place, text.size - place);
  }
  do {
    const Byte* anchor = table.anchor(at);
    at = load16(anchor + 28);
    if ((here & load64(anchor + 8)) == load64(anchor)) try_anchor(table, anchor, text, place, wary, findings);
  } while (at != no_anchor);
}

// Finds what stands in a text as it is, and begins among [begin, end).
inline void scan_block(const Table& table, Bytes text, std::size_t begin, std::size_t end, LiteralFinder finder,
                       bool wary, Findings* findings) noexcept {
  std::uint16_t places[literal_block + literal_slack];
  const std::size_t count = finder.literals(table.windows(), text.data, begin, end, text.size, places);
  for (std::size_t i = 0; i < count; ++i) try_place(table, text, begin + places[i], wary, findings);
}

// Finds what stands in a text that was decoded from a stretch.
inline void scan_decoded(const Table& table, Bytes text, const Stretch& source, LiteralFinder finder, bool wary,
                         Findings* findings) noexcept {
  findings->source = &source;
  findings->run.members = no_class;
  for (std::size_t begin = 0; begin < text.size; begin += literal_block) {
    scan_block(table, text, begin, least_of(text.size, begin + literal_block), finder, wary, findings);
  }
  findings->source = nullptr;
  findings->run.members = no_class;
}

// Finds what stands in the line around an escape; returns up to where it looked.
[[gnu::noinline]] inline std::size_t scan_escaped(const Table& table, Bytes text, std::size_t mark, std::size_t done,
                                                  LiteralFinder finder, bool wary, Findings* findings) noexcept {
  Byte room[escaped_room];
  std::uint16_t places[escaped_room + 1];
  Stretch stretch;
  const std::size_t size = decode_escapes(text, mark, done, room, places, &stretch);
  if (size == 0) return done;
  scan_decoded(table, {room, size}, stretch, finder, wary, findings);
  return stretch.end;
}

// Finds what stands in base64; returns up to where it reaches.
[[gnu::noinline]] inline std::size_t scan_blob(const Table& table, Bytes text, std::size_t mark, LiteralFinder finder,
                                               bool wary, Findings* findings) noexcept {
  Byte room[blob_room];
  Stretch stretch;
  const std::size_t size = decode_blob(text, mark, room, &stretch);
  if (size == 0) return stretch.end;
  scan_decoded(table, {room, size}, stretch, finder, wary, findings);
  return stretch.end;
}

// Finds what each rule finds for itself, in the text and in what is encoded there, overlaps and all. Writes at most
// `capacity` findings and returns how many there are. Needs about 80 KB of stack.
inline std::size_t scan(const Table& table, const Byte* data, std::size_t size, LiteralFinder finder, bool wary,
                        Finding* out, std::size_t capacity) noexcept {
  Findings findings = {out, capacity, 0, nullptr, {no_class, 0, 0}};
  const Bytes text = {data, size};
  std::uint16_t marks[literal_block + literal_slack];
  std::size_t escapes_done = 0;
  std::size_t blobs_done = 0;
  for (std::size_t begin = 0; begin < size; begin += literal_block) {
    const std::size_t end = least_of(size, begin + literal_block);
    scan_block(table, text, begin, end, finder, wary, &findings);
    const std::size_t count = finder.escapes(data, begin, end, size, marks);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t mark = begin + marks[i];
      if (!is_base64_sign(text[mark])) {
        if (mark >= escapes_done) escapes_done = scan_escaped(table, text, mark, escapes_done, finder, wary, &findings);
      } else if (mark + 1 - least_blob >= blobs_done) {
        blobs_done = scan_blob(table, text, mark, finder, wary, &findings);
      }
    }
  }
  return findings.count;
}

inline bool better(const Finding& one, const Finding& other) noexcept {
  if (one.priority != other.priority) return one.priority > other.priority;
  const std::size_t length = one.end - one.start;
  const std::size_t other_length = other.end - other.start;
  if (length != other_length) return length > other_length;
  if (one.start != other.start) return one.start < other.start;
  return one.rule < other.rule;
}

// Puts findings in order and keeps those that do not overlap a better one; returns their number.
inline std::size_t resolve(Finding* findings, std::size_t count) noexcept {
  std::sort(findings, findings + count, [](const Finding& one, const Finding& other) {
    return one.start != other.start ? one.start < other.start : better(one, other);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Finding one = findings[i];
    if (kept > 0 && one.start < findings[kept - 1].end) {
      if (better(one, findings[kept - 1])) findings[kept - 1] = one;
      continue;
    }
    findings[kept++] = one;
  }
  return kept;
}

// Turns the places of findings that are in order from bytes into code points.
inline void count_code_points(Bytes text, Finding* findings, std::size_t count) noexcept {
  std::size_t at = 0;
  std::size_t points = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t* place : {&findings[i].start, &findings[i].end}) {
      // A sum over bytes that the compiler makes vectors of.
      std::size_t more = 0;
      for (std::size_t end = *place; at < end; ++at) more += (text[at] & 0xC0) != 0x80;
      points += more;
      *place = points;
    }
  }
}

// Masks the findings of a text in place: all but what a rule lets be shown, and never more than half.
inline void mask(const Table& table, Byte* text, const Finding* findings, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = findings[i].end - findings[i].start;
    const std::size_t shown = least_of(table.rule(findings[i].rule).show, size / 2);
    std::memset(text + findings[i].start + shown, '*', size - shown);
  }
}

}  // namespace tipstaff::secrets

#endif
