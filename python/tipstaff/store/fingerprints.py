"""Fingerprints: whether the sources of a store are still what they were, found out in well under a millisecond.

A rule file is read and hashed each time, since files' time stamps can be set. A folder is compared by its time stamp
first, and by the names in it where the stamp decides nothing: where it differs, or where it was so young that a change
in the same tick of the clock would not have moved it (file systems count in steps of up to two seconds).

The hashes are xxh3 with 128 bits: they find change, and are no defence against someone who makes two files collide.
"""

# Paths are bytes here, which pathlib does not take, and each microsecond counts.
# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Sequence
from typing import Final, Self, TypeAlias

import msgspec
import xxhash

from tipstaff.errors import StoreDamagedError

RACY_NS: Final = 2_000_000_000
"""A folder's time stamp is trusted if the scan came at least this much later: the coarsest clock of a file system."""

Relevant: TypeAlias = Callable[[str, str, str], bool]
"""Decides from a folder (as it was given), a name in it and that one's kind
(``f`` file, ``d`` folder, ``l`` symbolic link, ``o`` other) whether it counts."""

_UNREADABLE: Final = b""


class FileStamp(msgspec.Struct, frozen=True, array_like=True):
    """A rule file as it was.

    Attributes
    ----------
    path
        Relative to the root, in the file system's own bytes.
    digest
        xxh3 (128 bits) of the content; empty for what could not be read as a regular file.
    size
        In bytes; -1 for what could not be read.
    """

    path: bytes
    digest: bytes
    size: int


class DirectoryStamp(msgspec.Struct, frozen=True, array_like=True):
    """A folder as it was.

    Attributes
    ----------
    path
        Relative to the root, in the file system's own bytes.
    entries
        xxh3 (128 bits) of the sorted names with their kinds; empty for a folder that could not be read.
    status
        Device, inode, times of modification and of change in ns; zeros for a folder that could not be read. The time of
        modification can be set back, the time of change cannot.
    settled
        Whether both times were old enough to be trusted.
    disturbed
        Whether the folder changed after the scan had begun, so that nobody knows what the scan saw. A change
        within the tick of the clock in which the scan began, some milliseconds, goes unseen here.
    """

    path: bytes
    entries: bytes
    status: tuple[int, int, int, int]
    settled: bool
    disturbed: bool


class Fingerprint(msgspec.Struct, frozen=True, array_like=True):
    """What a set of sources was like; equal fingerprints do not matter, :func:`is_unchanged` does.

    Attributes
    ----------
    salt
        What else the result depended on: configuration, program version.
    scanned_ns
        When the scan began, in ns since 1970.
    files, directories
        In the order given.
    """

    salt: str
    scanned_ns: int
    files: tuple[FileStamp, ...]
    directories: tuple[DirectoryStamp, ...]

    def to_bytes(self) -> bytes:
        """Return the fingerprint as MessagePack."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the fingerprint that :meth:`to_bytes` gave.

        Raises
        ------
        StoreDamagedError
            If `data` is no such thing.
        """
        try:
            return msgspec.msgpack.decode(data, type=cls)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoreDamagedError("the fingerprint of the sources cannot be decoded; compile again") from error


def fingerprint_sources(
    root: str | os.PathLike[str],
    files: Sequence[str],
    directories: Sequence[str],
    *,
    salt: str = "",
    relevant: Relevant | None = None,
    now_ns: int | None = None,
) -> Fingerprint:
    """Take the fingerprint of sources.

    Parameters
    ----------
    root
        Folder of the repository.
    files
        Rule files, relative to `root`. One that cannot be read is stamped as such: appearing is a change.
    directories
        Folders that were scanned for rule files, relative to `root` (``"."`` is the root); symbolic links are followed.
    salt
        Whatever else the result depends on, such as configuration and version.
    relevant
        Which entries of a folder matter; None takes all.
    now_ns
        When the scan for `files` began, in ns since 1970; None is now. A folder that changed since then counts
        as changed for good, as its new entries may not have been seen.
    """
    scanned_ns = time.time_ns() if now_ns is None else now_ns
    base = os.fsencode(root)
    return Fingerprint(
        salt,
        scanned_ns,
        tuple(_stamp_file(base, os.fsencode(path)) for path in files),
        tuple(_stamp_directory(base, os.fsencode(path), relevant, scanned_ns) for path in directories),
    )


def is_unchanged(
    fingerprint: Fingerprint, root: str | os.PathLike[str], *, salt: str = "", relevant: Relevant | None = None
) -> bool:
    """Return whether a scan and a compilation today would find what they found then.

    Parameters
    ----------
    fingerprint
        From :func:`fingerprint_sources`.
    root, salt, relevant
        As given there.
    """
    if fingerprint.salt != salt:
        return False
    base = os.fsencode(root)
    try:
        return _same_directories(base, fingerprint.directories, relevant) and _same_files(base, fingerprint.files)
    except OSError:  # there is no such root any more
        return False


def _stamp_file(base: bytes, path: bytes) -> FileStamp:
    content = _read(os.path.join(base, path))
    if content is None:
        return FileStamp(path, _UNREADABLE, -1)
    return FileStamp(path, xxhash.xxh3_128_digest(content), len(content))


def _same_files(base: bytes, stamps: Sequence[FileStamp]) -> bool:
    from tipstaff.kernels import read_files

    missing = [stamp.path for stamp in stamps if not stamp.digest and b"\0" not in stamp.path]
    there = [path for path, status in zip(missing, _statuses(base, missing), strict=True) if any(status)]
    if any(_read(os.path.join(base, path)) is not None for path in there):
        return False
    readable = [stamp for stamp in stamps if stamp.digest]
    contents = read_files(base, [stamp.path for stamp in readable], [stamp.size for stamp in readable])
    return all(
        content is not None and xxhash.xxh3_128_digest(content) == stamp.digest
        for stamp, content in zip(readable, contents, strict=True)
    )


def _read(path: bytes) -> bytes | None:
    """Return the content of a regular file, None where there is none."""
    try:
        # Non-blocking, or a pipe of this name would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        # One byte more than there should be shows a file that grows; a short read, one that shrinks.
        content = os.read(descriptor, status.st_size + 1)
        while len(content) < status.st_size:
            more = os.read(descriptor, status.st_size + 1 - len(content))
            if not more:
                break
            content += more
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content


def _status(path: bytes) -> tuple[int, int, int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def _entries(path: bytes, folder: bytes, relevant: Relevant | None) -> bytes:
    """Return the digest of a folder's sorted names and kinds, empty for a folder that cannot be read."""
    try:
        with os.scandir(path) as found:
            lines = [_line(entry) for entry in found]
    except (OSError, ValueError):
        return _UNREADABLE
    if relevant is not None:
        here = os.fsdecode(folder)
        lines = [line for line in lines if relevant(here, os.fsdecode(line[:-2]), chr(line[-1]))]
    return xxhash.xxh3_128_digest(b"\0".join(sorted(lines)))


def _line(entry: os.DirEntry[bytes]) -> bytes:
    # A name holds neither slash nor NUL.
    if entry.is_symlink():
        return entry.name + b"/l"
    if entry.is_dir(follow_symlinks=False):
        return entry.name + b"/d"
    return entry.name + (b"/f" if entry.is_file(follow_symlinks=False) else b"/o")


def _stamp_directory(base: bytes, path: bytes, relevant: Relevant | None, scanned_ns: int) -> DirectoryStamp:
    full = os.path.join(base, path)
    # The stamp first: what changes between the two is in the entries and shows as a stamp that differs.
    status = _status(full)
    entries = _entries(full, path, relevant)
    if status is None or not entries:
        return DirectoryStamp(path, _UNREADABLE, (0, 0, 0, 0), settled=False, disturbed=False)
    times, now_ns = status[2:], time.time_ns()
    settled = max(times) <= scanned_ns - RACY_NS
    # A time in the future was set by hand or by another machine's clock, and says nothing about the scan.
    disturbed = any(scanned_ns < changed_ns <= now_ns for changed_ns in times)
    return DirectoryStamp(path, entries, status, settled, disturbed)


def _same_directories(base: bytes, stamps: Sequence[DirectoryStamp], relevant: Relevant | None) -> bool:
    if any(stamp.disturbed for stamp in stamps):
        return False
    settled = [stamp for stamp in stamps if stamp.settled]
    found = _statuses(base, [stamp.path for stamp in settled])
    same = {stamp.path for stamp, status in zip(settled, found, strict=True) if status == stamp.status}
    return all(
        stamp.path in same or _entries(os.path.join(base, stamp.path), stamp.path, relevant) == stamp.entries
        for stamp in stamps
    )


def _statuses(base: bytes, paths: Sequence[bytes]) -> list[tuple[int, ...]]:
    """Return the status of folders, at once: each question by itself would hand the interpreter to another thread."""
    from tipstaff.kernels import stat_folders

    found = stat_folders(base, paths).tolist()
    return [tuple(found[at : at + 4]) for at in range(0, len(found), 4)]
