"""The owner's state folder: what lies outside every repository, and how the hook program knows it again.

The hook program (``native/include/tipstaff/hook/state.hpp``, ``policy.hpp``) finds and checks the same files; hashes
and checksums here are the twins of its own.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tipstaff.store.replacing import replaced_file

_FNV_START: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_MIX: Final = 0x9E3779B97F4A7C15
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_ALIGNMENT: Final = 64


def state_folder() -> Path:
    """Return the folder where the hook keeps its state.

    ``$TIPSTAFF_STATE``, ``$XDG_STATE_HOME/tipstaff``, or ``~/.local/state/tipstaff``; relative values of the variables
    count for nothing, as in the hook.
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
    """Return the checksum of a policy file's bytes after its head; the twin of the native function."""
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


def repository_of(folder: Path) -> Path | None:
    """Return the nearest folder with a ``.git``, from here upwards, as the hook finds it; None where there is none."""
    for one in (folder, *folder.parents):
        if one != one.parent and (one / ".git").exists():
            return one
    return None


def make_private(folder: Path) -> None:
    """Make a folder of the state, and those above it that are missing, for the owner alone."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_mode & 0o022:
        folder.chmod(0o700)


def note_compiler(state: Path) -> None:
    """Note by which interpreter this package compiles, for the hook program, which starts it again after an upgrade."""
    path, program = state / "compiler", os.fsencode(sys.executable or "")
    if program and (not path.exists() or path.read_bytes() != program):
        with replaced_file(path) as file:
            file.write(program)


def source_line(path: Path) -> bytes:
    """Return the line that records the state of a source when it was compiled: mtime in ns, bytes, path."""
    try:
        about = path.stat()
    except OSError:
        return b"0 0 " + os.fsencode(path) + b"\n"
    size = 0 if path.is_dir() else about.st_size
    return b"%d %d " % (about.st_mtime_ns, size) + os.fsencode(path) + b"\n"


def with_parts(head_bytes: int, parts: Sequence[bytes]) -> tuple[bytearray, list[int]]:
    """Return room for a head with the parts after it, each at a multiple of 64 bytes, and offset and size of each."""
    data, extents = bytearray(head_bytes), list[int]()
    for part in parts:
        data += bytes(-len(data) % _ALIGNMENT)
        extents += (len(data), len(part))
        data += part
    return data, extents
