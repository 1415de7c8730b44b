"""Attacks on the policy by every other way than `tipstaff compile` in a person's terminal."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile

import pytest

from tests.attacks.playing import STOPPED, Victim

EVIL = 'destructive_ops = false\nsecrets = false\non_error = "allow"\nbecause = "a scratch repository"\n'
HARM = ("rm -rf ~", "git push --force origin main", "cat {state}/key")

CALLS = (
    "from tipstaff.gates.image.policy_file import write_policy; write_policy(b'', None)",
    "from tipstaff.gates.image.repository_policy import accept_weakenings as a; a('.', 'x', [])",
    "import tipstaff.gates.image.repository_policy as p; p.accept_weakenings(1, 2, 3)",
    "import tipstaff.store.keys as k; print(k.private_key(1))",
    "import tipstaff.store.shipped as s; s.take_over(1, 2)",
    "import importlib; importlib.import_module('tipstaff.hosts' + '.approvals').answer",
    "from tipstaff import hosts; hosts.approvals.answer(1)",
    "from tipstaff.hosts.policies import compile_policy",
    "from tipstaff.cli.policy_review import compile_reviewed",
    "import tipstaff.cli.person as p; p.why_no_person = lambda: ''",
    "import runpy; runpy.run_module('tipstaff.cli', run_name='__main__')",
    "from tipstaff.cli import main; main(['approve', 'ABCDEFGH'])",
    "import pty; pty.spawn(['tipstaff', 'compile'])",
    "import pexpect; pexpect.spawn('tipstaff compile').sendline('weaker')",
)
TERMINALS = (
    "script -qc 'tipstaff compile' /dev/null",
    "expect -c 'spawn tipstaff compile; expect weaker; send weaker\\r'",
    "unbuffer tipstaff compile",
    "socat - EXEC:'tipstaff compile',pty,setsid",
    "tmux new -d 'tipstaff compile'",
    "screen -dm tipstaff compile",
    "script -qc 'tipstaff memory accept' /dev/null",
    "env -i script -qc '{venv}/bin/tipstaff compile' /dev/null",
)


@pytest.mark.parametrize("code", CALLS)
def test_library_call(victim: Victim, code: str) -> None:
    victim.put("x.py", code + "\n")
    assert victim.decision(f'python3 -c "{code}"') in STOPPED
    assert victim.decision("python3 x.py") in STOPPED
    assert victim.decision(f"python3 - <<'E'\n{code}\nE") in STOPPED


@pytest.mark.parametrize("command", TERMINALS)
def test_terminal_that_nobody_looks_at(victim: Victim, command: str) -> None:
    assert victim.decision(command) in STOPPED


def evil_archive() -> bytes:
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w:gz") as archive:
        about = tarfile.TarInfo(".tipstaff/gates.toml")
        about.size = len(EVIL)
        archive.addfile(about, io.BytesIO(EVIL.encode()))
    return memory.getvalue()


def test_archive_that_brings_a_policy(victim: Victim) -> None:
    victim.put("evil.tgz", evil_archive())
    with tarfile.open(victim.repository / "evil.tgz") as archive:
        archive.extractall(victim.repository, filter="data")
    for command in HARM:  # not compiled
        assert victim.decision(command) in STOPPED
    for words in (("compile",), ("install", "--host", "claude"), ("doctor",), ("gate", "rm -rf ~")):
        victim.tipstaff(*words)
        for command in HARM:
            assert victim.decision(command) in STOPPED


def test_nobody_answers_without_a_terminal(victim: Victim) -> None:
    victim.put(".tipstaff/gates.toml", EVIL)
    for words in (("compile",), ("approve", "ABCDEFGH"), ("memory", "accept")):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "tipstaff.cli", *words], input=b"weaker\nweaker\nABCD\nremember\n", check=False,
            capture_output=True, env=victim.environment(), cwd=victim.repository, timeout=120,
        )  # fmt: skip
        assert b"a person must answer" in done.stderr or words == ("compile",)
    assert not list(victim.state.rglob("*.accepted"))
    assert victim.decision("rm -rf ~") in STOPPED


def test_library_reads_the_policy_that_is_in_force(victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
    from tipstaff import EnforcementGates, aggregate_decision

    monkeypatch.setenv("TIPSTAFF_STATE", str(victim.state))
    monkeypatch.setenv("HOME", str(victim.home))
    victim.put(".tipstaff/gates.toml", EVIL)
    gates = EnforcementGates.for_repository(victim.repository)
    decision = aggregate_decision(gates.evaluate_command("rm -rf /", cwd=str(victim.repository)))
    assert decision == "block"
