// The scans for a request's focus that the translation units of this folder define.
#ifndef TIPSTAFF_FOCUS_KERNELS_HPP
#define TIPSTAFF_FOCUS_KERNELS_HPP

#include "tipstaff/focus/found.hpp"

namespace tipstaff {

void scan_focus_portable(Focus* found, int owner, ByteView text, unsigned wanted) noexcept;
void scan_focus_avx2(Focus* found, int owner, ByteView text, unsigned wanted) noexcept;

}  // namespace tipstaff

#endif
