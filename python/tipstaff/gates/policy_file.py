"""The policy as the hook program maps it: an image, what it was compiled from, and the repository that it is for.

Policy files lie outside every repository, in the owner's state folder, where an agent that works in the repository has
no business; the hook program takes only a file that nobody but the owner may write. The layout is that of
``native/include/tipstaff/hook/state.hpp``.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

from tipstaff.store.replacing import replaced_file

MAGIC: Final = b"TIPSPLCY"
VERSION: Final = 1
HEAD: Final = struct.Struct("<8sII Q IIIIII Q")
_ALIGNMENT: Final = 64
_FNV_START: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_MIX: Final = 0x9E3779B97F4A7C15
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
PACKS_FOLDER: Final = ".tipstaff/packs"
SETTINGS_FILE: Final = ".tipstaff/gates.toml"


def state_folder() -> Path:
    """Return the folder where the hook keeps its state: ``$TIPSTAFF_STATE``, ``$XDG_STATE_HOME/tipstaff``, or
    ``~/.local/state/tipstaff``. Relative values of the variables count for nothing, as in the hook.
    """
    for name, below in (("TIPSTAFF_STATE", ""), ("XDG_STATE_HOME", "tipstaff")):
        value = os.environ.get(name, "")
        if value.startswith("/"):
            return Path(value, below)
    return Path.home() / ".local" / "state" / "tipstaff"


def fnv64(data: bytes, start: int = _FNV_START) -> int:
    """Return the 64-bit FNV-1a hash of bytes; the twin of the native function."""
    for byte in data:
        start = ((start ^ byte) * _FNV_PRIME) & _MASK64
    return start


def fast_sum(data: bytes | bytearray) -> int:
    """Return the checksum of a policy file's bytes behind its head; the twin of the native function."""
    size = len(data)
    padded = bytes(data) + bytes(-size % 32) + (bytes(32) if size % 32 == 0 else b"")
    words = struct.unpack(f"<{len(padded) // 8}Q", padded)
    lanes = [size, size ^ _MIX, ~size & _MASK64, _MIX]
    for at in range(0, len(words), 4):
        for lane in range(4):
            mixed = ((lanes[lane] ^ words[at + lane]) * _MIX) & _MASK64
            lanes[lane] = mixed ^ mixed >> 29
    total = 0
    for lane in lanes:
        total = ((total ^ lane) * _MIX) & _MASK64
    return total ^ total >> 32


def policy_path(repository: Path | None, state: Path) -> Path:
    """Return where a repository's policy lies; the default one's place where there is no repository."""
    name = "default" if repository is None else f"{fnv64(os.fsencode(repository)):016x}"
    return state / "policy" / f"{name}.policy"


def repository_of(folder: Path) -> Path | None:
    """Return the nearest folder with a ``.git``, from here upwards, as the hook finds it; None where there is none."""
    for one in (folder, *folder.parents):
        if one != one.parent and (one / ".git").exists():
            return one
    return None


def policy_sources(repository: Path | None) -> list[Path]:
    """Return the files and folders of a repository that its policy is compiled from, there or not."""
    if repository is None:
        return []
    packs = repository / PACKS_FOLDER
    found = sorted(packs.glob("*.toml")) if packs.is_dir() else []
    return [repository / SETTINGS_FILE, packs, *found]


def pack_policy(image: bytes, repository: Path | None, sources: list[Path]) -> bytes:
    """Return the bytes of a policy file.

    Parameters
    ----------
    image
        As `tipstaff.gates.policy_image.compile_image` gives it.
    repository
        Its root, absolute; None for the default policy.
    sources
        What the image was compiled from: the hook says so when one of them has changed.
    """
    root = b"" if repository is None else os.fsencode(repository)
    lines = b"".join(_source_line(path) for path in sources)
    parts = (image, lines, root)
    places: list[int] = []
    at = HEAD.size
    for part in parts:
        at = -(-at // _ALIGNMENT) * _ALIGNMENT
        places += (at, len(part))
        at += len(part)
    data = bytearray(at)
    for place, part in zip(places[::2], parts, strict=True):
        data[place : place + len(part)] = part
    data[: HEAD.size] = HEAD.pack(MAGIC, VERSION, HEAD.size, at, *places, fast_sum(data[HEAD.size :]))
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


def make_private(folder: Path) -> None:
    """Make a folder of the state, and those above it that are missing, for the owner alone."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_mode & 0o022:
        folder.chmod(0o700)


def _source_line(path: Path) -> bytes:
    try:
        about = path.stat()
    except OSError:
        return b"0 0 " + os.fsencode(path) + b"\n"
    size = 0 if path.is_dir() else about.st_size
    return b"%d %d " % (about.st_mtime_ns, size) + os.fsencode(path) + b"\n"
