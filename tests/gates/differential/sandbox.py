"""Real shells in a root folder of their own, where destructive programs only write down that they were called."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

HOME: Final = "/home/dev"
FOLDER: Final = f"{HOME}/proj"
SOURCE: Final = f"{FOLDER}/src/app.py"
TREE: Final = (
    SOURCE, f"{FOLDER}/src/d/x.py", f"{FOLDER}/build/o", f"{FOLDER}/dist/o", f"{FOLDER}/d/", f"{HOME}/notes.txt",
    "/tmp/x/o", "/tmp/a/o",
)  # fmt: skip
"""What is there before each program."""

SHELLS: Final = ("bash", "dash", "busybox", "zsh")
RECORDED: Final = ("rm", "shred", "dropdb", "git", "marker")
TOOLS: Final = (
    "cat", "env", "nohup", "timeout", "nice", "xargs", "find", "dirname", "basename", "mkdir", "tr", "head", "seq",
    "sort", "printf", "true", "false", "realpath", "cut", "tee",
)  # fmt: skip
"""Programs as they are; none of them reaches out of the root folder."""


class Record(NamedTuple):
    """One call of a recorded program; `>` stands for a source file that a redirection changed."""

    folder: str
    words: tuple[str, ...]
    environment: tuple[str, ...] = ()


class SandboxError(Exception):
    """This machine has no compiler, or allows neither namespaces nor a chroot."""


def program_of(shell: str) -> list[str]:
    """Return how a shell is called for a text that follows; globs stay as they are written."""
    return {
        "bash": ["/bin/bash", "-f", "-c"],
        "dash": ["/bin/dash", "-f", "-c"],
        "busybox": ["/bin/busybox", "sh", "-f", "-c"],
        "zsh": ["/bin/zsh", "-f", "-o", "noglob", "-c"],
    }[shell]


def installed_shells() -> list[str]:
    """Return those of `SHELLS` that this machine has."""
    return [shell for shell in SHELLS if shutil.which(shell, path="/usr/bin:/bin")]


class Sandbox:
    """A root folder with shells and recorders, and the process that runs programs in it.

    Parameters
    ----------
    programs
        Further programs to put into it, with what they are linked to; each by its path on this machine.

    Raises
    ------
    SandboxError
        It cannot be made here; the message says why.
    """

    def __init__(self, programs: Sequence[str] = ()) -> None:
        self._at = Path(tempfile.mkdtemp(prefix="differential-"))
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._fill(programs)
            self._begin()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and remove the root folder."""
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
            self._process.wait()
            self._process = None
        shutil.rmtree(self._at, ignore_errors=True)

    def run(self, words: Sequence[str]) -> list[Record] | None:
        """Run a program until nothing of it runs any more; None where it met a limit, so that it shows nothing."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        encoded = [word.encode("utf-8", "surrogateescape") for word in words]
        self._process.stdin.write(struct.pack("=I", len(encoded)))
        for word in encoded:
            self._process.stdin.write(struct.pack("=I", len(word)) + word)
        self._process.stdin.flush()
        status, size = struct.unpack("=iI", self._process.stdout.read(8))
        log = self._process.stdout.read(size)
        return None if status < 0 else list(_records(log))

    def run_shell(self, shell: str, text: str) -> list[Record] | None:
        """Run a text by a shell."""
        return self.run([*program_of(shell), text])

    def _fill(self, programs: Sequence[str]) -> None:
        for folder in ("bin", "dev", "proc", "home", "tmp", "log"):
            (self._at / folder).mkdir()
        (self._at / "dev" / "null").touch()
        (self._at / "dev" / "fd").symlink_to("/proc/self/fd")
        (self._at / "dev" / "stdin").symlink_to("/proc/self/fd/0")
        recorder = self._at / "bin" / "recorder"
        source = Path(__file__).with_name("recorder.c")
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            raise SandboxError("no C compiler")
        command = [compiler, "-O1", "-Wall", "-Wextra", str(source), "-o", str(recorder)]
        if subprocess.run([*command, "-static"], capture_output=True, check=False).returncode != 0:
            built = subprocess.run(command, capture_output=True, text=True, check=False)
            if built.returncode != 0:
                raise SandboxError(f"the recorder does not compile: {built.stderr}")
            self._libraries(str(recorder))
        for name in RECORDED:
            os.link(recorder, self._at / "bin" / name)
        shells = [shutil.which(shell, path="/usr/bin:/bin") for shell in SHELLS]
        tools = [shutil.which(tool, path="/usr/bin:/bin") for tool in TOOLS]
        for program in [*shells, *tools, *programs]:
            if program is not None:
                self._put(program)
        (self._at / "bin" / "sh").symlink_to("dash" if shutil.which("dash") else "bash")

    def _put(self, program: str) -> None:
        shutil.copy(os.path.realpath(program), self._at / "bin" / Path(program).name)
        self._libraries(program)

    def _libraries(self, program: str) -> None:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for path in re.findall(r"(?:=> |^\s+)(/\S+)", listed, re.MULTILINE):
            target = self._at / path.lstrip("/")
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(os.path.realpath(path), target)

    def _begin(self) -> None:
        self._process = subprocess.Popen(
            [str(self._at / "bin" / "recorder"), str(self._at), *TREE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={},
        )  # fmt: skip
        try:
            works = self.run(["/bin/bash", "-c", "rm works"])
        except (BrokenPipeError, struct.error):
            assert self._process.stderr is not None
            raise SandboxError(self._process.stderr.read().decode() or "the recorder ended") from None
        if works is None or [record.words for record in works] != [("rm", "works")]:
            raise SandboxError(f"a shell in the root folder does not reach the recorder: {works}")


def _records(log: bytes) -> list[Record]:
    found: list[Record] = []
    texts = [text.decode("utf-8", "surrogateescape") for text in log.split(b"\0")]
    at = 0
    while at + 1 < len(texts):
        count = int(texts[at])
        words = tuple(texts[at + 2 : at + 2 + count])
        after = texts.index("", at + 2 + count)
        found.append(Record(texts[at + 1], words, tuple(texts[at + 2 + count : after])))
        at = after + 1
    return found
