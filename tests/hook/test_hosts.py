"""Each host's events, and the bytes that it gets back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hook.running import Bench

HARMLESS, DESTRUCTIVE, CONFIRM = "git status", "rm -rf /", "git reset --hard"


def events(bench: Bench) -> dict[str, Any]:
    cwd = str(bench.repository)

    def codex(command: str, tool: str = "Bash") -> dict[str, Any]:
        return {
            "session_id": "s", "turn_id": "t", "transcript_path": None, "cwd": cwd, "hook_event_name": "PreToolUse",
            "model": "m", "permission_mode": "default", "tool_name": tool, "tool_input": {"command": command},
            "tool_use_id": "u",
        }  # fmt: skip

    def gemini(command: str) -> dict[str, Any]:
        return {
            "session_id": "s", "transcript_path": "/t", "cwd": cwd, "hook_event_name": "BeforeTool",
            "timestamp": "2026-01-01T00:00:00Z", "tool_name": "run_shell_command", "tool_input": {"command": command},
        }  # fmt: skip

    def cursor(event: str, **more: Any) -> dict[str, Any]:
        return {
            "conversation_id": "c", "generation_id": "g", "model": "m", "hook_event_name": event, "cursor_version": "2.1.0",
            "workspace_roots": [cwd], "user_email": None, "transcript_path": None, **more,
        }  # fmt: skip

    def copilot(command: str) -> dict[str, Any]:
        return {"sessionId": "s", "timestamp": 1, "cwd": cwd, "toolName": "bash", "toolArgs": {"command": command}}

    return {"codex": codex, "gemini": gemini, "cursor": cursor, "copilot": copilot, "claude": bench.claude}


def test_claude(bench: Bench) -> None:
    assert bench.run(bench.claude(HARMLESS), "--host", "claude") == (0, b"", b"")
    denied = bench.run(bench.claude(DESTRUCTIVE), "--host", "claude")
    assert denied.status == 0
    assert denied.stdout.startswith(
        b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"'
    )
    assert denied.reply()["hookSpecificOutput"]["permissionDecisionReason"].strip()
    asked = bench.run(bench.claude(CONFIRM), "--host", "claude").reply()["hookSpecificOutput"]
    assert asked["permissionDecision"] == "ask"
    assert "tipstaff approve " in asked["permissionDecisionReason"]


def test_claude_asks_nobody_where_nobody_is_there(bench: Bench) -> None:
    for answer in (
        bench.run(bench.claude(CONFIRM), "--host", "claude", "--unattended"),
        bench.run(bench.claude(CONFIRM, permission_mode="dontAsk"), "--host", "claude"),
        bench.run(bench.claude(CONFIRM), "--host", "claude", environment={"TIPSTAFF_UNATTENDED": "1"}),
    ):
        assert answer.decision() == "deny"


def test_a_subagents_call_is_judged_like_any_other(bench: Bench) -> None:
    answer = bench.run(bench.claude(DESTRUCTIVE, agent_id="a-7", agent_type="Explore"), "--host", "claude")
    assert answer.decision() == "deny"
    assert bench.spool()[-1]["agent"] == "a-7"


def test_claudes_permission_request(bench: Bench) -> None:
    denied = bench.run(bench.claude(DESTRUCTIVE, hook_event_name="PermissionRequest"), "--host", "claude").reply()
    assert denied["hookSpecificOutput"]["hookEventName"] == "PermissionRequest"
    assert denied["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    # Whoever is asked already is not asked twice.
    assert bench.run(bench.claude(CONFIRM, hook_event_name="PermissionRequest"), "--host", "claude").stdout == b""


def test_codex_never_hears_what_it_takes_for_a_failure(bench: Bench) -> None:
    codex = events(bench)["codex"]
    assert bench.run(codex(HARMLESS), "--host", "codex") == (0, b"", b"")
    for command in (DESTRUCTIVE, CONFIRM):
        reply = bench.run(codex(command), "--host", "codex").reply()
        assert reply.keys() == {"hookSpecificOutput"}
        inner = reply["hookSpecificOutput"]
        assert inner.keys() == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
        assert inner["permissionDecision"] == "deny"
        assert inner["permissionDecisionReason"].strip()
    assert "A person must allow this first" in inner["permissionDecisionReason"]


def test_codex_patches_are_read_as_patches(bench: Bench) -> None:
    codex = events(bench)["codex"]
    patch = "*** Begin Patch\n*** Update File: .codex/hooks.json\n@@\n-{}\n+{ }\n*** End Patch"
    assert bench.run(codex(patch, "apply_patch"), "--host", "codex").decision() == "deny"
    words = "*** Begin Patch\n*** Add File: notes.md\n+rm -rf / is never run\n*** End Patch"
    assert bench.run(codex(words, "apply_patch"), "--host", "codex").stdout == b""


def test_gemini(bench: Bench) -> None:
    gemini = events(bench)["gemini"]
    assert bench.run(gemini(HARMLESS), "--host", "gemini") == (0, b"{}", b"")
    assert bench.run(gemini(DESTRUCTIVE), "--host", "gemini").stdout.startswith(b'{"decision":"deny","reason":"')
    assert bench.run(gemini(CONFIRM), "--host", "gemini").stdout.startswith(b'{"decision":"deny","reason":"')
    # The only text that a person sees there.
    reply = bench.run(gemini(CONFIRM), "--host", "gemini").reply()
    assert reply["systemMessage"] == reply["reason"]
    assert "systemMessage" not in bench.run(gemini(DESTRUCTIVE), "--host", "gemini").reply()


def test_cursor_asks_only_where_a_question_is_put(bench: Bench) -> None:
    cursor, cwd = events(bench)["cursor"], str(bench.repository)
    shell = {"command": HARMLESS, "cwd": cwd, "sandbox": False}
    assert bench.run(cursor("beforeShellExecution", **shell)) == (0, b'{"permission":"allow"}', b"")
    assert bench.run(cursor("beforeShellExecution", **{**shell, "command": CONFIRM})).decision() == "ask"
    assert (
        bench.run(cursor("beforeShellExecution", **{**shell, "command": CONFIRM, "sandbox": True})).decision() == "deny"
    )
    tool = {"tool_name": "Shell", "tool_input": {"command": CONFIRM, "working_directory": cwd}, "cwd": cwd}
    reply = bench.run(cursor("preToolUse", **tool)).reply()
    assert reply["permission"] == "deny"
    assert reply["user_message"] == reply["agent_message"]
    old = {**cursor("preToolUse", **tool), "cursor_version": "1.7.44"}
    assert {"userMessage", "agentMessage"} < bench.run(old).reply().keys()


def test_nobody_is_asked_in_cursors_background_agents(bench: Bench) -> None:
    shell = {"command": CONFIRM, "cwd": str(bench.repository), "sandbox": False, "is_background_agent": True}
    assert bench.run(events(bench)["cursor"]("beforeShellExecution", **shell)).decision() == "deny"


def test_cursors_other_events(bench: Bench) -> None:
    cursor = events(bench)["cursor"]
    read = cursor("beforeReadFile", file_path=str(bench.repository / "a.py"), content="x", attachments=[])
    assert bench.run(read).stdout == b'{"permission":"allow"}'
    mcp = cursor("beforeMCPExecution", tool_name="db", tool_input='{"sql": "DROP TABLE users"}', url="http://x")
    assert bench.run(mcp).decision() == "ask"
    assert bench.run(cursor("beforeSubmitPrompt", prompt="hi", attachments=[])).reply()["continue"] is True
    assert bench.run(cursor("subagentStart", task="x")).stdout == b'{"permission":"allow"}'
    assert bench.run(cursor("afterFileEdit", file_path="x")).stdout == b"{}"


def test_cursors_empty_cwd_is_the_first_workspace(bench: Bench) -> None:
    cursor = events(bench)["cursor"]
    bench.run(cursor("beforeShellExecution", command=HARMLESS, cwd="", sandbox=False))
    assert bench.spool()[-1]["cwd"] == str(bench.repository)


def test_copilot(bench: Bench) -> None:
    copilot = events(bench)["copilot"]
    assert bench.run(copilot(HARMLESS), "--host", "copilot") == (0, b"", b"")
    denied = bench.run(copilot(DESTRUCTIVE), "--host", "copilot")
    assert denied.stdout.startswith(b'{"permissionDecision":"deny","permissionDecisionReason":"')
    assert "hookSpecificOutput" not in denied.reply()
    assert bench.run(copilot(CONFIRM), "--host", "copilot").decision() == "ask"


def test_copilots_parameters_may_be_a_text(bench: Bench) -> None:
    event = events(bench)["copilot"](HARMLESS)
    assert bench.run({**event, "toolArgs": '{"command": "rm -rf /"}'}, "--host", "copilot").decision() == "deny"
    assert bench.run({**event, "toolArgs": '{"command": "git status"}'}, "--host", "copilot").stdout == b""
    # Text that is not JSON could mean anything.
    assert bench.run({**event, "toolArgs": '{"command": "git sta'}, "--host", "copilot").decision() == "ask"


def test_copilots_pascal_case_is_answered_both_ways(bench: Bench) -> None:
    event = {
        "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": str(bench.repository),
        "tool_name": "Bash", "tool_input": {"command": DESTRUCTIVE},
    }  # fmt: skip
    reply = bench.run(event, "--host", "copilot").reply()
    assert reply["permissionDecision"] == "deny"
    assert reply["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert reply["hookSpecificOutput"]["hookEventName"] == "PreToolUse"


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "cursor", "copilot"])
def test_the_host_is_found_from_the_event(bench: Bench, host: str) -> None:
    made = events(bench)
    event = (
        made["cursor"]("beforeShellExecution", command=DESTRUCTIVE, cwd="/x", sandbox=False)
        if host == "cursor"
        else made[host](DESTRUCTIVE)
    )
    bare = bench.run(event)
    assert bare.decision() == "deny"
    assert bare == bench.run(event, "--host", host)
    assert bench.spool()[-1]["host"] == host


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "cursor", "copilot"])
def test_an_unknown_event_is_not_stopped_and_not_answered(bench: Bench, host: str) -> None:
    answer = bench.run({"hook_event_name": "SomethingNew", "cwd": "/x", "session_id": "s"}, "--host", host)
    assert answer.status == 0
    assert answer.stdout in {b"", b"{}"}


def test_what_a_servers_tool_amounts_to_is_judged(bench: Bench) -> None:
    for force, decision in ((True, "ask"), (False, "")):
        event = bench.claude("", tool_name="mcp__git__git_push", tool_input={"branch": "topic", "force": force})
        assert bench.run(event, "--host", "claude").decision() == decision


@pytest.mark.parametrize("tool", ["mcp__db__query", "SomethingNew", "WebSearch", "Task"])
def test_unknown_tools_with_harmless_parameters_run(bench: Bench, tool: str) -> None:
    event = bench.claude(
        "x", tool_name=tool, tool_input={"query": "select 1", "n": 3, "deep": {"list": [1, None, True]}}
    )
    assert bench.run(event, "--host", "claude").stdout == b""


def test_a_shell_call_without_a_command_is_not_let_through(bench: Bench) -> None:
    for given in ({}, {"command": ""}, None, [], 7):
        answer = bench.run(bench.claude("", tool_input=given), "--host", "claude")
        assert answer.decision() == "ask", given
        assert "can be read" in answer.reply()["hookSpecificOutput"]["permissionDecisionReason"]


def test_repeated_members_are_both_judged(bench: Bench) -> None:
    event = bench.run(
        b'{"hook_event_name":"PreToolUse","cwd":"/x","tool_name":"Bash","tool_input":{"command":"rm -rf /","command":"ls"}}',
        "--host",
        "claude",
    )
    assert event.decision() == "deny"


def test_a_call_that_names_a_folder_of_its_own_is_judged_there(bench: Bench) -> None:
    (bench.repository / "build").mkdir()
    event = bench.claude("rm -rf build", tool_input={"command": "rm -rf *", "workdir": "/"})
    assert bench.run(event, "--host", "claude").decision() == "deny"
    event = bench.claude("", tool_input={"command": "rm -rf *", "workdir": "build"})
    assert bench.run(event, "--host", "claude").decision() in {"", "ask"}
