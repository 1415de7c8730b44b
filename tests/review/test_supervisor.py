"""Commands end with the process that started them, also where that one is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.review.repositories import make
from tipstaff.review.running.supervisor import Supervisor

LINUX = Path("/proc/self/environ").exists()

# One stays in the group of its check, one leaves it, and one ignores every signal that can be ignored.
CHILDREN = """
sleep 60 & echo $! >> pids
trap '' HUP INT TERM
echo $$ >> pids
"""
LEAVES = "setsid sh -c 'echo $$ >> pids; exec sleep 60' &\n"
CONFIG = "[[checks.additional]]\nname = 'hangs'\ncommand = 'sh hangs.sh'\ntimeout = '200s'\n"


def is_running(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked about yet does not."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:
        return not LINUX


def wait_until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 30
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def pids_in(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().splitlines() if line.strip()] if file.exists() else []


def killed(folder: Path, words: list[str], pids: Path, count: int) -> list[int]:
    """Start a program, kill it when its commands run, and return their ids."""
    done = subprocess.Popen(
        [sys.executable, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert wait_until(lambda: len(pids_in(pids)) >= count)
    finally:
        os.killpg(done.pid, signal.SIGKILL)
        done.wait()
    return pids_in(pids)


def script() -> tuple[str, int]:
    return f"{CHILDREN}{LEAVES if LINUX else ''}while :; do sleep 1; done\n", 3 if LINUX else 2


def test_checks_end_with_a_tipstaff_that_is_killed(tmp_path: Path) -> None:
    text, count = script()
    folder = make(tmp_path, {"hangs.sh": text, ".tipstaff/config.toml": CONFIG, "a.py": "x = 1\n"})
    found = killed(folder, ["-m", "tipstaff.cli", "check", "--all"], folder / "pids", count)
    assert wait_until(lambda: not any(map(is_running, found)))


def test_agent_programs_end_with_a_tipstaff_that_is_killed(tmp_path: Path) -> None:
    text, count = script()
    (tmp_path / "hangs.sh").write_text(text.replace(">> pids", f">> {tmp_path}/pids"))
    program = (
        "from pathlib import Path; from tipstaff.runs.headless.executors import run_command;"
        f"run_command(['sh', '{tmp_path}/hangs.sh'], Path('.'), timeout_s=200)"
    )
    found = killed(tmp_path, ["-c", program], tmp_path / "pids", count)
    assert wait_until(lambda: not any(map(is_running, found)))


# Forks a group, says so, takes it back, and dies at once.
DIES = """
import os, subprocess, sys
from tipstaff.review.running.supervisor import Supervisor
children = [
    subprocess.Popen(["sleep", "60"], start_new_session=True, env={"PATH": os.defpath}, stdout=subprocess.DEVNULL)
    for _ in range(3)
]
supervisor = Supervisor("TIPSTAFF_TEST")
supervisor.watch()
for child in children:
    supervisor.started(child.pid)
supervisor.ending(children[1].pid)
print(*(child.pid for child in children), flush=True)
ENDS
"""


@pytest.mark.parametrize(
    ("end", "left"),
    [("os.kill(os.getpid(), 9)", [False, True, False]), ("supervisor.close(); os.kill(os.getpid(), 9)", [True] * 3)],
)
def test_only_groups_that_are_open_are_killed(end: str, left: list[bool]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES.replace("ENDS", end)], stdout=subprocess.PIPE, check=False, text=True
    )
    processes = [int(word) for word in done.stdout.split()]
    try:
        assert done.returncode == -signal.SIGKILL
        assert wait_until(lambda: [is_running(one) for one in processes] == left or all(left))
        time.sleep(0.5)  # nothing more comes
        assert [is_running(one) for one in processes] == left
    finally:
        for one in processes:
            if is_running(one):
                os.kill(one, signal.SIGKILL)


@pytest.mark.skipif(not LINUX, reason="needs /proc")
def test_a_command_that_nobody_noted_ends_with_an_exception() -> None:
    """As where a signal comes between the start of a command and the note of it."""
    processes: list[subprocess.Popen[bytes]] = []

    def interrupted() -> None:
        with Supervisor("TIPSTAFF_TEST") as supervisor:
            environment = {"PATH": os.defpath, "TIPSTAFF_TEST": supervisor.mark()}
            processes.append(subprocess.Popen(["sleep", "60"], env=environment, start_new_session=True))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert processes[0].wait(30) == -signal.SIGKILL


def test_an_interrupted_suite_ends_at_once_with_its_programs(tmp_path: Path) -> None:
    text, count = script()
    folder = make(tmp_path / "repository", {"a.py": "x = 1\n"}, git=False)
    (tmp_path / "hangs.sh").write_text(text.replace(">> pids", f">> {tmp_path}/pids"))
    (tmp_path / "suite.yaml").write_text(
        f"name: x\nexecutor: [sh, {tmp_path}/hangs.sh]\ndefaults: {{timeout_s: 200, retries: 3}}\n"
        "cases: [{id: a, prompt: p}, {id: b, prompt: p}]\n"
    )
    words = [sys.executable, "-m", "tipstaff.cli", "headless", str(tmp_path / "suite.yaml"), "-C", str(folder)]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert wait_until(lambda: len(pids_in(tmp_path / "pids")) >= count)
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)
        assert child.returncode == 130
        assert len(pids_in(tmp_path / "pids")) == count, "neither another attempt nor another case"
        assert wait_until(lambda: not any(map(is_running, pids_in(tmp_path / "pids"))))
    finally:
        child.kill()


def test_a_supervisor_ends_in_order_and_without_a_shell_nothing_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    with Supervisor("X") as supervisor:
        assert supervisor.mark().startswith(f"{supervisor.token}.")
        assert supervisor.mark() != supervisor.mark()
    supervisor.close()

    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "no such file", "/bin/sh")

    monkeypatch.setattr(subprocess, "Popen", missing)
    with Supervisor("X") as other:
        other.started(1_000_000)
        other.ending(1_000_000)


def test_a_supervisor_that_was_killed_costs_nothing() -> None:
    supervisor = Supervisor("X")
    supervisor.watch()
    process = supervisor._process
    assert process is not None
    process.kill()
    process.wait()
    supervisor.started(1_000_000)
    supervisor.close()
