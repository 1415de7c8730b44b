from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tipstaff

ROOT = Path(__file__).resolve().parents[2]


def test_the_demonstration_runs_and_leaves_nothing_behind() -> None:
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
