# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True, cdivision=True
"""One bit per dimension: the best rows of very many by an estimate, with exact scores."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memset

include "isa.pxi"

cdef extern from "buffers.hpp" namespace "tipstaff":
    cdef cppclass Borrowed:
        int take(object, const char*, const char*, const char*, Py_ssize_t, int) except -1
        unsigned char* data() nogil
        Py_ssize_t size() nogil

    cdef cppclass Scratch:
        unsigned char* make(size_t) nogil

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass Rows:
        const unsigned char* vectors
        const unsigned char* intents
        const uint8_t* risks
        const uint8_t* mask
        int64_t n
        int64_t dimensions

    cdef cppclass Boosts:
        float intent
        float high
        float critical

    cdef cppclass Query:
        const unsigned char* vector
        uint16_t intents
        uint8_t risk_filter

    cdef cppclass Best:
        int64_t k
        int32_t* rows
        float* scores
        float* cosines

    cdef cppclass SignRows:
        const unsigned char* bits
        const unsigned char* factors
        const unsigned char* mean

    int64_t sign_bytes(int64_t, int64_t) noexcept
    int64_t rotation_floats(int64_t) noexcept
    int64_t sign_scratch_bytes(int64_t, int64_t) noexcept
    void make_signs "tipstaff::sign_rows"(
        const unsigned char*, int64_t, int64_t, const unsigned char*, unsigned char*, float*, float*
    ) noexcept

    cdef cppclass SignKernels:
        int64_t topk_signs(
            const Rows&, const SignRows&, const Query&, const Boosts&, const Best&, int64_t, unsigned char*, int64_t*
        ) noexcept

    const SignKernels* sign_kernels(Isa) noexcept

cdef const SignKernels* KERNELS = sign_kernels(ISA)
cdef int64_t MAX_DIMENSIONS = 2048
cdef int64_t MAX_ROWS = (1 << 31) - 1


cdef int64_t count_rows(Borrowed& rows, int64_t dimensions) except -1:
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"query: expected 1 to {MAX_DIMENSIONS} dimensions, got {dimensions}")
    cdef int64_t n = rows.size() // (dimensions * 4)
    if n * dimensions * 4 != rows.size():
        raise ValueError(
            f"rows: {rows.size()} bytes are not whole rows of {dimensions} float32, which the query has"
        )
    if n > MAX_ROWS:
        raise ValueError(f"rows: expected at most {MAX_ROWS}, got {n}")
    return n


cdef int check_size(const char* name, Borrowed& column, int64_t expected) except -1:
    if column.size() != expected:
        raise ValueError(f"{name.decode()}: expected {expected} bytes, got {column.size()}")
    return 0


def sign_rows(rows, mean, Py_ssize_t dimensions):
    """Return the sign rows for :func:`score_topk_signs`.

    Parameters
    ----------
    rows
        float32, shape (n, dimensions).
    mean
        float32, shape (dimensions,): their mean, or anything near it.
    dimensions
        1 to 2048.

    Returns
    -------
    bits, factors : memoryview
        uint8, for each 64 rows and each 8 of the rotated dimensions (the next power of two, at least 8; from 64 on three
        quarters of them) the 64 rows' bytes, the lowest dimension in the lowest bit; and float32 (n,). Rows that are not finite have the factor 0.
    """
    cdef Borrowed row_view
    cdef Borrowed mean_view
    cdef Scratch scratch
    row_view.take(rows, "rows", "f", "float32", 4, 0)
    mean_view.take(mean, "mean", "f", "float32", 4, 0)
    cdef int64_t n = count_rows(row_view, dimensions)
    check_size("mean", mean_view, dimensions * 4)
    cdef int64_t size = sign_bytes(n, dimensions)
    bits = PyByteArray_FromStringAndSize(NULL, size)
    factors = PyByteArray_FromStringAndSize(NULL, n * 4)
    cdef unsigned char* bit_data = <unsigned char*> PyByteArray_AS_STRING(bits)
    cdef float* factor_data = <float*> PyByteArray_AS_STRING(factors)
    cdef float* space = <float*> scratch.make(rotation_floats(dimensions) * sizeof(float))
    if space == NULL:
        raise MemoryError
    with nogil:
        memset(bit_data, 0, size)
        make_signs(row_view.data(), n, dimensions, mean_view.data(), bit_data, factor_data, space)
    return memoryview(bits), memoryview(factors).cast("f")


def score_topk_signs(
    rows, bits, factors, mean, query, intents, risks, row_mask=None, *,
    uint16_t query_intents=0, uint8_t risk_filter=0xFF, boosts=(0.15, 0.10, 0.05), Py_ssize_t k=5,
    Py_ssize_t candidates=1024, isa=None,
):
    """Return the k best of the rows that look best by their signs, with the scores of :func:`score_topk_f32`.

    Masks, risks and boosts enter the estimate, so filters cost no recall; where no more than ``candidates`` rows pass
    them, or the query has no direction, the answer is that of :func:`score_topk_f32`. Otherwise a row of the k best is
    missing where ``candidates`` others were estimated better. Estimates are the same on every instruction set.

    Parameters
    ----------
    bits, factors, mean
        From :func:`sign_rows`, and what it was given.
    candidates
        How many rows are scored; at least ``k`` are.
    rows, query, intents, risks, row_mask, query_intents, risk_filter, boosts, k, isa
        As for :func:`score_topk_f32`.

    Returns
    -------
    rows, scores, cosines : memoryview
        int32, float32, float32, each of shape (min(k, rows that pass),).

    Raises
    ------
    TypeError
        If a buffer has items of another type.
    ValueError
        If sizes disagree, there are more than 2048 dimensions, ``k`` or ``candidates`` is negative, a boost is not
        finite, or the machine does not run ``isa``.
    """
    cdef const SignKernels* kernels = KERNELS if isa is None else sign_kernels(find_isa(isa))
    cdef Borrowed row_view
    cdef Borrowed bit_view
    cdef Borrowed factor_view
    cdef Borrowed mean_view
    cdef Borrowed query_view
    cdef Borrowed intent_view
    cdef Borrowed risk_view
    cdef Borrowed mask_view
    cdef Scratch scratch
    cdef Rows columns
    cdef SignRows signs
    cdef Query asked
    cdef Boosts added
    cdef Best best
    if k < 0 or candidates < 0:
        raise ValueError(f"k, candidates: expected 0 or more, got {k} and {candidates}")
    intent, critical, high = boosts
    added.intent = intent
    added.critical = critical
    added.high = high
    cdef double intent_size = fabs(added.intent)
    if not (intent_size + fabs(added.critical) < 3e38 and intent_size + fabs(added.high) < 3e38):
        raise ValueError(f"boosts: expected three finite numbers of which no two add up to 3e38, got {boosts}")
    row_view.take(rows, "rows", "f", "float32", 4, 0)
    bit_view.take(bits, "bits", "B", "uint8", 1, 0)
    factor_view.take(factors, "factors", "f", "float32", 4, 0)
    mean_view.take(mean, "mean", "f", "float32", 4, 0)
    query_view.take(query, "query", "f", "float32", 4, 0)
    intent_view.take(intents, "intents", "Hh", "uint16", 2, 0)
    risk_view.take(risks, "risks", "B", "uint8", 1, 0)
    columns.dimensions = query_view.size() // 4
    columns.n = count_rows(row_view, columns.dimensions)
    check_size("bits", bit_view, sign_bytes(columns.n, columns.dimensions))
    check_size("factors", factor_view, columns.n * 4)
    check_size("mean", mean_view, columns.dimensions * 4)
    check_size("intents", intent_view, columns.n * 2)
    check_size("risks", risk_view, columns.n)
    columns.vectors = row_view.data()
    columns.intents = intent_view.data()
    columns.risks = risk_view.data()
    columns.mask = NULL
    if row_mask is not None:
        mask_view.take(row_mask, "row_mask", "?B", "uint8", 1, 0)
        check_size("row_mask", mask_view, columns.n)
        columns.mask = mask_view.data()
    signs.bits = bit_view.data()
    signs.factors = factor_view.data()
    signs.mean = mean_view.data()
    asked.vector = query_view.data()
    asked.intents = query_intents
    asked.risk_filter = risk_filter
    best.k = min(<int64_t> k, columns.n)
    cdef int64_t room = min(max(<int64_t> candidates, best.k, 1), columns.n + 1)
    memory = PyByteArray_FromStringAndSize(NULL, best.k * 12)
    cdef char* start = PyByteArray_AS_STRING(memory)
    best.rows = <int32_t*> start
    best.scores = <float*> (start + best.k * 4)
    best.cosines = <float*> (start + best.k * 8)
    cdef unsigned char* space = scratch.make(sign_scratch_bytes(columns.dimensions, room))
    if space == NULL:
        raise MemoryError
    cdef int64_t found
    with nogil:
        found = kernels.topk_signs(columns, signs, asked, added, best, room, space, NULL)
    view = memoryview(memory)
    return (
        view[:found * 4].cast("i"),
        view[best.k * 4:(best.k + found) * 4].cast("f"),
        view[best.k * 8:(2 * best.k + found) * 4].cast("f"),
    )
