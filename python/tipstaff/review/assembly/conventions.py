"""Conventions of a repository: the sections of its convention files, and learned ones with front matter.

A section is one item. A file with ``applies_to`` in its front matter counts only where a glob matches a changed file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.globs import any_matcher
from tipstaff.review.sops.documents import parse_sop
from tipstaff.store.untrusted import read_untrusted

FILES: Final = (
    *("CONVENTIONS.md", "STYLE.md", "STYLEGUIDE.md", "CONTRIBUTING.md", ".github/CONTRIBUTING.md"),
    *("docs/conventions.md", "docs/style-guide.md", "docs/CONTRIBUTING.md"),
)
FOLDERS: Final = (".tipstaff/conventions", ".semspec/conventions")
MAX_BYTES: Final = 400_000

_FENCE: Final = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})")


def repository_conventions(
    root: Path, files: Sequence[str], names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return an item for each section of each convention file that applies to any of the files."""
    base = root.resolve()
    paths = [root / name for name in (FILES if names is None else names)]
    if names is None:
        for folder in FOLDERS:
            paths += sorted((root / folder).rglob("*.md")) if (root / folder).is_dir() else []
    items: list[dict[str, Any]] = []
    seen: set[str] = set()
    for path in paths:
        if not path.is_file() or not path.resolve().is_relative_to(base):
            continue
        name = path.resolve().relative_to(base).as_posix()
        text = read_untrusted(path)[:MAX_BYTES].decode("utf-8", "replace")
        try:
            document = parse_sop(text, name)
        except ConfigError:
            continue
        if document.applies_to and not any(map(any_matcher(document.applies_to), files)):
            continue
        for number, (heading, body) in enumerate(sections(document.text), start=1):
            key = f"convention:{name}#{number}"
            if body.strip() and key not in seen:
                seen.add(key)
                items.append({"id": key, "text": f"## Convention {heading or name} ({name})\n\n{body.strip()}\n"})
    return items


def sections(text: str) -> list[tuple[str, str]]:
    """Return pairs of a heading and what follows it; a ``#`` inside a fence is not a heading."""
    found: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark is not None and not fence:
            fence = mark[1]
        elif mark is not None and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip(" `~"):
            fence = ""
        heading = None if fence else re.match(r"#{1,6}[ \t]+(.+?)[ \t]*#*$", line)
        if heading is not None and mark is None:
            found.append((heading[1], []))
        else:
            found[-1][1].append(line)
    return [(heading, "\n".join(rows)) for heading, rows in found]
