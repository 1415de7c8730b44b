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

from tipstaff.errors import StoreWriteError
from tipstaff.review.repository import list_files
from tipstaff.store.replacing import replaced_file

CACHE_FOLDER: Final = ".tipstaff/cache"
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


class Inventory:
    """Files of a repository and their digests.

    Parameters
    ----------
    root
        The repository's folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[str] = list_files(root)
        self._known = _read(root / CACHE_FOLDER / FILES_NAME)
        self._stamps: dict[str, Stamp] = {}
        self._changed = False

    def refresh(self) -> None:
        """List the files again and forget what was read: commands have run since."""
        self.files = list_files(self.root)
        self._known |= self._stamps
        self._stamps = {}

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
        known = {path: stamp for path, stamp in (self._known | self._stamps).items() if path in set(self.files)}
        if not self._changed and len(known) == len(self._known):
            return
        with contextlib.suppress(StoreWriteError, OSError):
            write_cache(self.root, FILES_NAME, msgspec.msgpack.encode(known))

    def _stamp(self, path: str) -> Stamp:
        full = f"{self.root}/{path}"
        known = self._known.get(path)
        try:
            about = os.lstat(full)
        except OSError:
            stamp = Stamp(0, 0, 0, 0, _MISSING, settled=False)
        else:
            if (
                known is not None
                and known.settled
                and known.mtime_ns == about.st_mtime_ns
                and known.size == about.st_size
                and known.ctime_ns == about.st_ctime_ns
                and known.inode == about.st_ino
            ):
                stamp = known
            else:
                stamp = self._read(full, about)
                self._changed = True
        self._stamps[path] = stamp
        return stamp

    @staticmethod
    def _read(full: str, about: os.stat_result) -> Stamp:
        now = time.time_ns()
        digest = _MISSING
        with contextlib.suppress(OSError):
            if stat.S_ISLNK(about.st_mode):
                digest = xxhash.xxh3_128_digest(b"link\0" + os.fsencode(os.readlink(full)))  # noqa: PTH115
            elif stat.S_ISREG(about.st_mode):
                with open(full, "rb") as file:  # noqa: PTH123 - thousands of them
                    content = file.read()
                mode = b"x" if about.st_mode & 0o100 else b"-"
                digest = xxhash.xxh3_128_digest(mode + content)
        settled = digest != _MISSING and max(about.st_mtime_ns, about.st_ctime_ns) < now - RACY_NS
        return Stamp(about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino, digest, settled)


def write_cache(root: Path, name: str, data: bytes) -> None:
    """Write a file of the cache folder, which git ignores.

    Raises
    ------
    OSError
        If it cannot be written; what was there before is unharmed.
    """
    folder = root / CACHE_FOLDER
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    with replaced_file(folder / name) as file:
        file.write(data)


def _read(path: Path) -> dict[str, Stamp]:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=dict[str, Stamp])
    except (OSError, msgspec.MsgspecError, ValueError):
        return {}
