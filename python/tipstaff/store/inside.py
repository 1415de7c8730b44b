"""Whether a path of a repository stays in it: links come with a clone, from whoever made it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from tipstaff.errors import StoreWriteError
from tipstaff.store.state import repository_of

_FIX: Final = "a link out of the repository; replace it with a file or folder"


def leads_out(path: Path, root: Path) -> bool:
    """Return whether a link on the way leads a path out of a folder."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def refuse_links_out(path: Path, root: Path | None = None) -> None:
    """Raise where a path that is to be written is in a folder by its words, and elsewhere by its links.

    Parameters
    ----------
    path
        A file or folder, there or not.
    root
        The folder; the repository that holds the path by its words if None, and outside of repositories all is well.

    Raises
    ------
    StoreWriteError
        A link leads it out.
    """
    base = repository_of(Path(os.path.abspath(path)).parent) if root is None else root  # noqa: PTH100 - by its words
    if base is not None and leads_out(path, base):
        raise StoreWriteError(errno.ELOOP, _FIX, str(path))
