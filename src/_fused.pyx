# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""The best rules for a task by meaning, words and priors, over the blob that compiling writes."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int8_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

include "isa.pxi"
include "spans.pxi"
include "lexicon.pxi"

cdef extern from "tipstaff/scoring/fused_find.hpp" namespace "tipstaff" nogil:
    cdef cppclass FusedKernels:
        pass

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass WordPieces:
        int64_t dimensions

    cdef enum class WordPieceFault(int):
        none

    WordPieceFault open_wordpieces(ByteView, WordPieces*) noexcept

    cdef cppclass WordPieceKernels:
        pass

    const WordPieceKernels* wordpiece_kernels(Isa) noexcept

    const FusedKernels* fused_kernels(Isa) noexcept

    cdef cppclass Best:
        int64_t k
        int32_t* rows
        float* scores
        float* cosines

cdef extern from "tipstaff/tasks/query.hpp" namespace "tipstaff" nogil:
    cdef cppclass QueryWords:
        void read(ByteView) noexcept
        int count() noexcept
        ByteView span(int) noexcept

cdef extern from "tipstaff/scoring/signs.hpp" namespace "tipstaff" nogil:
    const int64_t max_sign_dimensions
    int64_t sign_bytes(int64_t, int64_t) noexcept
    int64_t rotation_floats(int64_t) noexcept
    void make_signs "tipstaff::sign_rows"(
        const int8_t*, const unsigned char*, int64_t, int64_t, float*, float*, unsigned char*, float*
    ) noexcept

cdef extern from "tipstaff/scoring/fused_find.hpp" namespace "tipstaff" nogil:
    cdef cppclass FusedHead:
        int64_t n
        int64_t dimensions
        int64_t n_signs
        float floor[8]

    cdef cppclass FusedIndex:
        FusedHead head
        const unsigned char* priors

    cdef struct FusedExtras:
        const unsigned char* mask
        const unsigned char* meanings
        const unsigned char* bonus
        uint32_t intents
        float intent_boost

    bint open_fused(ByteView, FusedIndex*) noexcept

    cdef cppclass FusedQuery:
        pass

    cdef struct FusedAnswer:
        int64_t found
        float relevance

cdef extern from "fused_calls.hpp" namespace "tipstaff" nogil:
    int64_t all_terms(const Lexicon&, ByteView, uint64_t*, int64_t) noexcept
    FusedAnswer search(
        const WordPieceKernels&, const FusedKernels&, const WordPieces&, const Lexicon&, const FusedIndex&, ByteView, ByteView,
        ByteView, const FusedExtras&, int64_t, unsigned char*, const Best&
    ) noexcept
    int64_t search_bytes(int64_t) noexcept
    int64_t MOST_TERMS

cdef const WordPieceKernels* PIECES = wordpiece_kernels(ISA)
cdef const FusedKernels* KERNELS = fused_kernels(ISA)
# Where signs choose, candidates are so many times the rules that are wanted, or all rules are scored.
cdef enum:
    CANDIDATES_EACH = 8


cdef str encodable(str text):
    # Lone surrogates end words, as question marks do.
    cdef Py_ssize_t size = 0
    try:
        PyUnicode_AsUTF8AndSize(text, &size)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def query_words(text):
    """Return a text's words in lower case: camelCase taken apart, of scripts without spaces pairs of characters.

    Parameters
    ----------
    text
        Its first 8,192 bytes of UTF-8 are read, at most 512 words.
    """
    cdef QueryWords words
    cdef ByteView span
    cdef int i
    text = encodable(plain_text(text))
    words.read(utf8_view(text))
    found = []
    for i in range(words.count()):
        span = words.span(i)
        found.append((<const char*> span.data)[:span.size].decode())
    return found


def query_terms(lexicon, text):
    """Return the terms of a text by which rules are looked up, in its order, each as often as it comes.

    Parameters
    ----------
    lexicon
        A lexicon of `tipstaff.kernels.formats.lexicon.make_lexicon` whose values are those of
        ``native/include/tipstaff/tasks/query.hpp``.
    text
        Its first 8,192 bytes of UTF-8 are read.

    Returns
    -------
    list of int
        64-bit hashes of stems, or of the one word that stands for several of one meaning.
    """
    text = plain_text(text)
    cdef Borrowed view
    cdef Lexicon opened
    take_lexicon(view, lexicon, &opened)
    text = encodable(text)
    cdef ByteView span = utf8_view(text)
    cdef uint64_t* found = <uint64_t*> malloc(MOST_TERMS * 8)
    if found == NULL:
        raise MemoryError
    cdef int64_t n
    cdef int64_t i
    try:
        if span.size < 4096:
            n = all_terms(opened, span, found, MOST_TERMS)
        else:
            with nogil:
                n = all_terms(opened, span, found, MOST_TERMS)
        return [found[i] for i in range(n)]
    finally:
        free(found)


def sign_rows(codes, scales, Py_ssize_t dimensions):
    """Return the signs of rows, by which `FusedSearch` chooses among very many.

    Parameters
    ----------
    codes, scales
        int8 (n, dimensions), float32 (n,): a row is its scale times its codes.
    dimensions
        1 to 1024.

    Returns
    -------
    mean, factors, bits : memoryview
        float32 (dimensions,), the mean of the rows; float32 (n,); uint8, for each 64 rows and each 8 of the rotated
        dimensions (the next power of two, at least 8; from 64 on three quarters of them) the 64 rows' bytes, the lowest
        dimension in the lowest bit.

    Raises
    ------
    ValueError
        If sizes disagree.
    """
    cdef Borrowed code_view
    cdef Borrowed scale_view
    cdef Scratch scratch
    code_view.take(codes, "codes", "b", "int8", 1, 0)
    scale_view.take(scales, "scales", "f", "float32", 4, 0)
    if not 1 <= dimensions <= max_sign_dimensions:
        raise ValueError(f"dimensions: expected 1 to {max_sign_dimensions}, got {dimensions}")
    cdef int64_t n = scale_view.size() // 4
    if code_view.size() != n * dimensions:
        raise ValueError(f"codes: expected {n * dimensions} bytes, got {code_view.size()}")
    mean = bytearray(dimensions * 4)
    factors = bytearray(n * 4)
    bits = bytearray(sign_bytes(n, dimensions))
    cdef float* means = <float*> PyByteArray_AS_STRING(mean)
    cdef float* factor = <float*> PyByteArray_AS_STRING(factors)
    cdef unsigned char* bit = <unsigned char*> PyByteArray_AS_STRING(bits)
    cdef float* space = <float*> scratch.make(rotation_floats(dimensions) * sizeof(float))
    if space == NULL:
        raise MemoryError
    with nogil:
        make_signs(<const int8_t*> code_view.data(), scale_view.data(), n, dimensions, means, factor, bit, space)
    return memoryview(mean).cast("f"), memoryview(factors).cast("f"), memoryview(bits)


cdef enum:
    FEW_RULES = 4096


cdef class FusedSearch:
    """Finds the rules for tasks over one blob, checked and borrowed once.

    Parameters
    ----------
    index
        What `tipstaff.guidance.retrieval.fused_index` writes.
    lexicon
        As for `query_terms`.
    table
        The word-piece table of the rows, None where the index has none. All three stay borrowed and must not change.

    Raises
    ------
    ValueError
        If one of them is not what it should be, or the dimensions differ.
    """

    cdef Borrowed _index_view
    cdef Borrowed _lexicon_view
    cdef Borrowed _table_view
    cdef FusedIndex _index
    cdef Lexicon _lexicon
    cdef WordPieces _table

    def __cinit__(self, index, lexicon, table=None):
        cdef ByteView span
        self._index_view.take(index, "index", "B", "bytes", 1, 0)
        span.data = self._index_view.data()
        span.size = self._index_view.size()
        if not open_fused(span, &self._index):
            raise ValueError("index: not a valid index of rules")
        take_lexicon(self._lexicon_view, lexicon, &self._lexicon)
        if table is not None:
            self._table_view.take(table, "table", "B", "bytes", 1, 0)
            span.data = self._table_view.data()
            span.size = self._table_view.size()
            if open_wordpieces(span, &self._table) != WordPieceFault.none:
                raise ValueError("table: not a valid word-piece table")
        cdef int64_t dimensions = 0 if table is None else self._table.dimensions
        if dimensions != self._index.head.dimensions:
            raise ValueError(
                f"index: expected {dimensions} dimensions as the table has, got {self._index.head.dimensions}"
            )

    def __len__(self):
        return self._index.head.n

    @property
    def floor(self):
        """The relevance below which no rule is about a task."""
        return self._index.head.floor[7]

    def prior(self, Py_ssize_t row):
        """Return what a rule's score holds whatever the task is."""
        if not 0 <= row < <int64_t> self._index.head.n:
            raise IndexError(f"row: expected 0 to {self._index.head.n - 1}, got {row}")
        cdef float value
        memcpy(&value, self._index.priors + 4 * row, 4)
        return value

    def find(
        self, task, kinds="", path="", *, row_mask=None, meanings=None, bonus=None,
        uint16_t query_intents=0, float intent_boost=0.0, Py_ssize_t k=5, Py_ssize_t candidates=1024, isa=None,
    ):
        """Return the k best rules for a task.

        Parameters
        ----------
        task
            As its author wrote it.
        kinds, path
            Words that the file worked on stands for, and its path without the extension; empty where none is named.
        row_mask
            bool or uint8 (n,): the rules that may be given; all where None.
        meanings
            float32 (n,): how near each rule is to the task; where None, what rows and table say.
        bonus
            float32 (n,), added to the scores; nothing where None.
        query_intents, intent_boost
            The task's intents as bits, and what a rule gains that shares one.
        k
            How many at most.
        candidates
            Where the index holds the signs of its rows (`sign_rows`), so many rules are scored: those whose estimates
            are the best, words, prior and bonus included, so that no filter costs recall. All are scored where this is
            less than eight times `k`, and where so few may be given. Which are scored is the same on every machine.
        isa
            Instruction set for this call; the default is :func:`isa`.

        Returns
        -------
        rows, scores, meanings : list
            Best first; ties in the order of the rows. `meanings` are the products of the vectors.
        relevance : float
            To be compared with `floor`.
        """
        task = plain_text(task)
        kinds = plain_text(kinds)
        path = plain_text(path)
        cdef Borrowed mask_view
        cdef Borrowed meaning_view
        cdef Borrowed bonus_view
        cdef FusedExtras extras
        extras.mask = NULL
        extras.meanings = NULL
        extras.bonus = NULL
        extras.intents = query_intents
        extras.intent_boost = intent_boost
        cdef int64_t n = self._index.head.n
        if k < 0:
            raise ValueError(f"k is {k}; it must be 0 or more")
        if row_mask is not None:
            mask_view.take(row_mask, "row_mask", "?B", "uint8", 1, 0)
            if mask_view.size() != n:
                raise ValueError(f"row_mask: expected {n} bytes, got {mask_view.size()}")
            extras.mask = mask_view.data()
        if meanings is not None:
            meaning_view.take(meanings, "meanings", "f", "float32", 4, 0)
            if meaning_view.size() != n * 4:
                raise ValueError(f"meanings: expected {n * 4} bytes, got {meaning_view.size()}")
            extras.meanings = meaning_view.data()
        if bonus is not None:
            bonus_view.take(bonus, "bonus", "f", "float32", 4, 0)
            if bonus_view.size() != n * 4:
                raise ValueError(f"bonus: expected {n * 4} bytes, got {bonus_view.size()}")
            extras.bonus = bonus_view.data()
        cdef const WordPieceKernels* pieces = PIECES if isa is None else wordpiece_kernels(find_isa(isa))
        cdef const FusedKernels* kernels = KERNELS if isa is None else fused_kernels(find_isa(isa))
        task, kinds, path = encodable(task), encodable(kinds), encodable(path)
        cdef ByteView asked = utf8_view(task)
        cdef ByteView kind_words = utf8_view(kinds)
        cdef ByteView file_path = utf8_view(path)
        cdef Best best
        best.k = k if k < n else n
        cdef int64_t chosen = min(<int64_t> candidates, n)
        if self._index.head.n_signs == 0 or meanings is not None or chosen < CANDIDATES_EACH * best.k:
            chosen = 0
        cdef Scratch scratch
        cdef Scratch found
        cdef unsigned char* memory = scratch.make(search_bytes(chosen))
        best.rows = <int32_t*> found.make(best.k * 12 + 12)
        if memory == NULL or best.rows == NULL:
            raise MemoryError
        best.scores = <float*> (best.rows + best.k)
        best.cosines = best.scores + best.k
        cdef FusedAnswer answer
        cdef int64_t i
        # Few rules are found sooner than another thread would get the interpreter's lock and this one get it back.
        if n < FEW_RULES and asked.size < 4096:
            answer = search(
                pieces[0], kernels[0], self._table, self._lexicon, self._index, asked, kind_words, file_path, extras, chosen, memory,
                best,
            )
        else:
            with nogil:
                answer = search(
                    pieces[0], kernels[0], self._table, self._lexicon, self._index, asked, kind_words, file_path, extras, chosen,
                    memory, best,
                )
        return (
            [best.rows[i] for i in range(answer.found)],
            [best.scores[i] for i in range(answer.found)],
            [best.cosines[i] for i in range(answer.found)],
            answer.relevance,
        )
