"""Blocks of test vectors of cryptography, as ``secrets/test_vectors.hpp``: lines such as ``Secret = 1c0a...``."""

from __future__ import annotations

import re
from typing import Final

from tipstaff.kernels.plain.secrets import letters
from tipstaff.kernels.plain.secrets.assigned_values import blanks
from tipstaff.kernels.plain.secrets.letters import HEX, NAME, Value, Words
from tipstaff.kernels.plain.secrets.names import BLANKS, parts_hold

_HEX_VALUE: Final = re.compile(rb"(?:[a-z]{3,12}:)?(?:0x)?[0-9A-Fa-f]*")
_VECTOR_LABEL: Final = re.compile(rb"[ \t]{0,8}([0-9A-Za-z_.]+)[ \t]{0,24}=")
_VECTOR_LINE: Final = re.compile(
    rb"[ \t]{0,8}([0-9A-Za-z_]+)[ \t]{0,24}=[ \t]{0,8}(?:(?:0x)?[0-9A-Fa-f]{2,}[ \t]{0,8}\Z|\$[0-9])"
)


def is_vector(text: bytes, head: int, value: Value, words: Words, *, spaced: bool) -> bool:
    """Return whether a line ``Secret = 1c0a...`` is one of a block of test vectors.

    One of the three lines before or after it, up to an empty one, gives hexadecimal digits, or a hash of a password, to
    what only a test of cryptography names, ``Ciphertext = 8c3c4432``, or sets what only they set: ``PeerKey=BOB``.
    """
    if value.quoted or value.end - value.start < 6:
        return False
    if text.startswith((b"\n-----BEGIN ", b"\r\n-----BEGIN "), value.end):  # PrivateKey=ALICE_P256, and then the key
        return True
    if _HEX_VALUE.fullmatch(text[value.start : value.end]) is None:
        return False
    begin = head
    while begin > 0 and head - begin < 8 and text[begin - 1] in BLANKS:
        begin -= 1
    if begin > 0 and text[begin - 1] != 0x0A:
        return False
    at = blanks(text, value.end, 8)
    for _ in range(3):
        at += text[at : at + 1] == b"\r"
        if text[at : at + 1] != b"\n":
            break
        at += 1
        start = at
        while at < len(text) and at - start < 4096 and text[at] not in b"\r\n":
            at += 1
        if at == start:
            break
        if _is_vector_line(text[start:at], words, spaced=spaced):
            return True
    for _ in range(3):
        if begin == 0 or text[begin - 1] != 0x0A:
            break
        end = begin - 1
        end -= end > 0 and text[end - 1] == 0x0D
        begin = end
        while begin > 0 and end - begin < 4096 and text[begin - 1] not in b"\r\n":
            begin -= 1
        if begin == end:
            break
        if _is_vector_line(text[begin:end], words, spaced=spaced):
            return True
    return False


def _is_vector_line(line: bytes, words: Words, *, spaced: bool) -> bool:
    label = _VECTOR_LABEL.match(line)
    if label is not None and parts_hold(label[1], words(letters.VECTOR_LABELS)):
        return True
    match = _VECTOR_LINE.match(line) if spaced else None
    return match is not None and parts_hold(match[1], words(letters.VECTOR_NAMES))


_FIELDS_REACH: Final = 640
_FIELDS: Final = 2


def is_among_vectors(text: bytes, head: int, value: Value, words: Words) -> bool:
    """Return whether 16 hexadecimal digits or more are one of a set: ``"skRm"`` beside ``"pkRm"`` and ``"ct"``."""
    start = value.start + 2 * text.startswith(b"0x", value.start)
    if value.end - start < 16 or any(byte not in HEX for byte in text[start : value.end]):
        return False
    return is_near_vectors(text, head, value, words)


def is_near_vectors(text: bytes, head: int, value: Value, words: Words) -> bool:
    """Return whether two fields near a value give 16 hexadecimal digits or more to names of cryptography."""
    start = value.start + 2 * text.startswith(b"0x", value.start)
    least = max(0, head - _FIELDS_REACH)
    limit = min(len(text), value.end + _FIELDS_REACH)
    found = 0
    at = least
    while at < limit:
        end = at
        while end < limit and text[end] in NAME:
            end += 1
        if end - at >= 16 and at not in {value.start, start}:
            begin = at + 2 * text.startswith(b"0x", at)
            if end - begin >= 16 and all(byte in HEX for byte in text[begin:end]):
                found += _is_vector_field(text, at, least, words)
        at = end + 1
    return found >= _FIELDS


def _is_vector_field(text: bytes, at: int, least: int, words: Words) -> bool:
    """Return whether what ends before `at` is a name of cryptography, and a sign."""
    before = re.compile(rb"(?:\A|(?<=[^0-9A-Za-z_.]))([0-9A-Za-z_.]{1,40}+)[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?\Z")
    match = before.search(text[max(least, at - 64) : at])
    return match is not None and parts_hold(match[1], words(letters.FIELD_NAMES))
