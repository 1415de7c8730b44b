# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True, cdivision=True
"""Filters, cosine, boosts and the k best, over float32 rows and over int8 rows; what the machine can do at best."""

include "scoring.pxi"


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
    cdef RowBuffers held
    cdef Borrowed query_view
    cdef Rows columns
    cdef Query asked
    cdef Boosts added
    check_k(k)
    set_boosts(boosts, &added)
    query_view.take(query, "query", "f", "float32", 4, 0)
    take_rows(held, &columns, query_view.size() // 4, rows, intents, risks)
    take_mask(held, &columns, row_mask)
    asked.vector = query_view.data()
    asked.intents = query_intents
    asked.risk_filter = risk_filter
    cdef _Lists lists = _Lists(min(<int64_t> k, columns.n), 1)
    cdef Best best = lists.best
    cdef int64_t found
    # Few rows are read sooner than another thread would get the interpreter's lock and this one get it back.
    if columns.n * columns.dimensions < MANY_NUMBERS:
        found = kernels.topk_f32(columns, asked, added, best)
    else:
        with nogil:
            found = kernels.topk_f32(columns, asked, added, best)
    return lists.slice(0, found)


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
    cdef RowBuffers held
    cdef Borrowed query_view
    cdef Borrowed query_intent_view
    cdef Borrowed filter_view
    cdef Scratch scratch
    cdef Scratch count_memory
    cdef Rows columns
    cdef QueryBatch asked
    cdef Boosts added
    check_k(k)
    set_boosts(boosts, &added)
    take_rows(held, &columns, dimensions, rows, intents, risks)
    take_mask(held, &columns, row_mask)
    query_view.take(queries, "queries", "f", "float32", 4, 0)
    query_intent_view.take(query_intents, "query_intents", "Hh", "uint16", 2, 0)
    filter_view.take(risk_filters, "risk_filters", "B", "uint8", 1, 0)
    asked.m = filter_view.size()
    check_size("queries", query_view, asked.m * dimensions * 4)
    check_size("query_intents", query_intent_view, asked.m * 2)
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


include "int8_rows.pxi"


def read_bytes(data, *, isa=None):
    """For benchmarks: read every byte of a buffer once, with the widest loads of an instruction set; return their parity word."""
    cdef const LimitKernels* kernels = limit_kernels(ISA if isa is None else find_isa(isa))
    cdef Borrowed view
    cdef uint64_t sum
    view.take(memoryview(data).cast("B"), "data", "B", "bytes", 1, 0)
    with nogil:
        sum = kernels.read_bytes(view.data(), view.size())
    return sum


def multiply_add(int64_t rounds, *, isa=None):
    """For benchmarks: run float32 multiply-adds at full rate; return how many operations they were (a multiply-add counts two)."""
    cdef const LimitKernels* kernels = limit_kernels(ISA if isa is None else find_isa(isa))
    cdef float value
    with nogil:
        value = kernels.multiply_add(rounds)
    if value != value:
        raise AssertionError("multiply_add gave no number")
    return rounds * kernels.flops_per_round
