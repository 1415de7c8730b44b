"""Small text files that are read again only when they change."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

Value = TypeVar("Value")

RACY_NS: Final = 2_000_000_000
"""A file changed so recently may change again without a later time stamp: it is read each time."""

Stamp = tuple[int, int, int, int, int]


class Watched(NamedTuple, Generic[Value]):
    """What a file holds: a value, an error in one sentence, or neither where there is no such file."""

    value: Value | None
    error: str | None
    stamp: Stamp | None


class WatchedFiles(Generic[Value]):
    """A cache of what was made from files, by time of modification, time of change, size and inode.

    Parameters
    ----------
    max_bytes
        A larger file is an error.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._known: dict[Path, Watched[Value]] = {}

    def read(self, path: Path, make: Callable[[str], Value]) -> Watched[Value]:
        """Return what `make` makes of a file's text; it is called again only after the file changed."""
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._known.pop(path, None)
            return Watched(None, None, None)
        except (OSError, ValueError) as error:
            return Watched(None, f"It cannot be read: {_reason(error)}.", None)
        if not stat.S_ISREG(status.st_mode):
            return Watched(None, "It is not a regular file.", None)
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        now = time.time_ns()
        if status.st_size > self._max_bytes:
            return Watched(None, f"It has {status.st_size:,} bytes, more than the {self._max_bytes:,} allowed.", stamp)
        try:
            text = path.read_bytes()[: self._max_bytes + 1].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            found = Watched[Value](None, f"It is not UTF-8 at byte {error.start}; save it as UTF-8.", stamp)
        except OSError as error:
            return Watched(None, f"It cannot be read: {_reason(error)}.", None)
        else:
            found = Watched(make(text), None, stamp)
        if now - max(status.st_mtime_ns, status.st_ctime_ns) >= RACY_NS:
            self._known[path] = found
        else:
            self._known.pop(path, None)
        return found


def _reason(error: BaseException) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
