"""Attacks on what a person signs: parts that they are not shown, scripts that change after, answers that come back."""

from __future__ import annotations

import hmac
import os
import shutil
import time

import pytest

from tests.attacks.playing import STOPPED, Victim
from tipstaff.store.signing import set_up_signer

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


@pytest.mark.parametrize(
    "changed", ["x.sh", "helper.py", "package/__init__.py", "package/deep.py", "lib/a.js", "lib/b.json"]
)
def test_all_of_a_script_and_what_it_imports_is_part_of_what_is_signed(victim: Victim, changed: str) -> None:
    command = {"sh": "sh x.sh", "py": "python3 u.py"}.get(changed.rpartition(".")[2], "node u.js")
    if changed.startswith("lib"):
        command = "node u.js"
    files = {
        "x.sh": "git reset --hard\n" + "# filler\n" * 40_000 + "true\n",
        "u.py": "import os, helper\nfrom package import deep as other\nos.system('git reset --hard')\n",
        "helper.py": "x = 1\n", "package/__init__.py": "", "package/deep.py": "y = 1\n",
        "u.js": "const a = require('./lib/a')\nrequire('child_process').execSync('git reset --hard')\n",
        "lib/a.js": "import x from './b.json'\n", "lib/b.json": "{}",
    }  # fmt: skip
    for name, text in files.items():
        victim.put(name, text)
    code = asked(victim, command)
    assert changed.rpartition("/")[2] in approve(victim, code)
    victim.put(changed, files[changed] + " ")
    assert victim.decision(command) in STOPPED
    victim.put(changed, files[changed])
    assert victim.decision(command) == "allow"


def test_a_script_that_is_too_long_to_be_signed(victim: Victim) -> None:
    victim.put("x.sh", "git reset --hard\n" + "# filler\n" * 600_000)
    answer = victim.ask(victim.call("Bash", {"command": "sh x.sh"}))
    assert answer.decision() in STOPPED
    assert b"tipstaff approve" not in answer.stdout


def test_what_runs_is_shown_as_it_is_and_kept_sealed(victim: Victim) -> None:
    command = "PASSWORD='git reset --hard'; $PASSWORD"
    code = asked(victim, command)
    assert b"reset --hard'" not in (victim.state / "pending" / code).read_bytes()
    assert command in approve(victim, code)


def test_no_more_than_200_calls_wait(victim: Victim) -> None:
    for number in range(210):
        (victim.state / "pending" / f"old{number}").write_text("x")
        os.utime(victim.state / "pending" / f"old{number}", (number, number))
    for number in range(12):
        asked(victim, f"git reset --hard HEAD~{number}")
    waiting = {path.name for path in (victim.state / "pending").iterdir()}
    assert len(waiting) == 210
    assert not waiting & {f"old{number}" for number in range(12)}


def test_whoever_types_without_the_passphrase_approves_nothing(victim: Victim) -> None:
    set_up_signer(victim.state, "correct horse battery")
    code = asked(victim, RESET)
    for types in ((("passphrase", code[-4:]),), (("passphrase", ""),)):
        status, seen = victim.person("approve", code, types=types)
        assert status != 0, seen
        assert victim.decision(RESET) in STOPPED
    # What an agent can read of the state signs nothing either.
    (call,) = [one for one in victim.pending() if one["code"] == code]
    record = f"tipstaff-approval-1 {code} {int(time.time()) + 60} {call['subject']} 00"
    for key in ((victim.state / "key").read_bytes(), (victim.state / "signer").read_bytes()[:32]):
        forged = victim.state / "approvals" / code
        forged.write_text(f"{record} {hmac.digest(key, record.encode(), 'sha256').hex()}\n")
        forged.chmod(0o600)
        assert victim.decision(RESET) in STOPPED
    status, seen = victim.person("approve", code, types=(("passphrase", "correct horse battery"),))
    assert status == 0, seen
    assert "correct" not in seen
    assert victim.decision(RESET) == "allow"
    assert victim.decision(RESET) in STOPPED


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
