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
from tipstaff.runs.headless.streams import Transcript, read_stream

MAX_OUTPUT_BYTES: Final = 64 << 20
_GRACE_S: Final = 1.0
PROMPT: Final = "{prompt}"

PROGRAMS: Final[dict[str, tuple[str, ...]]] = {
    "claude": ("claude", "-p", PROMPT, "--output-format", "stream-json", "--verbose"),
    "codex": ("codex", "exec", "--json", "--skip-git-repo-check", PROMPT),
    "gemini": ("gemini", "-p", PROMPT, "--output-format", "stream-json"),
}
"""Arguments of the programs that are known."""


class Finished(Record, frozen=True):
    """How a program ended. `status` is its exit code, negative for a signal, 127 where it could not be started."""

    status: int
    output: str
    errors: str
    seconds: float
    timed_out: bool


class Executor:
    """Runs one agent program.

    Parameters
    ----------
    program
        ``claude``, ``codex``, ``gemini``, or the words of a command, in which ``{prompt}`` is replaced; where it is in
        none of them, the prompt goes to standard input.
    stream
        The format of its output; that of the program, else ``plain``.
    extra
        Arguments that are added at the end.

    Raises
    ------
    ConfigError
        The program is not known.
    """

    def __init__(self, program: str | Sequence[str], *, stream: str | None = None, extra: Sequence[str] = ()) -> None:
        if isinstance(program, str):
            if program not in PROGRAMS:
                raise ConfigError(f"executor {program!r} is not known; use {', '.join(PROGRAMS)} or a list of words")
            self.words = (*PROGRAMS[program], *extra)
        else:
            self.words = (*program, *extra)
        if not self.words:
            raise ConfigError("the executor's command is empty")
        self.stream = stream or (program if isinstance(program, str) else "plain")

    def run(
        self, prompt: str, folder: Path, *, timeout_s: float, env: Mapping[str, str] | None = None
    ) -> tuple[Finished, Transcript]:
        """Ask, in a folder, and return how the program ended and what it said."""
        words = [word.replace(PROMPT, prompt) for word in self.words]
        stdin = None if any(PROMPT in word for word in self.words) else prompt
        finished = run_command(words, folder, timeout_s=timeout_s, stdin=stdin, env=env)
        transcript = read_stream(self.stream, finished.output)
        if finished.timed_out:
            transcript.errors.insert(0, f"no end within {timeout_s:g} s")
        elif finished.status == 127:
            transcript.errors.insert(0, f"{words[0]}: there is no such program: {finished.errors.strip()[-200:]}")
        elif finished.status != 0:
            transcript.errors.insert(0, f"ended with {finished.status}: {finished.errors.strip()[-300:]}")
        return finished, transcript


def run_command(
    words: Sequence[str], folder: Path, *, timeout_s: float, stdin: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Finished:  # fmt: skip
    """Run a command in a process group of its own, and end the whole group when it is over."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        # Files, not pipes: what a program leaves running would hold a pipe open.
        given.write((stdin or "").encode("utf-8", "replace"))
        given.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the suite names the program; no shell reads the words
                list(words), cwd=folder, stdin=given, stdout=out, stderr=errors, start_new_session=True,
                env={**os.environ, **(env or {})},
            )  # fmt: skip
        except (FileNotFoundError, PermissionError) as error:
            return Finished(127, "", str(error), 0.0, False)
        timed_out = False
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            _signal(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
        finally:
            _signal(process.pid, signal.SIGKILL)
            process.wait()
        texts: list[str] = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read(MAX_OUTPUT_BYTES).decode("utf-8", "replace"))
    return Finished(process.returncode, texts[0], texts[1], round(time.monotonic() - began, 3), timed_out)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
