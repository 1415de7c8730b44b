// Which finder of literals an instruction set has. Compiled for the baseline.
#include "tipstaff/dispatch.hpp"

#include "kernels.hpp"

namespace tipstaff {

LiteralFinder literal_finder(Isa isa) noexcept {
#if defined(TIPSTAFF_X86_64)
  if (isa == Isa::avx512 || isa == Isa::avx512_vnni) {
    // Tables of 128 bytes, and packing bytes, came later than the rest of AVX-512.
    __builtin_cpu_init();
    const bool tables = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    return tables ? find_literals_avx512 : find_literals_avx2;
  }
  if (isa == Isa::avx2) return find_literals_avx2;
#endif
  (void)isa;
  return find_literals_portable;
}

}  // namespace tipstaff
