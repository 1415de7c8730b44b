"""The model server that real hosts are run against, and the table that is written from what they did."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tools.hosts import __main__ as program
from tools.hosts.checks import CHECKS, LIMITS
from tools.hosts.client import NPM
from tools.hosts.clients import CLIENTS
from tools.hosts.model import ModelServer, Script, ToolCall

TOOL = {"name": "run", "description": "d", "input_schema": {}}
ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # protocol: path, the first request, what the second one holds more
    "messages": (
        "/v1/messages", {"tools": [TOOL], "messages": [{"role": "user", "content": "go"}]},
        {"messages": [{"role": "user", "content": "go"}, {"role": "user", "content": [{"type": "tool_result", "content": "ran"}]}]},
    ),
    "responses": (
        "/v1/responses", {"tools": [{"type": "namespace", "tools": [TOOL]}], "input": [{"role": "user", "content": "go"}]},
        {"input": [{"role": "user", "content": "go"}, {"type": "function_call_output", "output": "ran"}]},
    ),
    "chat": (
        "/v1/chat/completions", {"tools": [{"type": "function", "function": TOOL}], "messages": [{"role": "user", "content": "go"}]},
        {"messages": [{"role": "user", "content": "go"}, {"role": "tool", "content": "ran"}]},
    ),
    "gemini": (
        "/v1beta/models/x:generateContent",
        {"tools": [{"functionDeclarations": [TOOL]}], "contents": [{"role": "user", "parts": [{"text": "go"}]}]},
        {"contents": [{"role": "user", "parts": [{"text": "go"}, {"functionResponse": {"response": {"output": "ran"}}}]}]},
    ),
}  # fmt: skip


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer(
        [Script(["other"], "elsewhere"), Script([ToolCall(("absent", "run"), {"command": "ls"}), "the end"], "go")]
    )
    yield made
    made.close()


def post(server: ModelServer, path: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return str(reply.read().decode())


@pytest.mark.parametrize("protocol", ASKED)
@pytest.mark.parametrize("stream", [False, True])
def test_each_protocol_follows_the_script(server: ModelServer, protocol: str, stream: bool) -> None:
    path, first, more = ASKED[protocol]
    path = path.replace("generateContent", "streamGenerateContent") if stream else path
    called = post(server, path, {**first, "stream": stream})
    assert '"run"' in called
    assert "ls" in called
    assert called.startswith(("data:", "event:")) == stream
    ended = post(server, path, {**first, **more, "stream": stream})
    assert "the end" in ended
    assert server.results == ["ran"]
    assert [one.prompts.strip() for one in server.turns] == ["go", "go"]


def test_what_offers_no_tools_is_no_turn(server: ModelServer) -> None:
    assert "a title" in post(server, "/v1/messages", {"messages": [{"role": "user", "content": "go"}]})
    assert server.turns == []


def test_the_table_is_written_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "hosts.md"
    page.write_text(f"before\n{program.BEGIN}\nformer text\n{program.END}\nafter\n")
    monkeypatch.setattr(program, "PAGE", page)
    found = {name: {"state": "yes", "seen": "", "limit": None} for name in CHECKS}
    found["cost"]["seen"] = "six calls take 0.01 s more; an event in the hook: median 0.3 ms"
    found["typed"]["state"] = "none"
    found["waits"]["state"] = "no"
    found["masks-failed-server"] = {"state": "cannot", "seen": "", "limit": "it cannot"}
    program.write_page({"claude": {"version": "1.2.3", "checks": found}})
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "former text" not in text
    assert "| | claude 1.2.3 |" in text
    assert "| cannot (1) |" in text
    assert "(1) it cannot." in text
    assert "| 0.3 ms |" in text
    assert "| **no** |" in text


def test_limits_are_of_checks_that_are_made() -> None:
    assert {check for _, check in LIMITS} <= set(CHECKS)
    assert {name for name, _ in LIMITS} <= set(CLIENTS) == set(NPM)
