// Which texts of a column say the opposite of each other, and which say nearly the same.
//
// Topics are compared as hashes, so what is found is to be looked at again by whoever acts on it.
#ifndef TIPSTAFF_SIMILARITY_OPPOSED_HPP
#define TIPSTAFF_SIMILARITY_OPPOSED_HPP

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tipstaff/similarity/clauses.hpp"
#include "tipstaff/text/columns.hpp"
#include "tipstaff/similarity/jaccard.hpp"
#include "tipstaff/text/words.hpp"

namespace tipstaff {

using TextPair = std::pair<std::int32_t, std::int32_t>;

namespace detail {

constexpr std::int64_t same_numerator = 3, same_denominator = 5;  // topics are the same from 0.6

// Numbers for hashes, in the order in which they come first. May throw std::bad_alloc.
class Numbering {
 public:
  std::uint32_t number(std::uint64_t hash, std::uint32_t step) {
    if (2 * count_ >= slots_.size()) grow();
    const std::uint64_t key = hash == 0 ? 1 : hash;
    Slot& slot = slots_[position(key)];
    if (slot.first == 0) {
      slot = {key, next_};
      next_ += step;
      ++count_;
    }
    return slot.second;
  }

  std::uint32_t used() const noexcept { return next_; }

 private:
  using Slot = std::pair<std::uint64_t, std::uint32_t>;

  std::size_t position(std::uint64_t key) const noexcept {
    std::size_t at = (key ^ key >> 32) & (slots_.size() - 1);
    while (slots_[at].first != 0 && slots_[at].first != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.first != 0) slots_[position(slot.first)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t count_ = 0;
  std::uint32_t next_ = 0;
};

// A directive clause, its topic as ascending numbers.
struct Statement {
  std::int32_t text;
  Polarity polarity;
  bool explicit_, negative_condition;
  std::int64_t begin, end;
};

static inline bool opposite(Polarity left, Polarity right) noexcept {
  const auto either = [&](Polarity one, Polarity other) noexcept {
    return (left == one && right == other) || (left == other && right == one);
  };
  return either(Polarity::require, Polarity::forbid) || either(Polarity::permit, Polarity::forbid) ||
         either(Polarity::lift, Polarity::require);
}

// How many words a topic of `size` words must share with another to be about the same thing: that
// share of the words, or all of the smaller topic, which has at least two and at most two less.
static inline std::int64_t shared_at_least(std::int64_t size) noexcept {
  if (size <= 2) return size;
  const std::int64_t share = (same_numerator * size + same_denominator - 1) / same_denominator;
  return std::max<std::int64_t>(2, std::min(share, size - 2));
}

static inline bool same_topic(const Statement& one, const Statement& other,
                              const std::uint32_t* words) noexcept {
  if (one.negative_condition != other.negative_condition) return false;
  std::int64_t shared = 0;
  for (std::int64_t i = one.begin, j = other.begin; i < one.end && j < other.end;) {
    const std::uint32_t left = words[i], right = words[j];
    shared += left == right;
    i += left <= right;
    j += right <= left;
  }
  const std::int64_t n = one.end - one.begin, m = other.end - other.begin;
  // "never log errors with secrets" is an exception to "always log errors", and no contradiction.
  if (one.polarity == Polarity::forbid && shared == m && m < n) return false;
  if (other.polarity == Polarity::forbid && shared == n && n < m) return false;
  const std::int64_t small = std::min(n, m), large = std::max(n, m);
  // One word is little: both must be about nothing else, and one of them with emphasis.
  if (small == 1) return shared == 1 && large == 1 && (one.explicit_ || other.explicit_);
  return shared * same_denominator >= (n + m - shared) * same_numerator ||
         (large - small <= 2 && shared == small);
}

}  // namespace detail

// Pairs of texts, each once and in order, of which one forbids what the other requires or permits,
// or lifts what the other requires. `work_limit` bounds the entries of the index that are looked at;
// false if the search stopped there: then some pairs may be missing. May throw std::bad_alloc.
//
// Each ban is compared with the clauses that share one of its rarest words: to share `s` of its `n`
// words, a topic must have one of any n - s + 1 of them.
static inline bool opposed_texts(const Lexicon& lexicon, const TextColumn& texts,
                                 std::int64_t work_limit, std::vector<TextPair>* pairs) {
  using detail::Statement;
  pairs->clear();
  std::vector<Statement> statements;
  std::vector<std::uint32_t> words;
  std::vector<unsigned char> lower(static_cast<std::size_t>(texts.data.size + padding));
  detail::Numbering numbering;
  Clauses clauses;
  for (std::int64_t i = 0; i < texts.count; ++i) {
    const ByteView text = lowered(texts[i], true, lower.data());
    read_clauses(lexicon, text, &clauses);
    for (int c = 0; c < clauses.count; ++c) {
      const Clause& clause = clauses.clauses[c];
      if (!clause.directive) continue;
      const auto begin = static_cast<std::int64_t>(words.size());
      for (int k = clause.begin; k < clause.end; ++k) words.push_back(numbering.number(clauses.topics[k], 1));
      std::sort(words.begin() + begin, words.end());
      statements.push_back({static_cast<std::int32_t>(i), clause.polarity, clause.explicit_,
                            clause.negative_condition, begin, static_cast<std::int64_t>(words.size())});
    }
  }
  // Word to the statements that have it.
  std::vector<std::int64_t> starts(numbering.used() + 1, 0);
  for (const std::uint32_t word : words) ++starts[word + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<std::int32_t> postings(words.size());
  std::vector<std::int64_t> next(starts.begin(), starts.end());
  for (std::size_t s = 0; s < statements.size(); ++s) {
    for (std::int64_t k = statements[s].begin; k < statements[s].end; ++k) {
      postings[static_cast<std::size_t>(next[words[static_cast<std::size_t>(k)]]++)] = static_cast<std::int32_t>(s);
    }
  }
  std::vector<std::int32_t> met(statements.size(), -1);  // by which statement last
  bool complete = true;
  for (std::size_t s = 0; s < statements.size() && complete; ++s) {
    const Statement& one = statements[s];
    if (one.polarity != Polarity::forbid && one.polarity != Polarity::lift) continue;
    const std::int64_t size = one.end - one.begin;
    std::uint32_t rare[max_tokens];
    std::copy(words.begin() + one.begin, words.begin() + one.end, rare);
    std::sort(rare, rare + size, [&](std::uint32_t left, std::uint32_t right) noexcept {
      const std::int64_t a = starts[left + 1] - starts[left], b = starts[right + 1] - starts[right];
      return a != b ? a < b : left < right;
    });
    for (std::int64_t k = 0; k <= size - detail::shared_at_least(size); ++k) {
      work_limit -= starts[rare[k] + 1] - starts[rare[k]];
      if (work_limit < 0) {
        complete = false;
        break;
      }
      for (std::int64_t p = starts[rare[k]]; p < starts[rare[k] + 1]; ++p) {
        const std::int32_t position = postings[static_cast<std::size_t>(p)];
        const Statement& other = statements[static_cast<std::size_t>(position)];
        if (other.text == one.text || met[static_cast<std::size_t>(position)] == static_cast<std::int32_t>(s)) continue;
        met[static_cast<std::size_t>(position)] = static_cast<std::int32_t>(s);
        if (detail::opposite(one.polarity, other.polarity) && detail::same_topic(one, other, words.data())) {
          pairs->push_back(std::minmax(one.text, other.text));
        }
      }
    }
  }
  std::sort(pairs->begin(), pairs->end());
  pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
  return complete;
}

// The topics of texts as `jaccard_pairs` takes them: of each of its first `max_words` words that is
// no function word the stem's number, ascending, each once. A word that begins with a digit counts
// thrice: rules about ports 9000 and 9001 are two rules. May throw std::bad_alloc.
static inline void read_topics(const Lexicon& lexicon, const TextColumn& texts, std::int64_t max_words,
                               std::vector<std::uint32_t>* topics, std::vector<std::int64_t>* offsets) {
  topics->clear();
  offsets->assign(1, 0);
  std::vector<unsigned char> lower(static_cast<std::size_t>(texts.data.size + padding));
  detail::Numbering numbering;
  for (std::int64_t i = 0; i < texts.count; ++i) {
    const ByteView text = lowered(texts[i], false, lower.data());
    const auto begin = static_cast<std::ptrdiff_t>(topics->size());
    std::int64_t at = 0;
    ByteView word;
    for (std::int64_t k = 0; k < max_words && next_token(text, false, at, word) == Token::word; ++k) {
      const Meaning found = look_up(lexicon, word);
      if ((found.value & function_word) != 0) continue;
      const std::uint32_t number = numbering.number(stem_hash(lexicon, word, found), 3);
      topics->push_back(number);
      if ((byte_tables.kind[word.data[0]] & digit_byte) != 0) {
        topics->push_back(number + 1);
        topics->push_back(number + 2);
      }
    }
    std::sort(topics->begin() + begin, topics->end());
    topics->erase(std::unique(topics->begin() + begin, topics->end()), topics->end());
    offsets->push_back(static_cast<std::int64_t>(topics->size()));
  }
}

}  // namespace tipstaff

#endif
