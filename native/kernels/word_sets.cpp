// Prefix-filtered search among sets of words (Chaudhuri et al. 2006; Bayardo et al. 2007; positions as
// in Xiao et al. 2008), over an index that grows.
#include "tipstaff/word_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tipstaff {

namespace {

struct Letters {
  unsigned char lower[256];  // 0: no letter of a word
  constexpr Letters() noexcept : lower() {
    for (int c = 0; c < 256; ++c) {
      const bool small = c >= 'a' && c <= 'z';
      const bool large = c >= 'A' && c <= 'Z';
      const bool digit = c >= '0' && c <= '9';
      lower[c] = static_cast<unsigned char>(large ? c + 32
                                            : small || digit || c == '_' || c >= 128 ? c : 0);
    }
  }
};
constexpr Letters letters_table;

// An index that is asked now and then finds nothing of it in the caches. What a question will read is
// therefore fetched for all its words at once, before the first of them is looked at.
inline void fetch(const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  a ^= b;
  a *= 0x9E3779B97F4A7C15u;
  a ^= a >> 32;
  a *= 0xD6E8FEB86659FD93u;
  return a ^ (a >> 32);
}

// The first 16 bytes of a word, 0 where it is shorter: 16 bytes must be readable there.
struct Key {
  std::uint64_t low;
  std::uint64_t high;
};

Key key_of(const unsigned char* letters, std::uint32_t length) noexcept {
  Key key;
  std::memcpy(&key.low, letters, 8);
  std::memcpy(&key.high, letters + 8, 8);
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const std::uint32_t upper = length <= 8 ? 0 : length - 8;
  key.low &= length >= 8 ? all : all >> (64 - 8 * length);
  key.high &= upper >= 8 ? all : upper == 0 ? 0 : all >> (64 - 8 * upper);
  return key;
}

std::uint32_t hashed(Key key, const unsigned char* letters, std::uint32_t length, std::uint64_t seed) noexcept {
  std::uint64_t state = mixed(mixed(seed ^ (length * 0xA24BAED4963EE407u), key.low), key.high);
  for (std::uint32_t at = 16; at < length; at += 8) {
    std::uint64_t chunk = 0;
    std::memcpy(&chunk, letters + at, std::min(8u, length - at));
    state = mixed(state, chunk);
  }
  return static_cast<std::uint32_t>(state);
}

// Copies 64 bytes in lower case and gives, as bits, which of them are letters of words.
std::uint64_t lower_block(const unsigned char* text, unsigned char* out) noexcept {
  std::uint64_t letters = 0;
#if defined(__SSE2__)
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * part));
    const auto between = [bytes](char low, char high) noexcept {
      return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1))),
                           _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1))));
    };
    const __m128i capital = between('A', 'Z');
    const __m128i plain = _mm_or_si128(_mm_or_si128(between('a', 'z'), between('0', '9')),
                                       _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')),
                                                    _mm_cmplt_epi8(bytes, _mm_setzero_si128())));
    const __m128i lowered = _mm_or_si128(bytes, _mm_and_si128(capital, _mm_set1_epi8(32)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * part), lowered);
    const auto bits = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(capital, plain)));
    letters |= std::uint64_t{bits} << (16 * part);
  }
#else
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned char lowered = letters_table.lower[text[i]];
    out[i] = lowered;
    letters |= std::uint64_t{lowered != 0} << i;
  }
#endif
  return letters;
}

int lowest_bit(std::uint64_t bits) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  return __builtin_ctzll(bits);
#else
  int at = 0;
  for (; (bits & 1u) == 0; bits >>= 1) ++at;
  return at;
#endif
}

// Rounding may push a product over an integer: the margin keeps filters from refusing what fits.
constexpr double margin = 1e-9;

std::int64_t prefix_length(double threshold, std::int64_t size) noexcept {
  return size - static_cast<std::int64_t>(std::ceil(threshold * static_cast<double>(size) - margin)) + 1;
}

}  // namespace

WordSetIndex::WordSetIndex(double threshold, std::uint64_t seed)
    : threshold_(threshold), seed_(seed), table_(256, 0) {}

std::uint32_t WordSetIndex::id_of(std::uint32_t order) const noexcept {
  return order >= first_ranked
             ? ranked_[order - first_ranked]
             : static_cast<std::uint32_t>(ranked_.size()) + (first_ranked - 1 - order);
}

void WordSetIndex::grow_table() {
  table_.assign(table_.size() * 2, 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t id = 0; id < words_.size(); ++id) {
    std::size_t at = words_[id].hash & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = static_cast<std::uint32_t>(id) + 1;
  }
}

std::uint32_t WordSetIndex::word_id(const Piece& piece, const unsigned char* letters) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = piece.hash & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const Word& word = words_[table_[at] - 1];
    if (word.hash != piece.hash || word.length != piece.length) continue;
    if (word.low != piece.low || word.high != piece.high) continue;
    if (piece.length <= short_word) return table_[at] - 1;
    if (std::memcmp(letters_.data() + word.begin, letters, piece.length) == 0) return table_[at] - 1;
  }
  const auto id = static_cast<std::uint32_t>(words_.size());
  const auto order = first_ranked - 1 - (id - static_cast<std::uint32_t>(ranked_.size()));
  const auto begin = static_cast<std::uint32_t>(letters_.size());
  words_.push_back({piece.hash, piece.length, order, begin, piece.low, piece.high, 0, 0, {}});
  if (piece.length > short_word) letters_.insert(letters_.end(), letters, letters + piece.length);
  table_[at] = id + 1;
  if (words_.size() * 2 > table_.size()) grow_table();
  return id;
}

// Words leave in the order opposite to how they came, so each was the last of its probe sequence.
void WordSetIndex::forget_words_since(std::uint32_t n_words) noexcept {
  const std::size_t mask = table_.size() - 1;
  while (words_.size() > n_words) {
    const auto id = static_cast<std::uint32_t>(words_.size());
    std::size_t at = words_.back().hash & mask;
    while (table_[at] != id) at = (at + 1) & mask;
    table_[at] = 0;
    letters_.resize(words_.back().begin);
    words_.pop_back();
  }
}

void WordSetIndex::read(Span text) {
  const auto size = static_cast<std::size_t>(text.size);
  // Blocks of 64 bytes, one of padding behind the last; of n bytes at most every second begins a word.
  const std::size_t padded = (size + 63) / 64 * 64;
  if (lowered_.size() < padded + 64) {
    lowered_.resize(padded + 64);
    pieces_.resize(padded / 2 + 1);
    found_.resize(padded / 2 + 1);
  }
  unsigned char* lowered = lowered_.data();
  Piece* pieces = pieces_.data();
  std::size_t n_begins = 0;
  std::size_t n_ends = 0;
  std::uint64_t before = 0;  // whether the last byte of the block before was a letter
  for (std::size_t at = 0; at < padded; at += 64) {
    unsigned char last[64] = {};
    const unsigned char* block = text.data + at;
    if (size - at < 64) {
      std::memcpy(last, block, size - at);
      block = last;
    }
    const std::uint64_t letters = lower_block(block, lowered + at);
    const std::uint64_t shifted = letters << 1 | before;
    for (std::uint64_t bits = letters & ~shifted; bits != 0; bits &= bits - 1) {
      pieces[n_begins++].begin = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(lowest_bit(bits));
    }
    for (std::uint64_t bits = shifted & ~letters; bits != 0; bits &= bits - 1) {
      Piece& piece = pieces[n_ends++];
      piece.length = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(lowest_bit(bits)) - piece.begin;
    }
    before = letters >> 63;
  }
  if (n_ends < n_begins) pieces[n_ends].length = static_cast<std::uint32_t>(padded) - pieces[n_ends].begin;
  for (std::size_t n = 0; n < n_begins; ++n) {
    Piece& piece = pieces[n];
    const Key key = key_of(lowered + piece.begin, piece.length);
    piece.low = key.low;
    piece.high = key.high;
    piece.hash = hashed(key, lowered + piece.begin, piece.length, seed_);
    fetch(&table_[piece.hash & (table_.size() - 1)]);
  }
  for (std::size_t n = 0; n < n_begins; ++n) {
    const std::uint32_t id = table_[pieces[n].hash & (table_.size() - 1)];
    if (id != 0) fetch(&words_[id - 1]);
  }
  std::uint64_t* found = found_.data();
  for (std::size_t n = 0; n < n_begins; ++n) {
    const std::uint32_t id = word_id(pieces[n], lowered + pieces[n].begin);
    found[n] = std::uint64_t{words_[id].order} << 32 | id;
  }
  std::sort(found, found + n_begins);
  const auto n_words = static_cast<std::size_t>(std::unique(found, found + n_begins) - found);
  query_.resize(n_words);
  query_ids_.resize(n_words);
  for (std::size_t n = 0; n < n_words; ++n) {
    query_[n] = static_cast<std::uint32_t>(found[n] >> 32);
    query_ids_[n] = static_cast<std::uint32_t>(found[n]);
  }
}

const WordSetIndex::Posting* WordSetIndex::postings_of(const Word& word) const noexcept {
  return word.count <= Word::few ? word.own : pool_.data() + word.pool_begin;
}

// Room doubles when it is used up; what a list leaves behind is taken back when the order is made anew.
void WordSetIndex::post_word(std::uint32_t id, Posting posting) {
  Word& word = words_[id];
  if (word.count < Word::few) {
    word.own[word.count++] = posting;
    return;
  }
  const bool first = word.count == Word::few;
  if (first || (word.count & (word.count - 1)) == 0) {
    const std::size_t begin = pool_.size();
    pool_.resize(begin + (first ? Word::few + 1 : 2 * std::size_t{word.count}));
    const Posting* known = first ? word.own : pool_.data() + word.pool_begin;
    std::copy(known, known + word.count, pool_.data() + begin);
    word.pool_begin = static_cast<std::uint32_t>(begin);
  }
  pool_[word.pool_begin + word.count++] = posting;
}

WordMatch WordSetIndex::search(std::int64_t earliest, std::int64_t latest) noexcept {
  WordMatch best{-1, 0, 1};
  const auto size = static_cast<std::int64_t>(query_.size());
  if (size == 0) return best;
  if (++questions_ == 0) {
    for (Set& set : sets_) set.asked_by = 0;
    questions_ = 1;
  }
  double wanted = threshold_;  // rises to the best similarity found so far
  double share = wanted / (1.0 + wanted);
  double smallest = wanted * static_cast<double>(size) - margin;
  double largest = static_cast<double>(size) / wanted + margin;
  for (std::int64_t i = 0; i < prefix_length(wanted, size); ++i) {
    const Word& word = words_[query_ids_[static_cast<std::size_t>(i)]];
    if (word.count > Word::few) fetch(pool_.data() + word.pool_begin);
  }
  // Sets are looked at some at a time, so that one's fetch does not wait for another's.
  constexpr std::size_t at_once = 4;
  Sharing sharing[at_once];
  std::size_t waiting = 0;
  const auto look = [&]() noexcept {
    std::size_t left = 0;
    for (std::size_t n = 0; n < waiting; ++n) {
      Set& set = sets_[static_cast<std::size_t>(sharing[n].posting.slot)];
      if (set.asked_by == questions_) continue;
      set.asked_by = questions_;
      if (set.mark < earliest || set.mark > latest) continue;
      fetch(members_.data() + set.begin + sharing[n].posting.position);
      sharing[left++] = sharing[n];
    }
    waiting = 0;
    for (std::size_t n = 0; n < left; ++n) {
      const Posting posting = sharing[n].posting;
      const std::int64_t other_size = posting.size;
      std::int64_t k = sharing[n].asked_at;
      std::int64_t j = posting.position;
      const double needed = share * static_cast<double>(size + other_size) - margin;
      if (static_cast<double>(std::min(size - k, other_size - j)) < needed) continue;
      // This is the first word that the two share: nothing before it counts.
      const std::uint32_t* other = members_.data() + sets_[static_cast<std::size_t>(posting.slot)].begin;
      std::int64_t shared = 0;
      while (k < size && j < other_size) {
        const std::uint32_t a = query_[static_cast<std::size_t>(k)];
        const std::uint32_t b = other[j];
        shared += a == b;
        k += a <= b;
        j += b <= a;
      }
      const std::int64_t joined = size + other_size - shared;
      const double similarity = static_cast<double>(shared) / static_cast<double>(joined);
      if (similarity < threshold_) continue;
      const std::int64_t ahead = shared * best.joined - best.shared * joined;
      if (ahead > 0 || (ahead == 0 && posting.slot < best.slot)) {
        best = {posting.slot, static_cast<std::int32_t>(shared), static_cast<std::int32_t>(joined)};
        wanted = similarity;
        share = wanted / (1.0 + wanted);
        smallest = wanted * static_cast<double>(size) - margin;
        largest = static_cast<double>(size) / wanted + margin;
      }
    }
  };
  for (std::int64_t i = 0; i < prefix_length(wanted, size); ++i) {
    const Word& word = words_[query_ids_[static_cast<std::size_t>(i)]];
    const Posting* list = postings_of(word);
    for (std::uint32_t n = 0; n < word.count; ++n) {
      const Posting posting = list[n];
      const std::int64_t other_size = posting.size;
      if (static_cast<double>(other_size) < smallest || static_cast<double>(other_size) > largest) continue;
      const double needed = share * static_cast<double>(size + other_size) - margin;
      if (static_cast<double>(std::min(size - i, other_size - posting.position)) < needed) continue;
      fetch(&sets_[static_cast<std::size_t>(posting.slot)]);
      sharing[waiting++] = {posting, static_cast<std::uint32_t>(i)};
      if (waiting == at_once) look();
    }
  }
  look();
  return best;
}

void WordSetIndex::post(std::int32_t slot) {
  const Set& set = sets_[static_cast<std::size_t>(slot)];
  const std::int64_t prefix = set.size == 0 ? 0 : prefix_length(threshold_, set.size);
  for (std::int64_t i = 0; i < prefix; ++i) {
    const std::uint32_t order = members_[set.begin + static_cast<std::uint64_t>(i)];
    post_word(id_of(order), {slot, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(set.size)});
  }
}

void WordSetIndex::reorder() {
  std::vector<std::uint32_t> frequency(words_.size(), 0);
  std::vector<std::uint32_t> kept;  // words' numbers, without the sets that were removed
  kept.reserve(members_.size());
  for (Set& set : sets_) {
    const std::uint64_t begin = kept.size();
    for (std::uint32_t i = 0; i < set.size; ++i) {
      kept.push_back(id_of(members_[set.begin + i]));
      ++frequency[kept.back()];
    }
    set.begin = begin;
  }
  members_.swap(kept);
  ranked_.resize(words_.size());
  for (std::size_t id = 0; id < words_.size(); ++id) ranked_[id] = static_cast<std::uint32_t>(id);
  std::sort(ranked_.begin(), ranked_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return frequency[a] != frequency[b] ? frequency[a] < frequency[b] : a < b;
  });
  for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
    words_[ranked_[rank]].order = first_ranked + static_cast<std::uint32_t>(rank);
  }
  for (Word& word : words_) word.count = 0;
  pool_.clear();
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) {
    const Set& set = sets_[slot];
    std::uint32_t* first = members_.data() + set.begin;
    for (std::uint32_t i = 0; i < set.size; ++i) first[i] = words_[first[i]].order;
    std::sort(first, first + set.size);
    post(static_cast<std::int32_t>(slot));
  }
  ordered_at_ = sets_.size();
}

std::int32_t WordSetIndex::insert(std::int64_t mark) {
  const auto slot = static_cast<std::int32_t>(sets_.size());
  sets_.push_back({members_.size(), static_cast<std::uint32_t>(query_.size()), 0, mark});
  members_.insert(members_.end(), query_.begin(), query_.end());
  if (sets_.size() >= 2 * ordered_at_ + 64) {
    reorder();
  } else {
    post(slot);
  }
  return slot;
}

WordMatch WordSetIndex::find(Span text, std::int64_t earliest, std::int64_t latest) {
  const auto n_words = static_cast<std::uint32_t>(words_.size());
  read(text);
  const WordMatch best = search(earliest, latest);
  forget_words_since(n_words);
  return best;
}

std::int32_t WordSetIndex::add(Span text, std::int64_t mark) {
  read(text);
  return insert(mark);
}

WordMatch WordSetIndex::find_or_add(Span text, std::int64_t mark, std::int64_t earliest,
                                    std::int64_t latest) {
  const auto n_words = static_cast<std::uint32_t>(words_.size());
  read(text);
  const WordMatch best = search(earliest, latest);
  if (best.slot < 0) return {insert(mark), 0, 1};
  forget_words_since(n_words);
  return best;
}

void WordSetIndex::set_mark(std::int32_t slot, std::int64_t mark) noexcept {
  sets_[static_cast<std::size_t>(slot)].mark = mark;
}

void WordSetIndex::remove(std::int32_t slot) noexcept {
  // Its postings stay until the next order is made; no question's window reaches this mark.
  Set& set = sets_[static_cast<std::size_t>(slot)];
  set.size = 0;
  set.mark = std::numeric_limits<std::int64_t>::min();
}

}  // namespace tipstaff
