# Texts as Arrow holds them, in native memory without copies.

cdef class Column:
    """Texts of an Arrow large_string array, borrowed for as long as this lives."""

    cdef Borrowed marks, letters
    cdef vector[string_view] texts

    cdef int take(self, offsets, data) except -1:
        cdef Py_ssize_t i, count
        cdef int64_t start, end
        self.marks.take(offsets, "offsets", "lq", "int64", 8, 0)
        self.letters.take(data, "data", "B", "bytes", 1, 0)
        count = self.marks.size() // 8 - 1
        if count < 0:
            raise ValueError("offsets: expected one more than there are texts")
        self.texts.reserve(count)
        memcpy(&start, self.marks.data(), 8)
        for i in range(count):
            memcpy(&end, self.marks.data() + 8 * (i + 1), 8)
            if start < 0 or end < start or end > self.letters.size():
                raise ValueError(f"offsets: text {i} is from {start} to {end}, outside the {self.letters.size()} bytes of data")
            self.texts.push_back(string_view(<const char*> self.letters.data() + start, end - start))
            start = end
        return 0
