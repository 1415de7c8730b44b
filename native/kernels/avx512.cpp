// The kernels for AVX-512 F, BW, VL, DQ.
#include "avx512_simd.hpp"
#include "limits.hpp"
#include "tables.hpp"

namespace tipstaff {
namespace {

float multiply_add(std::int64_t rounds) noexcept {
  return multiply_add_with<__m512>(rounds, [](__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); });
}

}  // namespace

const HashKernels avx512_hash = make_hash_kernels<Avx512>();
const ScoreKernels avx512_score = make_score_kernels<Avx512>();
const FusedKernels avx512_fused = make_fused_kernels<Avx512>();
const LimitKernels avx512_limit{&read_bytes<__m512i>, &multiply_add, 2 * 16 * limit_chains};
const WordPieceKernels avx512_wordpiece = make_wordpiece_kernels<Avx512>();
}  // namespace tipstaff
