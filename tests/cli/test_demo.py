from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tipstaff

ROOT = Path(__file__).resolve().parents[2]


def test_the_demonstration_runs_and_leaves_no_files() -> None:
    before = sorted((ROOT / "examples" / "orchard").rglob("*"))
    paths = os.pathsep.join([str(Path(tipstaff.__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, "examples/demo.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 75
    assert max(map(len, lines)) <= 140
    assert "\x1b" not in done.stdout
    assert sum(line.startswith("retrieve “") for line in lines) == 3
    assert "TS503" in done.stdout
    assert sorted((ROOT / "examples" / "orchard").rglob("*")) == before


def test_the_story_of_a_rule_that_learns() -> None:
    """A rule is broken, a change is proposed, the evidence gathered, the rule promoted, and the next run is given it."""
    before = sorted((ROOT / "examples" / "orchard").rglob("*"))
    paths = os.pathsep.join([str(Path(tipstaff.__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, "examples/learning.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    steps = [line for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [line[:2] for line in steps] == ["1.", "2.", "3.", "4.", "5."]
    changed = next(line for line in done.stdout.splitlines() if line.startswith("   +- [TST-011]"))
    given = done.stdout.splitlines()[-2].strip().removeprefix("TST-011: ")
    assert "Before you finish, check" in given
    assert given in changed, "the next run is given the rule as it was promoted"
    assert steps[2].endswith("promote")
    assert "its chain is whole" in done.stdout
    assert sorted((ROOT / "examples" / "orchard").rglob("*")) == before


def test_the_story_of_an_undo() -> None:
    """An agent deletes three untracked files and a stash, and they come back."""
    done = subprocess.run(
        [sys.executable, "examples/undo_demo.py"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 files that git does not have" in done.stdout
    assert "stash On main: discount, half done" in done.stdout
