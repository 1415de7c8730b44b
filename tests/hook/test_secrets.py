"""Secrets: no call carries one, no output shows one, and nothing that is kept holds one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.gates.values import token
from tests.hook.running import Bench, aws_key, default_image
from tipstaff.gates.config import GateConfig
from tipstaff.gates.image.policy import build_image
from tipstaff.gates.image.policy_file import write_policy


def kept(bench: Bench) -> bytes:
    """Return all that is in the state folder but the policies."""
    parts: list[bytes] = []
    for folder, _, names in os.walk(bench.state):
        parts += [Path(folder, name).read_bytes() for name in names if not name.endswith((".policy", ".checked"))]
    return b"".join(parts)


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        ("Bash", "command"),
        ("Write", "content"),
        ("Edit", "new_string"),
        ("mcp__mail__send", "body"),
        ("apply_patch", "command"),
    ],
)
def test_a_secret_in_a_call_is_stopped_and_shown_nowhere(bench: Bench, tool: str, field: str) -> None:
    secret = aws_key()
    event = bench.claude("", tool_name=tool, tool_input={"file_path": "a.py", field: f"# {secret} \n"})
    answer = bench.run(event, "--host", "claude")
    assert answer.decision() == "deny"
    assert b"A secret (aws-" in answer.stdout
    assert field.encode() in answer.stdout
    assert secret.encode() not in answer.stdout + kept(bench)
    assert bench.spool()[-1]["secrets"] >= 1


def test_a_password_is_one_by_its_fields_name(bench: Bench) -> None:
    value = "tR7" + "x9Kq2mWz" + "!v"
    answer = bench.run(bench.claude("", tool_name="mcp__x__login", tool_input={"password": value}), "--host", "claude")
    assert answer.decision() == "deny"
    assert value.encode() not in answer.stdout + kept(bench)


def test_a_secret_in_a_fields_name_is_found(bench: Bench) -> None:
    event = bench.claude("", tool_name="mcp__x__set", tool_input={"env": {aws_key(): "1"}})
    answer = bench.run(event, "--host", "claude")
    assert answer.decision() == "deny"
    assert aws_key().encode() not in answer.stdout + kept(bench)


def test_taking_a_secret_away_is_no_secret(bench: Bench) -> None:
    given = {"file_path": "a.py", "old_string": f"k = '{aws_key()}'", "new_string": "k = os.environ['K']"}
    answer = bench.run(bench.claude("", tool_name="Edit", tool_input=given), "--host", "claude")
    assert answer.stdout == b""
    assert aws_key().encode() not in kept(bench)


@pytest.mark.parametrize("former", [True, False])
def test_a_secret_in_what_a_block_replaces_does_not_count(bench: Bench, former: bool) -> None:
    old, new = f"k = '{aws_key()}'", "k = os.environ['K']"
    if not former:
        old, new = new, old
    given = {"path": "a.py", "diff": f"------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE\n"}
    answer = bench.run(bench.claude("", tool_name="replace_in_file", tool_input=given), "--host", "claude")
    assert answer.decision() == ("" if former else "deny")
    assert aws_key().encode() not in answer.stdout + kept(bench)


def test_what_waits_for_a_person_holds_none_even_where_the_gate_is_off(bench: Bench) -> None:
    write_policy(build_image(config=GateConfig(secrets=False), check=False), bench.repository, state=bench.state)
    command = f"export K={aws_key()}; git reset --hard"
    answer = bench.run(bench.claude(command), "--host", "claude")
    assert answer.decision() == "ask"
    assert aws_key().encode() not in answer.stdout + kept(bench)
    assert bench.pending()[0]["fields"]["command"].endswith("; git reset --hard")
    assert bench.run(bench.claude(f"export K={aws_key()}"), "--host", "claude").stdout == b""


def test_outputs_are_masked_in_each_hosts_own_shape(bench: Bench) -> None:
    secret = aws_key()
    text = f"found {secret} here"
    claude = bench.claude(
        "env",
        hook_event_name="PostToolUse",
        tool_response={"stdout": text, "stderr": "", "interrupted": False, "n": 1.5},
    )
    reply = bench.run(claude, "--host", "claude").reply()
    assert reply["systemMessage"].startswith("tipstaff found 1 secret")
    output = reply["hookSpecificOutput"]["updatedToolOutput"]
    assert output.keys() == {"stdout", "stderr", "interrupted", "n"}
    assert (output["interrupted"], output["n"]) == (False, 1.5)
    assert len(output["stdout"]) == len(text)
    assert output["stdout"].endswith(" here")

    codex = bench.run({**claude, "turn_id": "t", "model": "m"}, "--host", "codex").reply()
    assert codex.keys() == {"systemMessage", "decision", "reason"}
    assert codex["decision"] == "block"
    assert " here" in codex["reason"]

    gemini = {**claude, "hook_event_name": "AfterTool", "tool_response": {"llmContent": text, "returnDisplay": text}}
    answered = bench.run(gemini, "--host", "gemini").reply()
    assert answered["decision"] == "deny"
    assert answered["reason"].count(" here") == 1

    copilot = {
        "sessionId": "s", "cwd": "/x", "toolName": "bash", "toolArgs": {},
        "toolResult": {"resultType": "success", "textResultForLlm": text},
    }  # fmt: skip
    changed = bench.run(copilot, "--host", "copilot").reply()["modifiedResult"]
    assert changed["resultType"] == "success"
    assert changed["textResultForLlm"].endswith(" here")

    cursor: dict[str, Any] = {
        "conversation_id": "c", "hook_event_name": "postToolUse", "cursor_version": "2.1.0", "tool_name": "MCP:env",
        "tool_output": json.dumps({"content": [{"text": text}]}),
    }  # fmt: skip
    masked = bench.run(cursor, "--host", "cursor").reply()
    assert masked["updated_mcp_tool_output"]["content"][0]["text"].endswith(" here")
    noted = bench.run({**cursor, "tool_name": "Shell"}, "--host", "cursor").reply()
    assert "does not let it mask" in noted["additional_context"]
    for reply in (output, codex, answered, changed, masked, noted):
        assert secret not in json.dumps(reply)
    assert secret.encode() not in kept(bench)


def test_outputs_without_secrets_stay(bench: Bench) -> None:
    event = bench.claude("ls", hook_event_name="PostToolUse", tool_response={"stdout": "a\nb\n"})
    assert bench.run(event, "--host", "claude") == (0, b"", b"")


def test_a_secret_that_a_host_shows_twice_is_counted_once(bench: Bench) -> None:
    text = f"key={aws_key()}"
    event = {
        "session_id": "s", "cwd": str(bench.repository), "hook_event_name": "AfterTool", "timestamp": "x",
        "tool_name": "run_shell_command", "tool_input": {}, "tool_response": {"llmContent": text, "returnDisplay": text},
    }  # fmt: skip
    assert "1 secret " in str(bench.run(event, "--host", "gemini").reply())
    assert bench.spool()[-1]["secrets"] == 1


def test_an_output_full_of_secrets_is_masked_to_the_last(bench: Bench) -> None:
    text = "\n".join(f"{aws_key()} {number}" for number in range(3000))
    event = bench.claude("env", hook_event_name="PostToolUse", tool_response={"stdout": text})
    answer = bench.run(event, "--host", "claude")
    assert aws_key().encode() not in answer.stdout
    assert answer.reply()["hookSpecificOutput"]["updatedToolOutput"]["stdout"].endswith(" 2999")


def test_the_default_policy_brings_a_table_or_the_program_does(bench: Bench) -> None:
    assert default_image()
    assert bench.run(bench.claude(f"export K={aws_key()}"), "--host", "claude").decision() == "deny"


@pytest.mark.parametrize("host", ["claude", "qwen", "copilot"])
def test_the_output_of_a_failed_call_cannot_be_masked_and_is_reported(bench: Bench, host: str) -> None:
    text = f"Exit code 3\naws_access_key_id = {aws_key()}\n"
    event: dict[str, Any] = bench.claude("cat keys.txt", hook_event_name="PostToolUseFailure", error=text)
    if host == "copilot":
        event = {
            "sessionId": "s",
            "cwd": str(bench.repository),
            "toolName": "db-query",
            "toolArgs": {"sql": "x"},
            "error": text,
        }
        answer = bench.run(event, "--host", "copilot", "--event", "postToolUseFailure").reply()
        note = answer["additionalContext"]
    else:
        answer = bench.run(event, "--host", host).reply()
        note = answer["hookSpecificOutput"]["additionalContext"]
        assert answer["hookSpecificOutput"]["hookEventName"] == "PostToolUseFailure"
    assert "does not let it be masked. Do not repeat it" in note
    assert aws_key() not in str(answer)
    line = bench.spool()[-1]
    assert (line["decision"], line["secrets"]) == ("warn", 1)
    assert aws_key() not in str(line)


def test_a_failed_call_without_secrets_is_recorded_alone(bench: Bench) -> None:
    event = bench.claude("false", hook_event_name="PostToolUseFailure", error="Exit code 1")
    assert bench.run(event, "--host", "claude") == (0, b"", b"")
    assert bench.spool()[-1]["event"] == "PostToolUseFailure"


@pytest.mark.parametrize(("count", "words"), [(1, "masked it with asterisks"), (2, "masked them with asterisks")])
def test_the_note_about_an_output_agrees_in_number(bench: Bench, count: int, words: str) -> None:
    text = " ".join([aws_key(), token()][:count])
    event = bench.claude("env", hook_event_name="PostToolUse", tool_response={"stdout": text})
    reply = str(bench.run(event, "--host", "claude").reply())
    assert words in reply
    assert ".  " not in reply
