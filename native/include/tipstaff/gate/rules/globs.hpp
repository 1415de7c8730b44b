// Matches texts against the globs of a policy image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/patterns.hpp"
#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/word_signs.hpp"
#include "tipstaff/text/lowest_bit.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff::gate::rules {

using ascii::lower;
using ascii::same_bytes;

// Whether `text` is `name`, which is in lower case.
inline bool equal_folded(std::string_view text, std::string_view name) noexcept {
  return same_bytes(text, name) || ascii::equals(text, name);
}
inline bool starts_folded(std::string_view text, std::string_view start) noexcept { return ascii::starts_with(text, start); }

// `*` and `?`, a backslash before a star that is one; the glob is in lower case. Linear in the text for the image's short globs.
inline bool matches_general(std::string_view glob, std::string_view text) noexcept {
  return matches_stars(glob, text, [glob](std::size_t at, char letter, std::size_t* next) noexcept {
    const bool escaped = glob[at] == '\\' && at + 1 < glob.size();
    if (escaped) *next = at + 2;
    const char wanted = glob[escaped ? at + 1 : at];
    return (wanted == '?' && !escaped) || ascii::lower(letter) == wanted;
  });
}

inline bool contains_folded(std::string_view text, std::string_view part) noexcept {
  if (part.empty()) return true;
  if (text.size() < part.size()) return false;
  const std::size_t positions = text.size() - part.size() + 1;
  const auto is_at = [&](std::size_t at) noexcept { return equal_folded(text.substr(at, part.size()), part); };
  std::size_t at = 0;
#if defined(__SSE2__)
  // Its first and its last letter, both where they should be, at 16 positions at a time.
  constexpr char kSmall = ' ';
  const __m128i small = _mm_set1_epi8(kSmall), first = _mm_set1_epi8(static_cast<char>(part.front() | kSmall)),
                last = _mm_set1_epi8(static_cast<char>(part.back() | kSmall));
  const auto is = [&](const char* from, __m128i letter) noexcept {
    return _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), small), letter);
  };
  const char* const bytes = text.data();
  for (; positions - at >= 16; at += 16) {
    auto found = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_and_si128(is(bytes + at, first), is(bytes + at + part.size() - 1, last))));
    for (; found != 0; found &= found - 1)
      if (is_at(at + static_cast<std::size_t>(lowest_bit(found)))) return true;
  }
#endif
  for (; at < positions; ++at)
    if (lower(text[at]) == part[0] && is_at(at)) return true;
  return false;
}

inline bool matches(const Image& image, const record::Glob& glob, std::string_view text) noexcept {
  const std::string_view pattern = image.text(glob.text);
  switch (static_cast<GlobKind>(glob.kind)) {
    case GlobKind::literal: return equal_folded(text, pattern);
    case GlobKind::prefix: return starts_folded(text, pattern);
    case GlobKind::suffix:
      return text.size() >= pattern.size() && equal_folded(text.substr(text.size() - pattern.size()), pattern);
    case GlobKind::contains: return contains_folded(text, pattern);
    case GlobKind::general: return matches_general(pattern, text);
    case GlobKind::anything: return true;
  }
  return false;
}

// Whether some glob can match a text that has no other letters than these.
inline bool may_match(const Image& image, std::uint32_t first, std::uint32_t count, std::uint32_t letters) noexcept {
  for (std::uint32_t i = first; i < first + count; ++i)
    if ((image.globs[i].letters & ~letters) == 0) return true;
  return false;
}

// Whether its length and one letter allow that a glob matches a text: most are distinguished by them.
inline bool outline_fits(const record::Glob& glob, std::string_view text) noexcept {
  if (text.size() < glob.least) return false;
  if (glob.edge == 0) return true;
  if (text.empty()) return false;
  const char edge = glob.kind == static_cast<std::uint32_t>(GlobKind::suffix) ? text.back() : text.front();
  return glob.edge == static_cast<unsigned char>(lower(edge));
}

// Whether it is one that costs a walk over the text.
inline bool is_searched(const record::Glob& glob) noexcept { return glob.kind >= static_cast<std::uint32_t>(GlobKind::contains); }

// Whether letters allow that a glob matches a text. `known`: has all letters and all pairs of them that the text may have.
template <class Known>
inline bool letters_fit(const record::Glob& glob, const Known& known) noexcept {
  return (glob.letters & ~known.all_letters()) == 0 && (!is_searched(glob) || (glob.all_pairs() & ~known.all_pairs()) == 0);
}

inline bool matches_any(const Image& image, std::uint32_t first, std::uint32_t count, std::string_view text) noexcept {
  for (std::uint32_t i = first; i < first + count; ++i)
    if (outline_fits(image.globs[i], text) && matches(image, image.globs[i], text)) return true;
  return false;
}

// Globs that the words of one command are matched with in turn: those that letters rule out are passed once for all words.
template <class Known>
class GlobList {
 public:
  // `known`: of all words.
  GlobList(const Image& image, std::uint32_t first, std::uint32_t count, const Known& known) noexcept
      : image_(image), known_(known), next_(first), end_(first + count) {}

  bool any(std::string_view text) noexcept {
    const auto is = [&](std::uint32_t glob) noexcept { return outline_fits(image_.globs[glob], text) && matches(image_, image_.globs[glob], text); };
    for (std::uint32_t i = 0; i < count_; ++i)
      if (is(kept_[i])) return true;
    for (; next_ < end_; ++next_) {
      if (!letters_fit(image_.globs[next_], known_)) continue;
      if (count_ == kMost) return matches_any(image_, next_, end_ - next_, text);
      kept_[count_++] = next_;
      if (is(next_)) return ++next_, true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kMost = 64;
  const Image& image_;
  const Known& known_;
  std::uint32_t next_, end_;
  std::uint32_t count_ = 0;
  std::uint32_t kept_[kMost];
};

}  // namespace tipstaff::gate::rules
