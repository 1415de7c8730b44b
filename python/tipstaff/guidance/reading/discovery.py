"""Finding the rule files below a folder: which folders are entered, and links to folders of rules."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from tipstaff import globs
from tipstaff.budgets import MAX_DIRECTORIES, MAX_SOURCE_FILES
from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.reading.rule_files import HOST_FOLDERS, RuleFile, classify, enters, is_inner
from tipstaff.model import Diagnostic
from tipstaff.store.git import run_git
from tipstaff.store.inside import leads_out
from tipstaff.store.state import repository_of


class RuleFileSearch:
    """A search for rule files, bounded by `MAX_DIRECTORIES` and `MAX_SOURCE_FILES`.

    Parameters
    ----------
    root
        The repository's root, resolved.

    Attributes
    ----------
    directories
        The folders that were searched, relative to the root.
    diagnostics
        What could not be read, and where the search ended early.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directories: list[str] = []
        self.diagnostics: list[Diagnostic] = []
        self._linked: set[tuple[int, int]] = set()

    def find(self) -> list[RuleFile]:
        """Return the rule files, in no order that counts; to be called once."""
        found: list[RuleFile] = []
        pending = [""]
        while pending:
            folder = pending.pop()
            self.directories.append(folder or ".")
            if len(self.directories) > MAX_DIRECTORIES or len(found) > MAX_SOURCE_FILES:
                self.diagnostics.append(
                    find(
                        "TS112",
                        0,
                        folder or ".",
                        f"More than {MAX_DIRECTORIES} folders or {MAX_SOURCE_FILES} rule files.",
                    )
                )
                break
            try:
                entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
            except OSError as error:
                self.diagnostics.append(
                    find(
                        "TS111",
                        0,
                        folder or ".",
                        f"The folder cannot be read: {error.strerror}.",
                        fix="Let its owner read it; rule files in it are missing.",
                    )
                )
                continue
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False) or self._is_linked_rules(entry, is_inner(folder, name)):
                    if name not in HOST_FOLDERS and classify(folder, name) is not None:
                        here = f"{folder}/{name}" if folder else name
                        self.diagnostics.append(find("TS111", 0, here, "A folder has the name of a rule file."))
                    if enters(folder, name):
                        pending.append(f"{folder}/{name}" if folder else name)
                    continue
                one = classify(folder, name)
                if one is not None:
                    found.append(one)
        return found

    def _is_linked_rules(self, entry: os.DirEntry[str], wanted: bool) -> bool:
        """Whether an entry is a link to a folder of rules that was not searched yet; other links are not followed."""
        if not wanted or not entry.is_symlink():
            return False
        try:
            status = entry.stat()
        except OSError:
            return False
        identity = (status.st_dev, status.st_ino)
        if not stat.S_ISDIR(status.st_mode) or identity in self._linked:
            return False
        self._linked.add(identity)
        if leads_out(Path(entry.path), self.root):
            path = Path(entry.path).relative_to(self.root).as_posix()
            self.diagnostics.append(find("TS110", 0, path, "The folder is a link that leads out of the repository."))
            return False
        return True


def rules_root(directory: Path | str) -> Path:
    """Return the folder from which the rule files for a folder are read.

    Parameters
    ----------
    directory
        Any folder.

    Returns
    -------
    Path
        The nearest folder around it that has a ``.git``, as git finds it: a package's rules are read with those of its
        repository. A folder outside any repository, and what is no folder, are returned as they are; so is one with
        rule files in a repository that has none at its root, for it is no part of a guided whole: a sample, a fixture.
    """
    folder = Path(directory)
    if not folder.is_dir() or (folder / ".git").exists():
        return folder
    root = repository_of(folder.absolute())
    return folder if root is None or (_has_rule_files(folder) and not _has_rule_files(root)) else root


def _has_rule_files(folder: Path) -> bool:
    return any(
        classify("", one.name) is not None or (one.name in HOST_FOLDERS and one.is_dir() and _guides(one))
        for one in folder.iterdir()
    )


def _guides(hidden: Path) -> bool:
    """Whether a host's hidden folder has rule files or a folder for them: ``.github`` most often has other things."""
    return any(
        classify(hidden.name, one.name) is not None or (one.is_dir() and is_inner(hidden.name, one.name))
        for one in hidden.iterdir()
    )


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
    listed = run_git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z", timeout=_GIT_SECONDS)
    paths = (listed or b"").decode("utf-8", "surrogateescape").split("\0")
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
