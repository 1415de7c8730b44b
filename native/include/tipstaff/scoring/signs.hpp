// One bit per dimension: a scan of a tenth of the int8 rows' bytes that finds candidates, and exact
// scores for those.
//
// A row is x = mean + c. Rotated by a fixed orthogonal matrix R, c spreads evenly over all dimensions,
// and the signs s of Rc with one factor f = |c|^2 / |Rc|_1 give
//
//   row . q  ~  mean . q + f (s . Rq)
//
// taken over three quarters of the dimensions and scaled up. The sum s . Rq is read from tables, one
// look-up for four dimensions; masks and boosts are applied to the estimate, so no filter costs recall.
// The rows with the best estimates are scored from their float32 vectors: what is returned has the bits
// of topk_f32, and only which rows are looked at is a matter of estimate. Estimates are integers and
// single float32 operations in a fixed order, the same on every instruction set.
//
// Sources: Gao and Long, RaBitQ (SIGMOD 2024), for the estimate; Andre, Kermarrec and Le Scouarnec,
// Quick ADC (ICMR 2017), for look-ups in registers.
#ifndef TIPSTAFF_SCORING_SIGNS_HPP
#define TIPSTAFF_SCORING_SIGNS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tipstaff/scoring/score.hpp"

namespace tipstaff {

// Sums of table entries must fit into 16 bits.
inline constexpr std::int64_t max_sign_dimensions = 2048;
inline constexpr int sign_block = 64;   // rows whose bytes lie side by side
inline constexpr int sign_sample = 16;  // of so many blocks one is looked at beforehand
inline constexpr int sign_level = 63;   // table entries are 0 to twice this

// Dimensions after the rotation: the next power of two, 8 or more.
constexpr std::int64_t sign_dimensions(std::int64_t dimensions) noexcept {
  std::int64_t padded = 8;
  while (padded < dimensions) padded *= 2;
  return padded;
}
// How many of them have their signs kept: three quarters, as the scan takes as long as reading them. The
// rotation makes all alike, so which ones does not matter; few dimensions are all needed.
constexpr std::int64_t kept_signs(std::int64_t dimensions) noexcept {
  const std::int64_t padded = sign_dimensions(dimensions);
  return padded < 64 ? padded : padded / 4 * 3;
}
constexpr std::int64_t sign_bytes(std::int64_t n, std::int64_t dimensions) noexcept {
  return (n + sign_block - 1) / sign_block * sign_block * (kept_signs(dimensions) / 8);
}

// bits: for each block of 64 rows, for each byte of their signs, the 64 rows' bytes; rows that are
// missing in the last block are 0. factors: float32[n].
struct SignRows {
  const unsigned char* bits;
  const unsigned char* factors;  // any alignment
  const unsigned char* mean;     // float32[dimensions], any alignment
};

// Room for the rotation: the numbers and two rows of signs.
constexpr std::int64_t rotation_floats(std::int64_t dimensions) noexcept {
  return 3 * sign_dimensions(dimensions);
}
constexpr std::int64_t sign_scratch_bytes(std::int64_t dimensions, std::int64_t candidates) noexcept {
  return round_up(rotation_floats(dimensions) * 4, 64) + sign_dimensions(dimensions) * 4 +
         round_up((2 * candidates + sign_block) * 8, 64);
}

// Fills the signs that the rotation flips: space[padded .. 3 padded).
void start_rotation(std::int64_t padded, float* space) noexcept;
// Rotates space[0 .. padded) in place, lengths unchanged.
void rotate(std::int64_t padded, float* space) noexcept;

// Writes the bits (sign_bytes of them, zeroed before) and factors of rows. `space` has room for
// rotation_floats. A row that is not finite gets the factor 0.
void sign_rows(const unsigned char* rows, std::int64_t n, std::int64_t dimensions,
               const unsigned char* mean, unsigned char* bits, float* factors,
               float* space) noexcept;

struct SignQuery {
  float base;  // mean . query
  float step;  // what one unit of a table entry is worth
};

// Writes the look-up tables, 16 entries for each four dimensions. False for a query without a direction.
bool prepare_signs(const unsigned char* vector, const unsigned char* mean, std::int64_t dimensions,
                   float* space, unsigned char* tables, SignQuery* query) noexcept;

struct SignKernels {
  // The k best of the `candidates` rows whose estimates are the best, k <= candidates. Returns how many entries
  // were written, best first. `exact_rows`, where not null, receives how many rows were scored.
  std::int64_t (*topk_signs)(const Rows&, const SignRows&, const Query&, const Boosts&, const Best&,
                             std::int64_t candidates, unsigned char* scratch,
                             std::int64_t* exact_rows) noexcept;
};

template <class S>
struct Estimate {
  float score;
  std::int32_t row;
};

// An unsigned number in the order of the float.
template <class S>
static inline std::uint32_t order_of(float score) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &score, sizeof bits);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

// Keeps the `wanted` best of `size` > wanted estimates in their order, of equal ones the first; returns the
// lowest that is kept. Linear: the threshold is found digit by digit.
template <class S>
static float keep_best(Estimate<S>* found, std::int64_t size, std::int64_t wanted) noexcept {
  std::uint32_t prefix = 0;
  std::int64_t left = wanted;  // so many are still to be taken from those that share the prefix
  for (int shift = 24; shift >= 0; shift -= 8) {
    std::int32_t counts[256] = {};
    const std::uint32_t above = shift == 24 ? 0u : ~0u << (shift + 8);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::uint32_t key = order_of<S>(found[i].score);
      if ((key & above) == prefix) ++counts[(key >> shift) & 255u];
    }
    std::uint32_t digit = 255;
    while (digit > 0 && counts[digit] < left) left -= counts[digit--];
    prefix |= digit << shift;
  }
  std::int64_t kept = 0;
  float lowest = std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint32_t key = order_of<S>(found[i].score);
    if (key < prefix || (key == prefix && left-- <= 0)) continue;
    lowest = found[i].score < lowest ? found[i].score : lowest;
    found[kept++] = found[i];
  }
  return lowest;
}

template <class S>
static std::int64_t topk_signs(const Rows& rows, const SignRows& signs, const Query& query,
                               const Boosts& boosts, const Best& best, std::int64_t candidates,
                               unsigned char* scratch, std::int64_t* exact_rows) noexcept {
  if (exact_rows != nullptr) *exact_rows = 0;
  if (best.k <= 0) return 0;
  const std::int64_t d = rows.dimensions;
  const std::int64_t bytes = kept_signs(d) / 8;
  auto* space = reinterpret_cast<float*>(scratch);
  unsigned char* tables = scratch + round_up(rotation_floats(d) * 4, 64);
  auto* found = reinterpret_cast<Estimate<S>*>(tables + bytes * 32);
  SignQuery asked;
  if (!prepare_signs(query.vector, signs.mean, d, space, tables, &asked)) {
    if (exact_rows != nullptr) *exact_rows = rows.n;
    return topk_f32<S>(rows, query, boosts, best);
  }
  const float most_intent = boosts.intent > 0 ? boosts.intent : 0.0f;
  const float high_or_none = boosts.high > 0 ? boosts.high : 0.0f;
  const float most_risk = boosts.critical > high_or_none ? boosts.critical : high_or_none;
  const auto middle = static_cast<std::int32_t>(2 * bytes * sign_level);
  std::int64_t n_found = 0;
  float threshold = -std::numeric_limits<float>::infinity();
  const auto scan = [&](std::int64_t step, std::int64_t wanted) noexcept {
    for (std::int64_t start = 0; start < rows.n; start += step) {
      const std::int64_t left = rows.n - start;
      if (rows.mask != nullptr) {
        std::uint8_t any = 0;
        const std::int64_t count = left < sign_block ? left : sign_block;
        for (std::int64_t i = 0; i < count; ++i) any |= rows.mask[start + i];
        if (any == 0) continue;
      }
      std::uint16_t sums[sign_block];
      S::sign_sums(signs.bits + start * bytes, tables, bytes, sums);
      for (std::int64_t part = 0; part < sign_block && part < left; part += block_rows) {
        const std::int64_t first = start + part;
        const int count = left - part < block_rows ? static_cast<int>(left - part) : block_rows;
        float factors[block_rows] = {};
        std::memcpy(factors, signs.factors + first * 4, static_cast<std::size_t>(count) * 4);
        float scores[block_rows];
#pragma GCC unroll 1
        for (int i = 0; i < block_rows; ++i) {
          const auto sum = static_cast<std::int32_t>(sums[part + i]) - middle;
          scores[i] = clamp_cosine(asked.base + factors[i] * (asked.step * static_cast<float>(sum)));
        }
        int hopeful = 0;
#pragma GCC unroll 1
        for (int i = 0; i < block_rows; ++i) {
          hopeful |= scores[i] + most_intent + most_risk > threshold ? 1 : 0;
        }
        if (hopeful == 0) continue;
        BlockColumns block;
        read_columns(rows, first, count, query.intents, query.risk_filter, boosts, &block);
        if (block.allowed == 0) continue;
#pragma GCC unroll 1
        for (int i = 0; i < block_rows; ++i) {
          scores[i] = scores[i] + block.boost_intent[i] + block.boost_risk[i] + block.gate[i];
        }
        int any = 0;
#pragma GCC unroll 1
        for (int i = 0; i < block_rows; ++i) any |= scores[i] > threshold ? 1 : 0;
        if (any == 0) continue;
        for (int i = 0; i < count; ++i) {
          if (!(scores[i] > threshold)) continue;
          found[n_found++] = Estimate<S>{scores[i], static_cast<std::int32_t>(first + i)};
        }
        if (n_found >= 2 * wanted) {
          threshold = keep_best<S>(found, n_found, wanted);
          n_found = wanted;
        }
      }
    }
    if (n_found > wanted) {
      threshold = keep_best<S>(found, n_found, wanted);
      n_found = wanted;
    }
  };
  // A sample says about where the candidates begin, so that few rows are put aside for nothing. What
  // lies above is complete; only if that is too little must the rows be looked at once more.
  const std::int64_t sampled = candidates / (sign_sample / 2);
  if (sampled > 0 && rows.n >= sign_block * sign_sample * 4) {
    scan(sign_block * sign_sample, sampled);
    if (n_found < sampled) threshold = -std::numeric_limits<float>::infinity();
    n_found = 0;
  }
  const float start_threshold = threshold;
  scan(sign_block, candidates);
  if (n_found < candidates && start_threshold > -std::numeric_limits<float>::infinity()) {
    threshold = -std::numeric_limits<float>::infinity();
    n_found = 0;
    scan(sign_block, candidates);
  }
  TopK<S> top(best.k, best.rows, best.scores, best.cosines);
  constexpr std::int64_t ahead = 6;
  const std::int64_t stride = d * 4;
  for (std::int64_t i = 0; i < n_found; ++i) {
    if (i + ahead < n_found) {
      S::fetch(rows.vectors + std::int64_t{found[i + ahead].row} * stride, stride);
    }
    const std::int32_t row = found[i].row;
    const float cosine = clamp_cosine(S::dot1(rows.vectors + std::int64_t{row} * stride, query.vector, d));
    const auto intents = load_as<std::uint16_t>(rows.intents + std::int64_t{row} * 2);
    top.push(row, with_boosts(cosine, intents, rows.risks[row], query.intents, boosts), cosine);
  }
  if (exact_rows != nullptr) *exact_rows = n_found;
  return top.finish();
}

template <class S>
constexpr SignKernels make_sign_kernels() noexcept {
  return SignKernels{&topk_signs<S>};
}

}  // namespace tipstaff

#endif
