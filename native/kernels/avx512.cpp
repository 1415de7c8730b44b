// The kernels for AVX-512 F, BW, VL, DQ.
#include "avx512_simd.hpp"
#include "tables.hpp"

namespace tipstaff {
namespace {

std::uint64_t read_bytes(const unsigned char* data, std::int64_t size) noexcept {
  __m512i a = _mm512_setzero_si512();
  __m512i b = a;
  __m512i c = a;
  __m512i e = a;
  std::int64_t i = 0;
  for (; i + 256 <= size; i += 256) {
    const auto* at = reinterpret_cast<const __m512i*>(data + i);
    a = _mm512_xor_si512(a, _mm512_loadu_si512(at));
    b = _mm512_xor_si512(b, _mm512_loadu_si512(at + 1));
    c = _mm512_xor_si512(c, _mm512_loadu_si512(at + 2));
    e = _mm512_xor_si512(e, _mm512_loadu_si512(at + 3));
  }
  std::uint64_t words[8];
  const __m512i all = _mm512_xor_si512(_mm512_xor_si512(a, b), _mm512_xor_si512(c, e));
  std::memcpy(words, &all, sizeof words);
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) sum ^= word;
  for (; i < size; ++i) sum ^= data[i];
  return sum;
}

// Enough chains to hide the latency of a multiply-add on two ports.
constexpr int chains = 12;
float multiply_add(std::int64_t rounds) noexcept {
  const __m512 factor = _mm512_set1_ps(0.999f);
  const __m512 addend = _mm512_set1_ps(0.001f);
  __m512 x[chains];
  for (int j = 0; j < chains; ++j) x[j] = _mm512_set1_ps(static_cast<float>(j));
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < chains; ++j) x[j] = _mm512_fmadd_ps(x[j], factor, addend);
  }
  float lanes[16];
  float sum = 0;
  for (const __m512& chain : x) {
    std::memcpy(lanes, &chain, sizeof lanes);
    for (const float value : lanes) sum += value;
  }
  return sum;
}

}  // namespace

const HashKernels avx512_hash = make_hash_kernels<Avx512>();
const ScoreKernels avx512_score = make_score_kernels<Avx512>();
const FusedKernels avx512_fused = make_fused_kernels<Avx512>();
const LimitKernels avx512_limit{&read_bytes, &multiply_add, 2 * 16 * chains};
const WordPieceKernels avx512_wordpiece = make_wordpiece_kernels<Avx512>();
}  // namespace tipstaff
