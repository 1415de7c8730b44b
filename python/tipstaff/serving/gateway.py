"""A relay in front of an MCP server on standard input and output.

Calls are judged, results masked, descriptions of tools pinned.

Every line of the client is parsed, judged and written again from what was judged, so that the server reads nothing that
was not looked at. Of the server's lines, those that answer a call of interest are parsed; all others pass as they are:
progress, elicitation, sampling, roots, in both protocol revisions.

Source: https://modelcontextprotocol.io/specification, JSON-RPC 2.0.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from tipstaff.adapters.guard import WITHHELD, Guard
from tipstaff.gates.judging.allowlist import is_allowed
from tipstaff.gates.results import Verdict
from tipstaff.gates.secrets.scanner import redact
from tipstaff.model import Record
from tipstaff.plane import GuidanceControlPlane
from tipstaff.serving.pins import Pins

MOST_BYTES: Final = 64 * 1024 * 1024
"""The longest line; a longer one ends the relay."""
_MASKED: Final = frozenset({"tools/call", "resources/read", "prompts/get", "completion/complete"})
_PARSE_ERROR: Final = -32700
_INVALID: Final = -32600
_GRACE_S: Final = 5.0


class ServerPolicy(Record, frozen=True, kw_only=True):
    """What a person says of one server.

    Attributes
    ----------
    allow, hide
        Globs of tools: those that there are (None for all), and those that there are not.
    calls_per_minute, calls
        How often tools may be called, in a minute and in all.
    wait
        How many seconds a call that needs a person waits in `tipstaff approve`.
    """

    allow: tuple[str, ...] | None = None
    hide: tuple[str, ...] = ()
    calls_per_minute: int | None = None
    calls: int | None = None
    wait: float = 0.0


class Refusal(Exception):  # noqa: N818 - an answer, no error
    """A line of the client is not forwarded."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def parsed(line: bytes) -> Any:
    """Return a message; raises `Refusal` for what two readers may read in two ways."""
    try:
        return _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refusal(_PARSE_ERROR, f"not a message that is read in one way alone: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def written(message: Any) -> bytes:
    """Return a message as a line."""
    return _ENCODER.encode(message).encode() + b"\n"


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class Relay:
    """What stands between one client and one server.

    Parameters
    ----------
    name
        Of the server, as its tools are judged: ``mcp__NAME__TOOL``.
    plane
        Judges the calls, and records them.
    pins
        The descriptions of the tools that were seen first.
    policy
        Of this server.
    to_client, to_server
        Where lines are written.
    """

    def __init__(
        self, name: str, plane: GuidanceControlPlane, pins: Pins, policy: ServerPolicy, to_client: IO[bytes],
        to_server: IO[bytes],
    ) -> None:  # fmt: skip
        scoped = plane.narrow(budgets={"calls": policy.calls}) if policy.calls is not None else plane
        self._guard = Guard(scoped, asker=f"mcp {name}", wait=policy.wait)
        self._name = name
        self._pins = pins
        self._policy = policy
        self._streams = {"client": to_client, "server": to_server}
        self._locks = {"client": threading.Lock(), "server": threading.Lock()}
        self._pending: dict[str, str] = {}  # id of a request of the client's to its method
        self._waiting: set[str] = set()
        self._calls: deque[float] = deque()

    # -- from the client -----------------------------------------------------------------------------------------------

    def from_client(self, line: bytes) -> None:
        """Take a line of the client: forward what may pass, and answer the rest."""
        try:
            message = parsed(line)
            if isinstance(message, list):
                passed = [one for one in message if self._passes(one)]
                if passed or not message:
                    self._send("server", passed)
            elif self._passes(message):
                self._send("server", message)
        except Refusal as refusal:
            error = {"code": refusal.code, "message": str(refusal)}
            self._send("client", {"jsonrpc": "2.0", "id": None, "error": error})

    def _passes(self, message: Any) -> bool:
        """Return whether a message may pass now; one that does not is answered."""
        if not isinstance(message, dict):
            raise Refusal(_INVALID, "a message is an object")
        method, params = message.get("method"), message.get("params")
        if method is None:
            return True  # an answer to the server
        if not isinstance(method, str):
            raise Refusal(_INVALID, "a method is a text")
        key = _key(message)
        if method == "notifications/cancelled" and isinstance(params, dict):
            asked = json.dumps(params.get("requestId"))
            self._pending.pop(asked, None)
            if asked in self._waiting:  # it never reached the server
                self._waiting.discard(asked)
                return False
        if method == "tools/call" and not self._may_call(message, params):
            return False
        if key is not None:
            self._pending[key] = method
        return True

    def _may_call(self, message: dict[str, Any], params: Any) -> bool:
        if not isinstance(params, dict) or not isinstance(params.get("name"), str):
            raise Refusal(_INVALID, "tools/call has a name")
        name, arguments = params["name"], params.get("arguments") or {}
        if why := self._why_not(name):
            self._answer(message, why)
            return False
        tool = f"mcp__{self._name}__{name}"
        verdict = self._guard.judge(tool, self._pins.with_meaning(name, arguments))
        if verdict.decision in {"allow", "warn"}:
            return True
        if verdict.code and self._policy.wait > 0:
            key = _key(message)
            if key is not None:
                self._waiting.add(key)
            threading.Thread(target=self._wait, args=(message, verdict), daemon=True).start()
            return False
        self._answer(message, self._guard.refusal_now(verdict))
        return False

    def _why_not(self, name: str) -> str:
        policy = self._policy
        if self.hides(name):
            return f"There is no tool {name!r}."
        if self._pins.is_changed(name):
            return f"What the tool {name!r} says of itself has changed: a person must look at it (tipstaff approve)."
        if policy.calls_per_minute is not None:
            now = time.monotonic()
            while self._calls and now - self._calls[0] > 60:
                self._calls.popleft()
            if len(self._calls) >= policy.calls_per_minute:
                return f"More than {policy.calls_per_minute} calls in a minute: wait."
            self._calls.append(now)
        return ""

    def _wait(self, message: dict[str, Any], verdict: Verdict) -> None:
        refused, key = asyncio.run(self._guard.refusal(verdict)), _key(message)
        if key is not None:
            if key not in self._waiting:
                return  # cancelled meanwhile
            self._waiting.discard(key)
        if refused:
            self._answer(message, refused)
            return
        if key is not None:
            self._pending[key] = "tools/call"
        self._send("server", message)

    def _answer(self, message: dict[str, Any], text: str) -> None:
        """Answer a call in the server's place, so that the model reads why."""
        if "id" in message:
            self._send("client", {"jsonrpc": "2.0", "id": message["id"], "result": _error(text)})

    # -- from the server -----------------------------------------------------------------------------------------------

    def from_server(self, line: bytes) -> None:
        """Take a line of the server: mask the result of a call, look at descriptions, and forward it."""
        if self._pending and (b'"result"' in line or b'"error"' in line or b"\\" in line):
            try:
                message: Any = parsed(line)
            except Refusal:
                self._drop(line)
                return
            changed = self._looked_at(message, line)
            if changed is not message:
                self._send("client", changed)
                return
        with self._locks["client"]:
            self._streams["client"].write(line if line.endswith(b"\n") else line + b"\n")
            self._streams["client"].flush()

    def _drop(self, line: bytes) -> None:
        """Leave out a line of the server that a client could read in another way than it is looked at here."""
        sys.stderr.write(f"tipstaff: a line of {self._name} is not valid JSON: {line[:80]!r}\n")

    def _looked_at(self, message: Any, line: bytes) -> Any:
        if isinstance(message, list):
            found = [self._looked_at(one, line) for one in message]
            return message if all(new is old for new, old in zip(found, message, strict=True)) else found
        key = _key(message) if isinstance(message, dict) and "method" not in message else None
        method = self._pending.pop(key, None) if key is not None else None
        if method == "tools/list" and isinstance(message.get("result"), dict):
            return self._listed(message)
        if method not in _MASKED or _is_clean(line):
            return message
        part = "result" if "result" in message else "error"
        masked = self._guard.masked(message.get(part))
        if masked is WITHHELD:
            masked = _error(WITHHELD)
        return message if masked is message.get(part) else {**message, part: masked}

    def _listed(self, message: dict[str, Any]) -> Any:
        result = message["result"]
        given = result.get("tools")
        if not isinstance(given, list):
            return message
        tools = [one for one in given if isinstance(one, dict) and self._shows(one)]
        return message if len(tools) == len(given) else {**message, "result": {**result, "tools": tools}}

    def _shows(self, tool: dict[str, Any]) -> bool:
        name = tool.get("name")
        return isinstance(name, str) and not self.hides(name) and self._pins.look(tool)

    def hides(self, name: str) -> bool:
        """Return whether the policy says that there is no such tool."""
        allow = self._policy.allow
        return is_allowed(name, self._policy.hide) or (allow is not None and not is_allowed(name, allow))

    def _send(self, to: str, message: Any) -> None:
        data = written(message)
        with self._locks[to]:
            self._streams[to].write(data)
            self._streams[to].flush()


def _is_clean(line: bytes) -> bool:
    """Return whether a line holds no secret as it stands, names and values together; False where one may be escaped."""
    if b"\\" in line:
        return False
    text = line.decode("utf-8", "replace")
    return redact(text, wary=True) == text


def _key(message: Mapping[str, Any]) -> str | None:
    """Return the id of a request or of its answer: 1 and "1" are two."""
    return json.dumps(message["id"]) if message.get("id") is not None else None


def _error(text: str) -> dict[str, Any]:
    """Return the result of a call that did not happen, in both revisions of the protocol."""
    return {"content": [{"type": "text", "text": text}], "isError": True, "resultType": "complete"}


def run(
    command: Sequence[str], name: str, plane: GuidanceControlPlane, policy: ServerPolicy | None = None,
    *, env: Mapping[str, str] | None = None, cwd: Path | None = None,
) -> int:  # fmt: skip
    """Start a server, relay until one of the two ends, and return the server's exit code."""
    server = subprocess.Popen(  # noqa: S603 - the server that the person configured
        list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd, env={**os.environ, **(env or {})}
    )
    assert server.stdin is not None  # noqa: S101
    assert server.stdout is not None  # noqa: S101
    pins = Pins(name, command, plane.root)
    relay = Relay(name, plane, pins, policy or ServerPolicy(), sys.stdout.buffer, server.stdin)

    def stop(number: int, frame: object) -> None:
        del number, frame
        server.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    reading = threading.Thread(target=_copy, args=(sys.stdin.buffer, relay.from_client, server), daemon=True)
    reading.start()
    _copy(server.stdout, relay.from_server, None)
    try:
        return server.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        server.kill()
        return server.wait()


def _copy(stream: IO[bytes], take: Any, server: subprocess.Popen[bytes] | None) -> None:
    """Hand on each line of a stream; at the client's end the server's input is closed."""
    try:
        while (line := stream.readline(MOST_BYTES)) and len(line) < MOST_BYTES:
            if line.strip():
                take(line)
    except (BrokenPipeError, ValueError):
        pass  # the other side is gone
    if server is not None and server.stdin is not None:
        try:
            server.stdin.close()
            server.wait(_GRACE_S)
        except (OSError, subprocess.TimeoutExpired):
            server.terminate()
