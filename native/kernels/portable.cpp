// The tables of the portable kernels.
#include "portable_simd.hpp"
#include "tables.hpp"

namespace tipstaff {
const HashKernels portable_hash = make_hash_kernels<Portable>();
const FusedKernels portable_fused = make_fused_kernels<Portable>();
const WordPieceKernels portable_wordpiece = make_wordpiece_kernels<Portable>();
}  // namespace tipstaff
