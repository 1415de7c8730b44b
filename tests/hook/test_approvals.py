"""What a person allows: once, for a while, for exactly the same call."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.hook.running import Bench
from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.hosts.approvals import PENDING_KEPT_S, answer, pending_call, pending_calls
from tipstaff.store.keys import private_key

COMMAND = "git reset --hard"


def waiting(bench: Bench, event: dict[str, Any] | None = None, host: str = "claude") -> str:
    bench.run(event or bench.claude(COMMAND), "--host", host)
    (call,) = pending_calls(bench.state)
    return call.code


def allow(bench: Bench, code: str, *, seconds: int = 600, refused: bool = False) -> Path:
    return answer(pending_call(code, bench.state), bench.state, seconds=seconds, refused=refused)


def test_a_call_is_allowed_once(bench: Bench) -> None:
    code = waiting(bench)
    allow(bench, code)
    first = bench.run(bench.claude(COMMAND), "--host", "claude")
    assert first.reply() == {"systemMessage": "A person allowed exactly this call, once."}
    assert bench.spool()[-1]["approved"] == code
    assert bench.run(bench.claude(COMMAND, tool_use_id="u2"), "--host", "claude").decision() == "ask"
    assert bench.run(bench.claude(COMMAND, session_id="s2"), "--host", "claude").decision() == "ask"


def test_a_spool_that_cannot_be_written_costs_the_record_alone(bench: Bench) -> None:
    code = waiting(bench)
    spool = bench.state / "spool.jsonl"
    spool.unlink()
    spool.mkdir()
    allow(bench, code)
    assert "allowed" in str(bench.run(bench.claude(COMMAND), "--host", "claude").reply())


def test_an_answer_goes_into_a_line_of_its_own(bench: Bench) -> None:
    code = waiting(bench)
    with (bench.state / "spool.jsonl").open("ab") as file:
        file.write(b'{"v":1,"at":17')
    allow(bench, code)
    torn, answered, _ = (bench.state / "spool.jsonl").read_bytes().split(b"\n")[-3:]
    assert torn == b'{"v":1,"at":17'
    assert json.loads(answered)["decision"] == "approved"


def test_another_registration_may_ask_about_the_same_call_once(bench: Bench) -> None:
    path = allow(bench, waiting(bench))
    for host in ("claude", "qwen"):
        assert "allowed" in str(bench.run(bench.claude(COMMAND), "--host", host).reply())
    # Whoever replays the event is asked again: its name for the call is no proof.
    for host in ("claude", "qwen"):
        assert bench.run(bench.claude(COMMAND), "--host", host).decision() != "allow"
        assert "allowed" not in str(bench.run(bench.claude(COMMAND), "--host", host).reply())
    assert path.exists()


def test_a_second_question_without_a_name_for_the_call_counts_for_ten_seconds(bench: Bench) -> None:
    event = {key: value for key, value in bench.claude(COMMAND).items() if key != "tool_use_id"}
    allow(bench, waiting(bench, event))
    assert "allowed" in str(bench.run(event, "--host", "claude").reply())
    (mark,) = (bench.state / "used").iterdir()
    at, rest = mark.read_text().split(" ", 1)
    mark.write_text(f"{int(at) - 11} {rest}")
    assert "allowed" not in str(bench.run(event, "--host", "qwen").reply())
    mark.write_text(f"{int(at)} {rest}")
    assert "allowed" in str(bench.run(event, "--host", "qwen").reply())
    assert "allowed" not in str(bench.run(event, "--host", "qwen").reply())


@pytest.mark.parametrize(
    ("host", "before", "after"),
    [
        ("codex", "deny", b'{"systemMessage":"A person'),
        ("gemini", "deny", b'{"systemMessage":"A person'),
        ("copilot", "ask", b""),
    ],
)
def test_every_host_takes_it(bench: Bench, host: str, before: str, after: bytes) -> None:
    event: dict[str, Any] = bench.claude(COMMAND)
    if host == "copilot":
        event = {"sessionId": "s", "cwd": str(bench.repository), "toolName": "bash", "toolArgs": {"command": COMMAND}}
    if host == "gemini":
        event |= {"hook_event_name": "BeforeTool", "tool_name": "run_shell_command"}
    assert bench.run(event, "--host", host).decision() == before
    (call,) = pending_calls(bench.state)
    allow(bench, call.code)
    assert bench.run(event, "--host", host).stdout.startswith(after)
    assert bench.run({**event, "tool_use_id": "u2"}, "--host", host).decision() == before


def test_cursors_two_events_for_a_command_have_one_code(bench: Bench) -> None:
    base = {"conversation_id": "c", "cursor_version": "2.1.0", "cwd": str(bench.repository)}
    shell = {**base, "hook_event_name": "beforeShellExecution", "command": "git reset --hard"}
    given = {"command": "git reset --hard", "working_directory": str(bench.repository), "timeout": 5}
    tool = {**base, "hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": given, "tool_use_id": "t"}
    code = waiting(bench, tool, "cursor")
    assert bench.run(shell, "--host", "cursor").decision() == "ask"
    allow(bench, code)
    for event in (tool, shell):
        assert bench.run(event, "--host", "cursor").decision() == "allow"
    assert bench.run(shell, "--host", "cursor").decision() == "ask"
    bench.run({**tool, "tool_input": {**given, "working_directory": "/srv/elsewhere"}}, "--host", "cursor")
    assert len(pending_calls(bench.state)) == 2


def test_what_the_model_says_about_a_command_is_not_what_it_does(bench: Bench) -> None:
    code = waiting(bench, bench.claude("", tool_input={"command": COMMAND, "description": "clean", "timeout": 5}))
    allow(bench, code)
    again = bench.claude("", tool_input={"command": COMMAND, "description": "another word"})
    assert "allowed" in str(bench.run(again, "--host", "claude").reply())


def test_any_other_call_needs_its_own(bench: Bench) -> None:
    allow(bench, waiting(bench))
    (bench.home / "other").mkdir()
    for other in (
        bench.claude(f"{COMMAND} HEAD~1"),
        bench.claude(f"{COMMAND} "),
        bench.claude(COMMAND, cwd=str(bench.home / "other")),
        bench.claude(COMMAND, tool_name="Shell"),
    ):
        assert bench.run(other, "--host", "claude").decision() == "ask"
    assert "allowed" in str(bench.run(bench.claude(COMMAND), "--host", "claude").reply())


def test_numbers_and_switches_are_part_of_a_call(bench: Bench) -> None:
    def drop(**more: Any) -> dict[str, Any]:
        return bench.claude(
            "", tool_name="mcp__db__run", tool_input={"sql": "DROP TABLE users", "description": "d", **more}
        )

    assert bench.run(drop(id=1), "--host", "claude").decision() == "ask"
    (call,) = pending_calls(bench.state)
    allow(bench, call.code)
    assert bench.run(drop(id=2), "--host", "claude").decision() == "ask"
    assert bench.run(drop(id=1, force=True), "--host", "claude").decision() == "ask"
    # Of other tools than shells, a description may be what is written somewhere.
    assert (
        bench.run(
            drop(id=1) | {"tool_input": {"sql": "DROP TABLE users", "description": "e", "id": 1}}, "--host", "claude"
        ).decision()
        == "ask"
    )
    assert "allowed" in str(bench.run(drop(id=1), "--host", "claude").reply())


def test_of_eight_at_once_one_is_allowed(bench: Bench) -> None:
    for _ in range(5):
        (code,) = {call.code for call in pending_calls(bench.state)} or {waiting(bench)}
        allow(bench, code)
        answers: list[bytes] = []
        start = threading.Barrier(8)

        def one(number: int, start: threading.Barrier = start, answers: list[bytes] = answers) -> None:
            start.wait()
            answers.append(bench.run(bench.claude(COMMAND, tool_use_id=f"u{number}"), "--host", "claude").stdout)

        threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(b"A person allowed" in found for found in answers) == 1
        assert sum(b'"ask"' in found for found in answers) == 7


def test_what_is_blocked_cannot_be_allowed(bench: Bench) -> None:
    assert bench.run(bench.claude("rm -rf /"), "--host", "claude").decision() == "deny"
    assert pending_calls(bench.state) == []


def test_an_approval_expires(bench: Bench) -> None:
    code = waiting(bench)
    path = allow(bench, code, seconds=1)
    time.sleep(2.1)
    assert bench.run(bench.claude(COMMAND), "--host", "claude").decision() == "ask"
    assert not path.exists()


@pytest.mark.parametrize("how", ["signature", "expiry", "subject", "kind", "empty", "long", "mode", "link", "key"])
def test_a_forged_approval_counts_nothing(bench: Bench, how: str, tmp_path: Path) -> None:
    path = allow(bench, waiting(bench))
    words = path.read_text().split()
    if how == "signature":
        words[4] = words[4][:-1] + ("0" if words[4][-1] != "0" else "1")
    elif how == "expiry":
        words[2] = str(int(words[2]) + 1)
    elif how == "subject":
        words[3] = "0" * 64
    elif how == "kind":
        words[0] = "tipstaff-approval-2"
    path.write_text("" if how == "empty" else " ".join(words) + "\n" + "x" * 1000 * (how == "long"))
    if how == "mode":
        path.chmod(0o644)
    elif how == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    elif how == "key":
        (bench.state / "key").write_bytes(b"k" * 32)
    assert bench.run(bench.claude(COMMAND), "--host", "claude").decision() == "ask"


@pytest.mark.parametrize("mode", [0o644, 0o660])
def test_a_key_that_others_may_read_signs_nothing(bench: Bench, mode: int) -> None:
    code = waiting(bench)
    allow(bench, code)
    (bench.state / "key").chmod(mode)
    assert bench.run(bench.claude(COMMAND), "--host", "claude").decision() == "ask"
    with pytest.raises(ConfigError, match="only its owner may read it"):
        private_key(bench.state)


def test_a_refusal_is_reported_until_it_expires(bench: Bench) -> None:
    code = waiting(bench)
    allow(bench, code, refused=True)
    for _ in range(2):
        answered = bench.run(bench.claude(COMMAND), "--host", "claude")
        assert answered.decision() == "deny"
        assert b"A person has refused exactly this call" in answered.stdout
    assert [line["decision"] for line in bench.spool() if line["event"] == "Approval"] == ["refused"]


def test_answers_reach_the_ledger(bench: Bench) -> None:
    code = waiting(bench)
    allow(bench, code)
    line = bench.spool()[-1]
    assert (line["event"], line["decision"], line["approved"]) == ("Approval", "approved", code)
    assert set(line) >= {"v", "at", "host", "cwd", "tool", "subject", "rules"}


def test_the_key_is_made_once_and_for_its_owner_alone(bench: Bench) -> None:
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(private_key(bench.state))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1
    assert len(keys[0]) == 32
    assert (bench.state / "key").stat().st_mode & 0o777 == 0o600
    assert not list(bench.state.glob(".key-*"))


def test_the_code_must_be_one(bench: Bench) -> None:
    with pytest.raises(ConfigError, match="not an approval code"):
        pending_call("../key", bench.state)
    with pytest.raises(SourceNotFoundError, match="no call waits"):
        pending_call("ABCDEFGH", bench.state)


def test_calls_that_waited_for_a_week_go_away(bench: Bench) -> None:
    code = waiting(bench)
    path = bench.state / "pending" / code
    import os

    old = time.time() - PENDING_KEPT_S - 60
    os.utime(path, (old, old))
    assert pending_calls(bench.state) == []
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"code": "X"}', '{"code":"AAAAAAAA","subject":"zz"}'])
def test_a_damaged_waiting_call_is_reported(bench: Bench, text: str) -> None:
    folder = bench.state / "pending"
    folder.mkdir()
    (folder / "AAAAAAAA").write_text(text)
    assert pending_calls(bench.state) == []
    with pytest.raises(ConfigError, match="damaged"):
        pending_call("AAAAAAAA", bench.state)


def test_what_waits_says_what_it_is(bench: Bench) -> None:
    code = waiting(bench)
    call = pending_call(code, bench.state)
    assert call.fields == {"command": COMMAND}
    assert (call.host, call.tool, call.cwd) == ("claude", "Bash", str(bench.repository))
    assert "git.reset-hard" in call.reason
    assert json.loads((bench.state / "pending" / code).read_text())["subject"] == call.subject
