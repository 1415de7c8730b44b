"""Compiled shapes translated to regular expressions: the twin of the native matcher."""

from __future__ import annotations

import re
from collections.abc import Callable

from tipstaff.kernels.formats.shape_codes import CLASS, CLOSE, FOLDED, LITERAL, OPEN, OPTION, number_at


def regex_of(code: bytes, members_of: Callable[[int], bytes], *, possessive: bool = True) -> bytes:
    """Return the regular expression of compiled codes.

    Parameters
    ----------
    code
        The codes of one shape.
    members_of
        Returns the 32 bytes of a class's bit map.
    possessive
        Whether repeats keep what they took, as the matcher does. Without it, engines that lack possessive repeats read
        the expression too.
    """
    keep, atom = (b"+", b"(?>") if possessive else (b"", b"(?:")
    out = bytearray()
    at = 0
    while at < len(code):
        kind = code[at]
        if kind in {LITERAL, FOLDED}:
            data = code[at + 2 : at + 2 + code[at + 1]]
            out += (b"(?i:" + re.escape(data) + b")") if kind == FOLDED else re.escape(data)
            at += 2 + len(data)
        elif kind == CLASS:
            least, most = number_at(code, at + 2, 2), number_at(code, at + 4, 2)
            out += class_regex(members_of(code[at + 1]))
            if (least, most) != (1, 1):
                out += f"{{{least},{most}}}".encode() + keep
            at += 6
        elif kind in {OPEN, CLOSE}:
            out += b"(" if kind == OPEN else b")"
            at += 1
        elif kind == OPTION:
            size = number_at(code, at + 1, 2)
            out += b"(?:" + regex_of(code[at + 3 : at + 3 + size], members_of, possessive=possessive) + b")?" + keep
            at += 3 + size
        else:
            end = at + 4 + number_at(code, at + 2, 2)
            at += 4
            choices: list[bytes] = []
            while at < end:
                size = number_at(code, at, 2)
                choices.append(regex_of(code[at + 2 : at + 2 + size], members_of, possessive=possessive))
                at += 2 + size
            out += atom + b"|".join(choices) + b")"
    return bytes(out)


def class_regex(bits: bytes) -> bytes:
    """Return a class's bit map as a class of a regular expression."""
    members = [byte for byte in range(256) if bits[byte >> 3] >> (byte & 7) & 1]
    negated = len(members) > 128
    if negated:
        kept = set(members)
        members = [byte for byte in range(256) if byte not in kept]
    if negated and not members:
        return b"[\\x00-\\xff]"
    inner = bytearray()
    start = 0
    while start < len(members):
        end = start
        while end + 1 < len(members) and members[end + 1] == members[end] + 1:
            end += 1
        inner += b"\\x%02x" % members[start]
        if end > start:
            inner += b"-\\x%02x" % members[end]
        start = end + 1
    return b"[" + (b"^" if negated else b"") + bytes(inner) + b"]"
