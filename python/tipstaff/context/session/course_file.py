"""A session's course on disk, one line of JSON a call, beside its snapshots: what other processes look at."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
from tipstaff.context.session.course import CallReport, SessionCourse
from tipstaff.errors import SourceError, SourceNotFoundError
from tipstaff.model import Record
from tipstaff.store.replacing import write_error

NAME: Final = "course.jsonl"


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


def append(folder: SnapshotFolder, session_id: str, report: CallReport, window: int, max_output: int, api: str) -> None:
    """Add a call to the course of a session; its first call begins the file again.

    Raises
    ------
    StoreWriteError
        If it cannot be written.
    """
    path = folder.made(session_id) / NAME
    line = msgspec.json.encode(report) + b"\n"
    first = report.number == 1
    if first:
        line = msgspec.json.encode(_Head(window=window, max_output=max_output, api=api)) + b"\n" + line
    try:
        with path.open("wb" if first else "ab") as file:
            file.write(line)
        if first:
            path.chmod(0o600)
    except OSError as error:
        raise write_error(path, error) from error


def read(folder: SnapshotFolder, session_id: str | None = None) -> RecordedCourse:
    """Return the course of a session: by default of the one that was at work last.

    Raises
    ------
    SourceNotFoundError
        If there is none.
    SourceError
        If it cannot be read.
    """
    if session_id is None:
        sessions = folder.sessions(NAME)
        if not sessions:
            raise SourceNotFoundError(2, "no session's course has been recorded here yet", str(folder.path))
        session_id = sessions[-1]
    path = folder.folder_of(session_id) / NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SourceNotFoundError(
            2, f"the course of session {session_id!r} has not been recorded", str(folder.path)
        ) from None
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise SourceError(msg) from error
    return _decoded(path, session_id, data)


def _decoded(path: Path, session_id: str, data: bytes) -> RecordedCourse:
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
