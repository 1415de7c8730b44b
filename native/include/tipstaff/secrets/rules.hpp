// How a rule of each kind is tried where one of its anchors is: shapes, assignments, addresses with a
// password, private keys.
#ifndef TIPSTAFF_SECRETS_RULES_HPP
#define TIPSTAFF_SECRETS_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/secrets/assignments.hpp"
#include "tipstaff/secrets/cells.hpp"
#include "tipstaff/secrets/checks.hpp"
#include "tipstaff/secrets/encodings.hpp"
#include "tipstaff/secrets/scanner.hpp"
#include "tipstaff/secrets/table.hpp"
#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

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
  std::size_t position = match->end;
  while (at < code_size) {
    switch (code[at]) {
      case code_literal: {
        const std::size_t size = code[at + 1];
        if (limit - position < size || std::memcmp(text.data + position, code + at + 2, size) != 0) return false;
        position += size;
        at += 2 + size;
        break;
      }
      case code_folded: {
        const std::size_t size = code[at + 1];
        if (limit - position < size) return false;
        for (std::size_t i = 0; i < size; ++i) {
          if (lower(text[position + i]) != code[at + 2 + i]) return false;
        }
        position += size;
        at += 2 + size;
        break;
      }
      case code_class: {
        const std::uint32_t members = code[at + 1];
        const std::size_t least = load16(code + at + 2);
        const std::size_t most = load16(code + at + 4);
        const std::size_t end = most < limit - position ? position + most : limit;
        const std::size_t start = position;
        const bool walked = run->members == members && run->start <= position && position < run->end;
        if (walked) position = run->end < end ? run->end : end;
        while (position < end && table.in_class(members, text[position])) ++position;
        if (walked) {
          if (position > run->end) run->end = position;
        } else if (position - start > 64) {
          *run = {members, start, position};
        }
        if (position - start < least) return false;
        at += 6;
        break;
      }
      case code_open:
        match->open = position;
        ++at;
        break;
      case code_close:
        match->close = position;
        ++at;
        break;
      case code_option: {
        const std::size_t size = load16(code + at + 1);
        Match inner = {position, nowhere, nowhere};
        if (match_code(table, code + at + 3, size, text, limit, run, &inner)) position = inner.end;
        at += 3 + size;
        break;
      }
      default: {
        const std::size_t end = at + 4 + load16(code + at + 2);
        at += 4;
        bool fits = false;
        while (at < end && !fits) {
          const std::size_t size = load16(code + at);
          Match inner = {position, nowhere, nowhere};
          if (match_code(table, code + at + 2, size, text, limit, run, &inner)) {
            position = inner.end;
            fits = true;
          }
          at += 2 + size;
        }
        if (!fits) return false;
        at = end;
      }
    }
  }
  match->end = position;
  return true;
}

// Whether a letter or a digit before `at` ends an escape, and so is no part of the word after it.
inline bool after_escape(Bytes text, std::size_t at) noexcept {
  if (at >= 2 && text[at - 2] == '\\' && one_of(text[at - 1], "nrtbfv")) return true;
  if (at < 3 || !is_hex(text[at - 1]) || !is_hex(text[at - 2])) return false;
  if (text[at - 3] == '%') return true;
  if (at >= 4 && text[at - 3] == 'x' && text[at - 4] == '\\') return true;
  return at >= 6 && is_hex(text[at - 3]) && is_hex(text[at - 4]) && text[at - 5] == 'u' && text[at - 6] == '\\';
}

inline constexpr std::size_t context_before = 200;
inline constexpr std::size_t context_after = 64;
inline constexpr std::size_t most_mnemonic = 256;

// Whether all words are of the list that wallets' mnemonics are made of, it is not one that documents print, and no part
// of the list itself: the words of that are in order.
inline bool is_mnemonic(Bytes data, const Knowledge& known) noexcept {
  Byte joined[most_mnemonic];  // the words with one blank between
  std::size_t size = 0, previous = 0, last = 0;
  bool ordered = true;
  for (std::size_t at = 0; at < data.size;) {
    if (!is_letter(data[at])) {
      ++at;
      continue;
    }
    if (size != 0 && size < most_mnemonic) joined[size++] = ' ';
    const std::size_t start = size;
    while (at < data.size && is_letter(data[at]) && size < most_mnemonic) joined[size++] = lower(data[at++]);
    if (size == most_mnemonic || !known.list(wallet_words).equals({joined + start, size - start})) return false;
    std::size_t same = 0;
    while (start + same < size && same < last && joined[start + same] == joined[previous + same]) ++same;
    if (same < last) ordered = ordered && start + same < size && joined[start + same] > joined[previous + same];
    previous = start;
    last = size - start;
  }
  return !ordered && !known.list(wallet_samples).within({joined, size});
}

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
    const Bytes following = secret.part(least_of(rule.show, secret.size), secret.size);
    if ((rule.flags & flag_repeats_fine) == 0 && is_repeated(rule.show < secret.size ? following : secret)) return false;
    if (!entropy_holds(following, rule.entropy, known)) return false;
    if (rule.checksum != 0 && !checksum_holds(secret, rule.checksum)) return false;
  }
  if ((rule.flags & flag_no_stops) == 0 && known.list(wary ? obvious : placeholder).within(secret)) return false;
  if (!wary && rule.judge == judge_none && is_compound(secret, counts) && !is_random(secret, counts, known)) return false;
  if (rule.check == 1 && !says_pair(secret, known)) return false;
  if (rule.check == 2) {
    Byte buffer[90];
    const std::size_t size = decode_base64(secret.part(0, secret.size < 120 ? secret.size : 120), buffer, 90);
    if (!holds({buffer, size}, "PRIVATE KEY")) return false;
  }
  if (rule.check == 4 && is_near_vectors(text, start, {start, end}, known)) return false;
  if (rule.check == 5 && is_test_result(text, start)) return false;
  if (rule.check == 3 && !is_mnemonic(secret, known)) return false;
  if (rule.context != 0) {
    const Words words = known.list(rule.context - 1);
    const std::size_t from = start > context_before ? start - context_before : 0;
    const std::size_t to = least_of(text.size, end + context_after);
    const bool near = words.within(text.part(from, start)) || words.within(text.part(end, to));
    if (near == (rule.check == 6)) return false;
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
      const bool placed = source->positions != nullptr;
      end = placed ? source->start + source->positions[end] : source->end;
      start = placed ? source->start + source->positions[start] : source->start;
    }
    if (count < capacity) out[count] = {start, end, rule, record.priority};
    ++count;
  }
};

inline void try_shape(const Table& table, std::uint32_t number, const Rule& rule, const Byte* anchor, Bytes text,
                      std::size_t position, bool wary, Findings* findings) noexcept {
  std::size_t start = position;
  if (anchor[22] != no_class) {
    const std::size_t most = load16(anchor + 24);
    while (start > 0 && position - start < most && table.in_class(anchor[22], text[start - 1])) --start;
  } else {
    if (position < anchor[21]) return;
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

// What a table holds for the name in [start, end).
inline void try_cells(std::uint32_t number, const Rule& rule, Bytes text, std::size_t start, std::size_t end,
                      const Knowledge& known, Findings* findings) noexcept {
  Cell cell;
  if (!read_cell(text, start, end, known, &cell)) return;
  const auto take = [&](const Value& value) noexcept {
    if (judged(text.part(value.start, value.end), value, rule.judge, known)) {
      findings->add(value.start, value.end, number, rule);
    }
  };
  Value value;
  if (next_cell(text, cell, &value)) take(value);
  cells_below(text, cell, take);
}

inline void try_assignment(const Table& table, std::uint32_t number, const Rule& rule, Bytes text, std::size_t start,
                           std::size_t end, bool wary, Findings* findings) noexcept {
  const Knowledge& known = table.known();
  const bool named = (rule.flags & flag_named) != 0;
  Value value;
  const bool anywhere = (rule.flags & flag_anywhere) != 0;
  if (!assignment(text, start, end, anywhere, named, known, &value)) {
    if (rule.judge != judge_none && rule.code_size == 0 && !anywhere) {
      try_cells(number, rule, text, start, end, known, findings);
    }
    return;
  }
  if (named && !known.list(secret_names).within(text.part(name_start(text, start), name_end(text, end)))) return;
  if (value.wrapped && rule.judge == judge_none) return;  // nothing says that it is no label: get_env("ACME_KEY")
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

inline constexpr ByteSet user_ends(" \t\r\n\"'`<>/\\@?#|");
inline bool is_scheme(Byte c) noexcept { return is_alnum(c) || one_of(c, "+.-"); }
inline bool ends_user(Byte c) noexcept { return user_ends.has(c); }

// The password of `scheme://user:password@host`; `position` is that of `://`.
inline void try_address(const Table& table, std::uint32_t number, const Rule& rule, Bytes text, std::size_t position,
                        Findings* findings) noexcept {
  if (position == 0 || !is_scheme(text[position - 1])) return;
  const std::size_t start = position + 3;
  std::size_t limit = least_of(text.size, start + 128);
  if (matches_at(text, start, "[:")) return;  // an address of version 6
  std::size_t colon = start;
  while (colon < limit && !ends_user(text[colon]) && text[colon] != ':') ++colon;
  if (colon >= limit || text[colon] != ':') return;
  const std::size_t begin = colon + 1;
  limit = least_of(text.size, begin + 256);
  std::size_t last = nowhere;
  for (std::size_t end = begin; end < limit && (!ends_user(text[end]) || one_of(text[end], "@?#|")); ++end) {
    if (text[end] == '@') last = end;
    if (text[end] == '?' && last != nowhere) break;  // user:pass@host?to=bob@acme.io
  }
  if (last == nowhere || last + 1 >= text.size) return;
  if (!is_alnum(text[last + 1]) && text[last + 1] != '[' && text[last + 1] != '_') return;
  if (is_sample_host(text, last + 1, table.known()) && !is_mixed(text.part(begin, last), table.known())) return;
  if (last > begin && address_password_holds(text.part(begin, last), text.part(start, colon), table.known())) {
    findings->add(begin, last, number, rule);
  }
}

inline bool is_base64(Byte c) noexcept { return is_alnum(c) || c == '+' || c == '/' || c == '='; }

// Where five hyphens are in [at, end), or `end`.
inline std::size_t find_dashes(Bytes text, std::size_t at, std::size_t end) noexcept {
  while (end - at >= 5) {
    const void* found = std::memchr(text.data + at, '-', end - at - 4);
    if (found == nullptr) return end;
    at = static_cast<std::size_t>(static_cast<const Byte*>(found) - text.data);
    if (matches_at(text, at, "-----")) return at;
    ++at;
  }
  return end;
}

inline constexpr std::size_t least_row = 32, whole_row = 60, cut_key = 140;

// Whether a key says of itself that it is four times as long or more: documents print the first line of one.
inline bool is_cut(Bytes body, std::size_t count) noexcept {
  std::size_t at = 0;
  while (at < 12 && at < body.size && !matches_at(body, at, "MII")) ++at;
  Byte begin[6];
  if (at == 12 || decode_base64(body.part(at, least_of(body.size, at + 8)), begin, 6) < 4) return false;
  return begin[0] == 0x30 && begin[1] == 0x82 && (std::size_t{begin[2]} << 8 | begin[3]) > 3 * count;
}

// A private key in PEM form, also one that is cut short; `position` is that of `-----BEGIN `.
inline void try_private_key(std::uint32_t number, const Rule& rule, Bytes text, std::size_t position,
                            Findings* findings) noexcept {
  if (!matches_at(text, position, "-----BEGIN ")) return;
  const std::size_t label = position + 11;
  std::size_t begin = label;
  const std::size_t limit = least_of(text.size, label + 80);
  while (begin < limit && (is_alnum(text[begin]) || text[begin] == ' ')) ++begin;
  if (!matches_at(text, begin, "-----")) return;
  const Bytes name = text.part(label, begin);
  if (!holds(name, "PRIVATE KEY") && !holds(name, "Static key")) return;
  begin += 5;
  const std::size_t reach = least_of(text.size, begin + 32768);
  const std::size_t stop = find_dashes(text, begin, reach);
  const bool ended = stop < reach && matches_at(text, stop, "-----END ");
  const Bytes body = text.part(begin, stop);
  std::size_t count = 0;
  std::size_t last = begin;
  std::uint64_t seen[4] = {0, 0, 0, 0};
  bool blank = true;
  std::size_t letters_x = 0;
  bool placeholder_x = false;
  // A line of base64; code that only names the label has none: key.startswith("-----BEGIN PRIVATE KEY-----").
  std::size_t row = 0, row_digits = 0;
  bool rows = false;
  for (std::size_t i = begin; i < stop; ++i) {
    const Byte c = text[i];
    letters_x = (c | 0x20) == 'x' ? letters_x + 1 : 0;
    placeholder_x |= letters_x >= 6;
    blank &= one_of(c, " \t\r\n\"'\\");
    if (!is_base64(c)) {
      row = row_digits = 0;
      continue;
    }
    row_digits += is_digit(c);
    rows |= ++row >= whole_row || (row >= least_row && row_digits >= 3);
    ++count;
    last = i;
    seen[c >> 6] |= std::uint64_t{1} << (c & 63);
  }
  std::size_t distinct = 0;
  for (const std::uint64_t word : seen) distinct += static_cast<std::size_t>(__builtin_popcountll(word));
  if (count >= 40 && rows && distinct >= 12 && !(ended && count < cut_key && is_cut(body, count)) && !placeholder_x && !holds(body, "...") && !holds(body, "${")) {
    if (!ended) {
      findings->add(position, last + 1, number, rule);
      return;
    }
    const std::size_t most = least_of(text.size, stop + 96);
    const std::size_t close = find_dashes(text, stop + 9, most);
    std::size_t end = close < most ? close + 5 : stop;
    // In a JSON string, the line end that is written before the quote belongs to the value.
    if (matches_at(text, end, "\\n\"") || matches_at(text, end, "\\n'")) end += 2;
    findings->add(position, end, number, rule);
  } else if (blank && stop == text.size && (findings->source == nullptr || findings->source->positions == nullptr)) {
    // A line with escapes ends before its text does.
    findings->add(position, begin, number, rule);
  }
}

}  // namespace tipstaff::secrets

#endif
