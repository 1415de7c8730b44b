# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True, cdivision=True
"""Fused scoring over int8 rows: the entries of the float32 rows from a quarter of their bytes."""

from libc.stdint cimport uint32_t
from libc.string cimport memcpy

include "scoring.pxi"

cdef extern from "tipstaff/scoring/quantize.hpp" namespace "tipstaff" nogil:
    int64_t make_int8_rows "tipstaff::quantize_rows"(
        const unsigned char*, int64_t, int64_t, int8_t*, float*, float*, float*, double*
    ) noexcept
    void make_nibble_rows "tipstaff::nibble_rows"(
        const int8_t*, const unsigned char*, const unsigned char*, int64_t, int64_t, unsigned char*, float*, float*
    ) noexcept


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
    cdef Int8Rows held = Int8Rows(rows, codes, scales, errors, mean, intents, risks)
    cdef _Lists lists
    cdef int64_t found
    cdef int64_t exact = 0
    lists, found = held.scan(
        query, row_mask, query_intents, risk_filter, boosts, k, 0, held.columns.n, isa, &exact
    )
    return lists.slice(0, found), exact


cdef class Int8Rows:
    """Rows with their int8 codes, checked and borrowed once for many queries.

    Parameters
    ----------
    rows, codes, scales, errors, mean, intents, risks
        As for :func:`score_topk_i8`. They stay borrowed while the object lives and must not change.
    nibbles
        What :func:`nibble_rows` made from these very codes, borrowed too; None to scan the codes alone. The entries
        found are the same.

    Raises
    ------
    TypeError
        If a buffer has items of another type.
    ValueError
        If sizes disagree.
    """

    cdef Borrowed row_view
    cdef Borrowed code_view
    cdef Borrowed scale_view
    cdef Borrowed error_view
    cdef Borrowed mean_view
    cdef Borrowed intent_view
    cdef Borrowed risk_view
    cdef Borrowed nibble_view
    cdef Borrowed nibble_scale_view
    cdef Borrowed nibble_error_view
    cdef Rows columns
    cdef QuantizedRows small

    def __cinit__(self, rows, codes, scales, errors, mean, intents, risks, nibbles=None):
        self.row_view.take(rows, "rows", "f", "float32", 4, 0)
        self.code_view.take(codes, "codes", "b", "int8", 1, 0)
        self.scale_view.take(scales, "scales", "f", "float32", 4, 0)
        self.error_view.take(errors, "errors", "f", "float32", 4, 0)
        self.mean_view.take(mean, "mean", "f", "float32", 4, 0)
        self.intent_view.take(intents, "intents", "Hh", "uint16", 2, 0)
        self.risk_view.take(risks, "risks", "B", "uint8", 1, 0)
        self.columns.dimensions = self.mean_view.size() // 4
        self.columns.n = count_rows(self.row_view, self.columns.dimensions)
        check_size("codes", self.code_view, self.columns.n * self.columns.dimensions)
        check_size("scales", self.scale_view, self.columns.n * 4)
        check_size("errors", self.error_view, self.columns.n * 4)
        check_size("intents", self.intent_view, self.columns.n * 2)
        check_size("risks", self.risk_view, self.columns.n)
        self.columns.vectors = self.row_view.data()
        self.columns.intents = self.intent_view.data()
        self.columns.risks = self.risk_view.data()
        self.columns.mask = NULL
        self.small.codes = <const int8_t*> self.code_view.data()
        self.small.scales = self.scale_view.data()
        self.small.errors = self.error_view.data()
        self.small.mean = self.mean_view.data()
        if nibbles is None:
            return
        halves, half_scales, half_errors = nibbles
        self.nibble_view.take(halves, "nibbles", "B", "uint8", 1, 0)
        self.nibble_scale_view.take(half_scales, "nibble_scales", "f", "float32", 4, 0)
        self.nibble_error_view.take(half_errors, "nibble_errors", "f", "float32", 4, 0)
        check_size("nibbles", self.nibble_view, self.columns.n * nibble_bytes(self.columns.dimensions))
        check_size("nibble_scales", self.nibble_scale_view, self.columns.n * 4)
        check_size("nibble_errors", self.nibble_error_view, self.columns.n * 4)
        self.small.nibbles = self.nibble_view.data()
        self.small.nibble_scales = self.nibble_scale_view.data()
        self.small.nibble_errors = self.nibble_error_view.data()

    def __len__(self):
        return self.columns.n

    def topk(
        self, query, row_mask=None, *, uint16_t query_intents=0, uint8_t risk_filter=0xFF, boosts=DEFAULT_BOOSTS,
        Py_ssize_t k=5, Py_ssize_t start=0, stop=None, isa=None,
    ):
        """Return the k best of the rows from ``start`` to before ``stop``, as :func:`score_topk_i8` would.

        Parameters
        ----------
        query, row_mask, query_intents, risk_filter, boosts, k, isa
            As for :func:`score_topk_i8`; ``row_mask`` speaks of all rows.
        start, stop
            A range of rows, 0 <= start <= stop <= len(self); up to the end where ``stop`` is None.

        Returns
        -------
        rows, scores, cosines : list
            Row numbers among all rows, best first.
        """
        cdef _Lists lists
        cdef int64_t found
        cdef int64_t i
        lists, found = self.scan(
            query, row_mask, query_intents, risk_filter, boosts, k, start,
            self.columns.n if stop is None else stop, isa, NULL,
        )
        cdef Best* best = &lists.best
        return (
            [best.rows[i] + start for i in range(found)],
            [best.scores[i] for i in range(found)],
            [best.cosines[i] for i in range(found)],
        )

    cdef tuple scan(
        self, query, row_mask, uint16_t query_intents, uint8_t risk_filter, boosts, Py_ssize_t k,
        int64_t start, int64_t stop, isa, int64_t* exact,
    ):
        # The entries found, and how many; `exact`, where not NULL, receives how many float32 rows were scored.
        cdef Borrowed query_view
        query_view.take(query, "query", "f", "float32", 4, 0)
        check_size("query", query_view, self.columns.dimensions * 4)
        return self.scan_for(
            query_view.data(), row_mask, query_intents, risk_filter, boosts, k, start, stop, choose(isa), exact
        )

    cdef tuple scan_for(
        self, const unsigned char* query, row_mask, uint16_t query_intents, uint8_t risk_filter, boosts, Py_ssize_t k,
        int64_t start, int64_t stop, const ScoreKernels* kernels, int64_t* exact,
    ):
        # As `scan`, for a vector of the rows' dimensions.
        cdef Borrowed mask_view
        cdef Scratch scratch
        cdef Rows columns = self.columns
        cdef QuantizedRows small = self.small
        cdef int64_t d = columns.dimensions
        cdef Query asked
        cdef Boosts added
        check_k(k)
        if not 0 <= start <= stop <= columns.n:
            raise ValueError(f"rows {start} to {stop}: expected a range within the {columns.n} rows")
        set_boosts(boosts, &added)
        if row_mask is not None:
            mask_view.take(row_mask, "row_mask", "?B", "uint8", 1, 0)
            check_size("row_mask", mask_view, columns.n)
            columns.mask = mask_view.data() + start
        columns.n = stop - start
        columns.vectors += start * d * 4
        columns.intents += start * 2
        columns.risks += start
        small.codes += start * d
        small.scales += start * 4
        small.errors += start * 4
        if small.nibbles != NULL:
            small.nibbles += start * nibble_bytes(d)
            small.nibble_scales += start * 4
            small.nibble_errors += start * 4
        asked.vector = query
        asked.intents = query_intents
        asked.risk_filter = risk_filter
        cdef _Lists lists = _Lists(min(<int64_t> k, columns.n), 1)
        cdef Best best = lists.best
        cdef unsigned char* space = scratch.make(i8_scratch_bytes(d, best.k))
        if space == NULL:
            raise MemoryError
        cdef int64_t found
        if columns.n * d < MANY_NUMBERS:
            found = kernels.topk_i8(columns, small, asked, added, best, space, exact)
        else:
            with nogil:
                found = kernels.topk_i8(columns, small, asked, added, best, space, exact)
        return lists, found


include "quantizing.pxi"
