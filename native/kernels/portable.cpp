// The tables of the portable kernels.
#include "portable_simd.hpp"
#include "tables.hpp"

namespace {

std::uint64_t read_bytes(const unsigned char* data, std::int64_t size) noexcept {
  std::uint64_t partial[8] = {};
  std::int64_t i = 0;
  for (; i + 64 <= size; i += 64) {
    std::uint64_t words[8];
    std::memcpy(words, data + i, sizeof words);
    for (int j = 0; j < 8; ++j) partial[j] ^= words[j];
  }
  for (; i < size; ++i) partial[0] ^= data[i];
  std::uint64_t sum = 0;
  for (const std::uint64_t part : partial) sum ^= part;
  return sum;
}

// Without a promise of fused multiply-adds: products and sums.
constexpr int chains = 48;
float multiply_add(std::int64_t rounds) noexcept {
  float x[chains];
  for (int j = 0; j < chains; ++j) x[j] = static_cast<float>(j);
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (int j = 0; j < chains; ++j) x[j] = x[j] * 0.999f + 0.001f;
  }
  float sum = 0;
  for (const float value : x) sum += value;
  return sum;
}

}  // namespace

namespace tipstaff {
const HashKernels portable_hash = make_hash_kernels<Portable>();
const ScoreKernels portable_score = make_score_kernels<Portable>();
const FusedKernels portable_fused = make_fused_kernels<Portable>();
const LimitKernels portable_limit{&read_bytes, &multiply_add, 2 * chains};
const WordPieceKernels portable_wordpiece = make_wordpiece_kernels<Portable>();
}  // namespace tipstaff
