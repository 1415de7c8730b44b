# How int8 rows are made, and the nibbles of them.
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


def nibble_rows(codes, scales, errors, Py_ssize_t dimensions):
    """Return four bits for each code of int8 rows, which `Int8Rows` reads first where rows are many.

    Parameters
    ----------
    codes, scales, errors
        int8 (n, dimensions), float32 (n,), float32 (n,), as :func:`quantize_rows` gives them.
    dimensions
        1 to 65536.

    Returns
    -------
    nibbles, scales, errors : memoryview
        uint8 (n, 64 * ceil(dimensions / 128)), flat, float32 (n,), float32 (n,). A row's codes, 0 where dimensions end,
        are turned 128 at a time, every n-th where there are n times 128: a fixed pattern of signs and the
        Walsh-Hadamard transform, which makes whole numbers of whole numbers and lengths sqrt(128) times as long. The
        row's old scale / 128 times such a number is about ``scale * (2 * nibble - 15)``; the errors are those of the
        row in the terms of :func:`quantize_rows`. Of 128 nibbles the first 64 are in the lower halves of 64 bytes, the
        others in the upper ones.

    Raises
    ------
    TypeError
        If a buffer has items of another type.
    ValueError
        If sizes disagree.
    """
    cdef Borrowed code_view
    cdef Borrowed scale_view
    cdef Borrowed error_view
    code_view.take(codes, "codes", "b", "int8", 1, 0)
    scale_view.take(scales, "scales", "f", "float32", 4, 0)
    error_view.take(errors, "errors", "f", "float32", 4, 0)
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"dimensions: expected 1 to {MAX_DIMENSIONS}, got {dimensions}")
    cdef int64_t n = scale_view.size() // 4
    check_size("codes", code_view, n * dimensions)
    check_size("errors", error_view, n * 4)
    cdef int64_t size = n * nibble_bytes(dimensions)
    # As for codes, rows start at a cache line.
    nibbles = PyByteArray_FromStringAndSize(NULL, size + 64)
    cdef Py_ssize_t start = -<Py_ssize_t> PyByteArray_AS_STRING(nibbles) & 63
    new_scales = PyByteArray_FromStringAndSize(NULL, n * 4)
    new_errors = PyByteArray_FromStringAndSize(NULL, n * 4)
    cdef unsigned char* nibble_data = <unsigned char*> PyByteArray_AS_STRING(nibbles) + start
    cdef float* scale_data = <float*> PyByteArray_AS_STRING(new_scales)
    cdef float* error_data = <float*> PyByteArray_AS_STRING(new_errors)
    with nogil:
        make_nibble_rows(
            <const int8_t*> code_view.data(), scale_view.data(), error_view.data(), n, dimensions, nibble_data,
            scale_data, error_data,
        )
    return memoryview(nibbles)[start:start + size], memoryview(new_scales).cast("f"), memoryview(new_errors).cast("f")
