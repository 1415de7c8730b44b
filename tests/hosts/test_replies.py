"""What hosts do with replies: every trap of their protocols, as the doctor sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tipstaff.hosts import HOST_NAMES, host_named
from tipstaff.hosts.host import HookRun, Registered

PROGRAM = Path("/opt/tipstaff-hook")


def outcome(host: str, run: HookRun, event: str = "", **entry: Any) -> tuple[str, bool]:
    named = host_named(host)
    event = event or named.tool_event
    made = {**named.entry(event, PROGRAM), **entry}
    effect = named.read_reply(Registered(event, (str(PROGRAM),), "", made), run)
    assert effect.why
    return effect.outcome, effect.failed


def replied(document: Any, status: int = 0) -> HookRun:
    return HookRun(status, json.dumps(document).encode())


def inner(**members: Any) -> HookRun:
    return replied({"hookSpecificOutput": {"hookEventName": "PreToolUse", **members}})


RUNS, FAILS, ASKS, STOPPED = ("runs", False), ("runs", True), ("asks", False), ("stopped", False)


@pytest.mark.parametrize(
    ("host", "run", "expected"),
    [
        # A missing program, a crash, and a timeout.
        ("claude", HookRun(127), FAILS),
        ("claude", HookRun(1), FAILS),
        ("claude", HookRun(-11), FAILS),
        ("claude", HookRun(None), FAILS),
        ("codex", HookRun(127), FAILS),
        ("codex", HookRun(1, stderr=b"x"), FAILS),
        ("codex", HookRun(None), FAILS),
        ("gemini", HookRun(127), FAILS),
        ("gemini", HookRun(1), FAILS),
        ("gemini", HookRun(None), FAILS),
        ("copilot", HookRun(127), ("stopped", True)),
        ("copilot", HookRun(1), ("stopped", True)),
        ("copilot", HookRun(None), FAILS),
        # Exit status 2 stops; for Codex only with words.
        ("claude", HookRun(2), STOPPED),
        ("gemini", HookRun(2), STOPPED),
        ("copilot", HookRun(2), STOPPED),
        ("cursor", HookRun(2), STOPPED),
        ("codex", HookRun(2, stderr=b"why"), STOPPED),
        ("codex", HookRun(2, stderr=b" \n"), FAILS),
        # Saying nothing.
        ("claude", HookRun(0), RUNS),
        ("codex", HookRun(0), RUNS),
        ("gemini", HookRun(0), RUNS),
        ("copilot", HookRun(0), RUNS),
        ("cursor", HookRun(0), ("stopped", True)),
        # What is no document, or two of them.
        ("claude", HookRun(0, b"hello"), FAILS),
        ("codex", HookRun(0, b"hello"), FAILS),
        ("gemini", HookRun(0, b"log\n{}"), FAILS),
        ("copilot", HookRun(0, b'{"permissionDecision":"deny"}{}'), FAILS),
        # Claude Code.
        ("claude", inner(permissionDecision="deny"), STOPPED),
        ("claude", inner(permissionDecision="ask"), ASKS),
        ("claude", inner(permissionDecision="defer"), ASKS),
        ("claude", inner(permissionDecision="allow"), RUNS),
        ("claude", replied({"decision": "block"}), STOPPED),
        ("claude", replied({"continue": False}), STOPPED),
        (
            "claude",
            replied({"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "deny"}}),
            FAILS,
        ),
        # Codex: a reason, no question, no bare allow, no other keys.
        ("codex", inner(permissionDecision="deny", permissionDecisionReason="r"), STOPPED),
        ("codex", inner(permissionDecision="deny"), FAILS),
        ("codex", inner(permissionDecision="deny", permissionDecisionReason=" "), FAILS),
        ("codex", inner(permissionDecision="ask", permissionDecisionReason="r"), FAILS),
        ("codex", inner(permissionDecision="allow"), FAILS),
        ("codex", inner(permissionDecision="deny", permissionDecisionReason="r", ruleId="x"), FAILS),
        ("codex", replied({"decision": "block", "reason": "r"}), STOPPED),
        ("codex", replied({"decision": "block"}), FAILS),
        ("codex", replied({"decision": "approve", "reason": "r"}), FAILS),
        ("codex", replied({"continue": False}), FAILS),
        ("codex", replied({"suppressOutput": True}), FAILS),
        ("codex", replied({"systemMessage": "x"}), RUNS),
        ("codex", replied({"ruleId": "x"}), FAILS),
        # Gemini CLI.
        ("gemini", replied({"decision": "deny"}), STOPPED),
        ("gemini", replied({"decision": "block"}), STOPPED),
        ("gemini", replied({"decision": "ask"}), ASKS),
        ("gemini", replied({"continue": False}), STOPPED),
        ("gemini", replied({}), RUNS),
        # Copilot: at the top, not inside.
        ("copilot", replied({"permissionDecision": "deny"}), STOPPED),
        ("copilot", replied({"permissionDecision": "ask"}), ASKS),
        ("copilot", inner(permissionDecision="deny"), RUNS),
        ("copilot", replied({"permissionDecision": "deny"}, 1), ("stopped", True)),
        # Cursor.
        ("cursor", replied({"permission": "deny"}), STOPPED),
        ("cursor", replied({"permission": "ask"}), ASKS),
        ("cursor", replied({"permission": "allow"}), RUNS),
    ],
)
def test_replies(host: str, run: HookRun, expected: tuple[str, bool]) -> None:
    assert outcome(host, run) == expected


def test_cursor_puts_no_question_before_other_tools() -> None:
    assert outcome("cursor", replied({"permission": "ask"}), "preToolUse") == FAILS
    assert outcome("cursor", replied({"permission": "ask"}), "subagentStart")[0] == "stopped"


@pytest.mark.parametrize("run", [HookRun(127), HookRun(1), HookRun(None), HookRun(0, b"x"), HookRun(0)])
def test_cursor_fails_open_unless_configured_otherwise(run: HookRun) -> None:
    assert outcome("cursor", run, failClosed=False) == FAILS
    assert outcome("cursor", run, failClosed=True) == ("stopped", True)


def test_copilot_only_stops_before_tools() -> None:
    assert outcome("copilot", HookRun(1), "postToolUse") == FAILS


@pytest.mark.parametrize("host", [name for name in HOST_NAMES if name != "opencode"])
def test_our_entries_are_known_from_others(host: str) -> None:
    named = host_named(host)
    settings = {"hooks": {named.tool_event: [
        named.entry(named.tool_event, Path("/with space/tipstaff-hook")),
        {"command": "not-tipstaff-hook"}, {"hooks": [{"command": "echo tipstaff-hook"}]}, {"hooks": "x"}, "x", None,
        {"command": 3}, {"command": "'unclosed"}, {"type": "http", "url": "https://x"},
    ], "Other": {}, "More": None}}  # fmt: skip
    found = list(named.registered(settings))
    assert [one.words[0] for one in found] == ["/with space/tipstaff-hook"]
    for odd in ({}, {"hooks": []}, {"hooks": None}):
        assert list(named.registered(odd)) == []
