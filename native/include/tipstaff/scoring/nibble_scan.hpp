// The scan of very many int8 rows, which reads four bits of each number first.
//
// Reading codes from memory is what takes time where rows are many. Nibbles give wider intervals of the same kind from
// half of the bytes; codes are then read only for rows whose wider interval reaches the k-th best lower end.
#ifndef TIPSTAFF_SCORING_NIBBLE_SCAN_HPP
#define TIPSTAFF_SCORING_NIBBLE_SCAN_HPP

#include "tipstaff/scoring/code_scan.hpp"
#include "tipstaff/scoring/nibble_turn.hpp"

namespace tipstaff {

// The turned query in integers, as QueryScan has the query.
struct NibbleQuery {
  const unsigned char* packed;
  std::int64_t dimensions;  // whole 128
  float step;
  std::int32_t code_sum;
};

// `codes` and `packed` have room for i8_query_bytes(d) each.
template <class S>
static inline NibbleQuery prepare_nibbles(const unsigned char* vector, std::int64_t d, std::int16_t* codes,
                                          unsigned char* packed) noexcept {
  const std::int64_t turned = round_up(d, turned_numbers);
  const std::int32_t limit = query_code_limit(turned);
  double x[turned_numbers];
  const auto turn = [&](std::int64_t start) noexcept {
    for (int i = 0; i < turned_numbers; ++i) {
      const std::int64_t dimension = turned_dimension(turned, start, i);
      x[i] = dimension < d ? static_cast<double>(load_as<float>(vector + dimension * 4)) : 0.0;
    }
    turn_numbers<1>(x);
  };
  double largest = 0;
  for (std::int64_t start = 0; start < turned; start += turned_numbers) {
    turn(start);
    for (const double value : x) largest = std::fmax(largest, std::fabs(value));
  }
  NibbleQuery query{packed, turned, static_cast<float>(largest / limit), 0};
  const double inverse = 1.0 / static_cast<double>(query.step);
  for (std::int64_t start = 0; start < turned; start += turned_numbers) {
    turn(start);
    for (int i = 0; i < turned_numbers; ++i) {
      double code = (x[i] * inverse + 6755399441055744.0) - 6755399441055744.0;
      if (code > limit) code = limit;
      if (code < -limit) code = -limit;
      codes[start + i] = static_cast<std::int16_t>(code);
      query.code_sum += codes[start + i];
    }
  }
  S::pack_codes(codes, turned, packed);
  return query;
}

// The upper ends of the wider intervals of a whole block's rows.
template <class S>
static inline void read_nibble_bounds(const QuantizedRows& small, const QueryScan& scan,
                                      const NibbleQuery& query, std::int64_t start, float* highs) noexcept {
  const std::int64_t width = query.dimensions / 2;
  const unsigned char* first = small.nibbles + start * width;
  std::int32_t dots[block_rows];
  float scales[block_rows];
  float errors[block_rows];
  for (int i = 0; i < block_rows; i += 4) {
    const unsigned char* x = first + i * width;
    S::nibble_dot4(x, x + width, x + 2 * width, x + 3 * width, query.packed, query.dimensions, dots + i);
  }
  std::memcpy(scales, small.nibble_scales + start * 4, sizeof scales);
  std::memcpy(errors, small.nibble_errors + start * 4, sizeof errors);
#pragma GCC unroll 1
  for (int i = 0; i < block_rows; ++i) {
    const float middle =
        static_cast<float>(2 * dots[i] - 15 * query.code_sum) * (scales[i] * query.step);
    highs[i] = clamp_cosine(scan.base_high + middle + errors[i] * scan.norm);
  }
}

// Rows whose codes have been sent for and are read when they have come: one by one, each would be waited for.
template <class S>
class Awaited {
 public:
  static constexpr int room = 64;

  void send_for(const QuantizedRows& small, std::int64_t d, std::int32_t row) noexcept {
    const auto* codes = reinterpret_cast<const unsigned char*>(small.codes) + row * d;
    for (std::int64_t i = 0; i < d; i += 64) S::prefetch(codes, i);
    rows_[size_++] = row;
  }
  bool full(int more) const noexcept { return size_ + more > room; }

  // False where the intervals exclude too few.
  bool read(const Rows& rows, const QuantizedRows& small, const Query& query, const Boosts& boosts,
            const QueryScan& scan, const unsigned char* packed, Candidates<S>* candidates) noexcept {
    const std::int64_t d = rows.dimensions;
    bool useful = true;
    for (int done = 0; useful && done < size_; done += 4) {
      const int count = size_ - done < 4 ? size_ - done : 4;
      const std::int8_t* x[4];
      for (int i = 0; i < 4; ++i) x[i] = small.codes + rows_[done + (i < count ? i : 0)] * d;
      std::int32_t dots[4];
      S::idot4(x[0], x[1], x[2], x[3], packed, d, dots);
      for (int i = 0; i < count; ++i) {
        const std::int64_t row = rows_[done + i];
        const float scale = load_as<float>(small.scales + row * 4);
        const float middle = static_cast<float>(dots[i]) * (scale * scan.step);
        const float radius = load_as<float>(small.errors + row * 4) * scan.norm;
        const auto intents = load_as<std::uint16_t>(rows.intents + row * 2);
        const auto boosted = [&](float cosine) noexcept {
          return with_boosts(clamp_cosine(cosine), intents, rows.risks[row], query.intents, boosts);
        };
        useful = useful && candidates->add(rows_[done + i], boosted(scan.base_high + middle + radius),
                                           boosted(scan.base_low + middle - radius));
      }
    }
    size_ = 0;
    return useful;
  }

 private:
  std::int32_t rows_[room];
  int size_ = 0;
};

// Scans whole blocks from row 0 on and returns where it stopped: short of a last block that is not whole, or where nibbles
// told too few rows apart to be worth reading. -1 where the codes' intervals exclude too few as well.
template <class S>
static std::int64_t scan_nibbles(const Rows& rows, const QuantizedRows& small, const Query& query,
                                 const Boosts& boosts, const QueryScan& scan, const unsigned char* packed,
                                 const NibbleQuery& nibbles, Candidates<S>* candidates) noexcept {
  constexpr std::int64_t tried_rows = 256 * block_rows;  // of the first many are read: little is known yet
  const ScanFilter filter(rows, query, boosts);
  Awaited<S> awaited;
  std::int64_t n_read = 0;
  std::int64_t start = 0;
  for (; start + block_rows <= rows.n; start += block_rows) {
    BlockColumns block;
    if (filter.filtered) {
      read_columns(rows, start, block_rows, query.intents, query.risk_filter, boosts, &block);
      if (block.allowed == 0) continue;
    }
    float highs[block_rows];
    read_nibble_bounds<S>(small, scan, nibbles, start, highs);
    const float threshold = candidates->lower.threshold();
    if (!filter.hopeful(highs, threshold)) continue;
    if (!filter.filtered) {
      read_columns(rows, start, block_rows, query.intents, query.risk_filter, boosts, &block);
    }
    if (awaited.full(block_rows) &&
        !awaited.read(rows, small, query, boosts, scan, packed, candidates)) {
      return -1;
    }
    for (int i = 0; i < block_rows; ++i) {
      const float high = highs[i] + block.boost_intent[i] + block.boost_risk[i];
      if (block.gate[i] != 0.0f || high < threshold) continue;
      awaited.send_for(small, rows.dimensions, static_cast<std::int32_t>(start + i));
      ++n_read;
    }
    if (start > tried_rows && n_read * 4 > start) {
      start += block_rows;
      break;
    }
  }
  return awaited.read(rows, small, query, boosts, scan, packed, candidates) ? start : -1;
}

}  // namespace tipstaff

#endif
