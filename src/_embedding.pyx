# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Hash embedding: text to unit vectors, bit for bit those of the JavaScript reference."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.stdlib cimport free, malloc

include "isa.pxi"
include "spans.pxi"

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass HashKernels:
        void embed_ascii(ByteView, int64_t, float*) noexcept
        void embed_utf16le(ByteView, int64_t, float*) noexcept
        int64_t embed_column(const unsigned char*, int, ByteView, int64_t, int64_t, float*, int64_t*) noexcept

    const HashKernels* hash_kernels(Isa) noexcept

cdef const HashKernels* KERNELS = hash_kernels(ISA)

# JavaScript's white space: has U+FEFF, and neither U+0085 nor the separators U+001C to U+001F.
cdef str JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
cdef int64_t MAX_DIMENSIONS = 65536


cdef const HashKernels* choose(object isa) except NULL:
    return KERNELS if isa is None else hash_kernels(find_isa(isa))


cdef int check_dimensions(Py_ssize_t dimensions) except -1:
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"dimensions: expected 1 to {MAX_DIMENSIONS}, got {dimensions}")
    return 0


cdef enum:
    LONG_TEXT = 16384


cdef int embed_text(const HashKernels* kernels, str text, int64_t dimensions, float* out) except -1:
    cdef ByteView span
    cdef bytes units
    if text.isascii():
        span = utf8_view(text)
        # A short text is done sooner than another thread would get the interpreter's lock and this one get it back.
        if span.size < LONG_TEXT:
            kernels.embed_ascii(span, dimensions, out)
        else:
            with nogil:
                kernels.embed_ascii(span, dimensions, out)
    else:
        units = text.lower().strip(JS_SPACE).encode("utf-16-le", "surrogatepass")
        span = bytes_view(units)
        if span.size < LONG_TEXT:
            kernels.embed_utf16le(span, dimensions, out)
        else:
            with nogil:
                kernels.embed_utf16le(span, dimensions, out)
    return 0


def hash_embed(text, Py_ssize_t dimensions=384, *, isa=None):
    """Embed one text.

    The text is lower-cased and trimmed as JavaScript does, and its UTF-16 units are hashed (31-multiplier, modulo
    2**32) to H. Value i is ``float32((sin(int32((i + 1) * H)) + 1) / 2)``; the vector is then divided by its L2 norm.

    Parameters
    ----------
    text
        Any text. Lone surrogates count as units.
    dimensions
        1 to 65536.
    isa
        Instruction set for this call; the default is :func:`isa`. Every one gives the same bits.

    Returns
    -------
    memoryview
        float32, shape (dimensions,), writable, the caller's own.

    Raises
    ------
    ValueError
        If ``dimensions`` is out of range or the machine does not run ``isa``.

    Notes
    -----
    The vector holds only the 32 bits of H: it distinguishes texts, and says nothing about meaning.
    """
    text = plain_text(text)
    check_dimensions(dimensions)
    cdef const HashKernels* kernels = choose(isa)
    out = PyByteArray_FromStringAndSize(NULL, dimensions * 4)
    embed_text(kernels, text, dimensions, <float*> PyByteArray_AS_STRING(out))
    return memoryview(out).cast("f")


def hash_embed_into(text, out, *, isa=None):
    """Embed one text into ``out``, a writable float32 buffer whose length is the number of dimensions."""
    text = plain_text(text)
    cdef const HashKernels* kernels = choose(isa)
    cdef Borrowed vector
    vector.take(out, "out", "f", "float32", 4, 1)
    cdef Py_ssize_t dimensions = vector.size() // 4
    check_dimensions(dimensions)
    embed_text(kernels, text, dimensions, <float*> vector.data())


def hash_embed_batch(
    offsets, data, Py_ssize_t n_rows, Py_ssize_t dimensions, out, *, bint large_offsets=False, isa=None
):
    """Embed every row of an Arrow string column.

    Parameters
    ----------
    offsets
        int32 (int64 where ``large_offsets``), at least n_rows + 1 items; row i is ``data[offsets[i]:offsets[i + 1]]``.
        Of a sliced array, pass the slice of the offsets.
    data
        UTF-8 bytes.
    n_rows, dimensions
        Numbers of rows and of values in each, 1 to 65536.
    out
        Writable float32, shape (n_rows, dimensions).
    large_offsets
        Whether the column is a ``large_string`` one.
    isa
        Instruction set for this call.

    Raises
    ------
    ValueError
        If sizes disagree, offsets leave the data, or a row is not UTF-8. Rows before may have been written.

    Notes
    -----
    Null rows have no text and embed as the empty text. Rows give exactly what :func:`hash_embed` gives.
    """
    check_dimensions(dimensions)
    cdef const HashKernels* kernels = choose(isa)
    if n_rows < 0:
        raise ValueError(f"n_rows: expected 0 or more, got {n_rows}")
    cdef Borrowed bounds
    cdef Borrowed text
    cdef Borrowed vectors
    cdef int offset_bytes = 8 if large_offsets else 4
    if large_offsets:
        bounds.take(offsets, "offsets", "lqLQ", "int64", 8, 0)
    else:
        bounds.take(offsets, "offsets", "iIlL", "int32", 4, 0)
    # An empty column may have no offsets at all.
    if n_rows > 0 and bounds.size() < (n_rows + 1) * offset_bytes:
        raise ValueError(
            f"offsets: {n_rows} rows need {n_rows + 1} offsets of {offset_bytes} bytes, got {bounds.size()} bytes"
        )
    text.take(data, "data", "B", "bytes", 1, 0)
    vectors.take(out, "out", "f", "float32", 4, 1)
    if vectors.size() != n_rows * dimensions * 4:
        raise ValueError(
            f"out: {n_rows} rows of {dimensions} float32 are {n_rows * dimensions * 4} bytes, got {vectors.size()}"
        )
    cdef ByteView span
    span.data = text.data()
    span.size = text.size()
    cdef int64_t count = 0
    cdef int64_t i
    cdef int64_t row
    cdef int64_t* foreign = <int64_t*> malloc((n_rows + 1) * sizeof(int64_t))
    if foreign == NULL:
        raise MemoryError
    try:
        with nogil:
            count = kernels.embed_column(
                bounds.data(), offset_bytes, span, n_rows, dimensions, <float*> vectors.data(), foreign
            )
        if count < 0:
            raise ValueError(f"offsets: those of row {-1 - count} are out of order or outside the data")
        if count > 0:
            starts = memoryview(offsets).cast("B").cast("q" if large_offsets else "i")
            whole = memoryview(data).cast("B")
            for i in range(count):
                row = foreign[i]
                # Lower case of text beyond ASCII is the interpreter's business.
                embed_text(
                    kernels,
                    str(whole[starts[row]:starts[row + 1]], "utf-8"),
                    dimensions,
                    <float*> vectors.data() + row * dimensions,
                )
    finally:
        free(foreign)
