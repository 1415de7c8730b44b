// Meaning, words and priors fused: the best rules for a task, over one blob that is written when rules are compiled.
//
//   score = row . query + 0.3 B / max(3, highest B) + prior + bonus
//
// Rows and query are int8, so a score has the same bits on every machine; B is a BM25F whose contributions lie in the
// postings. tipstaff/kernels/plain/fused.py states the same in Python, tipstaff.guidance.retrieval.fused_index writes it.
#ifndef TIPSTAFF_SCORING_FUSED_HPP
#define TIPSTAFF_SCORING_FUSED_HPP

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tipstaff/scoring/topk.hpp"
#include "tipstaff/tasks/query.hpp"
#include "tipstaff/tokens/wordpiece.hpp"

namespace tipstaff {

inline constexpr int kFloorNumbers = 8;

// Little-endian; sections follow one another at multiples of 64 bytes, in the order of FusedIndex.
struct FusedHead {
  char magic[8];
  std::uint64_t file_bytes;
  std::uint32_t n, dimensions, n_terms, n_postings, n_fields, n_field_terms;
  float spread;                // sqrt(2 ln n): the best of many rules is near by chance
  float unknown;               // how rare a word is that no rule has
  float floor[kFloorNumbers];  // weights of the features, the constant, and below what nothing is said
};
static_assert(sizeof(FusedHead) == 80, "index files lie on disk as they are");

struct FusedIndex {
  FusedHead head;
  const std::int8_t* rows;            // [n][dimensions]
  const unsigned char* scales;        // float32[n]
  const unsigned char* priors;        // float32[n]
  const unsigned char* intents;       // uint16[n]: bits
  const unsigned char* terms;         // uint64[n_terms], rising
  const unsigned char* weights;       // float32[n_terms]: how rare each is
  const unsigned char* starts;        // uint32[n_terms + 1]
  const unsigned char* posting_rows;  // uint32[n_postings]
  const unsigned char* postings;      // float32[n_postings]
  const unsigned char* fields;        // float32[n_fields][dimensions], unit
  const unsigned char* field_starts;  // uint32[n_fields + 1]
  const unsigned char* field_terms;   // uint64[n_field_terms]
};

static inline bool open_fused(Span file, FusedIndex* index) noexcept {
  if (file.size < static_cast<std::int64_t>(sizeof(FusedHead))) return false;
  std::memcpy(&index->head, file.data, sizeof(FusedHead));
  const FusedHead& head = index->head;
  if (std::memcmp(head.magic, "TSFUSED1", 8) != 0 || head.file_bytes != static_cast<std::uint64_t>(file.size) ||
      head.dimensions == 0 || head.dimensions % 16 != 0 || head.dimensions > max_wordpiece_dimensions ||
      head.n_fields > kMostFields)
    return false;
  const std::uint64_t n = head.n, d = head.dimensions, terms = head.n_terms;
  const std::uint64_t sizes[12] = {n * d, n * 4, n * 4, n * 2, terms * 8, terms * 4, (terms + 1) * 4,
                                   std::uint64_t{head.n_postings} * 4, std::uint64_t{head.n_postings} * 4,
                                   std::uint64_t{head.n_fields} * d * 4, (std::uint64_t{head.n_fields} + 1) * 4,
                                   std::uint64_t{head.n_field_terms} * 8};
  const unsigned char* sections[12];
  std::uint64_t at = sizeof(FusedHead);
  for (int i = 0; i < 12; ++i) {
    at = (at + 63) / 64 * 64;
    if (at > head.file_bytes || sizes[i] > head.file_bytes - at) return false;
    sections[i] = file.data + at;
    at += sizes[i];
  }
  index->rows = reinterpret_cast<const std::int8_t*>(sections[0]);
  index->scales = sections[1];
  index->priors = sections[2];
  index->intents = sections[3];
  index->terms = sections[4];
  index->weights = sections[5];
  index->starts = sections[6];
  index->posting_rows = sections[7];
  index->postings = sections[8];
  index->fields = sections[9];
  index->field_starts = sections[10];
  index->field_terms = sections[11];
  return true;
}

struct FusedQuery {
  std::int8_t codes[max_wordpiece_dimensions];
  float scale;
  QueryTerms own, terms;
  TaskRead read;
};

struct FusedAnswer {
  std::int64_t found;
  float relevance;  // that of any rule for the task; below FusedHead::floor[7] there is none
};

// Brings a vector to int8: the largest number becomes 127.
static inline float to_codes(const float* vector, std::int64_t d, std::int8_t* codes) noexcept {
  float most = 0.0f;
  for (std::int64_t i = 0; i < d; ++i) most = std::fabs(vector[i]) > most ? std::fabs(vector[i]) : most;
  const float scale = most / 127.0f;
  for (std::int64_t i = 0; i < d; ++i) {
    const float one = most > 0.0f ? vector[i] / scale : 0.0f;
    codes[i] = static_cast<std::int8_t>(one < 0.0f ? one - 0.5f : one + 0.5f);
  }
  return scale;
}

static inline void add_weighted(float* sum, const float* other, float weight, std::int64_t d) noexcept {
  for (std::int64_t i = 0; i < d; ++i) sum[i] += weight * other[i];
}

// Embeds the content words of a text, unit or zeros. `embed` is that of the word-piece kernels.
template <class Embed>
static inline void embed_content(const Lexicon& lexicon, const QueryWords& words, const Embed& embed, float* out) noexcept {
  static constexpr std::int64_t room = 3 * QueryWords::kMostBytes + 64;
  unsigned char text[room];
  std::int64_t size = 0;
  for (int i = 0; i < words.count(); ++i) {
    const QueryWords::Word& word = words.word(i);
    if (word.run < 0) continue;
    Span span = words.span(i);
    if (word.run > 0) span.size = word.run;
    if (word.run == 0 && (look_up(lexicon, span).value & kStop) != 0) continue;
    if (size + span.size + 1 > room) break;
    std::memcpy(text + size, span.data, static_cast<std::size_t>(span.size));
    size += span.size;
    text[size++] = ' ';
  }
  embed(Span{text, size}, out);
}

// Reads a task, what the file worked on says (`kinds`, words) and its path's words, all UTF-8; the last two may be empty.
template <class Embed>
static inline void read_query(const FusedIndex& index, const Lexicon& lexicon, Span task, Span kinds, Span path,
                              const Embed& embed, FusedQuery* query) noexcept {
  const std::int64_t d = index.head.dimensions;
  alignas(64) float vector[max_wordpiece_dimensions];
  alignas(64) float other[max_wordpiece_dimensions];
  static constexpr auto number = [](const unsigned char* x, std::uint64_t i) noexcept { return load_field<std::uint32_t>(x + 4 * i); };
  QueryWords words;
  words.read(task);
  query->read = read_task(lexicon, words);
  const TaskRead& read = query->read;
  query->own.clear();
  read_terms(lexicon, words, [&](std::uint64_t term, std::uint64_t value) noexcept {
    query->own.add(term, (value & kWeak) != 0 ? 0.5f : 1.0f);
  });
  query->terms = query->own;
  embed_content(lexicon, words, embed, vector);
  const float strength = read.strong > 5 ? 3.0f / static_cast<float>(read.strong) : 0.6f;
  bool any = false;
  for (std::int64_t i = 0; i < d; ++i) other[i] = 0.0f;
  QueryTerms related;
  for (std::uint32_t f = 0; f < index.head.n_fields; ++f) {
    if (read.fields[f] <= 0.0f) continue;
    any = true;
    const float much = std::sqrt(read.fields[f]);
    const unsigned char* row = index.fields + std::size_t{f} * static_cast<std::size_t>(d) * 4;
    for (std::int64_t i = 0; i < d; ++i) other[i] += much * load_field<float>(row + 4 * i);
    const std::uint32_t from = number(index.field_starts, f), to = number(index.field_starts, f + 1);
    for (std::uint32_t t = from; t < to && t < index.head.n_field_terms; ++t) {
      const auto term = load_field<std::uint64_t>(index.field_terms + std::size_t{t} * 8);
      const int at = related.find(term);
      const float before = at < related.count() ? related.weight(at) : 0.0f;
      const float now = before + 0.7f * much;
      related.add(term, now < 1.5f ? now : 1.5f);
    }
  }
  if (any) {
    write_unit(other, d, other);
    add_weighted(vector, other, strength, d);
  }
  const auto further = [&](std::uint64_t term, float weight) noexcept {
    if (query->own.find(term) == query->own.count()) query->terms.add(term, weight);
  };
  for (int i = 0; i < related.count(); ++i) further(related.term(i), 0.6f * strength * related.weight(i));
  if (path.size > 0) {
    words.read(path);
    read_terms(lexicon, words, [&](std::uint64_t term, std::uint64_t) noexcept { further(term, 0.5f); });
  }
  if (kinds.size > 0) {
    words.read(kinds);
    read_terms(lexicon, words, [&](std::uint64_t term, std::uint64_t) noexcept { further(term, 0.25f); });
    embed_content(lexicon, words, embed, other);
    add_weighted(vector, other, 0.3f, d);
  }
  write_unit(vector, d, vector);
  query->scale = to_codes(vector, d, query->codes);
}

// What is added to the scores of some rules.
struct FusedExtras {
  const unsigned char* mask;   // bytes, the rules that may be given; null for all
  const unsigned char* bonus;  // float32[n]; null for none
  std::uint32_t intents;       // of the task, as bits
  float intent_boost;          // for a rule that shares one
};

// Numbers of a row for one scan.
struct FusedRow {
  float words;  // the BM25F
  float share;  // how much of the task's own words the rule has
};

// Fills the arrays with the k best rows; returns how many. `scratch` has room for n rows. `dots` gives the integer
// products of rows with the query.
template <class S, class Dots>
static inline FusedAnswer find_fused(const FusedIndex& index, const FusedQuery& query, const FusedExtras& extras,
                                     FusedRow* scratch, std::int32_t* rows, float* scores,
                                     float* meanings, std::int64_t k, const Dots& dots) noexcept {
  const std::int64_t n = index.head.n, d = index.head.dimensions;
  const unsigned char* mask = extras.mask;
  if (n == 0) return {0, 0.0f};
  std::memset(scratch, 0, static_cast<std::size_t>(n) * sizeof(FusedRow));
  float mass = 0.0f;
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
    if (counts) mass += rare;
    if (!known) continue;
    const auto from = load_field<std::uint32_t>(index.starts + std::size_t{low} * 4);
    auto to = load_field<std::uint32_t>(index.starts + std::size_t{low} * 4 + 4);
    if (to > index.head.n_postings) to = index.head.n_postings;
    const float weight = query.terms.weight(t);
    for (std::uint32_t p = from; p < to; ++p) {
      const auto row = load_field<std::uint32_t>(index.posting_rows + std::size_t{p} * 4);
      if (row >= index.head.n) continue;
      scratch[row].words += weight * load_field<float>(index.postings + std::size_t{p} * 4);
      if (counts) scratch[row].share += rare;
    }
  }
  float most_words = 3.0f, most_share = 0.0f;
  for (std::int64_t i = 0; i < n; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    most_words = scratch[i].words > most_words ? scratch[i].words : most_words;
    most_share = scratch[i].share > most_share ? scratch[i].share : most_share;
  }
  TopK<S> top(k, rows, scores, meanings);
  float nearest = 0.0f;
  const float of_words = 0.3f / most_words;
  static constexpr std::int64_t block = 64;
  std::int32_t products[block];
  for (std::int64_t start = 0; start < n; start += block) {
    const std::int64_t count = n - start < block ? n - start : block;
    dots(index.rows + start * d, count, d, query.codes, products);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = start + i;
      if (mask != nullptr && mask[row] == 0) continue;
      const float meaning = load_field<float>(index.scales + row * 4) * query.scale * static_cast<float>(products[i]);
      nearest = meaning > nearest ? meaning : nearest;
      float score = meaning + of_words * scratch[row].words + load_field<float>(index.priors + row * 4);
      if ((load_field<std::uint16_t>(index.intents + row * 2) & extras.intents) != 0) score += extras.intent_boost;
      if (extras.bonus != nullptr) score += load_field<float>(extras.bonus + row * 4);
      top.push(static_cast<std::int32_t>(row), score, meaning);
    }
  }
  const TaskRead& read = query.read;
  float much = 0.0f;
  for (float one : read.fields) much += one;
  const float features[6] = {nearest / index.head.spread, most_share / (mass + 1e-9f), much < 3.0f ? much : 3.0f,
                             read.asks ? 1.0f : 0.0f, read.nouns < 3.0f ? read.nouns : 3.0f, read.only_verbs ? 1.0f : 0.0f};
  float sum = index.head.floor[6];
  for (int i = 0; i < 6; ++i) sum += features[i] * index.head.floor[i];
  return {top.finish(), sum};
}

// Integer products of `count` rows with a query.
static inline void plain_dots(const std::int8_t* rows, std::int64_t count, std::int64_t d, const std::int8_t* query,
                              std::int32_t* out) noexcept {
  for (std::int64_t r = 0; r < count; ++r) {
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += std::int32_t{rows[r * d + i]} * std::int32_t{query[i]};
    out[r] = sum;
  }
}

}  // namespace tipstaff

#endif
