"""Attacks on the masking: secrets in colours, over two lines, in UTF-16, and in names beside a call's parameters."""

from __future__ import annotations

import os
import time

import pytest

from tests.attacks.playing import Victim
from tests.hook.running import aws_key

HOOKED = {"hook_event_name": "PostToolUse"}


def live_key() -> str:
    return "sk_live_" + "51H8x2KQmZ7vNc4R" + "tYpWbLdE"


def disguises() -> dict[str, str]:
    key, longer = aws_key(), live_key()
    return {
        "coloured": f"key \x1b[31m{key[:8]}\x1b[0m{key[8:]}",
        "each letter coloured": "".join(f"\x1b[1;3{i % 8}m{letter}" for i, letter in enumerate(longer)) + "\x1b[0m",
        "a link of the terminal": f"\x1b]8;;http://x\x1b\\{longer[:10]}\x1b]8;;\x1b\\{longer[10:]}",
        "a title between": f"{longer[:10]}\x1b]0;title\x07{longer[10:]}",
        "wrapped": f"token: {longer[:20]}\n{longer[20:]}",
        "wrapped and indented": f"token: {longer[:20]}\n    {longer[20:]} end",
        "wrapped at 80": ("x" * 60 + " " + longer)[:80] + "\n" + ("x" * 60 + " " + longer)[80:],
        "continued": f"token={longer[:20]}\\\n{longer[20:]}",
        "wrapped twice": f"see {longer[:12]}\r\n{longer[12:24]}\r\n{longer[24:]}",
        "UTF-16": "".join(f"{letter}\0" for letter in f"key {key} x"),
        "UTF-16, big end first": "".join(f"\0{letter}" for letter in f"key {longer} x"),
        "without width": f"{longer[:10]}\u200b{longer[10:]}",
    }


@pytest.mark.parametrize("name", disguises())
def test_it_is_masked(victim: Victim, name: str) -> None:
    text = disguises()[name]
    event = victim.call("Bash", {"command": "cat x"}, tool_response={"stdout": text, "stderr": ""}, **HOOKED)
    shown = victim.ask(event).reply()["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert "****" in shown.replace("\x1b", "").replace("\0", "") or shown.count("*") > 8
    plain = shown.translate({0: None, 10: None, 13: None, 0x200B: None})
    assert aws_key() not in plain
    assert live_key() not in plain
    assert len(shown) == len(text) or "\u200b" in text


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[32mok\x1b[0m 12 passed\n\x1b[31mFAILED\x1b[0m tests/test_a.py::test_b\n",
        "a line of words that\ngoes on here and ends_with_a_name\nother_names_follow/and/paths\n",
        "binary\0\0\0\x01\x02data\0",
        "sha256:9f86d081884c7d659a2feaa0c55ad015\na3bf4f1b2b0b822cd15d6c15b0f00a08\n",
        "-rw-r--r-- 1 root root\n/usr/share/dict/words\n",
    ],
)
def test_what_is_no_secret_stays(victim: Victim, text: str) -> None:
    event = victim.call("Bash", {"command": "cat x"}, tool_response={"stdout": text, "stderr": ""}, **HOOKED)
    assert victim.ask(event).stdout == b""


def test_names_beside_the_parameters(victim: Victim) -> None:
    key = aws_key()
    calls = (
        victim.call("mcp__x__y", {key: 1, "command": "git reset --hard"}),
        victim.call("mcp__x__y", {"a": {key: {"b": "git reset --hard"}}, "command": "git reset --hard"}),
        victim.call("Bash", {"command": "git reset --hard"}, cwd=victim.repository / key),
        victim.call(f"mcp {key} x", {"command": "git reset --hard"}),
        victim.call("Bash", {"command": "git reset --hard"}, session_id=key, agent_id=key),
        victim.call("Bash", {"command": "git status"}, cwd=victim.repository / key),
        victim.call("Bash", {"command": "x"}, cwd=victim.home / key, tool_response={"stdout": ""}, **HOOKED),
    )
    for call in calls:
        victim.ask(call)
    for path in victim.state.rglob("*"):
        assert key not in path.name
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_old_state_is_taken_away(victim: Victim) -> None:
    old = time.time() - 30 * 24 * 3600
    kept = []
    for name in ("pending", "approvals", "used", "runs"):
        folder = victim.state / name
        folder.mkdir(exist_ok=True, mode=0o700)
        for number in range(50):
            (folder / f"old{number}").write_text("x")
            os.utime(folder / f"old{number}", (old, old))
        (folder / "new").write_text("x")
        kept.append(folder / "new")
    (victim.home / "mine").write_text("x")
    os.utime(victim.home / "mine", (old, old))
    (victim.state / "used" / "link").symlink_to(victim.home / "mine")
    victim.ask(victim.call("", {}, hook_event_name="SessionStart", source="startup"))
    assert all(path.exists() for path in kept)
    assert not list(victim.state.rglob("old*"))
    assert (victim.home / "mine").read_text() == "x"
    assert list((victim.state / "policy").glob("*.policy"))
