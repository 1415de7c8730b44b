// Reads a text into its set of words, by the table of all words that the index knows.
//
// An index that is asked now and then finds nothing of itself in the caches. What a question will read is therefore
// fetched for all its words at once, before the first of them is looked up.
#include <algorithm>
#include <cstring>
#include <limits>

#include "tipstaff/scoring/few_numbers.hpp"
#include "tipstaff/similarity/word_sets.hpp"
#include "tipstaff/text/lowest_bit.hpp"
#include "tipstaff/text/word_letters.hpp"

namespace tipstaff {

using namespace word_letters;

// Makes room for so many words more; after that, entries stay as they are until the next text.
void WordSetIndex::make_room(std::size_t n_more) {
  const std::size_t n_words = ranked_.size() + newcomers_.size() + n_more;
  std::size_t size = words_.size();
  while (n_words * 2 > size) size *= 2;
  if (size == words_.size()) return;
  std::vector<Word> grown(size);
  const auto move = [&](std::uint32_t& entry) {
    const Word& word = words_[entry];
    const unsigned char* letters = letters_.data() + word.begin;
    std::size_t at = hashed({word.low, word.high}, letters, word.length, seed_) & (size - 1);
    while (grown[at].length != 0) at = (at + 1) & (size - 1);
    grown[at] = word;
    entry = static_cast<std::uint32_t>(at);
  };
  for (std::uint32_t& entry : ranked_) move(entry);
  for (std::uint32_t& entry : newcomers_) move(entry);
  words_.swap(grown);
}

bool WordSetIndex::is_word(const Word& word, const Piece& piece, const unsigned char* letters) const noexcept {
  if (((word.low ^ piece.low) | (word.high ^ piece.high) | (word.length ^ piece.length)) != 0) return false;
  return piece.length <= short_word || std::memcmp(letters_.data() + word.begin, letters, piece.length) == 0;
}

// The entry of a word that is not where its hash says: there it may be further on.
std::uint32_t WordSetIndex::entry_after(const Piece& piece, const unsigned char* letters) {
  const std::size_t mask = words_.size() - 1;
  std::size_t at = piece.hash & mask;
  for (; words_[at].length != 0; at = (at + 1) & mask) {
    if (is_word(words_[at], piece, letters)) return static_cast<std::uint32_t>(at);
  }
  const auto order = first_ranked - 1 - static_cast<std::uint32_t>(newcomers_.size());
  const auto begin = static_cast<std::uint32_t>(letters_.size());
  if (piece.length > short_word) letters_.insert(letters_.end(), letters, letters + piece.length);
  words_[at] = {piece.length, order, begin, 0, piece.low, piece.high, 0, 0, {}};
  newcomers_.push_back(static_cast<std::uint32_t>(at));
  return newcomers_.back();
}

// Words leave in the order opposite to how they came, so each was the last of its probe sequence.
void WordSetIndex::forget_newcomers(std::size_t but) noexcept {
  while (newcomers_.size() > but) {
    Word& word = words_[newcomers_.back()];
    letters_.resize(word.begin);
    word = {};
    newcomers_.pop_back();
  }
}

// Cuts the text into pieces and returns how many there are.
std::size_t WordSetIndex::find_pieces(ByteView text) {
  const auto size = static_cast<std::size_t>(text.size);
  // Blocks of 64 bytes, one of padding after the last; of n bytes at most every second begins a word.
  const std::size_t padded = (size + 63) / 64 * 64;
  if (lowered_.size() < padded + 64) {
    lowered_.resize(padded + 64);
    edges_.resize(padded + 2);
    pieces_.resize(padded / 2 + 1);
    orders_.resize(padded / 2 + 32);  // as many as `rank` reads
    entries_.resize(padded / 2 + 1);
  }
  unsigned char* lowered = lowered_.data();
  std::uint32_t* edges = edges_.data();  // where words begin and end, in turns
  std::size_t n_edges = 0;
  std::uint64_t before = 0;  // whether the last byte of the block before was a letter
  for (std::size_t at = 0; at < padded; at += 64) {
    unsigned char last[64] = {};
    const unsigned char* block = text.data + at;
    if (size - at < 64) {
      std::memcpy(last, block, size - at);
      block = last;
    }
    const std::uint64_t letters = lower_block(block, lowered + at);
    for (std::uint64_t bits = letters ^ (letters << 1 | before); bits != 0; bits &= bits - 1) {
      edges[n_edges++] = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(lowest_bit(bits));
    }
    before = letters >> 63;
  }
  edges[n_edges] = static_cast<std::uint32_t>(padded);  // of a word that ends with the text
  const std::size_t n_pieces = (n_edges + 1) / 2;
  Piece* pieces = pieces_.data();
  const std::uint64_t seed = seed_;
  for (std::size_t n = 0; n < n_pieces; ++n) {
    const std::uint32_t begin = edges[2 * n];
    const std::uint32_t length = edges[2 * n + 1] - begin;
    const Key key = key_of(lowered + begin, length);
    pieces[n] = {begin, length, hashed(key, lowered + begin, length, seed), key.low, key.high};
  }
  return n_pieces;
}

void WordSetIndex::read(ByteView text) {
  if (++texts_ == 0) {
    for (Word& word : words_) word.read_by = 0;
    texts_ = 1;
  }
  const std::size_t n_pieces = find_pieces(text);
  make_room(n_pieces);
  const std::size_t mask = words_.size() - 1;
  Word* words = words_.data();
  const Piece* pieces = pieces_.data();
  for (std::size_t n = 0; n < n_pieces; ++n) __builtin_prefetch(words + (pieces[n].hash & mask));
  const unsigned char* lowered = lowered_.data();
  std::uint32_t* orders = orders_.data();
  std::uint32_t* entries = entries_.data();
  const std::uint32_t text_number = texts_;
  std::size_t n_words = 0;
  for (std::size_t n = 0; n < n_pieces; ++n) {
    const Piece& piece = pieces[n];
    const unsigned char* letters = lowered + piece.begin;
    auto entry = static_cast<std::uint32_t>(piece.hash & mask);
    if (!is_word(words[entry], piece, letters)) entry = entry_after(piece, letters);
    Word& word = words[entry];
    orders[n_words] = word.order;
    entries[n_words] = entry;
    n_words += word.read_by != text_number;
    word.read_by = text_number;
  }
  put_in_order(n_words);
}

void WordSetIndex::put_in_order(std::size_t n_words) {
  query_size_ = static_cast<std::uint32_t>(n_words);
  if (query_.size() < n_words + few_words) {
    query_.resize(n_words + few_words);
    query_entries_.resize(n_words);
  }
  if (n_words <= 2 * few_words) {
    // No word has the greatest order.
    if (n_words < few_words) std::fill_n(query_.data(), few_words, std::numeric_limits<std::uint32_t>::max());
    const auto put = n_words <= few_words ? few_numbers::rank<few_words> : few_numbers::rank<2 * few_words>;
    put(orders_.data(), entries_.data(), n_words, query_.data(), query_entries_.data());
    return;
  }
  both_.resize(n_words);
  for (std::size_t n = 0; n < n_words; ++n) both_[n] = std::uint64_t{orders_[n]} << 32 | entries_[n];
  std::sort(both_.begin(), both_.end());
  for (std::size_t n = 0; n < n_words; ++n) {
    query_[n] = static_cast<std::uint32_t>(both_[n] >> 32);
    query_entries_[n] = static_cast<std::uint32_t>(both_[n]);
  }
}

}  // namespace tipstaff
