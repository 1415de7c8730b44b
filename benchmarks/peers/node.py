"""The Node peer as seen from Python: prepare an operation, have it timed inside Node, get the nanoseconds."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple, Self

from benchmarks.peers.install import PACKAGE, VERSION, PeerUnavailableError, is_installed, node_program, package_folder

_DRIVER = Path(__file__).with_name("driver.mjs")


class PeerError(RuntimeError):
    """The peer answered with an error, or ended."""


class Timing(NamedTuple):
    """What Node measured: seconds of each call, the last call's result, and which input of the list that was."""

    seconds: list[float]
    result: Any
    last: int


class NodePeer:
    """A Node process with the pinned package loaded.

    Parameters
    ----------
    command
        Program and arguments; the driver with the installed package where None.
    version
        What the package must call itself.

    Raises
    ------
    PeerUnavailableError
        If Node or the package is missing, or the package is of another version.
    """

    def __init__(self, command: list[str] | None = None, *, version: str = VERSION) -> None:
        if command is None:
            command = [node_program(), str(_DRIVER), str(package_folder())]
            if not is_installed():
                msg = f"{PACKAGE} is not installed; python -m benchmarks.peers fetches it"
                raise PeerUnavailableError(msg)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        try:
            hello = self.ask({"do": "hello"})
            if hello.get("version") != version:
                msg = f"{PACKAGE} is {hello.get('version')}, the benchmarks are pinned to {version}"
                raise PeerUnavailableError(msg)
        except BaseException:
            self.close()
            raise
        self.name = f"node {hello['node']}, {PACKAGE} {version}"

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer.

        Raises
        ------
        PeerError
            If the answer is an error, is not a JSON object, or never comes because the process ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            msg = f"the peer ended with code {self._process.wait()} at {request['do']!r}"
            raise PeerError(msg)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            msg = f"the peer answered {line[:200]!r}; a JSON object was due"
            raise PeerError(msg)
        if "error" in answer:
            msg = f"the peer could not {request['do']}: {answer['error']}"
            raise PeerError(msg)
        return answer

    def prepare(self, operation: str, **values: Any) -> Any:
        """Set an operation up from its input and return what the driver says of it."""
        return self.ask({"do": "prepare", "operation": operation, "input": values})["prepared"]

    def time(self, operation: str, *, times: int, warm: int = 0) -> Timing:
        """Have a prepared operation called `warm` times untimed and `times` times timed."""
        answer = self.ask({"do": "time", "operation": operation, "times": times, "warm": warm})
        found = answer["nanoseconds"]
        if len(found) != times:
            msg = f"the peer timed {len(found)} calls of {operation}, not {times}"
            raise PeerError(msg)
        return Timing([value / 1e9 for value in found], answer["result"], answer["last"])

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
