"""Stretches of Markdown that a cut must not leave open: fenced code and HTML comments.

Found in one pass from the text's start, since a bare fence opens or closes by what came before it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

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
