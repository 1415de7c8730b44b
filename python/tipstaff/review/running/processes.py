"""One command with all its children: its output, its end, and its end by force.

A command runs in a session of its own. When it has ended, was too slow, or is no longer wanted, what is left of its
process group is killed, and on Linux also children that left the group, which are known by a variable in their
environment. The leader is reaped last, so its process group cannot be another's meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tipstaff.review.running.supervisor import Supervisor

GRACE_S: Final = 1.0
"""Between the request to end and the kill."""

HEAD_BYTES: Final = 64 * 1024
TAIL_BYTES: Final = 448 * 1024
"""Of longer output the middle is left out."""

MARK: Final = "TIPSTAFF_CHECK"
"""Set for every command of a check; its value is unique to one run of one check."""

_READ_BYTES: Final = 256 * 1024


class Output:
    """Bytes of which the first and the last are kept."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._head_size = head
        self._tail_size = tail
        self.dropped = 0

    def add(self, data: bytes) -> None:
        """Take bytes in."""
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        # Cut rarely, so that taking bytes in stays linear.
        if len(self._tail) > 2 * self._tail_size:
            self._cut()

    def text(self) -> str:
        """Return what is kept, with a line in the middle that says what is not."""
        self._cut()
        head = self._head.decode("utf-8", "replace")
        if not self.dropped:
            return (bytes(self._head) + bytes(self._tail)).decode("utf-8", "replace")
        tail = self._tail.decode("utf-8", "replace")
        return f"{head}\n[... {self.dropped:,} bytes left out ...]\n{tail}"

    def _cut(self) -> None:
        over = len(self._tail) - self._tail_size
        if over > 0:
            self.dropped += over
            del self._tail[:over]


class Child:
    """A command that runs.

    Parameters
    ----------
    command
        For a POSIX shell.
    folder
        Where it runs.
    environment
        Variables beside those of this process.
    supervisor
        Ends the command if this process is killed.

    Raises
    ------
    OSError
        If it cannot be started.

    Notes
    -----
    `stdout` is a descriptor that does not block, and `pidfd` one that becomes readable when the command ends, or -1
    where the system has no such thing.
    """

    def __init__(
        self, command: str, folder: Path, environment: Mapping[str, str], supervisor: Supervisor | None = None
    ) -> None:
        self._supervisor = supervisor or Supervisor(MARK)
        self.mark = self._supervisor.mark()
        self.output = Output()
        self.began = time.perf_counter()
        self.ended = 0.0
        self.exit_code: int | None = None
        self._process = subprocess.Popen(  # noqa: S602 - a check is a command line that its repository states
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, **environment, MARK: self.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        self.pid = self._process.pid
        self._supervisor.started(self.pid)
        self.stdout = self._process.stdout.fileno()
        os.set_blocking(self.stdout, False)
        self.pidfd = -1
        with contextlib.suppress(OSError, AttributeError):
            self.pidfd = os.pidfd_open(self.pid)

    def read(self) -> bytes | None:
        """Take in what was printed and return it; None at the end of the output."""
        try:
            data = os.read(self.stdout, _READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            return None
        self.output.add(data)
        return data or None

    def has_ended(self) -> bool:
        """Return whether the command itself has ended, without reaping it."""
        if self.exit_code is not None:
            return True
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return found is not None

    def ask_to_end(self) -> None:
        """Send the whole group the signal to terminate."""
        self._signal(signal.SIGTERM)

    def finish(self, *, thorough: bool = False) -> int:
        """Kill what is left of the command and its children, reap it, and return its exit code.

        Parameters
        ----------
        thorough
            Also look for children that left the process group.
        """
        if self.exit_code is None:
            self._signal(signal.SIGKILL)
            if thorough:
                kill_marked(self.mark)
            self._supervisor.ending(self.pid)
            self.exit_code = self._process.wait()
            self.ended = time.perf_counter()
        while self.read():
            pass
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        if self._process.stdout is not None:
            self._process.stdout.close()
        return self.exit_code

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def kill_marked(mark: str) -> int:
    """Kill every process of this user whose environment has the mark, and return how many there were; Linux only."""
    wanted = f"{MARK}={mark}".encode()
    killed = 0
    # A process can fork while it is looked for, so look until none is found.
    for _ in range(8):
        found = 0
        try:
            names = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
        except OSError:
            return killed
        for name in names:
            try:
                about = Path("/proc", name, "environ").read_bytes()
            except OSError:
                continue
            if wanted in about.split(b"\0") and int(name) != os.getpid():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(name), signal.SIGKILL)
                    found += 1
        killed += found
        if not found:
            break
    return killed
