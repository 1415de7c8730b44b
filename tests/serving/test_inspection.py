"""``context.inspect`` over a socket: members, JSON-RPC, and who may connect."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.context.requests import FOCUS, request
from tipstaff.context.inspecting.snapshot import SnapshotFolder
from tipstaff.errors import ConfigError
from tipstaff.serving import inspection as serving
from tipstaff.serving.inspection import ContextServer, answer, call, inspect_document


@pytest.fixture
def folder(tmp_path: Path) -> SnapshotFolder:
    found = SnapshotFolder(tmp_path / "context")
    found.record(request())
    found.record(request("a b/c", extra="more"))
    found.record(request())
    (found.path / "bad").mkdir()
    (found.path / "bad" / "00000001.json").write_text("{}")
    return found


@pytest.fixture
def server(tmp_path: Path, folder: SnapshotFolder) -> Iterator[ContextServer]:
    with ContextServer(tmp_path / "run" / "s.sock", folder) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.02,))
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def asked(folder: SnapshotFolder, message: Any) -> Any:
    found = answer(folder, message if isinstance(message, bytes) else json.dumps(message).encode())
    return None if found is None else json.loads(found)


def inspect(**params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "context.inspect", "params": params}


def test_every_member_is_there() -> None:
    snapshot = request()
    document = json.loads(json.dumps(inspect_document(snapshot)))
    assert document["requestFocus"] == {
        "querySummary": FOCUS.query_summary,
        "activeFilePaths": list(FOCUS.active_file_paths),
        "activeSymbols": ["StreamingLoop"],
        "planSignals": ["code change requested"],
    }
    assert document["budget"] == {"maxPerTierChars": 2_000, "maxTotalChars": 50_000, "budgetTokensEstimate": 12_500}
    assert document["systemPromptSharePct"] == pytest.approx(100 * snapshot.estimated_tokens / 128_000, abs=1e-4)
    assert document["live"]["currentContextTokens"] == 112_000
    assert len(document["sections"]) == 8
    assert all("content" not in section for section in document["sections"])
    assert "detail" not in document
    (section,) = (found for found in document["sections"] if found["key"] == "memory:Workspace Memory")
    assert section["boosts"] == [{"reason": "symbol", "points": 16, "applied": 10, "evidence": "StreamingLoop"}]
    assert section["cut"]["removedChars"] == section["cut"]["end"] - section["cut"]["start"]


def test_each_of_two_equal_keys_can_be_seen() -> None:
    assert inspect_document(request(), "rules")["detail"]["content"] == "First rules."
    assert inspect_document(request(), "rules#2")["detail"]["content"].startswith("Second")
    assert "detail" not in inspect_document(request(), "rules#3")


def test_answers_and_errors(folder: SnapshotFolder) -> None:
    result = asked(folder, inspect(sessionId="s1", queryHint="another query", detailKey="rules"))["result"]
    assert (result["requestNumber"], result["detail"]["content"]) == (2, "First rules.")
    assert asked(folder, inspect(sessionId="a b/c"))["result"]["requestNumber"] == 1
    listed = {"jsonrpc": "2.0", "id": 2, "method": "context.sessions", "params": []}
    assert set(asked(folder, listed)["result"]["sessions"]) == {"a b/c", "s1", "bad"}
    by_position = {**inspect(), "params": ["s1", "", "rules#2"]}
    assert asked(folder, by_position)["result"]["detail"]["ref"] == "rules#2"
    errors: list[tuple[Any, int]] = [
        (inspect(sessionId="nobody"), -32001),
        (inspect(sessionId="bad"), -32002),
        *(
            (inspect(**params), -32602)
            for params in ({}, {"sessionId": ""}, {"sessionId": 5}, {"sessionId": "s1", "o": ""})
        ),
        ({**inspect(), "params": ["a", "b", "c", "d"]}, -32602),
        ({**inspect(), "method": "no"}, -32601),
        ({**inspect(), "jsonrpc": "1.0"}, -32600),
        ({**inspect(), "id": []}, -32600),
        ([], -32600),
        (5, -32600),
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[" * 100_000, -32700),
    ]
    for message, code in errors:
        assert asked(folder, message)["error"]["code"] == code, message
    notification = {name: value for name, value in inspect(sessionId="nobody").items() if name != "id"}
    assert asked(folder, notification) is None
    assert [one["id"] for one in asked(folder, [notification, listed, inspect()])] == [2, 1]


def test_the_socket(server: ContextServer, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(str(server.server_address))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with socket.socket(socket.AF_UNIX) as silent, socket.socket(socket.AF_UNIX) as peer:
        silent.connect(str(path))
        peer.connect(str(path))
        message = json.dumps(inspect(sessionId="s1")).encode()
        for piece in (message[:9], message[9:] + b"\nnonsense\n" + message):
            peer.sendall(piece)
        peer.shutdown(socket.SHUT_WR)  # a last line needs no newline
        with peer.makefile("rb") as lines:
            first, wrong, second = (json.loads(line) for line in lines)
        assert first == second
        assert wrong["error"]["code"] == -32700
    assert json.loads(call(path, b" " * (1 << 20)))["error"]["code"] == -32600
    with pytest.raises(ConfigError, match="another server"):
        ContextServer(path, server.folder)
    monkeypatch.setattr(serving.os, "geteuid", lambda: os.getuid() + 1)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(path))
        assert stranger.recv(1) == b""


def test_paths_that_will_not_do(tmp_path: Path, folder: SnapshotFolder) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    for path, why in (
        (file, "not a socket"),
        (tmp_path / ("x" * 120), "107 bytes"),
        (shared / "s", "others may write"),
    ):
        with pytest.raises(ConfigError, match=why):
            ContextServer(path, folder)
    assert file.read_text() == "x"
    dead = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(dead))
    with ContextServer(dead, folder):
        assert dead.exists()
    assert not dead.exists()
