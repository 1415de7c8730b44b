# A lexicon in the layout of `tipstaff.kernels.formats.lexicon`; after buffers.pxi.
cdef extern from "tipstaff/text/columns.hpp" namespace "tipstaff" nogil:
    cdef cppclass Lexicon:
        pass

    bint open_lexicon(ByteView, Lexicon*) noexcept


cdef inline int take_lexicon(Borrowed& view, object lexicon, Lexicon* opened) except -1:
    view.take(lexicon, "lexicon", "B", "bytes", 1, 0)
    if not open_lexicon(buffer_view(view), opened):
        raise ValueError("lexicon: not a valid lexicon; make one with tipstaff.kernels.formats.lexicon")
    return 0
