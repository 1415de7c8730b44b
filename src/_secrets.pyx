# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Secrets: a compiled table of rules, and its walk over a text."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

include "isa.pxi"
include "buffers.pxi"

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass LiteralFinder:
        pass
    LiteralFinder literal_finder(Isa) noexcept

cdef extern from "tipstaff/secrets/scanner.hpp" namespace "tipstaff::secrets" nogil:
    cdef struct Bytes:
        const unsigned char* data
        size_t size

    cdef struct Finding:
        size_t start
        size_t end
        uint32_t rule

    cdef cppclass Rule:
        unsigned char show
        unsigned char severity

    cdef enum class Fault(int):
        none

    cdef cppclass Table:
        @staticmethod
        Fault open(const unsigned char*, size_t, Table*) noexcept
        uint32_t rule_count() noexcept
        Rule rule(uint32_t) noexcept
        Bytes rule_name(uint32_t) noexcept
        const Knowledge& known() noexcept

    cdef cppclass Knowledge:
        pass

    size_t scan(const Table&, const unsigned char*, size_t, LiteralFinder, bint, Finding*, size_t) noexcept
    size_t resolve(Finding*, size_t) noexcept
    void count_code_points(Bytes, Finding*, size_t) noexcept

cdef extern from "tipstaff/secrets/trials.hpp" namespace "tipstaff::secrets" nogil:
    bint is_trial(const Knowledge&, Bytes, size_t, size_t, Bytes, Bytes) noexcept

cdef extern from *:
    """
    extern "C" const unsigned char tipstaff_built_in_secrets[], tipstaff_built_in_secrets_end[];
    """
    const unsigned char tipstaff_built_in_secrets[]
    const unsigned char tipstaff_built_in_secrets_end[]

cdef LiteralFinder FINDER = literal_finder(ISA)

# In the order of Fault.
cdef tuple FAULTS = (
    "",
    "truncated header",
    "wrong magic number",
    "its version is not 3",
    "its size differs from the one in its header",
    "a section lies outside it",
    "a rule leads outside it",
    "an anchor leads outside it",
    "a shape's codes are not whole",
    "checksum mismatch",
)

# Room for findings that needs no memory of its own; shorter texts are read before another thread could take over.
cdef enum:
    FEW = 64
    SHORT = 16384


def built_in_table():
    """Return the table of the package's own rules, which is part of this module."""
    return (<const char*> tipstaff_built_in_secrets)[:tipstaff_built_in_secrets_end - tipstaff_built_in_secrets]


cdef class SecretTable:
    """A table that is ready to scan with.

    Parameters
    ----------
    data
        Bytes of a table; kept, not copied. :mod:`tipstaff.kernels.formats.secret_table` states the layout.

    Raises
    ------
    ValueError
        If they are not a table.
    """

    cdef Table table
    cdef bytes data

    def __init__(self, bytes data not None):
        from zlib import crc32

        cdef Fault fault = Table.open(
            <const unsigned char*> PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), &self.table
        )
        if fault == Fault.none and crc32(memoryview(data)[128:]) != int.from_bytes(data[88:92], "little"):
            fault = <Fault> (len(FAULTS) - 1)
        if fault != Fault.none:
            raise ValueError(f"table: not a valid table of secrets: {FAULTS[<int> fault]}")
        self.data = data

    def rules(self):
        """Return for each rule its id, how much of a secret may be shown, and its severity from 0 to 3."""
        cdef uint32_t number
        cdef Bytes name
        found = []
        for number in range(self.table.rule_count()):
            name = self.table.rule_name(number)
            found.append((
                (<const char*> name.data)[:name.size].decode(),
                self.table.rule(number).show,
                self.table.rule(number).severity,
            ))
        return found

    def find(self, text, *, bint wary=False, isa=None):
        """Find the secrets of a text.

        Parameters
        ----------
        text
            Any text; lone surrogates are taken as they are.
        wary
            Whether low-confidence rules apply too, and neither checksum nor entropy rules a match out.
        isa
            Instruction set for this call; the default is :func:`isa`. Every one finds the same.

        Returns
        -------
        list of (int, int, int)
            Number of the rule, first code point, and the one after the last; in order, none overlaps another.

        Raises
        ------
        ValueError
            If the machine does not run ``isa``.
        """
        text = plain_text(text)
        cdef LiteralFinder finder = FINDER
        cdef Finding few[FEW]
        cdef Finding* found = few
        cdef Py_ssize_t size = 0
        cdef size_t capacity = FEW
        cdef size_t count = 0
        cdef size_t i
        cdef Bytes span
        cdef bytes encoded
        cdef bint ascii_only
        if isa is not None:
            finder = literal_finder(find_isa(isa))
        try:
            span.data = <const unsigned char*> PyUnicode_AsUTF8AndSize(text, &size)
            span.size = size
        except UnicodeEncodeError:
            encoded = text.encode("utf-8", "surrogatepass")
            span.data = <const unsigned char*> PyBytes_AS_STRING(encoded)
            span.size = PyBytes_GET_SIZE(encoded)
        ascii_only = span.size == <size_t> len(text)
        if span.size < SHORT:
            count = scan(self.table, span.data, span.size, finder, wary, found, capacity)
            if count == 0:
                return []
        if span.size >= SHORT or count > capacity:
            with nogil:
                count = scan(self.table, span.data, span.size, finder, wary, found, capacity)
                if count > capacity:
                    capacity = count
                    found = <Finding*> malloc(capacity * sizeof(Finding))
                    if found != NULL:
                        count = scan(self.table, span.data, span.size, finder, wary, found, capacity)
        if found != NULL:
            count = resolve(found, count)
            if not ascii_only:
                count_code_points(span, found, count)
        if found == NULL:
            raise MemoryError(f"no memory for {count} findings")
        try:
            return [(found[i].rule, found[i].start, found[i].end) for i in range(count)]
        finally:
            if found != few:
                free(found)

    def trial(self, bytes text not None, size_t start, size_t end, bytes path not None, bytes root not None=b""):
        """Return whether what only its name calls a secret belongs to a trial.

        Parameters
        ----------
        text
            UTF-8.
        start, end
            The secret's bytes in it.
        path
            The file that the text is for; empty for a command, which may itself say one.
        root
            The folder of the repository, or the one that the call works in; empty if unknown.
        """
        cdef Bytes whole
        cdef Bytes file
        cdef Bytes above
        whole.data = <const unsigned char*> PyBytes_AS_STRING(text)
        whole.size = PyBytes_GET_SIZE(text)
        file.data = <const unsigned char*> PyBytes_AS_STRING(path)
        file.size = PyBytes_GET_SIZE(path)
        above.data = <const unsigned char*> PyBytes_AS_STRING(root)
        above.size = PyBytes_GET_SIZE(root)
        return is_trial(self.table.known(), whole, start, end, file, above)
