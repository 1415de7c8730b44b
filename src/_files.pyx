# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Sizes, times and contents of many files, and what their first bytes say of them."""

from array import array

import os

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int64_t

cdef extern from "tipstaff/files/measure.hpp" namespace "tipstaff" nogil:
    int64_t kHeadBytes
    void measure_files_native "tipstaff::measure_files"(
        int, const char*, int64_t, unsigned char*, int64_t*, unsigned char*) noexcept
    void stat_files_native "tipstaff::stat_files"(int, const char*, int64_t, int64_t*) noexcept
    void stat_folders_native "tipstaff::stat_folders"(int, const char*, int64_t, int64_t*) noexcept
    void read_files_native "tipstaff::read_files"(
        int, const char*, int64_t, const int64_t*, char*, unsigned char*) noexcept


def _joined(paths):
    """Return the names, each ended by a NUL, and how many they are."""
    names = [os.fsencode(path) for path in paths]
    for name in names:
        if b"\0" in name:
            raise ValueError(f"{name!r}: a path cannot contain NUL")
    return b"\0".join(names) + b"\0", len(names)


def measure_files(root, paths):
    """Return sizes and marks of files; see the plain twin."""
    cdef bytes joined
    cdef int64_t count
    joined, count = _joined(paths)
    sizes = bytearray(8 * count)
    marks = bytearray(count)
    head = bytearray(kHeadBytes)
    cdef const char* text = joined
    cdef unsigned char* room = <unsigned char*>PyByteArray_AS_STRING(head)
    cdef int64_t* size_out = <int64_t*>PyByteArray_AS_STRING(sizes)
    cdef unsigned char* mark_out = <unsigned char*>PyByteArray_AS_STRING(marks)
    cdef int folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with nogil:
            measure_files_native(folder, text, count, room, size_out, mark_out)
    finally:
        os.close(folder)
    return memoryview(sizes).cast("q"), memoryview(marks)


def stat_files(root, paths):
    """Return sizes, times and inodes of files; see the plain twin."""
    cdef bytes joined
    cdef int64_t count
    joined, count = _joined(paths)
    found = bytearray(32 * count)
    cdef const char* text = joined
    cdef int64_t* out = <int64_t*>PyByteArray_AS_STRING(found)
    cdef int folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with nogil:
            stat_files_native(folder, text, count, out)
    finally:
        os.close(folder)
    return memoryview(found).cast("q")


def stat_folders(root, paths):
    """Return devices, inodes and times of folders; see the plain twin."""
    cdef bytes joined
    cdef int64_t count
    joined, count = _joined(paths)
    found = bytearray(32 * count)
    cdef const char* text = joined
    cdef int64_t* out = <int64_t*>PyByteArray_AS_STRING(found)
    cdef int folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with nogil:
            stat_folders_native(folder, text, count, out)
    finally:
        os.close(folder)
    return memoryview(found).cast("q")


def read_files(root, paths, sizes):
    """Return contents of files; see the plain twin."""
    cdef bytes joined
    cdef int64_t count
    joined, count = _joined(paths)
    if len(sizes) != count or any(size < 0 for size in sizes):
        raise ValueError("each path needs a size from 0 up")
    expected = bytearray(array("q", sizes).tobytes())
    content = bytearray(sum(sizes) + 1)
    marks = bytearray(count)
    cdef const char* text = joined
    cdef const int64_t* size_in = <const int64_t*>PyByteArray_AS_STRING(expected)
    cdef char* out = PyByteArray_AS_STRING(content)
    cdef unsigned char* whole = <unsigned char*>PyByteArray_AS_STRING(marks)
    cdef int folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with nogil:
            read_files_native(folder, text, count, size_in, out, whole)
    finally:
        os.close(folder)
    found = []
    view, start = memoryview(content), 0
    for at, size in enumerate(sizes):
        found.append(view[start : start + size] if marks[at] else None)
        start += size
    return found
