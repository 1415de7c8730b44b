// int8 rows: how they are made, and the exact top-k that reads a quarter of the bytes.
//
// A row is stored as x = mean + scale * code + e. For a query q, by Cauchy and Schwarz,
//
//   |row . q - (mean . q + scale code . q)| <= |e| |q|
//
// so the integer scan gives every row an interval that holds its float32 score. Rows whose upper end
// lies below the k-th best lower end cannot be among the k best; the others are scored from their
// float32 vectors, best upper end first, until no upper end can reach the k-th exact score.
#ifndef TIPSTAFF_QUANTIZE_HPP
#define TIPSTAFF_QUANTIZE_HPP

#include <cmath>
#include <limits>

#include "tipstaff/score.hpp"

namespace tipstaff {

// Rounding of the float32 interval arithmetic in the scan, relative to the terms' sizes.
inline constexpr double scan_rounding = 1.0 / (1 << 20);
// Norms beyond this are refused: products of them must stay finite in float32.
inline constexpr double max_norm = 1e15;

// Relative error of a float32 sum of d products in any order, with room to spare.
constexpr double dot_rounding(std::int64_t dimensions) noexcept {
  return static_cast<double>(dimensions + 16) / (1 << 24);
}

// Writes codes[n][d], scales[n], errors[n] and mean[d]. Returns -1, or the first row that is not
// finite or whose norm passes max_norm. `sums` has room for d doubles; where it is null, `mean` is
// read: any row will do, one near the rows gives tight bounds.
std::int64_t quantize_rows(const unsigned char* rows, std::int64_t n, std::int64_t dimensions,
                           std::int8_t* codes, float* scales, float* errors, float* mean,
                           double* sums) noexcept;

struct Candidate {
  float upper;
  std::int32_t row;
};

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
static inline std::int64_t drop_below(Candidate* candidates, std::int64_t size,
                                      float threshold) noexcept {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    if (!(candidates[i].upper < threshold)) candidates[kept++] = candidates[i];
  }
  return kept;
}

// The query in integers: q = step * code + g with |g| <= |q| sqrt(d) / (2 query_code_limit), which
// quantize_rows has put into the rows' errors.
struct QueryScan {
  float step;
  float norm;
  float base_low;
  float base_high;
};

// False where the integer scan has no sound bounds (zero, huge or not finite).
template <class S>
static inline bool prepare_query(const unsigned char* vector, const unsigned char* mean,
                                 std::int64_t dimensions, std::int16_t* codes,
                                 QueryScan* scan) noexcept {
  // Partial sums, so that additions need not wait for each other.
  constexpr int lanes = 8;
  double squares_of[lanes] = {};
  double base_of[lanes] = {};
  double base_squares_of[lanes] = {};
  float largest_of[lanes] = {};
  const auto add = [&](int lane, std::int64_t i) noexcept {
    const float value = load_as<float>(vector + i * 4);
    const double centre = load_as<float>(mean + i * 4);
    squares_of[lane] += static_cast<double>(value) * value;
    base_of[lane] += centre * value;
    base_squares_of[lane] += centre * centre;
    const float size = value < 0 ? -value : value;
    largest_of[lane] = size > largest_of[lane] ? size : largest_of[lane];
  };
  std::int64_t done = 0;
  for (; done + lanes <= dimensions; done += lanes) {
    for (int lane = 0; lane < lanes; ++lane) add(lane, done + lane);
  }
  for (int lane = 0; done + lane < dimensions; ++lane) add(lane, done + lane);
  double squares = 0;
  double base = 0;
  double base_squares = 0;
  float largest = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    squares += squares_of[lane];
    base += base_of[lane];
    base_squares += base_squares_of[lane];
    largest = largest_of[lane] > largest ? largest_of[lane] : largest;
  }
  const double norm = std::sqrt(squares);
  if (!(norm > 1e-15 && norm < max_norm) || !(base_squares < max_norm * max_norm)) return false;
  const std::int32_t limit = query_code_limit(dimensions);
  const double step = static_cast<double>(largest) / limit;
  // The scan multiplies by the float32 step, so the codes are taken for that one.
  scan->step = static_cast<float>(step);
  const double inverse = 1.0 / static_cast<double>(scan->step);
  for (std::int64_t i = 0; i < dimensions; ++i) {
    const double scaled = static_cast<double>(load_as<float>(vector + i * 4)) * inverse;
    // Adding and taking away 1.5 * 2^52 rounds to the nearest integer.
    double code = (scaled + 6755399441055744.0) - 6755399441055744.0;
    if (code > limit) code = limit;
    if (code < -limit) code = -limit;
    codes[i] = static_cast<std::int16_t>(code);
  }
  const double slack = scan_rounding * std::sqrt(base_squares) * norm + 1e-30;
  scan->norm = static_cast<float>(norm * (1.0 + 4 * scan_rounding));
  scan->base_low = static_cast<float>(base - 2 * slack);
  scan->base_high = static_cast<float>(base + 2 * slack);
  return true;
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
  auto* candidates = reinterpret_cast<Candidate*>(scratch + 2 * query_bytes);
  const std::int64_t room = candidate_room(best.k);
  std::memset(codes, 0, static_cast<std::size_t>(query_bytes));
  QueryScan scan;
  const auto give_up = [&]() noexcept {
    if (exact_rows != nullptr) *exact_rows = rows.n;
    return topk_f32<S>(rows, query, boosts, best);
  };
  if (!prepare_query<S>(query.vector, small.mean, d, codes, &scan)) return give_up();
  S::pack_codes(codes, round_up(d, 64), packed);

  const bool filtered = rows.mask != nullptr || query.risk_filter != 0xff;
  const float most_intent = boosts.intent > 0 ? boosts.intent : 0.0f;
  const float high_or_none = boosts.high > 0 ? boosts.high : 0.0f;
  const float most_risk = boosts.critical > high_or_none ? boosts.critical : high_or_none;

  // The k best lower ends lie in the output arrays until the exact scores replace them.
  TopK<S> lower(best.k, best.rows, best.scores, best.cosines);
  std::int64_t n_candidates = 0;
  for (std::int64_t start = 0; start < rows.n; start += block_rows) {
    const std::int64_t left = rows.n - start;
    const int count = left < block_rows ? static_cast<int>(left) : block_rows;
    BlockColumns block;
    if (filtered) {
      read_columns(rows, start, count, query.intents, query.risk_filter, boosts, &block);
      if (block.allowed == 0) continue;
    }
    const std::int8_t* first = small.codes + start * d;
    std::int32_t dots[block_rows] = {};
    float scales[block_rows] = {};
    float errors[block_rows] = {};
    if (count == block_rows) {
      for (int i = 0; i < block_rows; i += 4) {
        const std::int8_t* x = first + i * d;
        S::idot4(x, x + d, x + 2 * d, x + 3 * d, packed, d, dots + i);
      }
      std::memcpy(scales, small.scales + start * 4, sizeof scales);
      std::memcpy(errors, small.errors + start * 4, sizeof errors);
    } else {
      for (int i = 0; i < count; ++i) {
        const std::int8_t* x = first + i * d;
        std::int32_t four[4];
        S::idot4(x, x, x, x, packed, d, four);
        dots[i] = four[0];
      }
      std::memcpy(scales, small.scales + start * 4, static_cast<std::size_t>(count) * 4);
      std::memcpy(errors, small.errors + start * 4, static_cast<std::size_t>(count) * 4);
    }
    float highs[block_rows];
    float lows[block_rows];
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) {
      const float middle = static_cast<float>(dots[i]) * (scales[i] * scan.step);
      const float radius = errors[i] * scan.norm;
      highs[i] = clamp_cosine(scan.base_high + middle + radius);
      lows[i] = clamp_cosine(scan.base_low + middle - radius);
    }
    const float threshold = lower.threshold();
    // Where no row would do with every boost there is, the columns need not be read.
    int hopeful = 0;
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) {
      hopeful |= highs[i] + most_intent + most_risk >= threshold ? 1 : 0;
    }
    if (hopeful == 0) continue;
    if (!filtered) read_columns(rows, start, count, query.intents, query.risk_filter, boosts, &block);
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) {
      highs[i] = highs[i] + block.boost_intent[i] + block.boost_risk[i] + block.gate[i];
      lows[i] = lows[i] + block.boost_intent[i] + block.boost_risk[i];
    }
    int any = 0;
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) any |= highs[i] >= threshold ? 1 : 0;
    if (any == 0) continue;
    for (int i = 0; i < count; ++i) {
      if (block.gate[i] != 0.0f || highs[i] < lower.threshold()) continue;
      if (n_candidates == room) {
        n_candidates = drop_below<S>(candidates, n_candidates, lower.threshold());
        if (n_candidates > room / 2) return give_up();
      }
      const auto row = static_cast<std::int32_t>(start + i);
      candidates[n_candidates++] = Candidate{highs[i], row};
      lower.push(row, lows[i], 0.0f);
    }
  }
  n_candidates = drop_below<S>(candidates, n_candidates, lower.threshold());
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
