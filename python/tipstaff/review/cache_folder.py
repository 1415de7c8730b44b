"""The folder of a repository in which results that can be computed again are kept; git ignores it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tipstaff.store.replacing import replaced_file

CACHE_FOLDER: Final = ".tipstaff/cache"
_IGNORE_ALL: Final = b"*\n"


def write_cache(root: Path, name: str, data: bytes) -> None:
    """Write a file of a repository's cache folder.

    Raises
    ------
    OSError
        If it cannot be written; what was there before is unharmed.
    """
    folder = root / CACHE_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    for path, content in ((ignore, _IGNORE_ALL), (folder / name, data)):
        if path != ignore or not ignore.exists():
            # What a power cut leaves empty is computed again.
            with replaced_file(path, durable=False) as file:
                file.write(content)
