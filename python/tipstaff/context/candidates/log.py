"""The log on disk: signed lines that are only ever appended, and replaced as a whole by compaction.

One process at a time reads or writes it, under an advisory lock on a file of its own beside it. An append is one
``write`` and, where asked for, one flush to the disk; only then is it acknowledged. A killed writer leaves at most one
line without its end, which was not acknowledged; the next writer ends that line and continues after it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from tipstaff.context.candidates.entries import DECODER, ENCODER, LINK_DECODER, AnyEntry, Entry, Started, Unknown
from tipstaff.context.candidates.image import VERSION, WORTH_ENTRIES, Image, digest_of, read_image, write_image
from tipstaff.context.candidates.quarantine import set_aside
from tipstaff.context.candidates.records import Incident
from tipstaff.context.candidates.signing import (
    PREVIOUS_CHARS,
    Head,
    HeadFile,
    checked_entry,
    entry_mac,
    load_key,
    signed_line,
)
from tipstaff.errors import StoreDamagedError
from tipstaff.store.replacing import replaced_file, write_error
from tipstaff.store.state import fnv64, make_private, repository_of, state_folder

_NO_INCIDENT: Final = Incident(kind="", detail="")


def _problem(offset: int, kind: str, detail: str) -> tuple[None, str, Incident]:
    return None, "", Incident(kind=kind, detail=f"byte {offset}: {detail}", offset=offset)


_PLAIN: Final = os.O_CLOEXEC | os.O_NOFOLLOW  # a link beside the log may lead anywhere


class LogUpdate(NamedTuple):
    """What came since the last read: whether to begin from nothing, then from which rows, and the entries."""

    from_start: bool
    rows: bytes
    entries: list[AnyEntry]


class CandidateLog:
    """One log with its key, head, lock, image and file of what was set aside.

    Parameters
    ----------
    path
        The log. Beside it are ``.key``, ``.head``, ``.lock``, ``.image`` and ``.set-aside.jsonl``.
    key
        The key, where it is kept elsewhere; read from its file, or made, if None.
    sync
        Whether an append is flushed to the disk before it returns.
    tag
        Settings on which the rows depend: an image made under others does not count.
    """

    def __init__(self, path: Path, *, key: bytes | None, sync: bool, tag: str = "") -> None:
        self.path = path
        self.sync = sync
        self.incidents: list[Incident] = []
        self.entries_in_file = 0
        self.head = Head("", 0, "")
        self._tag = tag
        self._given_key = key
        self._key = b""
        self._lock_descriptor = -1
        self._descriptor = -1
        self._identity = (0, 0)
        self._offset = 0
        self._open_line = False
        self._generation = 0
        self._loaded = False
        self._takes_image = True
        self._read_since_image = 0  # entries that the last load had to read from the log itself
        self._heads: HeadFile | None = None
        self._damage: list[tuple[bytes, Incident]] = []  # found and not yet copied out
        self._damage_is_safe = True

    def _key_file(self) -> Path:
        """Return where the key is: beside the log, but never in a repository, whose key anybody may have shipped."""
        if repository_of(Path(os.path.realpath(self.path.parent))) is None:
            return self.beside(".key")
        if self.beside(".key").exists():
            self._report("shipped key", f"{self.beside('.key')}: a key in a repository is not trusted; it is ignored")
        folder = state_folder() / "keys"
        make_private(folder)
        return folder / f"{fnv64(os.fsencode(os.path.realpath(self.path))):016x}.key"

    def beside(self, ending: str) -> Path:
        """Return the path of one of the files beside the log."""
        return self.path.with_name(self.path.name + ending)

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock that every process takes before it reads or writes."""
        if self._lock_descriptor < 0:
            try:
                self._lock_descriptor = os.open(self.beside(".lock"), os.O_RDWR | os.O_CREAT | _PLAIN, 0o600)
            except OSError as error:
                raise write_error(self.beside(".lock"), error) from error
        fcntl.flock(self._lock_descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock_descriptor, fcntl.LOCK_UN)

    def forget(self, *, image: bool = False) -> None:
        """Drop what is known of the file, and of its image if asked to, so that the next look reads it again."""
        self._loaded = False
        self._takes_image = not image

    def close(self) -> None:
        """Close every file; the next use opens them again. Also for a child process, whose locks are its parent's."""
        for descriptor in (self._lock_descriptor, self._descriptor):
            if descriptor >= 0:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        self._lock_descriptor = self._descriptor = -1
        if self._heads is not None:
            self._heads.close()
        self._loaded = False

    # -- reading, under the lock --------------------------------------------------------------------------------------

    def update(self) -> LogUpdate:
        """Return what came since the last read.

        Raises
        ------
        StoreDamagedError
            If the key is missing, or no line verifies; nothing is changed then.
        """
        if self._loaded:
            try:
                found = self.path.stat()
            except OSError:
                found = None
            if found is not None and (found.st_dev, found.st_ino) == self._identity:
                if found.st_size == self._offset:
                    return LogUpdate(False, b"", [])
                if found.st_size > self._offset:
                    return LogUpdate(False, b"", self._read(found.st_size))
        return self._load()

    @property
    def wants_image(self) -> bool:
        """Whether the last load read so much from the log that an image would spare the next one most of it."""
        sound = not self._open_line and all(found.kind == "exposed" for found in self.incidents)
        return sound and self._read_since_image >= max(WORTH_ENTRIES, self.entries_in_file // 4)

    def write_image(self, rows: bytes) -> None:
        """Keep what the log adds up to, for the next load."""
        self._read_since_image = 0
        digest = digest_of(self._pread(0, self._offset))
        image = Image(VERSION, self._tag, self._offset, digest, self.head, self.entries_in_file, self._generation, rows)
        write_image(self.beside(".image"), self._key, image)

    def _load(self) -> LogUpdate:
        self._loaded = False
        self._damage_is_safe = True
        self.incidents = []
        self._damage = []
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        size = self.path.stat().st_size if self.path.exists() else 0
        head_exists = self.beside(".head").exists()
        if self._given_key is None:
            key_file = self._key_file()
            self._key = load_key(key_file, may_create=size == 0 and not head_exists)
            if stat.S_IMODE(key_file.stat().st_mode) & 0o077:
                self._report("exposed", f"{key_file}: users other than its owner may read the key")
        else:
            self._key = self._given_key
        self._heads = HeadFile(self.beside(".head"), self._key)
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _PLAIN, 0o600)
        except OSError as error:
            raise write_error(self.path, error) from error
        found = os.fstat(self._descriptor)
        self._identity = (found.st_dev, found.st_ino)
        self._offset, self._open_line, self._generation, self.entries_in_file = 0, False, 0, 0
        known, strange = self._heads.read()
        self.head = Head(known.log if known else "", 0, "")
        data = self._pread(0, found.st_size)
        image = read_image(self.beside(".image"), self._key, self._tag, data) if self._takes_image else None
        self._takes_image = True
        if image is not None:
            self.head, self._offset = image.head, image.size
            self.entries_in_file, self._generation = image.entries, image.generation
            data = data[image.size :]
        entries = self._entries_of(data)
        self._read_since_image = len(entries)
        if found.st_size and not entries and image is None:
            msg = (
                f"{self.path}: none of its lines verifies: the file is damaged, or signed with another key; "
                "restore one of them, or move the file away (nothing was changed)"
            )
            raise StoreDamagedError(msg)
        self._compare_with(known, strange=strange, head_exists=head_exists)
        self._save_damage()
        self._loaded = True
        if not self.entries_in_file:
            self._begin()
        return LogUpdate(True, b"" if image is None else image.rows, entries)

    def _compare_with(self, known: Head | None, *, strange: bool, head_exists: bool) -> None:
        if known is None:
            if self.head.number or strange or head_exists:
                state = "does not verify" if head_exists else "is missing"
                self._report("anchor", f"{self.beside('.head')} {state}: a log that lost its end would not be noticed")
        elif known.number > self.head.number:
            gone = known.number - self.head.number
            detail = f"the log ends at entry {self.head.number}, and {known.number} was written: {gone} are gone"
            self._report("rolled-back", detail)
            # What follows takes up the chain after them, so that the gap shows for as long as the log exists.
            self.head = known

    def _begin(self) -> None:
        if not self.head.log:
            self.head = Head(secrets.token_hex(8), 0, "")
        import time

        self.append([Started(generation=1, at_us=time.time_ns() // 1000)])

    def _read(self, size: int) -> list[AnyEntry]:
        return self._entries_of(self._pread(self._offset, size - self._offset))

    def _entries_of(self, data: bytes) -> list[AnyEntry]:
        entries: list[AnyEntry] = []
        unread = 0  # lines since the last that counts, which may explain missing numbers
        offset = self._offset
        lines = data.split(b"\n")
        self._open_line = bool(lines[-1])
        for line in lines:
            if line:
                entry, mac, problem = self._entry_of(line, offset)
                if entry is None:
                    self._report(problem.kind, problem.detail, offset, line)
                    unread += 1
                else:
                    self._link(entry, unread, offset)
                    unread = 0
                    self.head = Head(entry.log, entry.number, mac)
                    self.entries_in_file += 1
                    if isinstance(entry, Started):
                        self._generation = entry.generation
                    elif isinstance(entry, Unknown):
                        self._report("unknown", f"entry {entry.number} is of a newer version: skipped", offset, line)
                    entries.append(entry)
            offset += len(line) + 1
        self._offset += len(data)
        if entries or self.head.number:
            self._save_damage()
        return entries

    def _entry_of(self, line: bytes, offset: int) -> tuple[AnyEntry | None, str, Incident]:
        checked = checked_entry(self._key, line)
        if checked is None:
            if not line.endswith(b"}}"):
                return _problem(offset, "torn", "an entry was cut off or garbled; it is skipped")
            return _problem(offset, "tampered", "an entry does not verify; it is skipped")
        entry: AnyEntry
        try:
            entry = DECODER.decode(checked[0])
        except (msgspec.DecodeError, UnicodeDecodeError):
            link = LINK_DECODER.decode(checked[0])
            entry = Unknown(log=link.log, number=link.number, previous=link.previous)
        if self.head.log and entry.log != self.head.log:
            return _problem(offset, "repeated", f"an entry of another log, {entry.log}, is here; it is skipped")
        if entry.number <= self.head.number:
            return _problem(offset, "repeated", f"entry {entry.number} comes after {self.head.number}; it is skipped")
        return entry, checked[1], _NO_INCIDENT

    def _link(self, entry: AnyEntry, unread: int, offset: int) -> None:
        if self.entries_in_file == 0:
            if not isinstance(entry, Started):
                self._report("missing", f"the log begins with entry {entry.number}: its beginning is gone", offset)
            return
        gap = entry.number - self.head.number - 1
        if gap > unread:
            first, last = self.head.number + 1, entry.number - 1
            self._report("missing", f"entries {first} to {last} are gone", offset)
        elif gap == 0 and entry.previous != self.head.mac[:PREVIOUS_CHARS]:
            self._report("missing", f"entry {entry.number} does not follow the entry before it", offset)

    def _pread(self, offset: int, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0:
            part = os.pread(self._descriptor, size, offset)
            if not part:
                break
            parts.append(part)
            offset += len(part)
            size -= len(part)
        return b"".join(parts)

    def _report(self, kind: str, detail: str, offset: int = -1, raw: bytes = b"") -> None:
        incident = Incident(kind=kind, detail=detail, offset=offset)
        self.incidents.append(incident)
        self._damage.append((raw, incident))

    def _save_damage(self) -> None:
        if self._damage and not set_aside(self.beside(".set-aside.jsonl"), self._damage):
            self._damage_is_safe = False
            detail = f"{self.beside('.set-aside.jsonl')} cannot be written; the log will not be compacted"
            self.incidents.append(Incident(kind="not-set-aside", detail=detail))
        self._damage.clear()

    # -- writing, under the lock --------------------------------------------------------------------------------------

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries in one piece; when this returns they are kept.

        Raises
        ------
        StoreWriteError
            If they could not be written; none of them counts then, and the log is to be read again.
        """
        head, data = self._signed(entries)
        if self._open_line:
            data = b"\n" + data
        self._loaded = False
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
            if self.sync:
                getattr(os, "fdatasync", os.fsync)(self._descriptor)  # not every system has the first
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._offset)
            raise write_error(self.path, error) from error
        self._offset += len(data)
        self.entries_in_file += head.number - self.head.number
        self._open_line = False
        self.head = head
        self._loaded = True
        # The entries are kept whatever happens here: a stale head is corrected by the next one.
        with contextlib.suppress(OSError):
            self._head_file().write(head)

    def replace(self, entries: Iterable[Entry], at_us: int) -> None:
        """Replace this generation of the log with a new one.

        Raises
        ------
        StoreWriteError
            If it could not be written, or damaged lines of the old one could not be set aside.
        """
        if not self._damage_is_safe:
            cause = OSError(5, "damaged lines could not be set aside, and would be lost")
            raise write_error(self.path, cause)
        started = Started(generation=self._generation + 1, at_us=at_us)
        head, data = self._signed([started, *entries])
        self._loaded = False
        with replaced_file(self.path) as file:
            file.write(data)
        self._head_file().write(head)

    def _signed(self, entries: Iterable[Entry]) -> tuple[Head, bytes]:
        log, number, mac = self.head
        lines: list[bytes] = []
        for entry in entries:
            number += 1
            entry.log, entry.number, entry.previous = log, number, mac[:PREVIOUS_CHARS]
            data = ENCODER.encode(entry)
            mac = entry_mac(self._key, data)
            lines.append(signed_line(data, mac))
        return Head(log, number, mac), b"".join(lines)

    def _head_file(self) -> HeadFile:
        assert self._heads is not None  # noqa: S101 - set by every load, and nothing is written before one
        return self._heads
