"""Whether a reviewer's evidence really is in the files that it names, in the ways in which reviewers write it.

A file is named by its path, with line numbers as ``path:12-14``, ``path#L12``, ``path, lines 12-14`` or ``path (line
12)``; ``a/`` and ``b/`` of a difference, an absolute path and backslashes are read, and a bare name that one file of
the repository has. Words in backticks and in fences have to be in one of these files, white space aside; three dots
leave something out, the ``+`` of a difference is no part of it, and the dotted name of a method is there where its
parts are.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.review.repository import list_files
from tipstaff.review.sizing.scope import repository_path
from tipstaff.review.verdicts.answer import Evidence, SopReview

MAX_FILE_BYTES: Final = 4_000_000
MAX_QUOTES: Final = 100
"""In the evidence for one SOP."""

LINE_SLACK: Final = 3
"""A quote counts where it is within so many lines of the line that is named."""

_REFERENCE: Final = re.compile(
    r"(?<![\w/.\\])(?P<path>(?:[A-Za-z]:)?(?:[\\/]|\.{1,2}[\\/])?(?:[\w.@+-]{1,100}[\\/]){0,40}"
    r"(?:[\w@+-][\w.@+-]{0,200}\.\w{1,12}|Makefile|Dockerfile))"
    r"(?:[`*_\]]{0,3}(?::L?|#L|[ ,]{0,2}\(?(?:at )?(?:lines?|L\.?) ?)(?P<first>\d{1,7})"
    r"(?::\d{1,6}(?!\d))?(?:\s?(?:-|–|to)\s?L?(?P<last>\d{1,7}))?)?"
)
_FENCE: Final = re.compile(r"```[^\n`]{0,40}\n(.{0,20000}?)\n?[ \t]*```", re.DOTALL)
_QUOTE: Final = re.compile(r"`([^`\n]{1,400})`")
_ELLIPSIS: Final = re.compile(r"\.{3}|…")
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*(?:\(\))?")


class RepositoryTexts:
    """The texts of a repository's files, each read once.

    Parameters
    ----------
    root
        The repository.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._base = root.resolve()
        self._texts: dict[str, str | None] = {}

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Paths by their last part."""
        found: dict[str, list[str]] = {}
        for one in list_files(self._root):
            found.setdefault(one.rpartition("/")[2], []).append(one)
        return found

    @cached_property
    def _suffixes(self) -> frozenset[str]:
        return frozenset(name.rpartition(".")[2] for name in self._names)

    def is_reference(self, quote: str) -> bool:
        """Return whether quoted words are a path, not a name with a dot: ``setup.py``, not ``Orders.refund``."""
        match = _REFERENCE.fullmatch(quote.strip())
        if match is None:
            return False
        path = match["path"]
        is_plain = match["first"] is None and "/" not in path and "\\" not in path
        return not is_plain or path.rpartition(".")[2] in self._suffixes

    def text(self, path: str) -> str | None:
        """Return the text of the file that a path means; None where there is none, or not in the repository."""
        if path not in self._texts:
            self._texts[path] = next((text for one in self._meant(path) if (text := self._read(one)) is not None), None)
        return self._texts[path]

    def _meant(self, path: str) -> Iterator[str]:
        plain = path.replace("\\", "/")
        for base in (self._base, self._root.absolute()):
            plain = plain.removeprefix(f"{base}/")
        yield plain
        if plain.startswith(("a/", "b/")):
            yield plain[2:]
        elif "/" not in plain:
            alike = self._names.get(plain, [])
            if len(alike) == 1:
                yield alike[0]

    def _read(self, path: str) -> str | None:
        try:
            full = self._root / repository_path(path)
            if full.is_file() and full.resolve().is_relative_to(self._base):
                with full.open("rb") as file:
                    return file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
        except (OSError, ConfigError):
            pass
        return None


def evidence_problems(review: SopReview, texts: RepositoryTexts) -> list[str]:
    """Return what is wrong with the evidence of one answer."""
    evidence = review.evidence
    if not evidence or (isinstance(evidence, str) and not evidence.strip()):
        return ["its evidence is empty"]
    if isinstance(evidence, str):
        return [] if review.status == "not_applicable" else _text_problems(evidence, texts)
    wrong: list[str] = []
    for one in evidence:
        wrong += _text_problems(one, texts) if isinstance(one, str) else _quote_problems(one, texts)
    return wrong


def _quote_problems(one: Evidence, texts: RepositoryTexts) -> list[str]:
    match = _REFERENCE.fullmatch(one.path.strip())
    path, line = (match["path"], one.line or int(match["first"] or 0)) if match is not None else (one.path, one.line)
    text = texts.text(path)
    if text is None:
        return [f"{one.path} does not exist"]
    if not one.quote.strip():
        return [f"the evidence in {one.path} quotes nothing"]
    if not _holds(text, one.quote, line):
        where = f" near line {line}" if line else ""
        return [f"`{one.quote[:80]}` is not in {path}{where}"]
    return []


def _text_problems(evidence: str, texts: RepositoryTexts) -> list[str]:
    fences = [quote for quote in _FENCE.findall(evidence) if quote.strip()]
    text = _FENCE.sub(" ", evidence)
    quotes = [quote for quote in _QUOTE.findall(text) if not texts.is_reference(quote)]
    if len(fences) + len(quotes) > MAX_QUOTES:
        return [f"its evidence has {len(fences) + len(quotes)} quotes; at most {MAX_QUOTES} are looked up"]
    # In quoted words that are no path, dots are not those of file names.
    plain = _QUOTE.sub(lambda match: match[1] if texts.is_reference(match[1]) else " ", text)
    named = [
        (match["path"], max(int(match["first"] or 0), int(match["last"] or 0))) for match in _REFERENCE.finditer(plain)
    ]
    known = {path: found for path, _ in named if (found := texts.text(path)) is not None}
    if not known:
        why = f"{named[0][0]} does not exist" if named else "it names no file"
        return [f"its evidence cannot be checked: {why}"]
    wrong: list[str] = []
    for path, line in named:
        if path in known and line > len(known[path].splitlines()):
            wrong.append(f"{path} has no line {line}")
        elif path not in known and line and "/" in path:
            wrong.append(f"{path} does not exist")  # a line was named, so it is no other word with a dot
    wrong += [
        f"`{' '.join(quote.split())[:80]}` is in none of the files that it names"
        for quote in (*fences, *quotes)
        if not any(_holds(found, quote) for found in known.values())
    ]
    return wrong


def _holds(text: str, quote: str, line: int = 0) -> bool:
    """Return whether words are in a text, white space aside, and near a line where one is named."""
    rows: Sequence[str] = text.splitlines()
    if line:
        height = quote.strip().count("\n") + 1
        rows = rows[max(0, line - 1 - LINE_SLACK) : line - 1 + height + LINE_SLACK]
    within = "".join("".join(row.split()) for row in rows)
    plain = "".join(quote.split())
    if not plain:
        return False
    without_plus = "".join("".join(row.strip().removeprefix("+").split()) for row in quote.strip().splitlines())
    for one in (plain, without_plus, html.unescape(plain)):
        if one and (one in within or _holds_parts(within, one)):
            return True
    name = _NAME.fullmatch(quote.strip())
    words = re.findall(r"\w+", name[0]) if name is not None else []
    whole = "\n".join(rows)
    return bool(words) and all(re.search(rf"\b{word}\b", whole) for word in words)


def _holds_parts(text: str, quote: str) -> bool:
    """Return whether what is around three dots is in a text in this order."""
    parts = [part for part in _ELLIPSIS.split(quote) if part]
    if len(parts) < 2 and not _ELLIPSIS.search(quote):
        return False
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return bool(parts)
