"""The plugins in the repository are what the tool writes, and their command lines do what they should."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tools.write_plugins import MISSING, ROOT, written

from tipstaff.hosts.host import handlers_of

WITH_HOOKS = ("claude", "codex", "cursor", "gemini")


def lines_of(host: str) -> dict[str, list[str]]:
    """Return each event's command lines of a plugin."""
    found: dict[str, Any] = json.loads(written()[f"plugins/{host}/hooks/hooks.json"])["hooks"]
    return {
        event: [one["command"] for entry in entries for one in handlers_of(entry)] for event, entries in found.items()
    }


def test_committed_plugins_are_what_is_written() -> None:
    texts = written()
    assert {path: (ROOT / path).read_text("utf-8") for path in texts} == texts
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "plugins").rglob("*") if path.is_file()}
    assert there == {path for path in texts if path.startswith("plugins/")}


def test_no_plugin_names_an_absolute_path() -> None:
    assert not [path for path, text in written().items() if str(Path.home()) in text or "/usr/" in text]


@pytest.mark.parametrize("host", WITH_HOOKS)
def test_who_lacks_the_program_is_told_and_not_stopped(host: str, tmp_path: Path) -> None:
    told = []
    for event, lines in lines_of(host).items():
        for line in lines:
            done = subprocess.run(
                ["/bin/sh", "-c", line],
                cwd=tmp_path,
                env={"PATH": str(tmp_path)},
                input=b"{}",
                capture_output=True,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, b""), event
            reply = json.loads(done.stdout) if done.stdout.strip() else {}
            assert reply.get("permission", "allow") == "allow"
            told += [event] if MISSING in reply.values() else []
    assert [event.lower() for event in told] == ["sessionstart"]


@pytest.mark.parametrize(
    ("host", "event"), [("claude", "PreToolUse"), ("codex", "PreToolUse"), ("gemini", "BeforeTool")]
)
def test_a_destructive_call_is_stopped_through_the_plugin(host: str, event: str, tmp_path: Path) -> None:
    from tipstaff.hosts.host import hook_program

    tool = "run_shell_command" if host == "gemini" else "Bash"
    call = {
        "session_id": "s",
        "cwd": str(tmp_path),
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": {"command": "rm -rf /"},
    }
    done = subprocess.run(
        ["/bin/sh", "-c", lines_of(host)[event][0]],
        cwd=tmp_path,
        env={
            "PATH": f"{hook_program().parent}{os.pathsep}/usr/bin:/bin",
            "HOME": str(tmp_path),
            "XDG_STATE_HOME": str(tmp_path / "state"),
        },
        input=json.dumps(call).encode(),
        capture_output=True,
        check=True,
    )
    reply = json.loads(done.stdout)
    assert (reply.get("decision") or reply["hookSpecificOutput"]["permissionDecision"]) in {"deny", "block"}
