// The words that say what a task is about, and those of them that a topic has too.
//
// A topic is the hashes of its stems, uint64 each. A task's words are those of its beginning that are no words of the
// grammar; a single letter, which is most often a name, says nothing either.
#ifndef TIPSTAFF_TASKS_WORDS_HPP
#define TIPSTAFF_TASKS_WORDS_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/text/words.hpp"

namespace tipstaff {

class TaskWords {
 public:
  static constexpr std::int64_t kMost = 64;          // words of a task that count

  // Reads a lowered text; words whose value has a bit of `grammar` belong to no topic. The text is to outlive this.
  void read(const Lexicon& lexicon, std::uint64_t grammar, ByteView text) noexcept {
    count_ = 0;
    std::int64_t at = 0;
    ByteView word{nullptr, 0};
    for (std::int64_t i = 0; i < kMost && next_token(text, false, at, word) == Token::word; ++i) {
      const Meaning found = look_up(lexicon, word);
      if ((found.known && (found.value & grammar) != 0) || is_one_letter(word)) continue;
      const std::uint64_t stem = stem_hash(lexicon, word, found);
      std::int64_t same = 0;
      while (same < count_ && stems_[same] != stem) ++same;
      stems_[same] = stem;
      words_[same] = word;  // of several words with one stem the last, at the position of the first
      if (same == count_) ++count_;
    }
  }

  std::int64_t count() const noexcept { return count_; }
  std::uint64_t stem(std::int64_t i) const noexcept { return stems_[i]; }

  // Writes "'one', 'other'" for at most `most` words that a topic of `size` hashes has too, at any alignment; returns how
  // many bytes. `out` has room for the text read and 4 bytes more for each of its words.
  std::int64_t shared(const unsigned char* topic, std::int64_t size, std::int64_t most, char* out) const noexcept {
    std::int64_t written = 0;
    for (std::int64_t i = 0; i < count_ && most > 0; ++i) {
      if (!has(topic, size, stems_[i])) continue;
      --most;
      if (written > 0) {
        out[written++] = ',';
        out[written++] = ' ';
      }
      out[written++] = '\'';
      std::memcpy(out + written, words_[i].data, static_cast<std::size_t>(words_[i].size));
      written += words_[i].size;
      out[written++] = '\'';
    }
    return written;
  }

 private:
  static bool is_one_letter(ByteView word) noexcept {
    std::int64_t chars = 0;
    for (std::int64_t i = 0; i < word.size && chars < 2; ++i) chars += (word.data[i] & 0xC0) != 0x80;
    return chars < 2;
  }

  static bool has(const unsigned char* topic, std::int64_t size, std::uint64_t stem) noexcept {
    bool found = false;
    for (std::int64_t i = 0; i < size; ++i) {
      std::uint64_t one;
      std::memcpy(&one, topic + 8 * i, 8);
      found |= one == stem;
    }
    return found;
  }

  std::uint64_t stems_[kMost];
  ByteView words_[kMost];
  std::int64_t count_ = 0;
};

}  // namespace tipstaff

#endif
