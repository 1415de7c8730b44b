# Joins of token sets by Jaccard similarity.
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

cdef extern from "tipstaff/similarity/jaccard.hpp" namespace "tipstaff" nogil:
    cdef struct JaccardPair:
        int32_t first
        int32_t second
        int32_t shared

    cdef enum class JaccardStatus(int):
        complete
        stopped
        bad_offsets
        bad_set

    cdef struct JaccardResult:
        JaccardStatus status
        int64_t where

    JaccardResult join_sets "tipstaff::jaccard_pairs"(
        const uint32_t*, int64_t, const int64_t*, int64_t, double, int64_t, int64_t, vector[JaccardPair]*
    ) except +


cdef inline int check_join(double threshold, Py_ssize_t max_pairs) except -1:
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold: expected above 0 and at most 1, got {threshold}")
    if max_pairs < 0:
        raise ValueError(f"max_pairs: expected 0 or more, got {max_pairs}")
    return 0
