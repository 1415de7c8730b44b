"""The imports that a document's words name: ``@docs/rules.md``, never in code, each with its line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from tipstaff.guidance.reading.constitution_headings import is_constitution_heading
from tipstaff.guidance.reading.documents import Document

_IMPORT: Final = re.compile(
    r"(?<![\w@/`\\])@(?P<path>(?:~|\.{1,2})?/?[\w.-](?:[\w./+&'-]|\\[^\n]|\([\w .-]*\)|\[[\w .-]*\])*|~/[\w./+-]+)"
)
"""A path; ``\\ `` is a blank in it, ``\\@`` begins none, brackets belong to it where they are closed."""
_ESCAPED: Final = re.compile(r"\\([^\w\n])")
_TICKS: Final = re.compile(r"`+")


class Import(NamedTuple):
    """What one ``@`` names: perhaps a file, perhaps a package, a handle or a decorator.

    Attributes
    ----------
    target
        The path as written, without the ``@`` and without a sentence's full stop.
    line
        Of the document, from 1.
    in_constitution
        Whether it is below a heading whose rules are always loaded.
    """

    target: str
    line: int
    in_constitution: bool


def may_import(text: str) -> bool:
    """Whether a text holds anything in the form of an import, be it in code."""
    return _IMPORT.search(text) is not None


def imports_of(document: Document) -> Iterator[Import]:
    """Yield the imports of a document in their order; in time linear in its length."""
    if "@" not in document.text:
        return
    source = document.parsed.source
    sections: list[tuple[int, bool]] = []
    for block in document.parsed.blocks:
        if block.kind == "heading":
            title = source.slice(block.start, block.end)
            while sections and sections[-1][0] >= block.level:
                sections.pop()
            outer = sections[-1][1] if sections else document.in_constitution
            sections.append((block.level, outer or is_constitution_heading(title)))
        elif block.kind not in {"paragraph", "item", "row"}:
            continue
        words = source.slice(block.start, block.end)
        if "@" not in words:
            continue
        masked = _without_code(words) if "`" in words else words
        line, counted = source.line(block.start), 0
        for match in _IMPORT.finditer(masked):
            constitution = sections[-1][1] if sections else document.in_constitution
            line += words.count("\n", counted, match.start())
            counted = match.start()
            yield Import(_ESCAPED.sub(r"\1", match["path"].rstrip(".'")), line, constitution)


def _without_code(words: str) -> str:
    """Blank code spans; the next run of as many backticks closes a span, so runs are looked up by their length."""
    runs = [match.span() for match in _TICKS.finditer(words)]
    positions: dict[int, list[int]] = {}
    for index, (low, high) in enumerate(runs):
        positions.setdefault(high - low, []).append(index)
    parts: list[str] = []
    at = index = 0
    while index < len(runs):
        low, high = runs[index]
        same = positions[high - low]
        position = bisect_right(same, index)
        if position < len(same):
            index = same[position]
            end = runs[index][1]
            parts.append(words[at:low])
            parts.append("`" * (end - low))
            at = end
        index += 1
    return "".join([*parts, words[at:]])
