"""The runner: ends of commands distinguished, process groups, time limits, order, cache, faults of the disk."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.review.repositories import commit, edit, make, run_git
from tipstaff.review import Check, CheckConfigError, resolve_checks, run_checks
from tipstaff.review.repository import GitError, changed_files, diff_text, list_files
from tipstaff.review.running.processes import Child, Output, kill_marked
from tipstaff.review.running.results import CheckReport, Outcome
from tipstaff.review.running.run import CheckOptions, missing_program
from tipstaff.review.running.schedule import Watcher

FAST = CheckOptions()


def one(folder: Path, command: str, **fields: object) -> CheckReport:
    return run_checks(folder, resolve_checks([{"name": "c", "command": command, **fields}]), FAST)


def alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 10
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize(
    ("command", "fields", "outcome", "failed"),
    [
        ("true", {}, Outcome.PASSED, False),
        ("false", {}, Outcome.FAILED, True),
        ("exit 3", {}, Outcome.FAILED, True),
        ("kill -9 $$", {}, Outcome.FAILED, True),
        ("no-such-program-anywhere --flag", {}, Outcome.TOOL_MISSING, True),
        ("cd . && no-such-program-anywhere", {}, Outcome.TOOL_MISSING, True),
        ("./not-executable", {}, Outcome.TOOL_MISSING, True),
        ("sleep 30", {"timeout": 0.2}, Outcome.TIMED_OUT, True),
        ("exit 5", {"empty_exit": 5}, Outcome.NOTHING_COLLECTED, True),
        ("echo no tests here", {"empty_pattern": "no tests"}, Outcome.NOTHING_COLLECTED, False),
        ("echo wrong.txt", {"fails_on_output": True}, Outcome.FAILED, True),
        ("echo 'No module named pytest'; exit 1", {"missing_pattern": "No module named"}, Outcome.TOOL_MISSING, True),
        ("true", {"threshold": 80}, Outcome.FAILED, True),
        ("true", {"working_dir": "nowhere"}, Outcome.FAILED, True),
    ],
)
def test_ends_are_distinguished(
    tmp_path: Path, command: str, fields: dict[str, object], outcome: Outcome, failed: bool
) -> None:
    (tmp_path / "not-executable").write_text("x", encoding="utf-8")
    report = one(tmp_path, command, **fields)
    assert (report.results[0].outcome, report.results[0].failed, report.passed) == (outcome, failed, not failed)
    if failed:
        assert report.verdict.failed_required == ("c",)
        assert "## c" in report.feedback


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    (tmp_path / "gradlew").write_text("", encoding="utf-8")
    for command, name in (
        ("./gradlew test", "./gradlew"),
        ("cd . && no-such-program -x", "no-such-program"),
        ("echo 'pyenv: python: command not found'; exit 127", "python"),
        ("exit 127", "exit"),
    ):
        result = one(tmp_path, command).results[0]
        assert (result.outcome, result.reason) == (
            Outcome.TOOL_MISSING,
            f"{name} is not installed or cannot be executed",
        )


def test_children_that_ignore_signals_are_killed_with_their_group(tmp_path: Path) -> None:
    script = "trap '' TERM INT HUP; sh -c \"trap '' TERM INT HUP; echo \\$\\$ >> pids; sleep 60; sleep 60\" & echo $$ >> pids; sleep 60; sleep 60"
    began = time.monotonic()
    report = one(tmp_path, script, timeout=0.5)
    assert report.results[0].outcome is Outcome.TIMED_OUT
    pids = [int(line) for line in (tmp_path / "pids").read_text(encoding="ascii").split()]
    assert len(pids) == 2
    assert gone(pids)
    assert time.monotonic() - began < 30


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="children that leave the group are found by /proc")
def test_a_child_in_a_session_of_its_own_is_killed_as_well(tmp_path: Path) -> None:
    report = one(tmp_path, "setsid sh -c 'trap \"\" TERM; echo $$ > pid; sleep 60; sleep 60' & sleep 60", timeout=0.7)
    assert report.results[0].outcome is Outcome.TIMED_OUT
    assert gone([int((tmp_path / "pid").read_text(encoding="ascii"))])


def test_a_child_that_outlives_a_passing_command_is_killed_and_does_not_delay_it(tmp_path: Path) -> None:
    began = time.monotonic()
    report = one(tmp_path, "sleep 60 & echo $! > pid")
    assert report.results[0].outcome is Outcome.PASSED
    assert gone([int((tmp_path / "pid").read_text(encoding="ascii"))])
    assert time.monotonic() - began < 30


def test_an_interrupt_kills_everything(tmp_path: Path) -> None:
    class Interrupts(Watcher):
        def tick(self) -> None:
            if (tmp_path / "pid").exists() and (tmp_path / "pid").stat().st_size:
                raise KeyboardInterrupt

    checks = resolve_checks([{"name": "c", "command": "trap '' INT TERM; echo $$ > pid; sleep 60; sleep 60"}])
    with pytest.raises(KeyboardInterrupt):
        run_checks(tmp_path, checks, FAST, watcher=Interrupts())
    assert gone([int((tmp_path / "pid").read_text(encoding="ascii"))])


def test_output_is_clipped_in_the_middle_and_whole_where_it_fits(tmp_path: Path) -> None:
    report = one(tmp_path, "i=0; while [ $i -lt 60000 ]; do echo line $i of very many lines; i=$((i+1)); done; exit 1")
    output = report.results[0].output
    assert output.startswith("line 0 ")
    assert output.rstrip().endswith("line 59999 of very many lines")
    assert "left out" in output
    assert len(output) < 700_000
    kept = Output(4, 4)
    for _ in range(3):
        kept.add(b"abcd")
    assert kept.text() == "abcd\n[... 4 bytes left out ...]\nabcd"
    kept = Output(4, 4)
    kept.add("ééé".encode())
    assert kept.text() == "ééé"


def test_checks_run_after_those_that_they_wait_for_and_side_by_side_otherwise(tmp_path: Path) -> None:
    # Both of the first two wait for the other's file: run one after the other they would time out.
    checks = resolve_checks(
        [
            {"name": "last", "command": "test -e a -a -e b", "after": ["a", "b"]},
            {"name": "a", "command": "touch a; while [ ! -e b ]; do sleep 0.01; done", "timeout": 30},
            {"name": "b", "command": "touch b; while [ ! -e a ]; do sleep 0.01; done", "timeout": 30},
        ]
    )
    report = run_checks(tmp_path, checks, CheckOptions(jobs=2))
    assert [result.outcome for result in report.results] == [Outcome.PASSED] * 3
    assert [result.name for result in report.results] == ["last", "a", "b"]


def test_a_check_is_skipped_where_what_it_needs_failed(tmp_path: Path) -> None:
    checks = resolve_checks(
        [
            {"name": "install", "command": "false", "required": False},
            {"name": "test", "command": "touch ran", "needs": ["install"]},
        ]
    )
    report = run_checks(tmp_path, checks, FAST)
    assert report.results[1].outcome is Outcome.SKIPPED
    assert "install" in report.results[1].reason
    assert not (tmp_path / "ran").exists()


def test_three_attempts_then_escalation(tmp_path: Path) -> None:
    checks = resolve_checks([{"name": "c", "command": "false"}])
    actions = [run_checks(tmp_path, checks, CheckOptions(attempt=attempt)).verdict.action for attempt in (1, 2, 3)]
    assert actions == ["retry_developer", "retry_developer", "escalate"]


def test_a_full_disk_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path, {"a.py": "1"})

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tipstaff.review.running.run.tempfile.mkdtemp", full)
    assert run_checks(folder, resolve_checks([{"name": "c", "command": "true"}])).passed


def test_only_checks_that_a_change_triggers_are_run(tmp_path: Path) -> None:
    folder = make(tmp_path, {"web/a.ts": "1", "api/b.py": "1", "README.md": "1"})
    commit(folder)
    checks = resolve_checks(
        [
            {"name": "ts", "command": "true", "triggers": ["*.ts"], "working_dir": "web"},
            {"name": "py", "command": "true", "triggers": ["*.py"]},
            {"name": "always", "command": "true"},
        ]
    )

    def ran(base: str | None = None) -> list[str]:
        report = run_checks(folder, checks, CheckOptions(changed=changed_files(folder, base)))
        return [result.name for result in report.results if result.outcome is Outcome.PASSED]

    assert ran() == []
    (folder / "web/a.ts").write_text("2", encoding="utf-8")
    assert ran() == ["ts", "always"]
    (folder / "api/new.py").write_text("2", encoding="utf-8")
    assert ran() == ["ts", "py", "always"]
    commit(folder)
    assert ran() == []
    assert ran("HEAD~1") == ["ts", "py", "always"]
    with pytest.raises(GitError, match="nosuch"):
        changed_files(folder, "nosuch")
    with pytest.raises(GitError, match="not the name"):
        changed_files(folder, "--output=x")


def test_a_difference_shows_untracked_files_as_new(tmp_path: Path) -> None:
    folder = make(tmp_path, {"a.py": "1\n", "sub/b.py": "1\n"})
    assert "+1" in diff_text(folder)  # nothing was committed: every file is new
    commit(folder)
    edit(folder, "a.py", "1", "2")
    (folder / "new file.py").write_text("x\ny", encoding="utf-8")
    (folder / "sub/data.bin").write_bytes(b"\0\1")
    (folder / "link").symlink_to("a.py")
    text = diff_text(folder)
    assert "-1\n+2\n" in text
    assert "+++ b/new file.py\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n" in text
    assert "Binary files /dev/null and b/sub/data.bin differ" in text
    assert "+a.py\n" in text
    assert diff_text(folder, files=["a.py"]).count("diff --git") == 1
    assert diff_text(folder, files=["new file.py", "*"]).count("diff --git") == 1
    with pytest.raises(GitError):
        diff_text(folder, "--output=x")


def test_changed_files_of_a_new_repository_a_deletion_and_a_subfolder(tmp_path: Path) -> None:
    folder = make(tmp_path, {"a.py": "1", "web/b.ts": "1"})
    assert changed_files(folder) == ("a.py", "web/b.ts")
    commit(folder)
    run_git(folder, "rm", "-q", "a.py")
    assert changed_files(folder) == ("a.py",)
    (folder / "web/b.ts").write_text("2", encoding="utf-8")
    assert changed_files(folder / "web") == ("b.ts",)


def test_files_without_git_are_walked(tmp_path: Path) -> None:
    folder = make(tmp_path, {"a.py": "1", "node_modules/x.js": "1", ".venv/y.py": "1", "web/b.ts": "1"}, git=False)
    (folder / "web/loop").symlink_to(folder, target_is_directory=True)
    found = [path for path in list_files(folder) if not path.startswith("..")]
    assert {"a.py", "web/b.ts"} <= set(found)
    assert not any("node_modules" in path or ".venv" in path for path in found)


def test_a_symlink_out_of_the_repository_is_no_working_folder(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    folder = make(tmp_path / "repo", {"a.py": "1"})
    (folder / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    report = one(folder, "true", working_dir="link")
    assert report.results[0].outcome is Outcome.FAILED


def test_programs_are_found_or_missed_before_the_shell_runs(tmp_path: Path) -> None:
    assert missing_program("nosuchtool --x", tmp_path) == "nosuchtool"
    assert missing_program("A=1 nosuchtool", tmp_path) == "nosuchtool"
    assert missing_program("./run.sh", tmp_path) == "./run.sh"
    for command in ("true", "cd x && y", "$TOOL x", "if true; then x; fi", "'unclosed", ""):
        assert not missing_program(command, tmp_path)


def test_a_child_s_mark_finds_it(tmp_path: Path) -> None:
    child = Child("sleep 60", tmp_path, {})
    try:
        assert not child.has_ended()
        if Path("/proc/self/environ").exists():
            # A program that is being started has no environment yet.
            for _ in range(1000):
                if kill_marked(child.mark) >= 1:
                    break
                time.sleep(0.01)
        else:
            os.kill(child.pid, signal.SIGKILL)
    finally:
        assert child.finish() == -signal.SIGKILL
    assert child.has_ended()
    assert kill_marked("no such mark") == 0


def test_reports_of_an_earlier_run_are_not_taken_for_this_one_s(tmp_path: Path) -> None:
    (tmp_path / "coverage.out").write_text("mode: set\na.go:1.1,2.2 1 1\n", encoding="utf-8")
    report = one(tmp_path, "true", threshold=50, reports=["coverage.out"], outputs=["coverage.out"])
    assert report.results[0].metric is None
    command = "printf 'mode: set\\na.go:1.1,2.2 3 1\\na.go:3.1,4.2 1 0\\n' > coverage.out"
    report = one(tmp_path, command, threshold=75, reports=["coverage.out"], outputs=["coverage.out"])
    assert (report.passed, report.results[0].metric) == (True, 75.0)


def test_orders_that_cannot_be_are_errors() -> None:
    with pytest.raises(CheckConfigError, match="wait for each other") as caught:
        resolve_checks([{"name": "a", "command": "x", "after": ["b"]}, {"name": "b", "command": "x", "needs": ["a"]}])
    assert caught.value.code == "dependency_cycle"
    with pytest.raises(CheckConfigError, match="did you mean 'build'"):
        resolve_checks([{"name": "build", "command": "x"}, {"name": "b", "command": "x", "after": ["biuld"]}])


def test_scratch_folders_are_quoted_and_removed(tmp_path: Path) -> None:
    report = one(tmp_path, "echo {scratch} > where; touch {scratch}/x")
    assert report.passed
    assert not Path((tmp_path / "where").read_text(encoding="utf-8").strip()).exists()


def test_edit_helper_refuses_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x", encoding="utf-8")
    with pytest.raises(AssertionError):
        edit(tmp_path, "a", "y", "z")


def test_check_is_a_frozen_record() -> None:
    with pytest.raises(AttributeError):
        Check(name="a", command="b").name = "c"  # type: ignore[misc]
