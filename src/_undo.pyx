# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""What files are to git, and what is kept before a call that would lose them."""

import os

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from "undo/keeping.hpp" namespace "tipstaff::undo" nogil:
    cdef cppclass Asked:
        int kind
        string a, b, folder
        int32_t number
    cdef cppclass Request:
        vector[Asked] effects
        vector[string] absent, moved_from, moved_to
        string state, command, session, working, root
        uint64_t bytes, free
        uint32_t files, walk, milliseconds
    cdef cppclass Answer:
        cbool done
        string folder, why, path
        uint32_t lost_files
        uint64_t lost_bytes
    void keep_native "tipstaff::undo::keep"(const Request&, Answer*) except +
    void classes_native "tipstaff::undo::classes"(const vector[string]&, vector[int]*) except +

CLASSES = ("unchanged", "staged", "changed", "untracked", "ignored", "regenerated", "repository", "folder", "outside")
KINDS = ("delete", "write", "replace", "below", "move", "worktree", "untracked", "ignored", "incoming", "index", "ref", "head", "stash", "reflogs", "elsewhere", "inside")


def classes(paths):
    """Return the class of what is at each absolute path, None where nothing is."""
    cdef vector[string] names
    cdef vector[int] found
    for path in paths:
        names.push_back(os.fsencode(path))
    with nogil:
        classes_native(names, &found)
    return [None if found[i] < 0 else CLASSES[found[i]] for i in range(found.size())]


def keep(effects, cwd, state, *, command="", session="", root="", limits=None, absent=(), moves=()):
    """Keep what some effects would lose; see :func:`tipstaff.undo.keep_paths`.

    Returns (folder of what was kept or None, why it could not be kept or None, the path that it is about, files that git
    would not give back, their bytes).
    """
    cdef Request request
    cdef Answer answer
    cdef Asked asked
    cdef dict most = {"bytes": 256 << 20, "free": 512 << 20, "files": 10_000, "walk": 200_000, "milliseconds": 2000, **(limits or {})}
    base = os.fsencode(cwd)
    for effect in effects:
        parts = effect[1:] if effect[0] == "git" else effect
        kind = parts[0]
        if kind not in KINDS:
            raise ValueError(f"effects: {kind!r} is none of {', '.join(KINDS)}")
        arguments = [part for part in parts[1:] if not isinstance(part, int)]
        numbers = [part for part in parts[1:] if isinstance(part, int)]
        asked.kind = KINDS.index(kind)
        asked.a = asked.b = b""
        asked.folder = base
        asked.number = numbers[0] if numbers else -1
        if arguments:
            is_name = kind in ("ref", "incoming")
            asked.a = os.fsencode(arguments[0]) if is_name else os.path.join(base, os.fsencode(arguments[0]))
            if kind == "move":
                asked.b = os.path.join(base, os.fsencode(arguments[1]))
        request.effects.push_back(asked)
    for path in absent:
        request.absent.push_back(os.fsencode(path))
    for move in moves:
        request.moved_from.push_back(os.fsencode(move[0]))
        request.moved_to.push_back(os.fsencode(move[1]))
    request.state, request.root = os.fsencode(state), os.fsencode(root)
    request.working = base
    request.command, request.session = os.fsencode(command), os.fsencode(session)
    request.bytes, request.free, request.files = most["bytes"], most["free"], most["files"]
    request.walk, request.milliseconds = most["walk"], most["milliseconds"]
    with nogil:
        keep_native(request, &answer)
    return (
        os.fsdecode(<bytes> answer.folder) if answer.folder.size() else None,
        None if answer.done else os.fsdecode(<bytes> answer.why),
        os.fsdecode(<bytes> answer.path),
        answer.lost_files,
        answer.lost_bytes,
    )
