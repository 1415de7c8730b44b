"""A session's course on disk, one line of JSON a call, beside its snapshots: what other processes look at."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import Final

import msgspec

from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
from tipstaff.context.session.course import CallReport, SessionCourse
from tipstaff.errors import SourceError, SourceNotFoundError
from tipstaff.model import Record
from tipstaff.store.replacing import write_error

PATTERN: Final = "course-*.jsonl"
KEPT_RUNS: Final = 4
"""A session may be run again under its name, or twice at once: each run has a file of its own."""


class RecordedCourse(Record, frozen=True, kw_only=True):
    """The course of a session as it was recorded.

    Attributes
    ----------
    session_id
        Whose it is.
    window, max_output
        The model's window, and what of it was kept for the answer, in tokens.
    api
        Which API was called.
    course
        The calls.
    """

    session_id: str
    window: int
    max_output: int
    api: str
    course: SessionCourse


class _Head(Record, frozen=True, kw_only=True):
    window: int
    max_output: int
    api: str


class CourseWriter:
    """Records the calls of one run of a session.

    Parameters
    ----------
    folder
        Where sessions are recorded.
    session_id
        Whose calls they are.
    window, max_output, api
        As of `RecordedCourse`.
    """

    def __init__(self, folder: SnapshotFolder, session_id: str, *, window: int, max_output: int, api: str) -> None:
        self._folder = folder
        self._session = session_id
        self._head = msgspec.json.encode(_Head(window=window, max_output=max_output, api=api)) + b"\n"
        self._name = PATTERN.replace("*", f"{time.time_ns():x}-{os.getpid()}")

    def append(self, report: CallReport) -> None:
        """Add a call; with the first one, the files of the oldest runs are removed.

        Raises
        ------
        StoreWriteError
            If it cannot be written: then nothing of it is.
        """
        made = self._folder.made(self._session)
        path = made / self._name
        line = msgspec.json.encode(report) + b"\n"
        if report.number == 1:
            for old in _by_age(made)[: -(KEPT_RUNS - 1)]:
                with contextlib.suppress(OSError):
                    old.unlink()
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                before = os.fstat(descriptor).st_size
                if not before:
                    line = self._head + line
                if os.write(descriptor, line) < len(line):
                    os.ftruncate(descriptor, before)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise write_error(path, error) from error


def _by_age(folder: Path) -> list[Path]:
    """Return the files of a session's runs, the one that was written to last at the end."""
    found: list[tuple[int, Path]] = []
    for file in folder.glob(PATTERN):
        with contextlib.suppress(OSError):
            if (status := file.stat()).st_size:
                found.append((status.st_mtime_ns, file))
    return [file for _, file in sorted(found)]


def read(folder: SnapshotFolder, session_id: str | None = None) -> RecordedCourse:
    """Return the course of a session's last run: by default of the session that was active last.

    Raises
    ------
    SourceNotFoundError
        If there is none.
    SourceError
        If it cannot be read.
    """
    if session_id is None:
        sessions = folder.sessions(PATTERN)
        if not sessions:
            raise SourceNotFoundError(2, "no session's course has been recorded here yet", str(folder.path))
        session_id = sessions[-1]
    runs = _by_age(folder.folder_of(session_id))
    if not runs:
        raise SourceNotFoundError(2, f"the course of session {session_id!r} has not been recorded", str(folder.path))
    path = runs[-1]
    try:
        data = path.read_bytes()
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise SourceError(msg) from error
    return decoded(path, session_id, data)


def decoded(path: Path, session_id: str, data: bytes) -> RecordedCourse:
    """Return the course that is in a file.

    Raises
    ------
    SourceError
        If there is none in it.
    """
    # A last line without its end is of a call that is being written, or was when the power went.
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    try:
        head = msgspec.json.decode(lines[0] if lines else b"", type=_Head)
        calls = tuple(msgspec.json.decode(line, type=CallReport) for line in lines[1:])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        msg = f"{path}: not a course that this version reads: {error}"
        raise SourceError(msg) from error
    return RecordedCourse(
        session_id=session_id,
        window=head.window,
        max_output=head.max_output,
        api=head.api,
        course=SessionCourse(calls),
    )
