# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Pairs of similar token sets."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

cdef extern from "buffers.hpp" namespace "tipstaff":
    cdef cppclass Borrowed:
        int take(object, const char*, const char*, const char*, Py_ssize_t, int) except -1
        unsigned char* data() nogil
        Py_ssize_t size() nogil

cdef extern from "tipstaff/jaccard.hpp" namespace "tipstaff" nogil:
    cdef struct JaccardPair:
        int32_t first
        int32_t second
        int32_t shared

    cdef enum class JaccardStatus(int):
        complete
        stopped
        bad_offsets
        bad_set

    cdef struct JaccardResult:
        JaccardStatus status
        int64_t where

    JaccardResult join_sets "tipstaff::jaccard_pairs"(
        const uint32_t*, int64_t, const int64_t*, int64_t, double, int64_t, int64_t, vector[JaccardPair]*
    ) except +


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
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold: expected above 0 and at most 1, got {threshold}")
    if max_pairs < 0:
        raise ValueError(f"max_pairs: expected 0 or more, got {max_pairs}")
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
    cdef const int64_t* places = <const int64_t*> offset_view.data()
    with nogil:
        result = join_sets(token_data, n_tokens, places, n_sets, threshold, max_pairs, limit, &pairs)
    if result.status == JaccardStatus.bad_offsets:
        raise ValueError(f"offsets: those of set {result.where} do not lie in order within the tokens")
    if result.status == JaccardStatus.bad_set:
        raise ValueError(f"tokens: those of set {result.where} are not strictly ascending")
    found = []
    cdef size_t i
    cdef int64_t total
    for i in range(pairs.size()):
        total = (
            places[pairs[i].first + 1] - places[pairs[i].first]
            + places[pairs[i].second + 1] - places[pairs[i].second]
            - pairs[i].shared
        )
        found.append((pairs[i].first, pairs[i].second, pairs[i].shared / <double> total))
    return found, result.status == JaccardStatus.complete
