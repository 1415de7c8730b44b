"""Where the bytes of a text that was cut out of a source, or moved to the left, are in that source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection


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
