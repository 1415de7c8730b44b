// Prefix-filtered search among sets of words (Chaudhuri et al. 2006; Bayardo et al. 2007; positions as
// in Xiao et al. 2008), over an index that grows.
#include "tipstaff/similarity/word_sets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "tipstaff/scoring/few_numbers.hpp"

namespace tipstaff {

namespace {

// Rounding may push a product over an integer: the margin keeps filters from refusing what fits.
constexpr double margin = 1e-9;

// What is before the words of a set in its record.
enum Header : std::uint32_t { kSlot, kSize, kAskedBy, kMarkLow, kMarkHigh, kMembers };

std::int64_t mark_of(const std::uint32_t* set) noexcept {
  return static_cast<std::int64_t>(std::uint64_t{set[kMarkHigh]} << 32 | set[kMarkLow]);
}

void put_mark(std::uint32_t* set, std::int64_t mark) noexcept {
  set[kMarkLow] = static_cast<std::uint32_t>(mark);
  set[kMarkHigh] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(mark) >> 32);
}

std::int64_t prefix_length(double threshold, std::int64_t size) noexcept {
  return size - static_cast<std::int64_t>(std::ceil(threshold * static_cast<double>(size) - margin)) + 1;
}

}  // namespace

WordSetIndex::WordSetIndex(double threshold, std::uint64_t seed)
    : threshold_(threshold), seed_(seed), words_(256) {}

std::uint32_t WordSetIndex::entry_of(std::uint32_t order) const noexcept {
  return order >= first_ranked ? ranked_[order - first_ranked] : newcomers_[first_ranked - 1 - order];
}

const WordSetIndex::Posting* WordSetIndex::postings_of(const Word& word) const noexcept {
  return word.count <= Word::few ? word.own : pool_.data() + word.pool_begin;
}

// Room doubles when it is used up; what a list no longer uses is taken back when the order is made again.
void WordSetIndex::post_word(std::uint32_t entry, Posting posting) {
  Word& word = words_[entry];
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
  std::int64_t prefix;  // how many of its words are asked for
  double share;         // of both sizes together that two sets must share
  double smallest;
  double largest;

  // Wants what has a similarity; it rises to the best found so far.
  void want(double similarity) noexcept {
    prefix = prefix_length(similarity, size);
    share = similarity / (1.0 + similarity);
    smallest = similarity * static_cast<double>(size) - margin;
    largest = static_cast<double>(size) / similarity + margin;
  }
  // Whether so many words, of a set of so many, can be enough.
  bool within_reach(std::int64_t rest, std::int64_t other_size) const noexcept {
    return static_cast<double>(rest) >= share * static_cast<double>(size + other_size) - margin;
  }
};

// How many words the text shares with a set, when the first of them is the text's k-th and the set's j-th.
std::int64_t WordSetIndex::shared_with(const std::uint32_t* members, std::int64_t n_members, std::int64_t k,
                                       std::int64_t j) const noexcept {
  const auto size = static_cast<std::int64_t>(query_size_);
  if (size <= few_words && n_members <= 2 * few_words) {
    return few_numbers::count_shared(query_.data(), members + j, n_members - j);
  }
  std::int64_t shared = 0;
  while (k < size && j < n_members) {
    const std::uint32_t a = query_[static_cast<std::size_t>(k)];
    const std::uint32_t b = members[j];
    shared += a == b;
    k += a <= b;
    j += b <= a;
  }
  return shared;
}

// Looks at sets some at a time, so that one's fetch does not wait for another's.
void WordSetIndex::compare(const Sharing* sharing, std::size_t count, Lead* lead) noexcept {
  for (std::size_t n = 0; n < count; ++n) {
    const Posting posting = sharing[n].posting;
    const std::int64_t other_size = posting.size;
    std::uint32_t* const set = records_.data() + posting.begin;
    if (set[kAskedBy] == questions_) continue;
    set[kAskedBy] = questions_;
    const std::int64_t mark = mark_of(set);
    if (mark < lead->earliest || mark > lead->latest) continue;
    const std::int64_t k = sharing[n].asked_at;
    const std::int64_t j = posting.position;
    // This is the first word that the two share: nothing before it counts.
    if (!lead->within_reach(std::min(lead->size - k, other_size - j), other_size)) continue;
    const std::int64_t shared = shared_with(set + kMembers, other_size, k, j);
    const std::int64_t joined = lead->size + other_size - shared;
    const double similarity = static_cast<double>(shared) / static_cast<double>(joined);
    if (similarity < threshold_) continue;
    const WordMatch best = lead->best;
    const std::int64_t ahead = shared * best.joined - best.shared * joined;
    const auto slot = static_cast<std::int32_t>(set[kSlot]);
    if (ahead > 0 || (ahead == 0 && slot < best.slot)) {
      lead->best = {slot, static_cast<std::int32_t>(shared), static_cast<std::int32_t>(joined)};
      lead->want(similarity);
    }
  }
}

WordMatch WordSetIndex::search(std::int64_t earliest, std::int64_t latest) noexcept {
  const auto size = static_cast<std::int64_t>(query_size_);
  if (size == 0) return {-1, 0, 1};
  if (++questions_ == 0) {
    for (const std::uint32_t begin : begins_) records_[begin + kAskedBy] = 0;
    questions_ = 1;
  }
  Lead lead;
  lead.size = size;
  lead.earliest = earliest;
  lead.latest = latest;
  lead.want(threshold_);
  for (std::int64_t i = 0; i < lead.prefix; ++i) {
    const Word& word = words_[query_entries_[static_cast<std::size_t>(i)]];
    if (word.count > Word::few) __builtin_prefetch(pool_.data() + word.pool_begin);
  }
  Sharing sharing[at_once];
  std::size_t waiting = 0;
  for (std::int64_t i = 0; i < lead.prefix; ++i) {
    const Word& word = words_[query_entries_[static_cast<std::size_t>(i)]];
    const Posting* list = postings_of(word);
    for (std::uint32_t n = 0; n < word.count; ++n) {
      const Posting posting = list[n];
      const std::int64_t other_size = posting.size;
      const auto given = static_cast<double>(other_size);
      if (given < lead.smallest || given > lead.largest) continue;
      if (!lead.within_reach(std::min(size - i, other_size - posting.position), other_size)) continue;
      __builtin_prefetch(records_.data() + posting.begin);
      __builtin_prefetch(records_.data() + posting.begin + kMembers + posting.size - 1);
      sharing[waiting++] = {posting, static_cast<std::uint32_t>(i)};
      if (waiting < at_once) continue;
      compare(sharing, waiting, &lead);
      waiting = 0;
    }
  }
  compare(sharing, waiting, &lead);
  return lead.best;
}

// `entries` are those of the set's words in their order.
void WordSetIndex::post(std::uint32_t begin, const std::uint32_t* entries) {
  const std::uint32_t size = records_[begin + kSize];
  const std::int64_t prefix = size == 0 ? 0 : prefix_length(threshold_, size);
  for (std::int64_t i = 0; i < prefix; ++i) {
    post_word(entries[i], {begin, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(size)});
  }
}

void WordSetIndex::reorder() {
  std::vector<std::uint32_t> frequency(words_.size(), 0);
  std::vector<std::uint32_t> kept;  // the records, without what removed sets leave over
  kept.reserve(records_.size());
  for (std::uint32_t& begin : begins_) {
    const std::uint32_t* set = records_.data() + begin;
    begin = static_cast<std::uint32_t>(kept.size());
    kept.insert(kept.end(), set, set + kMembers + set[kSize]);
    for (std::uint32_t i = 0; i < set[kSize]; ++i) {
      const std::uint32_t entry = entry_of(set[kMembers + i]);
      kept[begin + kMembers + i] = entry;
      ++frequency[entry];
    }
  }
  records_.swap(kept);
  ranked_.insert(ranked_.end(), newcomers_.begin(), newcomers_.end());
  newcomers_.clear();
  std::sort(ranked_.begin(), ranked_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return frequency[a] != frequency[b] ? frequency[a] < frequency[b] : a < b;
  });
  for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
    Word& word = words_[ranked_[rank]];
    word.order = first_ranked + static_cast<std::uint32_t>(rank);
    word.count = 0;
  }
  pool_.clear();
  std::vector<std::uint32_t> entries;
  for (const std::uint32_t begin : begins_) {
    std::uint32_t* const set = records_.data() + begin;
    std::uint32_t* const members = set + kMembers;
    const std::uint32_t size = set[kSize];
    entries.resize(size);
    for (std::uint32_t i = 0; i < size; ++i) members[i] = words_[members[i]].order;
    std::sort(members, members + size);
    for (std::uint32_t i = 0; i < size; ++i) entries[i] = entry_of(members[i]);
    post(begin, entries.data());
  }
  ordered_at_ = begins_.size();
}

std::int32_t WordSetIndex::insert(std::int64_t mark) {
  const auto slot = static_cast<std::int32_t>(begins_.size());
  const std::size_t begin = records_.size();
  if (begin > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
  begins_.push_back(static_cast<std::uint32_t>(begin));
  records_.resize(begin + kMembers + query_size_);
  std::uint32_t* const set = records_.data() + begin;
  set[kSlot] = static_cast<std::uint32_t>(slot);
  set[kSize] = query_size_;
  put_mark(set, mark);
  std::copy(query_.data(), query_.data() + query_size_, set + kMembers);
  if (begins_.size() >= 2 * ordered_at_ + 64) {
    reorder();
  } else {
    post(begins_.back(), query_entries_.data());
  }
  return slot;
}

WordMatch WordSetIndex::find(ByteView text, std::int64_t earliest, std::int64_t latest) {
  const std::size_t known = newcomers_.size();
  read(text);
  const WordMatch best = search(earliest, latest);
  forget_newcomers(known);
  return best;
}

std::int32_t WordSetIndex::add(ByteView text, std::int64_t mark) {
  read(text);
  return insert(mark);
}

WordMatch WordSetIndex::find_or_add(ByteView text, std::int64_t mark, std::int64_t earliest,
                                    std::int64_t latest) {
  const std::size_t known = newcomers_.size();
  read(text);
  const WordMatch best = search(earliest, latest);
  if (best.slot < 0) return {insert(mark), 0, 1};
  forget_newcomers(known);
  return best;
}

void WordSetIndex::set_mark(std::int32_t slot, std::int64_t mark) noexcept {
  put_mark(records_.data() + begins_[static_cast<std::size_t>(slot)], mark);
}

void WordSetIndex::remove(std::int32_t slot) noexcept {
  // Its postings stay until the next order is made; no question's window reaches this mark.
  std::uint32_t* const set = records_.data() + begins_[static_cast<std::size_t>(slot)];
  set[kSize] = 0;
  put_mark(set, std::numeric_limits<std::int64_t>::min());
}

}  // namespace tipstaff
