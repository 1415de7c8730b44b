// Signs of the words of a text that tell at once that a glob matches none of them: how words begin, how they end, and
// which letters stand side by side.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tipstaff::gate {

// Letters without case, one class for digits, for each of - . / and for all others; a word's ends are one as well.
// tipstaff.gates.image_triggers has the same.
constexpr std::array<std::uint8_t, 256> make_letter_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if (c >= 'a' && c <= 'z') classes[c] = static_cast<std::uint8_t>(c - 'a');
    else if (c >= 'A' && c <= 'Z') classes[c] = static_cast<std::uint8_t>(c - 'A');
    else if (c >= '0' && c <= '9') classes[c] = 26;
    else classes[c] = c == '-' ? 27 : c == '.' ? 28 : c == '/' ? 29 : 30;
  }
  return classes;
}
inline constexpr std::array<std::uint8_t, 256> kLetterClasses = make_letter_classes();

constexpr std::uint32_t letter_class(char c) noexcept { return kLetterClasses[static_cast<unsigned char>(c)]; }

// Compilers write out a memset of a size that they know, slowly for sizes as these.
#if defined(__GNUC__)
__attribute__((noinline))
#endif
inline void wipe(void* memory, std::size_t bytes) noexcept { std::memset(memory, 0, bytes); }

class WordSigns {
 public:
  static constexpr std::uint32_t kBoundary = 31;
  // Where the signs lie: of beginnings from 0 on, of ends, of pairs.
  static constexpr std::uint32_t kEnds = 4096, kPairs = 8192;

  void clear() noexcept { wipe(ends_, sizeof ends_); }
  void clear_pairs() noexcept { wipe(pairs_, sizeof pairs_); }

  // The word's beginning and end.
  void add(std::string_view word) noexcept {
    const std::size_t n = word.size();
    if (n >= 3) {
      const char* const end = word.data() + n;
      set(sign(letter_class(word[0]), letter_class(word[1]), letter_class(word[2])));
      set(kEnds + sign(letter_class(end[-3]), letter_class(end[-2]), letter_class(end[-1])));
    } else {
      const std::uint32_t first = n > 0 ? letter_class(word[0]) : kBoundary, last = n > 1 ? letter_class(word[1]) : first;
      set(sign(first, n > 1 ? last : kBoundary, kBoundary));
      set(kEnds + sign(kBoundary, n > 1 ? first : kBoundary, last));
    }
  }
  // All pairs in the word, with its ends. Linear.
  void add_pairs(std::string_view word) noexcept {
    std::uint32_t last = kBoundary;
    for (const char c : word) {
      const std::uint32_t next = letter_class(c);
      pairs_[last << 5 | next] = 1;
      last = next;
    }
    pairs_[last << 5 | kBoundary] = 1;
  }
  // Whether both of two signs are there, as an image packs them; of beginnings and ends, and of pairs.
  bool has(std::uint32_t packed) const noexcept { return (bit(packed & 0xffff) & bit(packed >> 16) & 1) != 0; }
  bool has_pairs(std::uint32_t packed) const noexcept { return (pairs_[packed & 1023] & pairs_[packed >> 16 & 1023]) != 0; }

 private:
  static constexpr std::uint32_t sign(std::uint32_t first, std::uint32_t second, std::uint32_t third) noexcept {
    return ((first << 10 | second << 5 | third) * 40503u & 0xffff) >> 4;
  }
  void set(std::uint32_t sign) noexcept { ends_[sign >> 6] |= std::uint64_t{1} << (sign & 63); }
  std::uint64_t bit(std::uint32_t sign) const noexcept { return ends_[sign >> 6] >> (sign & 63); }

  std::uint64_t ends_[kPairs / 64];
  std::uint8_t pairs_[1024];
};

}  // namespace tipstaff::gate
