"""The one way to open what is not ours: a regular file of a bounded size, without waiting for anything.

A pipe, a device, a folder or a file that is longer than what is asked for is an error of the system's kind, so that
callers report it as they report a file that nobody may read. `tests/test_layers.py` refuses other ways.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

MOST_BYTES: Final = 64 << 20
"""What a file may have where its reader does not say less, or more."""

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def open_untrusted(path: str | os.PathLike[str], *, most: int = MOST_BYTES, root: Path | None = None) -> BinaryIO:
    """Open a file for reading.

    Parameters
    ----------
    path
        The file.
    most
        How many bytes it may have.
    root
        A folder that no link may lead it out of; None: links are followed.

    Raises
    ------
    OSError
        It cannot be read, is no regular file, is longer, or is elsewhere.
    """
    if root is not None and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        raise OSError(errno.ELOOP, f"a link leads it out of {root}", os.fspath(path))
    descriptor = os.open(path, _FLAGS)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            code = errno.EISDIR if stat.S_ISDIR(about.st_mode) else errno.EINVAL
            raise OSError(code, "it is no regular file", os.fspath(path))
        if about.st_size > most:
            raise OSError(errno.EFBIG, f"it has {about.st_size:,} bytes; at most {most:,} are read", os.fspath(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_untrusted(path: str | os.PathLike[str], *, most: int = MOST_BYTES, root: Path | None = None) -> bytes:
    """Return what is in a file, as `open_untrusted` opens it; of one that grows meanwhile the first bytes."""
    with open_untrusted(path, most=most, root=root) as file:
        return file.read(most)


def read_untrusted_text(
    path: str | os.PathLike[str], encoding: str = "utf-8", errors: str = "strict", *, most: int = MOST_BYTES
) -> str:
    """Return what is in a file as text, with line ends as Python has them."""
    return read_untrusted(path, most=most).decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")
