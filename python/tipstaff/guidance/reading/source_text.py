"""A rule file's text by byte offsets: slices, lines, and spans in code points."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from itertools import accumulate
from typing import Final

_CONTINUATION: Final = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no code point."""


class SourceText:
    r"""A text with cheap slices by byte range and conversion of byte offsets to lines and code points.

    Parameters
    ----------
    text
        The file's text as read, line ends of any kind. A leading byte-order mark is left out of the text that blocks
        refer to, and counted back in :meth:`span`.

    Notes
    -----
    Line ends are normalised without changing any offset: ``\r\n`` becomes a space and ``\n``, a lone ``\r``
    becomes ``\n``.
    """

    __slots__ = ("_ascii", "_char_starts", "_lines", "_offset", "data", "text")

    def __init__(self, text: str) -> None:
        self._offset = 1 if text.startswith("\ufeff") else 0
        if self._offset:
            text = text[1:]
        if "\r" in text:
            text = text.replace("\r\n", " \n").replace("\r", "\n")
        self.text = text
        self._ascii = text.isascii()
        # Lone surrogates cannot be encoded; a replacement of the same width in code points keeps every span right.
        try:
            self.data = text.encode("utf-8")
        except UnicodeEncodeError:
            self.data = text.encode("utf-8", "replace")
            self.text = self.data.decode("utf-8")
        # Where each line starts: after the line before and its line feed.
        self._lines = list(accumulate([len(line) + 1 for line in self.data.split(b"\n")[:-1]], initial=0))
        self._char_starts: list[int] | None = None

    def slice(self, start: int, end: int) -> str:
        """Return the text of a byte range."""
        if self._ascii:
            return self.text[start:end]
        return self.data[start:end].decode("utf-8", "replace")

    def line(self, offset: int) -> int:
        """Return the one-based line of a byte offset."""
        return bisect_right(self._lines, offset)

    def column(self, offset: int) -> int:
        """Return the zero-based byte column of a byte offset."""
        return offset - self._lines[bisect_right(self._lines, offset) - 1]

    def line_start(self, offset: int) -> int:
        """Return where the line of a byte offset begins."""
        return self._lines[bisect_right(self._lines, offset) - 1]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return a byte range as code points of the text as it was given."""
        if self._ascii:
            return start + self._offset, end + self._offset
        return self._chars(start) + self._offset, self._chars(end) + self._offset

    def location(self, start: int, end: int) -> tuple[int, int, tuple[int, int]]:
        """Return the one-based first and last line of a byte range, and its span."""
        lines = self._lines
        first = bisect_right(lines, start)
        last = bisect_right(lines, end - 1, first - 1) if end > start else first
        if self._ascii:
            return first, last, (start + self._offset, end + self._offset)
        return first, last, self.span(start, end)

    def _chars(self, offset: int) -> int:
        """Count the code points before a byte offset; totals are kept for every 512 bytes, however long the lines."""
        if self._char_starts is None:
            data = self.data
            counts = (len(data[low : low + 512].translate(None, _CONTINUATION)) for low in range(0, len(data), 512))
            self._char_starts = [0, *accumulate(counts)]
        index = offset >> 9
        return self._char_starts[index] + len(self.data[index << 9 : offset].translate(None, _CONTINUATION))


class Shift:
    """Maps offsets of a text that is a contiguous part of the source."""

    __slots__ = ("base",)

    def __init__(self, base: int) -> None:
        self.base = base

    def __call__(self, offset: int) -> int:
        """Return the offset in the source."""
        return offset + self.base


class Dedented:
    """Maps offsets of a text whose lines were moved to the left."""

    __slots__ = ("_origins", "_starts")

    def __init__(self, starts: list[int], origins: list[int]) -> None:
        self._starts = starts
        self._origins = origins

    def __call__(self, offset: int) -> int:
        """Return the offset in the source."""
        index = bisect_right(self._starts, offset) - 1
        return self._origins[index] + offset - self._starts[index]


def dedented(words: str, start: int, loose: Collection[int]) -> tuple[str, Dedented]:
    """Move the lines of a text to the left by what they all are indented.

    Parameters
    ----------
    words
        Lines; the bytes between them are one each.
    start
        Offset of the first byte in the source.
    loose
        Offsets of lines in the source that lose all of their indentation.

    Returns
    -------
    tuple
        The text, and the map of its offsets to the source's.
    """
    lines = words.split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    starts: list[int] = []
    origins: list[int] = []
    moved: list[str] = []
    at_new, at_old = 0, start
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        cut = indent if at_old in loose else min(margin, indent)
        starts.append(at_new)
        origins.append(at_old + cut)
        moved.append(line[cut:])
        width = len(line.encode("utf-8", "replace"))
        at_new += width - cut + 1
        at_old += width + 1
    return "\n".join(moved), Dedented(starts, origins)
