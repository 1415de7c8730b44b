// The kernel tables that the translation units of this folder define.
#ifndef TIPSTAFF_TABLES_HPP
#define TIPSTAFF_TABLES_HPP

#include "tipstaff/tokens/hash_embedding.hpp"
#include "tipstaff/tokens/features.hpp"
#include "tipstaff/tokens/wordpiece.hpp"

namespace tipstaff {
struct FusedKernels;
extern const HashKernels portable_hash;
extern const FusedKernels portable_fused;
extern const WordPieceKernels portable_wordpiece;
extern const TokenKernels portable_token;
#if defined(TIPSTAFF_X86_64)
extern const HashKernels avx2_hash;
extern const FusedKernels avx2_fused;
extern const WordPieceKernels avx2_wordpiece;
extern const TokenKernels avx2_token;
extern const HashKernels avx512_hash;
extern const FusedKernels avx512_fused;
extern const WordPieceKernels avx512_wordpiece;
extern const TokenKernels avx512_token;
extern const TokenKernels avx512_popcnt_token;
#elif defined(TIPSTAFF_AARCH64)
extern const FusedKernels neon_dot_fused;
#endif
}  // namespace tipstaff

#endif
