"""Random sequences of operations, each kept first, with kills within; undone backwards, each kept point is whole.

``make sequences`` runs a thousand; ``TIPSTAFF_UNDO_SEQUENCES`` says how many, ``TIPSTAFF_UNDO_SEED`` which is the first.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.undo.operations import (
    OPERATIONS,
    Snapshot,
    copy_repository,
    lost,
    remove,
    run,
    snapshot,
    with_times_of,
)  # fmt: skip
from tipstaff.kernels._undo import keep
from tipstaff.undo import tidy, undo
from tipstaff.undo.keeps import folder_of, keeps_in
from tipstaff.undo.retention import settle

if TYPE_CHECKING:
    import pytest

SEQUENCES = int(os.environ.get("TIPSTAFF_UNDO_SEQUENCES", "6"))
SEED = int(os.environ.get("TIPSTAFF_UNDO_SEED", "1"))
LENGTH = 20
LEFT_OUT = ("find", "caf", "tar cf", "-q other", "--force other", "other:refs", "rebase", "gc -q", "pop")
"""Of these the effects hold in the first repository alone, or HEAD is on another branch afterwards."""

CHOICES = [one for one in OPERATIONS if not any(word in one.command for word in LEFT_OUT)]


class Point(NamedTuple):
    command: str
    id: str
    before: Snapshot


class Tally:
    points = kills = times = 0

    def __init__(self) -> None:
        self.wrong: list[str] = []


def killed(action, seconds: float) -> bool:
    """Run something in a process of its own, kill that after some time, and return whether it was still running."""
    child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(0)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def sequence(seed: int, root: Path, state: Path, tally: Tally) -> None:
    chance, points, ran = random.Random(seed), list[Point](), []
    for _ in range(LENGTH):
        command, effects, _ = chance.choice(CHOICES)
        before = snapshot(root)
        if chance.random() < 0.1:  # the hook dies, and the call is tried again
            tally.kills += killed(lambda: keep(effects, str(root), str(state), command=command), chance.random() * 0.05)  # noqa: B023
        folder = keep(effects, str(root), str(state), command=command)[0]
        dies = chance.random() < 0.15
        tally.kills += dies
        run(command, root, seconds=chance.random() * 0.02 if dies else None)
        for lock in (root / ".git").rglob("*.lock"):  # as a person does after a git that died
            lock.unlink()
        ran.append((len(points) if folder else None, command, dies))
        if folder is None:
            continue
        if chance.random() < 0.9:  # without the second event the reflog decides
            settle(Path(folder))
        points.append(Point(command, Path(folder).name, before))
        if chance.random() < 0.1:
            tidy(state=state)
    for number, (command, identifier, before) in reversed(list(enumerate(points))):
        if chance.random() < 0.15:
            tally.kills += killed(lambda: undo(identifier, repository=root), chance.random() * 0.1)  # noqa: B023
            for lock in (root / ".git").rglob("*.lock"):
                lock.unlink()
        report = undo(identifier, repository=root)
        after, times = with_times_of(before, snapshot(root))
        tally.points, tally.times = tally.points + 1, tally.times + times
        if gone := lost(before, after):
            tally.wrong.append(f"seed {seed}, {number}: {command}: {gone[:4]}, failed {report.failed[:3]}, of {ran}")
            return
    tidy(state=state)
    folder = folder_of(str(root), state)
    if keeps_in(folder, unfinished=True):
        tally.wrong.append(f"seed {seed}: unfinished keeps are left")


def test_each_kept_point_comes_back(model: Path, tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally()
    for seed in range(SEED, SEED + SEQUENCES):
        root = copy_repository(model, tmp_path / str(seed) / "repository")
        monkeypatch.setenv("TIPSTAFF_STATE", str(state / str(seed)))
        sequence(seed, root, state / str(seed), tally)
        remove(root.parent)
        remove(state / str(seed))
    figures = f"{SEQUENCES} sequences, {tally.points} points, {len(tally.wrong)} not whole, {tally.kills} kills, {tally.times} times"
    assert not tally.wrong, "\n".join([figures, *tally.wrong])
    if "TIPSTAFF_UNDO_SEQUENCES" in os.environ:
        sys.stdout.write(f"\n{figures}\n")
