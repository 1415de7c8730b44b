# The bytes of buffers and texts, as kernels take them.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t

include "buffers.pxi"

cdef extern from "tipstaff/text/text.hpp" namespace "tipstaff" nogil:
    cdef struct ByteView:
        const unsigned char* data
        int64_t size


cdef inline ByteView bytes_view(bytes data):
    # Valid as long as `data` is.
    cdef ByteView span
    span.data = <const unsigned char*> PyBytes_AS_STRING(data)
    span.size = PyBytes_GET_SIZE(data)
    return span


cdef inline ByteView buffer_view(Borrowed& view):
    cdef ByteView span
    span.data = view.data()
    span.size = view.size()
    return span


cdef inline ByteView utf8_view(str text) except *:
    # Valid as long as `text` is; a lone surrogate is a UnicodeEncodeError.
    cdef Py_ssize_t size = 0
    cdef ByteView span
    span.data = <const unsigned char*> PyUnicode_AsUTF8AndSize(text, &size)
    span.size = size
    return span


cdef inline ByteView any_utf8_view(str text, list kept) except *:
    # Valid as long as `text` and `kept` are: a text with lone surrogates is encoded into a copy.
    try:
        return utf8_view(text)
    except UnicodeEncodeError:
        kept.append(text.encode("utf-8", "surrogatepass"))
        return bytes_view(kept[len(kept) - 1])
