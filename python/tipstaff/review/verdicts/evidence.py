"""Whether a reviewer's evidence really is in the change, in the ways in which reviewers write it.

A file is named by its path, with line numbers as ``path:12-14``, ``path#L12``, ``path, lines 12-14`` or ``path (line
12)``; ``a/`` and ``b/`` of a difference, an absolute path and backslashes are read, and a bare name that one file of
the repository has. Words in backticks and in fences have to be in one of these files, white space aside, and near the
lines that are named; three dots leave something out, the ``+`` of a difference is no part of it, and the dotted name
of a method is there where its parts are. Lines that the change removed count as words of their file.

Evidence shows something where at least one quote is a statement, a whole line of two words or more, or has 20
characters besides white space, is in a changed file, and is no quotation of the SOP itself.
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
from tipstaff.store.untrusted import open_untrusted

MAX_FILE_BYTES: Final = 4_000_000
MAX_QUOTES: Final = 100
"""In the evidence for one SOP."""

LINE_SLACK: Final = 3
"""A quote counts where it is within so many lines of the line that is named."""

SHOWING_CHARS: Final = 20
"""Besides white space: shorter words are somewhere in most files."""

_STATEMENT_CHARS: Final = 8
_REASON_WORDS: Final = 3
_PART_CHARS: Final = 6
_GAP_CHARS: Final = 2_000
"""What three dots may leave out at most, white space aside."""

_REFERENCE: Final = re.compile(
    r"(?<![\w/.\\])(?P<path>(?:[A-Za-z]:)?(?:[\\/]|\.{1,2}[\\/])?(?:[\w.@+-]{1,100}[\\/]){0,40}"
    r"(?:[\w@+-][\w.@+-]{0,200}\.\w{1,12}|Makefile|Dockerfile))"
    r"(?:[`*_\]]{0,3}(?::L?|#L|[ ,]{0,2}\(?(?:at )?(?:lines?|L\.?) ?)(?P<first>\d{1,7})"
    r"(?::\d{1,6}(?!\d))?(?:\s?(?:-|–|to)\s?L?(?P<last>\d{1,7}))?)?"
)
_FENCE: Final = re.compile(r"```[^\n`]{0,40}\n(.{0,20000}?)\n?[ \t]*```", re.DOTALL)
_QUOTE: Final = re.compile(r"`([^`\n]{1,400})`")
_MARKED: Final = re.compile(r"[\"\u201c]([^\"\u201c\u201d\n]{8,400})[\"\u201d]|(?<!\w)'([^'\n]{8,400})'(?!\w)")
_HUNK_FILE: Final = re.compile(r"--- (?:a/)?(.+?)\t?$")
_ELLIPSIS: Final = re.compile(r"\.{3}|…")
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*(?:\(\))?")


class RepositoryTexts:
    """The texts of a repository's files, each read once.

    Parameters
    ----------
    root
        The repository.
    files
        The changed files, relative to it; every file counts where there are none.
    diff
        The difference, for the lines that it removes.
    """

    def __init__(self, root: Path, files: Sequence[str] = (), diff: str = "") -> None:
        self._root = root
        self._base = root.resolve()
        self._texts: dict[str, tuple[str, str] | None] = {}
        self.files = tuple(files)
        self._removed = _removed_lines(diff)

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

    def found(self, path: str) -> tuple[str, str] | None:
        """Return path and text of the file that a path means; None where there is none, or not in the repository."""
        if path not in self._texts:
            self._texts[path] = next(
                ((one, text) for one in self._meant(path) if (text := self._read(one)) is not None), None
            )
        return self._texts[path]

    def removed(self, path: str) -> str:
        """Return the lines that the change removes from a file."""
        return self._removed.get(path, "")

    def is_changed(self, path: str) -> bool:
        """Return whether a file, by its path in the repository, is part of the change."""
        return not self.files or path in self.files

    def names_the_change(self, text: str) -> bool:
        """Return whether a text names something of the change: a file, its folder or its kind."""
        lower = text.lower()
        for path in self.files:
            folder, _, name = path.lower().rpartition("/")
            ending = name.rpartition(".")[2] if "." in name else ""
            if path.lower() in lower or re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", lower):
                return True
            if (folder and f"{folder}/" in lower) or (ending and re.search(rf"(?<!\w)\.{re.escape(ending)}\b", lower)):
                return True
        return not self.files and len(text.split()) >= _REASON_WORDS

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
            plain = repository_path(path)
            full = self._root / plain
            if full.is_file() and full.resolve().is_relative_to(self._base):
                with open_untrusted(full) as file:
                    return file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
        except (OSError, ConfigError):
            return None
        return "" if plain in self._removed else None  # it was deleted


def _removed_lines(diff: str) -> dict[str, str]:
    """Return for each file of a difference the lines that it removes."""
    found: dict[str, list[str]] = {}
    path = ""
    previous = ""
    for line in diff.splitlines():
        if line.startswith("+++ ") and (match := _HUNK_FILE.match(previous)) is not None:
            path = match[1]
        elif line.startswith("diff --git "):
            path = ""
        elif path and line.startswith("-") and not line.startswith("--- "):
            found.setdefault(path, []).append(line[1:])
        previous = line
    return {path: "\n".join(lines) for path, lines in found.items()}


def evidence_problems(review: SopReview, texts: RepositoryTexts, sop: str = "") -> list[str]:
    """Return what is wrong with the evidence of one answer.

    Parameters
    ----------
    review
        The answer for one SOP.
    texts
        The change.
    sop
        The SOP's own text, of which a quotation shows nothing.
    """
    evidence = review.evidence
    if not evidence or (isinstance(evidence, str) and not evidence.strip()):
        return ["its evidence is empty"]
    parts = (evidence,) if isinstance(evidence, str) else evidence
    words = " ".join(part if isinstance(part, str) else f"{part.path} {part.quote}" for part in parts)
    if review.status == "not_applicable":
        if len(words.split()) < _REASON_WORDS or not texts.names_the_change(words):
            return ["it is said not to apply, and the reason names nothing of the change"]
        return []
    reader = _Reader(texts, _plain(sop))
    for part in parts:
        if isinstance(part, str):
            reader.read_text(part)
        else:
            reader.read_quote(part)
    if not reader.problems and not reader.shows:
        return ["its evidence shows nothing: quote a statement, or 20 characters, of a file that the change touches"]
    return reader.problems


class _Reader:
    """Reads the evidence for one SOP: what is wrong with it, and whether it shows anything."""

    def __init__(self, texts: RepositoryTexts, sop: str) -> None:
        self._texts = texts
        self._sop = sop
        self.problems: list[str] = []
        self.shows = False

    def read_quote(self, one: Evidence) -> None:
        match = _REFERENCE.fullmatch(one.path.strip())
        path, line = (
            (match["path"], one.line or int(match["first"] or 0)) if match is not None else (one.path, one.line)
        )
        found = self._texts.found(path)
        if found is None:
            self.problems.append(f"{one.path} does not exist")
        elif not one.quote.strip():
            self.problems.append(f"the evidence in {one.path} quotes nothing")
        elif not self._look(one.quote, found, (line,) if line else ()):
            where = f" near line {line}" if line else ""
            self.problems.append(f"`{one.quote[:80]}` is not in {path}{where}")

    def read_text(self, evidence: str) -> None:
        texts = self._texts
        fences = [quote for quote in _FENCE.findall(evidence) if quote.strip()]
        text = _FENCE.sub(" ", evidence)
        quotes = [quote for quote in _QUOTE.findall(text) if not texts.is_reference(quote)]
        if len(fences) + len(quotes) > MAX_QUOTES:
            self.problems.append(
                f"its evidence has {len(fences) + len(quotes)} quotes; at most {MAX_QUOTES} are looked up"
            )
            return
        # In quoted words that are no path, dots are not those of file names.
        plain = _QUOTE.sub(lambda match: match[1] if texts.is_reference(match[1]) else " ", text)
        named = [
            (match["path"], int(match["first"] or 0), int(match["last"] or 0)) for match in _REFERENCE.finditer(plain)
        ]
        known = {path: found for path, _, _ in named if (found := texts.found(path)) is not None}
        if not known:
            why = f"{named[0][0]} does not exist" if named else "it names no file"
            self.problems.append(f"its evidence cannot be checked: {why}")
            return
        lines: dict[str, list[int]] = {}
        for path, first, last in named:
            line = max(first, last)
            if path in known and line > len(known[path][1].splitlines()) and not texts.removed(known[path][0]):
                self.problems.append(f"{path} has no line {line}")
            elif path not in known and line and "/" in path:
                self.problems.append(f"{path} does not exist")  # a line was named, so it is no other word with a dot
            elif path in known and first:
                lines.setdefault(path, []).extend(range(first, min(last, first + 400) + 1) if last > first else [first])
        for quote in (*fences, *quotes):
            if not any(self._look(quote, found, lines.get(path, ())) for path, found in known.items()):
                shown = " ".join(quote.split())[:80]
                near = " near the lines that it names" if lines else ""
                self.problems.append(f"`{shown}` is in none of the files that it names{near}")
        # Words in quotation marks may be prose: they can show something, and are no fault where they are not there.
        for match in _MARKED.finditer(text):
            for path, found in known.items():
                self._look(match[1] or match[2], found, lines.get(path, ()))

    def _look(self, quote: str, found: tuple[str, str], lines: Sequence[int]) -> bool:
        """Return whether a quote is in a file near one of the lines; note whether it shows something."""
        path, text = found
        removed = self._texts.removed(path)
        if not (any(_holds(text, quote, line) for line in lines or (0,)) or _holds(removed, quote)):
            return False
        if self._texts.is_changed(path) and _plain(quote) not in self._sop:
            self.shows = self.shows or _shows(quote, f"{text}\n{removed}")
        return True


def _plain(text: str) -> str:
    return "".join(text.split())


def _shows(quote: str, text: str) -> bool:
    """Return whether words that are in a text are enough to show something: a statement, or many characters."""
    if sum(len(part) for part in _ELLIPSIS.split(_plain(quote)) if len(part) >= _PART_CHARS) >= SHOWING_CHARS:
        return True
    plain = _plain(quote).rstrip("{;:,")
    if len(plain) < _STATEMENT_CHARS or len(re.findall(r"\w+", quote)) < 2:
        return False
    return any(_plain(row).rstrip("{;:,") == plain for row in text.splitlines())


def _holds(text: str, quote: str, line: int = 0) -> bool:
    """Return whether words are in a text, white space aside, and near a line where one is named."""
    rows: Sequence[str] = text.splitlines()
    if line:
        height = quote.strip().count("\n") + 1
        rows = rows[max(0, line - 1 - LINE_SLACK) : line - 1 + height + LINE_SLACK]
    within = _plain("\n".join(rows))
    plain = _plain(quote)
    if not plain:
        return False
    without_plus = "".join(_plain(row.strip().removeprefix("+")) for row in quote.strip().splitlines())
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
        found = text.find(part, at)
        if found < 0 or (at and found - at > _GAP_CHARS):
            return False
        at = found + len(part)
    return bool(parts)
