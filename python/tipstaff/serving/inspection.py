"""``context.inspect`` over JSON-RPC 2.0 (https://www.jsonrpc.org/specification) on a Unix socket of the owner's alone.

One message a line, a thread a connection. What it answers is what was recorded when a request was sent.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import socketserver
import stat
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from tipstaff.budgets import CHARS_PER_TOKEN
from tipstaff.context.inspecting.snapshot import ContextSnapshot, SnapshotFolder, SnapshotSection, pressure_of
from tipstaff.errors import ConfigError, SourceError, SourceNotFoundError
from tipstaff.store.replacing import write_error

MAX_MESSAGE_BYTES: Final = 1 << 20
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNKNOWN_SESSION, UNREADABLE_SNAPSHOT = -32001, -32002
METHODS: Final = {"context.inspect": ("sessionId", "queryHint", "detailKey"), "context.sessions": ()}
"""The methods and their parameters; ``queryHint`` changes nothing, since what was sent is shown."""

_IDLE_S: Final = 300.0
_MAX_BATCH: Final = 1_000
_LONGEST_PATH_BYTES: Final = 107


class _RefusedError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ContextServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers on a socket until it is closed.

    Parameters
    ----------
    path
        Of the socket. Its folder is made for the owner alone if it is not there; the socket of a dead server is
        replaced.
    folder
        Where requests are recorded.

    Raises
    ------
    ConfigError
        If the path is too long for a socket, is no socket, is being served, or others may write to its folder.
    StoreWriteError
        If the socket cannot be made.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: Path, folder: SnapshotFolder) -> None:
        self.folder = folder
        self._path = path
        self._made = path.with_name(f".{path.name[:12]}.{os.getpid()}")
        self._lock = _held(path)
        try:
            super().__init__(os.fspath(path), _Connection)
        except OSError as error:
            os.close(self._lock)
            raise write_error(path, error) from error

    def server_bind(self) -> None:
        """Bind the socket so that at no moment others could connect, under a name that nobody knows yet."""
        os.fchmod(self.socket.fileno(), 0o600)
        self._made.unlink(missing_ok=True)
        self.socket.bind(os.fspath(self._made))
        self._made.chmod(0o600)

    def server_activate(self) -> None:
        """Listen; whoever sees the socket can connect."""
        super().server_activate()
        self._made.rename(self._path)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether a connection is the owner's."""
        del client_address
        if not sys.platform.startswith("linux"):
            return True
        credentials = request.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return bool(struct.unpack("3i", credentials)[1] == os.geteuid())

    def server_close(self) -> None:
        """Remove the socket."""
        super().server_close()
        with contextlib.suppress(OSError):
            self._path.unlink()
            os.close(self._lock)


class _Connection(socketserver.StreamRequestHandler):
    timeout = _IDLE_S

    def handle(self) -> None:
        folder = cast("ContextServer", self.server).folder
        with contextlib.suppress(OSError):
            while line := self.rfile.readline(MAX_MESSAGE_BYTES + 1):
                if len(line) > MAX_MESSAGE_BYTES:
                    reason = f"a message of more than {MAX_MESSAGE_BYTES} bytes"
                    self.wfile.write(_encoded(_failure(None, INVALID_REQUEST, reason)) + b"\n")
                    return
                if line.strip() and (found := answer(folder, line)) is not None:
                    self.wfile.write(found + b"\n")


def _held(path: Path) -> int:
    """Return the lock of a socket's path, which is free then."""
    if len(os.fsencode(path)) > _LONGEST_PATH_BYTES:
        raise ConfigError(f"{path}: the path of a socket has at most {_LONGEST_PATH_BYTES} bytes")
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = folder.stat().st_mode
        # In a folder like /tmp the sticky bit keeps others from replacing the socket.
        if mode & 0o022 and not mode & stat.S_ISVTX:
            raise ConfigError(f"{folder}: others may write to this folder and could replace the socket; choose another")
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise write_error(path, error) from error
    reason = ""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()  # whoever made it is dead: the lock is ours
        else:
            reason = "not a socket; choose another path"
    except BlockingIOError:
        reason = "another server answers here already"
    except FileNotFoundError:
        pass
    if reason:
        os.close(lock)
        raise ConfigError(f"{path}: {reason}")
    return lock


def answer(folder: SnapshotFolder, message: bytes) -> bytes | None:
    """Return the answer to a request or a batch, UTF-8 JSON on one line; None where none is due."""
    try:
        request: Any = msgspec.json.decode(message)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _encoded(_failure(None, PARSE_ERROR, "Parse error"))
    if not isinstance(request, list):
        found = _one(folder, request)
        return None if found is None else _encoded(found)
    batch: list[Any] = request
    if not 0 < len(batch) <= _MAX_BATCH:
        return _encoded(_failure(None, INVALID_REQUEST, f"expected a batch of 1 to {_MAX_BATCH} requests"))
    answers = [found for one in batch if (found := _one(folder, one)) is not None]
    return _encoded(answers) if answers else None


def _one(folder: SnapshotFolder, request: Any) -> dict[str, Any] | None:
    if not isinstance(request, dict):
        return _failure(None, INVALID_REQUEST, "expected an object")
    members = cast("dict[str, Any]", request)
    request_id = members.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, str | int | float | None):
        return _failure(None, INVALID_REQUEST, "id: expected text, a number or null")
    try:
        found: dict[str, Any] = {"jsonrpc": "2.0", "result": _called(folder, members), "id": request_id}
    except _RefusedError as error:
        found = _failure(request_id, error.code, str(error))
        if error.code == INVALID_REQUEST:
            return found
    # A notification is never answered, not even with an error.
    return found if "id" in members else None


def _called(folder: SnapshotFolder, members: Mapping[str, Any]) -> dict[str, Any]:
    name, given = members.get("method"), members.get("params", {})
    if members.get("jsonrpc") != "2.0" or not isinstance(name, str) or not isinstance(given, dict | list):
        raise _RefusedError(INVALID_REQUEST, 'expected jsonrpc "2.0", a method, and an object or an array of params')
    if name not in METHODS:
        raise _RefusedError(METHOD_NOT_FOUND, f"{name}: there are {', '.join(METHODS)}")
    parameters = METHODS[name]
    params = cast("dict[str, Any]", given if isinstance(given, dict) else dict(zip(parameters, given, strict=False)))
    if not set(params) <= set(parameters) or len(given) > len(parameters):
        raise _RefusedError(INVALID_PARAMS, f"{name} takes {', '.join(parameters) or 'nothing'}")
    if name == "context.sessions":
        return {"sessions": list(folder.sessions())}
    if not all(isinstance(value, str) for value in params.values()) or not params.get("sessionId"):
        raise _RefusedError(INVALID_PARAMS, "sessionId: expected the id of a session; all params are texts")
    try:
        return inspect_document(folder.load(params["sessionId"]), params.get("detailKey", ""))
    except SourceNotFoundError:
        raise _RefusedError(UNKNOWN_SESSION, f"unknown session {params['sessionId']!r}") from None
    except SourceError as error:
        raise _RefusedError(UNREADABLE_SNAPSHOT, str(error)) from error


def _failure(request_id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": request_id}


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def inspect_document(snapshot: ContextSnapshot, detail_key: str = "") -> dict[str, Any]:
    """Return what ``context.inspect`` answers, with camelCase members.

    Parameters
    ----------
    snapshot
        What the request contained.
    detail_key
        Adds ``detail``, the section of this key with its content; ``key#2`` is the second of this key.
    """
    focus, live = snapshot.focus, snapshot.live
    document: dict[str, Any] = {
        "sessionId": snapshot.session_id,
        "requestNumber": snapshot.request_number,
        "takenAt": snapshot.taken_at,
        "totalChars": snapshot.total_chars,
        "estimatedTokens": snapshot.estimated_tokens,
        "contextWindowTokens": snapshot.context_window_tokens,
        "toolTokens": snapshot.tool_tokens,
        "messageTokens": snapshot.message_tokens,
        "messageCount": snapshot.message_count,
        "requestTokens": snapshot.request_tokens,
        "pressureLevel": pressure_of(snapshot.request_tokens, snapshot.context_window_tokens),
        "requestFocus": _camel_members(focus),
        "budget": {
            "maxPerTierChars": snapshot.max_per_tier_chars,
            "maxTotalChars": snapshot.max_total_chars,
            "budgetTokensEstimate": -(-snapshot.max_total_chars // CHARS_PER_TOKEN),
        },
        "activeFilePaths": list(focus.active_file_paths),
        "injectedCandidateIds": list(snapshot.injected_candidate_ids),
        "truncatedSectionKeys": list(snapshot.truncated_section_keys),
        "rules": [_camel_members(rule) for rule in snapshot.rules],
        "sections": [_section(section) for section in snapshot.sections],
    }
    if snapshot.window_share is not None:
        document["systemPromptSharePct"] = round(100 * snapshot.window_share, 4)
    if live is not None:
        document["live"] = _camel_members(live)
    if detail_key and (found := snapshot.find(detail_key)) is not None:
        document["detail"] = {**_section(found), "content": found.content}
    return document


def _section(section: SnapshotSection) -> dict[str, Any]:
    found = _camel_members(section)
    del found["content"]
    return found


def _camel_members(record: msgspec.Struct) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(record)
    return {_camel(name): _camelled(value) for name, value in found.items()}


def _camelled(value: Any) -> Any:
    if isinstance(value, dict):
        return {_camel(name): one for name, one in cast("dict[str, Any]", value).items()}
    return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def call(path: str | os.PathLike[str], message: bytes, *, timeout_s: float = 10.0) -> bytes:
    """Send one message to a server and return its answer, each without its newline."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(timeout_s)
        peer.connect(os.fspath(path))
        peer.sendall(message + b"\n")
        with peer.makefile("rb") as answers:
            return answers.readline().rstrip(b"\n")
