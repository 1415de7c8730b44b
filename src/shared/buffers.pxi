# What modules take from their callers: buffers, checked once, and a text's own UTF-8.
cdef extern from "buffers.hpp" namespace "tipstaff":
    cdef cppclass Borrowed:
        int take(object, const char*, const char*, const char*, Py_ssize_t, int) except -1
        unsigned char* data() nogil
        Py_ssize_t size() nogil
        Py_ssize_t item_size() nogil

    cdef cppclass Scratch:
        unsigned char* make(size_t) nogil

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL


cdef inline str plain_text(object text):
    """A text of any class as the plain one that it is."""
    if type(text) is str:
        return text
    if isinstance(text, str):
        return str.__str__(text)
    raise TypeError(f"expected a text (str), got {type(text).__name__}")
