# int8 rows: the entries of the float32 rows from a quarter of their bytes.
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
        query, row_mask, query_intents, risk_filter, boosts, k, isa, &exact
    )
    return lists.slice(0, found), exact


cdef class Int8Rows:
    """Rows with their int8 codes, checked and borrowed once for many queries.

    Parameters
    ----------
    rows, codes, scales, errors, mean, intents, risks
        As for :func:`score_topk_i8`. They stay borrowed while the object lives and must not change.

    Raises
    ------
    TypeError
        If a buffer has items of another type.
    ValueError
        If sizes disagree.
    """

    cdef RowBuffers held
    cdef Borrowed code_view
    cdef Borrowed scale_view
    cdef Borrowed error_view
    cdef Borrowed mean_view
    cdef Rows columns
    cdef QuantizedRows small

    def __cinit__(self, rows, codes, scales, errors, mean, intents, risks):
        self.code_view.take(codes, "codes", "b", "int8", 1, 0)
        self.scale_view.take(scales, "scales", "f", "float32", 4, 0)
        self.error_view.take(errors, "errors", "f", "float32", 4, 0)
        self.mean_view.take(mean, "mean", "f", "float32", 4, 0)
        take_rows(self.held, &self.columns, self.mean_view.size() // 4, rows, intents, risks)
        check_size("codes", self.code_view, self.columns.n * self.columns.dimensions)
        check_size("scales", self.scale_view, self.columns.n * 4)
        check_size("errors", self.error_view, self.columns.n * 4)
        self.small.codes = <const int8_t*> self.code_view.data()
        self.small.scales = self.scale_view.data()
        self.small.errors = self.error_view.data()
        self.small.mean = self.mean_view.data()

    def __len__(self):
        return self.columns.n

    def topk(
        self, query, row_mask=None, *, uint16_t query_intents=0, uint8_t risk_filter=0xFF, boosts=DEFAULT_BOOSTS,
        Py_ssize_t k=5, isa=None,
    ):
        """Return the k best of the rows, as :func:`score_topk_i8` would.

        Parameters
        ----------
        query, row_mask, query_intents, risk_filter, boosts, k, isa
            As for :func:`score_topk_i8`.

        Returns
        -------
        rows, scores, cosines : list
            Best first.
        """
        cdef _Lists lists
        cdef int64_t found
        cdef int64_t i
        lists, found = self.scan(
            query, row_mask, query_intents, risk_filter, boosts, k, isa, NULL
        )
        cdef Best* best = &lists.best
        return (
            [best.rows[i] for i in range(found)],
            [best.scores[i] for i in range(found)],
            [best.cosines[i] for i in range(found)],
        )

    cdef tuple scan(
        self, query, row_mask, uint16_t query_intents, uint8_t risk_filter, boosts, Py_ssize_t k,
        isa, int64_t* exact,
    ):
        # The entries found, and how many; `exact`, where not NULL, receives how many float32 rows were scored.
        cdef const ScoreKernels* kernels = choose(isa)
        cdef Borrowed query_view
        cdef RowBuffers masked
        cdef Scratch scratch
        cdef Rows columns = self.columns
        cdef int64_t d = columns.dimensions
        cdef Query asked
        cdef Boosts added
        check_k(k)
        query_view.take(query, "query", "f", "float32", 4, 0)
        check_size("query", query_view, d * 4)
        set_boosts(boosts, &added)
        take_mask(masked, &columns, row_mask)
        asked.vector = query_view.data()
        asked.intents = query_intents
        asked.risk_filter = risk_filter
        cdef _Lists lists = _Lists(min(<int64_t> k, columns.n), 1)
        cdef Best best = lists.best
        cdef unsigned char* space = scratch.make(i8_scratch_bytes(d, best.k))
        if space == NULL:
            raise MemoryError
        cdef int64_t found
        if columns.n * d < MANY_NUMBERS:
            found = kernels.topk_i8(columns, self.small, asked, added, best, space, exact)
        else:
            with nogil:
                found = kernels.topk_i8(columns, self.small, asked, added, best, space, exact)
        return lists, found
