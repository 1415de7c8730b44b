"""A Markdown document in parts of bounded size: in order, no fence divided, nothing lost.

The parts joined are the document. A section that fits is one part; else it is divided at blank lines, else at the ends
of sentences or lines, else between characters, never inside one. A fence that alone exceeds the maximum is a part
of its own, and the only kind of part that may: a divided fence would not be one. The limits are in tokens of four bytes
of UTF-8; no text has more code points than bytes, so the maximum holds in code points as well.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.model import Record

TARGET_TOKENS: Final = 1_000
MAX_TOKENS: Final = 1_500
MIN_TOKENS: Final = 200
_BYTES: Final = 4

_FENCE: Final = re.compile(r"[ ]{0,3}(`{3,}|~{3,})(.*)")
_HEADING: Final = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$")
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+")


class Chunk(Record, frozen=True, kw_only=True):
    """A part of a document.

    Attributes
    ----------
    index
        From 1 on.
    section
        The heading above its first words; empty where there is none.
    is_fence
        Whether it is one fence that alone exceeds the maximum.
    """

    index: int
    section: str
    text: str
    is_fence: bool = False

    @property
    def tokens(self) -> int:
        """Bytes of UTF-8 over four, rounded up."""
        return -(-_size(self.text) // _BYTES)


class _Piece(Record, frozen=True):
    text: str
    size: int
    section: str
    starts_section: bool
    is_fence: bool


def chunk_markdown(
    text: str, *, target: int = TARGET_TOKENS, maximum: int = MAX_TOKENS, minimum: int = MIN_TOKENS
) -> list[Chunk]:
    """Divide a document.

    Parameters
    ----------
    text
        Markdown.
    target, maximum, minimum
        Tokens: parts are filled up to the target and never exceed the maximum, fences aside; a smaller part than the
        minimum is joined with a neighbour where that fits.

    Raises
    ------
    ConfigError
        Unless 0 < minimum < target <= maximum.
    """
    if not 0 < minimum < target <= maximum:
        msg = f"expected 0 < minimum < target <= maximum, got {minimum}, {target} and {maximum}"
        raise ConfigError(msg)
    most = maximum * _BYTES
    groups: list[list[_Piece]] = []
    size = 0
    for piece in _pieces(text, most):
        over = size + piece.size > most
        full = size >= target * _BYTES or (piece.starts_section and size + piece.size > target * _BYTES)
        alone = piece.is_fence and piece.size > most
        after_alone = bool(groups) and groups[-1][-1].is_fence and groups[-1][-1].size > most
        if not groups or over or full or alone or after_alone:
            groups.append([])
            size = 0
        groups[-1].append(piece)
        size += piece.size
    groups = _joined(groups, minimum * _BYTES, most)
    return [
        Chunk(
            index=index,
            section=group[0].section,
            text="".join(piece.text for piece in group),
            is_fence=len(group) == 1 and group[0].is_fence and group[0].size > most,
        )
        for index, group in enumerate(groups, start=1)
    ]


def _joined(groups: list[list[_Piece]], least: int, most: int) -> list[list[_Piece]]:
    """Return groups of which small ones were joined with the next, else with the one before, where that fits."""
    result: list[list[_Piece]] = []
    for group in groups:
        size = sum(piece.size for piece in group)
        before = sum(piece.size for piece in result[-1]) if result else 0
        if result and (before < least or size < least) and before + size <= most:
            result[-1].extend(group)
        else:
            result.append(list(group))
    return result


def _pieces(text: str, most: int) -> list[_Piece]:
    """Return fences, and what is between them divided so far that each piece fits; joined they are the text."""
    found: list[_Piece] = []
    section = ""
    fence = ""
    held: list[str] = []

    def flush(*, is_fence: bool = False) -> None:
        joined = "".join(held)
        held.clear()
        if not joined:
            return
        first = True
        for part in [joined] if is_fence else _divided(joined, most):
            starts = first and not is_fence and _HEADING.match(part.split("\n", 1)[0]) is not None
            found.append(_Piece(part, _size(part), section, starts, is_fence))
            first = False

    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        mark = _FENCE.match(bare)
        if fence:
            held.append(line)
            if mark is not None and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
                fence = ""
                flush(is_fence=True)
            continue
        # An info string of backticks is not a fence: it is inline code.
        if mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            flush()
            fence = mark[1]
            held.append(line)
            continue
        heading = _HEADING.match(bare)
        if heading is not None:
            flush()
            section = (heading[1] or "").strip()
            held.append(line)
            continue
        held.append(line)
        if not bare.strip():
            flush()
    flush(is_fence=bool(fence))
    return found


def _divided(text: str, most: int) -> list[str]:
    """Return a text in parts of at most `most` bytes: by lines, else by sentences, else between characters."""
    if _size(text) <= most:
        return [text]
    parts: list[str] = []
    for line in text.splitlines(keepends=True):
        if _size(line) <= most:
            parts.append(line)
            continue
        start = 0
        for match in _SENTENCE.finditer(line):
            parts.extend(_cut(line[start : match.end()], most))
            start = match.end()
        parts.extend(_cut(line[start:], most))
    packed: list[str] = []
    size = 0
    for part in parts:
        length = _size(part)
        if not packed or size + length > most:
            packed.append("")
            size = 0
        packed[-1] += part
        size += length
    return packed


def _cut(text: str, most: int) -> list[str]:
    """Return a text cut between characters."""
    data = text.encode("utf-8", "surrogatepass")
    parts: list[str] = []
    start = 0
    while start < len(data):
        end = min(start + most, len(data))
        # Back to the start of an incomplete character.
        while end < len(data) and (data[end] & 0xC0) == 0x80:
            end -= 1
        parts.append(data[start:end].decode("utf-8", "surrogatepass"))
        start = end
    return parts


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
