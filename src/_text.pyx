# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Texts: what a lexicon says of their words, which are alike or opposite, and pieces joined with one copy."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector

include "spans.pxi"
include "lexicon.pxi"
include "jaccard.pxi"

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)
    Py_ssize_t PyUnicode_CopyCharacters(
        object to, Py_ssize_t to_start, object source, Py_ssize_t start, Py_ssize_t how_many
    ) except -1
    Py_UCS4 PyUnicode_MAX_CHAR_VALUE(object)
    object PyUnicode_Substring(object, Py_ssize_t start, Py_ssize_t end)
    Py_ssize_t PyUnicode_GET_LENGTH(object)

cdef extern from "tipstaff/text/columns.hpp" namespace "tipstaff" nogil:
    int64_t padding

    cdef struct TextColumn:
        const int32_t* offsets
        int64_t count
        ByteView data

    int64_t misplaced(const TextColumn&) noexcept
    uint64_t text_value(const Lexicon&, ByteView, unsigned char*) noexcept
    void read_column(
        const Lexicon&, const TextColumn&, int64_t, vector[uint64_t]*, vector[unsigned char]*, vector[int64_t]*
    ) except +

cdef extern from "tipstaff/similarity/opposed.hpp" namespace "tipstaff" nogil:
    bint find_opposed "tipstaff::opposed_texts"(
        const Lexicon&, const TextColumn&, int64_t, vector[pair[int32_t, int32_t]]*
    ) except +
    void read_topics(
        const Lexicon&, const TextColumn&, int64_t, vector[uint32_t]*, vector[int64_t]*
    ) except +


cdef int64_t at_once = 4096  # of so few bytes all is done sooner than another thread would get the GIL


cdef int open_texts(Borrowed& bounds, Borrowed& bytes_, object offsets, object data, TextColumn* texts) except -1:
    bounds.take(offsets, "offsets", "il", "int32", 4, 0)
    bytes_.take(data, "data", "B", "bytes", 1, 0)
    if bounds.size() < 4:
        raise ValueError("offsets: expected one more than there are texts, got none")
    if <size_t> bounds.data() % 4 != 0:
        raise ValueError("offsets must start at a multiple of 4 bytes")
    texts.offsets = <const int32_t*> bounds.data()
    texts.count = bounds.size() // 4 - 1
    texts.data = buffer_view(bytes_)
    cdef int64_t where = misplaced(texts[0])
    if where >= 0:
        raise ValueError(f"offsets: those of text {where} are out of order or outside the data")
    return 0


def word_values(lexicon, text):
    """Return what the words of one text mean: their values in a lexicon, joined bit by bit.

    Parameters
    ----------
    lexicon
        Bytes that `tipstaff.kernels.formats.lexicon.make_lexicon` made.
    text
        ASCII, or a text whose words are set apart by spaces and in lower case.

    Returns
    -------
    int
        0 where the lexicon has none of the words.

    Raises
    ------
    ValueError
        If `lexicon` is invalid.
    UnicodeEncodeError
        If the text holds a lone surrogate.
    """
    text = plain_text(text)
    cdef Borrowed file
    cdef Lexicon table
    take_lexicon(file, lexicon, &table)
    cdef ByteView raw = utf8_view(text)
    cdef unsigned char brief[536]  # 512, and the padding
    cdef vector[unsigned char] room
    cdef uint64_t value
    # A short text is done sooner than another thread would get the GIL.
    if raw.size <= 512:
        return text_value(table, raw, brief)
    room.resize(raw.size + padding)
    with nogil:
        value = text_value(table, raw, room.data())
    return value


def read_words(lexicon, offsets, data, Py_ssize_t max_words):
    """Return for each text of a column what its words mean, and the words themselves.

    Parameters
    ----------
    lexicon
        Bytes that `tipstaff.kernels.formats.lexicon.make_lexicon` made.
    offsets
        int32, shape (n_texts + 1,): text i is ``data[offsets[i]:offsets[i + 1]]``.
    data
        Bytes: texts as for `word_values`.
    max_words
        How many words of a text count for its value.

    Returns
    -------
    list of (int, bytes)
        The values of its words joined bit by bit; its words in lower case, a space between two.

    Raises
    ------
    ValueError
        If `lexicon` is invalid, or offsets are not in order.
    """
    cdef Borrowed file, bounds, bytes_
    cdef Lexicon table
    cdef TextColumn texts
    take_lexicon(file, lexicon, &table)
    open_texts(bounds, bytes_, offsets, data, &texts)
    cdef vector[unsigned char] joined
    cdef vector[uint64_t] values
    cdef vector[int64_t] ends
    if texts.data.size <= at_once:
        read_column(table, texts, max_words, &values, &joined, &ends)
    else:
        with nogil:
            read_column(table, texts, max_words, &values, &joined, &ends)
    cdef Py_ssize_t i
    return [
        (values[i], PyBytes_FromStringAndSize(<char*> joined.data() + ends[i], ends[i + 1] - ends[i]))
        for i in range(texts.count)
    ]


def opposed_texts(lexicon, offsets, data, *, work_limit=None):
    """Return the pairs of texts that say the opposite about the same thing.

    Parameters
    ----------
    lexicon
        Bytes that `tipstaff.kernels.formats.lexicon.make_lexicon` made; the values are those of `tipstaff.kernels.formats.roles`.
    offsets
        int32, shape (n_texts + 1,): text i is ``data[offsets[i]:offsets[i + 1]]``.
    data
        Bytes: texts as for `word_values`, with the commas and stops that end clauses.
    work_limit
        Bound on the index entries looked at; the default is 1024 for each text and byte.

    Returns
    -------
    pairs : list of (int, int)
        (i, j) with i < j, in order. Topics are compared as hashes: look again before acting on a pair.
    complete : bool
        False if the search stopped early: then some pairs may be missing.

    Raises
    ------
    ValueError
        If `lexicon` is invalid, or offsets are not in order.
    """
    cdef Borrowed file, bounds, bytes_
    cdef Lexicon table
    cdef TextColumn texts
    cdef vector[pair[int32_t, int32_t]] pairs
    cdef bint complete
    take_lexicon(file, lexicon, &table)
    open_texts(bounds, bytes_, offsets, data, &texts)
    cdef int64_t limit = 1024 * (texts.count + texts.data.size) if work_limit is None else work_limit
    if texts.data.size <= at_once:
        complete = find_opposed(table, texts, limit, &pairs)
    else:
        with nogil:
            complete = find_opposed(table, texts, limit, &pairs)
    cdef size_t i
    return [(pairs[i].first, pairs[i].second) for i in range(pairs.size())], complete


cdef JaccardResult join_topics(
    const Lexicon& table, const TextColumn& texts, int64_t max_words, double threshold, int64_t max_pairs,
    vector[JaccardPair]* pairs,
) except * nogil:
    cdef vector[uint32_t] topics
    cdef vector[int64_t] starts
    read_topics(table, texts, max_words, &topics, &starts)
    cdef int64_t limit = 1024 * (<int64_t> topics.size() + texts.count)
    return join_sets(
        topics.data(), <int64_t> topics.size(), starts.data(), texts.count, threshold, max_pairs, limit, pairs
    )


def alike_texts(lexicon, offsets, data, double threshold, Py_ssize_t max_words, Py_ssize_t max_pairs):
    """Return the pairs of texts whose topics are alike: the stems of their words that are no function words.

    Parameters
    ----------
    lexicon, offsets, data
        As for `opposed_texts`.
    threshold
        Jaccard similarity, above 0, at most 1. A word that begins with a digit counts thrice.
    max_words
        How many words of a text count.
    max_pairs
        The search stops when there would be more.

    Returns
    -------
    pairs : list of (int, int)
        (i, j) with i < j, in order. Topics are compared as hashes: look again before acting on a pair.
    complete : bool
        False if the search stopped early: then some pairs may be missing.

    Raises
    ------
    ValueError
        If `lexicon` is invalid, or offsets are not in order, or a number is out of range.
    """
    check_join(threshold, max_pairs)
    cdef Borrowed file, bounds, bytes_
    cdef Lexicon table
    cdef TextColumn texts
    cdef vector[JaccardPair] pairs
    cdef JaccardResult result
    take_lexicon(file, lexicon, &table)
    open_texts(bounds, bytes_, offsets, data, &texts)
    if texts.data.size <= at_once:
        result = join_topics(table, texts, max_words, threshold, max_pairs, &pairs)
    else:
        with nogil:
            result = join_topics(table, texts, max_words, threshold, max_pairs, &pairs)
    cdef size_t i
    return [(pairs[i].first, pairs[i].second) for i in range(pairs.size())], result.status == JaccardStatus.complete


def join_pieces(list pieces not None):
    """Join pieces of texts.

    Parameters
    ----------
    pieces
        Triples (text, start, end): the half-open range of code points of `text` that is wanted.

    Returns
    -------
    str
        The pieces, one after another.

    Raises
    ------
    ValueError
        If a range is not within its text.

    Notes
    -----
    Of ASCII texts each character is copied once, into its final position; what is cut from other texts is copied twice,
    since how wide its characters are is only known then.
    """
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef Py_ssize_t size
    cdef Py_UCS4 widest = 127
    cdef Py_UCS4 most
    cdef list parts = []
    cdef str text
    for given, start, end in pieces:
        if given is None:
            raise ValueError("a piece needs a text, got None")
        text = plain_text(given)
        size = PyUnicode_GET_LENGTH(text)
        if not 0 <= start <= end <= size:
            raise ValueError(f"a piece from {start} to {end} is outside a text of {size} characters")
        if start == end:
            continue
        most = PyUnicode_MAX_CHAR_VALUE(text)
        if most > 127 and (start > 0 or end < size):
            text = <str> PyUnicode_Substring(text, start, end)
            most = PyUnicode_MAX_CHAR_VALUE(text)
            end -= start
            start = 0
        if most > widest:
            widest = most
        total += end - start
        parts.append((text, start, end))
    if total == 0:
        return ""
    if len(parts) == 1:
        text, start, end = parts[0]
        return text[start:end]
    out = PyUnicode_New(total, widest)
    cdef Py_ssize_t at = 0
    for item in parts:
        text, start, end = item
        PyUnicode_CopyCharacters(out, at, text, start, end - start)
        at += end - start
    return out
