// Meaning, words and priors fused: the best rules for a task.
//
//   score = meaning + 0.3 B / max(3, highest B) + prior + bonus
//
// The meaning is given, or row . query, both int8, so that a score has the same bits on every machine; B is a BM25F whose
// contributions are in the postings. Of very many rules only those are scored whose estimates by the signs of their rows (signs.hpp), words, prior
// and bonus included, are the best.
#ifndef TIPSTAFF_SCORING_FUSED_FIND_HPP
#define TIPSTAFF_SCORING_FUSED_FIND_HPP

#include <cstdint>
#include <cstring>
#include <limits>

#include "tipstaff/scoring/fused.hpp"
#include "tipstaff/scoring/signs.hpp"
#include "tipstaff/scoring/topk.hpp"

namespace tipstaff {

// What is added to the scores of some rules.
struct FusedExtras {
  const unsigned char* mask;      // bytes, the rules that may be given; null for all
  const unsigned char* meanings;  // float32[n], in place of the products of the rows; null for none
  const unsigned char* bonus;     // float32[n]; null for none
  std::uint32_t intents;       // of the task, as bits
  float intent_boost;          // for a rule that shares one
};

struct FusedAnswer {
  std::int64_t found;
  float relevance;  // that of any rule for the task; below FusedHead::floor[7] there is none
};

// One search's memory.
struct FusedScratch {
  static constexpr std::int64_t kPart = 4096;  // rows whose words are counted at a time, a multiple of sign_block
  struct Term {
    std::uint32_t first, at, end;  // postings
    float weight;
    float rare;  // what a rule's share gains; 0 where the term is none of the task's own
  };
  alignas(64) float words[kPart];   // the BM25F
  alignas(64) float shares[kPart];  // how much of the task's own words the rule has
  Term terms[QueryTerms::kMost];
};

// Room for the estimates: twice as many as are wanted, and those of a block.
constexpr std::int64_t estimate_room(std::int64_t candidates) noexcept { return 2 * candidates + sign_block; }

struct SignScratch {
  SignQuery query;
  Estimate* found;  // estimate_room(candidates)
  std::int64_t candidates;
};

// The words that rules share with a task, part by part: postings are in the order of the rows.
template <class S>
class FusedWords {
 public:
  FusedWords(const FusedIndex& index, const FusedQuery& query, FusedScratch* scratch) noexcept
      : index_(index), scratch_(*scratch) {
    for (int t = 0; t < query.terms.count(); ++t) {
      const std::uint64_t term = query.terms.term(t);
      std::uint32_t low = 0, high = index.head.n_terms;
      while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (load_field<std::uint64_t>(index.terms + std::size_t{middle} * 8) < term) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      const bool known = low < index.head.n_terms && load_field<std::uint64_t>(index.terms + std::size_t{low} * 8) == term;
      const int at = query.own.find(term);
      const bool counts = at < query.own.count() && query.own.weight(at) >= 1.0f;
      const float rare = known ? load_field<float>(index.weights + std::size_t{low} * 4) : index.head.unknown;
      if (counts) mass_ += rare;
      if (!known) continue;
      const auto first = load_field<std::uint32_t>(index.starts + std::size_t{low} * 4);
      const auto end = load_field<std::uint32_t>(index.starts + std::size_t{low} * 4 + 4);
      scratch_.terms[n_terms_++] = {first, first, end < index.head.n_postings ? end : index.head.n_postings,
                                    query.terms.weight(t), counts ? rare : 0.0f};
    }
  }

  float mass() const noexcept { return mass_; }

  // Fills scratch.words and shares for the rows from `start` on, at most kPart of them; parts come in order, and again from 0.
  void read(std::int64_t start, std::int64_t count) noexcept {
    if (start == 0) {
      for (int t = 0; t < n_terms_; ++t) scratch_.terms[t].at = scratch_.terms[t].first;
    }
    const auto whole = static_cast<std::size_t>((count + sign_block - 1) / sign_block * sign_block);
    std::memset(scratch_.words, 0, whole * 4);
    std::memset(scratch_.shares, 0, whole * 4);
    for (int t = 0; t < n_terms_; ++t) {
      FusedScratch::Term& term = scratch_.terms[t];
      std::uint32_t p = term.at;
      for (; p < term.end; ++p) {
        const std::int64_t position = std::int64_t{load_field<std::uint32_t>(index_.posting_rows + std::size_t{p} * 4)} - start;
        if (position >= count) break;
        if (position < 0) continue;  // a damaged index
        scratch_.words[position] += term.weight * load_field<float>(index_.postings + std::size_t{p} * 4);
        scratch_.shares[position] += term.rare;
      }
      term.at = p;
    }
  }

 private:
  const FusedIndex& index_;
  FusedScratch& scratch_;
  int n_terms_ = 0;
  float mass_ = 0.0f;
};

// Integer products of `count` rows with a query.
template <class S>
static inline void int8_dots(const std::int8_t* rows, std::int64_t count, std::int64_t d, const std::int8_t* query,
                             std::int32_t* out) noexcept {
  for (std::int64_t r = 0; r < count; ++r) {
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += std::int32_t{rows[r * d + i]} * std::int32_t{query[i]};
    out[r] = sum;
  }
}

// Copies a block's numbers, the rest of it zeros.
static inline void copy_floats(const unsigned char* from, std::int64_t count, float* to) noexcept {
  if (count == sign_block) {
    std::memcpy(to, from, sign_block * 4);
  } else {
    for (std::int64_t i = 0; i < sign_block; ++i) to[i] = i < count ? load_field<float>(from + i * 4) : 0.0f;
  }
}

// What of a block's scores does not depend on words or meaning. Copies of a stated size are single moves.
struct BlockTerms {
  float priors[sign_block];
  float bonuses[sign_block];
  std::uint16_t intents[sign_block];
  unsigned char mask[sign_block];

  template <std::size_t size>
  void copy(const FusedIndex& index, const FusedExtras& extras, std::int64_t start) noexcept {
    std::memcpy(priors, index.priors + start * 4, size * 4);
    std::memcpy(intents, index.intents + start * 2, size * 2);
    if (extras.bonus != nullptr) std::memcpy(bonuses, extras.bonus + start * 4, size * 4);
    if (extras.mask != nullptr) std::memcpy(mask, extras.mask + start, size);
  }

  BlockTerms(const FusedIndex& index, const FusedExtras& extras, std::int64_t start, std::int64_t count) noexcept {
    std::memset(mask, 1, sizeof mask);
    std::memset(bonuses, 0, sizeof bonuses);
    if (count == sign_block) {
      copy<sign_block>(index, extras, start);
      return;
    }
    std::memset(priors, 0, sizeof priors);
    std::memset(intents, 0, sizeof intents);
    std::memset(mask, 0, sizeof mask);
    for (std::int64_t i = 0; i < count; ++i) {
      priors[i] = load_field<float>(index.priors + (start + i) * 4);
      intents[i] = load_field<std::uint16_t>(index.intents + (start + i) * 2);
      if (extras.bonus != nullptr) bonuses[i] = load_field<float>(extras.bonus + (start + i) * 4);
      mask[i] = extras.mask == nullptr || extras.mask[start + i] != 0;
    }
  }
};

// Turns a block's meanings into scores, minus infinity for rows that may not be given; those beyond `count` likewise.
// `words` has room for whole blocks.
template <class S>
static inline void fused_scores(const FusedIndex& index, const FusedExtras& extras, std::int64_t start, std::int64_t count,
                                const float* meanings, const float* words, float of_words, float* scores) noexcept {
  const BlockTerms terms(index, extras, start, count);
  const std::uint32_t asked = extras.intents;
  const float boost = extras.intent_boost;
  for (int i = 0; i < sign_block; ++i) {
    const float intent = (terms.intents[i] & asked) != 0 ? boost : 0.0f;
    const float score = meanings[i] + of_words * words[i] + terms.priors[i] + intent + terms.bonuses[i];
    scores[i] = terms.mask[i] != 0 ? score : -std::numeric_limits<float>::infinity();
  }
}

// The score of one row, with the same bits.
static inline float fused_score(const FusedIndex& index, const FusedExtras& extras, std::int64_t row, float meaning, float words,
                                float of_words) noexcept {
  float score = meaning + of_words * words + load_field<float>(index.priors + row * 4);
  if ((load_field<std::uint16_t>(index.intents + row * 2) & extras.intents) != 0) score += extras.intent_boost;
  if (extras.bonus != nullptr) score += load_field<float>(extras.bonus + row * 4);
  return score;
}

template <class S>
static inline bool any_above(const float* scores, float threshold) noexcept {
  int any = 0;
  for (int i = 0; i < sign_block; ++i) any |= scores[i] > threshold ? 1 : 0;
  return any != 0;
}

// Whether a block has a row that may be given.
static inline bool any_allowed(const FusedExtras& extras, std::int64_t start, std::int64_t count) noexcept {
  if (extras.mask == nullptr) return true;
  unsigned char any = 0;
  for (std::int64_t i = 0; i < count; ++i) any |= extras.mask[start + i];
  return any != 0;
}

// Calls take(start, count, words, shares) for each block of rows of which one may be given.
template <class S, class Take>
static inline void each_block(std::int64_t n, const FusedExtras& extras, FusedWords<S>* words, const FusedScratch& scratch,
                              bool read, const Take& take) noexcept {
  for (std::int64_t part = 0; part < n; part += FusedScratch::kPart) {
    const std::int64_t rows = n - part < FusedScratch::kPart ? n - part : FusedScratch::kPart;
    if (read) words->read(part, rows);
    for (std::int64_t at = 0; at < rows; at += sign_block) {
      const std::int64_t count = rows - at < sign_block ? rows - at : sign_block;
      if (any_allowed(extras, part + at, count)) take(part + at, count, scratch.words + at, scratch.shares + at);
    }
  }
}

// The highest BM25F, at least 3, and the highest share of a row that may be given. Side by side, so that no comparison waits
// for another.
struct Most {
  float words, share;
};

template <class S>
static inline Most most_words(std::int64_t n, const FusedExtras& extras, FusedWords<S>* words, const FusedScratch& scratch) noexcept {
  float most[sign_block] = {}, shares[sign_block] = {};
  each_block<S>(n, extras, words, scratch, true,
                [&](std::int64_t start, std::int64_t count, const float* known, const float* shared) noexcept {
    float allowed[sign_block];
    for (float& one : allowed) one = 1.0f;
    for (std::int64_t i = 0; extras.mask != nullptr && i < count; ++i) allowed[i] = extras.mask[start + i] != 0 ? 1.0f : 0.0f;
    for (int i = 0; i < sign_block; ++i) {
      const float word = known[i] * allowed[i], share = shared[i] * allowed[i];
      most[i] = word > most[i] ? word : most[i];
      shares[i] = share > shares[i] ? share : shares[i];
    }
  });
  Most found{3.0f, 0.0f};
  for (int i = 0; i < sign_block; ++i) {
    found.words = most[i] > found.words ? most[i] : found.words;
    found.share = shares[i] > found.share ? shares[i] : found.share;
  }
  return found;
}

// Pushes the best of all rows; returns the highest product of a row with the query.
template <class S, class EachBlock>
static inline float score_all(const FusedIndex& index, const FusedQuery& query, const FusedExtras& extras, float of_words,
                              const EachBlock& each, TopK<S>* top, std::int64_t k) noexcept {
  const std::int64_t d = index.head.dimensions;
  float nearest = 0.0f;
  each([&](std::int64_t start, std::int64_t count, const float* words, const float*) noexcept {
    std::int32_t products[sign_block] = {};
    float meanings[sign_block], scores[sign_block];
    if (extras.meanings != nullptr) {
      copy_floats(extras.meanings + start * 4, count, meanings);
    } else {
      int8_dots<S>(index.rows + start * d, count, d, query.codes, products);
      copy_floats(index.scales + start * 4, count, meanings);
      for (int i = 0; i < sign_block; ++i) meanings[i] = meanings[i] * query.scale * static_cast<float>(products[i]);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const bool allowed = extras.mask == nullptr || extras.mask[start + i] != 0;
      nearest = allowed && meanings[i] > nearest ? meanings[i] : nearest;
    }
    fused_scores<S>(index, extras, start, count, meanings, words, of_words, scores);
    if (k <= 0 || !any_above<S>(scores, top->threshold())) return;
    for (int i = 0; i < count; ++i) {
      if (scores[i] > top->threshold()) top->push(static_cast<std::int32_t>(start + i), scores[i], meanings[i]);
    }
  });
  return nearest;
}

// As score_all, of the rows alone whose estimates are the best.
template <class S, class EachBlock>
static inline float score_by_signs(const FusedIndex& index, const FusedQuery& query, const FusedExtras& extras, float of_words,
                                   const EachBlock& each, const SignScratch& signs, TopK<S>* top) noexcept {
  const std::int64_t d = index.head.dimensions;
  const std::int64_t bytes = kept_signs(d) / 8;
  const auto middle = static_cast<std::int32_t>(2 * bytes * sign_level);
  const SignQuery& asked = signs.query;
  Estimate* found = signs.found;
  std::int64_t n_found = 0;
  float threshold = -std::numeric_limits<float>::infinity();
  each([&](std::int64_t start, std::int64_t count, const float* words, const float*) noexcept {
    std::uint16_t sums[sign_block];
    float meanings[sign_block], scores[sign_block];
    S::sign_sums(index.signs.bits + start * bytes, asked.tables, bytes, sums);
    copy_floats(index.signs.factors + start * 4, count, meanings);
    for (int i = 0; i < sign_block; ++i) {
      const auto sum = static_cast<float>(static_cast<std::int32_t>(sums[i]) - middle);
      meanings[i] = asked.base + meanings[i] * (asked.step * sum);
    }
    fused_scores<S>(index, extras, start, count, meanings, words, of_words, scores);
    if (!any_above<S>(scores, threshold)) return;
    for (int i = 0; i < count; ++i) {
      if (scores[i] > threshold) found[n_found++] = {scores[i], static_cast<std::int32_t>(start + i), words[i]};
    }
    if (n_found >= 2 * signs.candidates) {
      threshold = keep_best<S>(found, n_found, signs.candidates);
      n_found = signs.candidates;
    }
  });
  if (n_found > signs.candidates) {
    keep_best<S>(found, n_found, signs.candidates);
    n_found = signs.candidates;
  }
  float nearest = 0.0f;
  constexpr std::int64_t ahead = 8;
  for (std::int64_t i = 0; i < n_found; ++i) {
    if (i + ahead < n_found) {
      S::fetch(reinterpret_cast<const unsigned char*>(index.rows) + found[i + ahead].row * d, d);
    }
    const std::int64_t row = found[i].row;
    std::int32_t product;
    int8_dots<S>(index.rows + row * d, 1, d, query.codes, &product);
    const float meaning = load_field<float>(index.scales + row * 4) * query.scale * static_cast<float>(product);
    nearest = meaning > nearest ? meaning : nearest;
    top->push(found[i].row, fused_score(index, extras, row, meaning, found[i].words, of_words), meaning);
  }
  return nearest;
}

// Fills the arrays with the k best rows; where `signs` is not null, of those alone whose estimates by the index's signs are
// the best. `S` then has sign_sums and fetch.
template <class S, bool with_signs = false>
static inline FusedAnswer find_fused(const FusedIndex& index, const FusedQuery& query, const FusedExtras& extras,
                                     FusedScratch* scratch, const Best& best, SignScratch* signs = nullptr) noexcept {
  const std::int64_t n = index.head.n;
  if (n == 0) return {0, 0.0f};
  FusedWords<S> words(index, query, scratch);
  const Most most = most_words(n, extras, &words, *scratch);
  const bool again = n > FusedScratch::kPart;  // otherwise the words of all rows are still there
  const auto each = [&](const auto& take) noexcept { each_block<S>(n, extras, &words, *scratch, again, take); };
  TopK<S> top(best.k, best.rows, best.scores, best.cosines);
  float nearest = 0.0f;
  bool scored = false;
  if constexpr (with_signs) {
    scored = signs != nullptr && index.head.n_signs == n && best.k > 0 &&
             prepare_signs(query.codes, query.scale, index.signs.mean, index.head.dimensions, &signs->query);
    if (scored) nearest = score_by_signs<S>(index, query, extras, 0.3f / most.words, each, *signs, &top);
  }
  if (!scored) nearest = score_all<S>(index, query, extras, 0.3f / most.words, each, &top, best.k);
  const TaskRead& read = query.read;
  float much = 0.0f;
  for (float one : read.fields) much += one;
  const float features[6] = {nearest / index.head.spread, most.share / (words.mass() + 1e-9f), much < 3.0f ? much : 3.0f,
                             read.asks ? 1.0f : 0.0f, read.nouns < 3.0f ? read.nouns : 3.0f, read.only_verbs ? 1.0f : 0.0f};
  float sum = index.head.floor[6];
  for (int i = 0; i < 6; ++i) sum += features[i] * index.head.floor[i];
  return {top.finish(), sum};
}

struct FusedKernels {
  FusedAnswer (*find)(const FusedIndex&, const FusedQuery&, const FusedExtras&, FusedScratch*, const Best&,
                      SignScratch*) noexcept;
};

template <class S>
constexpr FusedKernels make_fused_kernels() noexcept {
  return FusedKernels{&find_fused<S, true>};
}

}  // namespace tipstaff

#endif
