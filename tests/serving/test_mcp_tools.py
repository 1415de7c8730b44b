"""What an agent may ask over MCP, by the official client in both revisions; it can allow nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runs.repository import made_plane
from tipstaff.hosts.approvals import pending_calls
from tipstaff.plane import GuidanceControlPlane
from tipstaff.store.state import state_folder

mcp: Any = pytest.importorskip("mcp", reason="the extra serve has it")
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


@pytest.fixture
def plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GuidanceControlPlane]:
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    sops = tmp_path / "repository" / "docs" / "sops"
    sops.mkdir(parents=True)
    (sops / "release.md").write_text(
        "---\ntitle: Release\napplies_to: ['src/**']\n---\n# Release\n\nTag the commit, then build.\n"
    )
    with made_plane(tmp_path / "repository") as plane:
        yield plane


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_can_be_asked(plane: GuidanceControlPlane, mode: str) -> None:
    from tipstaff.serving.mcp_tools import server

    async def session() -> None:
        async with mcp.Client(server(plane), mode=mode) as client:

            async def ask(name: str, **arguments: Any) -> Any:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                return result.structured_content

            tools = {one.name: one for one in (await client.list_tools()).tools}
            assert not any("approv" in name or "allow" in name for name in tools)
            assert tools["gate_check"].annotations.read_only_hint
            assert tools["gate_check"].output_schema["properties"]["decision"] == {
                "title": "Decision",
                "type": "string",
            }
            found = await ask("gate_check", tool="Bash", params={"command": "git reset --hard"})
            assert (found["decision"], found["rules"]) == ("require-confirmation", ["git.reset-hard"])
            rules = await ask("retrieve_rules", task="Fix the failing test")
            assert "TST-1" in {one["id"] for one in rules["rules"]}
            assert "Never commit credentials" in rules["constitution"]
            secrets = await ask("scan_secrets", text=f"key {TOKEN}")
            assert secrets["found"][0]["start"] == 4
            explained = await ask("explain", command=f"rm -rf build; echo {TOKEN}")
            assert "commands" in explained
            assert await ask("undo_list") == {"calls": []}
            run = (await ask("run_start", task="Fix it"))["run_id"]
            assert "tests-pass" in str(await ask("run_finish", run_id=run, files=["src/a.py"]))
            assert (await client.call_tool("run_finish", {"run_id": "none"})).is_error
            text = (await client.read_resource("rules://constitution")).contents[0].text
            assert "Never commit credentials" in text
            assert (await client.read_resource("rule://TST-1")).contents[0].text.startswith("Run the whole")
            for one in (await client.list_prompts()).prompts:
                assert "Tag the commit" in str((await client.get_prompt(one.name)).messages)
            assert TOKEN not in json.dumps([secrets, explained])

    asyncio.run(session())
    assert pending_calls(state_folder()) == [], "asking leaves nothing that a person could allow by mistake"
    (event,) = plane.ledger.events()
    assert (event.task, event.outcome_accepted, event.agent_id) == ("Fix it", None, "mcp")
