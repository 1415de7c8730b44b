"""The state of a repository as a section of the prompt: branch, what is changed, the last commits."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Final

from tipstaff.store.git import git_command, git_environment

_STATUS: Final = ("status", "--short", "--branch", "--untracked-files=normal")
_LOG: Final = ("log", "-5", "--format=%h %s")
_MAX_LINES: Final = 40
_MAX_LINE_CHARS: Final = 160
_MAX_BYTES: Final = 1 << 18
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


class GitState:
    """What ``git`` says of a working tree, asked at most every `max_age` seconds and never for longer than `timeout`.

    What has no answer within that many seconds is left out. Nothing that the repository's configuration names is run
    (`tipstaff.store.git`), and no lock is taken. Names and subjects are other people's words: they are put on one
    line each, without control characters, and cut.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, timeout: float = 2.0, max_age: float = 5.0, git: str = "git"
    ) -> None:
        self._root = Path(root)
        self._timeout = timeout
        self._max_age = max_age
        self._git = git
        self._lock = threading.Lock()
        self._known: tuple[float, str] | None = None
        self._problem = ""

    @property
    def problem(self) -> str:
        """What was missing in the last answer, in one sentence; empty where nothing was."""
        return self._problem

    def section(self) -> str:
        """Return the section, beginning with a blank line; empty where the folder is in no repository."""
        with self._lock:
            now = time.monotonic()
            if self._known is None or now - self._known[0] > self._max_age:
                self._known = (now, self._ask())
            return self._known[1]

    def _ask(self) -> str:
        self._problem = ""
        if not any((folder / ".git").exists() for folder in (self._root, *self._root.absolute().parents)):
            return ""
        status, log = _answers([self._command(_STATUS), self._command(_LOG)], self._root, self._timeout)
        if status is None:
            self._problem = f"git gave no answer within {self._timeout:g} s in {self._root}; its section is left out."
            return ""
        lines = _clean(status)
        branch = lines[0].removeprefix("## ") if lines and lines[0].startswith("## ") else ""
        changed = lines[1:] if branch else lines
        parts = ["# Repository"]
        if branch:
            parts.append(f"Branch: {branch}")
        parts.append("\n".join(["Changed:", *_shown(changed)]) if changed else "Nothing is changed.")
        if log:
            parts.append("\n".join(["Last commits:", *_clean(log)]))
        return "\n\n" + "\n\n".join(parts)

    def _command(self, words: tuple[str, ...]) -> list[str]:
        return git_command(self._root, *words, git=self._git)


def _answers(commands: list[list[str]], root: Path, timeout: float) -> list[str | None]:
    """Run commands at once and return what they print; None for what failed or took too long."""
    deadline = time.monotonic() + timeout
    running: list[subprocess.Popen[bytes] | None] = []
    for command in commands:
        process = None
        with contextlib.suppress(OSError):
            process = subprocess.Popen(  # noqa: S603 - the words are ours, and no shell reads them
                command,
                cwd=root,
                env=git_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        running.append(process)
    found: list[str | None] = []
    for process in running:
        if process is None:
            found.append(None)
            continue
        with process:
            try:
                output, _ = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                found.append(None)
                continue
        found.append(output[:_MAX_BYTES].decode("utf-8", "replace") if process.returncode == 0 else None)
    return found


def _clean(text: str) -> list[str]:
    lines = (_UNSEEN.sub("", line) for line in text.split("\n"))
    return [line[:_MAX_LINE_CHARS] for line in lines if line.strip()]


def _shown(lines: list[str]) -> list[str]:
    if len(lines) <= _MAX_LINES:
        return lines
    return [*lines[:_MAX_LINES], f"and {len(lines) - _MAX_LINES} more"]
