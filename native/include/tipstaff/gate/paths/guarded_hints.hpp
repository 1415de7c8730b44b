// Tells at once of most texts and words that they lead to nothing that is guarded, by their bytes alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/text/lowest_bit.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::gate::guarded_hints {

inline constexpr std::string_view kOwnName = "tipstaff";

// What a byte of a text is to TextHints.
namespace lead {
constexpr std::uint8_t kAlways = 1;  // an expansion
constexpr std::uint8_t kLooked = 2;  // what is beside it decides
}  // namespace lead

constexpr std::array<std::uint8_t, 256> make_leads() {
  std::array<std::uint8_t, 256> leads{};
  for (const char c : {'*', '?', '[', '$', '`', '{'}) leads[static_cast<unsigned char>(c)] = lead::kAlways;
  for (const char c : {'.', '/', '~'}) leads[static_cast<unsigned char>(c)] = lead::kLooked;
  return leads;
}
inline constexpr std::array<std::uint8_t, 256> kLeads = make_leads();

// What of at most 16 bytes is a lead, as bits. `doubled`: the letter that the gate's name has twice, side by side.
struct Leads {
  std::uint32_t always = 0, looked = 0, doubled = 0;
};
inline void find_leads_of_few(const char* bytes, std::size_t count, Leads* found) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t lead = kLeads[static_cast<unsigned char>(bytes[i])];
    found->always |= static_cast<std::uint32_t>(lead == lead::kAlways) << i;
    found->looked |= static_cast<std::uint32_t>(lead == lead::kLooked) << i;
    found->doubled |= static_cast<std::uint32_t>(bytes[i] == 'f') << i;
  }
}
[[gnu::always_inline]] inline void find_leads(const char* bytes, Leads* found) noexcept {
#if defined(__SSE2__)
  const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const auto is = [&](char c) noexcept { return _mm_cmpeq_epi8(at, _mm_set1_epi8(c)); };
  const auto any = [](__m128i one, __m128i other) noexcept { return _mm_or_si128(one, other); };
  const auto bits = [](__m128i found) noexcept { return static_cast<std::uint32_t>(_mm_movemask_epi8(found)); };
  found->always = bits(any(any(any(is('*'), is('?')), any(is('['), is('$'))), any(is('`'), is('{'))));
  found->looked = bits(any(any(is('.'), is('/')), is('~')));
  found->doubled = bits(is('f'));
#else
  *found = Leads();
  find_leads_of_few(bytes, 16, found);
#endif
}

// The first folder of an absolute path and the slash before it; empty where it has but one part.
inline std::string_view top_of(std::string_view path) noexcept {
  for (std::size_t end = 1; end < path.size(); ++end)
    if (path[end] == '/') return path.substr(0, end);
  return {};
}
inline bool holds(std::string_view text, std::string_view part) noexcept {
  return !part.empty() && text.find(part) != std::string_view::npos;
}
inline bool ends_as(std::string_view path, std::string_view name) noexcept {
  return path.size() >= name.size() && ascii::same_bytes({path.data() + path.size() - name.size(), name.size()}, name);
}
// Whether a path's name has the gate's own, as that of every usual one does: then looking for that is enough.
inline bool has_own_name(std::string_view path) noexcept {
  return path.empty() || (path[0] == '/' && (ends_as(path, "/tipstaff") || ends_as(path, "/tipstaff-hook")));
}

// Tells whether a word of a text may lead to one of two paths, as long as no link does: by an expansion, a name that begins
// with a dot, a step up, a path that begins as theirs do, or their name.
class TextHints {
 public:
  TextHints(std::string_view state, std::string_view program) noexcept
      : paths_{state, program}, are_rooted_(is_rooted(state) && is_rooted(program)),
        are_usual_(has_own_name(state) && has_own_name(program)) {}

  // One pass over the text.
  bool may_lead(std::string_view text) const noexcept {
    const char* const bytes = text.data();
    const std::size_t size = text.size();
    Leads found;
    Turns turns{text};
    std::uint32_t always = 0, doubled = 0;
    std::size_t at = 0;
    for (; at + 16 <= size; at += 16) {
      find_leads(bytes + at, &found);
      always |= found.always;
      doubled |= found.doubled & (found.doubled << 1 | static_cast<std::uint32_t>(at != 0 && bytes[at - 1] == 'f'));
      if (found.looked != 0 && lead_at(turns, at, found.looked)) return true;
    }
    if (at != size) {
      // Some bytes again, where there are as many.
      const std::size_t from = size >= 16 ? size - 16 : 0;
      if (size >= 16) {
        find_leads(bytes + from, &found);
      } else {
        found = Leads();
        find_leads_of_few(bytes, size, &found);
      }
      always |= found.always;
      doubled |= found.doubled & found.doubled << 1;
      if (from != 0 && bytes[from - 1] == 'f') doubled |= found.doubled & 1;
      if (found.looked != 0 && lead_at(turns, from, found.looked)) return true;
    }
    return always != 0 || (doubled != 0 && holds(text, kOwnName)) || (!are_usual_ && holds_unusual(text));
  }

 private:
  static bool is_rooted(std::string_view path) noexcept { return path.empty() || path[0] == '/'; }
  // A text, and whether an escape or a pipe in it may turn a name round: looked for once, when first asked.
  struct Turns {
    std::string_view text;
    bool known = false, found = false;

    bool any() noexcept {
      if (!known) found = text.find('\\') != std::string_view::npos || text.find('|') != std::string_view::npos;
      known = true;
      return found;
    }
  };
  // `looked`: bits of the bytes from `at` on.
  [[gnu::noinline]] bool lead_at(Turns& turns, std::size_t at, std::uint32_t looked) const noexcept {
    for (; looked != 0; looked &= looked - 1)
      if (leads(turns, at + static_cast<std::size_t>(lowest_bit(looked)))) return true;
    return false;
  }
  bool leads(Turns& turns, std::size_t at) const noexcept {
    const std::string_view text = turns.text;
    const char before = at == 0 ? ' ' : text[at - 1], after = at + 1 < text.size() ? text[at + 1] : ' ';
    switch (text[at]) {
      case '~': return !ascii::is_digit(after) || !within_name(turns, at);  // HEAD~2
      case '.':  // a name, or the second of two
        if (before == '.') return !ascii::is_name(after) || !within_name(turns, at - 1);  // main..HEAD
        return is_apart(before) || (at >= 2 && text[at - 2] == '-') || (at + 1 == text.size() && !within_name(turns, at));
      default: break;
    }
    if (ascii::is_name(after)) return begins(text, at, paths_[0]) || begins(text, at, paths_[1]);
    // dist/, node_modules/@types, https://
    if (after == '/') return !ascii::ends_with(text.substr(0, at), "http:") && !ascii::ends_with(text.substr(0, at), "https:");
    return (after != ' ' && after != '@' && after != '-' && after != '+') || !within_name(turns, at);
  }
  // What a path may begin after.
  static bool is_apart(char c) noexcept {
    return c == ' ' || c == '/' || c == '=' || c == '"' || c == '\'' || c == ':' || c == ',' || c == '@';
  }
  // Whether a byte continues a name. Not in `-Xname`, where it begins one, nor where an escape may end before it, or a
  // pipe may turn it round.
  bool within_name(Turns& turns, std::size_t at) const noexcept {
    const std::string_view text = turns.text;
    return are_rooted_ && at != 0 && ascii::is_name(text[at - 1]) && (at < 2 || text[at - 2] != '-') && !turns.any();
  }
  // `/home`, and not `/homework`.
  static bool begins(std::string_view text, std::size_t at, std::string_view path) noexcept {
    const std::string_view top = top_of(path);
    if (top.empty() || text.substr(at, top.size()) != top) return false;
    const std::size_t end = at + top.size();
    return end >= text.size() || !(ascii::is_name(text[end]) || text[end] == '-');
  }
  bool holds_unusual(std::string_view text) const noexcept {
    for (const std::string_view path : paths_) {
      const std::size_t slash = path.rfind('/');
      if (slash != std::string_view::npos && holds(text, path.substr(slash + 1))) return true;
      if (!path.empty() && path[0] != '/' && holds(text, top_of(path))) return true;  // C:/Users
    }
    return false;
  }

  const std::string_view paths_[2];
  const bool are_rooted_;  // at `/`; whoever has drives is looked at more closely
  const bool are_usual_;
};

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

// Where the next mark is after which a path of its own may begin: = : , @. The text's size where there is none.
inline std::size_t mark_in(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && (text[at] == '/' || (kSteps[static_cast<unsigned char>(text[at])] & step::kApart) == 0)) ++at;
  return at;
}

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
