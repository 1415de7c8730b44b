"""HTML and XML-like elements among Markdown: which words they hold, and what they are called.

Rule files wrap sections in elements of their own (``<never>`` ... ``</never>``), and use HTML for lists, headings and
folds. HTML's marks are turned into Markdown's of the same width in bytes, so that every offset stays true.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import msgspec

from tipstaff.guidance.wording.word_forms import lists

_LISTS: Final = lists("elements")

TAG: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^<>]*>?|<(?P<end>/?)(?P<name>[A-Za-z][\w-]*+)[^<>]*>", re.DOTALL)
"""A comment, a declaration or a tag."""
_OWN_LINE: Final = re.compile(rb"^[ \t>]*(<(/?)([A-Za-z][\w-]*)(?:[ \t][^<>\n]*)?>)[ \t]*(?=$|<summary>)", re.MULTILINE)
_HEADING: Final = re.compile("h[1-6]")
_INLINE: Final = frozenset(_LISTS["inline"].split())
_HTML: Final = _INLINE | frozenset(
    """address area article aside audio base blockquote body button canvas caption center col colgroup dd details dialog
    dir div dl dt fieldset
    figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend
    li link main map menu meta nav noscript object ol optgroup option p picture pre script search section select slot
    source style summary svg table tbody td template textarea tfoot th thead title tr track ul video""".split()
)


class Element(msgspec.Struct, frozen=True, gc=False):
    """An element that a file made up itself, or a fold, whose tags have lines of their own.

    Attributes
    ----------
    start, end
        Byte range of the opening tag, and of a fold's summary.
    until
        Byte offset of the closing tag.
    name
        In words: ``do_not`` and ``do-not`` are "do not"; of a fold its summary.
    """

    start: int
    end: int
    until: int
    name: str


def own_elements(data: bytes, skipped: Sequence[tuple[int, int]]) -> tuple[list[Element], list[tuple[int, int]]]:
    """Find the elements that are no HTML, and the lines that are a tag alone.

    Parameters
    ----------
    data
        UTF-8.
    skipped
        Byte ranges of code and comments, in order.

    Returns
    -------
    tuple
        The elements by their start, and the byte ranges of all tags on lines of their own. A name in mixed case
        (``<Tabs>``) is a component of a page and no element; one that is not closed is a placeholder.
    """
    if b"</" not in data:
        return [], []
    starts = [start for start, _ in skipped]
    found: list[Element] = []
    tags: list[tuple[int, int]] = []
    opened: list[tuple[str, int, int]] = []
    for match in _OWN_LINE.finditer(data):
        at = bisect_right(starts, match.start(1)) - 1
        if at >= 0 and match.start(1) < skipped[at][1]:
            continue
        name = match[3].decode()
        if name.lower() in _HTML and name.lower() != "details":
            tags.append(match.span(1))
        elif not match[2]:
            opened.append((name, *match.span(1)))
        elif name in (one for one, _, _ in opened[-_MAX_OPEN:]):
            while opened[-1][0] != name:
                opened.pop()
            _, start, end = opened.pop()
            tags.extend([(start, end), match.span(1)])
            summary = _SUMMARY.match(data, end, min(end + _MAX_SUMMARY, len(data))) if name == "details" else None
            if summary is not None:
                tags.append(summary.span(1))
                words = re.sub(r"<[^<>]*>", "", summary[2].decode("utf-8", "replace"))
                found.append(Element(start, summary.end(), match.start(1), " ".join(words.split())))
            elif name != "details" and name in {name.lower(), name.upper()}:
                words = " ".join(re.split(r"[_-]+", name)).strip()
                found.append(Element(start, end, match.start(1), words))
    return sorted(found, key=lambda one: one.start), sorted(tags)


_SUMMARY: Final = re.compile(rb"\s*(<summary>(.*?)</summary>)", re.DOTALL | re.IGNORECASE)
_MAX_SUMMARY: Final = 512
_MAX_OPEN: Final = 32
"""How deep elements are nested in each other."""


def is_inline(tag: str) -> bool:
    """Whether a tag is one that HTML has within sentences, such as ``<b>`` or ``</kbd>``."""
    match = TAG.match(tag)
    return match is not None and (match["name"] or "").lower() in _INLINE


def as_markdown(raw: str) -> tuple[str, list[tuple[int, int]]]:
    """Replace the tags of an HTML block by Markdown of the same width in bytes.

    Parameters
    ----------
    raw
        The block.

    Returns
    -------
    tuple
        The text, and the ranges (in `raw`, code points) of the tags whose words are no longer to be seen: comments,
        HTML's tags, and tags that a later one closes. Others are placeholders (``<file>``) and stay words.
    """
    closed = {match["name"] for match in TAG.finditer(raw) if match["end"]}
    hidden: list[tuple[int, int]] = []

    def mark(match: re.Match[str]) -> str:
        name, tag, start = (match["name"] or "").lower(), match[0], match.start()
        known = not name or name in _HTML or match["name"] in closed
        if known:
            hidden.append(match.span())
        elif raw[max(0, start - 2) : start].strip():
            return tag
        blank = " " * len(tag.encode("utf-8", "replace"))
        if "\n" in tag:
            return re.sub(r"[^\n]", lambda one: " " * len(one[0].encode("utf-8", "replace")), tag)
        if not known or not name or name in _INLINE or name in {"td", "th"}:
            return blank
        if not match["end"]:
            if name == "li" or (name not in _HTML and raw[match.end() : match.end() + 1].strip() and len(blank) > 3):
                return f"\n- {blank[3:]}"
            if _HEADING.fullmatch(name):
                return f"\n## {blank[4:]}"
        return f"{blank[1:]}\n"

    return TAG.sub(mark, raw), hidden
