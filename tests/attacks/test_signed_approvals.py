"""Attacks on what a person signs: parts that they are not shown, scripts that change after, answers that come back."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from tests.attacks.playing import STOPPED, Victim

RESET = "git reset --hard"


def asked(victim: Victim, command: str) -> str:
    assert victim.decision(command) == "ask"
    return str(max(victim.pending(), key=lambda call: call["asked"])["code"])


def approve(victim: Victim, code: str) -> str:
    status, seen = victim.person("approve", code, types=(("last four letters", code[-4:]),))
    assert status == 0, seen
    return seen


def test_an_answer_counts_once(victim: Victim) -> None:
    code = asked(victim, RESET)
    approve(victim, code)
    assert victim.decision(RESET) == "allow"
    assert victim.decision(RESET) in STOPPED


def test_a_restored_answer_does_not_count_again(victim: Victim) -> None:
    code = asked(victim, RESET)
    approve(victim, code)
    answer = victim.state / "approvals" / code
    kept = answer.read_bytes()
    assert victim.decision(RESET) == "allow"
    answer.write_bytes(kept)
    answer.chmod(0o600)
    assert victim.decision(RESET) in STOPPED


def test_a_restored_folder_of_answers_does_not_count_again(victim: Victim) -> None:
    code = asked(victim, RESET)
    approve(victim, code)
    shutil.copytree(victim.state / "approvals", victim.home / "kept")
    assert victim.decision(RESET) == "allow"
    shutil.rmtree(victim.state / "approvals")
    shutil.copytree(victim.home / "kept", victim.state / "approvals")
    assert victim.decision(RESET) in STOPPED


def test_two_registrations_ask_about_one_call(victim: Victim) -> None:
    code = asked(victim, RESET)
    approve(victim, code)
    call = victim.call("Bash", {"command": RESET})
    copilot = {**call, "timestamp": "2026-01-01T00:00:00Z"}
    assert victim.ask(call).decision() == ""
    assert victim.ask(copilot, host="copilot").decision() in {"", "allow"}
    assert victim.ask(copilot, host="copilot").decision() in STOPPED


def test_a_script_is_part_of_what_is_signed(victim: Victim) -> None:
    victim.put("x.sh", "echo hello\ngit reset --hard\n")
    code = asked(victim, "sh x.sh")
    seen = approve(victim, code)
    assert "x.sh" in seen
    assert "sha256" in seen
    victim.put("x.sh", "echo hello\ngit clean -fdx\n")
    assert victim.decision("sh x.sh") in STOPPED
    victim.put("x.sh", "echo hello\ngit reset --hard\n")
    assert victim.decision("sh x.sh") == "allow"


def test_every_parameter_is_shown_whole(victim: Victim) -> None:
    long = "echo start; " + "echo filler; " * 400 + "git reset --hard; echo the-end"
    given = {
        "command": long, "timeout": 31337, "run_in_background": True, "nothing": None,
        "environment": {"PATH_TO_IT": "deep-value", "list": [1, 2.5, "in-a-list"]},
        **{f"parameter_{number}": f"value-{number}" for number in range(40)},
    }  # fmt: skip
    assert victim.tool_decision("Bash", given) == "ask"
    _, seen = victim.person("approve", victim.pending()[0]["code"], types=(("last four letters", ""),))
    shown = seen.replace("\n", "")
    for part in ("the-end", "31337", "true", "null", "deep-value", "2.5", "in-a-list", "value-39"):
        assert part in shown, part
    assert shown.count("echo filler") == 400


def test_the_worst_comes_first(victim: Victim) -> None:
    command = "npm publish; docker volume rm a; git stash drop; git clean -fd; git reset --hard"
    assert victim.decision(command) == "ask"
    rules = [found["rule"] for found in victim.pending()[0]["findings"]]
    severities = [_severity(rule) for rule in rules]
    assert len(rules) >= 4
    assert severities == sorted(severities, reverse=True)


def _severity(rule_id: str) -> int:
    from tipstaff.gates.image.policy import default_policy
    from tipstaff.gates.packs.model import SEVERITIES

    return next(SEVERITIES.index(rule.severity) for rule in default_policy().rules if rule.id == rule_id)


def test_what_cannot_be_shown_cannot_be_allowed(victim: Victim) -> None:
    answer = victim.ask(victim.call("Bash", {"command": RESET, "padding": "x" * (2 << 20)}))
    assert answer.decision() in STOPPED
    assert b"tipstaff approve" not in answer.stdout
    assert victim.pending() == []


def test_control_characters_do_not_hide_a_line(victim: Victim) -> None:
    code = asked(victim, f"{RESET} # \x1b[2K\x1b[1A\r harmless")
    _, seen = victim.person("approve", code, types=(("last four letters", ""),))
    assert "\x1b[2K" not in seen
    assert RESET in seen


@pytest.mark.parametrize("mark", ["CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX", "CURSOR_AGENT"])
def test_an_agent_is_no_person(victim: Victim, mark: str) -> None:
    code = asked(victim, RESET)
    os.environ[mark] = "1"
    try:
        answer = victim.tipstaff("approve", code, environment={mark: "1"})
    finally:
        del os.environ[mark]
    assert answer.status != 0
    assert victim.decision(RESET) in STOPPED


def test_without_a_terminal_nothing_is_approved(victim: Victim) -> None:
    code = asked(victim, RESET)
    assert victim.tipstaff("approve", code).status != 0
    assert victim.decision(RESET) in STOPPED


def test_a_cleared_environment_is_still_an_agents(victim: Victim) -> None:
    import pty
    import subprocess
    import sys

    code = asked(victim, RESET)
    master, slave = pty.openpty()
    # A shell with the mark of a host starts the command with an empty environment, in a terminal.
    words = " ".join(f"{name}='{value}'" for name, value in victim.environment().items())
    line = f"env -i {words} {sys.executable} -P -m tipstaff.cli approve {code}; true"
    shell = subprocess.Popen(
        ["/bin/sh", "-c", line], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={**victim.environment(), "CLAUDECODE": "1"}, cwd=victim.repository,
    )  # fmt: skip
    os.close(slave)
    time.sleep(0.1)
    os.write(master, f"{code[-4:]}\n".encode())
    shell.wait(60)
    os.close(master)
    assert victim.decision(RESET) in STOPPED
