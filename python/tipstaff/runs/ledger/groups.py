"""Group commit across processes: writers that wait for the database's lock share one transaction and one flush.

The first writer that finds the lock taken opens a group: a file beside the database, locked while the group lasts.
Later writers add their entries to it and wait for the file instead. When the first one has the lock, it removes the
file's name, records all entries of it with its own, and releases it; the others find theirs recorded. The file is only
a hint: what is not recorded in the end, because the leader died for example, its own writer records. Each line is
signed, since whoever reads it signs it into the chain.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import os
import time
from pathlib import Path
from typing import Final

import msgspec

from tipstaff.runs.ledger.entries import Entry

MAX_BYTES: Final = 1 << 20
"""Larger batches pay for a flush of their own."""

_MAX_FILE_BYTES: Final = 16 << 20
_FRESH_MS: Final = 60_000
_CODE_CHARS: Final = 64
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class _Line(msgspec.Struct, frozen=True, array_like=True):
    """Entries of one writer, and the machine's clock (milliseconds since its start) when it began to wait."""

    at: int
    entries: list[Entry]


class Group:
    """The group of writers that waits for one database. One thread at a time.

    Parameters
    ----------
    path
        The group's file.
    key
        The ledger's derived key.
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self._key = hmac.digest(key, b"group", "sha256")
        self._led: int | None = None

    def join(self, entries: list[Entry]) -> bool:
        """Add entries to the group that there is, and wait for its end; whether there was one.

        They are probably recorded then; the caller looks, and records what is not.
        """
        body = msgspec.json.encode(_Line(_now(), entries))
        if len(body) > MAX_BYTES:
            return False
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        with contextlib.suppress(OSError):
            try:
                os.write(file, self._code(body) + body + b"\n")
                fcntl.flock(file, fcntl.LOCK_SH)
            finally:
                os.close(file)
        return True

    def lead(self) -> None:
        """Open a group, where there is none; the caller waits for the database's lock next."""
        with contextlib.suppress(OSError):
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            self._led = os.open(self._path, flags, 0o600)
            fcntl.flock(self._led, fcntl.LOCK_EX)

    def take(self) -> list[list[Entry]]:
        """Close the group that this writer leads, or one whose leader died; returns the others' entries.

        The caller holds the database's lock, records them with its own, and calls :meth:`release`.
        """
        with contextlib.suppress(OSError):
            if self._led is None:
                file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(file)  # its leader lives, and waits for this writer
                    return []
                self._led = file
            self._path.unlink()
            data = os.pread(self._led, _MAX_FILE_BYTES, 0)
            return [entries for line in data.split(b"\n") if (entries := self._read(line))]
        return []

    def release(self) -> None:
        """Let the writers of the group continue."""
        if self._led is not None:
            file, self._led = self._led, None
            fcntl.flock(file, fcntl.LOCK_UN)  # also for a child that was forked meanwhile
            os.close(file)

    def _code(self, body: bytes) -> bytes:
        return hmac.digest(self._key, body, "sha256").hex().encode()

    def _read(self, line: bytes) -> list[Entry]:
        code, body = line[:_CODE_CHARS], line[_CODE_CHARS:]
        # Torn lines, and those of a writer without the key, have another code.
        if hmac.compare_digest(code, self._code(body)):
            with contextlib.suppress(msgspec.DecodeError):
                found = _DECODER.decode(body)
                # An old line must not bring back what retention has removed since.
                if 0 <= _now() - found.at <= _FRESH_MS:
                    return found.entries
        return []


def _now() -> int:
    return time.clock_gettime_ns(_CLOCK) // 1_000_000


_DECODER: Final = msgspec.json.Decoder(_Line)
