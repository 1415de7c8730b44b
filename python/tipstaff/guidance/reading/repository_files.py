"""The files of a repository, as the scopes of rules see them: what git tracks or would track, else what is there."""

from __future__ import annotations

import os
import subprocess
from bisect import bisect_left
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from tipstaff import globs
from tipstaff.store.git import git_command, git_environment

MAX_FILES: Final = 500_000
"""Where a repository has more, scopes are judged by the first so many that are found."""

_GIT_SECONDS: Final = 30
_SKIPPED_FOLDERS: Final = frozenset(
    {
        ".git", ".hg", ".svn", ".tipstaff", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache",
        ".pytest_cache", ".ruff_cache", ".tox", ".nox", ".hypothesis",
    }
)  # fmt: skip


class FileList:
    """Paths relative to a repository's root, with ``/`` between folders."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = sorted(paths)
        self._found: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def holds_only(self, paths: Iterable[str]) -> bool:
        """Return whether there is no file but some that are known."""
        return set(self._paths) <= set(paths)

    def any_match(self, glob: str) -> bool:
        """Return whether a glob covers any file; each glob is looked up once."""
        known = self._found.get(glob)
        if known is None:
            known = self._found[glob] = any(map(globs.compile_scope(glob), self._below(globs.leading_folder(glob))))
        return known

    def suggest(self, glob: str) -> str | None:
        """Return a scope near to one that covers nothing, or None where none is near enough to name."""
        escaped = glob.replace("[", "\\[").replace("]", "\\]")
        if escaped != glob and globs.is_valid(escaped) is None and self.any_match(escaped):
            return escaped
        anywhere = f"**/{glob.lstrip('/')}"
        if not glob.startswith("**") and globs.is_valid(anywhere) is None and self.any_match(anywhere):
            return anywhere
        parts = glob.lstrip("/").split("/")
        for index, part in enumerate(parts):
            outer = "/".join(parts[:index])
            if index and not self._below(outer):
                return None
            names = self._names_in(outer)
            if part in names:
                continue
            for near in get_close_matches(part, sorted(names), n=3, cutoff=0.7):
                candidate = "/".join([*parts[:index], near, *parts[index + 1 :]])
                if globs.is_valid(candidate) is None and self.any_match(candidate):
                    return candidate
            return None
        return None

    def _below(self, folder: str) -> list[str]:
        if not folder:
            return self._paths
        low = bisect_left(self._paths, folder)
        # "0" follows "/" directly; the folder's own name sorts before what is below it.
        high = bisect_left(self._paths, f"{folder}0", low)
        return [path for path in self._paths[low:high] if path == folder or path.startswith(f"{folder}/")]

    def _names_in(self, folder: str) -> set[str]:
        skip = len(folder) + 1 if folder else 0
        return {path[skip:].partition("/")[0] for path in self._below(folder) if len(path) > skip}


def list_files(root: Path) -> FileList:
    """Return the files of a repository.

    Git is asked where the folder is part of a work tree; it is asked without the file-system monitor, a program that
    the repository's own configuration could name. Otherwise the folders are walked, without those that hold only what
    tools made.
    """
    return FileList(_from_git(root) or _walk(root))


def _from_git(root: Path) -> list[str]:
    command = git_command(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command, no shell
            command,
            cwd=root,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    if done.returncode != 0:
        return []
    paths = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    # A path appears once for each side of a conflict; one that was deleted but not staged is not there any more.
    return [path for path in dict.fromkeys(paths) if path and os.path.lexists(root / path)][:MAX_FILES]


def _walk(root: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        relative = Path(folder).relative_to(root).as_posix()
        prefix = "" if relative == "." else f"{relative}/"
        found.extend(f"{prefix}{name}" for name in names)
        if len(found) >= MAX_FILES:
            return found[:MAX_FILES]
    return found
