r"""Lexicons: what the text kernels know of words, as bytes that any process may map.

A lexicon is little-endian: ``TLX1\r\n\x1a\n``, a uint64 number of slots (a power of two), and so many slots of 40
bytes: the word padded with zeros to 24 bytes, its value (uint64), and the FNV-1a hash of its stem (uint64). A word is
looked for from slot ``(a p + b q + c r mod 2**64) >> 44 mod slots`` on until a slot without one, where p, q and r are
its 24 bytes as three numbers, and a, b and c those of `_FACTORS`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from operator import mul
from typing import Final

MAX_WORD_BYTES: Final = 24
_MAGIC: Final = b"TLX1\r\n\x1a\n"
_SLOT: Final = struct.Struct("<24sQQ")
_HEADER: Final = struct.Struct("<8sQ")
_PARTS: Final = struct.Struct("<3Q")
_FACTORS: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_MAX_SLOTS: Final = 1 << 20


def fnv(data: bytes) -> int:
    """Return the 64-bit FNV-1a hash of some bytes."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def make_lexicon(values: Mapping[str, int], stems: Mapping[str, str]) -> bytes:
    """Return a lexicon.

    Parameters
    ----------
    values
        Word in lower case to a number of 64 bits.
    stems
        Every one of these words, and any others whose stem follows no rule, to their stems.

    Raises
    ------
    ValueError
        If a word is empty or has more than `MAX_WORD_BYTES`, or a word of `values` has no stem.
    """
    if missing := values.keys() - stems.keys():
        raise ValueError(f"words without a stem: {', '.join(sorted(missing))}")
    n_slots = 16
    while n_slots < 2 * len(stems):
        n_slots *= 2
    slots = bytearray(n_slots * _SLOT.size)
    for word, stem in stems.items():
        key = word.encode()
        if not 0 < len(key) <= MAX_WORD_BYTES:
            raise ValueError(f"{word!r} has {len(key)} bytes; a lexicon's words have 1 to {MAX_WORD_BYTES}")
        slot = _first_slot(key, n_slots)
        while slots[slot * _SLOT.size]:
            slot = (slot + 1) % n_slots
        _SLOT.pack_into(slots, slot * _SLOT.size, key, values.get(word, 0), fnv(stem.encode()))
    return _HEADER.pack(_MAGIC, n_slots) + bytes(slots)


def _first_slot(key: bytes, n_slots: int) -> int:
    parts: tuple[int, int, int] = _PARTS.unpack(key.ljust(MAX_WORD_BYTES, b"\0"))
    mixed: int = sum(map(mul, _FACTORS, parts)) & 0xFFFFFFFFFFFFFFFF
    return mixed >> 44 & (n_slots - 1)


@lru_cache(maxsize=4)
def read_lexicon(lexicon: bytes) -> dict[bytes, tuple[int, int]]:
    """Return a lexicon's words with their values and the hashes of their stems.

    Raises
    ------
    ValueError
        If these bytes are no lexicon.
    """
    slots = -1
    if len(lexicon) >= _HEADER.size and lexicon[:8] == _MAGIC:
        slots = _HEADER.unpack_from(lexicon)[1]
    sound = 0 < slots <= _MAX_SLOTS and not slots & (slots - 1)
    if not sound or len(lexicon) != _HEADER.size + slots * _SLOT.size:
        raise ValueError("lexicon: not a valid lexicon; make one with tipstaff.kernels.formats.lexicon")
    entries = _SLOT.iter_unpack(memoryview(lexicon)[_HEADER.size :])
    return {key.rstrip(b"\0"): (value, stem) for key, value, stem in entries if key[:8] != bytes(8)}
