"""Commands as an agent runs them: the hook is asked, what it lets pass is run, and undone; nothing is lost, few wait."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hook.running import program
from tests.undo.operations import ENVIRONMENT, OPERATIONS, copy_repository, git, lost, remove, run, snapshot
from tipstaff.undo import kept, undo

if TYPE_CHECKING:
    import pytest

ORDINARY = [
    line.split(" ", 1)
    for line in (Path(__file__).parent / "ordinary.txt").read_text().splitlines()
    if line[:2] in {"= ", "! "}
]
HARMLESS = {command for sign, command in ORDINARY if sign == "="}
COMMANDS = [*((one.command, one.heads) for one in OPERATIONS), *((command, False) for _, command in ORDINARY)]
WITH_HEAD = {"index"}
"""What comes back only where HEAD does."""

PART = slice(None) if "TIPSTAFF_UNDO_SEQUENCES" in os.environ else slice(0, None, 3)
"""What the suite runs of them; ``make sequences`` runs all."""


def decision(root: Path, state: Path, command: str) -> str:
    """Return what the hook says about a command: an empty text where it lets it pass without a word."""
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(root), "tool_name": "Bash"}
    done = subprocess.run(
        [program()], input=json.dumps({**event, "tool_input": {"command": command}}).encode(), capture_output=True,
        env={**ENVIRONMENT, "HOME": str(state.parent), "TIPSTAFF_STATE": str(state)}, check=False,
    )  # fmt: skip
    reply = json.loads(done.stdout) if done.stdout else {}
    return str(reply.get("hookSpecificOutput", {}).get("permissionDecision", ""))


def test_what_the_hook_lets_pass_comes_back(
    model: Path, tmp_path: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped: list[str] = []
    idle: list[str] = []
    wrong: list[str] = []
    for number, (command, heads) in enumerate(COMMANDS[PART]):
        own = state / str(number)
        root = copy_repository(model, tmp_path / str(number) / "repository")
        before = snapshot(root)
        if decision(root, own, command) in {"ask", "deny"}:
            (idle if command in HARMLESS else stopped).append(command)
            remove(root.parent)
            continue
        run(command, root)
        with_state(own)
        for call in kept(root):
            report = undo(call.id, repository=root)
            if report.failed and heads:
                wrong.append(f"{command}: failed {report.failed[:3]}")
        if gone := held(root, [one for one in lost(before, snapshot(root)) if heads or one not in WITH_HEAD], before):
            wrong.append(f"{command}: lost {gone[:6]}, {len(kept(root))} keeps")
        remove(root.parent)
    ran = [command for command, _ in COMMANDS[PART]]
    harmless = sum(command in HARMLESS for command in ran)
    figures = (
        f"{len(ran) - harmless} that destroy, {len(stopped)} stopped; {harmless} that lose nothing, {len(idle)} stopped; "
        f"{len(wrong)} wrong"
    )
    with capsys.disabled():
        if "TIPSTAFF_UNDO_SEQUENCES" in os.environ:
            print("\n".join([figures, *(f"stopped: {one}" for one in (*stopped, *idle))]))  # noqa: T201
    assert not wrong, "\n".join([figures, *wrong])
    assert len(stopped) + len(idle) <= len(ran) * 0.25, "\n".join([figures, *stopped])
    assert len(idle) <= harmless * 0.05, "\n".join([figures, *idle])


def with_state(state: Path) -> None:
    os.environ["TIPSTAFF_STATE"] = str(state)


def held(root: Path, gone: list[str], before) -> list[str]:
    """Return what is neither there nor in git: a file that has its contents and another time is not lost."""
    found: list[str] = []
    for path in gone:
        was, here = before.files.get(path), root / path
        if (
            was
            and was[0] == "file"
            and here.is_file()
            and not here.is_symlink()
            and here.read_bytes() == was[2]
            and here.stat().st_mode == was[1]
        ):
            continue
        if path == "stash" and set(before.git["stash"].split()) <= set(
            git(root, "log", "-g", "--format=%H", "refs/stash").split()
        ):
            continue  # there is one more
        if path.startswith("refs/heads/"):  # somebody built on it: a commit that a branch reaches is not lost
            name, former = path.split()
            if former in git(root, "rev-list", name).split():
                continue
        found.append(path)
    return found
