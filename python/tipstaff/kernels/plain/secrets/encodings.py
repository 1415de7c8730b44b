"""Reading what is encoded within a text: stretches with percent or JSON escapes, and base64 of text.

Does the same as ``secrets/encodings.hpp``. Each byte is decoded once, and what comes out is not decoded again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

ESCAPED_ROOM: Final = 4096
"""Bytes of one stretch with escapes."""

ESCAPED_BEFORE: Final = 1024
ESCAPED_OVERLAP: Final = 512
LEAST_BLOB: Final = 24
BLOB_SIGNS: Final = 65536

_TEXT: Final = frozenset((*range(9, 14), *range(0x20, 0x7F)))
_SIGNS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES: Final = {byte: at for at, byte in enumerate(_SIGNS)} | {0x2D: 62, 0x5F: 63}
_RUN: Final = re.compile(rb"[A-Za-z0-9+/]{24,}+")
_MARK: Final = re.compile(rb"%(?=[2-7])|\\(?=[/u])")
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})|\\(/)|\\u00([0-9A-Fa-f]{2})")
_NEXT_LINE: Final = re.compile(rb"(?:\r?\n|\\r\\n|\\n)[ \t]{0,16}+(([A-Za-z0-9+/]++)={0,2})(?=[\r\n\"'\\`< \t]|\Z)")
_PADDING: Final = re.compile(rb"(?:=|%3[dD]|\\[uU]003[dD]){0,2}+")


class Stretch(NamedTuple):
    """A stretch that was decoded.

    Attributes
    ----------
    start, end
        Its bytes in the text.
    data
        What it says.
    positions
        For each byte of `data`, and the one after them, where it is from `start` on; none for base64, which is
        one thing.
    """

    start: int
    end: int
    data: bytes
    positions: Sequence[int] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where bytes of `data` are in the text."""
        if self.positions is None:
            return self.start, self.end
        return self.start + self.positions[start], self.start + self.positions[end]


def _escape_at(text: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the length of the escape there, 0 for none, and the byte that it stands for."""
    match = _ESCAPE.match(text, at, end)
    if match is None:
        return 0, 0
    if match[1] is not None:
        value = int(match[1], 16)
        return (3, value) if 0x20 <= value < 0x7F or value in b"\t\r\n" else (0, 0)
    if match[2] is not None:
        return 2, 0x2F
    value = int(match[3], 16)
    # Quotes and backslashes stay escaped: they would end the string that they are in.
    return (6, value) if 0x20 <= value < 0x7F and value not in b"\"'\\" else (0, 0)


def escaped(text: bytes) -> Iterator[Stretch]:
    """Yield the lines that hold escapes, decoded; long lines in parts that overlap."""
    size = len(text)
    done = 0
    for mark in (match.start() for match in _MARK.finditer(text)):
        if mark < done or not _escape_at(text, mark, size)[0]:
            continue
        least = max(0, mark - ESCAPED_BEFORE, done - ESCAPED_OVERLAP)
        start = max(least, text.rfind(b"\n", least, mark) + 1)
        limit = min(size, start + ESCAPED_ROOM)
        line = text.find(b"\n", mark, limit)
        end = limit if line < 0 else line
        out = bytearray()
        positions: list[int] = []
        at = start
        while at < end:
            positions.append(at - start)
            length, value = _escape_at(text, at, end)
            out.append(value if length else text[at])
            at += length or 1
        positions.append(end - start)
        yield Stretch(start, end, bytes(out), positions)
        done = end


def _blob(text: bytes, run: int) -> Stretch:
    """Return the base64 that begins where a run does; its data is empty where it is no text."""
    mark = run + LEAST_BLOB - 1
    start = run
    while text[start] in b"+/" and start < mark:
        start += 1
    nothing = Stretch(start, mark + 1, b"", None)
    head = text[start : start + 16]
    if len(head) < 16 or any(byte not in _VALUES for byte in head):
        return nothing
    if any(byte not in _TEXT for byte in _decoded([_VALUES[byte] for byte in head])):
        return nothing
    signs: list[int] = []
    line = width = 0
    at = start
    while at < len(text):
        value = _VALUES.get(text[at])
        if value is None and text[at : at + 2] == b"\\/":
            value = 63
            at += 1
        if value is None:
            length = len(signs) - line
            if length != width if width else (not 48 <= length <= 128 or length % 4):
                break
            match = _NEXT_LINE.match(text, at)
            if match is None or len(match[2]) > length:
                break
            width, line, at = length, len(signs), match.start(1)
            continue
        at += 1
        signs.append(value)
    padding = _PADDING.match(text, at)
    end = at if padding is None else padding.end()
    data = _decoded(signs)
    controls = sum(byte < 0x80 and byte not in _TEXT for byte in data)
    high = sum(byte >= 0x80 for byte in data)
    if len(signs) > BLOB_SIGNS or 16 * controls > len(data) or 3 * high > len(data):
        data = b""
    return Stretch(start, end, data, None)


def _decoded(signs: Sequence[int]) -> bytes:
    bits = 0
    out = bytearray()
    for at, value in enumerate(signs):
        bits = (bits & 0xFFFF) << 6 | value
        if at % 4:
            out.append(bits >> (6 - 2 * (at % 4)) & 0xFF)
    return bytes(out)


def blobs(text: bytes) -> Iterator[Stretch]:
    """Yield what is in base64 of texts."""
    done = 0
    for match in _RUN.finditer(text):
        if match.start() < done:
            continue
        blob = _blob(text, match.start())
        done = blob.end
        if blob.data:
            yield blob
