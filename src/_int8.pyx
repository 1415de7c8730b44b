# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True, cdivision=True
"""Fused scoring over int8 rows: the entries of the float32 rows from a quarter of their bytes."""

from libc.stdint cimport uint32_t
from libc.string cimport memcpy

include "scoring.pxi"
include "tasks.pxi"

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass WordPieces:
        int64_t dimensions

    cdef enum class WordPieceFault(int):
        none

    WordPieceFault open_wordpieces(Span, WordPieces*) noexcept

    cdef cppclass WordPieceKernels:
        void embed(const WordPieces&, Span, float*) noexcept

    const WordPieceKernels* wordpiece_kernels(Isa) noexcept

cdef enum:
    PLACE_BYTES = 16384  # of a task are read for places
    WORD_DIMENSIONS = 1024  # at most, of a word-piece table

cdef const WordPieceKernels* WORD_KERNELS = wordpiece_kernels(ISA)

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


# Bytes of a task from which on another thread may run meanwhile.
cdef enum:
    LONG_TASK = 4096


cdef class TaskSearch:
    """Finds the rows that are nearest to tasks, from a task's text in one call.

    Parameters
    ----------
    rows
        Those that are searched.
    lexicon
        As for `TaskReader`.
    table
        A word-piece table with the rows' dimensions; see `wordpiece_shape`. It stays borrowed and must not change.

    Raises
    ------
    ValueError
        If `lexicon` or `table` is none, or the dimensions differ.
    """

    cdef Int8Rows _rows
    cdef bytes _bytes
    cdef Borrowed _table_view
    cdef IntentLexicon _lexicon
    cdef WordPieces _words

    def __init__(self, Int8Rows rows not None, lexicon, table):
        if self._bytes is not None:
            raise RuntimeError("a TaskSearch is made once")
        cdef Span span
        self._bytes = bytes(memoryview(lexicon))
        span.data = <const unsigned char*> <const char*> self._bytes
        span.size = len(self._bytes)
        if not self._lexicon.open(span) or not self._lexicon.check():
            raise ValueError("lexicon: not a valid lexicon; make one with tipstaff.kernels.formats.intent_table")
        self._table_view.take(table, "table", "B", "bytes", 1, 0)
        span.data = self._table_view.data()
        span.size = self._table_view.size()
        if open_wordpieces(span, &self._words) != WordPieceFault.none:
            raise ValueError("table: not a valid word-piece table")
        if self._words.dimensions != rows.columns.dimensions or self._words.dimensions > WORD_DIMENSIONS:
            raise ValueError(
                f"table: expected the {rows.columns.dimensions} dimensions of the rows, got {self._words.dimensions}"
            )
        self._rows = rows

    def find(
        self, str task not None, row_mask=None, *, query_intents=None, uint8_t risk_filter=0xFF, boosts=DEFAULT_BOOSTS,
        Py_ssize_t k=5,
    ):
        """Return what kind of work a task asks for, and the k best rows.

        Parameters
        ----------
        task
            As its author wrote it.
        query_intents
            The task's intent bits; where None, the bit of the intent that is read.
        row_mask, risk_filter, boosts, k
            As for :func:`score_topk_i8`.

        Returns
        -------
        tuple or None
            As `TaskReader.read` gives them, the number of the intent and the confidence; as `Int8Rows.topk` for
            `wordpiece_embed` of the task, row numbers, scores and cosines. None where the task is not ASCII or names
            a place (`task_places`).
        """
        cdef Py_ssize_t size = 0
        cdef Span span
        cdef Places places
        cdef IntentRead read
        cdef char memory[2 * PLACE_BYTES]
        cdef float query[WORD_DIMENSIONS]
        cdef int64_t found
        cdef int64_t i
        cdef _Lists lists
        if self._rows is None:
            raise ValueError("rows: expected at least one")
        if not TIPSTAFF_IS_ASCII(task):
            return None
        cdef const char* text = PyUnicode_AsUTF8AndSize(task, &size)
        span.data = <const unsigned char*> text
        span.size = size
        if size < LONG_TASK:
            find_places(string_view(text, <size_t> size), memory, &places)
            read = read_intent(self._lexicon, span, False)
            WORD_KERNELS.embed(self._words, span, query)
        else:
            with nogil:
                find_places(string_view(text, <size_t> size), memory, &places)
                read = read_intent(self._lexicon, span, False)
                WORD_KERNELS.embed(self._words, span, query)
        if places.count > 0:
            return None
        cdef uint16_t bits = <uint16_t> (1 << read.intent) if query_intents is None else query_intents
        lists, found = self._rows.scan_for(
            <const unsigned char*> query, row_mask, bits, risk_filter, boosts, k, 0, self._rows.columns.n, KERNELS, NULL
        )
        cdef Best* best = &lists.best
        return (
            read.intent,
            confidence_of(read),
            [best.rows[i] for i in range(found)],
            [best.scores[i] for i in range(found)],
            [best.cosines[i] for i in range(found)],
        )


include "quantizing.pxi"
