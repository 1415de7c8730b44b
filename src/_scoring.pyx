# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True, cdivision=True
"""Fused scoring: filters, cosine, boosts and the k best."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.math cimport isfinite
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memcpy

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

    cdef cppclass QueryBatch:
        const unsigned char* vectors
        const unsigned char* intents
        const uint8_t* risk_filters
        int64_t m

    cdef cppclass QuantizedRows:
        const int8_t* codes
        const unsigned char* scales
        const unsigned char* errors
        const unsigned char* mean

    cdef cppclass Best:
        int64_t k
        int32_t* rows
        float* scores
        float* cosines

    int64_t batch_scratch_bytes(int64_t) noexcept
    int64_t i8_scratch_bytes(int64_t, int64_t) noexcept

    cdef cppclass ScoreKernels:
        int64_t topk_f32(const Rows&, const Query&, const Boosts&, const Best&) noexcept
        int64_t topk_i8(
            const Rows&, const QuantizedRows&, const Query&, const Boosts&, const Best&, unsigned char*, int64_t*
        ) noexcept
        void topk_f32_batch(
            const Rows&, const QueryBatch&, const Boosts&, const Best&, int64_t*, unsigned char*
        ) noexcept

    const ScoreKernels* score_kernels(Isa) noexcept

cdef extern from "tipstaff/quantize.hpp" namespace "tipstaff" nogil:
    int64_t make_int8_rows "tipstaff::quantize_rows"(
        const unsigned char*, int64_t, int64_t, int8_t*, float*, float*, float*, double*
    ) noexcept

cdef const ScoreKernels* KERNELS = score_kernels(ISA)
cdef int64_t MAX_DIMENSIONS = 65536
cdef int64_t MAX_ROWS = (1 << 31) - 1
DEFAULT_BOOSTS = (0.15, 0.10, 0.05)


cdef const ScoreKernels* choose(object isa) except NULL:
    return KERNELS if isa is None else score_kernels(find_isa(isa))


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


cdef int set_boosts(object boosts, Boosts* out) except -1:
    # `boosts` is (intent, critical, high).
    if boosts is DEFAULT_BOOSTS:
        out.intent = 0.15
        out.critical = 0.10
        out.high = 0.05
        return 0
    intent, critical, high = boosts
    out.intent = intent
    out.critical = critical
    out.high = high
    if not (isfinite(out.intent) and isfinite(out.critical) and isfinite(out.high)):
        raise ValueError(f"boosts: expected three finite numbers, got {boosts}")
    return 0


cdef int check_k(Py_ssize_t k) except -1:
    if k < 0:
        raise ValueError(f"k: expected 0 or more, got {k}")
    return 0


cdef class _Lists:
    """Output arrays of one call: row numbers, scores and cosines in one bytearray."""

    cdef object memory
    cdef int64_t room
    cdef Best best

    def __cinit__(self, int64_t k, int64_t lists):
        self.room = k * lists
        self.memory = PyByteArray_FromStringAndSize(NULL, self.room * 12)
        cdef char* start = PyByteArray_AS_STRING(self.memory)
        self.best.k = k
        self.best.rows = <int32_t*> start
        self.best.scores = <float*> (start + self.room * 4)
        self.best.cosines = <float*> (start + self.room * 8)

    cdef object slice(self, int64_t first, int64_t count):
        cdef int64_t room = self.room
        view = memoryview(self.memory)
        return (
            view[first * 4:(first + count) * 4].cast("i"),
            view[(room + first) * 4:(room + first + count) * 4].cast("f"),
            view[(2 * room + first) * 4:(2 * room + first + count) * 4].cast("f"),
        )


def score_topk_f32(
    rows, query, intents, risks, row_mask=None, *,
    uint16_t query_intents=0, uint8_t risk_filter=0xFF, boosts=DEFAULT_BOOSTS, Py_ssize_t k=5, isa=None,
):
    """Return the k best rows for one query.

    ``score = clamp(row . query, 0, 1) + intent boost + risk boost`` in float32; a dot product that is not a number
    counts as 0. Higher scores come first, and of equal scores the lower row.

    Parameters
    ----------
    rows
        float32, shape (n, dimensions), unit rows; any alignment.
    query
        float32, shape (dimensions,), a unit vector; its length says how many dimensions there are.
    intents
        uint16, shape (n,): a bit for each intent of the row.
    risks
        uint8, shape (n,): 0 info, 1 low, 2 medium, 3 high, 4 critical. Rows with a code above 7 are never returned.
    row_mask
        uint8 or bool, shape (n,): rows with 0 are left out.
    query_intents
        The query's intent bits: a row that shares one gets the intent boost.
    risk_filter
        Bit r lets rows of risk r through.
    boosts
        Of a shared intent, of risk critical, of risk high.
    k
        How many rows at most.
    isa
        Instruction set for this call; the default is :func:`isa`.

    Returns
    -------
    rows, scores, cosines : memoryview
        int32, float32, float32, each of shape (min(k, rows that pass),).

    Raises
    ------
    TypeError
        If a buffer has items of another type.
    ValueError
        If sizes disagree, ``k`` is negative, a boost is not finite, or the machine does not run ``isa``.
    """
    cdef const ScoreKernels* kernels = choose(isa)
    cdef Borrowed row_view
    cdef Borrowed query_view
    cdef Borrowed intent_view
    cdef Borrowed risk_view
    cdef Borrowed mask_view
    cdef Rows columns
    cdef Query asked
    cdef Boosts added
    check_k(k)
    set_boosts(boosts, &added)
    row_view.take(rows, "rows", "f", "float32", 4, 0)
    query_view.take(query, "query", "f", "float32", 4, 0)
    intent_view.take(intents, "intents", "Hh", "uint16", 2, 0)
    risk_view.take(risks, "risks", "B", "uint8", 1, 0)
    columns.dimensions = query_view.size() // 4
    columns.n = count_rows(row_view, columns.dimensions)
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
    asked.vector = query_view.data()
    asked.intents = query_intents
    asked.risk_filter = risk_filter
    cdef _Lists lists = _Lists(min(<int64_t> k, columns.n), 1)
    cdef Best best = lists.best
    cdef int64_t found
    with nogil:
        found = kernels.topk_f32(columns, asked, added, best)
    return lists.slice(0, found)


def score_topk_i8(
    rows, codes, scales, errors, mean, query, intents, risks, row_mask=None, *,
    uint16_t query_intents=0, uint8_t risk_filter=0xFF, boosts=DEFAULT_BOOSTS, Py_ssize_t k=5, isa=None,
):
    """Return exactly the entries of :func:`score_topk_f32`, reading a quarter of the bytes.

    The codes give each row an interval that holds its score; ``rows`` is read only for those that may be among the k
    best. ``codes, scales, errors, mean`` are what :func:`quantize_rows` made from these very rows; the result is
    unspecified otherwise. Where the intervals cannot decide (all rows alike, a zero query), every row is scored.
    """
    return _topk_i8(
        rows, codes, scales, errors, mean, query, intents, risks, row_mask,
        query_intents, risk_filter, boosts, k, isa,
    )[0]


def score_topk_i8_counted(
    rows, codes, scales, errors, mean, query, intents, risks, row_mask=None, *,
    uint16_t query_intents=0, uint8_t risk_filter=0xFF, boosts=DEFAULT_BOOSTS, Py_ssize_t k=5, isa=None,
):
    """Return what :func:`score_topk_i8` does, and how many float32 rows it scored."""
    return _topk_i8(
        rows, codes, scales, errors, mean, query, intents, risks, row_mask,
        query_intents, risk_filter, boosts, k, isa,
    )


cdef tuple _topk_i8(
    rows, codes, scales, errors, mean, query, intents, risks, row_mask,
    uint16_t query_intents, uint8_t risk_filter, boosts, Py_ssize_t k, isa,
):
    cdef const ScoreKernels* kernels = choose(isa)
    cdef Borrowed row_view
    cdef Borrowed code_view
    cdef Borrowed scale_view
    cdef Borrowed error_view
    cdef Borrowed mean_view
    cdef Borrowed query_view
    cdef Borrowed intent_view
    cdef Borrowed risk_view
    cdef Borrowed mask_view
    cdef Scratch scratch
    cdef Rows columns
    cdef QuantizedRows small
    cdef Query asked
    cdef Boosts added
    check_k(k)
    set_boosts(boosts, &added)
    row_view.take(rows, "rows", "f", "float32", 4, 0)
    code_view.take(codes, "codes", "b", "int8", 1, 0)
    scale_view.take(scales, "scales", "f", "float32", 4, 0)
    error_view.take(errors, "errors", "f", "float32", 4, 0)
    mean_view.take(mean, "mean", "f", "float32", 4, 0)
    query_view.take(query, "query", "f", "float32", 4, 0)
    intent_view.take(intents, "intents", "Hh", "uint16", 2, 0)
    risk_view.take(risks, "risks", "B", "uint8", 1, 0)
    columns.dimensions = query_view.size() // 4
    columns.n = count_rows(row_view, columns.dimensions)
    check_size("codes", code_view, columns.n * columns.dimensions)
    check_size("scales", scale_view, columns.n * 4)
    check_size("errors", error_view, columns.n * 4)
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
    small.codes = <const int8_t*> code_view.data()
    small.scales = scale_view.data()
    small.errors = error_view.data()
    small.mean = mean_view.data()
    asked.vector = query_view.data()
    asked.intents = query_intents
    asked.risk_filter = risk_filter
    cdef _Lists lists = _Lists(min(<int64_t> k, columns.n), 1)
    cdef Best best = lists.best
    cdef unsigned char* space = scratch.make(i8_scratch_bytes(columns.dimensions, best.k))
    if space == NULL:
        raise MemoryError
    cdef int64_t found
    cdef int64_t exact = 0
    with nogil:
        found = kernels.topk_i8(columns, small, asked, added, best, space, &exact)
    return lists.slice(0, found), exact


def score_topk_f32_batch(
    rows, queries, intents, risks, row_mask=None, *,
    Py_ssize_t dimensions, query_intents, risk_filters, boosts=DEFAULT_BOOSTS, Py_ssize_t k=5, isa=None,
):
    """Return the k best rows for each of m queries; rows are read once for 64 queries.

    As :func:`score_topk_f32` for each query, save that sums are taken in another order, so scores may differ in the
    last bits.

    Parameters
    ----------
    queries
        float32, shape (m, dimensions).
    dimensions
        Of rows and queries.
    query_intents
        uint16, shape (m,).
    risk_filters
        uint8, shape (m,).
    rows, intents, risks, row_mask, boosts, k, isa
        As for :func:`score_topk_f32`; shared by all queries.
    """
    cdef const ScoreKernels* kernels = choose(isa)
    cdef Borrowed row_view
    cdef Borrowed query_view
    cdef Borrowed intent_view
    cdef Borrowed risk_view
    cdef Borrowed mask_view
    cdef Borrowed query_intent_view
    cdef Borrowed filter_view
    cdef Scratch scratch
    cdef Scratch count_memory
    cdef Rows columns
    cdef QueryBatch asked
    cdef Boosts added
    check_k(k)
    set_boosts(boosts, &added)
    row_view.take(rows, "rows", "f", "float32", 4, 0)
    query_view.take(queries, "queries", "f", "float32", 4, 0)
    intent_view.take(intents, "intents", "Hh", "uint16", 2, 0)
    risk_view.take(risks, "risks", "B", "uint8", 1, 0)
    query_intent_view.take(query_intents, "query_intents", "Hh", "uint16", 2, 0)
    filter_view.take(risk_filters, "risk_filters", "B", "uint8", 1, 0)
    columns.dimensions = dimensions
    columns.n = count_rows(row_view, dimensions)
    check_size("intents", intent_view, columns.n * 2)
    check_size("risks", risk_view, columns.n)
    asked.m = filter_view.size()
    check_size("queries", query_view, asked.m * dimensions * 4)
    check_size("query_intents", query_intent_view, asked.m * 2)
    columns.vectors = row_view.data()
    columns.intents = intent_view.data()
    columns.risks = risk_view.data()
    columns.mask = NULL
    if row_mask is not None:
        mask_view.take(row_mask, "row_mask", "?B", "uint8", 1, 0)
        check_size("row_mask", mask_view, columns.n)
        columns.mask = mask_view.data()
    asked.vectors = query_view.data()
    asked.intents = query_intent_view.data()
    asked.risk_filters = filter_view.data()
    cdef int64_t width = min(<int64_t> k, columns.n)
    cdef _Lists lists = _Lists(width, asked.m)
    cdef Best best = lists.best
    cdef unsigned char* space = scratch.make(batch_scratch_bytes(dimensions))
    cdef int64_t* counts = <int64_t*> count_memory.make((asked.m + 1) * sizeof(int64_t))
    if space == NULL or counts == NULL:
        raise MemoryError
    with nogil:
        kernels.topk_f32_batch(columns, asked, added, best, counts, space)
    cdef int64_t q
    return [lists.slice(q * width, counts[q]) for q in range(asked.m)]


def quantize_rows(rows, Py_ssize_t dimensions, mean=None):
    """Return int8 rows for :func:`score_topk_i8`.

    A row is ``mean + scale * codes + e``; its error bound is |e| and all rounding of the scan and of the float32 sums.

    Parameters
    ----------
    rows
        float32, shape (n, dimensions).
    dimensions
        1 to 65536.
    mean
        float32, shape (dimensions,): what the rows are centred on instead of their own mean. Any row will do; one that
        is far from them makes the bounds wide and the scan slow.

    Returns
    -------
    codes, scales, errors, mean : memoryview
        int8 (n * dimensions,), float32 (n,), float32 (n,), float32 (dimensions,).

    Raises
    ------
    ValueError
        If a row or `mean` is not finite or its norm is above 1e15.
    """
    cdef Borrowed row_view
    cdef Borrowed mean_view
    cdef Scratch scratch
    row_view.take(rows, "rows", "f", "float32", 4, 0)
    cdef int64_t n = count_rows(row_view, dimensions)
    # Codes start at a cache line, where a row of 64 k dimensions then never straddles two more than it must.
    codes = PyByteArray_FromStringAndSize(NULL, n * dimensions + 64)
    cdef Py_ssize_t start = -<Py_ssize_t> PyByteArray_AS_STRING(codes) & 63
    scales = PyByteArray_FromStringAndSize(NULL, n * 4)
    errors = PyByteArray_FromStringAndSize(NULL, n * 4)
    centre = PyByteArray_FromStringAndSize(NULL, dimensions * 4)
    cdef int8_t* code_data = <int8_t*> PyByteArray_AS_STRING(codes) + start
    cdef float* scale_data = <float*> PyByteArray_AS_STRING(scales)
    cdef float* error_data = <float*> PyByteArray_AS_STRING(errors)
    cdef float* mean_data = <float*> PyByteArray_AS_STRING(centre)
    cdef double* sums = <double*> scratch.make(dimensions * sizeof(double))
    if sums == NULL:
        raise MemoryError
    cdef int64_t bad
    cdef Py_ssize_t i
    cdef double squares = 0
    if mean is not None:
        mean_view.take(mean, "mean", "f", "float32", 4, 0)
        check_size("mean", mean_view, dimensions * 4)
        memcpy(mean_data, mean_view.data(), dimensions * 4)
        for i in range(dimensions):
            squares += <double> mean_data[i] * mean_data[i]
        if not squares < 1e30:
            raise ValueError("mean: it is not finite, or its norm is above 1e15")
        sums = NULL
    with nogil:
        bad = make_int8_rows(
            row_view.data(), n, dimensions, code_data, scale_data, error_data, mean_data, sums
        )
    if bad >= 0:
        raise ValueError(f"rows: row {bad} is not finite, or its norm is above 1e15")
    return (
        memoryview(codes)[start:start + n * dimensions].cast("b"), memoryview(scales).cast("f"),
        memoryview(errors).cast("f"), memoryview(centre).cast("f"),
    )
