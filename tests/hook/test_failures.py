"""What must never happen: silence where nothing could be judged, and a wait without an end."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.hook.running import Bench, default_image, program
from tipstaff.gates.image.policy_file import policy_path, write_policy

HOSTS = ("claude", "codex", "gemini", "cursor", "copilot")
STOPS = {"deny", "ask"}


def reason(answer: bytes) -> str:
    return json.dumps(json.loads(answer))


def test_without_a_policy_the_built_in_rules_judge(bare: Bench) -> None:
    assert bare.run(bare.claude("git status"), "--host", "claude").stdout == b""
    assert bare.run(bare.claude("rm -rf /"), "--host", "claude").decision() == "deny"
    assert "policy" not in bare.spool()[-1]


@pytest.mark.parametrize("how", ["cut", "altered", "empty", "magic"])
def test_a_damaged_policy_is_reported(bench: Bench, how: str) -> None:
    data = bytearray(bench.policy.read_bytes())
    if how == "altered":
        data[len(data) // 2] ^= 1
    elif how == "magic":
        data[0] ^= 1
    else:
        data = data[:1000] if how == "cut" else bytearray()
    bench.policy.write_bytes(data)
    answer = bench.run(bench.claude("git status"), "--host", "claude")
    assert answer.decision() == "ask"
    assert "damaged" in reason(answer.stdout)
    assert bench.run(bench.claude("rm -rf /"), "--host", "claude").decision() == "deny"


def test_damage_after_a_policy_that_was_found_whole_is_seen(bench: Bench) -> None:
    for _ in range(2):
        assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""
    data = bytearray(bench.policy.read_bytes())
    data[len(data) // 2] ^= 1
    bench.policy.write_bytes(data)
    assert "damaged" in reason(bench.run(bench.claude("git status"), "--host", "claude").stdout)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_policy_that_others_may_write_is_not_taken(bench: Bench, mode: int) -> None:
    bench.policy.chmod(mode)
    answer = bench.run(bench.claude("git status"), "--host", "claude")
    assert answer.decision() == "ask"
    assert "can be changed by others" in reason(answer.stdout)


def test_a_policy_in_a_folder_that_others_may_write_is_not_taken(bench: Bench) -> None:
    bench.policy.parent.chmod(0o777)
    assert "can be changed by others" in reason(bench.run(bench.claude("git status"), "--host", "claude").stdout)


def test_a_linked_policy_is_not_taken(bench: Bench, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.policy"
    bench.policy.rename(elsewhere)
    bench.policy.symlink_to(elsewhere)
    assert "can be changed by others" in reason(bench.run(bench.claude("git status"), "--host", "claude").stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_policy_of_somebody_else_is_not_taken(bench: Bench, tmp_path: Path) -> None:
    if not hasattr(os, "setresuid"):
        pytest.skip("no such call here")
    os.chown(bench.policy, 12345, -1)
    assert "can be changed by others" in reason(bench.run(bench.claude("git status"), "--host", "claude").stdout)


def test_a_stale_policy_is_reported(bench: Bench) -> None:
    packs = bench.repository / ".tipstaff" / "packs"
    packs.mkdir(parents=True)
    (packs / "own.toml").write_text('[pack]\nid = "own"\ntitle = "own"\n')
    write_policy(default_image(), bench.repository, state=bench.state)
    assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""
    (packs / "own.toml").write_text('[pack]\nid = "own"\ntitle = "changed"\n')
    answer = bench.run(bench.claude("git status"), "--host", "claude")
    assert answer.decision() == "ask"
    assert "older than its packs" in reason(answer.stdout)


def test_a_repositorys_own_packs_that_were_never_compiled_are_reported(bare: Bench) -> None:
    (bare.repository / ".tipstaff" / "packs").mkdir(parents=True)
    answer = bare.run(bare.claude("git status"), "--host", "claude")
    assert answer.decision() == "ask"
    assert "not compiled" in reason(answer.stdout)


def test_the_policy_is_the_projects_in_any_folder(bare: Bench, tmp_path: Path) -> None:
    (bare.repository / ".tipstaff" / "packs").mkdir(parents=True)
    away = bare.claude("git status", cwd=str(tmp_path))
    assert bare.run(away, "--host", "claude").stdout == b""
    inside = bare.run(away, "--host", "claude", environment={"CLAUDE_PROJECT_DIR": str(bare.repository)})
    assert "not compiled" in reason(inside.stdout)


def test_a_policy_of_another_repository_is_damaged_here(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    written = write_policy(default_image(), other, state=bench.state)
    written.rename(policy_path(bench.repository, bench.state))
    assert "damaged" in reason(bench.run(bench.claude("git status"), "--host", "claude").stdout)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "event", [b"", b"{", b"[]", b"nothing", b"\xff\xfe{}", b'{"a":1}{"a":1}', b'{"a":"\x01"}', b"[" * 100_000]
)
def test_what_cannot_be_read_is_not_let_through(bench: Bench, host: str, event: bytes) -> None:
    answer = bench.run(event, "--host", host)
    assert answer.status == 0
    assert answer.stderr.strip()
    assert answer.decision() in STOPS
    if host in {"codex", "cursor"}:
        assert answer.decision() == "deny"


def test_an_unreadable_event_of_no_known_host_is_refused_by_status(bench: Bench) -> None:
    for event in (b"{", b'{"some": "thing"}'):
        answer = bench.run(event)
        assert answer.status == 2
        assert answer.stdout == b""
        assert answer.stderr.strip()


def test_an_unreadable_event_after_a_tool_stops_nothing(bench: Bench) -> None:
    for host, name in (
        ("claude", "PostToolUse"),
        ("gemini", "AfterTool"),
        ("cursor", "postToolUse"),
        ("copilot", "postToolUse"),
    ):
        answer = bench.run(b"{", "--host", host, "--event", name)
        assert answer.status == 0
        assert answer.stdout in {b"", b"{}"}


@pytest.mark.parametrize("arguments", [["--host", "nobody"], ["--host"], ["--what"], ["claude"]])
def test_a_wrong_registration_shows_at_once(bench: Bench, arguments: list[str]) -> None:
    answer = bench.run(b"{}", *arguments)
    assert answer.status == 2
    assert b"usage:" in answer.stderr
    assert answer.stdout == b""


def test_without_a_home_the_decision_still_comes(bench: Bench) -> None:
    event = json.dumps(bench.claude("rm -rf /")).encode()
    done = subprocess.run(
        [program(), "--host", "claude"], input=event, capture_output=True, env={}, cwd="/", check=False
    )
    assert done.returncode == 0
    assert b'"deny"' in done.stdout


def test_a_state_folder_that_cannot_be_written_costs_no_decision(bench: Bench) -> None:
    (bench.state / "spool.jsonl").mkdir()
    for name in ("pending", "runs", "approvals"):
        (bench.state / name).write_text("a file where a folder should be")
    assert bench.run(bench.claude("rm -rf /"), "--host", "claude").decision() == "deny"
    asked = bench.run(bench.claude("git reset --hard"), "--host", "claude")
    assert asked.decision() == "ask"
    assert b"tipstaff approve" not in asked.stdout  # which would find no call
    assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""


def test_a_full_disk_costs_no_decision(bench: Bench) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    for command, expected in (("rm -rf /", b'"deny"'), ("git reset --hard", b'"ask"')):
        done = subprocess.run(
            [program(), "--host", "claude"],
            input=json.dumps(bench.claude(command)).encode(), capture_output=True, check=False, env=bench.environment(),
            preexec_fn=no_room,
        )  # fmt: skip
        assert done.returncode == 0
        assert expected in done.stdout
        assert b"tipstaff approve" not in done.stdout


def test_a_line_that_a_full_disk_cuts_short_spoils_no_other(bench: Bench) -> None:
    bench.run(bench.claude("git status"), "--host", "claude")
    spool = bench.state / "spool.jsonl"
    room = spool.stat().st_size + 50

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    event = json.dumps(bench.claude("rm -rf /")).encode()
    done = subprocess.run(
        [program(), "--host", "claude"], input=event, capture_output=True, check=False, env=bench.environment(),
        preexec_fn=little_room,
    )  # fmt: skip
    assert b'"deny"' in done.stdout
    assert spool.stat().st_size == room
    bench.run(bench.claude("rm -rf /"), "--host", "claude")
    first, torn, last, end = spool.read_bytes().split(b"\n")
    assert len(torn) == 49
    assert json.loads(first)["decision"] == "allow"
    assert json.loads(last)["decision"] == "block"
    assert end == b""


def test_a_line_that_was_torn_before_is_ended_first(bench: Bench) -> None:
    bench.run(bench.claude("git status"), "--host", "claude")
    spool = bench.state / "spool.jsonl"
    with spool.open("ab") as file:
        file.write(b'{"v":1,"at":17')
    bench.run(bench.claude("rm -rf /"), "--host", "claude")
    bench.run(bench.claude("git status"), "--host", "claude")
    first, torn, second, third, end = spool.read_bytes().split(b"\n")
    assert torn == b'{"v":1,"at":17'
    assert [json.loads(line)["decision"] for line in (first, second, third)] == ["allow", "block", "allow"]
    assert end == b""


def test_links_and_pipes_in_the_state_folder_are_not_followed(bench: Bench, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (bench.state / "spool.jsonl").symlink_to(target)
    (bench.state / "runs").mkdir()
    for name in ("approvals", "pending"):
        (bench.state / name).mkdir()
    os.mkfifo(bench.state / "key")
    assert bench.run(bench.claude("git reset --hard"), "--host", "claude").decision() == "ask"
    assert target.read_text() == "mine"


def test_a_run_file_that_somebody_holds_is_not_waited_for(bench: Bench) -> None:
    bench.run(bench.claude("git status"), "--host", "claude")
    (flow,) = (bench.state / "runs").glob("*.flow")
    with flow.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert bench.run(bench.claude("rm -rf /"), "--host", "claude").decision() == "deny"
        assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""


def test_a_run_file_of_another_kind_is_not_used(bench: Bench) -> None:
    bench.run(bench.claude("git status"), "--host", "claude")
    (flow,) = (bench.state / "runs").glob("*.flow")
    for data in (b"", b"x" * 100, b"TIPSFLOW" + b"\xff" * 5000):
        flow.write_bytes(data)
        assert bench.run(bench.claude("rm -rf /"), "--host", "claude").decision() == "deny"


@pytest.mark.parametrize("sent", [signal.SIGALRM, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE])
@pytest.mark.parametrize("host", [*HOSTS, ""])
def test_time_up_and_crashes_answer_before_the_program_ends(bench: Bench, host: str, sent: signal.Signals) -> None:
    running = bench.start(*(["--host", host] if host else []))
    assert running.stdin is not None
    running.stdin.write(b'{"hook_event_name": "PreToolUse", ')
    running.stdin.flush()
    _wait_until_it_reads(running.pid)
    running.send_signal(sent)
    stdout, stderr = running.communicate(timeout=30)
    if not host:
        assert running.returncode == 2
        assert stdout == b""
        assert stderr.strip()
        return
    assert running.returncode == 0
    assert json.loads(stdout)
    assert b"could not judge this call" in stdout
    assert b'"deny"' in stdout or (host in {"claude", "copilot"} and b'"ask"' in stdout)


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="the system does not tell who waits for a processor"
)
def test_a_loaded_machine_is_no_reason_to_refuse(bench: Bench) -> None:
    """A process of the lowest priority gets a processor for less than a hundredth of the time here."""
    processor = max(os.sched_getaffinity(0))

    def pinned() -> None:
        os.sched_setaffinity(0, {processor})

    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=pinned)  # noqa: PLW1509
        for _ in range(8)
    ]
    try:
        event = json.dumps(bench.claude("git status")).encode()
        for _ in range(12):  # of a machine that is loaded beyond this test as well, one answer in time is enough
            running = bench.start("--host", "claude")
            os.sched_setaffinity(running.pid, {processor})
            os.setpriority(os.PRIO_PROCESS, running.pid, 19)
            if b"could not judge" not in running.communicate(event, timeout=60)[0]:
                break
        else:
            raise AssertionError("no answer in time")
    finally:
        for one in busy:
            one.kill()
            one.wait()


def test_an_event_that_never_comes_is_not_waited_for_without_an_end(bench: Bench) -> None:
    running = bench.start("--host", "claude")
    try:
        running.wait(timeout=60)  # standard input stays open all the while
        assert running.stdout is not None
        assert b'"ask"' in running.stdout.read()
    finally:
        running.kill()
        running.communicate()


def test_a_killed_program_leaves_a_state_that_the_next_one_can_use(bench: Bench) -> None:
    event = json.dumps(bench.claude("git reset --hard")).encode()
    for round_ in range(40):
        running = bench.start("--host", "claude")
        assert running.stdin is not None
        running.stdin.write(event)
        running.stdin.close()
        time.sleep(round_ * 0.0001)
        running.kill()
        running.wait()
        for stream in (running.stdout, running.stderr):
            if stream is not None:
                stream.close()
    assert bench.run(bench.claude("git reset --hard"), "--host", "claude").decision() == "ask"
    assert all(call["code"] for call in bench.pending())
    assert bench.spool()


def test_a_reader_that_went_away_costs_no_record(bench: Bench) -> None:
    running = bench.start("--host", "claude")
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdout.close()
    running.stdin.write(json.dumps(bench.claude("rm -rf /")).encode())
    running.stdin.close()
    running.wait(timeout=30)
    assert running.stderr is not None
    running.stderr.close()
    assert bench.spool()[-1]["decision"] == "block"


def test_huge_events_are_judged(bench: Bench) -> None:
    text = "x = 1\n" * 200_000
    event = bench.claude(
        "", tool_name="Write", tool_input={"file_path": str(bench.repository / "a.txt"), "content": text}
    )
    assert bench.run(event, "--host", "claude").decision() != "deny"
    many = bench.claude(
        "", tool_name="mcp__x__y", tool_input={"items": [str(i) for i in range(20_000)], "command": "rm -rf /"}
    )
    assert bench.run(many, "--host", "claude").decision() == "deny"


def test_two_hundred_at_once_leave_two_hundred_whole_lines(bench: Bench) -> None:
    commands = [f"echo {i}; git reset --hard" for i in range(200)]
    answers: list[str] = []

    def some(part: list[str]) -> None:
        answers.extend(bench.run(bench.claude(command), "--host", "claude").decision() for command in part)

    threads = [threading.Thread(target=some, args=(commands[at::16],)) for at in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["ask"] * 200
    spool = bench.spool()
    assert len(spool) == 200
    assert len({line["subject"] for line in spool}) == 200
    assert len(bench.pending()) == 200


def _wait_until_it_reads(pid: int) -> None:
    """Wait until the program sleeps in a read, its handlers in place: SIGABRT's is the last that it sets."""
    for _ in range(10_000):
        caught = next(
            line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt")
        )
        if int(caught.split()[1], 16) & (1 << (signal.SIGABRT - 1)):
            return
        time.sleep(0.001)
    raise AssertionError("the program did not come to read")
