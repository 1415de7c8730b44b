// The scan for what a request is about, compiled for each instruction set.
#ifndef TIPSTAFF_FOCUS_SCANNER_HPP
#define TIPSTAFF_FOCUS_SCANNER_HPP

#include "tipstaff/dispatch.hpp"
#include "tipstaff/focus/found.hpp"

namespace tipstaff {

// Finds what a text names. The number is written beside the paths that are found; the last argument
// is of focus::Wanted: only symbols and signals that are wanted are looked for.
using FocusScan = void (*)(Focus*, int, ByteView, unsigned) noexcept;

// The set must be available.
FocusScan focus_scan(Isa isa) noexcept;

}  // namespace tipstaff

#endif
