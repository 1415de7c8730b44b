"""Markdown read into blocks with byte ranges: headings, paragraphs, list items, table rows; never code.

CommonMark is pyromark's business (pulldown-cmark). What is added here is what rule files need beyond it: front matter,
any line ending, a byte-order mark, the words inside HTML blocks (``<important>`` and its like are common in rule
files), and the parent of every list item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec
import pyromark

from tipstaff.guidance.reading.elements import Element, as_markdown, is_inline, own_elements
from tipstaff.guidance.reading.source_text import Dedented, Shift, SourceText, dedented

_OPTIONS: Final = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_FOOTNOTES
)
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LISTED: Final = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_MARKERS_ELSEWHERE: Final = re.compile(
    r"^(?P<before>[ \t>]*)"
    r"(?P<marker>[•◦▪‣●○■]|(?P<digits>[٠-٩۰-۹०-९]{1,3}[.)]|\d{1,2}、|[①-⑳]))(?P<after>[ \t]?)(?=\S)",
    re.MULTILINE,
)
"""What begins items where people type no ``-`` and no ASCII digits."""
_LITERAL_HTML: Final = re.compile(r"\s*<(script|style|pre|textarea|svg)\b", re.IGNORECASE)
_MAX_HTML_DEPTH: Final = 3
_FIRST_KEY: Final = re.compile(r"\s*\Z|(?:[ \t]*(?:#[^\n]*)?\n)*[\"']?[A-Za-z_][\w.-]*[\"']?[ \t]*:(?:\s|\Z)")
_MAX_FRONT_MATTER: Final = 64 * 1024


class Block(msgspec.Struct, gc=False):
    """A piece of a document that may hold rules.

    Attributes
    ----------
    kind
        ``heading``, ``paragraph``, ``item``, ``row`` (of a table), ``comment`` (HTML) or ``break`` (a thematic break).
    start, end
        Half-open byte range of the block's own words, without its marker and without nested blocks.
    level
        Heading level 1..6; nesting depth of an item's list from 1.
    parent
        Index of the item that holds this block, -1 for none. A paragraph with a parent continues that item.
    children
        Number of items nested directly below an item.
    quoted
        Whether it is in a block quotation.
    struck
        Whether all its words are struck out.
    cells
        For a row: byte range of each cell.
    header
        For a row: index of the table's header row, -1 for that row itself.
    code
        Byte range of a code block that belongs to the item or follows the paragraph at once; ``(0, 0)`` for none.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    parent: int = -1
    children: int = 0
    quoted: bool = False
    struck: bool = False
    cells: tuple[tuple[int, int], ...] = ()
    header: int = -1
    code: tuple[int, int] = (0, 0)


class ParsedText(msgspec.Struct, gc=False):
    """A document as blocks.

    Attributes
    ----------
    source
        The text that the blocks' ranges refer to.
    blocks
        In document order.
    front_matter
        The YAML between the opening ``---`` lines, None where there is none.
    unclosed_fence
        Byte offset of a code fence, or of an element such as ``<pre>``, that is never closed, -1 for none.
    comments
        Byte ranges of the HTML comments among other words; those on lines of their own are blocks.
    elements
        Sections that are elements of the file's own (``<never>``), by their start.
    tags
        Byte ranges of tags that are no words of the blocks around them, by their start.
    """

    source: SourceText
    blocks: list[Block]
    front_matter: str | None
    unclosed_fence: int
    comments: list[tuple[int, int]]
    elements: list[Element] = []
    tags: list[tuple[int, int]] = []


def split_front_matter(text: str) -> tuple[str | None, int]:
    """Return the YAML at the head of a text and the offset where the rest begins (0 without front matter)."""
    if not text.startswith("---"):
        return None, 0
    match = _FRONT_MATTER.match(text, 0, _MAX_FRONT_MATTER)
    # A document may begin with a thematic break: what follows it is front matter only if it begins with a key.
    return (match[1], match.end()) if match and _FIRST_KEY.match(match[1]) else (None, 0)


def parse(text: str, *, front_matter: bool = True) -> ParsedText:
    """Read a Markdown text into blocks.

    Parameters
    ----------
    text
        Any text; nothing makes this raise. Linear time.
    front_matter
        Whether YAML at its head is set apart; otherwise it is read as Markdown too, by itself: a fence or comment that
        it opens does not hide the text below it.
    """
    source = SourceText(text)
    matter, body = split_front_matter(source.text)
    skipped = len(source.text[:body].encode("utf-8", "replace")) if body else 0
    walker = _Walker(source)
    if body and not front_matter:
        matter = None
        walker.walk(source.text[:body], Shift(0), depth=0)
    walker.walk(source.text[body:] if body else source.text, Shift(skipped), depth=0)
    comments = [(block.start, block.end) for block in walker.blocks if block.kind == "comment"]
    elements, tags = own_elements(source.data, sorted([*walker.code, *walker.comments, *comments]))
    tags = sorted({*tags, *walker.tags})
    return ParsedText(source, walker.blocks, matter, walker.unclosed_fence, walker.comments, elements, tags)


def _plain_marker(match: re.Match[str]) -> str:
    """Return the beginning of an item as Markdown has it, in as many bytes."""
    plain = "1." if match["digits"] else "-"
    width = len((match["marker"] + match["after"]).encode())
    return match["before"] + plain.ljust(width) if width > len(plain) else match[0]


class _Walker:
    """Turns pyromark's events into blocks."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.blocks: list[Block] = []
        self.unclosed_fence = -1
        self.comments: list[tuple[int, int]] = []
        self.code: list[tuple[int, int]] = []
        self.tags: list[tuple[int, int]] = []

    def walk(self, text: str, at: Shift | Dedented, *, depth: int, quoted: bool = False, parent: int = -1) -> None:
        """Append the blocks of a text, whose offsets `at` maps to the source's."""
        blocks = self.blocks
        items: list[int] = [parent] if parent >= 0 else []
        quotes = int(quoted)
        lists = 0
        leaf = -1  # the block that inline events extend, -1 outside
        cells: list[tuple[int, int]] = []
        cell_start = cell_end = -1
        in_cell = False
        table_header = -1
        code_depth = 0
        html_start = -1
        struck_end = 0
        if not text.isascii():
            text = _MARKERS_ELSEWHERE.sub(_plain_marker, text)
        events = cast("Iterable[tuple[Any, Any]]", pyromark.events_with_range(text, options=_OPTIONS, merge_text=True))
        base = at.base if type(at) is Shift else None
        for event, where in events:
            if type(event) is str:
                if event == "Rule":
                    leaf = -1
                    here = where["start"] + base if base is not None else at(where["start"])
                    blocks.append(Block("break", here, here, quoted=quotes > 0))
                continue
            [key] = event
            value: Any = event[key]
            start: int
            end: int
            if base is None:
                start, end = at(where["start"]), at(where["end"] - 1) + 1 if where["end"] else at(0)
            else:
                start, end = where["start"] + base, where["end"] + base
            detail: Any = value
            if key == "Text" and leaf >= 0 and not in_cell:
                block = blocks[leaf]
                if end > block.end and block.start >= 0 and block.start != block.end:
                    block.end = end
                else:
                    _extend(block, start, end)
            elif key == "Start":
                name = value if type(value) is str else next(iter(value))
                if name == "Paragraph":
                    if code_depth or html_start >= 0:
                        continue
                    owner = items[-1] if items else -1
                    if owner >= 0 and blocks[owner].start == blocks[owner].end:
                        leaf = owner
                    else:
                        leaf = len(blocks)
                        blocks.append(Block("paragraph", -1, -1, parent=owner, quoted=quotes > 0))
                elif name == "Heading":
                    leaf = len(blocks)
                    level = int(detail["Heading"]["level"][1])
                    blocks.append(Block("heading", -1, -1, level=level, quoted=quotes > 0))
                elif name == "Item":
                    leaf = len(blocks)
                    owner = items[-1] if items else -1
                    if owner >= 0:
                        blocks[owner].children += 1
                    here = start
                    blocks.append(Block("item", here, here, level=lists, parent=owner, quoted=quotes > 0))
                    items.append(leaf)
                elif name == "List":
                    lists += 1
                    leaf = -1
                elif name == "BlockQuote":
                    quotes += 1
                    leaf = -1
                elif name == "CodeBlock":
                    code_depth += 1
                    leaf = -1
                    self.code.append((start, end))
                    self._note_code(detail["CodeBlock"], (start, end), items)
                elif name == "HtmlBlock":
                    html_start = start
                    leaf = -1
                elif name in {"TableHead", "TableRow"}:
                    cells = []
                elif name == "TableCell":
                    in_cell = True
                    cell_start = cell_end = -1
                elif name == "Table":
                    leaf = -1
                    table_header = -1
                else:  # an inline container: its range includes its marks
                    if name == "Strikethrough":
                        struck_end = end
                    if in_cell:
                        cell_start = start if cell_start < 0 else cell_start
                        cell_end = end
                    else:
                        leaf = leaf if leaf >= 0 else self._tight(items, quotes > 0)
                        if leaf >= 0:
                            _extend(blocks[leaf], start, end)
            elif key == "End":
                name = value if type(value) is str else next(iter(value))
                if name in {"Paragraph", "Heading"}:
                    if leaf >= 0:
                        block = blocks[leaf]
                        if block.start < 0:  # a heading without words
                            block.start = block.end = start
                        block.struck = struck_end >= block.end > block.start and self._struck(block)
                    leaf = -1
                elif name == "Item":
                    index = items.pop()
                    block = blocks[index]
                    block.struck = struck_end >= block.end > block.start and self._struck(block)
                    leaf = -1
                elif name == "List":
                    lists -= 1
                    leaf = -1
                elif name == "BlockQuote":
                    quotes -= 1
                    leaf = -1
                elif name == "CodeBlock":
                    code_depth -= 1
                elif name == "HtmlBlock":
                    self._html(html_start, end, depth, quotes > 0, items[-1] if items else -1)
                    html_start = -1
                elif name == "TableCell":
                    in_cell = False
                    if cell_start < 0:
                        cell_start = cell_end = start
                    cells.append((cell_start, cell_end))
                elif name in {"TableHead", "TableRow"} and cells:
                    row = Block(
                        "row", cells[0][0], cells[-1][1], quoted=quotes > 0, cells=tuple(cells), header=table_header
                    )
                    row.parent = items[-1] if items else -1
                    if name == "TableHead":
                        table_header = len(blocks)
                    blocks.append(row)
            elif code_depth or html_start >= 0:
                continue
            elif key == "InlineHtml" and value.startswith("<!--"):
                self.comments.append((start, end))
            elif key == "InlineHtml" and leaf >= 0 and is_inline(value):
                self.tags.append((start, end))
                _extend(blocks[leaf], start, end)
            elif key == "TaskListMarker":
                if leaf >= 0 and blocks[leaf].start == blocks[leaf].end:
                    blocks[leaf].start = blocks[leaf].end = end
            elif in_cell:
                cell_start = start if cell_start < 0 else cell_start
                cell_end = max(end, cell_end)
            else:
                leaf = leaf if leaf >= 0 else self._tight(items, quotes > 0)
                if leaf >= 0:
                    _extend(blocks[leaf], start, end)

    def _tight(self, items: list[int], quoted: bool) -> int:
        """Open a block for words that follow code, HTML or a heading in a tight item, where no event opens one."""
        if not items:
            return -1
        owner = self.blocks[items[-1]]
        if owner.start == owner.end:
            return items[-1]
        self.blocks.append(Block("paragraph", -1, -1, parent=items[-1], quoted=quoted))
        return len(self.blocks) - 1

    def _struck(self, block: Block) -> bool:
        words = self.source.slice(block.start, block.end).strip()
        return words.startswith("~~") and words.find("~~", 2) == len(words) - 2

    def _note_code(self, kind: Any, here: tuple[int, int], items: list[int]) -> None:
        blocks = self.blocks
        if items:
            further = blocks[-1].kind == "paragraph" and blocks[-1].parent == items[-1]
            owner = blocks[-1] if further else blocks[items[-1]]
            if owner.code == (0, 0) and not owner.children:
                owner.code = here
        elif blocks and blocks[-1].kind == "paragraph" and blocks[-1].code == (0, 0):
            blocks[-1].code = here
        if type(kind) is dict and "Fenced" in kind and here[1] >= len(self.source.data.rstrip()):
            lines = self.source.slice(*here).rstrip().split("\n")
            opening = lines[0].lstrip()
            mark = opening[:1]
            width = len(opening) - len(opening.lstrip(mark)) if mark else 0
            closing = lines[-1].strip(" \t>")
            if len(lines) == 1 or set(closing) != {mark} or len(closing) < width:
                self.unclosed_fence = here[0]

    def _html(self, start: int, end: int, depth: int, quoted: bool, parent: int) -> None:
        """Read the words between the tags of an HTML block (a byte range of the source); note its comments."""
        raw = self.source.slice(start, end)
        if (literal := _LITERAL_HTML.match(raw)) is not None:
            name = literal[1].lower()
            if name != "svg" and f"</{name}" not in raw.lower():
                self.unclosed_fence = start
            return
        words, hidden = as_markdown(raw)
        base, low = 0, start
        for first, last in hidden:
            head = low + len(raw[base:first].encode("utf-8", "replace"))
            low, base = head + len(raw[first:last].encode("utf-8", "replace")), last
            if raw.startswith("<!--", first):
                self.blocks.append(Block("comment", head, low, quoted=quoted))
            else:
                self.tags.append((head, low))
        if quoted:
            words = re.sub(r"^( {0,3})>", r"\1 ", words, flags=re.MULTILINE)
        if not words.strip():
            return
        if depth >= _MAX_HTML_DEPTH:
            self.blocks.append(Block("paragraph", start, end, parent=parent, quoted=quoted))
            return
        # HTML is indented by its nesting; only Markdown's lists say something by their indentation.
        listed = _LISTED.search(raw) is not None
        loose: set[int] = set()
        low = start
        for line in raw.split("\n"):
            if not listed or line.lstrip(" >").startswith("<"):
                loose.add(low)
            low += len(line.encode("utf-8", "replace")) + 1
        moved, inner = dedented(words, start, loose)
        self.walk(moved, inner, depth=depth + 1, quoted=quoted, parent=parent)


def _extend(block: Block, start: int, end: int) -> None:
    if block.start < 0 or (block.kind == "item" and block.start == block.end):
        block.start = start
        block.end = end
    elif end > block.end:
        block.end = end
