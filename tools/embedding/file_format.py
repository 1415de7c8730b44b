"""Writes the file that the wheel ships; `tipstaff.kernels.formats.wordpiece` states its layout."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import xxhash

from tipstaff.kernels.formats.wordpiece import HEADER, MAGIC, VERSION

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FNV_PRIME: Final = 0x100000001B3
_SEEDS: Final = (0xCBF29CE484222325, 0x84222325CBF29CE4)
_MASK: Final = 2**64 - 1
_ALIGNMENT: Final = 64


def piece_hash(piece: bytes, *, continuation: bool) -> int:
    """Return FNV-1a of 64 bits; a continuation starts from another basis."""
    value = _SEEDS[continuation]
    for byte in piece:
        value = (value ^ byte) * _FNV_PRIME & _MASK
    return value ^ value >> 32


def slots_of(pieces: Sequence[str]) -> NDArray[np.uint32]:
    """Return the open-addressed table: a tag of the hash above, the piece's number plus 1 below; 0 is free."""
    size = 1 << (2 * len(pieces) - 1).bit_length()
    slots = np.zeros(size, np.uint32)
    for number, piece in enumerate(pieces):
        value = piece_hash(piece.removeprefix("##").encode(), continuation=piece.startswith("##"))
        slot = value & (size - 1)
        while slots[slot]:
            slot = (slot + 1) & (size - 1)
        slots[slot] = (value >> 48) << 16 | number + 1
    return slots


def write(
    path: Path,
    pieces: Sequence[str],
    codes: NDArray[np.int8],
    scales: NDArray[np.float32],
    gram_scale: float,
) -> None:
    """Write the file.

    Parameters
    ----------
    path
        Where.
    pieces
        Sorted; continuations begin with ``##``; fewer than 65,535.
    codes, scales
        int8 (n_pieces, dimensions) and float32 (n_pieces,).
    gram_scale
        What one dimension of a hashed character n-gram weighs.
    """
    blob = "".join(pieces).encode("ascii")
    starts = np.cumsum([0, *map(len, pieces)]).astype(np.uint32)
    sections = [codes.tobytes(), scales.astype("<f4").tobytes(), slots_of(pieces).tobytes(), starts.tobytes(), blob]
    body = bytearray()
    offsets: list[int] = []
    for section in sections:
        body += bytes(-(HEADER + len(body)) % _ALIGNMENT)
        offsets.append(HEADER + len(body))
        body += section
    n_slots = len(sections[2]) // 4
    head = struct.pack(
        "<8sIIIIIfQ5QQQ",
        MAGIC,
        VERSION,
        codes.shape[1],
        len(pieces),
        n_slots,
        max(len(piece.removeprefix("##")) for piece in pieces),
        gram_scale,
        HEADER + len(body),
        *offsets,
        len(blob),
        xxhash.xxh3_64_intdigest(bytes(body)),
    )
    head += struct.pack("<Q", xxhash.xxh3_64_intdigest(head))
    path.write_bytes(head.ljust(HEADER, b"\0") + body)
