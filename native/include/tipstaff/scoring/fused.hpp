// The index of rules by meaning, words and priors, one blob that is written when rules are compiled, and how a task is read
// for it; fused_find.hpp searches it. tests/specifications/fused.py states the same in Python,
// tipstaff.guidance.retrieval.fused_index writes the blob.
#ifndef TIPSTAFF_SCORING_FUSED_HPP
#define TIPSTAFF_SCORING_FUSED_HPP

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tipstaff/scoring/signs.hpp"
#include "tipstaff/tasks/query.hpp"
#include "tipstaff/tokens/wordpiece.hpp"

namespace tipstaff {

inline constexpr int kFloorNumbers = 8;

// Little-endian; sections follow one another at multiples of 64 bytes, in the order of FusedIndex. Without dimensions, who asks
// brings the meanings.
struct FusedHead {
  char magic[8];
  std::uint64_t file_bytes;
  std::uint32_t n, dimensions, n_terms, n_postings, n_fields, n_field_terms;
  float spread;                // sqrt(2 ln n): the best of many rules is near by chance
  float unknown;               // how rare a word is that no rule has
  float floor[kFloorNumbers];  // weights of the features, the constant, and below what nothing is returned
  std::uint32_t n_signs;       // n where very many rules are searched by the signs of their rows, otherwise 0
  std::uint32_t unused;
};
static_assert(sizeof(FusedHead) == 88, "the layout on disk");

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
  SignRows signs;                     // of the rows; empty where n_signs is 0
};

static inline bool open_fused(ByteView file, FusedIndex* index) noexcept {
  if (file.size < static_cast<std::int64_t>(sizeof(FusedHead))) return false;
  std::memcpy(&index->head, file.data, sizeof(FusedHead));
  const FusedHead& head = index->head;
  if (std::memcmp(head.magic, "TSFUSED2", 8) != 0 || head.file_bytes != static_cast<std::uint64_t>(file.size) ||
      head.dimensions % 16 != 0 || head.dimensions > max_wordpiece_dimensions ||
      head.n_fields > kMostFields || (head.n_signs != 0 && head.n_signs != head.n))
    return false;
  const std::uint64_t n = head.n, d = head.dimensions, terms = head.n_terms, signs = head.n_signs;
  constexpr int count = 15;
  const std::uint64_t sizes[count] = {n * d, n * 4, n * 4, n * 2, terms * 8, terms * 4, (terms + 1) * 4,
                                   std::uint64_t{head.n_postings} * 4, std::uint64_t{head.n_postings} * 4,
                                   std::uint64_t{head.n_fields} * d * 4, (std::uint64_t{head.n_fields} + 1) * 4,
                                   std::uint64_t{head.n_field_terms} * 8, signs > 0 ? d * 4 : 0, signs * 4,
                                   static_cast<std::uint64_t>(sign_bytes(head.n_signs, head.dimensions))};
  const unsigned char* sections[count];
  std::uint64_t at = sizeof(FusedHead);
  for (int i = 0; i < count; ++i) {
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
  index->signs = {sections[12], sections[13], sections[14]};
  return true;
}

struct FusedQuery {
  std::int8_t codes[max_wordpiece_dimensions];
  float scale;
  QueryTerms own, terms;
  TaskRead read;
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
    ByteView span = words.span(i);
    if (word.run > 0) span.size = word.run;
    if (word.run == 0 && (look_up(lexicon, span).value & kStop) != 0) continue;
    if (size + span.size + 1 > room) break;
    std::memcpy(text + size, span.data, static_cast<std::size_t>(span.size));
    size += span.size;
    text[size++] = ' ';
  }
  embed(ByteView{text, size}, out);
}

// Reads a task, what the file worked on says (`kinds`, words) and its path's words, all UTF-8; the last two may be empty.
template <class Embed>
static inline void read_query(const FusedIndex& index, const Lexicon& lexicon, ByteView task, ByteView kinds, ByteView path,
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

}  // namespace tipstaff

#endif
