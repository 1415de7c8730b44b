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
#if defined(__SSE2__)
  const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i within = _mm_cmplt_epi8(places, _mm_set1_epi8(static_cast<char>(std::min(length, 16u))));
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(letters));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&key), _mm_and_si128(first, within));
#else
  std::memcpy(&key.low, letters, 8);
  std::memcpy(&key.high, letters + 8, 8);
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const std::uint32_t upper = length <= 8 ? 0 : length - 8;
  key.low &= length >= 8 ? all : all >> (64 - 8 * length);
  key.high &= upper >= 8 ? all : upper == 0 ? 0 : all >> (64 - 8 * upper);
#endif
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

// Puts a few words in order without a branch that depends on them: a word's place is how many come before
// it. No two have the same order. Up to `most` numbers are readable from `given`.
template <std::size_t most>
void rank(const std::uint32_t* given, const std::uint32_t* given_ids, std::size_t count, std::uint32_t* orders,
          std::uint32_t* ids) noexcept {
  std::int32_t compared[most];  // as signed numbers, which is what registers compare
  std::int32_t places[most] = {};
  for (std::size_t n = 0; n < most; ++n) compared[n] = static_cast<std::int32_t>(given[n] ^ (1u << 31));
  for (std::size_t other = 0; other < count; ++other) {
    for (std::size_t n = 0; n < most; ++n) places[n] += compared[other] < compared[n];
  }
  for (std::size_t n = 0; n < count; ++n) {
    const auto place = static_cast<std::size_t>(places[n]);
    orders[place] = given[n];
    ids[place] = given_ids[n];
  }
}

std::int64_t prefix_length(double threshold, std::int64_t size) noexcept {
  return size - static_cast<std::int64_t>(std::ceil(threshold * static_cast<double>(size) - margin)) + 1;
}

}  // namespace

WordSetIndex::WordSetIndex(double threshold, std::uint64_t seed)
    : threshold_(threshold), seed_(seed), table_(256) {}

std::uint32_t WordSetIndex::id_of(std::uint32_t order) const noexcept {
  return order >= first_ranked
             ? ranked_[order - first_ranked]
             : static_cast<std::uint32_t>(ranked_.size()) + (first_ranked - 1 - order);
}

void WordSetIndex::grow_table() {
  std::vector<Entry> grown(table_.size() * 2);
  const std::size_t mask = grown.size() - 1;
  for (const Entry& entry : table_) {
    if (entry.number == 0) continue;
    std::size_t at = entry.hash & mask;
    while (grown[at].number != 0) at = (at + 1) & mask;
    grown[at] = entry;
  }
  table_.swap(grown);
}

// Whether this is the word, whose hash is the piece's.
bool WordSetIndex::is_word(const Word& word, const Piece& piece, const unsigned char* letters) const noexcept {
  if (((word.low ^ piece.low) | (word.high ^ piece.high) | (word.length ^ piece.length)) != 0) return false;
  return piece.length <= short_word || std::memcmp(letters_.data() + word.begin, letters, piece.length) == 0;
}

// The number of a word that does not stand where looking for its hash ended: there it may stand further on.
std::uint32_t WordSetIndex::word_behind(const Piece& piece, const unsigned char* letters) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = piece.at;
  for (; table_[at].number != 0; at = (at + 1) & mask) {
    const std::uint32_t id = table_[at].number - 1;
    if (table_[at].hash == piece.hash && is_word(words_[id], piece, letters)) return id;
  }
  const auto id = static_cast<std::uint32_t>(words_.size());
  const auto order = first_ranked - 1 - (id - static_cast<std::uint32_t>(ranked_.size()));
  const auto begin = static_cast<std::uint32_t>(letters_.size());
  words_.push_back({piece.length, order, begin, 0, piece.low, piece.high, 0, 0, {}});
  if (piece.length > short_word) letters_.insert(letters_.end(), letters, letters + piece.length);
  table_[at] = {piece.hash, id + 1};
  new_hashes_.push_back(piece.hash);
  return id;
}

// Words leave in the order opposite to how they came, so each was the last of its probe sequence.
void WordSetIndex::forget_new_words() noexcept {
  const std::size_t mask = table_.size() - 1;
  while (!new_hashes_.empty()) {
    const auto number = static_cast<std::uint32_t>(words_.size());
    std::size_t at = new_hashes_.back() & mask;
    while (table_[at].number != number) at = (at + 1) & mask;
    table_[at] = {0, 0};
    letters_.resize(words_.back().begin);
    words_.pop_back();
    new_hashes_.pop_back();
  }
}

// Cuts the text into pieces and returns how many there are.
std::size_t WordSetIndex::find_pieces(Span text) {
  const auto size = static_cast<std::size_t>(text.size);
  // Blocks of 64 bytes, one of padding behind the last; of n bytes at most every second begins a word.
  const std::size_t padded = (size + 63) / 64 * 64;
  if (lowered_.size() < padded + 64) {
    lowered_.resize(padded + 64);
    edges_.resize(padded + 2);
    pieces_.resize(padded / 2 + 1);
    orders_.resize(padded / 2 + 32);  // as many as `rank` reads
    ids_.resize(padded / 2 + 1);
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
    pieces[n] = {begin, length, hashed(key, lowered + begin, length, seed), 0, key.low, key.high};
  }
  return n_pieces;
}

void WordSetIndex::read(Span text) {
  new_hashes_.clear();
  if (++texts_ == 0) {
    for (Word& word : words_) word.read_by = 0;
    texts_ = 1;
  }
  const std::size_t n_pieces = find_pieces(text);
  while ((words_.size() + n_pieces) * 2 > table_.size()) grow_table();
  const std::size_t mask = table_.size() - 1;
  const Entry* table = table_.data();
  Piece* pieces = pieces_.data();
  for (std::size_t n = 0; n < n_pieces; ++n) fetch(table + (pieces[n].hash & mask));
  for (std::size_t n = 0; n < n_pieces; ++n) {
    std::size_t at = pieces[n].hash & mask;
    while (table[at].number != 0 && table[at].hash != pieces[n].hash) at = (at + 1) & mask;
    pieces[n].at = static_cast<std::uint32_t>(at);
    if (table[at].number != 0) fetch(words_.data() + table[at].number - 1);
  }
  const unsigned char* lowered = lowered_.data();
  std::uint32_t* orders = orders_.data();
  std::uint32_t* ids = ids_.data();
  const std::uint32_t text_number = texts_;
  std::size_t n_words = 0;
  for (std::size_t n = 0; n < n_pieces; ++n) {
    const Piece& piece = pieces[n];
    const Entry entry = table[piece.at];
    const bool known = entry.number != 0 && is_word(words_[entry.number - 1], piece, lowered + piece.begin);
    const std::uint32_t id = known ? entry.number - 1 : word_behind(piece, lowered + piece.begin);
    Word& word = words_[id];
    orders[n_words] = word.order;
    ids[n_words] = id;
    n_words += word.read_by != text_number;
    word.read_by = text_number;
  }
  put_in_order(n_words);
}

void WordSetIndex::put_in_order(std::size_t n_words) {
  query_.resize(n_words);
  query_ids_.resize(n_words);
  if (n_words <= 16) return rank<16>(orders_.data(), ids_.data(), n_words, query_.data(), query_ids_.data());
  if (n_words <= 32) return rank<32>(orders_.data(), ids_.data(), n_words, query_.data(), query_ids_.data());
  both_.resize(n_words);
  for (std::size_t n = 0; n < n_words; ++n) both_[n] = std::uint64_t{orders_[n]} << 32 | ids_[n];
  std::sort(both_.begin(), both_.end());
  for (std::size_t n = 0; n < n_words; ++n) {
    query_[n] = static_cast<std::uint32_t>(both_[n] >> 32);
    query_ids_[n] = static_cast<std::uint32_t>(both_[n]);
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

struct WordSetIndex::Lead {
  WordMatch best{-1, 0, 1};
  std::int64_t size;  // of the text that is asked for
  std::int64_t earliest;
  std::int64_t latest;
  double wanted;  // rises to the best similarity found so far
  double share;   // of both sizes together that two sets must share
  double smallest;
  double largest;

  void want(double similarity) noexcept {
    wanted = similarity;
    share = wanted / (1.0 + wanted);
    smallest = wanted * static_cast<double>(size) - margin;
    largest = static_cast<double>(size) / wanted + margin;
  }
  // Whether so many words, of a set of so many, can be enough.
  bool within_reach(std::int64_t rest, std::int64_t other_size) const noexcept {
    return static_cast<double>(rest) >= share * static_cast<double>(size + other_size) - margin;
  }
};

// Looks at sets some at a time, so that one's fetch does not wait for another's.
void WordSetIndex::look(const Sharing* sharing, std::size_t count, Lead* lead) noexcept {
  Sharing chosen[at_once];
  std::size_t n_chosen = 0;
  for (std::size_t n = 0; n < count; ++n) {
    Set& set = sets_[static_cast<std::size_t>(sharing[n].posting.slot)];
    const bool asked = set.asked_by == questions_ || set.mark < lead->earliest || set.mark > lead->latest;
    set.asked_by = questions_;
    fetch(members_.data() + set.begin + sharing[n].posting.position);
    chosen[n_chosen] = sharing[n];
    n_chosen += !asked;
  }
  for (std::size_t n = 0; n < n_chosen; ++n) {
    const Posting posting = chosen[n].posting;
    const std::int64_t other_size = posting.size;
    std::int64_t k = chosen[n].asked_at;
    std::int64_t j = posting.position;
    if (!lead->within_reach(std::min(lead->size - k, other_size - j), other_size)) continue;
    // This is the first word that the two share: nothing before it counts.
    const std::uint32_t* other = members_.data() + sets_[static_cast<std::size_t>(posting.slot)].begin;
    std::int64_t shared = 0;
    while (k < lead->size && j < other_size) {
      const std::uint32_t a = query_[static_cast<std::size_t>(k)];
      const std::uint32_t b = other[j];
      shared += a == b;
      k += a <= b;
      j += b <= a;
    }
    const std::int64_t joined = lead->size + other_size - shared;
    const double similarity = static_cast<double>(shared) / static_cast<double>(joined);
    if (similarity < threshold_) continue;
    const WordMatch best = lead->best;
    const std::int64_t ahead = shared * best.joined - best.shared * joined;
    if (ahead > 0 || (ahead == 0 && posting.slot < best.slot)) {
      lead->best = {posting.slot, static_cast<std::int32_t>(shared), static_cast<std::int32_t>(joined)};
      lead->want(similarity);
    }
  }
}

WordMatch WordSetIndex::search(std::int64_t earliest, std::int64_t latest) noexcept {
  const auto size = static_cast<std::int64_t>(query_.size());
  if (size == 0) return {-1, 0, 1};
  if (++questions_ == 0) {
    for (Set& set : sets_) set.asked_by = 0;
    questions_ = 1;
  }
  Lead lead;
  lead.size = size;
  lead.earliest = earliest;
  lead.latest = latest;
  lead.want(threshold_);
  for (std::int64_t i = 0; i < prefix_length(threshold_, size); ++i) {
    const Word& word = words_[query_ids_[static_cast<std::size_t>(i)]];
    if (word.count > Word::few) fetch(pool_.data() + word.pool_begin);
  }
  Sharing sharing[at_once];
  std::size_t waiting = 0;
  for (std::int64_t i = 0; i < prefix_length(lead.wanted, size); ++i) {
    const Word& word = words_[query_ids_[static_cast<std::size_t>(i)]];
    const Posting* list = postings_of(word);
    for (std::uint32_t n = 0; n < word.count; ++n) {
      const Posting posting = list[n];
      const std::int64_t other_size = posting.size;
      const auto given = static_cast<double>(other_size);
      if (given < lead.smallest || given > lead.largest) continue;
      if (!lead.within_reach(std::min(size - i, other_size - posting.position), other_size)) continue;
      fetch(&sets_[static_cast<std::size_t>(posting.slot)]);
      sharing[waiting++] = {posting, static_cast<std::uint32_t>(i)};
      if (waiting < at_once) continue;
      look(sharing, waiting, &lead);
      waiting = 0;
    }
  }
  look(sharing, waiting, &lead);
  return lead.best;
}

// `ids` are the set's words in their order.
void WordSetIndex::post(std::int32_t slot, const std::uint32_t* ids) {
  const Set& set = sets_[static_cast<std::size_t>(slot)];
  const std::int64_t prefix = set.size == 0 ? 0 : prefix_length(threshold_, set.size);
  for (std::int64_t i = 0; i < prefix; ++i) {
    post_word(ids[i], {slot, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(set.size)});
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
  std::vector<std::uint32_t> ids;
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) {
    const Set& set = sets_[slot];
    std::uint32_t* first = members_.data() + set.begin;
    for (std::uint32_t i = 0; i < set.size; ++i) first[i] = words_[first[i]].order;
    std::sort(first, first + set.size);
    ids.resize(set.size);
    for (std::uint32_t i = 0; i < set.size; ++i) ids[i] = id_of(first[i]);
    post(static_cast<std::int32_t>(slot), ids.data());
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
    post(slot, query_ids_.data());
  }
  return slot;
}

WordMatch WordSetIndex::find(Span text, std::int64_t earliest, std::int64_t latest) {
  read(text);
  const WordMatch best = search(earliest, latest);
  forget_new_words();
  return best;
}

std::int32_t WordSetIndex::add(Span text, std::int64_t mark) {
  read(text);
  return insert(mark);
}

WordMatch WordSetIndex::find_or_add(Span text, std::int64_t mark, std::int64_t earliest,
                                    std::int64_t latest) {
  read(text);
  const WordMatch best = search(earliest, latest);
  if (best.slot < 0) return {insert(mark), 0, 1};
  forget_new_words();
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
