// int8 rows: how they are made, and the exact top-k that reads a quarter of the bytes.
//
// A row is stored as x = mean + scale * code + e. For a query q, by Cauchy and Schwarz,
//
//   |row . q - (mean . q + scale code . q)| <= |e| |q|
//
// so the integer scan gives every row an interval that holds its float32 score. Rows whose upper end
// is below the k-th best lower end cannot be among the k best; the others are scored from their
// float32 vectors, best upper end first, until no upper end can reach the k-th exact score.
#ifndef TIPSTAFF_SCORING_QUANTIZE_HPP
#define TIPSTAFF_SCORING_QUANTIZE_HPP

#include "tipstaff/scoring/code_scan.hpp"
#include "tipstaff/scoring/few_rows.hpp"
#include "tipstaff/scoring/row_bounds.hpp"
#include "tipstaff/scoring/score.hpp"

namespace tipstaff {

// Writes codes[n][d], scales[n], errors[n] and mean[d]. Returns -1, or the first row that is not
// finite or whose norm passes max_norm. `sums` has room for d doubles; where it is null, `mean` is
// read: any row will do, one near the rows gives tight bounds.
std::int64_t quantize_rows(const unsigned char* rows, std::int64_t n, std::int64_t dimensions,
                           std::int8_t* codes, float* scales, float* errors, float* mean,
                           double* sums) noexcept;

// A heap with the highest upper end first; equal ends in any order, since exact scores decide.
template <class S>
static inline void sift_candidate(Candidate* heap, std::int64_t hole, std::int64_t size) noexcept {
  const Candidate moving = heap[hole];
  for (;;) {
    std::int64_t child = 2 * hole + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1].upper > heap[child].upper) ++child;
    if (!(heap[child].upper > moving.upper)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = moving;
}

template <class S>
static std::int64_t topk_i8(const Rows& rows, const QuantizedRows& small, const Query& query,
                            const Boosts& boosts, const Best& best, unsigned char* scratch,
                            std::int64_t* exact_rows) noexcept {
  if (exact_rows != nullptr) *exact_rows = 0;
  if (best.k <= 0) return 0;
  const std::int64_t d = rows.dimensions;
  const std::int64_t query_bytes = i8_query_bytes(d);
  auto* codes = reinterpret_cast<std::int16_t*>(scratch);
  unsigned char* packed = scratch + query_bytes;
  std::memset(codes, 0, static_cast<std::size_t>(query_bytes));
  QueryScan scan;
  const auto give_up = [&]() noexcept {
    if (exact_rows != nullptr) *exact_rows = rows.n;
    return topk_f32<S>(rows, query, boosts, best);
  };
  if (!prepare_query<S>(query.vector, small.mean, d, codes, &scan)) return give_up();
  S::pack_codes(codes, round_up(d, 64), packed);
  if (rows.n <= few_rows && best.k <= few_best) {
    return topk_few<S>(rows, small, query, boosts, best, scan, packed, scratch + 2 * query_bytes, exact_rows);
  }

  Candidates<S> found(reinterpret_cast<Candidate*>(scratch + 2 * query_bytes), best);
  if (!scan_codes<S>(rows, small, query, boosts, scan, packed, &found)) return give_up();
  found.drop_hopeless();
  Candidate* const candidates = found.rows;
  std::int64_t n_candidates = found.size;
  for (std::int64_t i = n_candidates / 2 - 1; i >= 0; --i) {
    sift_candidate<S>(candidates, i, n_candidates);
  }
  TopK<S> top(best.k, best.rows, best.scores, best.cosines);
  std::int64_t n_exact = 0;
  const std::int64_t stride = d * 4;
  while (n_candidates > 0 && !(candidates[0].upper < top.threshold())) {
    std::int32_t chosen[4];
    int count = 0;
    while (count < 4 && n_candidates > 0 && !(candidates[0].upper < top.threshold())) {
      chosen[count++] = candidates[0].row;
      candidates[0] = candidates[--n_candidates];
      sift_candidate<S>(candidates, 0, n_candidates);
    }
    const unsigned char* x[4];
    for (int i = 0; i < 4; ++i) x[i] = rows.vectors + chosen[i < count ? i : 0] * stride;
    float dots[4];
    S::dot4(x[0], x[1], x[2], x[3], query.vector, d, dots);
    for (int i = 0; i < count; ++i) {
      const std::int32_t row = chosen[i];
      const float cosine = clamp_cosine(dots[i]);
      const auto intents = load_as<std::uint16_t>(rows.intents + std::int64_t{row} * 2);
      top.push(row, with_boosts(cosine, intents, rows.risks[row], query.intents, boosts), cosine);
    }
    n_exact += count;
  }
  if (exact_rows != nullptr) *exact_rows = n_exact;
  return top.finish();
}

template <class S>
constexpr ScoreKernels make_score_kernels() noexcept {
  return ScoreKernels{&topk_f32<S>, &topk_i8<S>, &topk_f32_batch<S>};
}

}  // namespace tipstaff

#endif
