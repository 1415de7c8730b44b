// Token features for AVX-512 with VPOPCNTDQ, which counts the bits of eight blocks at once.
#include "avx512_tokens.hpp"

namespace tipstaff {
const TokenKernels avx512_popcnt_token = make_token_kernels<Avx512Bytes>();
}  // namespace tipstaff
