# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Pairs of similar token sets, and the most similar of many word sets."""

import os

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp.vector cimport vector

include "spans.pxi"
include "jaccard.pxi"

cdef extern from "tipstaff/similarity/word_sets.hpp" namespace "tipstaff":
    cdef struct WordMatch:
        int32_t slot
        int32_t shared
        int32_t joined

    cdef cppclass WordSetIndex:
        WordSetIndex(double, uint64_t) except +
        WordMatch find(ByteView, int64_t, int64_t) except +
        int32_t add(ByteView, int64_t) except +
        WordMatch find_or_add(ByteView, int64_t, int64_t, int64_t) except +
        void set_mark(int32_t, int64_t) noexcept
        void remove(int32_t) noexcept
        int32_t size() noexcept

cdef int64_t MAX_TEXT_BYTES = 131070
cdef int64_t FIRST_MARK = -(1 << 63) + 1
cdef int64_t LAST_MARK = (1 << 63) - 1


def jaccard_pairs(tokens, offsets, double threshold, Py_ssize_t max_pairs, *, work_limit=None):
    """Return all pairs of sets whose Jaccard similarity is at least a threshold.

    Parameters
    ----------
    tokens
        uint32, flat: the sets one after another, each strictly ascending (hashes of words, say).
    offsets
        int64, shape (n_sets + 1,): set i is ``tokens[offsets[i]:offsets[i + 1]]``.
    threshold
        Above 0, at most 1.
    max_pairs
        The search stops when there would be more.
    work_limit
        Bound on the index entries and tokens looked at; the default is 1024 for each token and set.

    Returns
    -------
    pairs : list of (int, int, float)
        (i, j, similarity) with i < j, in order. Empty sets pair with nothing.
    complete : bool
        False if the search stopped early: then every pair given is right, and some may be missing.

    Raises
    ------
    ValueError
        If a set is not strictly ascending or offsets are not in order.
    """
    cdef Borrowed token_view
    cdef Borrowed offset_view
    check_join(threshold, max_pairs)
    token_view.take(tokens, "tokens", "IL", "uint32", 4, 0)
    offset_view.take(offsets, "offsets", "qlQL", "int64", 8, 0)
    cdef int64_t n_tokens = token_view.size() // 4
    cdef int64_t n_sets = offset_view.size() // 8 - 1
    if n_sets < 0:
        raise ValueError("offsets: expected one more than there are sets, got none")
    if n_tokens >= 1 << 31 or n_sets >= 1 << 31:
        raise ValueError(f"expected fewer than 2**31 tokens and sets, got {n_tokens} and {n_sets}")
    if <size_t> token_view.data() % 4 != 0 or <size_t> offset_view.data() % 8 != 0:
        raise ValueError("tokens and offsets must start at a multiple of their item's size")
    cdef int64_t limit = 1024 * (n_tokens + n_sets) if work_limit is None else work_limit
    cdef vector[JaccardPair] pairs
    cdef JaccardResult result
    cdef const uint32_t* token_data = <const uint32_t*> token_view.data()
    cdef const int64_t* bounds = <const int64_t*> offset_view.data()
    with nogil:
        result = join_sets(token_data, n_tokens, bounds, n_sets, threshold, max_pairs, limit, &pairs)
    if result.status == JaccardStatus.bad_offsets:
        raise ValueError(f"offsets: those of set {result.where} are out of order or outside the tokens")
    if result.status == JaccardStatus.bad_set:
        raise ValueError(f"tokens: those of set {result.where} are not strictly ascending")
    found = []
    cdef size_t i
    cdef int64_t total
    for i in range(pairs.size()):
        total = (
            bounds[pairs[i].first + 1] - bounds[pairs[i].first]
            + bounds[pairs[i].second + 1] - bounds[pairs[i].second]
            - pairs[i].shared
        )
        found.append((pairs[i].first, pairs[i].second, pairs[i].shared / <double> total))
    return found, result.status == JaccardStatus.complete


cdef int take_text(text, ByteView* span) except -1:
    if not isinstance(text, str):
        raise TypeError(f"text: expected str, got {type(text).__name__}")
    span[0] = utf8_view(text)
    if span.size > MAX_TEXT_BYTES:
        raise ValueError(f"text: expected at most {MAX_TEXT_BYTES} bytes, got {span.size}")
    return 0


cdef class WordSets:
    """WordSets(threshold)\n--\n
    Finds, among texts taken as sets of words, the one with the greatest Jaccard similarity.

    A word is a run of ASCII letters, digits, underscores and characters beyond ASCII; case counts beyond ASCII alone.
    Exact: words are compared letter by letter, and no similar text is missed. Texts have numbers, counted from 0, and a
    mark of the caller's, such as a time; questions name the marks that count. A text without words is like no other.

    Parameters
    ----------
    threshold
        Least similarity, above 0, at most 1.

    Notes
    -----
    Calls hold the GIL: they take one or a few microseconds. On an interpreter without one, each object has its lock.
    """

    cdef WordSetIndex* index

    def __cinit__(self, double threshold):
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"threshold: expected above 0 and at most 1, got {threshold}")
        self.index = new WordSetIndex(threshold, <uint64_t> int.from_bytes(os.urandom(8), "little"))

    def __dealloc__(self):
        del self.index

    def __len__(self):
        return self.index.size()

    @cython.critical_section
    def add(self, text, int64_t mark=0):
        """Take in a text and return its number."""
        cdef ByteView span
        take_text(text, &span)
        return self.index.add(span, mark)

    @cython.critical_section
    def find(self, text, int64_t earliest=FIRST_MARK, int64_t latest=LAST_MARK):
        """Return (number, similarity) of the most similar text, the lowest number of equals; (-1, 0.0) if none is."""
        cdef ByteView span
        take_text(text, &span)
        cdef WordMatch found = self.index.find(span, earliest, latest)
        return found.slot, found.shared / <double> found.joined

    @cython.critical_section
    def find_or_add(self, text, int64_t mark=0, int64_t earliest=FIRST_MARK, int64_t latest=LAST_MARK):
        """Return what `find` returns; where nothing is similar, take in the text and return (its number, 0.0)."""
        cdef ByteView span
        take_text(text, &span)
        cdef WordMatch found = self.index.find_or_add(span, mark, earliest, latest)
        return found.slot, found.shared / <double> found.joined

    @cython.critical_section
    def set_mark(self, Py_ssize_t number, int64_t mark):
        """Give a text another mark."""
        if not 0 <= number < self.index.size():
            raise IndexError(f"number: expected 0 to {self.index.size() - 1}, got {number}")
        self.index.set_mark(<int32_t> number, mark)

    @cython.critical_section
    def remove(self, Py_ssize_t number):
        """Let a text be found no more; its number is not given again."""
        if not 0 <= number < self.index.size():
            raise IndexError(f"number: expected 0 to {self.index.size() - 1}, got {number}")
        self.index.remove(<int32_t> number)
