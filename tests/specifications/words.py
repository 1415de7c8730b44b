"""The words of a text in plain Python, as word pieces cut it: each with the kind of script that it is in.

Words are lower-case runs of a-z and 0-9 (letters lose their marks, ``camelCase`` is two words, apostrophes vanish), or
runs of the characters of another script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_ACRONYM_ENDS: Final = re.compile("[a-z][a-z]")
_LOWER: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_LATIN_BASE: Final = (
    "a a a a a a aec e e e e i i i i d n o o o o o   o u u u u y thssa a a a a a aec e e e e i i i i "
    "d n o o o o o   o u u u u y thy a a a a a a c c c c c c c c d d d d e e e e e e e e e e g g g g "
    "g g g g h h h h i i i i i i i i i i ijijj j k k k l l l l l l l l l l n n n n n n n n n o o o o "
    "o o oeoer r r r r r s s s s s s s s t t t t t t u u u u u u u u u u u u w w y y y z z z z z z s "
)
"""Base letters of U+00C0 to U+017F, two for each."""
_LATIN_ADDITIONAL_BASE: Final = (
    "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrr"
    "ssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyas  s aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
    "eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy      "
)
"""Base letters of U+1E00 to U+1EFF."""
_SIGNS: Final = frozenset(
    (0x37E, 0x387, 0x5BE, 0x5C0, 0x5C3, 0x60C, 0x61B, 0x61F, 0x66A, 0x66D, 0x6D4, 0x964, 0x965, 0x30FB, 0x3030)
)
_OTHER_BORDERS: Final = (
    (0x3000, 0x3005), (0x3008, 0x3021), (0xD800, 0xF900), (0xFE10, 0xFE70), (0xFFE0, 0x10000), (0x1F000, 0x20000),
    (0xE0000, 0x110000),
)  # fmt: skip


def _classify(character: str) -> tuple[str, str]:
    """Return a character's kind (border, joiner, lower, upper, folded, alphabetic, ideograph) and what it counts as."""
    c = ord(character)
    if c < 0x80:
        if character in _LOWER:
            return "lower", character
        if "A" <= character <= "Z":
            return "upper", character.lower()
        return ("joiner" if character == "'" else "border"), ""
    if c < 0xC0:
        return ("joiner" if c == 0xAD else "border"), ""
    if c < 0x180:
        base = _LATIN_BASE[2 * (c - 0xC0) : 2 * (c - 0xC0) + 2].strip()
        return ("folded" if base else "border"), base
    if c < 0x2B0:
        return "alphabetic", character
    if c < 0x370:
        return ("border" if c < 0x300 else "joiner"), ""
    if 0x1E00 <= c < 0x1F00:
        base = _LATIN_ADDITIONAL_BASE[c - 0x1E00].strip()
        return ("folded" if base else "border"), base
    if 0x2000 <= c < 0x2E80:
        if 0x2C00 <= c < 0x2E00:
            return "alphabetic", character
        return ("joiner" if c in {0x2019, 0x200B, 0x200C, 0x200D, 0x2060} else "border"), ""
    if c == 0xFEFF or 0xFE00 <= c <= 0xFE0F:
        return "joiner", ""
    if 0xFF00 <= c < 0xFF66:
        half = chr(c - 0xFEE0)
        return ("folded", half.lower()) if half.isalnum() and half.isascii() else ("border", "")
    if c in _SIGNS or any(low <= c < high for low, high in _OTHER_BORDERS):
        return "border", ""
    if c >= 0x2E80:
        return "ideograph", character
    return "alphabetic", chr(_lower_beyond_latin(c))


def _lower_beyond_latin(c: int) -> int:
    """Lower case of Greek, Cyrillic and Armenian."""
    if 0x391 <= c <= 0x3AB or 0x410 <= c <= 0x42F:
        return c + 32
    if 0x400 <= c <= 0x40F:
        return c + 80
    if 0x388 <= c <= 0x38A:
        return c + 37
    if 0x531 <= c <= 0x556:
        return c + 48
    if c % 2 == 0 and (0x460 <= c <= 0x481 or 0x48A <= c <= 0x4BF or 0x4D0 <= c <= 0x52F):
        return c + 1
    return {0x3C2: 0x3C3, 0x386: 0x3AC, 0x38C: 0x3CC, 0x38E: 0x3CD, 0x38F: 0x3CE}.get(c, c)


def split_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield (script, word): ``latin``, ``alphabetic`` or ``ideograph``."""
    script, word, before = "latin", "", ""
    for index, character in enumerate(text):
        kind, base = _classify(character)
        if kind == "joiner":
            before = ""
            continue
        found = kind if kind in {"alphabetic", "ideograph"} else "latin"
        # camelCase, and HTTPServer but not APIs.
        new_word = kind == "upper" and (
            before == "lower" or (before == "upper" and _ACRONYM_ENDS.match(text, index + 1) is not None)
        )
        if kind == "border" or found != script or new_word:
            if word:
                yield script, word
            word = ""
        script = found
        word += base
        before = kind
    if word:
        yield script, word
