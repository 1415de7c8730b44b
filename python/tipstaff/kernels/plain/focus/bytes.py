"""Bytes of a request as its focus sees them: classes, limits, and characters above ASCII."""

from __future__ import annotations

from typing import Final

LONGEST_WORD: Final = 12
LONGEST_SPAN: Final = 200
LONGEST_PATH: Final = 512
LONGEST_SYMBOL: Final = 128
LONGEST_HUMP: Final = 64


LOWER: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz")
UPPER: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGITS: Final = frozenset(b"0123456789")
LETTERS: Final = LOWER | UPPER | frozenset(range(128, 256))
NAMES: Final = LETTERS | DIGITS | frozenset(b"_")
TOKEN: Final = LOWER | UPPER | DIGITS | frozenset(b"_*#@$%&+-./\\~")
SPACES: Final = frozenset((*range(9, 14), *range(28, 33)))
MARKS: Final = frozenset(range(128)) - TOKEN - SPACES - frozenset(b":")
SEPARATORS: Final = frozenset(b"/\\")
NO_PATH: Final = frozenset(b"*%&")

ENDS: Final = ((0xD7, 0xD8), (0xF7, 0xF8), (0x1680, 0x1681))
ENDS_BEYOND: Final = (
    (0x2000, 0x200C), (0x200E, 0x2070), (0x20A0, 0x20D0), (0x2190, 0x2C00), (0x2E00, 0x2E80), (0x3000, 0x3005),
    (0x3008, 0x3021), (0x3030, 0x3031), (0x30FB, 0x30FC), (0xD800, 0xF900), (0xFE10, 0xFE20), (0xFE30, 0xFE70),
    (0xFF00, 0xFF10), (0xFF1A, 0xFF21), (0xFF3B, 0xFF41), (0xFF5B, 0xFF66), (0xFFF0, 0x10000), (0x1F000, 0x1FB00),
    (0xE0000, 0x110000),
)  # fmt: skip


def decoded(text: bytes, at: int) -> tuple[int, int]:
    """Return the code point above ASCII at a place, and its length in bytes."""
    first = text[at]
    size = 4 if first >= 0xF0 else 3 if first >= 0xE0 else 2
    return ord(text[at : at + size].decode("utf-8", "surrogatepass")), size


def ends_token(code: int) -> bool:
    """Whether a character above ASCII ends a token: punctuation, symbols, spaces, surrogates, private use."""
    if code < 0xC0:
        return code not in {0xAA, 0xB5, 0xBA}
    return any(low <= code < high for low, high in (ENDS if code < 0x2000 else ENDS_BEYOND))


def case_of(code: int) -> int:
    """Return 1 for capitals, 2 for small letters, 3 for digits, 0 for others."""
    if code < 0x80:
        return 1 if code in UPPER else 2 if code in LOWER else 3 if code in DIGITS else 0
    if 0x100 <= code <= 0x17F:
        return 2 if code & 1 else 1
    if 0xC0 <= code <= 0xDE or 0x391 <= code <= 0x3A9 or 0x400 <= code <= 0x42F:
        return 1
    return 2 if 0xDF <= code <= 0xFF or 0x3AC <= code <= 0x3CE or 0x430 <= code <= 0x45F else 0
