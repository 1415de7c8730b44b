# What the modules share that read a task's text: its bytes, its intent, and the paths that it names.
from libc.stdint cimport uint32_t

include "spans.pxi"

cdef extern from *:
    """
    #define TIPSTAFF_IS_ASCII(text) PyUnicode_IS_ASCII(text)
    """
    bint TIPSTAFF_IS_ASCII(object)

cdef extern from "Python.h":
    object PyUnicode_FromStringAndSize(const char*, Py_ssize_t)

cdef extern from "<string_view>" namespace "std" nogil:
    cdef cppclass string_view:
        string_view()
        string_view(const char*, size_t)
        const char* data()
        size_t size()

cdef extern from "tipstaff/tasks/intents.hpp" namespace "tipstaff" nogil:
    cdef cppclass IntentLexicon:
        bint open(ByteView) noexcept
        bint check() noexcept

    cdef struct IntentRead:
        uint32_t intent
        double margin

    IntentRead read_intent(const IntentLexicon&, ByteView, bint) noexcept
    double confidence_of(const IntentRead&) noexcept

cdef extern from "tipstaff/tasks/paths.hpp" namespace "tipstaff" nogil:
    cdef cppclass TaskPaths:
        string_view of[8]
        uint32_t count

    void find_paths(string_view, char*, TaskPaths*) noexcept
