"""Where a text may be cut: between extended grapheme clusters, what a reader takes for one character.

A small reading of the Unicode text segmentation rules (UAX #29), made from `unicodedata` and a few ranges. Where a
character's class is in doubt it does not allow a cut: every cut made here is one by the full rules, and a few that
these allow are not made.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_ZWJ: Final = "\u200d"
_JOINERS: Final = frozenset("\u200c\u200d")
_EXTENDING: Final = frozenset({"Mn", "Me", "Mc"})
_PREPENDING: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011d46\U00011f02"
) | {chr(code) for code in range(0x11A84, 0x11A8A)}
_THAI_LAO_AM: Final = frozenset("\u0e33\u0eb3")
_VIRAMA_CLASS: Final = 9


def is_boundary(text: str, at: int) -> bool:
    """Return whether `text` may be cut before the code point at `at`; both its ends are boundaries."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":  # most text is decided here
        return not (before == "\r" and after == "\n")
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if before in "\r\n" or _is_control(before):
        return True
    if after in "\r\n" or _is_control(after):
        return True
    if _extends(after) or before == _ZWJ or before in _PREPENDING:
        return False
    if _hangul_joins(ord(before), ord(after)):
        return False
    if "\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff":
        return _indicators_before(text, at) % 2 == 0
    # A consonant after a virama makes one cluster with the consonant before it.
    return not (unicodedata.combining(before) == _VIRAMA_CLASS and unicodedata.category(after) == "Lo")


def floor_boundary(text: str, at: int) -> int:
    """Return the last boundary at or before `at`."""
    at = min(max(at, 0), len(text))
    while not is_boundary(text, at):
        at -= 1
    return at


def ceil_boundary(text: str, at: int) -> int:
    """Return the first boundary at or after `at`."""
    at = min(max(at, 0), len(text))
    while not is_boundary(text, at):
        at += 1
    return at


def _is_control(char: str) -> bool:
    if char in _JOINERS:
        return False
    category = unicodedata.category(char)
    if category == "Cf":
        return not ("\U000e0020" <= char <= "\U000e007f") and char not in _PREPENDING
    return category in {"Cc", "Zl", "Zp"}


def _extends(char: str) -> bool:
    return (
        unicodedata.category(char) in _EXTENDING
        or char in _JOINERS
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\uff9e" <= char <= "\uff9f"
        or char in _THAI_LAO_AM
    )


def _hangul_joins(before: int, after: int) -> bool:
    leading = 0x1100 <= before <= 0x115F or 0xA960 <= before <= 0xA97C
    syllable = 0xAC00 <= before <= 0xD7A3
    vowel = 0x1160 <= before <= 0x11A7 or 0xD7B0 <= before <= 0xD7C6
    trailing = 0x11A8 <= before <= 0x11FF or 0xD7CB <= before <= 0xD7FB
    if leading:
        return 0x1100 <= after <= 0x11A7 or 0xA960 <= after <= 0xA97C or 0xAC00 <= after <= 0xD7A3 or _vowel(after)
    if syllable or vowel:
        return _vowel(after) or _trailing(after)
    return trailing and _trailing(after)


def _vowel(code: int) -> bool:
    return 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6


def _trailing(code: int) -> bool:
    return 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB


def _indicators_before(text: str, at: int) -> int:
    start = at
    while start > 0 and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
        start -= 1
    return at - start
