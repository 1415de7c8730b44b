# What the gate engine is to Cython: its types, its calls, and small ones that take its enumerations as numbers.
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

include "buffers.pxi"

cdef extern from "<string_view>" namespace "std" nogil:
    cdef cppclass string_view:
        string_view()
        string_view(const char*, size_t)
        const char* data()
        size_t size()

cdef extern from "gates/calls.hpp" namespace "tipstaff::gate" nogil:
    cdef struct Span:
        uint32_t start
        uint32_t end

    cdef cppclass Dialect:
        pass

    cdef struct Word:
        string_view text
        Span span
        uint16_t flags

    cdef struct Command:
        string_view program
        Word name
        uint32_t first_word
        uint32_t word_count
        string_view cwd
        uint32_t node
        uint32_t carrier
        uint32_t pipe_from
        uint32_t pipe_to
        cbool has_input
        Word input
        uint32_t via
        Span span

    cdef struct Node:
        cbool is_code
        Span span
        uint32_t parent
        uint32_t command

    cdef struct Uncertainty:
        Span span
        uint32_t command

    cdef cppclass Tree:
        const Command* commands()
        uint32_t command_count()
        const Word* arguments(const Command&)
        const Node* nodes()
        uint32_t node_count()
        const Uncertainty* uncertainties()
        uint32_t uncertainty_count()
        cbool full()

    cdef struct Finding:
        uint32_t rule
        Span span
        Span focus
        uint32_t command
        uint32_t classes
        uint32_t field
        cbool uncertain

    cdef cppclass Verdict:
        Finding findings[64]
        uint32_t count
        uint32_t left_out
        uint32_t marks

    cdef cppclass FlowState:
        FlowState()
        cbool valid()
        uint32_t marks
        uint32_t changed_lines

    cdef struct Config "tipstaff::gate::record::Config":
        uint32_t switches
        uint32_t diff_lines
        uint32_t run_diff_lines
        uint32_t uncertain_interactive
        uint32_t uncertain_unattended
        uint32_t on_error
        uint32_t undo_mb
        uint32_t undo_files
        uint32_t undo_wait_ms
        uint32_t undo_free_mb

    cdef struct RuleRecord "tipstaff::gate::record::Rule":
        uint32_t id
        uint32_t pack
        uint32_t reason
        uint32_t safer
        uint32_t severity
        uint32_t decision
        uint32_t because
        uint32_t former

    cdef cppclass RuleList "tipstaff::gate::Image::List<tipstaff::gate::record::Rule>":
        const RuleRecord* items
        uint32_t count

    cdef cppclass TextList "tipstaff::gate::Image::List<std::uint32_t>":
        const uint32_t* items
        uint32_t count

    cdef cppclass Image:
        Image()
        RuleList rules
        TextList allowlist
        Config config
        string_view secrets
        string_view text(uint32_t)

    cdef cppclass Settings:
        Settings()
        Config config
        cbool unattended

    cdef struct Field:
        string_view name
        string_view text
        uint32_t element

    cdef cppclass CSite "tipstaff::gate::CallSite":
        CSite()
        string_view cwd
        string_view repository
        string_view home
        string_view temporary
        string_view state
        string_view program
        cbool files

    cdef cppclass Call:
        Call()
        string_view tool
        uint32_t first_field
        uint32_t field_count
        const CSite* site

    cdef cppclass Room:
        Tree& tree(size_t) except +
        Verdict& verdict() noexcept

    cdef cppclass Trace "tipstaff::gate::rules::Trace":
        Trace()

    cdef struct Tried:
        uint32_t command
        uint32_t rule
        uint32_t held
        uint32_t decision

    cdef cppclass Event:
        Event()
        string_view tool
        const Field* fields
        uint32_t field_count

    Room& own_room() except +
    Trace tracing(vector[Tried]*) except +
    cdef cppclass Evidence:
        pass
    cdef cppclass CLosses "tipstaff::gate::Losses":
        CLosses()
        Evidence* open(const Config&) except +
        cbool loses() noexcept
        cbool wants_keeping() noexcept
        cbool keep(string_view, string_view, string_view, string_view) noexcept
        string_view id() noexcept
        string_view say(int, uint64_t) noexcept
    void judge(const Image&, const Settings&, const Call&, const Field*, Room&, FlowState*, Verdict*, const Trace*) except +
    void judge(const Image&, const Settings&, const Call&, const Field*, Room&, FlowState*, Verdict*, const Trace*, Evidence*, cbool*) except +
    uint32_t code_point_at(string_view, uint32_t) noexcept
    cbool set_image(vector[uint64_t]*, const unsigned char*, size_t, Image*, int*) except +
    uint64_t checksum_of "tipstaff::gate::image_checksum"(const unsigned char*, size_t) noexcept
    uint32_t changed_lines_of "tipstaff::gate::changed_lines"(const Event&) noexcept
    cbool allowed_by "tipstaff::gate::tool_allowed"(string_view, string_view) noexcept

cdef extern from *:
    """
    #include "gates/calls.hpp"
    #include "tipstaff/gate/patch/former.hpp"
    #include "tipstaff/gate/paths/classes.hpp"
    static inline void set_dialect(tipstaff::gate::Call& call, int d) { call.dialect = static_cast<tipstaff::gate::Dialect>(d); }
    static inline void decide_all(const tipstaff::gate::Image& image, const tipstaff::gate::Settings& settings,
                                  const std::vector<std::string_view>& commands, const tipstaff::gate::CallSite& site,
                                  int dialect, std::uint32_t threads, unsigned char* decisions) {
      tipstaff::gate::decide_all(image, settings, commands, site, static_cast<tipstaff::gate::Dialect>(dialect), threads,
                                 decisions);
    }
    static inline int decision_of(const tipstaff::gate::Finding& f) { return static_cast<int>(f.decision); }
    static inline int gate_of(const tipstaff::gate::Finding& f) { return static_cast<int>(f.gate); }
    static inline int dialect_of(const tipstaff::gate::Command& c) { return static_cast<int>(c.dialect); }
    static inline int node_dialect(const tipstaff::gate::Node& n) { return static_cast<int>(n.dialect); }
    static inline int node_kind(const tipstaff::gate::Node& n) { return static_cast<int>(n.kind); }
    static inline int reason_of(const tipstaff::gate::Uncertainty& u) { return static_cast<int>(u.reason); }
    static inline unsigned classes_of(const tipstaff::gate::CallSite& p, const tipstaff::gate::Command& c,
                                      const tipstaff::gate::Word& w) {
      return tipstaff::gate::classify_path(p.surroundings(), c, w);
    }
    """
    void set_dialect(Call&, int) noexcept nogil
    void decide_all(const Image&, const Settings&, const vector[string_view]&, const CSite&, int, uint32_t, unsigned char*) except + nogil
    int decision_of(const Finding&) noexcept nogil
    int gate_of(const Finding&) noexcept nogil
    int dialect_of(const Command&) noexcept nogil
    int node_dialect(const Node&) noexcept nogil
    int node_kind(const Node&) noexcept nogil
    int reason_of(const Uncertainty&) noexcept nogil
    unsigned classes_of(const CSite&, const Command&, const Word&) noexcept nogil

cdef extern from *:
    """
    namespace tipstaff::gate {
    // A tree that stays: for explanations.
    class OneTree {
     public:
      void read(const Image& image, const Settings& settings, const Call& call, const Field& field, Verdict* verdict) {
        Event event;
        event.fields = &field;
        event.field_count = 1;
        event.dialect = call.dialect;
        tree_ = &room_.tree(field.text.size());
        const rules::Trace whole;  // a tree is kept where somebody asks how it was judged
        evaluate(image, settings, event, call.site->surroundings(), *tree_, nullptr, verdict, &whole);
      }
      Tree* tree() { return tree_; }
     private:
      Room room_;
      Tree* tree_ = nullptr;
    };
    }
    """
    cdef cppclass OneTree "tipstaff::gate::OneTree":
        OneTree()
        void read(const Image&, const Settings&, const Call&, const Field&, Verdict*) except +
        Tree* tree()

cdef extern from "tipstaff/gate/patch/former.hpp" namespace "tipstaff::gate" nogil:
    cdef cppclass FormerParts:
        FormerParts(string_view, string_view, string_view)
        cbool next(Span*)

cdef extern from "tipstaff/dispatch.hpp" namespace "tipstaff" nogil:
    cdef cppclass LiteralFinder:
        pass
    LiteralFinder literal_finder(Isa) noexcept

cdef extern from "gates/watch.hpp" namespace "tipstaff::gate" nogil:
    cdef cppclass SecretWatch:
        SecretWatch()
        bint open(const unsigned char*, size_t, LiteralFinder) noexcept
        bint is_clean(string_view) noexcept
        bint is_clean_pair(string_view, string_view) noexcept
    bint names_directory(string_view) noexcept
    bint is_former_field(string_view) noexcept
