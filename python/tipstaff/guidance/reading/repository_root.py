"""Which folder's rule files hold for a folder: that of the repository around it."""

from __future__ import annotations

from pathlib import Path

from tipstaff.guidance.reading.rule_files import HOST_FOLDERS, classify, is_inner
from tipstaff.store.state import repository_of


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
