"""Writing a file so that whoever reads it finds the old content or the new, never a part of either."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, Final

from tipstaff.errors import StoreWriteError

STALE_AFTER_S: Final = 600.0
"""A temporary file that nobody has written to for this long belongs to a writer that died."""


@contextlib.contextmanager
def replaced_file(path: str | os.PathLike[str], *, durable: bool = True) -> Generator[BinaryIO]:
    """Open a temporary file that takes the place of `path` when the block ends without an error.

    The file is made in the same directory, readable and writable for its owner only, flushed to the disk and renamed.
    Of two writers at once, the later rename stays. If anything fails the temporary file is removed and `path` is as it
    was. Temporary files that a killed writer left are removed by the next writer, once they are old.

    Parameters
    ----------
    path
        Its directory must exist.
    durable
        Whether it is flushed to the disk before it is renamed. Without that a power cut may leave it empty, and a call
        returns milliseconds sooner: for what is worth less than the wait.

    Yields
    ------
    BinaryIO
        Seekable, open for reading and writing.

    Raises
    ------
    StoreWriteError
        For any `OSError`: no space, no permission, no such directory.
    """
    # Slow to import, and who only reads a store does without.
    import tempfile

    target = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise write_error(target, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w+b", buffering=1 << 20) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and not isinstance(error, StoreWriteError):
            raise write_error(target, error) from error
        raise
    if durable:
        _sync_directory(target.parent)
    _remove_stale(target)


def write_error(path: Path, cause: BaseException) -> StoreWriteError:
    """Return the error that says why `path` could not be written; it carries the cause's `errno`."""
    code = cause.errno if isinstance(cause, OSError) and cause.errno else errno.EINVAL
    reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return StoreWriteError(code, f"could not be written: {reason}; what was there before is unharmed", str(path))


def _sync_directory(directory: Path) -> None:
    # The new content is in place and complete; if only this fails (some file systems refuse it), a power cut may bring
    # back the old one, which is complete as well.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_stale(target: Path) -> None:
    ours = re.compile(re.escape(f".{target.name}.") + r"[a-z0-9_]{8}\.tmp")
    oldest = time.time() - STALE_AFTER_S
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) is None:
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    Path(entry.path).unlink()
