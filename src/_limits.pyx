# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""What the machine can do at best: for benchmarks to compare with, and nothing else."""

from libc.stdint cimport int64_t, uint64_t

include "isa.pxi"

cdef extern from "buffers.hpp" namespace "tipstaff":
    cdef cppclass Borrowed:
        int take(object, const char*, const char*, const char*, Py_ssize_t, int) except -1
        unsigned char* data() nogil
        Py_ssize_t size() nogil

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass LimitKernels:
        uint64_t read_bytes(const unsigned char*, int64_t) noexcept
        float multiply_add(int64_t) noexcept
        int64_t flops_per_round

    const LimitKernels* limit_kernels(Isa) noexcept


def read_bytes(data, *, isa=None):
    """Read every byte of a buffer once, with the widest loads of an instruction set; return their parity word."""
    cdef const LimitKernels* kernels = limit_kernels(ISA if isa is None else find_isa(isa))
    cdef Borrowed view
    cdef uint64_t sum
    view.take(memoryview(data).cast("B"), "data", "B", "bytes", 1, 0)
    with nogil:
        sum = kernels.read_bytes(view.data(), view.size())
    return sum


def multiply_add(int64_t rounds, *, isa=None):
    """Run float32 multiply-adds at full rate; return how many operations they were (a multiply-add counts two)."""
    cdef const LimitKernels* kernels = limit_kernels(ISA if isa is None else find_isa(isa))
    cdef float value
    with nogil:
        value = kernels.multiply_add(rounds)
    if value != value:
        raise AssertionError("multiply_add gave no number")
    return rounds * kernels.flops_per_round
