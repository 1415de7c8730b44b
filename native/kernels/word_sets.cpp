// Prefix-filtered search among sets of words (Chaudhuri et al. 2006; Bayardo et al. 2007; positions as
// in Xiao et al. 2008), over an index that grows.
#include "tipstaff/word_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

std::uint32_t hashed(const unsigned char* letters, std::uint32_t length, std::uint64_t seed) noexcept {
  std::uint64_t state = seed ^ (length * 0xA24BAED4963EE407u);
  while (length > 8) {
    std::uint64_t chunk;
    std::memcpy(&chunk, letters, 8);
    state = mixed(state, chunk);
    letters += 8;
    length -= 8;
  }
  std::uint64_t chunk = 0;
  std::memcpy(&chunk, letters, length);
  return static_cast<std::uint32_t>(mixed(state, chunk));
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

std::uint32_t WordSetIndex::word_id(const unsigned char* letters, std::uint32_t length,
                                    std::uint32_t hash) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const Word& word = words_[table_[at] - 1];
    if (word.hash != hash || word.length != length) continue;
    const unsigned char* known = length <= short_word ? word.letters : letters_.data() + word.begin;
    if (std::memcmp(known, letters, length) == 0) return table_[at] - 1;
  }
  const auto id = static_cast<std::uint32_t>(words_.size());
  const auto order = first_ranked - 1 - (id - static_cast<std::uint32_t>(ranked_.size()));
  const auto begin = static_cast<std::uint32_t>(letters_.size());
  words_.push_back({hash, length, order, begin, {}});
  if (length <= short_word) {
    std::memcpy(words_.back().letters, letters, length);
  } else {
    letters_.insert(letters_.end(), letters, letters + length);
  }
  if (postings_.size() <= id) postings_.emplace_back();
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
  pieces_.clear();
  found_.clear();
  query_.clear();
  query_ids_.clear();
  const auto size = static_cast<std::size_t>(text.size);
  if (lowered_.size() < size + 1) lowered_.resize(size + 1);
  unsigned char* lowered = lowered_.data();
  for (std::size_t i = 0; i < size; ++i) lowered[i] = letters_table.lower[text.data[i]];
  lowered[size] = 0;
  for (std::size_t i = 0; i < size;) {
    if (lowered[i] == 0) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (lowered[i] != 0) ++i;
    const auto length = static_cast<std::uint32_t>(i - start);
    const std::uint32_t hash = hashed(lowered + start, length, seed_);
    pieces_.push_back({static_cast<std::uint32_t>(start), length, hash});
    fetch(&table_[hash & (table_.size() - 1)]);
  }
  for (const Piece& piece : pieces_) {
    const std::uint32_t id = table_[piece.hash & (table_.size() - 1)];
    if (id != 0) fetch(&words_[id - 1]);
  }
  for (const Piece& piece : pieces_) {
    const std::uint32_t id = word_id(lowered + piece.begin, piece.length, piece.hash);
    fetch(&postings_[id]);
    found_.push_back(std::uint64_t{words_[id].order} << 32 | id);
  }
  std::sort(found_.begin(), found_.end());
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  for (const std::uint64_t word : found_) {
    query_.push_back(static_cast<std::uint32_t>(word >> 32));
    query_ids_.push_back(static_cast<std::uint32_t>(word));
  }
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
    fetch(postings_[query_ids_[static_cast<std::size_t>(i)]].data());
  }
  for (std::int64_t i = 0; i < prefix_length(wanted, size); ++i) {
    for (const Posting posting : postings_[query_ids_[static_cast<std::size_t>(i)]]) {
      const std::int64_t other_size = posting.size;
      if (static_cast<double>(other_size) < smallest || static_cast<double>(other_size) > largest) continue;
      const double needed = share * static_cast<double>(size + other_size) - margin;
      std::int64_t j = posting.position;
      if (static_cast<double>(std::min(size - i, other_size - j)) < needed) continue;
      Set& set = sets_[static_cast<std::size_t>(posting.slot)];
      if (set.asked_by == questions_) continue;
      set.asked_by = questions_;
      if (set.mark < earliest || set.mark > latest) continue;
      // This is the first word that the two share: nothing before it counts.
      const std::uint32_t* other = members_.data() + set.begin;
      std::int64_t k = i;
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
  }
  return best;
}

void WordSetIndex::post(std::int32_t slot) {
  const Set& set = sets_[static_cast<std::size_t>(slot)];
  const std::int64_t prefix = set.size == 0 ? 0 : prefix_length(threshold_, set.size);
  for (std::int64_t i = 0; i < prefix; ++i) {
    const std::uint32_t order = members_[set.begin + static_cast<std::uint64_t>(i)];
    postings_[id_of(order)].push_back(
        {slot, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(set.size)});
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
  for (std::vector<Posting>& list : postings_) list.clear();
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
