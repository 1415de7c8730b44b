"""Each block of code in the documentation of contexts runs as it is written, one after the other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.context.requests import request
from tests.context.session.scripts import TOOLS, Turn, script
from tests.context.session.servers import Provider, served
from tipstaff.context.inspecting.snapshot import SnapshotFolder
from tipstaff.serving.inspection import call

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ONE_CALL = "        answer = client.messages.create(model=model, **session.request(messages, tools))\n"


def blocks(
    language: str, file: str = "docs/reference/context.md", after: str = "", until: str = "no such line"
) -> list[str]:
    """Return the blocks of code in a file, those between two lines where they are given."""
    text = (ROOT / file).read_text(encoding="utf-8")
    text = text[text.index(after) :].partition(until)[0]
    return [code for name, code in BLOCK.findall(text) if name == language]


def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(code, "documentation", "exec"), names)
    return names


class ScriptedProvider(Provider):
    """A provider that answers out of a script; `run` is the loop's function that runs a call."""

    def __init__(self, turns: list[Turn]) -> None:
        super().__init__(200_000, 8_192)
        self._steps = [step for turn in turns for step in (*turn.rounds, (turn.answer, []))]
        self._results: dict[str, dict[str, Any]] = {}

    def take(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.next, results = self._steps.pop(0)
        self._results |= {result["tool_use_id"]: result for result in results}
        return super().take(path, body)

    def run(self, call: Any) -> dict[str, Any]:
        return self._results.pop(call.id)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src" / "app").mkdir(parents=True)
    (tmp_path / "src" / "app" / "main.py").write_text("def load_config(): ...\n", encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text("# Shop\n\nAll amounts are cents.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    busy = [turn for turn in script(2, 90) if turn.rounds]
    found = ScriptedProvider([Turn("x", [pair for turn in busy for pair in turn.rounds][:60], busy[0].answer)])
    with served(found) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "local")
        yield found


@pytest.mark.parametrize("streamed", [False, True])
def test_the_loop_of_a_session(streamed: bool, project: Path, provider: ScriptedProvider) -> None:
    loop, stream = blocks("python", "docs/context.md")
    assert ONE_CALL in loop
    if streamed:
        loop = loop.replace(ONE_CALL, "".join(f"        {line}\n" for line in stream.splitlines()))
    names = {"task": "Fix `load_config`", "model": "local", "tools": TOOLS, "run": provider.run}
    run(loop, names)["client"].close()
    assert len(provider.log.tokens) == 61
    assert provider.log.problems == []
    assert provider.log.share > 0.9
    assert "All amounts are cents." in json.dumps(provider.log.bodies[-1]["system"])


def test_the_other_blocks_in_their_order(project: Path) -> None:
    conversation = [{"role": "user", "content": "fix `load_config` in src/app/main.py, then run the tests"}]
    names: dict[str, Any] = {"messages": conversation, "history": conversation, "tools": TOOLS}
    found = blocks("python")
    for code in found:
        run(code, names)
    assert len(found) == 3
    assert "All amounts are cents." in names["prompt"].prompt
    assert names["focus"].active_file_paths == ("src/app/main.py",)
    assert names["store"].obstacles(names["store"].candidates()[0].id)
    assert SnapshotFolder.of_project(".").load("s1").request_number == 1


def test_the_block_of_the_readme(project: Path) -> None:
    (code,) = blocks(
        "python", "README.md", "\n### Keep a session within its window\n", "\n### Check, review, measure\n"
    )
    assert run(code, {})["session"].request([])["max_tokens"] == 8_192


def test_the_message_to_the_server(project: Path) -> None:
    (code,) = blocks("sh")
    shown = re.fullmatch(r"(tipstaff context serve) &\necho '(.*)' \|\n    socat - UNIX-CONNECT:(\S+)\n", code)
    assert shown
    SnapshotFolder.of_project(".").record(request())
    program = f"import sys; from tipstaff.cli import main; sys.exit(main({shown[1].split()[1:]}))"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL) as server:
        try:
            ends = time.monotonic() + 60
            while not Path(shown[3]).exists() and time.monotonic() < ends:
                time.sleep(0.02)
            answer = json.loads(call(Path(shown[3]), shown[2].encode()))["result"]
        finally:
            server.terminate()
    text = (ROOT / "docs" / "reference" / "context.md").read_text(encoding="utf-8")
    table = text.partition("| member |")[2].partition("\n\n")[0]
    members = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    assert {"sessionId", "budget", "requestTokens", "live", "detail"} <= set(members)
    assert [name for name in members if name not in answer and name not in {"ref", "sections"}] == []
