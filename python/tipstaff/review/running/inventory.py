"""The repository's files and a digest of each, so that a set of inputs has a digest too.

What was read once is remembered with the file's size, times and inode in ``.tipstaff/cache/files.msgpack``; a file
that was changed as late as it was read may change again unseen and is read again. A cache that cannot be read or
written costs time, never a verdict.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
import xxhash

from tipstaff.kernels import stat_files
from tipstaff.review.cache_folder import CACHE_FOLDER, write_cache
from tipstaff.review.repository import list_files

FILES_NAME: Final = "files.msgpack"

RACY_NS: Final = 50_000_000
"""A file changed within so many ns before it was read is not trusted: the clock of file systems is coarse."""

_MISSING: Final = b"missing"


class Stamp(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a file was like when it was read: size, mtime and ctime in ns, inode, digest, and whether to trust it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    digest: bytes
    settled: bool

    @property
    def about(self) -> tuple[int, int, int, int]:
        """What a file is known by: size, mtime and ctime in ns, inode."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


class Inventory:
    """Files of a repository and their digests.

    Parameters
    ----------
    root
        The repository's folder.

    Attributes
    ----------
    state
        A digest of the names, sizes, times and inodes of all files.
    settled
        Whether no file was changed so late that another change could leave `state` as it is.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[str, Stamp] | None = None
        self._stamps: dict[str, Stamp] = {}
        self._changed = False
        self._look()

    def _look(self) -> None:
        self.files = list_files(self.root)
        now = time.time_ns()
        stats = stat_files(self.root, self.files)
        self._index = {path: index for index, path in enumerate(self.files)}
        self._stats = stats
        total = xxhash.xxh3_128("\0".join(self.files).encode("utf-8", "surrogateescape"))
        total.update(stats)
        self.state = total.hexdigest()
        times = stats.tolist()
        latest = max(max(times[1::4], default=0), max(times[2::4], default=0))
        self.settled = latest < now - RACY_NS

    def refresh(self) -> None:
        """List the files again and forget what was read: commands have run since."""
        self._known = self._remembered() | self._stamps
        self._stamps = {}
        self._look()

    def digest(self, paths: Iterable[str]) -> bytes:
        """Return a digest of the paths and contents of files; an unreadable one counts as missing."""
        total = xxhash.xxh3_128()
        for path in paths:
            stamp = self._stamps.get(path) or self._stamp(path)
            # No name holds a NUL, and digests are of one length.
            total.update(os.fsencode(path) + b"\0" + stamp.digest)
        return total.digest()

    def save(self) -> None:
        """Remember what was read; does nothing where that is not possible."""
        if not self._changed:
            return
        known = {path: stamp for path, stamp in (self._remembered() | self._stamps).items() if path in self._index}
        with contextlib.suppress(OSError):
            write_cache(self.root, FILES_NAME, msgspec.msgpack.encode(known))

    def _stamp(self, path: str) -> Stamp:
        known = self._remembered().get(path)
        start = 4 * self._index[path]
        size, mtime_ns, ctime_ns, inode = self._stats[start : start + 4].tolist()
        if size < 0:
            stamp = Stamp(0, 0, 0, 0, _MISSING, settled=False)
        elif known is not None and known.settled and (size, mtime_ns, ctime_ns, inode) == known.about:
            stamp = known
        else:
            stamp = self._read(f"{self.root}/{path}")
            self._changed = True
        self._stamps[path] = stamp
        return stamp

    def _remembered(self) -> dict[str, Stamp]:
        if self._known is None:
            self._known = _read(self.root / CACHE_FOLDER / FILES_NAME)
        return self._known

    @staticmethod
    def _read(full: str) -> Stamp:
        digest = _MISSING
        now = time.time_ns()
        try:
            about = os.lstat(full)
            if stat.S_ISLNK(about.st_mode):
                digest = xxhash.xxh3_128_digest(b"link\0" + os.fsencode(os.readlink(full)))  # noqa: PTH115
            elif stat.S_ISREG(about.st_mode):
                with open(full, "rb") as file:  # noqa: PTH123 - thousands of them
                    content = file.read()
                digest = xxhash.xxh3_128_digest((b"x" if about.st_mode & 0o100 else b"-") + content)
        except OSError:
            return Stamp(0, 0, 0, 0, _MISSING, settled=False)
        settled = digest != _MISSING and max(about.st_mtime_ns, about.st_ctime_ns) < now - RACY_NS
        return Stamp(about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino, digest, settled)


def _read(path: Path) -> dict[str, Stamp]:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=dict[str, Stamp])
    except (OSError, msgspec.MsgspecError, ValueError):
        return {}
