// What a task asks for, in words: its content words, the terms by which rules are looked up, and the fields of work.
//
// A lexicon (tipstaff/text/words.hpp) says of a word, or of two or three with spaces between them, which term it is and,
// in its value, what it does. kernels/formats/fused.py has the same bits for who writes it.
#ifndef TIPSTAFF_TASKS_QUERY_HPP
#define TIPSTAFF_TASKS_QUERY_HPP

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tipstaff/text/letters.hpp"
#include "tipstaff/text/utf8.hpp"
#include "tipstaff/text/words.hpp"

namespace tipstaff {

// The value of a word in the lexicon: these bits, and from kFieldShift on up to kFieldsOfWord fields of work, each 5 bits
// of its number and 6 of how much the word asks for it, in sixty-thirds.
enum QueryWordBit : std::uint64_t { kStop = 1, kWeak = 2, kVerb = 4, kAsks = 8, kAsksHow = 16, kAfterHow = 32 };
inline constexpr int kFieldShift = 8;
inline constexpr int kFieldsOfWord = 4;
inline constexpr int kFieldBits = 11;
inline constexpr int kMostFields = 32;

// A text's words in lower case, camelCase taken apart, Latin letters without marks; of scripts without spaces, pairs.
class QueryWords {
 public:
  static constexpr int kMost = 512;
  static constexpr std::int64_t kMostBytes = 8192;  // of a text that are read

  struct Word {
    std::int32_t at, size;
    std::int32_t run;  // bytes of the run of ideographs that begins here, 0 for any other word, -1 inside a run
  };

  void read(ByteView text) noexcept {
    if (text.size > kMostBytes) text.size = kMostBytes;
    count_ = 0;
    size_ = 0;
    start_ = 0;
    std::int64_t at = 0;
    Letter script = Letter::folded, before = Letter::border;
    while (at < text.size) {
      const unsigned char byte = text.data[at];
      Character one{Letter::border, 0, 0};
      if (byte < 0x80) {
        ++at;
        const std::uint32_t c = byte;
        if (c - 'a' < 26u || c - '0' < 10u) {
          one = {Letter::lower, 0, c};
        } else if (c - 'A' < 26u) {
          one = {Letter::upper, 0, c + 32};
        } else if (byte == '\'') {
          one.kind = Letter::joiner;
        }
      } else {
        one = classify_beyond_ascii(decode_utf8(text, at));
      }
      if (one.kind == Letter::joiner) {
        before = Letter::border;
        continue;
      }
      const bool foreign = one.kind == Letter::alphabetic || one.kind == Letter::ideograph;
      const Letter found = foreign ? one.kind : Letter::folded;
      const bool splits = one.kind == Letter::upper &&
                          (before == Letter::lower || (before == Letter::upper && at + 1 < text.size &&
                                                       is_small(text.data[at]) && is_small(text.data[at + 1])));
      if (one.kind == Letter::border || found != script || splits) end(script);
      script = found;
      before = one.kind;
      if (one.kind == Letter::border) continue;
      if (foreign) {
        size_ += static_cast<std::int32_t>(write_utf8(one.code, bytes_ + size_));
      } else {
        bytes_[size_++] = static_cast<unsigned char>(one.code);
        if (one.second != 0) bytes_[size_++] = one.second;
      }
    }
    end(script);
    std::memset(bytes_ + size_, 0, padding);
  }

  int count() const noexcept { return count_; }
  const Word& word(int i) const noexcept { return words_[i]; }
  ByteView span(int i) const noexcept { return {bytes_ + words_[i].at, words_[i].size}; }
  // From one word to the last of several.
  ByteView span(int i, int last) const noexcept {
    return {bytes_ + words_[i].at, words_[last].at + words_[last].size - words_[i].at};
  }

 private:
  static bool is_small(unsigned char byte) noexcept { return static_cast<std::uint32_t>(byte) - 'a' < 26u; }

  void end(Letter script) noexcept {
    if (size_ > start_) {
      if (script == Letter::ideograph) {
        end_run();
      } else {
        add(start_, size_, 0);
      }
      bytes_[size_++] = ' ';
    }
    start_ = size_;
  }

  void end_run() noexcept {
    std::int32_t at = start_, next = after(start_);
    if (next == size_) {
      add(at, size_, size_ - start_);
      return;
    }
    for (bool first = true; next < size_; first = false) {
      const std::int32_t end = after(next);
      add(at, end, first ? size_ - start_ : -1);
      at = next;
      next = end;
    }
  }

  std::int32_t after(std::int32_t at) const noexcept {
    ++at;
    while (at < size_ && (bytes_[at] & 0xC0) == 0x80) ++at;
    return at;
  }

  void add(std::int32_t at, std::int32_t end, std::int32_t run) noexcept {
    if (count_ < kMost) words_[count_++] = {at, end - at, run};
  }

  int count_ = 0;
  std::int32_t size_ = 0, start_ = 0;
  Word words_[kMost];
  // Every byte read gives at most two, and a space.
  unsigned char bytes_[3 * kMostBytes + 64 + padding];
};

// Terms and their weights; a term comes once, with the highest weight it was given.
class QueryTerms {
 public:
  static constexpr int kMost = 768;
  void clear() noexcept { count_ = 0; }
  int find(std::uint64_t term) const noexcept {
    int i = 0;
    while (i < count_ && terms_[i] != term) ++i;
    return i;
  }
  void add(std::uint64_t term, float weight) noexcept {
    const int i = find(term);
    if (i == count_) {
      if (count_ == kMost) return;
      terms_[count_] = term;
      weights_[count_++] = weight;
    } else if (weight > weights_[i]) {
      weights_[i] = weight;
    }
  }
  int count() const noexcept { return count_; }
  std::uint64_t term(int i) const noexcept { return terms_[i]; }
  float weight(int i) const noexcept { return weights_[i]; }

 private:
  int count_ = 0;
  std::uint64_t terms_[kMost];
  float weights_[kMost];
};

// Calls take(term, value) for each term of words: the longest of three, two or one that the lexicon has; words that are
// passed over (kStop) do not count.
template <class Take>
static inline void read_terms(const Lexicon& lexicon, const QueryWords& words, const Take& take) noexcept {
  for (int i = 0; i < words.count();) {
    int used = 1;
    Meaning found = look_up(lexicon, words.span(i));
    for (int n = words.count() - i < 3 ? words.count() - i : 3; n > 1; --n) {
      if (words.word(i).run != 0 || words.word(i + n - 1).run != 0) continue;
      const Meaning phrase = look_up(lexicon, words.span(i, i + n - 1));
      if (phrase.known) {
        found = phrase;
        used = n;
        break;
      }
    }
    if (!found.known || (found.value & kStop) == 0) take(stem_hash(lexicon, words.span(i), found), found.value);
    i += used;
  }
}

// What a task asks for beside its vector.
struct TaskRead {
  float fields[kMostFields];  // how much of each field of work
  int content = 0;            // words that are not passed over
  int strong = 0;             // of these, words that say more than "add" or "fix"
  float nouns = 0.0f;         // how much the words that are no common verbs are about software
  bool asks = false;          // opens as a question does
  bool only_verbs = true;     // no word says what about
};

static inline TaskRead read_task(const Lexicon& lexicon, const QueryWords& words) noexcept {
  TaskRead read{};
  for (int i = 0; i < words.count(); ++i) {
    const Meaning found = look_up(lexicon, words.span(i));
    const std::uint64_t value = found.known ? found.value : 0;
    // Where verbs come last, a question is one by any of its words.
    if ((i == 0 || words.word(i).run != 0) && (value & kAsks) != 0) read.asks = true;
    if (i == 0 && (value & kAsksHow) != 0 && words.count() > 1)
      read.asks |= (look_up(lexicon, words.span(1)).value & kAfterHow) != 0;
    if ((value & kStop) != 0) continue;
    ++read.content;
    read.strong += (value & kWeak) == 0;
    float most = 0.0f;
    std::uint64_t listed = value >> kFieldShift;
    for (int f = 0; f < kFieldsOfWord; ++f, listed >>= kFieldBits) {
      const float much = static_cast<float>(listed >> 5 & 63u) * (1.0f / 63.0f);
      read.fields[listed & 31u] += much;
      most = much > most ? much : most;
    }
    if ((value & kVerb) != 0) continue;
    read.only_verbs = false;
    read.nouns += most;
  }
  return read;
}

}  // namespace tipstaff

#endif
