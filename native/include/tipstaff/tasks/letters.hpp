// A prompt beyond ASCII in the letters that the reading of words takes: what Python does with Unicode's tables, for the
// scripts that the lexicon of intents has words of. Rare letters (mathematical, half-width, ligatures) may differ.
#ifndef TIPSTAFF_TASKS_LETTERS_HPP
#define TIPSTAFF_TASKS_LETTERS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/tasks/intents.hpp"
#include "tipstaff/text/letters.hpp"
#include "tipstaff/text/text.hpp"
#include "tipstaff/text/utf8.hpp"

namespace tipstaff {

namespace task_letters {

// Latin letters that are no base letter with a mark.
constexpr bool is_its_own_word(std::uint32_t c) noexcept {
  switch (c) {
    case 0xC6: case 0xD0: case 0xD8: case 0xDE: case 0xDF: case 0xE6: case 0xF0: case 0xF8: case 0xFE: case 0x110: case 0x111:
    case 0x126: case 0x127: case 0x131: case 0x138: case 0x141: case 0x142: case 0x14A: case 0x14B: case 0x152: case 0x153:
    case 0x166: case 0x167: case 0x1E9E: case 0x1EFA: case 0x1EFB: case 0x1EFC: case 0x1EFD: case 0x1EFE: case 0x1EFF:
      return true;
    default: return false;
  }
}

constexpr std::uint32_t lower_latin(std::uint32_t c) noexcept {
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 32;
  if (c == 0x178) return 0xFF;
  const bool odd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
  if (odd) return c % 2 == 1 ? c + 1 : c;
  if ((c >= 0x100 && c <= 0x177) || (c >= 0x1E00 && c <= 0x1EFF)) return c % 2 == 0 ? c + 1 : c;
  return c;
}

// Cyrillic letters without the marks that decomposition takes off.
constexpr std::uint32_t bare_cyrillic(std::uint32_t c) noexcept {
  switch (c) {
    case 0x439: case 0x45D: return 0x438;
    case 0x450: case 0x451: return 0x435;
    case 0x453: return 0x433;
    case 0x457: return 0x456;
    case 0x45C: return 0x43A;
    case 0x45E: return 0x443;
    default: return c;
  }
}

constexpr bool goes_on(unsigned char c) noexcept { return (c & 0xC0) == 0x80; }

}  // namespace task_letters

// Writes a task's words for intents::Words, ready; `out` has room for twice the text's bytes and 4 more.
inline ByteView letters_for_intent(ByteView text, unsigned char* out) noexcept {
  using namespace task_letters;
  std::size_t size = 0;
  bool small = false;
  const auto put = [&](unsigned char c) noexcept {
    const intents::Mark mark = intents::kMarks.of[c];
    out[size++] = mark == intents::Mark::letter ? c : mark == intents::Mark::capital ? static_cast<unsigned char>(c + 32)
                  : mark == intents::Mark::comma ? ',' : mark == intents::Mark::colon ? ':' : ' ';
  };
  // Blanks around the text count for nothing, and neither does a line's end there.
  std::int64_t at = 0, end = text.size;
  while (at < end && intents::is_space(text.data[at])) ++at;
  while (end > at && intents::is_space(text.data[end - 1])) --end;
  const ByteView trimmed{text.data, end};
  while (at < end) {
    const unsigned char c = text.data[at];
    if (c < 0x80) {
      if (small && c >= 'A' && c <= 'Z') out[size++] = ' ';
      small = c >= 'a' && c <= 'z';
      put(c == '.' && at + 1 < end && text.data[at + 1] == ' ' ? ',' : c);
      ++at;
      continue;
    }
    small = false;
    const std::uint32_t code = decode_utf8(trimmed, at);
    if (code >= 0xFF01 && code <= 0xFF5E) {
      put(static_cast<unsigned char>(code - 0xFEE0));
      continue;
    }
    if (code >= 0x300 && code < 0x370) continue;  // marks vanish
    if (code == 0x3001 || code == 0x3002) {
      out[size++] = ',';
      continue;
    }
    if (const char* const digit = code == 0xB2 ? "2" : code == 0xB3 ? "3" : code == 0xB9 ? "1" : code == 0xAA ? "a" : code == 0xBA ? "o" : nullptr) {
      out[size++] = static_cast<unsigned char>(*digit);
      continue;
    }
    const Character found = classify_beyond_ascii(code);
    if (code == 0x13F || code == 0x140) {  // an l and a dot
      out[size++] = 'l';
      out[size++] = ' ';
    } else if (found.kind == Letter::border || found.kind == Letter::joiner) {
      out[size++] = ' ';
    } else if (found.kind == Letter::folded && !is_its_own_word(code)) {
      out[size++] = static_cast<unsigned char>(found.code);
      if (found.second != 0) out[size++] = found.second;
    } else {
      size += write_utf8(found.kind == Letter::folded ? lower_latin(code) : bare_cyrillic(found.code), out + size);
    }
  }
  return {out, static_cast<std::int64_t>(size)};
}

// Sets the stems apart that the lexicon knows of scripts without blanks or with many endings; `out` has room for twice the
// text's bytes and 4 more.
inline ByteView stems_apart(const IntentLexicon& lexicon, ByteView text, unsigned char* out) noexcept {
  using task_letters::goes_on;
  constexpr std::size_t longest = IntentLexicon::kLongestWord;
  const auto letter = [&](std::int64_t at) noexcept { return intents::kMarks.of[text.data[at]] == intents::Mark::letter; };
  std::size_t size = 0;
  for (std::int64_t at = 0; at < text.size;) {
    if (!letter(at)) {
      out[size++] = text.data[at++];
      continue;
    }
    const std::int64_t start = at;
    std::int64_t end = at;
    bool foreign = false;
    for (; end < text.size && letter(end); ++end) foreign = foreign || text.data[end] >= 0x80;
    while (at < end) {
      std::size_t best = 0;
      bool opening = false;
      if (foreign && text.data[at] >= 0x80) {
        // The longest stem that begins here; one that may be inside of a word before one that opens it.
        std::size_t opens = 0;
        std::uint32_t hash = IntentLexicon::kHashStart;
        for (std::size_t tried = 0; tried < longest && at + static_cast<std::int64_t>(tried) < end;) {
          do {
            hash = IntentLexicon::hashed(hash, text.data[at + static_cast<std::int64_t>(tried++)]);
          } while (at + static_cast<std::int64_t>(tried) < end && goes_on(text.data[at + static_cast<std::int64_t>(tried)]));
          const std::uint8_t flags = lexicon.flags(lexicon.find(text.data + at, tried, hash));
          if ((flags & kIntentInside) != 0) best = tried;
          if ((flags & kIntentOpening) != 0) opens = tried;
        }
        opening = best == 0 && opens != 0 && at == start;
        if (opening) best = opens;
      }
      if (best != 0) {
        out[size++] = ' ';
        std::memcpy(out + size, text.data + at, best);
        size += best;
        out[size++] = ' ';
        at = opening ? end : at + static_cast<std::int64_t>(best);
        continue;
      }
      out[size++] = text.data[at++];
      while (at < end && goes_on(text.data[at])) out[size++] = text.data[at++];
    }
  }
  return {out, static_cast<std::int64_t>(size)};
}

}  // namespace tipstaff

#endif
