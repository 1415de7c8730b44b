"""The examples run: the whole loop, and the Agent SDK's hook without the SDK."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_loop_prunes_compacts_and_stays_within_its_window() -> None:
    command = [sys.executable, str(EXAMPLES / "context_loop.py")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    assert any("tokens taken out" in line for line in lines)
    assert any("system" in line and "payment data" in line for line in lines)
    totals = [line.split(": ", 1)[1].split() for line in lines if line.endswith(" tokens")]
    assert len(totals) == 16
    assert all(int(words[0]) <= int(words[2]) for words in totals)


def test_the_hook_keeps_facts_and_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    spec = importlib.util.spec_from_file_location("agent_sdk_hook", EXAMPLES / "agent_sdk_hook.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(SystemExit, match="needs the Claude Agent SDK: pip install claude-agent-sdk"):
        module.main()
    call = {"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "a.py", "content": "x"}}
    lines = ["no json", json.dumps({"type": "assistant", "message": {"role": "assistant", "content": [call]}}), "{}"]
    transcript = tmp_path / "session.jsonl"
    transcript.write_text("\n".join(lines), encoding="utf-8")
    keeper = module.Keeper()
    assert asyncio.run(keeper.on_prompt({}, None, None)) == {}
    asyncio.run(keeper.before_compaction({"transcript_path": str(transcript)}, None, None))
    context = asyncio.run(keeper.on_prompt({}, None, None))["hookSpecificOutput"]["additionalContext"]
    assert context.endswith("Modified file: a.py")
    assert asyncio.run(keeper.on_prompt({}, None, None)) == {}
