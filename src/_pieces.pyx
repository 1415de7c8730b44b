# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Pieces of texts put together with one copy."""

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)
    Py_ssize_t PyUnicode_CopyCharacters(
        object to, Py_ssize_t to_start, object source, Py_ssize_t start, Py_ssize_t how_many
    ) except -1
    Py_UCS4 PyUnicode_MAX_CHAR_VALUE(object)
    object PyUnicode_Substring(object, Py_ssize_t start, Py_ssize_t end)
    Py_ssize_t PyUnicode_GET_LENGTH(object)


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
        If a range does not lie within its text.

    Notes
    -----
    Of ASCII texts each character is copied once, into its final place; what is cut from other texts is copied twice,
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
    for item in pieces:
        text, start, end = item
        if text is None:
            raise ValueError("a piece needs a text, got None")
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
