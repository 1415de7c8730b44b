"""The table that the secrets scanner runs on, read in plain Python.

``secrets/table.hpp`` reads the same::

    0  magic[8]          8  u32 version     12 u32 size in bytes
    16 u32 count, offset of each: rules (48 bytes), anchors (36), classes (32), codes (1), names (1), words (8),
       lists (514)
    72 u32 offset of each: heads, windows, logarithms, the three sieves
    88 u32 CRC-32 of all after the header of 128 bytes

    rule    0 u32 name  4 u16 its length  6 u8 kind  7 u8 show  8 u32 codes  12 u16 their length  14 u8 left
            15 u8 right  16 u16 flags  18 u8 need  19 u8 severity  20 u32 entropy/65536  24 u8 checksum  25 u8 judge
            26 u8 check  27 u8 priority  28 u16 list of context words + 1
    anchor  0 u8[8] compared with the text  8 u8[8] which bits count  16 u32 the known bytes  20 u8 their length
            21 u8 how far behind the beginning  22 u8 class of a run before it or 255  24 u16 longest run  26 u16 rule
            28 u16 next of the same hash  30 three of (u8 how far behind, u8 class that stands there); 0 0 for none
    word    0 u32 bytes  4 u16 their length  6 u16 list
    list    u16[257] number of the first word that begins with a byte or a later one; a list's words are sorted

Offsets are from the table's beginning, of names and codes from that of their section. Numbers are little-endian.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from tipstaff.kernels.plain import values
from tipstaff.kernels.plain.shapes import class_regex, number_at, regex_of

MAGIC: Final = b"\x89TSS\r\n\x1a\n"
VERSION: Final = 2
HEADER_BYTES: Final = 128
RULE_BYTES: Final = 48
ANCHOR_BYTES: Final = 36
HEADS: Final = 8192
SIEVE_BITS: Final = 1 << 18
LOGS: Final = values.LOGS
NONE: Final = 0xFFFF
NO_CLASS: Final = 255

WARY, REPEATS_FINE, ANYWHERE, NAMED, NO_STOPS = 1, 2, 4, 8, 16
"""Flags of a rule."""

SHAPE, ASSIGN, URL, PEM = range(4)


_ESCAPED: Final = rb"(?<=\\[nrtbfv])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
"""A letter or a digit that ends an escape is no part of the word behind it."""


class Rule(NamedTuple):
    """A rule as the table holds it."""

    name: str
    kind: int
    show: int
    code: bytes
    left: int
    right: int
    flags: int
    need: int
    severity: int
    entropy: int
    checksum: int
    judge: int
    check: int
    priority: int
    context: int


def hash_of(first: int, second: int, third: int) -> int:
    """Return the hash of three bytes, in either case."""
    value = (first | second << 8 | third << 16) | 0x202020
    return (value * 2654435761 & 0xFFFFFFFF) >> 19


def sieve_of(first: int, second: int, third: int, fourth: int) -> int:
    """Return the bit of four bytes in the sieve."""
    value = first | second << 8 | third << 16 | fourth << 24
    return (value * 2654435761 & 0xFFFFFFFF) >> 14


def long_sieve_of(six: bytes) -> int:
    """Return the bit of six bytes, in either case, in the sieve of literals that long."""
    first = int.from_bytes(six[:4], "little") | 0x20202020
    last = int.from_bytes(six[4:6], "little") | 0x2020
    return (first * 2654435761 + last * 2246822519 & 0xFFFFFFFF) >> 14


def class_of(byte: int) -> int:
    """Return the class of an ASCII character in the wide windows: letters know no case, controls are as blanks."""
    return byte & 0x1F if byte >= 0x40 else max(byte, 0x20)


class Table:
    """A table's sections.

    Raises
    ------
    ValueError
        If these bytes are no table.
    """

    def __init__(self, data: bytes) -> None:
        fault = ""
        if len(data) < HEADER_BYTES:
            fault = "it ends within the header"
        elif data[:8] != MAGIC:
            fault = "it does not begin as one"
        elif number_at(data, 8, 4) != VERSION:
            fault = f"its version is not {VERSION}"
        elif number_at(data, 12, 4) != len(data):
            fault = "its size is not the one in its header"
        elif number_at(data, 88, 4) != zlib.crc32(data[HEADER_BYTES:]):
            fault = "its checksum is wrong"
        if fault:
            message = f"table: this is no table of secrets: {fault}"
            raise ValueError(message)
        self.data = data
        pairs = [(number_at(data, at, 4), number_at(data, at + 4, 4)) for at in range(16, 72, 8)]
        (self.n_rules, self.rules_at), (self.n_anchors, self.anchors_at) = pairs[0], pairs[1]
        self.classes_at, self.codes_at, self.names_at = pairs[2][1], pairs[3][1], pairs[4][1]
        self.words_at, self.lists_at = pairs[5][1], pairs[6][1]
        self.logs: Sequence[int] = [number_at(data, number_at(data, 80, 4) + 4 * at, 4) for at in range(LOGS)]
        self.rules = [self._rule(number) for number in range(self.n_rules)]
        self.keys: list[list[bytes]] = [[] for _ in self.rules]
        for number in range(self.n_anchors):
            at = self.anchors_at + ANCHOR_BYTES * number
            self.keys[number_at(data, at + 26, 2)].append(self._name(number_at(data, at + 16, 4), data[at + 20]))

    def _name(self, at: int, size: int) -> bytes:
        return self.data[self.names_at + at : self.names_at + at + size]

    def _rule(self, number: int) -> Rule:
        data, at = self.data, self.rules_at + RULE_BYTES * number
        code_at = self.codes_at + number_at(data, at + 8, 4)
        return Rule(
            self._name(number_at(data, at, 4), number_at(data, at + 4, 2)).decode(),
            data[at + 6],
            data[at + 7],
            data[code_at : code_at + number_at(data, at + 12, 2)],
            data[at + 14],
            data[at + 15],
            number_at(data, at + 16, 2),
            data[at + 18],
            data[at + 19],
            number_at(data, at + 20, 4),
            data[at + 24],
            data[at + 25],
            data[at + 26],
            data[at + 27],
            number_at(data, at + 28, 2),
        )

    def members(self, number: int) -> bytes:
        """Return the bit map of a class."""
        return self.data[self.classes_at + 32 * number : self.classes_at + 32 * number + 32]

    @functools.cache  # noqa: B019 - tables live as long as the process
    def words(self, number: int) -> tuple[bytes, ...]:
        """Return a list of words."""
        at = self.lists_at + 514 * number
        first, last = number_at(self.data, at, 2), number_at(self.data, at + 512, 2)
        places = (self.words_at + 8 * word for word in range(first, last))
        return tuple(self._name(number_at(self.data, at, 4), number_at(self.data, at + 4, 2)) for at in places)

    @functools.cache  # noqa: B019
    def pattern(self, number: int) -> re.Pattern[bytes]:
        """Return the regular expression of a rule: every beginning counts, so matches may overlap."""
        rule = self.rules[number]
        left = b""
        if rule.left != NO_CLASS:
            left = b"(?:(?<!" + class_regex(self.members(rule.left)) + b")|" + _ESCAPED + b")"
        right = b"" if rule.right == NO_CLASS else b"(?!" + class_regex(self.members(rule.right)) + b")"
        return re.compile(left + b"(?=(" + regex_of(rule.code, self.members) + b")" + right + b")")

    @functools.cache  # noqa: B019
    def value_pattern(self, number: int) -> re.Pattern[bytes]:
        """Return the regular expression of an assigned value."""
        return re.compile(regex_of(self.rules[number].code, self.members))


@functools.lru_cache(maxsize=8)
def opened(data: bytes) -> Table:
    """Return the table of some bytes."""
    return Table(data)
