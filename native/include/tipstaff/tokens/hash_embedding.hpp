// Hash embedding: a text's 31-hash H spread over d dimensions by sines.
//
//   value_i = float32((sin(int32((i + 1) H)) + 1) / 2), then divided by the L2 norm.
//
// The reference adds unit * (i + 1) in dimension i; that sum is linear in (i + 1), so dimension i
// holds (i + 1) H modulo 2^32 and one hash serves all. The norm is a sequential double sum, because
// its rounding is part of the result.
#ifndef TIPSTAFF_TOKENS_HASH_EMBEDDING_HPP
#define TIPSTAFF_TOKENS_HASH_EMBEDDING_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/text/text.hpp"

namespace tipstaff {

struct HashKernels {
  // Trims, lower-cases and embeds an ASCII text into out[dimensions].
  void (*embed_ascii)(ByteView text, std::int64_t dimensions, float* out) noexcept;
  // Embeds UTF-16LE units that the caller has lower-cased and trimmed.
  void (*embed_utf16le)(ByteView units, std::int64_t dimensions, float* out) noexcept;
  // Embeds rows of a string column, out[n_rows][dimensions]. offset_bytes is 4 or 8. Rows that are
  // not ASCII are left alone and their numbers go to `foreign` (room for n_rows). Returns how many
  // there are, or -1 - row for the first row whose offsets are not in the data.
  std::int64_t (*embed_column)(const unsigned char* offsets, int offset_bytes, ByteView data,
                               std::int64_t n_rows, std::int64_t dimensions, float* out,
                               std::int64_t* foreign) noexcept;
};

// sin of an int32, as a double: |error| <= 1 ulp, and float32((sin + 1) / 2) equals the correctly
// rounded one for every int32. n = round(x 2/pi); x - n P1 is exact by the fused multiply-add since
// |x| < 2^31; two more terms of pi/2; then the fdlibm kernel polynomials.
template <class S>
static inline typename S::F64 sin_int32(typename S::F64 x) noexcept {
  using F64 = typename S::F64;
  const F64 magic = S::set(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer
  const F64 shifted = S::add(S::mul(x, S::set(6.36619772367581382433e-01)), magic);
  const F64 n = S::sub(shifted, magic);
  const F64 r = S::fnma(n, S::set(1.5707963267948966), x);
  const F64 p2 = S::set(6.123233995736766e-17);
  const F64 y = S::fnma(n, S::set(-1.4973849048591833e-33), S::fnma(n, p2, r));
  const F64 tail = S::fnma(n, p2, S::sub(r, y));
  const F64 z = S::mul(y, y);
  F64 ps = S::set(1.58969099521155010221e-10);
  ps = S::fma(z, ps, S::set(-2.50507602534068634195e-08));
  ps = S::fma(z, ps, S::set(2.75573137070700676789e-06));
  ps = S::fma(z, ps, S::set(-1.98412698298579493134e-04));
  ps = S::fma(z, ps, S::set(8.33333333332248946124e-03));
  ps = S::fma(z, ps, S::set(-1.66666666666666324348e-01));
  F64 pc = S::set(-1.13596475577881948265e-11);
  pc = S::fma(z, pc, S::set(2.08757232129817482790e-09));
  pc = S::fma(z, pc, S::set(-2.75573143513906633035e-07));
  pc = S::fma(z, pc, S::set(2.48015872894767294178e-05));
  pc = S::fma(z, pc, S::set(-1.38888888888741095749e-03));
  pc = S::fma(z, pc, S::set(4.16666666666666019037e-02));
  const F64 one = S::set(1.0);
  const F64 half_z = S::mul(S::set(0.5), z);
  const F64 w = S::sub(one, half_z);
  const F64 sine = S::add(y, S::fma(S::mul(z, y), ps, S::mul(tail, w)));
  const F64 correction = S::sub(S::mul(S::mul(z, z), pc), S::mul(y, tail));
  const F64 cosine = S::add(w, S::add(S::sub(S::sub(one, w), half_z), correction));
  return S::select_quadrant(shifted, sine, cosine);
}

// out[i] = float32((sin(int32((i + 1) hash)) + 1) / 2)
template <class S>
static inline void fill_sines(std::uint32_t hash, std::int64_t dimensions, float* out) noexcept {
  constexpr int width = S::f64_lanes;
  constexpr int chunk = 64;
  static_assert(chunk % width == 0, "a chunk is whole vectors");
  std::int32_t argument[chunk];
  float rest[chunk];
  for (std::int64_t start = 0; start < dimensions; start += chunk) {
    const auto first = static_cast<std::uint32_t>(start) + 1u;
    for (int j = 0; j < chunk; ++j) {
      argument[j] = static_cast<std::int32_t>(hash * (first + static_cast<std::uint32_t>(j)));
    }
    const bool whole = dimensions - start >= chunk;
    float* target = whole ? out + start : rest;
    for (int j = 0; j < chunk; j += width) {
      const typename S::F64 sine = sin_int32<S>(S::from_int32(argument + j));
      S::store_f32(target + j, S::mul(S::add(sine, S::set(1.0)), S::set(0.5)));
    }
    if (!whole) std::memcpy(out + start, rest, static_cast<std::size_t>(dimensions - start) * 4);
  }
}

template <class S>
static inline void divide_by_norm(std::int64_t dimensions, double squares, float* out) noexcept {
  const double norm = std::sqrt(squares);
  if (!(norm > 0)) return;
  S::divide(out, dimensions, norm);
}

template <class S>
static inline void embed_hash(std::uint32_t hash, std::int64_t dimensions, float* out) noexcept {
  fill_sines<S>(hash, dimensions, out);
  double squares = 0;
  for (std::int64_t i = 0; i < dimensions; ++i) {
    const double value = out[i];
    squares += value * value;
  }
  divide_by_norm<S>(dimensions, squares, out);
}

template <class S>
static void embed_ascii(ByteView text, std::int64_t dimensions, float* out) noexcept {
  embed_hash<S>(hash31_lower_ascii(trim_ascii(text)), dimensions, out);
}

template <class S>
static void embed_utf16le(ByteView units, std::int64_t dimensions, float* out) noexcept {
  embed_hash<S>(hash31_utf16le(units), dimensions, out);
}

// Rows go in groups: their norms are independent chains of additions, so they overlap.
template <class S>
static std::int64_t embed_column(const unsigned char* offsets, int offset_bytes, ByteView data,
                                 std::int64_t n_rows, std::int64_t dimensions, float* out,
                                 std::int64_t* foreign) noexcept {
  constexpr int group = 8;
  const auto offset_at = [&](std::int64_t row) noexcept -> std::int64_t {
    if (offset_bytes == 4) {
      std::int32_t value;
      std::memcpy(&value, offsets + row * 4, 4);
      return value;
    }
    std::int64_t value;
    std::memcpy(&value, offsets + row * 8, 8);
    return value;
  };
  std::int64_t n_foreign = 0;
  float* pending[group];
  int n_pending = 0;
  const auto flush = [&]() noexcept {
    for (int r = n_pending; r < group; ++r) pending[r] = pending[0];
    double squares[group] = {};
    for (std::int64_t i = 0; i < dimensions; ++i) {
      for (int r = 0; r < group; ++r) {
        const double value = pending[r][i];
        squares[r] += value * value;
      }
    }
    for (int r = 0; r < n_pending; ++r) divide_by_norm<S>(dimensions, squares[r], pending[r]);
    n_pending = 0;
  };
  std::int64_t start = n_rows > 0 ? offset_at(0) : 0;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const std::int64_t end = offset_at(row + 1);
    if (start < 0 || end < start || end > data.size) return -1 - row;
    const ByteView text{data.data + start, end - start};
    start = end;
    if (!is_ascii(text)) {
      foreign[n_foreign++] = row;
      continue;
    }
    float* vector = out + row * dimensions;
    fill_sines<S>(hash31_lower_ascii(trim_ascii(text)), dimensions, vector);
    pending[n_pending++] = vector;
    if (n_pending == group) flush();
  }
  if (n_pending > 0) flush();
  return n_foreign;
}

template <class S>
constexpr HashKernels make_hash_kernels() noexcept {
  return HashKernels{&embed_ascii<S>, &embed_utf16le<S>, &embed_column<S>};
}

}  // namespace tipstaff

#endif
