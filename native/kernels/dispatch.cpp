// Which instruction sets this processor runs. Compiled for the baseline.
#include "tipstaff/dispatch.hpp"

#include "tables.hpp"

#if defined(TIPSTAFF_AARCH64) && !defined(__APPLE__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace tipstaff {

const char* isa_name(Isa isa) noexcept {
  switch (isa) {
    case Isa::portable: return "portable";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
    case Isa::avx512_vnni: return "avx512_vnni";
    case Isa::neon_dot: return "neon_dot";
  }
  return "";
}

bool isa_available(Isa isa) noexcept {
  if (isa == Isa::portable) return true;
#if defined(TIPSTAFF_X86_64)
  // The checks include the operating system's support for the registers.
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  if (isa == Isa::avx2) return avx2;
  if (isa == Isa::avx512) return avx512;
  return isa == Isa::avx512_vnni && avx512 && __builtin_cpu_supports("avx512vnni");
#elif defined(TIPSTAFF_AARCH64) && defined(__APPLE__)
  return isa == Isa::neon_dot;  // every such processor of Apple's
#elif defined(TIPSTAFF_AARCH64)
  return isa == Isa::neon_dot && (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;
#endif
}

const HashKernels* hash_kernels(Isa isa) noexcept {
#if defined(TIPSTAFF_X86_64)
  if (isa == Isa::avx2) return &avx2_hash;
  if (isa == Isa::avx512 || isa == Isa::avx512_vnni) return &avx512_hash;
#endif
  (void)isa;
  return &portable_hash;
}

const FusedKernels* fused_kernels(Isa isa) noexcept {
#if defined(TIPSTAFF_X86_64)
  if (isa == Isa::avx2) return &avx2_fused;
  if (isa == Isa::avx512 || isa == Isa::avx512_vnni) return &avx512_fused;
#elif defined(TIPSTAFF_AARCH64)
  if (isa == Isa::neon_dot) return &neon_dot_fused;
#endif
  (void)isa;
  return &portable_fused;
}

const WordPieceKernels* wordpiece_kernels(Isa isa) noexcept {
#if defined(TIPSTAFF_X86_64)
  if (isa == Isa::avx2) return &avx2_wordpiece;
  if (isa == Isa::avx512 || isa == Isa::avx512_vnni) return &avx512_wordpiece;
#endif
  (void)isa;
  return &portable_wordpiece;
}

const TokenKernels* token_kernels(Isa isa) noexcept {
#if defined(TIPSTAFF_X86_64)
  if (isa == Isa::avx2) return &avx2_token;
  // Nearly every processor with VNNI counts bits in vectors too; those that do not have AVX-512's table.
  if (isa == Isa::avx512_vnni && __builtin_cpu_supports("avx512vpopcntdq")) return &avx512_popcnt_token;
  if (isa == Isa::avx512 || isa == Isa::avx512_vnni) return &avx512_token;
#endif
  (void)isa;
  return &portable_token;
}

}  // namespace tipstaff
