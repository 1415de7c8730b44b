"""A repository's files and changes, from git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.store.git import git_command, git_environment
from tipstaff.store.untrusted import read_untrusted

IGNORED_FOLDERS: Final = frozenset(
    ".git .hg .svn .semspec .tipstaff node_modules vendor __pycache__ .venv venv dist build .next .svelte-kit .idea "
    ".vscode coverage target bin .terraform .tox .mypy_cache .ruff_cache .pytest_cache .hypothesis .gradle".split()
)
"""Folders that are not walked where there is no git to ask."""

MAX_FILES: Final = 1_000_000
_BINARY_BYTES: Final = 8_000
_EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without files, which git knows everywhere."""


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
        raise GitError(f"git could not be started: {error.strerror or error}") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(f"git {arguments[0]}: {lines[-1] if lines else f'ended with {done.returncode}'}")
    return done.stdout


def is_work_tree(root: Path) -> bool:
    """Return whether a folder is in a git work tree, without asking git."""
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
    found = set(_split(git(root, "ls-files", "-z", "--others", "--exclude-standard")))
    if base is None and not has_commits(root):
        # Every tracked file is new.
        return tuple(sorted(found | set(_split(git(root, "ls-files", "-z", "--cached")))))
    against = _ancestor(root, base)
    found |= set(_split(git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", against, "--")))
    return tuple(sorted(found))


def diff_text(root: Path, base: str | None = None, files: Sequence[str] = ()) -> str:
    """Return the difference to a commit as text, untracked files included as new ones; see `changed_files`.

    Parameters
    ----------
    root, base
        As there.
    files
        Only what changed in these; in all where there are none.
    """
    named = [f":(literal){path}" for path in files]
    against = _EMPTY_TREE if base is None and not has_commits(root) else _ancestor(root, base)
    known = git(root, "diff", "--relative", "--no-color", "--no-ext-diff", against, "--", *named)
    found = [known.decode("utf-8", "replace")]
    untracked = _split(git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", *named))
    found += [_as_new(root, path) for path in untracked]
    return "".join(found)


def files_before(root: Path, paths: Sequence[str], base: str | None = None) -> dict[str, bytes]:
    """Return the contents of files as they were before a change, those that were not there left out.

    Parameters
    ----------
    root, paths
        Paths relative to `root`.
    base
        See `changed_files`.
    """
    if not paths or not is_work_tree(root) or not has_commits(root):
        return {}
    against = _ancestor(root, base)
    known = set(_split(git(root, "ls-tree", "-r", "-z", "--name-only", against, "--", *paths)))
    return {path: git(root, "cat-file", "blob", f"{against}:./{path}") for path in paths if path in known}


def has_commits(root: Path) -> bool:
    """Return whether anything was ever committed."""
    try:
        git(root, "rev-parse", "--verify", "-q", "HEAD")
    except GitError:
        return False
    return True


def _ancestor(root: Path, base: str | None) -> str:
    """Return the commit to compare with: the last one, or the common ancestor with `base`."""
    if base is None:
        return "HEAD"
    if base.startswith("-"):
        raise GitError(f"{base!r} is not the name of a commit")
    return git(root, "merge-base", base, "HEAD").decode().strip()


def _as_new(root: Path, path: str) -> str:
    """Return an untracked file as git shows a new one."""
    head = f"diff --git a/{path} b/{path}\nnew file\n"
    try:
        full = root / path
        data = os.fsencode(full.readlink()) if full.is_symlink() else read_untrusted(full)
    except OSError as error:
        return f"{head}cannot be read: {error.strerror}\n"
    if b"\0" in data[:_BINARY_BYTES]:
        return f"{head}Binary files /dev/null and b/{path} differ\n"
    rows = data.decode("utf-8", "replace").splitlines(keepends=True)
    body = "".join(f"+{row}" for row in rows)
    end = "" if not rows or rows[-1].endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(rows)} @@\n{body}{end}"


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
