"""Which files this package wrote itself, on this machine: what a repository brings along is not believed for its name.

A note in the state folder, where no call may write, holds what the system knows of a file after it was written. A file
that was shipped, copied or written by anybody else has another inode or time of change, which no user can set.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import fnv64, make_private, state_folder


def note_written(path: Path) -> None:
    """Note that a file was written here; where the note cannot be kept, the file is not believed later."""
    with contextlib.suppress(OSError):
        note = _note_of(path)
        make_private(note.parent)
        with replaced_file(note) as file:
            file.write(_stamp(path))


def was_written_here(path: Path) -> bool:
    """Return whether a file is as it was when this package wrote it on this machine."""
    try:
        note = _note_of(path)
        if note.parent.stat().st_mode & 0o022:
            return False
        return note.read_bytes() == _stamp(path)
    except OSError:
        return False


def _note_of(path: Path) -> Path:
    return state_folder() / "stores" / f"{fnv64(os.fsencode(os.path.realpath(path))):016x}"


def _stamp(path: Path) -> bytes:
    about = path.stat()
    return b"%d %d %d %d %d\n" % (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
