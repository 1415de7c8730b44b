"""The policy as the hook program maps it: an image, what it was compiled from, and the repository that it is for.

Policy files lie outside every repository, in the owner's state folder, where an agent that works in the repository has
no business; the hook program takes only a file that nobody but the owner may write. The layout is that of
``native/include/tipstaff/hook/policy.hpp``.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import fast_sum, fnv64, make_private, source_line, state_folder, with_parts

MAGIC: Final = b"TIPSPLCY"
VERSION: Final = 1
HEAD: Final = struct.Struct("<8sII Q IIIIII Q")
PACKS_FOLDER: Final = ".tipstaff/packs"
SECRETS_FOLDER: Final = ".tipstaff/secrets"
SETTINGS_FILE: Final = ".tipstaff/gates.toml"


def policy_path(repository: Path | None, state: Path) -> Path:
    """Return where a repository's policy is; the default one's place where there is no repository."""
    name = "default" if repository is None else f"{fnv64(os.fsencode(repository)):016x}"
    return state / "policy" / f"{name}.policy"


def policy_sources(repository: Path | None) -> list[Path]:
    """Return the files and folders of a repository that its policy is compiled from, there or not."""
    if repository is None:
        return []
    folders = [repository / PACKS_FOLDER, repository / SECRETS_FOLDER]
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.toml"))]
    return [repository / SETTINGS_FILE, *folders, *found]


def pack_policy(image: bytes, repository: Path | None, sources: list[Path]) -> bytes:
    """Return the bytes of a policy file.

    Parameters
    ----------
    image
        As `tipstaff.gates.image.policy_image.compile_image` gives it.
    repository
        Its root, absolute; None for the default policy.
    sources
        What the image was compiled from: the hook says so when one of them has changed.
    """
    root = b"" if repository is None else os.fsencode(repository)
    lines = b"".join(source_line(path) for path in sources)
    parts = (image, lines, root)
    data, extents = with_parts(HEAD.size, parts)
    data[: HEAD.size] = HEAD.pack(MAGIC, VERSION, HEAD.size, len(data), *extents, fast_sum(data[HEAD.size :]))
    return bytes(data)


def write_policy(image: bytes, repository: Path | None, *, state: Path | None = None) -> Path:
    """Write a policy file, owner-only, and return its path.

    Raises
    ------
    StoreWriteError
        If it cannot be written; a former policy is unharmed.
    """
    path = policy_path(repository, state_folder() if state is None else state)
    make_private(path.parent)
    with replaced_file(path) as file:
        file.write(pack_policy(image, repository, policy_sources(repository)))
    return path
