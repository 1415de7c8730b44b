// The scan of int8 rows: which may be among the k best.
#ifndef TIPSTAFF_SCORING_CODE_SCAN_HPP
#define TIPSTAFF_SCORING_CODE_SCAN_HPP

#include "tipstaff/scoring/row_bounds.hpp"
#include "tipstaff/scoring/score.hpp"

namespace tipstaff {

struct Candidate {
  float upper;
  std::int32_t row;
};

// The rows whose upper end reaches the k-th best lower end so far. The k best lower ends are in the caller's output arrays
// until the exact scores replace them.
template <class S>
struct Candidates {
  Candidate* rows;
  std::int64_t room;
  TopK<S> lower;
  std::int64_t size = 0;

  Candidates(Candidate* memory, const Best& best) noexcept
      : rows(memory), room(candidate_room(best.k)), lower(best.k, best.rows, best.scores, best.cosines) {}

  void drop_hopeless() noexcept {
    const float threshold = lower.threshold();
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      if (!(rows[i].upper < threshold)) rows[kept++] = rows[i];
    }
    size = kept;
  }

  // False where the intervals exclude too few rows to be of use.
  bool add(std::int32_t row, float high, float low) noexcept {
    if (high < lower.threshold()) return true;
    if (size == room) {
      drop_hopeless();
      if (size > room / 2) return false;
    }
    rows[size++] = Candidate{high, row};
    lower.push(row, low, 0.0f);
    return true;
  }
};

// What every block of a scan is judged by.
struct ScanFilter {
  float most_intent;  // boost that any row can have
  float most_risk;
  bool filtered;  // rows are left out: a block's columns say whether it need be scanned at all

  ScanFilter(const Rows& rows, const Query& query, const Boosts& boosts) noexcept
      : most_intent(boosts.intent > 0 ? boosts.intent : 0.0f),
        most_risk(boosts.high > 0 ? boosts.high : 0.0f),
        filtered(rows.mask != nullptr || query.risk_filter != 0xff) {
    most_risk = boosts.critical > most_risk ? boosts.critical : most_risk;
  }

  // Whether any of a block's upper ends, which have no boosts yet, can reach the threshold. Boosts are added one by one, as
  // they are to a score: sums in another order are rounded otherwise.
  bool hopeful(const float* highs, float threshold) const noexcept {
    int any = 0;
#pragma GCC unroll 1
    for (int i = 0; i < block_rows; ++i) any |= highs[i] + most_intent + most_risk >= threshold ? 1 : 0;
    return any != 0;
  }
};

// Scans all rows. False where the intervals exclude too few.
template <class S>
static bool scan_codes(const Rows& rows, const QuantizedRows& small, const Query& query,
                       const Boosts& boosts, const QueryScan& scan, const unsigned char* packed,
                       Candidates<S>* candidates) noexcept {
  const ScanFilter filter(rows, query, boosts);
  for (std::int64_t start = 0; start < rows.n; start += block_rows) {
    const std::int64_t left = rows.n - start;
    const int count = left < block_rows ? static_cast<int>(left) : block_rows;
    BlockColumns block;
    if (filter.filtered) {
      read_columns(rows, start, count, query.intents, query.risk_filter, boosts, &block);
      if (block.allowed == 0) continue;
    }
    float highs[block_rows];
    float lows[block_rows];
    read_bounds<S>(small, scan, packed, rows.dimensions, start, count, highs, lows);
    const float threshold = candidates->lower.threshold();
    if (!filter.hopeful(highs, threshold)) continue;
    if (!filter.filtered) read_columns(rows, start, count, query.intents, query.risk_filter, boosts, &block);
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
      if (block.gate[i] != 0.0f) continue;
      if (!candidates->add(static_cast<std::int32_t>(start + i), highs[i], lows[i])) return false;
    }
  }
  return true;
}

}  // namespace tipstaff

#endif
