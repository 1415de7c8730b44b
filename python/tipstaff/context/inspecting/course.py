"""The course of a session: what each call took, what of it came from the cache, and what broke the cache.

It is recorded beside the session's snapshots, one line of JSON a call, for other processes to look at.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import Final

import msgspec

from tipstaff.context.inspecting.snapshot import SnapshotFolder
from tipstaff.errors import SourceError, SourceNotFoundError
from tipstaff.model import Record
from tipstaff.store.replacing import write_error
from tipstaff.store.untrusted import read_untrusted

_READ_PRICE: Final = 0.1
_WRITE_PRICE: Final = {"anthropic": 1.25, "openai-chat": 1.0, "openai-responses": 1.0}
_LEAST_CACHED_TOKENS: Final = 1_024
"""Prices of the providers' caches, over the full one; source: the Messages API's page on prompt caching."""


class CallReport(Record, frozen=True, kw_only=True):
    """One call of a session; tokens as the provider reported them (`measured`), else estimated.

    Attributes
    ----------
    prefix_tokens, cached_tokens
        How much of the request was, byte for byte, the beginning of the previous one; what the provider says it read
        from its cache, None where it does not say.
    cost
        What the request cost with a cache, modelled, in tokens at the full price.
    broken_by, break_cost
        Why the beginning differs from the request before: ``pruned``, ``summarized``, ``history``, ``system``,
        ``tools``; and the difference to the same request with its beginning in the cache.
    saved_tokens
        What a pruning or compaction took out.
    """

    number: int
    tokens: int
    measured: bool = False
    output_tokens: int = 0
    prefix_tokens: int = 0
    cached_tokens: int | None = None
    cost: float = 0.0
    broken_by: str = ""
    break_cost: float = 0.0
    saved_tokens: int = 0

    @property
    def prefix_share(self) -> float:
        """The unchanged share of the request, 0 to 1."""
        return self.prefix_tokens / self.tokens if self.tokens else 0.0


class SessionCourse(Record, frozen=True):
    """All calls of a session, and what they add up to."""

    calls: tuple[CallReport, ...] = ()

    @property
    def tokens(self) -> int:
        """Input tokens of all calls."""
        return sum(call.tokens for call in self.calls)

    @property
    def cost_share(self) -> float:
        """What the calls cost over what they would have cost without a cache."""
        return sum(call.cost for call in self.calls) / self.tokens if self.tokens else 0.0

    @property
    def prefix_share(self) -> float:
        """Mean unchanged share over all calls but the first."""
        later = self.calls[1:]
        return sum(call.prefix_share for call in later) / len(later) if later else 0.0

    @property
    def compactions(self) -> int:
        """How many calls came after a pruning or a compaction."""
        return sum(call.broken_by in {"pruned", "summarized"} for call in self.calls)


def cost_of(tokens: int, prefix: int, api: str) -> float:
    """Return the modelled cost of a request of which `prefix` tokens are in the cache, in tokens at the full price."""
    read = min(prefix, tokens)
    read = read if read >= _LEAST_CACHED_TOKENS else 0
    return _READ_PRICE * read + _WRITE_PRICE[api] * (tokens - read)


PATTERN: Final = "course-*.jsonl"
KEPT_RUNS: Final = 4
"""A session may be run again under its name, or twice at once: each run has a file of its own."""


class RecordedCourse(Record, frozen=True, kw_only=True):
    """The course of a session as it was recorded, with the model's window and what of it is the answer's, in tokens."""

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
    """Records the calls of one run of a session."""

    def __init__(self, folder: SnapshotFolder, session_id: str, *, window: int, max_output: int, api: str) -> None:
        self._folder = folder
        self._session = session_id
        self._head = msgspec.json.encode(_Head(window=window, max_output=max_output, api=api)) + b"\n"
        self._name = PATTERN.replace("*", f"{time.time_ns():x}-{os.getpid()}")

    def append(self, report: CallReport) -> None:
        """Add a call; with the first one, the files of the oldest runs are removed.

        Raises `StoreWriteError` if it cannot be written: then nothing of it is.
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

    Raises `SourceNotFoundError` if there is none. Raises `SourceError` if it cannot be read.
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
        data = read_untrusted(path)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}") from error
    return decoded(path, session_id, data)


def decoded(path: Path, session_id: str, data: bytes) -> RecordedCourse:
    """Return the course that is in a file.

    Raises `SourceError` if there is none in it.
    """
    # A last line without its end is of a call that is being written, or was when the power went.
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    try:
        head = msgspec.json.decode(lines[0] if lines else b"", type=_Head)
        calls = tuple(msgspec.json.decode(line, type=CallReport) for line in lines[1:])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: not a course that this version reads: {error}") from error
    return RecordedCourse(
        session_id=session_id,
        window=head.window,
        max_output=head.max_output,
        api=head.api,
        course=SessionCourse(calls),
    )
