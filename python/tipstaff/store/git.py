"""Asking git about a repository without running anything that the repository's own configuration names."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path
from typing import Final

_NOTHING_RUN: Final = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=false", "core.sshCommand=false",
    "core.askPass=true", "credential.helper=", "diff.external=", "interactive.diffFilter=", "log.showSignature=false",
    "gpg.program=false", "gpg.ssh.program=false", "gpg.x509.program=false", "submodule.recurse=false",
    "fetch.recurseSubmodules=false", "core.quotePath=false", "maintenance.auto=false", "gc.auto=0",
    "protocol.ext.allow=never",
)  # fmt: skip
_FILTER: Final = re.compile(r"filter\.(.+)\.(?:clean|smudge|process|required)", re.DOTALL)
_NO_CONVERSION: Final = {
    "diff": ("--no-ext-diff", "--no-textconv"),
    "show": ("--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "log": ("--no-show-signature",),
}
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SECONDS: Final = 5


def git_command(root: Path, *words: str, git: str = "git", filters: bool = False) -> list[str]:
    """Return a git command for a folder that starts no other program.

    File-system monitors, hooks, pagers, editors, helpers, external differences, text conversions, signature programs
    and the filters that the configuration names are off.

    Parameters
    ----------
    root
        A folder of the work tree.
    words
        The subcommand and its arguments.
    git
        The program.
    filters
        Whether filters stay as they are: for a command that compares and writes no contents, or is to run them.
    """
    settings: list[str] = [*_NOTHING_RUN]
    for name in () if filters else _filters(root, git):
        settings.extend(f"filter.{name}.{key}=" for key in ("clean", "smudge", "process"))
        settings.append(f"filter.{name}.required=false")
    safe = [word for setting in settings for word in ("-c", setting)]
    return [git, "-C", os.fspath(root), "--no-pager", *safe, words[0], *_NO_CONVERSION.get(words[0], ()), *words[1:]]


def git_environment() -> dict[str, str]:
    """Return the environment for it: no optional locks, no prompts, no programs named by variables."""
    left_out = {
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "GIT_PROXY_COMMAND",
    }
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}


def head_commit(folder: Path) -> str:
    """Return the commit that HEAD of a folder's repository is at, empty where there is none; read from its files."""
    root = next((one for one in (folder.absolute(), *folder.absolute().parents) if (one / ".git").exists()), None)
    if root is None:
        return ""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        store = root / ".git"
        if store.is_file():
            store = root / store.read_text("utf-8").removeprefix("gitdir: ").strip()
        head = (store / "HEAD").read_text("utf-8").strip()
        if _COMMIT.fullmatch(head):
            return head
        shared = store / "commondir"
        common = store / shared.read_text("utf-8").strip() if shared.exists() else store
        for place in (store, common):
            found = place / head.removeprefix("ref: ")
            if found.is_file() and _COMMIT.fullmatch(text := found.read_text("utf-8").strip()):
                return text
    # Packed references and other ways to keep them.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(  # noqa: S603 - as below
            ["git", "-C", os.fspath(folder), "rev-parse", "--verify", "-q", "HEAD"],  # noqa: S607 - git of the PATH
            capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL, env=git_environment(),
        )  # fmt: skip
        return done.stdout.decode("ascii", "replace").strip()
    return ""


def _filters(root: Path, git: str) -> list[str]:
    """Return the names of the filters that the configuration names; listing it runs nothing."""
    try:
        done = subprocess.run(  # noqa: S603 - the words are ours, and no shell reads them
            [git, "-C", os.fspath(root), "config", "--includes", "--list", "--name-only", "-z"],
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            env=git_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return sorted({found[1] for name in names if (found := _FILTER.fullmatch(name))})
