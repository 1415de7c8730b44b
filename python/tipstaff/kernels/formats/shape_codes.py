"""The codes of compiled shapes.

`tipstaff.gates.secrets.shapes` writes them; ``secrets/scanner.hpp`` matches them.
"""

from __future__ import annotations

END, LITERAL, FOLDED, CLASS, CHOICE, OPTION, OPEN, CLOSE = range(8)
"""Codes of a compiled shape.

::

    LITERAL, FOLDED   u8 length, bytes (of FOLDED in lower case)
    CLASS             u8 number of the class, u16 least, u16 most
    CHOICE            u8 choices, u16 length of them all, then each: u16 length, codes
    OPTION            u16 length, codes
    OPEN, CLOSE       the secret begins, ends
"""


def number_at(data: bytes, at: int, size: int) -> int:
    """Return an unsigned little-endian number."""
    return int.from_bytes(data[at : at + size], "little")
