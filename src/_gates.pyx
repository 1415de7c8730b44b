# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""The gate engine: policies, commands, tool calls, one at a time or many on many threads."""

from cpython.bool cimport bool as py_bool
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.buffer cimport PyBUF_READ
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from threading import Lock

include "isa.pxi"
include "gates/declarations.pxi"

cdef extern from *:
    """
    extern "C" const unsigned char tipstaff_built_in_policy[], tipstaff_built_in_policy_end[];
    """
    const unsigned char tipstaff_built_in_policy[]
    const unsigned char tipstaff_built_in_policy_end[]

cdef extern from "tipstaff/hook/sha256.hpp" nogil:
    cbool verified "tipstaff::hook::verify_ed25519"(string_view, string_view, string_view) noexcept

cdef uint32_t NOTHING = 0xFFFFFFFF

# Bytes of text from which on another thread may run meanwhile: for less, giving the interpreter's lock away and taking it
# back costs more than the work.
cdef enum:
    LARGE = 16384
    FEW_FIELDS = 24

cdef LiteralFinder FINDER = literal_finder(ISA)

# In the order of ImageFault.
cdef tuple FAULTS = (
    "",
    "truncated header",
    "wrong magic number",
    "it has another version",
    "its length is not the one in its header",
    "checksum mismatch",
    "a section lies outside it",
    "an entry points outside its section",
    "it is not aligned",
)


cdef string_view borrow(object text) except *:
    """A view of a str's or a bytes' text; the object must outlive it."""
    cdef Py_ssize_t size = 0
    cdef const char* data
    if isinstance(text, str):
        data = PyUnicode_AsUTF8AndSize(text, &size)
        return string_view(data, size)
    if isinstance(text, bytes):
        return string_view(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    raise TypeError(f"expected text, got {type(text).__name__}")


cdef object taken(string_view text):
    return (<bytes> text.data()[:text.size()]).decode("utf-8", "surrogatepass")


cdef object shown(string_view text):
    return (<bytes> text.data()[:text.size()]).decode("utf-8", "replace")


def built_in_policy():
    """Return the image of the package's own packs, which is part of this module: a memoryview that nothing can change."""
    return PyMemoryView_FromMemory(<char*> tipstaff_built_in_policy, tipstaff_built_in_policy_end - tipstaff_built_in_policy, PyBUF_READ)


def image_checksum(data):
    """Return the checksum of an image's bytes after its checksum field."""
    cdef Borrowed buffer
    buffer.take(data, "data", "B", "bytes", 1, 0)
    return checksum_of(buffer.data(), buffer.size())


def verify_ed25519(bytes key, bytes message, bytes signature):
    """Return whether a message is what the holder of a key signed (RFC 8032)."""
    return verified(borrow(key), borrow(message), borrow(signature))


def glob_allows(glob, tool):
    """Return whether a glob of the allowlist covers a tool's name."""
    return allowed_by(borrow(glob), borrow(tool))


cdef class CallSite:
    """Where events happen: directory, repository, home, temporary directory; empty where it is not known.

    `state` and `program` are the gate's own state folder and program, which no call may reach; empty: not guarded.
    """

    cdef CSite site
    cdef object kept

    def __init__(self, cwd="", repository="", home="", temporary="", *, files=False, state="", program=""):
        self.kept = tuple(
            text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
            for text in (cwd, repository, home, temporary, state, program)
        )
        self.site.cwd = borrow(self.kept[0])
        self.site.repository = borrow(self.kept[1])
        self.site.home = borrow(self.kept[2])
        self.site.temporary = borrow(self.kept[3])
        self.site.state = borrow(self.kept[4])
        self.site.program = borrow(self.kept[5])
        self.site.files = files


cdef class Flow:
    """What the calls of one run did so far; one call at a time changes it, whichever thread makes it."""

    cdef FlowState state
    cdef object lock

    def __init__(self, data=None):
        self.lock = Lock()
        if data is not None:
            if len(data) != sizeof(FlowState):
                raise ValueError(f"a flow state has {sizeof(FlowState)} bytes, not {len(data)}")
            memcpy(&self.state, PyBytes_AS_STRING(bytes(data)), sizeof(FlowState))
            if not self.state.valid():
                raise ValueError("not a valid flow state of this version")

    cdef FlowState* taken(self) except NULL:
        """Return the state, which no other call changes before it is given back."""
        self.lock.acquire()
        return &self.state

    cdef int give_back(self) except -1:
        self.lock.release()
        return 0

    def to_bytes(self):
        """Return the state as bytes that the constructor takes."""
        return (<bytes> (<const char*> &self.state)[:sizeof(FlowState)])

    @property
    def marks(self):
        """Bits: 1 a secret was read, 2 data were sent, 4 a file was run."""
        return self.state.marks

    @property
    def changed_lines(self):
        """Lines that edits of the run changed."""
        return self.state.changed_lines


include "gates/tree.pxi"


cdef class Policy:
    """A checked policy image; any number of threads may use one."""

    cdef vector[uint64_t] memory
    cdef Image image

    def __init__(self, data):
        cdef Borrowed buffer
        cdef int fault = 0
        buffer.take(data, "data", "B", "bytes", 1, 0)
        if not set_image(&self.memory, buffer.data(), buffer.size(), &self.image, &fault):
            raise ValueError(f"data: not a valid policy image: {FAULTS[fault]}")

    @property
    def rules(self):
        """Each rule as (id, pack, reason, safer way, severity, decision, because or None, former decision)."""
        cdef uint32_t i
        cdef list found = []
        for i in range(self.image.rules.count):
            found.append((
                taken(self.image.text(self.image.rules.items[i].id)),
                taken(self.image.text(self.image.rules.items[i].pack)),
                taken(self.image.text(self.image.rules.items[i].reason)),
                taken(self.image.text(self.image.rules.items[i].safer)),
                self.image.rules.items[i].severity,
                self.image.rules.items[i].decision,
                None if self.image.rules.items[i].because == NOTHING
                else taken(self.image.text(self.image.rules.items[i].because)),
                self.image.rules.items[i].former,
            ))
        return found

    @property
    def config(self):
        """The numbers of the image's configuration."""
        cdef Config config = self.image.config
        return (config.switches, config.diff_lines, config.run_diff_lines, config.uncertain_interactive,
                config.uncertain_unattended, config.on_error, config.undo_mb, config.undo_files, config.undo_wait_ms,
                config.undo_free_mb)

    @property
    def allowlist(self):
        """Globs of the tools that may be called."""
        cdef uint32_t i
        return tuple(taken(self.image.text(self.image.allowlist.items[i])) for i in range(self.image.allowlist.count))

    @property
    def secrets(self):
        """The secret scanner's table."""
        return <bytes> self.image.secrets.data()[:self.image.secrets.size()]

    def command(self, text, dialect, CallSite site not None, settings):
        """Judge one command; returns its findings."""
        cdef Verdict verdict
        cdef Settings used
        cdef Call call
        cdef Field field
        self.take_settings(settings, &used)
        field.text = borrow(text)
        field.element = NOTHING
        call.field_count = 1
        call.site = &site.site
        set_dialect(call, dialect)
        if field.text.size() < LARGE:
            judge(self.image, used, call, &field, own_room(), NULL, &verdict, NULL)
        else:
            with nogil:
                judge(self.image, used, call, &field, own_room(), NULL, &verdict, NULL)
        if verdict.count == 0:
            return []
        return self.findings(&verdict.findings[0], verdict.count, &field, 1, isinstance(text, str) and text.isascii())

    def event(self, tool, fields, dialect, CallSite site not None, settings, Flow flow=None):
        """Judge one tool call; `fields` are (name, text, element or -1)."""
        cdef Verdict verdict
        cdef Settings used
        cdef Call call
        cdef vector[Field] taken_fields
        cdef FlowState* state = NULL
        self.take_settings(settings, &used)
        call.tool = borrow(tool)
        self.take_fields(fields, &taken_fields)
        call.field_count = taken_fields.size()
        call.site = &site.site
        set_dialect(call, dialect)
        if flow is not None:
            state = flow.taken()
        try:
            if bytes_of(taken_fields) < LARGE:
                judge(self.image, used, call, taken_fields.data(), own_room(), state, &verdict, NULL)
            else:
                with nogil:
                    judge(self.image, used, call, taken_fields.data(), own_room(), state, &verdict, NULL)
        finally:
            if state != NULL:
                flow.give_back()
        return self.findings(&verdict.findings[0], verdict.count, taken_fields.data(), taken_fields.size(), False)

    def decisions(self, commands, CallSite site not None, settings, dialect=0, threads=1):
        """Judge many commands from one folder; returns one byte for each: 0 allow, 1 warn, 2 confirm, 3 block."""
        cdef Settings used
        cdef vector[string_view] texts
        cdef const char* data
        cdef Py_ssize_t size = 0
        cdef uint32_t workers = threads
        cdef int number = dialect
        cdef bytearray out = bytearray(len(commands))
        cdef unsigned char* decided = <unsigned char*> PyByteArray_AS_STRING(out)
        self.take_settings(settings, &used)
        texts.reserve(len(commands))
        for text in commands:
            if type(text) is str:
                data = PyUnicode_AsUTF8AndSize(text, &size)
                texts.push_back(string_view(data, size))
            else:
                texts.push_back(borrow(text))
        if texts.size() != <size_t> len(out):
            raise ValueError("commands: they changed while being read")
        with nogil:
            decide_all(self.image, used, texts, site.site, number, workers, decided)
        return bytes(out)

    def explain(self, text, dialect, CallSite site not None, settings):
        """Judge one command and say how: its tree, its commands, what was tried."""
        cdef Verdict verdict
        cdef Settings used
        cdef Call call
        cdef Field field
        cdef vector[Tried] tried
        cdef Trace trace = tracing(&tried)
        self.take_settings(settings, &used)
        field.text = borrow(text)
        field.element = NOTHING
        call.field_count = 1
        call.site = &site.site
        set_dialect(call, dialect)
        cdef Room* room = &own_room()
        judge(self.image, used, call, &field, room[0], NULL, &verdict, &trace)
        # The tree of a room is cleared when it is asked for, not its memory: what was read last lies there still.
        findings = self.findings(&verdict.findings[0], verdict.count, &field, 1, False)
        return findings, [(t.command, t.rule, bool(t.held), t.decision) for t in tried], self.read_tree(text, dialect, site)

    def read_tree(self, text, dialect, CallSite site not None):
        """Return nodes, commands and open questions of a text, as they were read."""
        return tree_of(self.image, text, dialect, site)

    cdef int take_settings(self, settings, Settings* used) except -1:
        switches, diff_lines, run_lines, interactive, unattended, on_error, mb, files, wait_ms, free_mb, is_unattended = settings
        if not (0 <= interactive <= 3 and 0 <= unattended <= 3 and 0 <= on_error <= 3):
            raise ValueError("settings: a decision is a number from 0 to 3")
        used.config.switches = switches
        used.config.diff_lines = diff_lines
        used.config.run_diff_lines = run_lines
        used.config.uncertain_interactive = interactive
        used.config.uncertain_unattended = unattended
        used.config.on_error = on_error
        used.config.undo_mb = mb
        used.config.undo_files = files
        used.config.undo_wait_ms = wait_ms
        used.config.undo_free_mb = free_mb
        used.unattended = is_unattended
        return 0

    cdef int take_fields(self, fields, vector[Field]* out) except -1:
        cdef Field field
        for name, text, element in fields:
            field.name = borrow(name)
            field.text = borrow(text)
            field.element = NOTHING if element < 0 else element
            out.push_back(field)
        return 0

    cdef object findings(self, const Finding* found, uint32_t count, const Field* fields, uint32_t field_count, bint ascii):
        cdef uint32_t i
        cdef list out = []
        cdef string_view text
        for i in range(count):
            text = fields[found[i].field].text if found[i].field < field_count else string_view()  # of the tool's name
            out.append((
                -1 if found[i].rule == NOTHING else found[i].rule,
                decision_of(found[i]),
                gate_of(found[i]),
                found[i].span.start if ascii else code_point_at(text, found[i].span.start),
                found[i].span.end if ascii else code_point_at(text, found[i].span.end),
                found[i].focus.start if ascii else code_point_at(text, found[i].focus.start),
                found[i].focus.end if ascii else code_point_at(text, found[i].focus.end),
                found[i].classes,
                found[i].field,
                bool(found[i].uncertain),
            ))
        return out


cdef size_t bytes_of(const vector[Field]& fields) noexcept nogil:
    cdef size_t i, total = 0
    for i in range(fields.size()):
        total += fields[i].text.size()
    return total


def changed_lines(tool, fields):
    """Return how many lines a tool call changes, by its own fields."""
    cdef Event event
    cdef vector[Field] taken_fields
    cdef Field field
    for name, text, element in fields:
        field.name = borrow(name)
        field.text = borrow(text)
        field.element = NOTHING if element < 0 else element
        taken_fields.push_back(field)
    event.tool = borrow(tool)
    event.fields = taken_fields.data()
    event.field_count = taken_fields.size()
    return changed_lines_of(event)


def former_parts(tool, field, text):
    """Return what of a field's text a tool call takes away: pairs of code points, in order."""
    cdef string_view whole = borrow(text)
    cdef FormerParts* parts = new FormerParts(borrow(tool), borrow(field), whole)
    cdef Span part
    cdef uint32_t at = 0
    cdef uint32_t start = 0
    cdef uint32_t end = 0
    found = []
    try:
        while parts.next(&part):
            start = end + code_point_at(string_view(whole.data() + at, part.start - at), part.start - at)
            end = start + code_point_at(string_view(whole.data() + part.start, part.end - part.start), part.end - part.start)
            at = part.end
            found.append((start, end))
    finally:
        del parts
    return found


include "gates/judge.pxi"
