// The exact top-k over the int8 rows of few rules, without branches that depend on scores: a processor guesses those wrong
// for each new query, which took longer than the products.
#ifndef TIPSTAFF_SCORING_FEW_ROWS_HPP
#define TIPSTAFF_SCORING_FEW_ROWS_HPP

#include <cstring>
#include <limits>

#include "tipstaff/scoring/row_bounds.hpp"

namespace tipstaff {

// Of up to `room` numbers, the rest of them minus infinity, how many are before each: those that are higher, and the equal
// ones that come earlier.
template <int room>
static inline void rank_numbers(const float* numbers, std::int64_t count, std::int32_t* ranks) noexcept {
  for (int i = 0; i < room; ++i) ranks[i] = 0;
  for (int j = 0; j < static_cast<int>(count); ++j) {
    const float one = numbers[j];
    for (int i = 0; i < room; ++i) {
      ranks[i] += (one > numbers[i] ? 1 : 0) | ((one == numbers[i] ? 1 : 0) & (i > j ? 1 : 0));
    }
  }
}

// Few rows: their bounds fit in the scratch, and the best are found without branches that depend on scores.
inline constexpr std::int64_t few_rows = 2048;
inline constexpr int few_best = 32;
inline constexpr int few_candidates = 128;
static_assert(candidate_room(0) * 8 >= few_rows * 12, "the scratch holds two bounds and a number for each row");

// As topk_i8 for at most few_rows rows and k of at most few_best. Rows fall into groups by their numbers; the k-th best of
// the groups' best lower ends is no higher than the k-th best lower end of all rows, which only rows above it can have.
template <class S>
static std::int64_t topk_few(const Rows& rows, const QuantizedRows& small, const Query& query,
                             const Boosts& boosts, const Best& best, const QueryScan& scan,
                             const unsigned char* packed, unsigned char* scratch,
                             std::int64_t* exact_rows) noexcept {
  constexpr int groups = 2 * block_rows;
  static_assert(groups >= few_best && few_candidates >= few_best, "there are k groups, and k candidates");
  constexpr float none = -std::numeric_limits<float>::infinity();
  const std::int64_t d = rows.dimensions;
  auto* highs = reinterpret_cast<float*>(scratch);  // of whole blocks
  float* lows = highs + few_rows;
  auto* candidates = reinterpret_cast<std::int32_t*>(lows + few_rows);
  float peaks[groups];
  std::int32_t ranks[few_candidates];
  for (float& peak : peaks) peak = none;
  for (std::int64_t start = 0; start < rows.n; start += block_rows) {
    const std::int64_t left = rows.n - start;
    const int count = left < block_rows ? static_cast<int>(left) : block_rows;
    BlockColumns block;
    read_columns(rows, start, count, query.intents, query.risk_filter, boosts, &block);
    float upper[block_rows];
    float lower[block_rows];
    read_bounds<S>(small, scan, packed, d, start, count, upper, lower);
    // Rules of one kind may come at equal distances, or one after another: each block begins with another group.
    float* peak = peaks + start / block_rows * 5 % (block_rows + 1);
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) {
      upper[i] = upper[i] + block.boost_intent[i] + block.boost_risk[i] + block.gate[i];
      lower[i] = lower[i] + block.boost_intent[i] + block.boost_risk[i] + block.gate[i];
      peak[i] = lower[i] > peak[i] ? lower[i] : peak[i];
    }
    std::memcpy(highs + start, upper, sizeof upper);
    std::memcpy(lows + start, lower, sizeof lower);
  }
  const auto last = static_cast<std::int32_t>(best.k - 1);
  rank_numbers<groups>(peaks, groups, ranks);
  float threshold = none;
  for (int i = 0; i < groups; ++i) threshold = ranks[i] == last ? peaks[i] : threshold;
  // A row that is left out is not above minus infinity.
  const auto keep = [&](std::int64_t count, const auto& row_at) noexcept {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int32_t row = row_at(i);
      candidates[kept] = row;
      kept += (highs[row] >= threshold ? 1 : 0) & (highs[row] > none ? 1 : 0);
    }
    return kept;
  };
  std::int64_t n_candidates = keep(rows.n, [](std::int64_t i) noexcept { return static_cast<std::int32_t>(i); });
  float scores[few_candidates];
  float cosines[few_candidates];
  const auto clear = [&]() noexcept {
    for (float& score : scores) score = none;
  };
  const auto rank = [&]() noexcept {
    if (n_candidates <= few_candidates / 2) {
      rank_numbers<few_candidates / 2>(scores, n_candidates, ranks);
    } else {
      rank_numbers<few_candidates>(scores, n_candidates, ranks);
    }
  };
  clear();
  if (n_candidates > best.k && n_candidates <= few_candidates) {
    for (std::int64_t i = 0; i < n_candidates; ++i) scores[i] = lows[candidates[i]];
    rank();
    for (std::int64_t i = 0; i < n_candidates; ++i) threshold = ranks[i] == last ? scores[i] : threshold;
    n_candidates = keep(n_candidates, [&](std::int64_t i) noexcept { return candidates[i]; });
    clear();
  }
  if (exact_rows != nullptr) *exact_rows = n_candidates;
  TopK<S> top(best.k, best.rows, best.scores, best.cosines);
  const bool many = n_candidates > few_candidates;
  const std::int64_t stride = d * 4;
  for (std::int64_t at = 0; at < n_candidates; at += 4) {
    const int count = n_candidates - at < 4 ? static_cast<int>(n_candidates - at) : 4;
    const unsigned char* x[4];
    for (int i = 0; i < 4; ++i) x[i] = rows.vectors + candidates[at + (i < count ? i : 0)] * stride;
    float dots[4];
    S::dot4(x[0], x[1], x[2], x[3], query.vector, d, dots);
    for (int i = 0; i < count; ++i) {
      const std::int32_t row = candidates[at + i];
      const float cosine = clamp_cosine(dots[i]);
      const auto intents = load_as<std::uint16_t>(rows.intents + std::int64_t{row} * 2);
      const float score = with_boosts(cosine, intents, rows.risks[row], query.intents, boosts);
      if (many) {
        top.push(row, score, cosine);
      } else {
        scores[at + i] = score;
        cosines[at + i] = cosine;
      }
    }
  }
  if (many) return top.finish();
  rank();
  for (std::int64_t i = 0; i < n_candidates; ++i) {
    const std::int32_t rank = ranks[i];
    if (rank > last) continue;
    best.rows[rank] = candidates[i];
    best.scores[rank] = scores[i];
    best.cosines[rank] = cosines[i];
  }
  return n_candidates < best.k ? n_candidates : best.k;
}

}  // namespace tipstaff

#endif
