"""What the action runs in a pipeline, run in a repository."""

from __future__ import annotations

import json
import os
import random
import string
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "ci_steps.sh"


@pytest.mark.parametrize(
    ("steps", "secret", "status"),
    [("lint scan", False, 0), ("lint scan", True, 1), ("size", False, 0), ("lint nonsense", False, 2)],
)
def test_steps(tmp_path: Path, steps: str, secret: bool, status: int) -> None:
    token = "ghp_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))
    (tmp_path / "AGENTS.md").write_text("# Rules\n\n- Never log tokens.\n")
    (tmp_path / "settings.py").write_text(f'TOKEN = "{token}"\n' if secret else "TOKEN = None\n")
    bin_ = Path(sys.executable).parent
    env = {"PATH": f"{bin_}{os.pathsep}/usr/bin:/bin", "HOME": str(tmp_path / "home"), "STEPS": steps, "SARIF": "found"}
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, env=env)
    done = subprocess.run(["bash", SCRIPT], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    for name in {"lint", "scan"} & set(steps.split()):
        results = json.loads((tmp_path / "found" / f"{name}.sarif").read_text())["runs"][0]["results"]
        assert bool(results) == (secret and name == "scan")
