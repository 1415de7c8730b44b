"""Starting an agent program without a person: its arguments, its time limit, the end of all that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.review.running.supervisor import Supervisor
from tipstaff.runs.headless.streams import Transcript, read_stream

MAX_OUTPUT_BYTES: Final = 64 << 20
_GRACE_S: Final = 1.0
_LOOK_S: Final = 0.5
_MARK: Final = "TIPSTAFF_HEADLESS"
_ROUNDS: Final = 5
PROMPT: Final = "{prompt}"
_RUNNING: Final[set[Supervisor]] = set()
_ALLOW: Final = {"claude": "--allowedTools", "gemini": "--allowed-tools", "qwen": "--allowed-tools"}
"""The option of each program that has a list of allowed tools."""

PROGRAMS: Final[dict[str, tuple[str, ...]]] = {
    "claude": ("claude", "-p", PROMPT, "--output-format", "stream-json", "--verbose"),
    "codex": ("codex", "exec", "--json", "--skip-git-repo-check", PROMPT),
    "gemini": ("gemini", "-p", PROMPT, "--output-format", "stream-json"),
    "qwen": ("qwen", "-p", PROMPT, "--output-format", "stream-json"),
    "opencode": ("opencode", "run", "--format", "json", PROMPT),
}
"""Arguments of the programs that are known."""

PERMISSIONS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "claude": {
        "read": ("--permission-mode", "plan"), "edit": ("--permission-mode", "acceptEdits"),
        "all": ("--permission-mode", "bypassPermissions"),
    },
    "codex": {
        "read": ("--sandbox", "read-only"), "edit": ("--sandbox", "workspace-write"),
        "all": ("--dangerously-bypass-approvals-and-sandbox",),
    },
    "gemini": {
        "read": ("--approval-mode", "default"), "edit": ("--approval-mode", "auto_edit"),
        "all": ("--approval-mode", "yolo"),
    },
    "qwen": {
        "read": ("--approval-mode", "plan"), "edit": ("--approval-mode", "auto-edit"),
        "all": ("--approval-mode", "yolo"),
    },
    # Its own configuration says what is asked about; by default that is nothing in its clone.
    "opencode": {"read": ("--agent", "plan"), "edit": (), "all": ("--auto",)},
}  # fmt: skip
"""What each program may do without asking: ``read``, ``edit`` files in its clone, ``all``."""


class Finished(Record, frozen=True):
    """How a program ended. `status` is its exit code, negative for a signal, 127 where it could not be started."""

    status: int
    output: str
    errors: str
    seconds: float
    timed_out: bool
    too_long: bool = False


class Executor:
    """Runs one agent program.

    Parameters
    ----------
    program
        ``claude``, ``codex``, ``gemini``, ``qwen``, ``opencode``, or the words of a command, in which ``{prompt}`` is
        replaced; where it is in none of them, the prompt goes to standard input.
    stream
        The format of its output; that of the program, else ``plain``.
    permission
        What a known program may do without asking: ``read``, ``edit`` or ``all``.
    model
        The model that a known program is asked for; its own choice where empty.
    allowed_tools
        Tools that Claude Code, Gemini CLI and Qwen Code may call without asking, as they write them:
        ``Bash(npm test:*)``.
    args
        Arguments that are added at the end.

    Raises
    ------
    ConfigError
        The program is not known, or does not have such an option.
    """

    def __init__(
        self, program: str | Sequence[str], *, stream: str | None = None, permission: str = "edit", model: str = "",
        allowed_tools: Sequence[str] = (), args: Sequence[str] = (),
    ) -> None:  # fmt: skip
        if isinstance(program, str):
            if program not in PROGRAMS:
                raise ConfigError(f"executor {program!r} is not known; use {', '.join(PROGRAMS)} or a list of words")
            if permission not in PERMISSIONS[program]:
                raise ConfigError(f"permission is {permission!r}; it must be one of {', '.join(PERMISSIONS[program])}")
            options = [*PERMISSIONS[program][permission], *(("--model", model) if model else ())]
            if allowed_tools and program not in _ALLOW:
                raise ConfigError(f"{program} has no list of allowed tools; use permission")
            if allowed_tools:
                options += [_ALLOW[program], ",".join(allowed_tools)]
            head = 2 if program in {"codex", "opencode"} else 1
            words = PROGRAMS[program]
            self.words = (*words[:head], *options, *words[head:], *args)
        elif model or allowed_tools:
            raise ConfigError("of a command, model and allowed_tools are arguments like others; name them in it")
        else:
            self.words = (*program, *args)
        if not self.words:
            raise ConfigError("the executor's command is empty")
        self.stream = stream or (program if isinstance(program, str) else "plain")

    def run(
        self, prompt: str, folder: Path, *, timeout_s: float, env: Mapping[str, str] | None = None
    ) -> tuple[Finished, Transcript]:
        """Ask, in a folder, and return how the program ended and what it printed."""
        words = [word.replace(PROMPT, prompt) for word in self.words]
        stdin = None if any(PROMPT in word for word in self.words) else prompt
        finished = run_command(words, folder, timeout_s=timeout_s, stdin=stdin, env=env)
        transcript = read_stream(self.stream, finished.output)
        if finished.too_long:
            transcript.errors.insert(0, f"it printed more than {MAX_OUTPUT_BYTES >> 20} MiB and was ended")
        elif finished.timed_out:
            transcript.errors.insert(0, f"timed out after {timeout_s:g} s")
        elif finished.status == 127:
            transcript.errors.insert(0, f"{words[0]}: there is no such program: {finished.errors.strip()[-200:]}")
        elif finished.status != 0:
            transcript.errors.insert(0, f"ended with {finished.status}: {finished.errors.strip()[-300:]}")
        return finished, transcript


def run_command(
    words: Sequence[str], folder: Path, *, timeout_s: float, stdin: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Finished:  # fmt: skip
    """Run a command in a process group of its own, and end all that it started when it is over, or this process is.

    Agent programs give the commands of their tools groups of their own; where the system shows the environment of
    processes (Linux), those are found and ended as well.
    """
    began = time.monotonic()
    with (
        Supervisor(_MARK) as supervisor,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryFile() as given,
    ):
        # Files, not pipes: what a program leaves running would hold a pipe open.
        given.write((stdin or "").encode("utf-8", "replace"))
        given.seek(0)
        mark = supervisor.mark()
        _RUNNING.add(supervisor)
        try:
            process = subprocess.Popen(  # noqa: S603 - the suite names the program; no shell reads the words
                list(words), cwd=folder, stdin=given, stdout=out, stderr=errors, start_new_session=True,
                # Some programs (opencode) work where PWD says, which would be the caller's folder.
                env={**os.environ, **(env or {}), "PWD": str(folder), _MARK: mark},
            )  # fmt: skip
        except (FileNotFoundError, PermissionError) as error:
            _RUNNING.discard(supervisor)
            return Finished(127, "", str(error), 0.0, False)
        supervisor.started(process.pid)
        timed_out = too_long = False
        try:
            while not (timed_out or too_long):
                try:
                    process.wait(max(0.0, min(_LOOK_S, began + timeout_s - time.monotonic())))
                    break
                except subprocess.TimeoutExpired:
                    timed_out = time.monotonic() - began >= timeout_s
                    too_long = any(os.fstat(one.fileno()).st_size > MAX_OUTPUT_BYTES for one in (out, errors))
            if timed_out or too_long:
                _signal(process.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE_S)
        finally:
            _end_all(process.pid, f"{_MARK}={mark}")
            supervisor.ending(process.pid)
            process.wait()
            _RUNNING.discard(supervisor)
        texts: list[str] = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read(MAX_OUTPUT_BYTES).decode("utf-8", "replace"))
    return Finished(process.returncode, texts[0], texts[1], round(time.monotonic() - began, 3), timed_out, too_long)


def end_running() -> None:
    """End what :func:`run_command` runs now, in whichever thread."""
    for supervisor in list(_RUNNING):
        supervisor.close(ended=False)


def _end_all(group: int, mark: str) -> None:
    """Kill a process group, and what has the mark in its environment or descends from such a process."""
    for _ in range(_ROUNDS):  # a process may start another while it is looked for
        left = _descendants(group, mark.encode())
        _signal(group, signal.SIGKILL)
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if not left:
            return


def _descendants(root: int, mark: bytes) -> set[int]:
    """Return the processes that descend from one, or have a mark, other than zombies; none where /proc is missing."""
    parents: dict[int, int] = {}
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            if state == "Z":
                continue
            parents[int(folder.name)] = int(parent)
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    count = -1
    while count != len(found):
        count = len(found)
        found |= {process for process, parent in parents.items() if parent in found or parent == root}
    return found - {os.getpid()}


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
