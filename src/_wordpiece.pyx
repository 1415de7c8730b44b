# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Word-piece embedding: text to unit vectors from a static table of rows."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libcpp.vector cimport vector

include "isa.pxi"
include "spans.pxi"

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass WordPieces:
        int64_t dimensions
        int64_t n_pieces

    cdef enum class WordPieceFault(int):
        none

    WordPieceFault open_wordpieces(ByteView, WordPieces*) noexcept

    cdef cppclass WordPieceKernels:
        void embed(const WordPieces&, ByteView, float*) noexcept
        int64_t embed_column(const WordPieces&, const unsigned char*, int, ByteView, int64_t, float*, float*) noexcept

    const WordPieceKernels* wordpiece_kernels(Isa) noexcept

    int64_t add_weighted "tipstaff::blend_rows"(
        float*, int64_t, int64_t, const float*, int64_t, const unsigned char*, float
    ) noexcept

cdef extern from "wordpiece_names.hpp" namespace "tipstaff":
    void split_names(const WordPieces&, ByteView, vector[ByteView]*) except + nogil

cdef const WordPieceKernels* KERNELS = wordpiece_kernels(ISA)

# In the order of WordPieceFault.
cdef tuple FAULTS = (
    "",
    "truncated header",
    "wrong magic number",
    "its version is not 1",
    "its number of dimensions is not a multiple of 16 up to 1024",
    "its number of pieces is not between 1 and 65534",
    "its number of slots is not a power of two above the number of pieces",
    "its longest piece is not of 1 to 32 characters",
    "its size differs from the one in its header",
    "a section lies outside it",
)


cdef const WordPieceKernels* choose(object isa) except NULL:
    return KERNELS if isa is None else wordpiece_kernels(find_isa(isa))


cdef int open_table(Borrowed& file, object table, WordPieces* words) except -1:
    file.take(table, "table", "B", "bytes", 1, 0)
    cdef WordPieceFault fault = open_wordpieces(buffer_view(file), words)
    if fault != WordPieceFault.none:
        raise ValueError(f"table: not a valid word-piece table: {FAULTS[<int> fault]}")
    return 0


def wordpiece_shape(table):
    """Return the shape of a table, from its header.

    Parameters
    ----------
    table
        Bytes of a table file, a mapped file as a rule; :mod:`tipstaff.kernels.formats.wordpiece` states the layout.

    Returns
    -------
    (int, int)
        Dimensions and number of pieces.

    Raises
    ------
    ValueError
        If these bytes are not such a file, or not all of it.
    """
    cdef Borrowed file
    cdef WordPieces words
    open_table(file, table, &words)
    return words.dimensions, words.n_pieces


def wordpiece_embed(table, text, *, isa=None):
    """Embed one text.

    Parameters
    ----------
    table
        Bytes of a table file. What they hold is checked as it is read: of damaged ones the vector is wrong, and nothing
        outside them is touched.
    text
        Any text.
    isa
        Instruction set for this call; the default is :func:`isa`. Every one gives the same bits.

    Returns
    -------
    memoryview
        float32, shape (dimensions,), of length 1, or zeros where the text has neither letters nor digits; writable, the
        caller's own.

    Raises
    ------
    ValueError
        If ``table`` is not a table, or the machine does not run ``isa``.
    """
    text = plain_text(text)
    cdef const WordPieceKernels* kernels = choose(isa)
    cdef Borrowed file
    cdef WordPieces words
    cdef list kept = []
    cdef ByteView span = any_utf8_view(text, kept)
    cdef float* target
    open_table(file, table, &words)
    out = PyByteArray_FromStringAndSize(NULL, words.dimensions * 4)
    target = <float*> PyByteArray_AS_STRING(out)
    # A short text is done sooner than another thread would get the interpreter's lock and this one get it back.
    if span.size < 4096:
        kernels.embed(words, span, target)
    else:
        with nogil:
            kernels.embed(words, span, target)
    return memoryview(out).cast("f")


def wordpiece_embed_batch(
    table, offsets, data, Py_ssize_t n_rows, out, *, lengths=None, bint large_offsets=False, isa=None
):
    """Embed every row of an Arrow string column.

    Parameters
    ----------
    table
        Bytes of a table file.
    offsets
        int32 (int64 where ``large_offsets``), at least n_rows + 1 items; row i is ``data[offsets[i]:offsets[i + 1]]``.
        Of a sliced array, pass the slice of the offsets.
    data
        UTF-8 bytes. What is not UTF-8 ends words.
    n_rows
        Number of rows.
    out
        Writable float32, shape (n_rows, dimensions).
    lengths
        Writable float32, shape (n_rows,), for the lengths of the sums before they are brought to 1: what the table says
        of a word that every text contains is short. None where they are not wanted.
    large_offsets
        Whether the column is a ``large_string`` one.
    isa
        Instruction set for this call.

    Raises
    ------
    ValueError
        If ``table`` is not a table, sizes disagree, or offsets leave the data. Rows before may have been written.

    Notes
    -----
    Null rows have no text and embed as the empty text. Rows give exactly what :func:`wordpiece_embed` gives.
    """
    cdef const WordPieceKernels* kernels = choose(isa)
    cdef Borrowed file
    cdef Borrowed positions
    cdef Borrowed text
    cdef Borrowed vectors
    cdef Borrowed length_view
    cdef float* sums = NULL
    cdef WordPieces words
    cdef int offset_bytes = 8 if large_offsets else 4
    open_table(file, table, &words)
    if n_rows < 0:
        raise ValueError(f"n_rows: expected 0 or more, got {n_rows}")
    if large_offsets:
        positions.take(offsets, "offsets", "lqLQ", "int64", 8, 0)
    else:
        positions.take(offsets, "offsets", "iIlL", "int32", 4, 0)
    # An empty column may have no offsets at all.
    if n_rows > 0 and positions.size() // offset_bytes <= n_rows:
        raise ValueError(f"offsets: {n_rows} rows need {n_rows + 1} offsets, got {positions.size() // offset_bytes}")
    text.take(data, "data", "B", "bytes", 1, 0)
    vectors.take(out, "out", "f", "float32", 4, 1)
    if n_rows > (1 << 40) // words.dimensions or vectors.size() != n_rows * words.dimensions * 4:
        raise ValueError(
            f"out: {n_rows} rows of {words.dimensions} float32 are {n_rows * words.dimensions} items, "
            f"got {vectors.size() // 4}"
        )
    if lengths is not None:
        length_view.take(lengths, "lengths", "f", "float32", 4, 1)
        if length_view.size() != n_rows * 4:
            raise ValueError(f"lengths: expected {n_rows} float32, got {length_view.size() // 4}")
        sums = <float*> length_view.data()
    cdef ByteView span
    span.data = text.data()
    span.size = text.size()
    cdef int64_t done
    with nogil:
        done = kernels.embed_column(words, positions.data(), offset_bytes, span, n_rows, <float*> vectors.data(), sums)
    if done < 0:
        raise ValueError(f"offsets: those of row {-1 - done} are out of order or outside the data")


def blend_rows(rows, others, positions, double weight, Py_ssize_t dimensions):
    """Add to each row a weighted one of some others, and bring the sums to length 1, in place.

    Parameters
    ----------
    rows
        Writable float32, shape (n_rows, dimensions).
    others
        float32, shape (n_others, dimensions); starts at a multiple of 4 bytes.
    positions
        int32, shape (n_rows,): for each row the one of ``others``.
    weight
        Of what is added.
    dimensions
        A multiple of 16, up to 1024.

    Raises
    ------
    ValueError
        If sizes disagree or a position is not one of ``others``. Nothing is written then.

    Notes
    -----
    Sums that are zero or not finite become zeros. The same bits on every machine.
    """
    cdef Borrowed row_view
    cdef Borrowed other_view
    cdef Borrowed position_view
    if dimensions <= 0 or dimensions % 16 != 0 or dimensions > 1024:
        raise ValueError(f"dimensions: expected a multiple of 16 up to 1024, got {dimensions}")
    row_view.take(rows, "rows", "f", "float32", 4, 1)
    other_view.take(others, "others", "f", "float32", 4, 0)
    position_view.take(positions, "positions", "iIlL", "int32", 4, 0)
    if row_view.size() % (4 * dimensions) != 0 or other_view.size() % (4 * dimensions) != 0:
        raise ValueError(f"rows and others: expected whole rows of {dimensions} float32")
    cdef int64_t n_rows = row_view.size() // (4 * dimensions)
    cdef int64_t n_others = other_view.size() // (4 * dimensions)
    if position_view.size() != 4 * n_rows:
        raise ValueError(f"positions: {n_rows} rows need as many, got {position_view.size() // 4}")
    if <size_t> other_view.data() % 4 != 0:
        raise ValueError("others: must start at a multiple of 4 bytes")
    cdef int64_t done
    with nogil:
        done = add_weighted(
            <float*> row_view.data(), n_rows, dimensions, <const float*> other_view.data(), n_others,
            position_view.data(), <float> weight,
        )
    if done < 0:
        raise ValueError(f"positions: that of row {-1 - done} is not one of the {n_others} others")


def wordpiece_split(table, text):
    """Return the pieces of a text in its order; continuations of a word begin with ``##``.

    Characters that have no piece (those of scripts other than Latin) are not among them.

    Raises
    ------
    ValueError
        If ``table`` is no table.
    """
    text = plain_text(text)
    cdef Borrowed file
    cdef WordPieces words
    cdef vector[ByteView] names
    cdef ByteView span
    cdef size_t i
    open_table(file, table, &words)
    cdef bytes encoded = text.encode("utf-8", "surrogatepass")
    span.data = <const unsigned char*> PyBytes_AS_STRING(encoded)
    span.size = PyBytes_GET_SIZE(encoded)
    split_names(words, span, &names)
    return [(<const char*> names[i].data)[:names[i].size].decode("latin-1") for i in range(names.size())]
