"""What git says of a repository: its files, and which of them changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.store.git import git_command, git_environment

IGNORED_FOLDERS: Final = frozenset(
    ".git .hg .svn .semspec .tipstaff node_modules vendor __pycache__ .venv venv dist build .next .svelte-kit .idea "
    ".vscode coverage target bin .terraform .tox .mypy_cache .ruff_cache .pytest_cache .hypothesis .gradle".split()
)
"""Folders that are not walked where there is no git to ask."""

MAX_FILES: Final = 1_000_000


class GitError(ConfigError):
    """Git cannot answer: not a repository, or no such commit."""


def git(root: Path, *arguments: str) -> bytes:
    """Return what a git command prints.

    Raises
    ------
    GitError
        If it is not installed or fails.
    """
    try:
        done = subprocess.run(  # noqa: S603 - no shell; revisions are checked by the callers
            git_command(root, *arguments),
            capture_output=True,
            check=False,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        msg = f"git could not be started: {error.strerror or error}"
        raise GitError(msg) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        msg = f"git {arguments[0]}: {said[-1] if said else f'ended with {done.returncode}'}"
        raise GitError(msg)
    return done.stdout


def is_work_tree(root: Path) -> bool:
    """Return whether a folder lies in a git work tree, without asking git."""
    return any((folder / ".git").exists() for folder in (root, *root.resolve().parents))


def list_files(root: Path) -> list[str]:
    """Return the files of a repository, relative to `root` and sorted: what git tracks or would, else a walk.

    Symbolic links to folders are not followed. ``.tipstaff/cache`` and its like are left out.
    """
    if is_work_tree(root):
        try:
            found = set(_split(git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")))
        except GitError:
            found = set(_walk(root))
    else:
        found = set(_walk(root))
    return sorted(path for path in found if not path.startswith((".tipstaff/cache/", ".tipstaff/run/")))


def changed_files(root: Path, base: str | None = None) -> tuple[str, ...]:
    """Return the files that differ from a commit, untracked ones included, deleted ones too; sorted.

    Parameters
    ----------
    root
        A folder in a git work tree; paths are relative to it.
    base
        A commit; the common ancestor with it is what counts. None is the last commit.

    Raises
    ------
    GitError
        If `root` is not in a work tree, or there is no such commit.
    """
    if base is not None and base.startswith("-"):
        msg = f"{base!r} is not the name of a commit"
        raise GitError(msg)
    found = set(_split(git(root, "ls-files", "-z", "--others", "--exclude-standard")))
    if base is None:
        try:
            git(root, "rev-parse", "--verify", "-q", "HEAD")
        except GitError:
            # Nothing was committed yet: every tracked file is new.
            return tuple(sorted(found | set(_split(git(root, "ls-files", "-z", "--cached")))))
        against = "HEAD"
    else:
        against = git(root, "merge-base", base, "HEAD").decode().strip()
    found |= set(_split(git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", against, "--")))
    return tuple(sorted(found))


def diff_text(root: Path, base: str | None = None) -> str:
    """Return the difference to a commit as text; see `changed_files`."""
    against = "HEAD" if base is None else git(root, "merge-base", base, "HEAD").decode().strip()
    return git(root, "diff", "--relative", against, "--").decode("utf-8", "replace")


def _split(data: bytes) -> list[str]:
    return [os.fsdecode(name) for name in data.split(b"\0") if name]


def _walk(root: Path) -> list[str]:
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) < MAX_FILES:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError:
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in IGNORED_FOLDERS:
                    waiting.append(path)
            else:
                found.append(path)
    return found
