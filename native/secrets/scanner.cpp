// The walk of the secrets scanner over a text.
#include "tipstaff/secrets/scanner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/text/literals.hpp"
#include "tipstaff/secrets/encodings.hpp"
#include "tipstaff/secrets/rules.hpp"
#include "tipstaff/secrets/table.hpp"

namespace tipstaff::secrets {

namespace {

std::uint64_t load64(const Byte* x) noexcept {
  std::uint64_t value;
  std::memcpy(&value, x, sizeof value);
  return value;
}

// Tries the rule of an anchor whose first bytes are at `position`. Never inline: the walk to it is the hot one.
[[gnu::noinline]] void try_anchor(const Table& table, const Byte* anchor, Bytes text, std::size_t position,
                                         bool wary, Findings* findings) noexcept {
  const std::uint32_t number = load16(anchor + 26);
  if (!wary && (table.rule_flags(number) & flag_wary) != 0) return;
  const Byte kind = table.rule_kind(number);
  const std::size_t size = anchor[20];
  if (kind != kind_shape) {
    const Byte* literal = table.known().names + load32(anchor + 16);
    const std::size_t back = anchor[21];
    if (position < back) return;
    position -= back;
    if (size > text.size - position) return;
    // Eight bytes from `back` on are known to be right.
    for (std::size_t i = 0; i < back; ++i) {
      if (lower(text[position + i]) != literal[i]) return;
    }
    for (std::size_t i = back + 8; i < size; ++i) {
      if (lower(text[position + i]) != literal[i]) return;
    }
  }
  const Rule rule = table.rule(number);
  switch (kind) {
    case kind_shape: try_shape(table, number, rule, anchor, text, position, wary, findings); break;
    case kind_assign: try_assignment(table, number, rule, text, position, position + size, wary, findings); break;
    case kind_url: try_address(table, number, rule, text, position, findings); break;
    default: try_private_key(number, rule, text, position, findings);
  }
}

// Whether the bytes are after an anchor that are looked up before its rule is tried.
bool checks_hold(const Table& table, const Byte* anchor, Bytes text, std::size_t position) noexcept {
  for (std::size_t check = 0; check < anchor_checks && anchor[30 + check] != 0; ++check) {
    const std::size_t at = position + anchor[30 + check];
    if (at >= text.size || !table.in_class(load16(anchor + 34 + 2 * check), text[at])) return false;
  }
  return true;
}

// Tries all anchors that may be at some positions, `begin` and more.
void try_positions(const Table& table, Bytes text, std::size_t begin, const std::uint16_t* positions,
                       std::size_t count, bool wary, Findings* findings) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t position = begin + positions[i];
    std::uint32_t at = literal_head(table.windows(), literal_hash(text.data + position));
    if (at == no_anchor) continue;
    std::uint64_t here = 0;
    if (text.size - position >= 8) {
      here = load64(text.data + position);
    } else {
      std::memcpy(&here, text.data + position, text.size - position);
    }
    do {
      const Byte* anchor = table.anchor(at);
      at = load16(anchor + 28);
      if ((here & load64(anchor + 8)) == load64(anchor) && checks_hold(table, anchor, text, position)) {
        try_anchor(table, anchor, text, position, wary, findings);
      }
    } while (at != no_anchor);
  }
}

// Finds what is in a text that was decoded from a stretch.
void scan_decoded(const Table& table, Bytes text, const Stretch& source, LiteralFinder finder, bool wary,
                         Findings* findings) noexcept {
  findings->source = &source;
  findings->run.members = no_class;
  std::uint16_t positions[literal_block + literal_slack];
  for (std::size_t begin = 0; begin < text.size; begin += literal_block) {
    const std::size_t end = least_of(text.size, begin + literal_block);
    const std::size_t count = finder.literals(table.windows(), text.data, begin, end, text.size, positions);
    try_positions(table, text, begin, positions, count, wary, findings);
  }
  findings->source = nullptr;
  findings->run.members = no_class;
}

// Finds what is in the line around an escape; returns up to where it looked.
[[gnu::noinline]] std::size_t scan_escaped(const Table& table, Bytes text, std::size_t mark, std::size_t done,
                                                  LiteralFinder finder, bool wary, Findings* findings) noexcept {
  Byte room[escaped_room];
  std::uint16_t positions[escaped_room + 1];
  Stretch stretch;
  const std::size_t size = decode_escapes(text, mark, done, room, positions, &stretch);
  if (size == 0) return done;
  scan_decoded(table, {room, size}, stretch, finder, wary, findings);
  return stretch.end;
}

// Finds what is in base64; returns up to where it reaches.
[[gnu::noinline]] std::size_t scan_blob(const Table& table, Bytes text, std::size_t mark, LiteralFinder finder,
                                               bool wary, Findings* findings) noexcept {
  Byte room[blob_room];
  Stretch stretch;
  const std::size_t size = decode_blob(text, mark, room, &stretch);
  if (size == 0) return stretch.end;
  scan_decoded(table, {room, size}, stretch, finder, wary, findings);
  return stretch.end;
}

bool better(const Finding& one, const Finding& other) noexcept {
  if (one.priority != other.priority) return one.priority > other.priority;
  const std::size_t length = one.end - one.start;
  const std::size_t other_length = other.end - other.start;
  if (length != other_length) return length > other_length;
  if (one.start != other.start) return one.start < other.start;
  return one.rule < other.rule;
}

}  // namespace

std::size_t scan(const Table& table, const Byte* data, std::size_t size, LiteralFinder finder, bool wary,
                        Finding* out, std::size_t capacity) noexcept {
  Findings findings = {out, capacity, 0, nullptr, {no_class, 0, 0}};
  const Bytes text = {data, size};
  BlockMatches positions;
  std::size_t escapes_done = 0;
  std::size_t blobs_done = 0;
  for (std::size_t begin = 0; begin < size; begin += literal_block) {
    const std::size_t end = least_of(size, begin + literal_block);
    finder.block(table.windows(), data, begin, end, size, &positions);
    try_positions(table, text, begin, positions.literals, positions.n_literals, wary, &findings);
    for (std::size_t i = 0; i < positions.n_marks; ++i) {
      const std::size_t mark = begin + positions.marks[i];
      if (!is_base64_sign(text[mark])) {
        if (mark >= escapes_done) escapes_done = scan_escaped(table, text, mark, escapes_done, finder, wary, &findings);
      } else if (mark + 1 - least_blob >= blobs_done) {
        blobs_done = scan_blob(table, text, mark, finder, wary, &findings);
      }
    }
  }
  return findings.count;
}

std::size_t resolve(Finding* findings, std::size_t count) noexcept {
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

void count_code_points(Bytes text, Finding* findings, std::size_t count) noexcept {
  std::size_t at = 0;
  std::size_t points = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t* position : {&findings[i].start, &findings[i].end}) {
      // A sum over bytes that the compiler makes vectors of.
      std::size_t more = 0;
      for (std::size_t end = *position; at < end; ++at) more += (text[at] & 0xC0) != 0x80;
      points += more;
      *position = points;
    }
  }
}

void mask(const Table& table, Byte* text, const Finding* findings, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = findings[i].end - findings[i].start;
    const std::size_t shown = least_of(table.rule(findings[i].rule).show, size / 2);
    std::memset(text + findings[i].start + shown, '*', size - shown);
  }
}

}  // namespace tipstaff::secrets
