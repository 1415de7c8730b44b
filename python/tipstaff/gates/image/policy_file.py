"""The policy as the hook program maps it: an image, what it was compiled from, and the repository that it is for.

Policy files lie outside every repository, in the owner's state folder, where an agent that works in the repository has
no business; the hook program takes only a file that nobody but the owner may write. The layout is that of
``native/include/tipstaff/hook/policy.hpp``.
"""

from __future__ import annotations

import os
import struct
from functools import cache
from pathlib import Path
from typing import Final

from tipstaff import __version__
from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import fast_sum, fnv64, make_private, note_compiler, source_line, state_folder, with_parts

MAGIC: Final = b"TIPSPLCY"
VERSION: Final = 2
HEAD: Final = struct.Struct("<8sII Q IIIIII Q II Q")
PACKS_FOLDER: Final = ".tipstaff/packs"
SECRETS_FOLDER: Final = ".tipstaff/secrets"
SETTINGS_FILE: Final = ".tipstaff/gates.toml"


def policy_path(repository: Path, state: Path) -> Path:
    """Return where a repository's policy is."""
    return state / "policy" / f"{fnv64(os.fsencode(repository)):016x}.policy"


@cache
def built_in_edition() -> int:
    """Return what this package's own rules are known by: checksums of image and secret table, and the version."""
    from tipstaff.gates.image.policy import default_image
    from tipstaff.kernels._secrets import built_in_table

    image, table = default_image()[16:24], built_in_table()[88:96]
    return int.from_bytes(image, "little") ^ int.from_bytes(table, "little") ^ fnv64(__version__.encode())


def policy_sources(repository: Path) -> list[Path]:
    """Return the files and folders of a repository that its policy is compiled from, there or not."""
    folders = [repository / PACKS_FOLDER, repository / SECRETS_FOLDER]
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.toml"))]
    return [repository / SETTINGS_FILE, *folders, *found]


def pack_policy(image: bytes, repository: Path, sources: list[Path]) -> bytes:
    """Return the bytes of a policy file.

    Parameters
    ----------
    image
        As `tipstaff.gates.image.policy_image.compile_image` gives it.
    repository
        Its root, absolute.
    sources
        What the image was compiled from: the hook says so when one of them has changed.
    """
    from tipstaff.gates.image.layout import has_rules_of
    from tipstaff.gates.image.policy import default_image

    lines = b"".join(source_line(path) for path in sources)
    parts = (image, lines, os.fsencode(repository))
    data, extents = with_parts(HEAD.size, parts)
    own_rules = not has_rules_of(image, default_image())
    checksum = fast_sum(data[HEAD.size :])
    numbers = (HEAD.size, len(data), *extents, built_in_edition(), own_rules, 0, checksum)
    data[: HEAD.size] = HEAD.pack(MAGIC, VERSION, *numbers)
    return bytes(data)


def write_policy(image: bytes, repository: Path, *, state: Path | None = None) -> Path:
    """Write a policy file, owner-only, and return its path.

    Raises
    ------
    StoreWriteError
        If it cannot be written; a former policy is unharmed.
    """
    state = state_folder() if state is None else state
    path = policy_path(repository, state)
    make_private(path.parent)
    note_compiler(state)
    with replaced_file(path) as file:
        file.write(pack_policy(image, repository, policy_sources(repository)))
    return path
