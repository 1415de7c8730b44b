# The kernels' types, and the checks of their arguments.
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

include "isa.pxi"
include "buffers.pxi"

# Numbers of a search over rows from which on another thread may run meanwhile: some 100 microseconds of work.
cdef enum:
    MANY_NUMBERS = 1048576

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass Rows:
        const unsigned char* vectors
        const unsigned char* intents
        const uint8_t* risks
        const uint8_t* mask
        int64_t n
        int64_t dimensions

    cdef cppclass Boosts:
        float intent
        float high
        float critical

    cdef cppclass Query:
        const unsigned char* vector
        uint16_t intents
        uint8_t risk_filter

    cdef cppclass QueryBatch:
        const unsigned char* vectors
        const unsigned char* intents
        const uint8_t* risk_filters
        int64_t m

    cdef cppclass QuantizedRows:
        const int8_t* codes
        const unsigned char* scales
        const unsigned char* errors
        const unsigned char* mean

    cdef cppclass Best:
        int64_t k
        int32_t* rows
        float* scores
        float* cosines

    int64_t batch_scratch_bytes(int64_t) noexcept
    int64_t i8_scratch_bytes(int64_t, int64_t) noexcept

    cdef cppclass ScoreKernels:
        int64_t topk_f32(const Rows&, const Query&, const Boosts&, const Best&) noexcept
        int64_t topk_i8(
            const Rows&, const QuantizedRows&, const Query&, const Boosts&, const Best&, unsigned char*, int64_t*
        ) noexcept
        void topk_f32_batch(
            const Rows&, const QueryBatch&, const Boosts&, const Best&, int64_t*, unsigned char*
        ) noexcept

    const ScoreKernels* score_kernels(Isa) noexcept

    cdef cppclass LimitKernels:
        uint64_t read_bytes(const unsigned char*, int64_t) noexcept
        float multiply_add(int64_t) noexcept
        int64_t flops_per_round

    const LimitKernels* limit_kernels(Isa) noexcept

cdef extern from "tipstaff/scoring/quantize.hpp" namespace "tipstaff" nogil:
    int64_t make_int8_rows "tipstaff::quantize_rows"(
        const unsigned char*, int64_t, int64_t, int8_t*, float*, float*, float*, double*
    ) noexcept

cdef const ScoreKernels* KERNELS = score_kernels(ISA)
cdef int64_t MAX_DIMENSIONS = 65536
cdef int64_t MAX_ROWS = (1 << 31) - 1
DEFAULT_BOOSTS = (0.15, 0.10, 0.05)


cdef const ScoreKernels* choose(object isa) except NULL:
    return KERNELS if isa is None else score_kernels(find_isa(isa))


cdef int64_t count_rows(Borrowed& rows, int64_t dimensions) except -1:
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"query: expected 1 to {MAX_DIMENSIONS} dimensions, got {dimensions}")
    cdef int64_t n = rows.size() // (dimensions * 4)
    if n * dimensions * 4 != rows.size():
        raise ValueError(
            f"rows: {rows.size()} bytes are not whole rows of {dimensions} float32, which the query has"
        )
    if n > MAX_ROWS:
        raise ValueError(f"rows: expected at most {MAX_ROWS}, got {n}")
    return n


cdef int check_size(const char* name, Borrowed& column, int64_t expected) except -1:
    if column.size() != expected:
        raise ValueError(f"{name.decode()}: expected {expected} bytes, got {column.size()}")
    return 0


cdef extern from *:
    """
    struct RowBuffers {
      tipstaff::Borrowed rows, intents, risks, mask;
    };
    """
    cdef cppclass RowBuffers:
        Borrowed rows
        Borrowed intents
        Borrowed risks
        Borrowed mask


cdef int take_rows(RowBuffers& held, Rows* out, int64_t dimensions, rows, intents, risks) except -1:
    held.rows.take(rows, "rows", "f", "float32", 4, 0)
    held.intents.take(intents, "intents", "Hh", "uint16", 2, 0)
    held.risks.take(risks, "risks", "B", "uint8", 1, 0)
    out.dimensions = dimensions
    out.n = count_rows(held.rows, dimensions)
    check_size("intents", held.intents, out.n * 2)
    check_size("risks", held.risks, out.n)
    out.vectors = held.rows.data()
    out.intents = held.intents.data()
    out.risks = held.risks.data()
    out.mask = NULL
    return 0


cdef int take_mask(RowBuffers& held, Rows* out, row_mask) except -1:
    if row_mask is not None:
        held.mask.take(row_mask, "row_mask", "?B", "uint8", 1, 0)
        check_size("row_mask", held.mask, out.n)
        out.mask = held.mask.data()
    return 0


cdef int set_boosts(object boosts, Boosts* out) except -1:
    # `boosts` is (intent, critical, high).
    if boosts is DEFAULT_BOOSTS:
        out.intent = 0.15
        out.critical = 0.10
        out.high = 0.05
        return 0
    intent, critical, high = boosts
    out.intent = intent
    out.critical = critical
    out.high = high
    cdef double intent_size = fabs(out.intent)
    if not (intent_size + fabs(out.critical) < 3e38 and intent_size + fabs(out.high) < 3e38):
        raise ValueError(f"boosts: expected three finite numbers of which no two add up to 3e38, got {boosts}")
    return 0


cdef int check_k(Py_ssize_t k) except -1:
    if k < 0:
        raise ValueError(f"k: expected 0 or more, got {k}")
    return 0


cdef class _Lists:
    """Output arrays of one call: row numbers, scores and cosines in one bytearray."""

    cdef object memory
    cdef int64_t room
    cdef Best best

    def __cinit__(self, int64_t k, int64_t lists):
        self.room = k * lists
        self.memory = PyByteArray_FromStringAndSize(NULL, self.room * 12)
        cdef char* start = PyByteArray_AS_STRING(self.memory)
        self.best.k = k
        self.best.rows = <int32_t*> start
        self.best.scores = <float*> (start + self.room * 4)
        self.best.cosines = <float*> (start + self.room * 8)

    cdef object slice(self, int64_t first, int64_t count):
        cdef int64_t room = self.room
        view = memoryview(self.memory)
        return (
            view[first * 4:(first + count) * 4].cast("i"),
            view[(room + first) * 4:(room + first + count) * 4].cast("f"),
            view[(2 * room + first) * 4:(2 * room + first + count) * 4].cast("f"),
        )
