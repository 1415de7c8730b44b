// The kernels for AVX-512 F, BW, VL, DQ.
#include "avx512_simd.hpp"
#include "tables.hpp"

namespace tipstaff {
const HashKernels avx512_hash = make_hash_kernels<Avx512>();
const ScoreKernels avx512_score = make_score_kernels<Avx512>();
}  // namespace tipstaff
