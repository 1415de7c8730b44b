"""Attacks by a file system that does not answer: whoever asks it waits for good, and no signal ends that."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.playing import STOPPED, Victim
from tests.hook.running import Answer, program

MOUNT = Path(__file__).with_name("unanswered_mount.py")


def asked(victim: Victim, event: dict[str, Any], mount: Path, *, reads: bool, **environment: str) -> tuple[float, str]:
    """Return the seconds that the hook took, and its decision, while a mount does not answer."""
    mount.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, MOUNT, mount, str(int(reads)), program(), "--host", "claude"], check=False, timeout=60,
        input=json.dumps(event).encode(), capture_output=True, env=victim.environment(environment),
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("FUSE cannot be mounted here")
    took, status, output, error = json.loads(done.stdout)
    return took, Answer(status, output.encode(), error.encode()).decision() or "allow"


@pytest.mark.parametrize("reads", [False, True], ids=["unread", "read"])
@pytest.mark.parametrize("held", ["script", "link", "folder", "repository", "state", "home"])
def test_the_hook_answers_all_the_same(victim: Victim, held: str, reads: bool) -> None:
    mount = victim.home / "mnt"
    event, environment = victim.call("Bash", {"command": "sh x.sh"}), {}
    match held:
        case "script":
            event["tool_input"] = {"command": f"sh {mount}/x.sh"}
        case "link":
            (victim.repository / "docs").symlink_to(mount)
            event["tool_input"] = {"command": "rm -rf docs/x"}
        case "folder":
            event["cwd"] = str(mount)
        case "repository":
            environment["CLAUDE_PROJECT_DIR"] = str(mount / "proj")
        case "state":
            environment["TIPSTAFF_STATE"] = str(mount / "state")
        case _:
            environment["HOME"] = str(mount)
    took, decision = asked(victim, event, mount, reads=reads, **environment)
    assert decision in STOPPED
    assert took < 5  # 0.2 s of its own; a machine under load takes longer to start it
