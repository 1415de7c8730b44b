// Tells at once of most texts and words that they lead to nothing that is guarded, by their bytes alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/letter_classes.hpp"
#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/text/lowest_bit.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::gate::guarded_hints {

inline constexpr std::string_view kOwnName = "tipstaff";

// What a byte of a text is to text_may_lead().
namespace lead {
constexpr std::uint8_t kAlways = 1;  // an expansion, or a home
constexpr std::uint8_t kLooked = 2;  // what is beside it decides
}  // namespace lead

constexpr std::array<std::uint8_t, 256> make_leads() {
  std::array<std::uint8_t, 256> leads{};
  for (const char c : {'~', '*', '?', '[', '$', '`', '{'}) leads[static_cast<unsigned char>(c)] = lead::kAlways;
  for (const char c : {'.', '/'}) leads[static_cast<unsigned char>(c)] = lead::kLooked;
  return leads;
}
inline constexpr std::array<std::uint8_t, 256> kLeads = make_leads();

// The bytes of a text that are leads, 16 at a time: `always` where one is that needs no look, else those to look at.
struct Leads {
  bool always;
  std::uint32_t looked;  // bits
};
inline Leads leads_of_few(const char* bytes, std::size_t count) noexcept {
  Leads found{false, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t lead = kLeads[static_cast<unsigned char>(bytes[i])];
    found.always = found.always || lead == lead::kAlways;
    found.looked |= static_cast<std::uint32_t>(lead == lead::kLooked) << i;
  }
  return found;
}
inline Leads leads_of(const char* bytes) noexcept {
#if defined(__SSE2__)
  const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const auto is = [&](char c) noexcept { return _mm_cmpeq_epi8(at, _mm_set1_epi8(c)); };
  const auto any = [](__m128i one, __m128i other) noexcept { return _mm_or_si128(one, other); };
  const __m128i always = any(any(any(is('~'), is('*')), any(is('?'), is('['))), any(any(is('$'), is('`')), is('{')));
  return {_mm_movemask_epi8(always) != 0, static_cast<std::uint32_t>(_mm_movemask_epi8(any(is('.'), is('/'))))};
#else
  return leads_of_few(bytes, 16);
#endif
}

// The first folder of an absolute path and the slash before it; empty where it has but one part.
inline std::string_view top_of(std::string_view path) noexcept {
  const std::size_t end = path.find('/', 1);
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}
inline bool holds(std::string_view text, std::string_view part) noexcept {
  return !part.empty() && text.find(part) != std::string_view::npos;
}
// Whether a text has the name of a guarded file, which most texts that do are found by already.
inline bool holds_name(std::string_view text, std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view name = path.substr(slash + 1);
  return name.substr(0, kOwnName.size()) != kOwnName && holds(text, name);
}

// Whether a word of this text may lead to one of two paths, as long as no link does: by an expansion, a name that begins
// with a dot, a step up, a path that begins as theirs do, or their name. One pass over the text.
inline bool text_may_lead(std::string_view text, std::string_view state, std::string_view program) noexcept {
  const std::string_view tops[2] = {top_of(state), top_of(program)};
  const std::size_t size = text.size();
  const auto leads = [&](std::size_t at) noexcept {
    if (at + 1 == size) return true;
    if (text[at] == '.') {
      const char before = at == 0 ? ' ' : text[at - 1];
      return before == '.' || before == ' ' || before == '/' || before == '=' || before == '"' || before == '\'';
    }
    if (!ascii::is_name(text[at + 1])) return true;
    for (const std::string_view top : tops)
      if (!top.empty() && text.substr(at, top.size()) == top) return true;
    return false;
  };
  for (std::size_t at = 0; at < size; at += 16) {
    const Leads found = size - at >= 16 ? leads_of(text.data() + at) : leads_of_few(text.data() + at, size - at);
    if (found.always) return true;
    for (std::uint32_t left = found.looked; left != 0; left &= left - 1)
      if (leads(at + static_cast<std::size_t>(lowest_bit(left)))) return true;
  }
  for (const std::string_view top : tops)
    if (!top.empty() && top[0] != '/' && holds(text, top)) return true;  // C:/Users
  constexpr std::uint32_t kDouble = letter_class('f');  // few texts have two of them side by side
  return (may_hold_pair(text, kDouble, kDouble) && holds(text, kOwnName)) || holds_name(text, state) || holds_name(text, program);
}

// What a byte of a word is to stays_below().
namespace step {
constexpr std::uint8_t kApart = 1;   // what follows may be a path of its own
constexpr std::uint8_t kLeaves = 2;  // at the beginning of a path it leads elsewhere, or names what is hidden
constexpr std::uint8_t kNever = 4;
}  // namespace step

constexpr std::array<std::uint8_t, 256> make_steps() {
  std::array<std::uint8_t, 256> steps{};
  for (const char c : {'=', ':', ',', '@', '/'}) steps[static_cast<unsigned char>(c)] = step::kApart;
  for (const char c : {'.', '~', '%', '$'}) steps[static_cast<unsigned char>(c)] = step::kLeaves;
  steps['/'] |= step::kLeaves;
  for (const char c : {'\\', kUnknownPart}) steps[static_cast<unsigned char>(c)] = step::kNever;
  return steps;
}
inline constexpr std::array<std::uint8_t, 256> kSteps = make_steps();

// Whether a word, and each part of it that may be a path of its own, can only lead to what is below the folder that it is
// read in, by names of which none begins with a dot. `-IPATH`, `--file=PATH`, `PATH:PATH` and `@PATH` are such words.
inline bool stays_below(std::string_view word) noexcept {
  bool begins = true;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const std::uint8_t step = kSteps[static_cast<unsigned char>(word[i])];
    if (step != 0 && ((step & step::kNever) != 0 || (begins && (step & step::kLeaves) != 0))) return false;
    if (begins && i + 1 < word.size() && word[i + 1] == ':') return false;  // a drive
    begins = (step & step::kApart) != 0 || (i == 1 && word[0] == '-');
  }
  return true;
}

}  // namespace tipstaff::gate::guarded_hints
