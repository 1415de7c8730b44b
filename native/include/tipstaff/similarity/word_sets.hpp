// Texts as sets of words, and the most similar of many: exact, while sets come and go.
#ifndef TIPSTAFF_SIMILARITY_WORD_SETS_HPP
#define TIPSTAFF_SIMILARITY_WORD_SETS_HPP

#include <cstdint>
#include <vector>

#include "tipstaff/text/text.hpp"

namespace tipstaff {

struct WordMatch {
  std::int32_t slot;    // -1: no set reaches the threshold
  std::int32_t shared;  // size of the intersection
  std::int32_t joined;  // size of the union
};

// A word is a run of ASCII letters, digits, underscores and bytes above 127; A-Z count as a-z. So
// whoever wants words of other scripts apart puts spaces between them first. Words are compared byte by
// byte, not by their hashes.
//
// Two sets of n and m words that reach threshold t share a word among the first n - ceil(t n) + 1 of
// the one and m - ceil(t m) + 1 of the other, when words are ordered from rare to common. Only those
// prefixes are indexed and asked for. Any fixed order is right; it is made again from the words'
// frequencies whenever the number of sets has doubled, and a word that came later counts as rarest.
//
// Not for several threads at once. Members may throw std::bad_alloc; then the index is to be thrown away.
class WordSetIndex {
 public:
  static constexpr std::int64_t max_text_bytes = 131070;  // so that a set has at most 65,535 words

  // 0 < threshold <= 1. The seed keeps anyone from choosing words whose hashes collide.
  WordSetIndex(double threshold, std::uint64_t seed);

  // The most similar set whose mark is within [earliest, latest]; of equals, the lowest slot.
  WordMatch find(ByteView text, std::int64_t earliest, std::int64_t latest);
  // Takes the set in and returns its slot; slots count from 0. A text without words has an empty set,
  // which is like no other.
  std::int32_t add(ByteView text, std::int64_t mark);
  // The most similar set, or, where there is none, the slot of the new one with shared = 0.
  WordMatch find_or_add(ByteView text, std::int64_t mark, std::int64_t earliest, std::int64_t latest);
  void set_mark(std::int32_t slot, std::int64_t mark) noexcept;
  void remove(std::int32_t slot) noexcept;
  std::int32_t size() const noexcept { return static_cast<std::int32_t>(begins_.size()); }

 private:
  static constexpr std::uint32_t short_word = 16;
  static constexpr std::uint32_t few_words = 16;  // so many are compared at once
  static constexpr std::size_t at_once = 4;

  // Where a word is in the prefix of a set.
  struct Posting {
    std::uint32_t begin;  // of the set, in records_
    std::uint16_t position;
    std::uint16_t size;
  };
  // All that a question needs of a word, in one cache line: most words are rare. The lines themselves are
  // the table that words are looked up in, so that finding one reads nothing else.
  struct alignas(64) Word {
    static constexpr std::uint32_t few = 3;
    std::uint32_t length;  // 0 where no word is
    std::uint32_t order;
    std::uint32_t begin;  // in letters_, of a word that is not short
    std::uint32_t read_by;  // the text that last had it
    std::uint64_t low;    // the first 16 letters
    std::uint64_t high;
    std::uint32_t count;       // of postings
    std::uint32_t pool_begin;  // in pool_, of more than a few
    Posting own[few];
  };
  // A word of the text that is asked for.
  struct Piece {
    std::uint32_t begin;
    std::uint32_t length;
    std::uint32_t hash;
    std::uint64_t low;
    std::uint64_t high;
  };
  // A set that shares a word with the question, and where the first of those is in both.
  struct Sharing {
    Posting posting;
    std::uint32_t asked_at;
  };
  // The most similar set so far, and what one must have to be more similar.
  struct Lead;

  // Orders below `first_ranked` are words that came since the order was made, the newest lowest.
  static constexpr std::uint32_t first_ranked = 1u << 31;

  void read(ByteView text);
  std::size_t find_pieces(ByteView text);
  void put_in_order(std::size_t n_words);
  void make_room(std::size_t n_more);
  void forget_newcomers(std::size_t but) noexcept;
  bool is_word(const Word& word, const Piece& piece, const unsigned char* letters) const noexcept;
  std::uint32_t entry_after(const Piece& piece, const unsigned char* letters);
  std::uint32_t entry_of(std::uint32_t order) const noexcept;
  WordMatch search(std::int64_t earliest, std::int64_t latest) noexcept;
  void compare(const Sharing* sharing, std::size_t count, Lead* lead) noexcept;
  const Posting* postings_of(const Word& word) const noexcept;
  void post_word(std::uint32_t entry, Posting posting);
  std::int64_t shared_with(const std::uint32_t* members, std::int64_t n_members, std::int64_t k,
                           std::int64_t j) const noexcept;
  std::int32_t insert(std::int64_t mark);
  void post(std::uint32_t begin, const std::uint32_t* entries);
  void reorder();

  double threshold_;
  std::uint64_t seed_;
  std::vector<Word> words_;  // open addressing
  std::vector<unsigned char> letters_;
  std::vector<Posting> pool_;
  std::vector<std::uint32_t> ranked_;     // entries of words by rank
  std::vector<std::uint32_t> newcomers_;  // of those without one, as they came
  std::vector<std::uint32_t> records_;    // of each set: what is known of it, and its words' orders, ascending
  std::vector<std::uint32_t> begins_;     // of the records, by slot
  std::uint32_t questions_ = 0;
  std::size_t ordered_at_ = 0;
  std::vector<unsigned char> lowered_;  // of one question
  std::vector<std::uint32_t> edges_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> orders_;  // of its words, as they come
  std::vector<std::uint32_t> entries_;
  std::vector<std::uint64_t> both_;
  std::uint32_t query_size_ = 0;
  std::vector<std::uint32_t> query_;         // orders, ascending; after a few, unused
  std::vector<std::uint32_t> query_entries_;  // of their words
  std::uint32_t texts_ = 0;
};

}  // namespace tipstaff

#endif
