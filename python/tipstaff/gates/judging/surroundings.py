"""Where a command runs: its directory, the repository around it, the home and temporary directories."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tipstaff.kernels._gates import CallSite

_PROGRAM = os.path.join(sys.prefix, "bin", "tipstaff-hook")  # noqa: PTH118 - as below


@lru_cache(maxsize=1024)
def site_of(cwd: str, home: str, temporary: str, *, files: bool, state: str = "", offline: bool = False) -> CallSite:
    """Return where a call is made, as the native engine takes it; an empty `cwd` is not known.

    `state` is the gate's own state folder, which no call may reach. Where `offline`, no repository is looked for: the
    directory itself counts as one.
    """
    from tipstaff.kernels import _gates

    if cwd:
        cwd = os.path.normpath(cwd)
    repository = cwd if offline else repository_of(cwd)
    return _gates.CallSite(cwd, repository, home, temporary, files=files, state=state, program=_PROGRAM)


@lru_cache(maxsize=1024)
def is_in_repository(cwd: str) -> bool:
    """Return whether a directory is in a repository of git: one that git would take for one."""
    if not os.path.isabs(cwd):  # noqa: PTH117 - a text
        return False
    at = os.path.join(repository_of(os.path.normpath(cwd)), ".git")  # noqa: PTH118 - as below
    return os.path.isfile(at) or os.path.lexists(os.path.join(at, "HEAD"))  # noqa: PTH113, PTH118 - as below


@lru_cache(maxsize=1024)
def repository_of(cwd: str) -> str:
    """Return the root of the repository that a directory is in; the directory itself where there is none."""
    at = cwd
    while at:
        if os.path.lexists(os.path.join(at, ".git")):  # noqa: PTH118 - a third of pathlib's time, on every new directory
            return at
        above = os.path.dirname(at)  # noqa: PTH120 - as above
        if above == at:
            break
        at = above
    return cwd
