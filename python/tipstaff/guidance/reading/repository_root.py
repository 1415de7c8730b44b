"""Which folder's rule files hold for a folder: that of the repository around it."""

from __future__ import annotations

from pathlib import Path

from tipstaff.guidance.reading.rule_files import HOST_FOLDERS, classify
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
        The nearest folder around it that has a ``.git``, as git finds it. A folder with rule files of its own, one
        outside any repository, and what is no folder are returned as they are: samples and vendored projects that are
        named are meant themselves.
    """
    folder = Path(directory)
    if not folder.is_dir() or (folder / ".git").exists() or _has_rule_files(folder):
        return folder
    return repository_of(folder.absolute()) or folder


def _has_rule_files(folder: Path) -> bool:
    return any(one.name in HOST_FOLDERS or classify("", one.name) is not None for one in folder.iterdir())
