"""Asking git about a repository without running anything that the repository's own configuration names."""

from __future__ import annotations

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
_SECONDS: Final = 5


def git_command(root: Path, *words: str, git: str = "git") -> list[str]:
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
    """
    settings: list[str] = [*_NOTHING_RUN]
    for name in _filters(root, git):
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
