"""Finding the rule files below a folder: which folders are entered, and links to folders of rules."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tipstaff.budgets import MAX_DIRECTORIES, MAX_SOURCE_FILES
from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.reading.rule_files import HOST_FOLDERS, RuleFile, classify, enters, is_inner
from tipstaff.model import Diagnostic
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
