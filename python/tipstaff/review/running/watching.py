"""Whether any file of a repository has changed since it was last looked at."""

from __future__ import annotations

import os
from pathlib import Path

import xxhash

from tipstaff.review.repository import list_files


def fingerprint(root: Path) -> bytes:
    """Return a digest of the names, sizes and times of a repository's files."""
    total = xxhash.xxh3_128()
    for path in list_files(root):
        try:
            about = os.lstat(f"{root}/{path}")
        except OSError:
            continue
        total.update(
            f"{path}\0{about.st_size}\0{about.st_mtime_ns}\0{about.st_ino}\n".encode("utf-8", "surrogateescape")
        )
    return total.digest()
