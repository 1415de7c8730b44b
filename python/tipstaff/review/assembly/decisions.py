"""Prior decisions: architecture decision records in the repository that are about the changed files.

A record counts where it is in force (not superseded, deprecated or rejected) and names a changed file, a folder of one,
or, in its front matter's ``applies_to``, a glob that matches one. Those that name a file come first, then later ones
before earlier ones. Decisions of runs come from the ledger, which the caller passes in.
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

FOLDERS: Final = (
    *("docs/adr", "docs/adrs", "docs/decisions", "docs/architecture/decisions", "docs/architecture/adr"),
    *("doc/adr", "adr", "decisions", ".tipstaff/decisions"),
)
MAX_FILES: Final = 1_000
MAX_BYTES: Final = 200_000

_STATUS: Final = re.compile(
    r"^(?:#{1,6}[ \t]*Status[ \t]*\n+|[-*]?[ \t]*\**status\**[ \t]*:\**[ \t]*)([^\n]+)", re.IGNORECASE | re.MULTILINE
)
_NOT_IN_FORCE: Final = re.compile(r"\b(?:superseded|deprecated|rejected|obsolete)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"^#[ \t]+(.+)$", re.MULTILINE)
_SECTION: Final = re.compile(
    r"^##[ \t]+(?:decision|decision outcome)\b[^\n]*\n(.*?)(?=^##[ \t]|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL
)


def prior_decisions(root: Path, files: Sequence[str], folders: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return items for the decision records that are about any of the files, the closest first."""
    base = root.resolve()
    found: list[tuple[int, str, dict[str, Any]]] = []
    for folder in FOLDERS if folders is None else folders:
        path = (root / folder).resolve()
        if not path.is_relative_to(base) or not path.is_dir():
            continue
        for file in sorted(path.rglob("*.md"))[:MAX_FILES]:
            try:
                text = read_untrusted(file)[:MAX_BYTES].decode("utf-8", "replace")
            except OSError:
                continue
            status = _STATUS.search(text)
            if status is not None and _NOT_IN_FORCE.search(status[1]):
                continue
            name = file.relative_to(base).as_posix()
            near = _closeness(text, name, files)
            if near:
                found.append((near, name, {"id": f"decision:{name}", "text": _rendered(text, name)}))
    found.sort(key=lambda one: one[1], reverse=True)
    found.sort(key=lambda one: -one[0])
    return [item for _, _, item in found]


def _closeness(text: str, name: str, files: Sequence[str]) -> int:
    """Return 3 where a record names a file, 2 where its glob matches one, 1 where it names a folder, else 0."""
    if any(_names(text, path) for path in files):
        return 3
    try:
        globs = parse_sop(text, name).applies_to if text.startswith("---\n") else ()
    except ConfigError:
        globs = ()
    if globs and any(map(any_matcher(globs), files)):
        return 2
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    # Records name the folder where they and other documents are: that says nothing of what they decide.
    folders.discard(name.split("/", 1)[0])
    # A single short word such as `api` is a word of prose as well: as a folder it ends with a slash.
    return 1 if any(_names(text, f"{folder}/" if "/" not in folder else folder) for folder in folders) else 0


def _names(text: str, path: str) -> bool:
    at = text.find(path)
    while at >= 0:
        before = text[at - 1] if at else " "
        after = text[at + len(path) : at + len(path) + 1]
        begins = not (before.isalnum() or before in "_-/.")
        if begins and (path.endswith("/") or not (after.isalnum() or after in "_-")):
            return True
        at = text.find(path, at + 1)
    return False


def _rendered(text: str, name: str) -> str:
    title = _TITLE.search(text)
    section = _SECTION.search(text)
    whole = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.DOTALL | re.MULTILINE)
    body = (section[1] if section is not None else whole).strip()
    return f"## Decision {title[1].strip() if title is not None else name} ({name})\n\n{body}\n"
