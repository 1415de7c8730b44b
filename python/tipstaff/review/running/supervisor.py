"""Ends what this process started when this process is killed itself.

A process that gets SIGKILL cannot end its children. So a shell of a few lines waits beside it, in a session of its own,
for the end of a pipe that only this process holds: the kernel closes it however the process ends. Then the shell kills
the process groups that it was given, and on Linux every process that has the mark in its environment.

The kernel's own signal at a parent's death (``PR_SET_PDEATHSIG``) would reach the direct child alone, comes at the end
of the thread that started it, and has to be asked for between fork and exec, where no Python is safe.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import threading
from types import TracebackType
from typing import Final, Self

_LINE_TIMEOUT_S: Final = 5.0

# "+ GROUP" and "- GROUP" as groups come and go, "." at an orderly end. A process that is being started has no mark in
# its environment yet, so it is looked for until two rounds find none. Built-ins and grep do, where /proc is there.
_SCRIPT: Final = """\
trap '' HUP INT TERM QUIT PIPE
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
    .) exit 0 ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
quiet=0
for round in 1 2 3 4 5 6 7 8 9; do
  found=
  for file in $(grep -lsF -- "$1" /proc/[0-9]*/environ); do
    process=${file#/proc/}
    kill -s KILL "${process%/environ}" && found=1
  done
  if [ "$found" ]; then quiet=0; else quiet=$((quiet + 1)); fi
  [ "$quiet" -ge 3 ] && exit 0
  sleep 0.1
done
"""


class Supervisor:
    """Ends commands and their children when this process is killed. Any number of threads may use one.

    Parameters
    ----------
    variable
        Name of the variable of the environment that marks the commands.

    Notes
    -----
    Where no shell can be started, nothing is supervised, and nothing else is the worse for it.
    """

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self.token = secrets.token_hex(16)
        self._count = 0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def mark(self) -> str:
        """Return a value of the variable for one more command; it begins with the token."""
        with self._lock:
            self._count += 1
            return f"{self.token}.{self._count}"

    def watch(self) -> None:
        """Begin to watch; to be called before the first command is started."""
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 - a fixed script
                ["/bin/sh", "-c", _SCRIPT, "tipstaff-supervisor", f"{self.variable}={self.token}."],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                cwd="/", env={"PATH": os.environ.get("PATH", os.defpath)}, start_new_session=True, bufsize=0,
            )  # fmt: skip

    def started(self, group: int) -> None:
        """Note the process group of a command that was started."""
        self._write(f"+ {group}")

    def ending(self, group: int) -> None:
        """Note that a group is over; to be called before its leader is reaped, while the number is its own."""
        self._write(f"- {group}")

    def close(self, *, ended: bool = True) -> None:
        """Stop watching.

        Parameters
        ----------
        ended
            Whether every command has ended. Where not, or where nobody knows, what is left is killed first: an
            exception may have come between the start of a command and the note of it.
        """
        if ended:
            self._write(".")
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_LINE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def _write(self, line: str) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(f"{line}\n".encode())

    def __enter__(self) -> Self:
        self.watch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del error, trace
        self.close(ended=kind is None)
