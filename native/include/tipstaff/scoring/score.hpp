// Scoring rules against queries: filters, cosine, boosts and the k best in one pass.
//
//   score = clamp(row . query, 0, 1) + intent boost if the masks meet + boost of the row's risk
//
// Rows and queries are unit vectors, so the dot product is the cosine. A dot product that is not a
// number counts as 0. Rows are bytes at any alignment: they may be a view into a mapped file.
// All sums have a fixed order, so a row's score does not depend on its neighbours: the exact pass of
// the int8 kernel gives the bits of the float32 kernel.
#ifndef TIPSTAFF_SCORING_SCORE_HPP
#define TIPSTAFF_SCORING_SCORE_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tipstaff/scoring/topk.hpp"

namespace tipstaff {

// Columns of n rows. Risk codes: 0 info, 1 low, 2 medium, 3 high, 4 critical; codes above 7 are
// never returned. mask may be null; a row whose byte is 0 is left out.
struct Rows {
  const unsigned char* vectors;  // float32[n][dimensions], any alignment
  const unsigned char* intents;  // uint16[n], any alignment
  const std::uint8_t* risks;
  const std::uint8_t* mask;
  std::int64_t n;
  std::int64_t dimensions;
};

struct Boosts {
  float intent;
  float high;
  float critical;
};

// Bit r of risk_filter lets rows of risk r through.
struct Query {
  const unsigned char* vector;  // float32[dimensions], any alignment
  std::uint16_t intents;
  std::uint8_t risk_filter;
};

struct QueryBatch {
  const unsigned char* vectors;  // float32[m][dimensions], any alignment
  const unsigned char* intents;  // uint16[m], any alignment
  const std::uint8_t* risk_filters;
  std::int64_t m;
};

// int8 rows: x = mean + scale * code + e, with |e| and all rounding of the scan below `error`.
struct QuantizedRows {
  const std::int8_t* codes;     // [n][dimensions]
  const unsigned char* scales;  // float32[n], any alignment
  const unsigned char* errors;  // float32[n], any alignment
  const unsigned char* mean;    // float32[dimensions], any alignment
};

// The caller's arrays, k entries for each query.
struct Best {
  std::int64_t k;
  std::int32_t* rows;
  float* scores;
  float* cosines;
};

// Callers limit dimensions to 65536, so that an int32 holds every integer dot product.
inline constexpr int block_rows = 32;
inline constexpr int batch_queries = 64;

// The int8 scan represents a query in integers of up to this magnitude: the largest for which
// dimensions * 127 * limit stays below 2^31, and no more than two signed bytes hold.
constexpr std::int32_t query_code_limit(std::int64_t dimensions) noexcept {
  const std::int64_t limit = (std::int64_t{1} << 31) / (128 * (dimensions > 0 ? dimensions : 1));
  return static_cast<std::int32_t>(limit < 32512 ? limit : 32512);
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) noexcept {
  return (value + step - 1) / step * step;
}

// Candidates the int8 scan keeps before it gives up pruning.
constexpr std::int64_t candidate_room(std::int64_t k) noexcept { return 4096 + 4 * k; }

// Bytes of scratch, to be aligned to 64.
constexpr std::int64_t batch_scratch_bytes(std::int64_t dimensions) noexcept {
  return round_up(dimensions * batch_queries * 4, 64);
}
constexpr std::int64_t i8_query_bytes(std::int64_t dimensions) noexcept {
  return round_up(dimensions, 64) * 2 + 64;
}
constexpr std::int64_t i8_scratch_bytes(std::int64_t dimensions, std::int64_t k) noexcept {
  return 2 * i8_query_bytes(dimensions) + candidate_room(k) * 8;
}

struct ScoreKernels {
  // Returns how many entries were written, best first.
  std::int64_t (*topk_f32)(const Rows&, const Query&, const Boosts&, const Best&) noexcept;
  // The same result from int8 rows; `vectors` is read for the few rows that may be among the best.
  // `exact_rows`, where not null, receives how many were read (n where pruning was given up).
  std::int64_t (*topk_i8)(const Rows&, const QuantizedRows&, const Query&, const Boosts&,
                          const Best&, unsigned char* scratch, std::int64_t* exact_rows) noexcept;
  // counts[m] receives how many entries each query got. Rounding of the sums differs from topk_f32.
  void (*topk_f32_batch)(const Rows&, const QueryBatch&, const Boosts&, const Best&,
                         std::int64_t* counts, unsigned char* scratch) noexcept;
};

template <class T>
static inline T load_as(const unsigned char* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// `!(x > 0)` takes NaN to 0.
static inline float clamp_cosine(float dot) noexcept {
  const float low = dot > 0.0f ? dot : 0.0f;
  return low < 1.0f ? low : 1.0f;
}

static inline float with_boosts(float cosine, std::uint16_t row_intents, std::uint8_t risk,
                                std::uint16_t query_intents, const Boosts& boosts) noexcept {
  const float score = cosine + ((row_intents & query_intents) != 0 ? boosts.intent : 0.0f);
  return score + (risk == 3 ? boosts.high : risk == 4 ? boosts.critical : 0.0f);
}

// What a block of rows needs besides its dot products. Plain loops over fixed-size arrays of
// one width each, which compilers turn into vectors; gcc only if it is kept from unrolling them first.
struct BlockColumns {
  float boost_intent[block_rows];
  float boost_risk[block_rows];
  float gate[block_rows];  // 0, or minus infinity for a row that is left out
  int allowed;             // how many are not
};

static inline void read_columns(const Rows& rows, std::int64_t start, int count,
                                std::uint16_t query_intents, std::uint8_t filter,
                                const Boosts& boosts, BlockColumns* block) noexcept {
  std::uint16_t intents[block_rows] = {};
  std::uint8_t risks[block_rows];
  std::uint8_t mask[block_rows];
  std::memset(risks, 255, sizeof risks);
  std::memset(mask, 1, sizeof mask);
  if (count == block_rows) {  // constant sizes become single moves
    std::memcpy(intents, rows.intents + start * 2, sizeof intents);
    std::memcpy(risks, rows.risks + start, sizeof risks);
    if (rows.mask != nullptr) std::memcpy(mask, rows.mask + start, sizeof mask);
  } else {
    const auto size = static_cast<std::size_t>(count);
    std::memcpy(intents, rows.intents + start * 2, size * 2);
    std::memcpy(risks, rows.risks + start, size);
    if (rows.mask != nullptr) std::memcpy(mask, rows.mask + start, size);
  }
  std::uint32_t wide_intents[block_rows];
  std::uint32_t wide_risks[block_rows];
  std::uint32_t wide_mask[block_rows];
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) wide_intents[i] = intents[i];
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) wide_risks[i] = risks[i];
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) wide_mask[i] = mask[i];
  const std::uint32_t asked = query_intents;
  const std::uint32_t wide_filter = filter;
  std::uint32_t passes[block_rows];
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) {
    // Codes above 7 shift the filter out.
    const std::uint32_t shift = wide_risks[i] < 31u ? wide_risks[i] : 31u;
    passes[i] = wide_mask[i] != 0u ? (wide_filter >> shift) & 1u : 0u;
  }
  std::uint32_t allowed = 0;
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) allowed += passes[i];
  block->allowed = static_cast<int>(allowed);
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) {
    block->gate[i] = passes[i] != 0u ? 0.0f : -std::numeric_limits<float>::infinity();
  }
  // Locals: a load that only happens sometimes keeps a loop from becoming vectors.
  const float boost_intent = boosts.intent;
  const float boost_high = boosts.high;
  const float boost_critical = boosts.critical;
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) {
    block->boost_intent[i] = (wide_intents[i] & asked) != 0u ? boost_intent : 0.0f;
  }
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) {
    const float high = wide_risks[i] == 3u ? boost_high : 0.0f;
    block->boost_risk[i] = wide_risks[i] == 4u ? boost_critical : high;
  }
}

template <class S>
static std::int64_t topk_f32(const Rows& rows, const Query& query, const Boosts& boosts,
                             const Best& best) noexcept {
  TopK<S> top(best.k, best.rows, best.scores, best.cosines);
  if (best.k <= 0) return 0;
  const std::int64_t stride = rows.dimensions * 4;
  for (std::int64_t start = 0; start < rows.n; start += block_rows) {
    const std::int64_t left = rows.n - start;
    const int count = left < block_rows ? static_cast<int>(left) : block_rows;
    BlockColumns block;
    read_columns(rows, start, count, query.intents, query.risk_filter, boosts, &block);
    if (block.allowed == 0) continue;
    const unsigned char* first = rows.vectors + start * stride;
    float dots[block_rows] = {};
    if (block.allowed == block_rows) {
      for (int i = 0; i < block_rows; i += 4) {
        const unsigned char* x = first + i * stride;
        S::dot4(x, x + stride, x + 2 * stride, x + 3 * stride, query.vector, rows.dimensions,
                dots + i);
      }
    } else {
      for (int i = 0; i < count; ++i) {
        if (block.gate[i] == 0.0f) {
          dots[i] = S::dot1(first + i * stride, query.vector, rows.dimensions);
        }
      }
    }
    float scores[block_rows];
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) {
      dots[i] = clamp_cosine(dots[i]);
      scores[i] = dots[i] + block.boost_intent[i] + block.boost_risk[i] + block.gate[i];
    }
    const float threshold = top.threshold();
    int any = 0;
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) any |= scores[i] > threshold ? 1 : 0;
    if (any == 0) continue;
    for (int i = 0; i < count; ++i) {
      if (scores[i] > top.threshold()) {
        top.push(static_cast<std::int32_t>(start + i), scores[i], dots[i]);
      }
    }
  }
  return top.finish();
}

// Queries go in groups of 64, transposed to [dimensions][64], so that each row is read once for 64
// queries and the products are multiply-adds of 64-wide vectors.
template <class S>
static void topk_f32_batch(const Rows& rows, const QueryBatch& queries, const Boosts& boosts,
                           const Best& best, std::int64_t* counts,
                           unsigned char* scratch) noexcept {
  for (std::int64_t q = 0; q < queries.m; ++q) counts[q] = 0;
  if (best.k <= 0) return;
  constexpr int tile_rows = S::tile_rows;
  const std::int64_t d = rows.dimensions;
  const std::int64_t stride = d * 4;
  float* packed = reinterpret_cast<float*>(scratch);
  for (std::int64_t base = 0; base < queries.m; base += batch_queries) {
    const std::int64_t left = queries.m - base;
    const int count = left < batch_queries ? static_cast<int>(left) : batch_queries;
    for (std::int64_t t = 0; t < d; ++t) {
      for (int j = 0; j < batch_queries; ++j) {
        packed[t * batch_queries + j] =
            j < count ? load_as<float>(queries.vectors + (base + j) * stride + t * 4) : 0.0f;
      }
    }
    float thresholds[batch_queries];
    std::int32_t intents[batch_queries] = {};
    std::uint64_t accepts[8] = {};  // for each risk, the queries that let it through
    for (int j = 0; j < batch_queries; ++j) {
      thresholds[j] = j < count ? -std::numeric_limits<float>::infinity()
                                : std::numeric_limits<float>::infinity();
      if (j >= count) continue;
      intents[j] = load_as<std::uint16_t>(queries.intents + (base + j) * 2);
      for (int risk = 0; risk < 8; ++risk) {
        accepts[risk] |= static_cast<std::uint64_t>((queries.risk_filters[base + j] >> risk) & 1)
                         << j;
      }
    }
    const std::int64_t k = best.k;
    const auto top_of = [&](int j) noexcept {
      return TopK<S>(k, best.rows + (base + j) * k, best.scores + (base + j) * k,
                     best.cosines + (base + j) * k, counts[base + j]);
    };
    std::int64_t chosen[tile_rows];
    const unsigned char* vectors[tile_rows];
    alignas(64) float dots[tile_rows][batch_queries];
    int pending = 0;
    const auto flush = [&]() noexcept {
      for (int i = pending; i < tile_rows; ++i) vectors[i] = vectors[0];
      S::tile(vectors, packed, d, &dots[0][0]);
      for (int i = 0; i < pending; ++i) {
        const std::uint8_t risk = rows.risks[chosen[i]];
        const std::int32_t row_intents = load_as<std::uint16_t>(rows.intents + chosen[i] * 2);
        const float risk_boost = risk == 3 ? boosts.high : risk == 4 ? boosts.critical : 0.0f;
        alignas(64) float scores[batch_queries];
        const float shared_boost = boosts.intent;
        for (int j = 0; j < batch_queries; ++j) dots[i][j] = clamp_cosine(dots[i][j]);
        for (int j = 0; j < batch_queries; ++j) {
          const float intent_boost = (intents[j] & row_intents) != 0 ? shared_boost : 0.0f;
          scores[j] = dots[i][j] + intent_boost + risk_boost;
        }
        int any = 0;
        for (int j = 0; j < batch_queries; ++j) any |= scores[j] > thresholds[j] ? 1 : 0;
        if (any == 0) continue;
        const std::uint64_t accepting = accepts[risk];
        for (int j = 0; j < count; ++j) {
          if (!(scores[j] > thresholds[j]) || ((accepting >> j) & 1) == 0) continue;
          TopK<S> top = top_of(j);
          top.push(static_cast<std::int32_t>(chosen[i]), scores[j], dots[i][j]);
          counts[base + j] = top.size();
          thresholds[j] = top.threshold();
        }
      }
      pending = 0;
    };
    for (std::int64_t row = 0; row < rows.n; ++row) {
      const unsigned risk = rows.risks[row];
      if (risk >= 8 || accepts[risk] == 0 || (rows.mask != nullptr && rows.mask[row] == 0)) {
        continue;
      }
      chosen[pending] = row;
      vectors[pending] = rows.vectors + row * stride;
      if (++pending == tile_rows) flush();
    }
    if (pending > 0) flush();
    for (int j = 0; j < count; ++j) {
      TopK<S> top = top_of(j);
      counts[base + j] = top.finish();
    }
  }
}

}  // namespace tipstaff

#endif
