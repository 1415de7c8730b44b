// Word pieces and the sum of their rows: a text's vector from a static table.
//
//   vector = norm(sum over pieces of scale * codes + sum over grams of gram_scale * signs)
//
// Additions go in the text's order, products and sums are rounded one by one in float32, and the norm is a sum of
// doubles in eight lanes, so a text has the same bits on every machine and instruction set.
#ifndef TIPSTAFF_TOKENS_WORDPIECE_HPP
#define TIPSTAFF_TOKENS_WORDPIECE_HPP

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tipstaff/tokens/wordpiece_splitter.hpp"

namespace tipstaff {

// The next of a SplitMix64 sequence.
static inline std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  std::uint64_t x = state += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// Writes a sum at length 1; of nothing, or of rows that cancel out or overflow, zeros. `dimensions` is
// a multiple of 8; `out` may be `sum`. Returns the sum's length, 0 where zeros are written.
static inline double write_unit(const float* sum, std::int64_t dimensions, float* out) noexcept {
  double lane[8] = {};
  for (std::int64_t i = 0; i < dimensions; i += 8) {
    for (int j = 0; j < 8; ++j) {
      const double value = sum[i + j];
      lane[j] += value * value;
    }
  }
  const double squares = ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                         ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  const bool usable = squares > 0 && squares <= 1e60;
  const double length = usable ? std::sqrt(squares) : 0.0;
  const double inverse = usable ? 1.0 / length : 0.0;
  for (std::int64_t i = 0; i < dimensions; ++i) {
    out[i] = usable ? static_cast<float>(static_cast<double>(sum[i]) * inverse) : 0.0f;
  }
  return length;
}

// rows[i] = norm(rows[i] + weight * others[positions[i]]). Returns n_rows, or -1 - row for the first
// row whose position is not one of the `n_others`. No row is written then.
static inline std::int64_t blend_rows(float* rows, std::int64_t n_rows, std::int64_t dimensions,
                                      const float* others, std::int64_t n_others,
                                      const unsigned char* positions, float weight) noexcept {
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const std::int64_t position = load_field<std::int32_t>(positions + 4 * row);
    if (position < 0 || position >= n_others) return -1 - row;
  }
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const std::int64_t position = load_field<std::int32_t>(positions + 4 * row);
    float* x = rows + row * dimensions;
    const float* other = others + position * dimensions;
    for (std::int64_t i = 0; i < dimensions; ++i) x[i] += weight * other[i];
    write_unit(x, dimensions, x);
  }
  return n_rows;
}

template <class S>
class RowSum {
 public:
  explicit RowSum(const WordPieces& table) noexcept : table_(table) {
    std::memset(sum_, 0, static_cast<std::size_t>(table.dimensions) * sizeof(float));
  }

  void piece(std::int64_t number) noexcept {
    const std::int8_t* row = table_.codes + number * table_.dimensions;
    for (std::int64_t i = 0; i < table_.dimensions; i += 64) __builtin_prefetch(row + i);
    waiting_[n_waiting_++] = number;
    if (n_waiting_ == room) add_waiting();
  }

  void gram(std::uint64_t hash) noexcept {
    add_waiting();
    std::uint64_t state = hash;
    std::uint64_t bits = 0;
    alignas(64) std::int8_t signs[max_wordpiece_dimensions];
    for (std::int64_t i = 0; i < table_.dimensions; ++i) {
      if (i % 64 == 0) bits = splitmix64(state);
      signs[i] = static_cast<std::int8_t>(1 - 2 * static_cast<int>(bits >> (i % 64) & 1));
    }
    add(table_.gram_scale, signs);
  }

  // Returns the sum's length.
  double write(float* out) noexcept {
    add_waiting();
    return write_unit(sum_, table_.dimensions, out);
  }

 private:
  // Enough rows on their way to hide that the table is in memory.
  static constexpr int room = 16;

  void add(float scale, const std::int8_t* codes) noexcept {
    for (std::int64_t i = 0; i < table_.dimensions; i += 16) {
      for (int j = 0; j < 16; ++j) sum_[i + j] += scale * static_cast<float>(codes[i + j]);
    }
  }

  void add_waiting() noexcept {
    for (int i = 0; i < n_waiting_; ++i) {
      const std::int64_t number = waiting_[i];
      add(load_field<float>(table_.scales + 4 * number), table_.codes + number * table_.dimensions);
    }
    n_waiting_ = 0;
  }

  const WordPieces& table_;
  alignas(64) float sum_[max_wordpiece_dimensions];
  std::int64_t waiting_[room];
  int n_waiting_ = 0;
};

struct WordPieceKernels {
  // Embeds UTF-8 into out[dimensions]. Bytes that are not UTF-8 end words.
  void (*embed)(const WordPieces& table, ByteView text, float* out) noexcept;
  // Embeds rows of a string column, out[n_rows][dimensions]; offset_bytes is 4 or 8. Returns n_rows,
  // or -1 - row for the first row whose offsets are not in the data. `lengths`, unless null, gets those of the sums
  // before they are brought to length 1: how much a word's rows say by themselves.
  std::int64_t (*embed_column)(const WordPieces& table, const unsigned char* offsets, int offset_bytes,
                               ByteView data, std::int64_t n_rows, float* out, float* lengths) noexcept;
};

template <class S>
static double sum_words(const WordPieces& table, ByteView text, float* out) noexcept {
  RowSum<S> sum(table);
  WordPieceSplitter<RowSum<S>>(table, sum).split(text);
  return sum.write(out);
}

template <class S>
static void embed_words(const WordPieces& table, ByteView text, float* out) noexcept {
  sum_words<S>(table, text, out);
}

template <class S>
static std::int64_t embed_word_column(const WordPieces& table, const unsigned char* offsets,
                                      int offset_bytes, ByteView data, std::int64_t n_rows,
                                      float* out, float* lengths) noexcept {
  const auto offset_at = [&](std::int64_t row) noexcept -> std::int64_t {
    return offset_bytes == 4 ? load_field<std::int32_t>(offsets + row * 4)
                             : load_field<std::int64_t>(offsets + row * 8);
  };
  std::int64_t start = n_rows > 0 ? offset_at(0) : 0;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const std::int64_t end = offset_at(row + 1);
    if (start < 0 || end < start || end > data.size) return -1 - row;
    const double length = sum_words<S>(table, ByteView{data.data + start, end - start}, out + row * table.dimensions);
    if (lengths != nullptr) lengths[row] = static_cast<float>(length);
    start = end;
  }
  return n_rows;
}

template <class S>
constexpr WordPieceKernels make_wordpiece_kernels() noexcept {
  return WordPieceKernels{&embed_words<S>, &embed_word_column<S>};
}

}  // namespace tipstaff

#endif
