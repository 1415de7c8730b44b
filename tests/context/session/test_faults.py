"""What happens to a session's files when it is killed, when the disk is full, and when two run at once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tipstaff.context import AutoMemory, ContextSession
from tipstaff.context.inspecting import course as course_file
from tipstaff.context.inspecting.snapshot import SnapshotFolder
from tipstaff.context.sources.auto_memory import MAX_ENTRIES

ROOT = Path(__file__).resolve().parents[3]


def started(project: Path, name: str, calls: int, *more: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.context.session.saving", str(project), name, str(calls), *map(str, more)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def session(root: Path, **options: Any) -> ContextSession:
    return ContextSession(root, model_window=6_000, max_output=500, git=None, session_id="one", **options)


def files_are_whole(project: Path) -> None:
    """Read all that sessions saved, and run another one."""
    folder = SnapshotFolder.of_project(project)
    for number in folder.numbers("one"):
        assert folder.load("one", number).request_number == number
    for file in folder.folder_of("one").glob(course_file.PATTERN):
        if file.stat().st_size:
            numbers = [call.number for call in course_file.decoded(file, "one", file.read_bytes()).course.calls]
            assert numbers == list(range(1, len(numbers) + 1))
    memory = project / ".tipstaff" / "auto-memory.md"
    if memory.exists():
        lines = memory.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line and not line.startswith(("## ", "- "))] == []
        assert [line for line in lines if line.startswith("- ") and not line.endswith(")")] == []

    found = session(project)
    found.request("go on")
    found.record({"content": "Done."})
    assert found.problems == ()
    assert len(course_file.read(folder).course.calls) == 1
    assert list(folder.folder_of("one").glob(".*.tmp")) == []


def test_killed_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(20)
    for turn in range(8):
        with started(tmp_path, f"area{turn}", 10_000) as child:
            assert child.stdout is not None
            for _ in range(chance.randrange(5, 60)):
                child.stdout.readline()
            child.kill()
        files_are_whole(tmp_path)
    # What was flushed before a kill is still there: every session compacted at least once or was too short to.
    assert "area" in (tmp_path / ".tipstaff" / "auto-memory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("most_bytes", [1, 700, 3_000])
def test_a_full_disk_stops_no_request(most_bytes: int, tmp_path: Path) -> None:
    AutoMemory.of_project(tmp_path).remember({"decisions": ["from before " + "x" * 200, "and another " + "y" * 200]})
    with started(tmp_path, "full", 60, most_bytes) as child:
        out = child.communicate(timeout=120)[0].splitlines()
    assert child.returncode == 0
    assert len(out) == 61
    problems = json.loads(out[-1])
    assert any(problem.startswith("the call was not recorded: ") for problem in problems)
    assert all("what was there before is unharmed" in problem for problem in problems)
    memory = (tmp_path / ".tipstaff" / "auto-memory.md").read_text(encoding="utf-8")
    assert "from before" in memory
    files_are_whole(tmp_path)


def test_two_processes_with_the_same_session(tmp_path: Path) -> None:
    with started(tmp_path, "left", 40) as left, started(tmp_path, "right", 40) as right:
        results = [json.loads(child.communicate(timeout=120)[0].splitlines()[-1]) for child in (left, right)]
    assert results == [[], []]
    files_are_whole(tmp_path)
    memory = (tmp_path / ".tipstaff" / "auto-memory.md").read_text(encoding="utf-8")
    assert "left/part39.py" in memory
    assert "right/part39.py" in memory
    assert 10 < len([line for line in memory.splitlines() if line.startswith("- ")]) <= 2 * MAX_ENTRIES
    kept = SnapshotFolder.of_project(tmp_path).numbers("one")
    assert kept == tuple(range(kept[0], kept[0] + len(kept)))


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"## What was decided\n\n- torn (session o", b"\0" * 4_096])
def test_a_torn_memory_stops_no_session_and_is_not_overwritten(damage: bytes, tmp_path: Path) -> None:
    memory = tmp_path / ".tipstaff" / "auto-memory.md"
    memory.parent.mkdir()
    memory.write_bytes(damage)
    with session(tmp_path) as found:
        found.request("Never touch legacy.")
        found.record({"content": "We decided to use cents."})
    after = memory.read_bytes()
    assert damage.rstrip(b"\0") in after
    if b"\xff" in damage:
        assert after == damage
        assert "not UTF-8 at byte 0; nothing is added to it" in found.problems[-1]
    else:
        assert b"Never touch legacy." in after


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / ".tipstaff").write_text("not a folder", encoding="utf-8")
    with session(tmp_path) as found:
        assert found.request("Never touch legacy.")["messages"]
        found.record({"content": "Done."})
        assert "the call was not recorded" in found.problems[-1]
    assert "what was learned was not written" in found.problems[-1]


def test_a_run_that_follows_keeps_the_course_of_the_one_before(tmp_path: Path) -> None:
    for run in range(6):
        found = session(tmp_path)
        for _ in range(run + 1):
            found.request("go on")
            found.record({"content": "Done."})
    folder = SnapshotFolder.of_project(tmp_path)
    assert len(course_file.read(folder).course.calls) == 6
    files = list(folder.folder_of("one").glob(course_file.PATTERN))
    assert len(files) == course_file.KEPT_RUNS
    assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}
