"""Attacks on the time: outputs with more secrets than can be masked, files that do not answer, connections that wait."""

from __future__ import annotations

import json
import os
import random
import time

import pytest

from tests.attacks.playing import Victim


def many_keys(number: int) -> list[str]:
    letters = random.Random(7)
    return [
        "AKIA" + "".join(letters.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(16)) for _ in range(number)
    ]


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "copilot"])
def test_what_cannot_be_masked_in_time_is_withheld(victim: Victim, host: str) -> None:
    keys = many_keys(200_000)
    text = "\n".join(f"aws_access_key_id = {key}" for key in keys)
    name = {"gemini": "AfterTool"}.get(host, "PostToolUse")
    event = victim.call(
        "Bash",
        {"command": "cat x"},
        hook_event_name=name,
        tool_response={"stdout": text, "stderr": "", "interrupted": False},
    )
    answer = victim.ask(event, host=host)
    assert answer.status == 0
    assert b"withheld" in answer.stdout or b"masked" in answer.stdout
    assert not any(key.encode() in answer.stdout for key in keys[:1000])
    reply = answer.reply()
    shown = json.dumps(reply)
    assert "updatedToolOutput" in shown or "modifiedResult" in shown or "reason" in shown


def test_a_pipe_in_the_place_of_a_script(victim: Victim) -> None:
    os.mkfifo(victim.repository / "pipe.sh")
    start = time.monotonic()
    assert victim.decision("sh pipe.sh") in {"ask", "deny"}
    assert victim.decision("./pipe.sh") in {"ask", "deny"}
    assert time.monotonic() - start < 20  # a hook that waits for a writer would wait for good
