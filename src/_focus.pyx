# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""What a request is about: paths, identifiers and signals."""

from cpython.unicode cimport PyUnicode_DecodeUTF8

include "isa.pxi"
include "spans.pxi"

cdef extern from "tipstaff/focus/summary.hpp" namespace "tipstaff" nogil:
    cdef struct Focus:
        ByteView* paths
        int* owners
        int n_paths
        int path_limit
        ByteView* marked
        int n_marked
        ByteView* bare
        int n_bare
        int symbol_limit
        unsigned signals

    const int most_paths "tipstaff::max_focus_paths"
    const int most_symbols "tipstaff::max_focus_symbols"

    bint is_line "tipstaff::focus::is_line"(ByteView) noexcept
    bint collapse "tipstaff::focus::collapse"(ByteView, unsigned char*, int64_t, int64_t*) noexcept

cdef extern from "tipstaff/focus/scanner.hpp" namespace "tipstaff" nogil:
    ctypedef void (*FocusScan)(Focus*, int, ByteView, unsigned) noexcept
    FocusScan scanner_of "tipstaff::focus_scan"(Isa) noexcept

cdef FocusScan SCAN = scanner_of(ISA)

# Signals and symbols are wanted of the request only.
cdef enum:
    SUMMARY_CHARS = 160
    WANT_ALL = 3
# Below this many bytes giving the GIL away costs more than the scan.
cdef enum:
    LONG_TEXT = 8192


cdef inline str text_of(const unsigned char* data, Py_ssize_t size):
    return PyUnicode_DecodeUTF8(<const char*> data, size, "surrogatepass")


def focus_scan(query, tuple history not None=(), *, int max_paths=6, int max_symbols=8, isa=None):
    """Find what a request names.

    Parameters
    ----------
    query
        The request.
    history
        Earlier texts, the oldest first; only their paths are looked for, from the newest on until there are enough.
    max_paths, max_symbols
        How many of each are wanted, 0 to 16.
    isa
        Instruction set; the best by default.

    Returns
    -------
    summary : str
        The query's first 160 characters with each run of white space as one space.
    longer : bool
        Whether there is more of it.
    paths : tuple of str
        Those of the query, then those of the history by their texts' age; none twice.
    symbols : tuple of str
        Those written between backticks, then the others; none twice.
    signals : int
        1 continues, 2 plans, 4 changes code, 8 verifies.

    Raises
    ------
    ValueError
        If a number is out of range, or the machine does not run the instruction set.

    Notes
    -----
    Linear in the length of the texts. Releases the GIL for long ones.
    """
    query = plain_text(query)
    cdef Focus found
    cdef FocusScan scan = SCAN if isa is None else scanner_of(find_isa(isa))
    cdef unsigned char summary[4 * (SUMMARY_CHARS + 2)]
    cdef int64_t summary_size = 0
    cdef bint longer = False
    cdef str line = None
    cdef int owner
    cdef int i
    cdef int number
    cdef list kept = []  # what spans point into
    if not 0 <= max_paths <= most_paths or not 0 <= max_symbols <= most_symbols:
        raise ValueError(
            f"max_paths, max_symbols: expected 0 to {most_paths} and 0 to {most_symbols}, got {max_paths} and {max_symbols}"
        )
    found.n_paths = 0
    found.n_marked = 0
    found.n_bare = 0
    found.signals = 0
    found.path_limit = max_paths
    found.symbol_limit = max_symbols
    cdef ByteView text = any_utf8_view(query, kept)
    if text.size <= SUMMARY_CHARS and is_line(text):
        line = query
        scan(&found, 0, text, WANT_ALL)
    elif text.size < LONG_TEXT:
        longer = collapse(text, summary, SUMMARY_CHARS, &summary_size)
        scan(&found, 0, text, WANT_ALL)
    else:
        with nogil:
            longer = collapse(text, summary, SUMMARY_CHARS, &summary_size)
            scan(&found, 0, text, WANT_ALL)
    number = len(history)
    for owner in range(number, 0, -1):
        if found.n_paths >= max_paths:
            break
        entry = plain_text(history[owner - 1])
        kept.append(entry)
        text = any_utf8_view(entry, kept)
        if text.size < LONG_TEXT:
            scan(&found, owner, text, 0)
        else:
            with nogil:
                scan(&found, owner, text, 0)
    cdef list paths = []
    for i in range(found.n_paths):
        if found.owners[i] == 0:
            paths.append(text_of(found.paths[i].data, found.paths[i].size))
    if len(paths) < found.n_paths:
        for owner in range(1, number + 1):
            for i in range(found.n_paths):
                if found.owners[i] == owner:
                    paths.append(text_of(found.paths[i].data, found.paths[i].size))
    cdef list symbols = []
    for i in range(found.n_marked):
        symbols.append(text_of(found.marked[i].data, found.marked[i].size))
    for i in range(found.n_bare):
        if len(symbols) >= max_symbols:
            break
        name = text_of(found.bare[i].data, found.bare[i].size)
        if name not in symbols:
            symbols.append(name)
    return (
        text_of(summary, summary_size) if line is None else line,
        longer,
        tuple(paths),
        tuple(symbols),
        <int> found.signals,
    )
