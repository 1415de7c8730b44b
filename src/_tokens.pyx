# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Token features of texts, lengths in UTF-16 units, and guards that see a change anywhere in a tree of messages."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.string cimport memcpy

include "isa.pxi"
include "spans.pxi"

cdef extern from "Python.h":
    int PyUnicode_IS_ASCII "PyUnicode_IS_COMPACT_ASCII"(object)

cdef extern from "tree_guard.hpp" namespace "tipstaff":
    Py_ssize_t utf16_length(object)

    cdef cppclass TreeGuard "tipstaff::TreeGuard":
        # The number of messages, from the first, that are as they were; -1 with an error set.
        Py_ssize_t unchanged(object) except -1
        # Forgets all messages from a position on and records those that are there now.
        int record(object, Py_ssize_t) except -1
        Py_ssize_t size()

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    const int token_features_count "tipstaff::token_features"

    cdef cppclass TokenKernels:
        void count_features(ByteView, int64_t*) noexcept

    const TokenKernels* token_kernels(Isa) noexcept

cdef const TokenKernels* KERNELS = token_kernels(ISA)
cdef enum:
    MOST = 128


cdef const TokenKernels* choose(object isa) except NULL:
    return KERNELS if isa is None else token_kernels(find_isa(isa))


cdef int count(str text, object isa, int64_t* out) except -1:
    cdef const TokenKernels* kernels = choose(isa)
    cdef ByteView span
    cdef bytes encoded = None
    if PyUnicode_IS_ASCII(text):
        span = utf8_view(text)
    else:
        # The form that a text would keep of itself doubles it for as long as it lives.
        encoded = text.encode("utf-8", "surrogatepass")
        span = bytes_view(encoded)
    if span.size < 4096:
        kernels.count_features(span, out)
    else:
        with nogil:
            kernels.count_features(span, out)
    return 0


def utf16_units(text):
    """Return the length of a text in UTF-16 code units; a lone surrogate is one.

    Constant time unless the text has a character beyond U+FFFF.
    """
    text = plain_text(text)
    return utf16_length(text)


def token_features(text, *, isa=None):
    """Count the features of a text.

    Parameters
    ----------
    text
        Any text.
    isa
        Instruction set for this call.

    Returns
    -------
    memoryview of int64, shape (55,)
        Counts in the order of ``TokenFeature`` in ``tokens/features.hpp``.
    """
    text = plain_text(text)
    out = PyByteArray_FromStringAndSize(NULL, token_features_count * 8)
    count(text, isa, <int64_t*> PyByteArray_AS_STRING(out))
    return memoryview(out).cast("q")


def weigh_tokens(text, weights, *, isa=None):
    """Return the weighted sum of a text's features, added up in their order.

    Parameters
    ----------
    text
        Any text.
    weights
        float64, shape (55,).
    isa
        Instruction set for this call; all give the same bits.

    Raises
    ------
    ValueError
        If there are not as many weights as features.
    """
    text = plain_text(text)
    cdef int64_t counts[MOST]
    cdef double factors[MOST]
    cdef Borrowed view
    cdef double total = 0
    cdef int i
    view.take(weights, "weights", "d", "float64", 8, 0)
    if view.size() != token_features_count * 8:
        raise ValueError(f"weights: expected {token_features_count} float64, got {view.size() // 8}")
    memcpy(factors, view.data(), view.size())
    count(text, isa, counts)
    for i in range(token_features_count):
        total += factors[i] * <double> counts[i]
    return total


cdef class MessageGuard:
    """MessageGuard()\n--\n
    Remembers a list of messages so that any later change in it is seen, without reading its texts again.

    A message is a tree of dictionaries, lists and tuples with texts, numbers, booleans and None at its ends. What is
    remembered is which objects it consists of, and for each dictionary its version (Python 3.11, PEP 509) or its values
    (later versions of Python). Whatever else a tree holds (an object of another class, a subclass of those) could change
    without a trace: such a message counts as changed each time.

    The guard keeps what it remembers alive. It belongs to one thread at a time.
    """

    cdef TreeGuard guard

    def unchanged(self, messages not None):
        """Return how many messages, from the first on, are the same objects with the same contents as recorded."""
        return self.guard.unchanged(messages)

    def record(self, messages not None, Py_ssize_t start):
        """Forget the messages from `start` on and remember those that are there now.

        Raises
        ------
        ValueError
            If `start` is beyond what is remembered.
        """
        if start < 0 or start > self.guard.size():
            raise ValueError(f"start: expected 0 to {self.guard.size()}, got {start}")
        self.guard.record(messages, start)

    def __len__(self):
        return self.guard.size()
