"""Appending lines to a file that many processes write at once, as ``append_line`` of ``hook/state.hpp`` does."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def append_line(path: Path, line: bytes) -> None:
    """Append one line in one write, so that lines of many processes never mix.

    Of a line that is cut short (a full disk) the rest is given up, and its last byte becomes the line's end: there is
    no room for one more, and the next line must not go on where this one stops. What a writer that was killed, or a
    machine that stopped, left without an end is ended first; where two do so at once, an empty line is between theirs.

    Parameters
    ----------
    path
        A regular file, made for its owner alone where it is missing; a link is not followed.
    line
        With its end.

    Raises
    ------
    OSError
        It cannot be written, or is no regular file; `ENOSPC` where only a part of the line was written.
    """
    file = os.open(path, os.O_RDWR | _FLAGS, 0o600)
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        size = about.st_size
        if size > 0 and os.pread(file, 1, size - 1) != b"\n" and os.fstat(file).st_size == size:
            line = b"\n" + line  # a size that grows is that of a line which another process is writing
        put = os.write(file, line)
        if put == len(line):
            return
        if put > 0:
            _end_at(path, os.lseek(file, 0, os.SEEK_CUR) - 1)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(file)


def _end_at(path: Path, at: int) -> None:
    file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)  # pwrite appends to what is open for appending
    try:
        os.pwrite(file, b"\n", at)
    finally:
        os.close(file)
