// Token features for AVX-512.
#include "avx512_tokens.hpp"

namespace tipstaff {
const TokenKernels avx512_token = make_token_kernels<Avx512Bytes>();
}  // namespace tipstaff
