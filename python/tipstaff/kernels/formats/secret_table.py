"""The layout of the table that the secrets scanner runs on.

`tipstaff.gates.secrets.table` writes it; ``secrets/table.hpp`` reads it::

    0  magic[8]          8  u32 version     12 u32 size in bytes
    16 u32 count, offset of each: rules (48 bytes), anchors (40), classes (32), codes (1), names (1), words (8),
       lists (514)
    72 u32 offset of each: heads, windows, logarithms, the three sieves
    88 u32 CRC-32 of all after the header of 128 bytes

    rule    0 u32 name  4 u16 its length  6 u8 kind  7 u8 show  8 u32 codes  12 u16 their length  14 u8 left
            15 u8 right  16 u16 flags  18 u8 need  19 u8 severity  20 u32 entropy/65536  24 u8 checksum  25 u8 judge
            26 u8 check  27 u8 priority  28 u16 list of context words + 1
    anchor  0 u8[8] compared with the text  8 u8[8] which bits count  16 u32 the known bytes  20 u8 their length
            21 u8 how far after the beginning  22 u8 class of a run before it or 255  24 u16 longest run  26 u16 rule
            28 u16 next of the same hash  30 u8[3] how far after it a byte is looked up, 0 for none
            34 u16[3] the classes of those
    word    0 u32 bytes  4 u16 their length  6 u16 list
    list    u16[257] number of the first word that begins with a byte or a later one; a list's words are sorted

Offsets are from the table's beginning, of names and codes from that of their section. Numbers are little-endian.
"""

from __future__ import annotations

from typing import Final

MAGIC: Final = b"\x89TSS\r\n\x1a\n"
VERSION: Final = 4
HEADER_BYTES: Final = 128
RULE_BYTES: Final = 48
ANCHOR_BYTES: Final = 40
HEADS: Final = 8192
SIEVE_LOG: Final = 19
SIEVE_BITS: Final = 1 << SIEVE_LOG
LOGS: Final = 1025
"""How many logarithms the table has: entropies are of the first 1024 bytes of a value."""
NONE: Final = 0xFFFF
NO_CLASS: Final = 255
"""No class; those of shapes are below it, only what is looked up at anchors may have a higher one."""

WARY, REPEATS_FINE, ANYWHERE, NAMED, NO_STOPS = 1, 2, 4, 8, 16
"""Flags of a rule."""

SHAPE, ASSIGN, URL, PEM = range(4)


def hash_of(first: int, second: int, third: int) -> int:
    """Return the hash of three bytes, in either case."""
    value = (first | second << 8 | third << 16) | 0x202020
    return (value * 2654435761 & 0xFFFFFFFF) >> 19


def sieve_of(first: int, second: int, third: int, fourth: int) -> int:
    """Return the bit of four bytes in the sieve."""
    value = first | second << 8 | third << 16 | fourth << 24
    return (value * 2654435761 & 0xFFFFFFFF) >> 32 - SIEVE_LOG


def short_sieve_of(first: int, second: int, third: int, fourth: int) -> int:
    """Return the bit of four bytes in the sieve of literals that many texts of six bytes fit."""
    value = first | second << 8 | third << 16 | fourth << 24
    return (value * 2246822519 & 0xFFFFFFFF) >> 32 - SIEVE_LOG


def long_sieve_of(six: bytes) -> int:
    """Return the bit of six bytes, in either case, in the sieve of literals that long."""
    first = int.from_bytes(six[:4], "little") | 0x20202020
    last = int.from_bytes(six[4:6], "little") | 0x2020
    return (first * 2654435761 + last * 2246822519 & 0xFFFFFFFF) >> 32 - SIEVE_LOG


def class_of(byte: int) -> int:
    """Return the class of a byte in the wide windows: letters know no case, controls are as blanks.

    What is not ASCII is as a letter or a sign.
    """
    return byte & 0x1F if byte & 0x40 else max(byte, 0x20) & 0x3F
