"""Cutting a text to an allowance: its beginning, a marker that says what is missing, its end.

Of the room that the marker leaves, seven ninths go to the beginning (where the instructions are) and two to the end
(where the newest entries are): 70 % and 20 % of a large allowance. Cuts fall between paragraphs, else lines, else
words, else graphemes; what a cut at a better place costs the beginning is given to the end. Fences and comments that
a cut leaves open are closed, and opened again after the marker. Lengths are code points.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from tipstaff.context.conversation.graphemes import ceil_boundary, floor_boundary, is_boundary
from tipstaff.kernels import join_pieces

_OPENING: Final = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*")
_MARKS: Final = ("```", "~~~", "<!--")
_LONGEST_OPENER: Final = 48
_LONGEST_FENCE: Final = 24
_LONGEST_PREFIX: Final = 64


class Enclosure(NamedTuple):
    """One fenced block or comment; all places are code points in the text.

    `start` to `body` is what opens it and `closing` to `end` what closes it, each with its line's end; an enclosure
    that is never closed reaches to the end of the text and has ``closing == end``. `opener` and `closer` are what
    opens and closes it again: whole lines for a fence.
    """

    start: int
    body: int
    closing: int
    end: int
    opener: str
    closer: str
    is_fence: bool


def enclosures(text: str) -> tuple[Enclosure, ...]:
    """Return a text's fenced blocks and comments, in order and disjoint."""
    # Looking for one character takes 3 µs for 100 KB; most texts end here, and are not worth remembering.
    if "`" not in text and "~" not in text and "<" not in text:
        return ()
    return _remembered(text)


def all_closed(text: str, comment: int) -> bool:
    """Return whether everything is closed in a text, and the comment that begins at `comment` is one."""
    found = _find(text)
    return all(block.closing < block.end for block in found) and any(block.start == comment for block in found)


def _find(text: str) -> tuple[Enclosure, ...]:
    found: list[Enclosure] = []
    positions = [text.find(mark) for mark in _MARKS]
    at = 0
    while True:
        for index, position in enumerate(positions):
            if 0 <= position < at:
                positions[index] = text.find(_MARKS[index], at)
        nearest = min((position for position in positions if position >= 0), default=-1)
        if nearest < 0:
            return tuple(found)
        if nearest == positions[2] and text.startswith("<!--", nearest):
            one: Enclosure | None = _comment(text, nearest)
        else:
            one = _fence(text, nearest, at)
        if one is None:
            # The rest of a run of marks opens nothing either.
            at = _run_end(text, nearest)
        else:
            found.append(one)
            at = one.end


# The texts of memory tiers stay the same from request to request.
_remembered = lru_cache(maxsize=64)(_find)


def _run_end(text: str, at: int) -> int:
    char = text[at]
    end = at
    while end < len(text) and text[end] == char:
        end += 1
    return end


def _comment(text: str, start: int) -> Enclosure:
    closing = text.find("-->", start + 4)
    if closing < 0:
        return Enclosure(start, start + 4, len(text), len(text), "<!-- ", " -->", False)
    return Enclosure(start, start + 4, closing, closing + 3, "<!-- ", " -->", False)


def _fence(text: str, position: int, after: int) -> Enclosure | None:
    """Return the fenced block whose marks are at `position`, None where they open none."""
    start = max(text.rfind("\n", after, position) + 1, after)
    if start == after and after > 0 and text[after - 1] != "\n":
        return None
    prefix = text[start:position] if position - start <= _LONGEST_PREFIX else "x"
    if _OPENING.fullmatch(prefix) is None:
        return None
    marks_end = _run_end(text, position)
    line_end = _line_end(text, marks_end)
    char = text[position]
    if char == "`" and "`" in text[marks_end:line_end]:
        return None
    # What opens it again is no list item again, but stays where its own text is.
    margin = re.sub(r"[^\s>]", " ", prefix)
    marks = text[position:marks_end]
    info = text[marks_end:line_end].rstrip()
    if len(info) > _LONGEST_OPENER:
        info = ""
    opener, closer = f"{margin}{marks}{info}\n", f"{margin}{marks}"
    body = min(line_end + 1, len(text))
    if len(marks) > _LONGEST_FENCE:
        return None
    at = position
    while True:
        at = text.find(marks, line_end)
        if at < 0:
            return Enclosure(start, body, len(text), len(text), opener, closer, True)
        line = text.rfind("\n", line_end, at) + 1
        run = _run_end(text, at)
        line_end = _line_end(text, run)
        if line > body - 1 and not text[line:at].strip(" \t>") and not text[run:line_end].strip():
            return Enclosure(start, body, line, min(line_end + 1, len(text)), opener, closer, True)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


MIN_SHOWN_CHARS: Final = 24
"""Less of a text than this means nothing: then nothing of it is shown."""

_BOTH_ENDS_FROM: Final = 160
"""An allowance below this shows only the beginning."""

_LONGEST_REMEMBERED: Final = 1 << 20
_MARKER_START: Final = "<!-- [TRUNCATED]"
_WORD_CHARS: Final = 40
_HEADING_CHARS: Final = 120
_ENCLOSURE_CHARS: Final = 200
_SPACES: Final = " \t\n\r"


Piece = tuple[str, int, int]
"""A text and the half-open range of its code points that is meant."""


class Cut(NamedTuple):
    """A shortened text, not yet put together.

    Its pieces, its length, and how much of the original's beginning and end it shows (all of it as the beginning where
    nothing was cut).
    """

    pieces: tuple[Piece, ...]
    chars: int
    head_chars: int
    tail_chars: int

    @property
    def text(self) -> str:
        """The shortened text; the original where that fits."""
        return join_pieces(list(self.pieces))


def truncate(text: str, max_chars: int) -> str:
    """Return a text that is at most `max_chars` long and says so where it was cut.

    Parameters
    ----------
    text
        Any text.
    max_chars
        Its allowance, in code points. Below 0 counts as 0.

    Returns
    -------
    str
        The text itself where it fits. Else its beginning, a marker with the original's length and what is shown, and
        its end; where less than 24 characters of it could be shown, as much of the marker as there is room for.

    Notes
    -----
    Linear in the text's length. The same for the same arguments; cutting what was cut to a smaller allowance gives
    another marker about the text it was given, so cut once, from the original.
    """
    return cut(text, max_chars).text


def cut(text: str, max_chars: int) -> Cut:
    """Return how `text` is shortened by :func:`truncate`, and what it shows."""
    size = len(text)
    if size <= max_chars:
        return Cut(((text, 0, size),), size, size, 0)
    if max_chars <= 0:
        return Cut((), 0, 0, 0)
    return _remembered_cuts(text, max_chars) if size <= _LONGEST_REMEMBERED else _cut(text, max_chars)


def _cut(text: str, max_chars: int) -> Cut:
    size = len(text)
    if max_chars < _BOTH_ENDS_FROM:
        return _beginning_only(text, max_chars)
    room = max_chars - len(_marker(size, max_chars, max_chars))
    blocks = enclosures(text)
    head, closer = _head(text, blocks, room * 7 // 9, max_chars // 20)
    tail, opener, end = _tail(text, blocks, head, room - head - len(closer), max_chars // 50)
    found = _joined(text, head, closer, tail, opener, end)
    if blocks or "`" in text or "~" in text:
        # Part of a line may open what the whole line does not: then whole lines, and at worst no end, are shown.
        if not _is_closed(found):
            head, closer = _head(text, blocks, _line_start(text, head), 0)
            found = _joined(text, head, closer, tail, opener, end)
        if not _is_closed(found):
            found = _joined(text, head, closer, size, "", "")
        if not _is_closed(found):
            return _nothing_shown(size, max_chars)
    return found if found.head_chars + found.tail_chars >= MIN_SHOWN_CHARS else _nothing_shown(size, max_chars)


def _joined(text: str, head: int, closer: str, tail: int, opener: str, end: str) -> Cut:
    size = len(text)
    middle = f"{closer}{_marker(size, head, size - tail)}{opener}"
    chars = head + len(middle) + size - tail + len(end)
    pieces = ((text, 0, head), (middle, 0, len(middle)), (text, tail, size), (end, 0, len(end)))
    return Cut(pieces, chars, head, size - tail)


def _is_closed(found: Cut) -> bool:
    text = found.text
    return all_closed(text, text.find(_MARKER_START, max(found.head_chars - 1, 0)))


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


# The tiers of a prompt are the same from request to request, and so are most of their allowances.
_remembered_cuts = lru_cache(maxsize=64)(_cut)


def _marker(size: int, head: int, tail: int) -> str:
    return f"\n\n<!-- [TRUNCATED] Original: {size} chars, showing first {head} + last {tail} chars -->\n\n"


def _head_marker(size: int, head: int) -> str:
    return f"\n\n<!-- [TRUNCATED] Original: {size} chars, showing first {head} chars -->"


def _beginning_only(text: str, max_chars: int) -> Cut:
    size = len(text)
    room = max_chars - len(_head_marker(size, max_chars))
    if room >= MIN_SHOWN_CHARS:
        head, closer = _head(text, enclosures(text), room, max_chars // 20)
        if head >= MIN_SHOWN_CHARS:
            rest = f"{closer}{_head_marker(size, head)}"
            found = Cut(((text, 0, head), (rest, 0, len(rest))), head + len(rest), head, 0)
            if _is_closed(found):
                return found
    return _nothing_shown(size, max_chars)


def _nothing_shown(size: int, max_chars: int) -> Cut:
    for marker in (
        f"<!-- [TRUNCATED] Original: {size} chars, none shown -->",
        f"<!-- [TRUNCATED] Original: {size} chars -->",
        f"[TRUNCATED {size} chars]",
        "[TRUNCATED]",
        "…",
    ):
        if len(marker) <= max_chars:
            return Cut(((marker, 0, len(marker)),), len(marker), 0, 0)
    return Cut((), 0, 0, 0)


# -- the beginning -----------------------------------------------------------------------------------------------------


def _head(text: str, blocks: tuple[Enclosure, ...], limit: int, slack: int) -> tuple[int, str]:
    """Return where the beginning ends, and what closes it there; both together take at most `limit`."""
    at = _head_cut(text, limit, slack)
    block = _around(blocks, at)
    if block is None:
        return _without_heading(text, at), ""
    if block.start >= limit - max(slack, min(_ENCLOSURE_CHARS, limit // 4)):
        return _head_end(text, block.start), ""
    for _ in range(2):
        closer = f"\n{block.closer}" if block.is_fence else block.closer
        at = _head_cut(text, limit - len(closer), slack)
        if at <= block.body or at <= block.start:
            return _head_end(text, block.start), ""
        if at < block.closing:
            return _head_end(text, at), closer
        # The cut fell into the line that closes: leave that out, and write our own.
        if at < block.end or block.end > limit:
            shorter = _head_end(text, min(at, block.closing))
            return (shorter, closer) if shorter > block.body else (_head_end(text, block.start), "")
    return _head_end(text, block.start), ""


def _head_cut(text: str, limit: int, slack: int) -> int:
    """Return the best place at or before `limit` to end the beginning, without the white space before it."""
    if limit <= 0:
        return 0
    low = max(limit - slack, 1)
    # A place right at the limit is as good as any: look at what follows it as well.
    at = text.rfind("\n\n", low, limit + 2)
    if at < 0:
        at = text.rfind("\n", low, limit + 1)
    if at < 0:
        at = _last_space(text, max(limit - _WORD_CHARS, 1), limit + 1)
    if at < 0:
        at = floor_boundary(text, limit)
    return _head_end(text, at)


def _head_end(text: str, at: int) -> int:
    while at > 0 and text[at - 1] in _SPACES:
        at -= 1
    return floor_boundary(text, at)


def _last_space(text: str, low: int, high: int) -> int:
    return max(text.rfind(" ", low, high), text.rfind("\t", low, high))


def _without_heading(text: str, at: int) -> int:
    """Return the place before a heading that would end the beginning with nothing under it."""
    line = text.rfind("\n", max(at - _HEADING_CHARS, 0), at) + 1
    if line > 1 and text.startswith("#", line) and text[line:at].lstrip("#")[:1] == " ":
        return _head_end(text, line)
    return at


# -- the end -----------------------------------------------------------------------------------------------------------


def _tail(text: str, blocks: tuple[Enclosure, ...], head: int, room: int, slack: int) -> tuple[int, str, str]:
    """Return where the end starts, what opens it there and what closes it; all three together take at most `room`."""
    size = len(text)
    last = blocks[-1] if blocks else None
    end = ""
    if last is not None and last.closing == last.end == size and last.closer:
        end = last.closer if not last.is_fence or text.endswith("\n") else f"\n{last.closer}"
    at = _tail_cut(text, max(head, size - max(room - len(end), 0)), slack)
    block = _around(blocks, at)
    if block is not None:
        if at >= block.closing or block.end - at <= slack:
            at, block = block.end, None
        else:
            at = _tail_cut(text, max(at, block.body, size - max(room - len(end) - len(block.opener), 0)), slack)
            if at >= block.closing or block.end - at <= slack:
                at, block = block.end, None
    at = _tail_start(text, at)
    if block is not None and at >= block.closing:
        at, block = _tail_start(text, block.end), None
    if at >= size:
        return size, "", ""
    if end and last is not None and at <= last.start:
        return at, "", end
    return at, block.opener if block is not None else "", end


def _tail_cut(text: str, start: int, slack: int) -> int:
    """Return the best place at or after `start` to begin the end."""
    size = len(text)
    if start >= size:
        return size
    if start > 0 and text[start - 1] == "\n":
        return start
    at = text.find("\n", start, start + slack)
    if at >= 0:
        return at + 1
    high = min(start + _WORD_CHARS, size)
    spaces = [space for space in (text.find(" ", start - 1, high), text.find("\t", start - 1, high)) if space >= 0]
    return min(spaces) + 1 if spaces else ceil_boundary(text, start)


def _tail_start(text: str, at: int) -> int:
    """Return the place after blank lines and spaces, but not into a line's indentation."""
    while at < len(text) and text[at] in "\n\r":
        at += 1
    return at if is_boundary(text, at) else ceil_boundary(text, at)


def _around(blocks: tuple[Enclosure, ...], at: int) -> Enclosure | None:
    """Return the enclosure that a cut at `at` would tear."""
    low, high = 0, len(blocks)
    while low < high:
        middle = (low + high) // 2
        if blocks[middle].end <= at:
            low = middle + 1
        else:
            high = middle
    return blocks[low] if low < len(blocks) and blocks[low].start < at else None
