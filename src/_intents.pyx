# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""What a task asks for and what it names: its intent, its words, and the files, folders and modules in it."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

include "tasks.pxi"
include "lexicon.pxi"

cdef extern from "tipstaff/text/words.hpp" namespace "tipstaff" nogil:
    ByteView lowered(ByteView, bint, unsigned char*) noexcept
    uint64_t fnv(ByteView) noexcept

cdef extern from "tipstaff/tasks/words.hpp" namespace "tipstaff" nogil:
    cdef cppclass TaskWords:
        void read(const Lexicon&, uint64_t, ByteView) noexcept
        int64_t shared(const unsigned char*, int64_t, int64_t, char*) noexcept

cdef enum:
    MOST_BYTES = 16384
    TOPIC_CHARS = 1000
    LOWERED_BYTES = 1024  # and the padding of a lowered text
    QUOTED_BYTES = 1256  # and four bytes more for each of 64 words

cdef Py_ssize_t at_once = 4096  # beyond it, other threads need not wait


cdef class TaskReader:
    """Reads what kind of work tasks ask for.

    Parameters
    ----------
    lexicon
        Bytes that `tipstaff.kernels.formats.intent_table.make_intent_table` made.

    Raises
    ------
    ValueError
        If these bytes are not a lexicon.

    Notes
    -----
    Linear in a task, without an allocation. May be shared by any number of threads.
    """

    cdef bytes _bytes
    cdef IntentLexicon _lexicon

    def __init__(self, lexicon):
        self._bytes = bytes(memoryview(lexicon))
        cdef ByteView span = bytes_view(self._bytes)
        if not self._lexicon.open(span) or not self._lexicon.check():
            raise ValueError("lexicon: not a valid lexicon; make one with tipstaff.kernels.formats.intent_table")

    cdef tuple _answer(self, str text, bint ready):
        cdef ByteView span = utf8_view(text)
        cdef IntentRead found
        if span.size > at_once:
            with nogil:
                found = read_intent(self._lexicon, span, ready)
        else:
            found = read_intent(self._lexicon, span, ready)
        return found.intent, confidence_of(found)

    def read(self, task):
        """Return what kind of work a task asks for.

        Parameters
        ----------
        task
            As its author wrote it.

        Returns
        -------
        tuple or None
            Number of the intent, 10 where nothing speaks, and the confidence, 0..1; None where the task is not ASCII:
            its words are to be lowered and set apart for `read_words`.
        """
        task = plain_text(task)
        if not TIPSTAFF_IS_ASCII(task):
            return None
        return self._answer(task, False)

    def read_words(self, list words not None):
        """Return what `read` does for a task's words.

        Parameters
        ----------
        words
            Each of letters and digits, lowered, without accents; a comma for each mark that ends a clause, and colons.
        """
        return self._answer(" ".join(words), True)


def task_paths(task):
    """Return the files, folders and modules that a task names.

    Parameters
    ----------
    task
        Of any length; the first 16,384 characters are read.

    Returns
    -------
    tuple of str or None
        At most 8 paths, each once, in the task's order; None where the task is not ASCII, which
        `tipstaff.kernels.formats.task_text.paths_in_text` reads.
    """
    task = plain_text(task)
    cdef Py_ssize_t size = 0
    cdef char memory[2 * MOST_BYTES]
    cdef TaskPaths found
    if not TIPSTAFF_IS_ASCII(task):
        return None
    cdef const char* text = PyUnicode_AsUTF8AndSize(task, &size)
    cdef string_view view = string_view(text, <size_t> size)
    if size > at_once:
        with nogil:
            find_paths(view, memory, &found)
    else:
        find_paths(view, memory, &found)
    if found.count == 0:
        return ()
    return tuple([PyUnicode_FromStringAndSize(found.of[i].data(), <Py_ssize_t> found.of[i].size())
                  for i in range(found.count)])


def stem_hashes(stems):
    """Return the hashes of stems, as `TopicWords` takes a topic.

    Parameters
    ----------
    stems
        Any number of texts.

    Returns
    -------
    bytes
        uint64, shape (n_stems,): the FNV-1a hash of each one's UTF-8.
    """
    cdef list every = list(stems)
    cdef bytes encoded
    cdef uint64_t value
    cdef Py_ssize_t i
    cdef bytes found = PyBytes_FromStringAndSize(NULL, 8 * len(every))
    cdef char* out = PyBytes_AS_STRING(found)
    for i in range(len(every)):
        encoded = every[i].encode("utf-8", "surrogatepass")
        value = fnv(bytes_view(encoded))
        memcpy(out + 8 * i, &value, 8)
    return found


cdef class TopicWords:
    """Finds the words that a task has in common with topics.

    Parameters
    ----------
    lexicon
        Bytes that `tipstaff.kernels.formats.lexicon.make_lexicon` made.
    grammar
        Bits of the values of those of its words that belong to no topic.

    Raises
    ------
    ValueError
        If `lexicon` is invalid.

    Notes
    -----
    The first 1,000 characters and 64 words of a task count. May be shared by any number of threads.
    """

    cdef bytes _bytes
    cdef Lexicon _lexicon
    cdef uint64_t _grammar

    def __init__(self, lexicon, uint64_t grammar):
        self._bytes = bytes(memoryview(lexicon))
        self._grammar = grammar
        cdef ByteView span = bytes_view(self._bytes)
        if not open_lexicon(span, &self._lexicon):
            raise ValueError("lexicon: not a valid lexicon; make one with tipstaff.kernels.formats.lexicon")

    def shared(self, task, list topics not None, Py_ssize_t most=4):
        """Return for each topic the words that it has in common with a task.

        Parameters
        ----------
        task
            As its author wrote it.
        topics
            `stem_hashes` of each one's stems.
        most
            How many words to name for a topic.

        Returns
        -------
        list of str or None
            For each topic ``'one', 'other'``: lowered, in the task's order, of several words with one stem the last;
            empty where it has none. None where the task is not ASCII.

        Raises
        ------
        ValueError
            If a topic is no whole number of hashes.
        """
        task = plain_text(task)
        cdef TaskWords words
        cdef unsigned char room[LOWERED_BYTES]
        if not TIPSTAFF_IS_ASCII(task):
            return None
        self._read(task, room, &words)
        return [_quoted(words, topic, most, "") for topic in topics]

    def reasons(self, task, list topics not None, list meanings not None, list shown not None, Py_ssize_t most=4):
        """Return for each topic why it was found: the meaning, what else counts for it, and the words shared.

        Parameters
        ----------
        task, topics, most
            As for `shared`.
        meanings
            What meaning has in the score of each, 0 to 2.
        shown
            What else counts for each, every part after a semicolon: ``; high risk (+0.01)``.

        Returns
        -------
        list of str or None
            For each topic ``meaning 0.61; high risk (+0.01); shares 'one', 'other'``. None where the task is not ASCII.

        Raises
        ------
        ValueError
            If the lists have different lengths, a topic is no whole number of hashes, or a meaning is out of range.
        """
        task = plain_text(task)
        cdef TaskWords words
        cdef unsigned char room[LOWERED_BYTES]
        cdef Py_ssize_t i
        cdef double meaning
        cdef str more
        cdef list found = []
        if len(meanings) != len(topics) or len(shown) != len(topics):
            raise ValueError(f"{len(topics)} topics need as many meanings and texts, got {len(meanings)} and {len(shown)}")
        if not TIPSTAFF_IS_ASCII(task):
            return None
        self._read(task, room, &words)
        for i in range(len(topics)):
            meaning = meanings[i]
            more = shown[i]
            if not 0.0 <= meaning <= 2.0:
                raise ValueError(f"meanings: expected 0 to 2, got {meaning}")
            if more is None:
                raise TypeError("shown: expected texts, got None")
            found.append(<str> MEANINGS[<Py_ssize_t> (meaning * 100 + 0.5)] + more + _quoted(words, topics[i], most, "; shares "))
        return found

    cdef int _read(self, str task, unsigned char* room, TaskWords* words) except -1:
        cdef ByteView span = utf8_view(task)
        span.size = min(span.size, <int64_t> TOPIC_CHARS)
        words.read(self._lexicon, self._grammar, lowered(span, False, room))
        return 0


cdef tuple MEANINGS = tuple([f"meaning {percent / 100:.2f}" for percent in range(201)])


cdef str _quoted(const TaskWords& words, object topic, Py_ssize_t most, str before):
    # What a task shares with a topic, after `before`; empty where it shares nothing.
    cdef char quoted[QUOTED_BYTES]
    if type(topic) is not bytes:
        raise TypeError(f"topics: expected bytes, got {type(topic).__name__}")
    cdef Py_ssize_t size = PyBytes_GET_SIZE(topic)
    if size % 8 != 0:
        raise ValueError(f"topics: expected hashes of 8 bytes each, got {size} bytes")
    size = words.shared(<const unsigned char*> PyBytes_AS_STRING(topic), size // 8, most, quoted)
    if size == 0:
        return ""
    cdef str found = PyUnicode_FromStringAndSize(quoted, size)
    return before + found if before else found
