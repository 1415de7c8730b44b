"""What a run changed, as git and the files themselves show it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from tipstaff.review.repository import GitError, git
from tipstaff.runs.events import DiffSummary
from tipstaff.store.untrusted import open_untrusted

_CLOCK_MS: Final = 50
"""The clock of file systems is coarser than the one that a run began by."""

_BINARY_BYTES: Final = 8_000
_MAX_BYTES: Final = 64 << 20


def head_of(root: Path) -> str:
    """Return git's HEAD, empty where there is none."""
    with contextlib.suppress(GitError):
        return git(root, "rev-parse", "--verify", "-q", "HEAD").decode().strip()
    return ""


def changes_since(root: Path, base: str, at_ms: int) -> tuple[tuple[str, ...], DiffSummary | None]:
    """Return the files that a run changed, relative to `root`, and how many lines; nothing where there is no git.

    Parameters
    ----------
    root
        The repository.
    base
        The commit at which the run began: what it committed counts as well. Empty where there was none.
    at_ms
        When it began, in milliseconds since 1970: files that were changed before, and not since, are not its own.
    """
    try:
        rows = _changed(root, base)
        new = _split(git(root, "ls-files", "-z", "--others", "--exclude-standard"))
    except GitError:
        return (), None
    rows += [(_lines(root / path), 0, path) for path in new if not path.startswith(".tipstaff/")]
    own = [row for row in rows if _changed_at_ms(root / row[2]) >= at_ms - _CLOCK_MS]
    total = DiffSummary(
        lines_added=sum(row[0] for row in own), lines_removed=sum(row[1] for row in own), files_changed=len(own)
    )
    names = (row[2].encode("utf-8", "surrogateescape").decode("utf-8", "replace") for row in own)
    return tuple(sorted(names)), total


def _changed(root: Path, base: str) -> list[tuple[int, int, str]]:
    """Return lines added, lines removed and the path of each tracked file that differs; binary files have no lines."""
    if not head_of(root):
        return [(_lines(root / path), 0, path) for path in _split(git(root, "ls-files", "-z", "--cached"))]
    options = ("--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--relative")
    try:
        out = git(root, "diff", *options, base or "HEAD", "--")
    except GitError:
        out = git(root, "diff", *options, "HEAD", "--")  # the commit is gone
    rows = (row.split("\t", 2) for row in _split(out))
    return [(_number(added), _number(removed), path) for added, removed, path in rows]


def _changed_at_ms(path: Path) -> float:
    try:
        return path.lstat().st_ctime_ns / 1e6
    except OSError:
        return float("inf")  # it is gone: nobody knows since when


def _lines(path: Path) -> int:
    try:
        with open_untrusted(path) as file:
            data = file.read(_MAX_BYTES)
    except OSError:
        return 0
    return 0 if b"\0" in data[:_BINARY_BYTES] else data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _split(data: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in data.split(b"\0") if name]
