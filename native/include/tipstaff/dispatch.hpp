// Instruction sets: which the processor runs, and the kernel tables compiled for each.
//
// Every family of kernels is one template over a "Simd" type. Each translation unit in
// native/kernels/ names that type in an anonymous namespace and compiles the template with its own
// flags, so no code built for one set can be linked into another.
#ifndef TIPSTAFF_DISPATCH_HPP
#define TIPSTAFF_DISPATCH_HPP

#include "tipstaff/tokens/hash_embedding.hpp"
#include "tipstaff/text/literals.hpp"
#include "tipstaff/tokens/features.hpp"
#include "tipstaff/tokens/wordpiece.hpp"

namespace tipstaff {

struct FusedKernels;

enum class Isa : int { portable = 0, avx2 = 1, avx512 = 2, avx512_vnni = 3, neon_dot = 4 };
inline constexpr int isa_count = 5;

// Name of a set as it is in TIPSTAFF_ISA.
const char* isa_name(Isa isa) noexcept;

// Whether it was compiled in, and processor and operating system run it.
bool isa_available(Isa isa) noexcept;

// Tables are constants; the set must be available.
const HashKernels* hash_kernels(Isa isa) noexcept;
const FusedKernels* fused_kernels(Isa isa) noexcept;
const WordPieceKernels* wordpiece_kernels(Isa isa) noexcept;
LiteralFinder literal_finder(Isa isa) noexcept;
const TokenKernels* token_kernels(Isa isa) noexcept;

}  // namespace tipstaff

#endif
