"""The layout of a policy image: its sections, its texts, its tables of names, and how it is sealed.

The layout is that of ``native/include/tipstaff/gate/rules/image_records.hpp``, record by record.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from tipstaff.gates.image.triggers import glob_letters, glob_pairs
from tipstaff.gates.packs.model import DECISIONS, PackError, Row

MAGIC: Final = b"TIPSGATE"
VERSION: Final = 8
NOTHING: Final = 0xFFFFFFFF
"""Stands for an index where there is none."""

SECTIONS: Final = (
    "strings", "texts", "slots", "specs", "flags", "buckets", "candidates", "instances", "groups", "conditions",
    "globs", "masks", "sequences", "rules", "tables", "rows", "terms", "selectors", "config", "allowlist", "secrets",
    "shared", "triggers", "signs", "indexes", "guards", "letters",
)  # fmt: skip
WIDTHS: Final = {
    "texts": 2, "slots": 3, "specs": 21, "flags": 4, "buckets": 7, "candidates": 1, "instances": 10, "groups": 2,
    "conditions": 4, "globs": 7, "masks": 4, "sequences": 2, "rules": 9, "tables": 2, "rows": 3, "terms": 2,
    "selectors": 4, "config": 10, "allowlist": 1, "shared": 1, "triggers": 2, "signs": 1, "indexes": 1,
    "guards": 20, "letters": 32,
}  # fmt: skip
"""Numbers of 32 bits in one record of each section of records."""

_ALIGNMENT: Final = 64
_GLOB_KINDS: Final = {
    name: number for number, name in enumerate("literal prefix suffix contains general anything".split())
}
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
Values = tuple[int, ...]


class ImageSections:
    """The sections of an image that is being made; what is put in twice is kept once."""

    def __init__(self) -> None:
        self._strings = bytearray()
        self._text_ids: dict[bytes, int] = {}
        self._numbers: dict[str, array[int]] = {name: array("I") for name in SECTIONS}
        self._mask_ids: dict[int, int] = {}
        self._table_ids: dict[tuple[Row, ...], int] = {}
        self._glob_ids: dict[tuple[str, ...], tuple[int, int]] = {}
        self._glob_records: dict[str, Values] = {}
        self._record_ids: dict[tuple[str, tuple[Values, ...]], tuple[int, int]] = {}
        if self._numbers["texts"].itemsize != 4:  # pragma: no cover - no such platform is supported
            raise PackError("this platform's unsigned int has not 32 bits")

    def size(self, section: str) -> int:
        """Return how many records a section has so far."""
        return len(self._numbers[section]) // WIDTHS[section]

    def extend(self, section: str, records: Iterable[Values]) -> tuple[int, int]:
        """Put records at a section's end; returns the first one's index and how many they are."""
        numbers, width, given = self._numbers[section], WIDTHS[section], list(records)
        first = len(numbers) // width
        if any(len(record) != width for record in given):  # pragma: no cover - the compiler itself would be wrong
            raise PackError(f"a record of {section} has not {width} numbers")
        numbers.fromlist(list(chain.from_iterable(given)))
        return first, len(given)

    def shared(self, section: str, records: Sequence[Values]) -> tuple[int, int]:
        """Put records in, or find the same ones there."""
        key = (section, tuple(records))
        if key not in self._record_ids:
            self._record_ids[key] = self.extend(section, records)
        return self._record_ids[key]

    def text(self, text: str) -> int:
        """Return a text's index."""
        data = text.encode()
        if data not in self._text_ids:
            self._text_ids[data] = len(self._text_ids)
            self._numbers["texts"].extend((len(self._strings), len(data)))
            self._strings += data
        return self._text_ids[data]

    def index(self, names: Sequence[str], first: int = 0) -> tuple[int, int]:
        """Put in a hash table of the numbers that names have, counted from `first`; returns its start and size."""
        table = hashed([(name, (number,)) for number, name in enumerate(names, first)])
        return self.shared("indexes", [(NOTHING,) if entry is None else entry[1] for entry in table])

    def optional_mask(self, bits: Sequence[int]) -> int:
        """Return a mask's index; NOTHING where it has no bits."""
        return self.mask(bits) if bits else NOTHING

    def mask(self, bits: Iterable[int]) -> int:
        """Return a mask's index."""
        mask = 0
        for bit in bits:
            mask |= 1 << bit
        if mask not in self._mask_ids:
            numbers = tuple((mask >> shift) & 0xFFFFFFFF for shift in (0, 32, 64, 96))
            self._mask_ids[mask] = self.extend("masks", [numbers])[0]
        return self._mask_ids[mask]

    def globs(self, globs: tuple[str, ...]) -> tuple[int, int]:
        """Return the first index of some adjacent globs, and how many they are."""
        if globs not in self._glob_ids:
            self._glob_ids[globs] = self.extend("globs", map(self._glob, globs))
        return self._glob_ids[globs]

    def _glob(self, glob: str) -> Values:
        if glob not in self._glob_records:
            folded = glob.lower()
            kind, text = _glob_parts(folded)
            outline = (*_glob_edge(kind, text), glob_letters(folded), *glob_pairs(folded))
            self._glob_records[glob] = (_GLOB_KINDS[kind], self.text(text), *outline)
        return self._glob_records[glob]

    def table(self, rows: tuple[Row, ...]) -> int:
        """Return the index of a table of path classes."""
        if rows not in self._table_ids:
            records = [(DECISIONS.index(row.decision), *self.extend("terms", row.terms)) for row in rows]
            self._table_ids[rows] = self.extend("tables", [self.extend("rows", records)])[0]
        return self._table_ids[rows]

    def letters(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Return the index of a table of letter pairs: for each class of one letter the bits of the other's.

        NOTHING where there are none.
        """
        rows = [0] * 32
        for one, other in pairs:
            rows[one] |= 1 << other
        return self.shared("letters", [tuple(rows)])[0] if any(rows) else NOTHING

    def assemble(self, secrets: bytes) -> bytes:
        """Return the whole image, sealed."""
        header = 32 + 8 * len(SECTIONS)
        body = bytearray(header)
        offsets: list[int] = []
        for name in SECTIONS:
            body += bytes(-len(body) % _ALIGNMENT)
            if name == "strings":
                data = bytes(self._strings)
            elif name == "secrets":
                data = secrets
            else:
                numbers = self._numbers[name]
                if sys.byteorder == "big":  # pragma: no cover - the image is little-endian everywhere
                    numbers.byteswap()
                data = numbers.tobytes()
            offsets.extend((len(body), len(data)))
            body += data
        body += bytes(-len(body) % 8)
        struct.pack_into("<IIQII", body, 8, VERSION, len(body), 0, len(SECTIONS), 0)
        body[:8] = MAGIC
        struct.pack_into(f"<{len(offsets)}I", body, 32, *offsets)
        struct.pack_into("<Q", body, 16, _checksum(bytes(body[24:])))
        return bytes(body)


def has_rules_of(image: bytes | memoryview, other: bytes | memoryview) -> bool:
    """Return whether two images differ in their settings alone."""
    offset, size = struct.unpack_from("<2I", image, 32 + 8 * SECTIONS.index("config"))
    numbers = struct.unpack_from(f"<{size // 4}I", image, offset)
    return len(image) == len(other) and with_settings(other, numbers) == image


def with_settings(image: bytes | memoryview, numbers: Sequence[int]) -> bytes:
    """Return an image with other settings and all else as it is: what compiling the same rules with them would give.

    Parameters
    ----------
    image
        A whole image, sealed.
    numbers
        The record of the section ``config``.
    """
    body = bytearray(image)
    offset, size = struct.unpack_from("<2I", body, 32 + 8 * SECTIONS.index("config"))
    record = struct.pack(f"<{len(numbers)}I", *numbers)
    if len(record) != size:
        raise PackError(f"settings of {len(record)} bytes do not take the place of {size}")
    body[offset : offset + size] = record
    struct.pack_into("<Q", body, 16, _checksum(bytes(body[24:])))
    return bytes(body)


def image_checksum(data: bytes) -> int:
    """Return the checksum of an image's bytes after the checksum field; the twin of the native function."""
    total = 0x243F6A8885A308D3 ^ len(data)
    padded = data + bytes(-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        total = ((total ^ word) * 0x9E3779B97F4A7C15) & _MASK64
        total ^= total >> 32
    return total


def _checksum(data: bytes) -> int:
    try:
        from tipstaff.kernels import _gates
    except ImportError:
        return image_checksum(data)
    return _gates.image_checksum(data)


@lru_cache(maxsize=1 << 15)
def hash_name(name: str) -> int:
    """Return the 32-bit hash of a name's ends and length, letter case apart, as the image's tables use it."""
    data = name.encode()
    size = len(data)
    width = 8 if size >= 8 else 4
    if size >= 4:
        first, last = (int.from_bytes(part, "little") for part in (data[:width], data[-width:]))
    else:
        first = data[0] if data else 0
        last = data[size // 2] << 8 | data[-1] if data else 0
    small, mask = 0x2020202020202020, 0xFFFFFFFFFFFFFFFF
    value = ((first | small) ^ size) * 0x9E3779B97F4A7C15 & mask
    return ((value ^ value >> 32 ^ (last | small)) * 0xD6E8FEB86659FD93 & mask) >> 32


def hashed(entries: Sequence[tuple[str, Values]]) -> list[tuple[int, Values] | None]:
    """Return an open-addressed table of a power of two with at least half of its places free; empty for nothing."""
    if not entries:
        return []
    size = 4
    while size < 2 * len(entries):
        size *= 2
    table: list[tuple[int, Values] | None] = [None] * size
    for name, value in entries:
        number = hash_name(name)
        at = number & (size - 1)
        while table[at] is not None:
            at = (at + 1) & (size - 1)
        table[at] = (number, value)
    return table


def _glob_parts(glob: str) -> tuple[str, str]:
    """Return the kind of a glob and the text that it is compared with."""
    if glob == "*":
        return "anything", ""
    inner = glob.strip("*")
    if "\\" in glob or "?" in glob or "*" in inner or (glob.startswith("**") or glob.endswith("**")):
        return "general", glob
    if glob.startswith("*"):
        return ("contains" if glob.endswith("*") else "suffix"), inner
    return ("prefix" if glob.endswith("*") else "literal"), inner


def _glob_edge(kind: str, text: str) -> tuple[int, int]:
    """Return the shortest length in bytes that can match, and the letter that a match begins (or ends) with."""
    data = text.encode()
    if kind in {"literal", "prefix"}:
        return len(data), data[0] if data else 0
    if kind == "suffix":
        return len(data), data[-1] if data else 0
    if kind == "contains":
        return len(data), 0
    letters = len(data.replace(b"\\", b"").replace(b"*", b""))
    edge = data[:1] if kind == "general" and data[:1] not in {b"", b"*", b"?", b"\\"} else b""
    return (0, 0) if kind == "anything" or "\\" in text else (letters, edge[0] if edge else 0)
