# Which instruction set a module's kernels run on. Included by each module, so that every module holds
# constants of its own and no module has state that changes.
import os

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef enum class Isa(int):
        portable
        avx2
        avx512
        avx512_vnni
        neon_dot
    const int isa_count
    const char* isa_name(Isa) noexcept
    bint isa_available(Isa) noexcept


def available_isas():
    """Return the instruction sets this machine runs, slowest first."""
    return tuple(isa_name(<Isa> i).decode() for i in range(isa_count) if isa_available(<Isa> i))


cdef Isa find_isa(object name) except *:
    cdef int i
    for i in range(isa_count):
        if isa_available(<Isa> i) and isa_name(<Isa> i).decode() == name:
            return <Isa> i
    raise ValueError(
        f"instruction set {name!r} is not one that this machine runs: {', '.join(available_isas())}"
    )


cdef Isa default_isa() except *:
    name = os.environ.get("TIPSTAFF_ISA")
    if not name:
        return find_isa(available_isas()[len(available_isas()) - 1])
    try:
        return find_isa(name)
    except ValueError as error:
        raise ValueError(f"TIPSTAFF_ISA: {error}") from None


cdef Isa ISA = default_isa()


def isa():
    """Return the instruction set in use."""
    return isa_name(ISA).decode()
