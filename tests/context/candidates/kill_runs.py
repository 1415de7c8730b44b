"""Kills writers at random moments and checks that nothing acknowledged is lost.

``python -m tests.context.candidates.kill_runs 200`` does it 200 times.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tipstaff.context.candidates.store import CandidateStore

WRITER = Path(__file__).with_name("killed_writer.py")
HARMLESS = {"torn"}
"""What a kill may leave: a line cut off, which was never reported as kept."""


class Outcome(NamedTuple):
    acknowledged: int
    kept: int
    torn: int


def run_once(folder: Path, seed: int, writers: int = 2) -> Outcome:
    """Start writers on one log, kill them, and compare what they reported with what is there.

    Raises
    ------
    AssertionError
        If an acknowledged observation is missing, one is there twice, or the log is not as it was written.
    """
    chooser = random.Random(seed)
    log = folder / "c.jsonl"
    children = [
        subprocess.Popen([sys.executable, str(WRITER), str(log), f"w{seed}x{number}x"], stdout=subprocess.PIPE)
        for number in range(writers)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
    for child in children:
        time.sleep(chooser.random() * 0.05)
        os.kill(child.pid, signal.SIGKILL)
    acknowledged: list[str] = []
    for child in children:
        output = child.communicate()[0].decode()
        acknowledged += output.split("\n")[:-1]
    with CandidateStore(log) as store:
        kept = [found.content for found in store.candidates()]
        strange = {incident.kind for incident in store.incidents} - HARMLESS
        torn = len(store.incidents)
        missing = set(acknowledged) - set(kept)
        assert not missing, f"seed {seed}: acknowledged and lost: {sorted(missing)[:5]}"
        assert len(set(kept)) == len(kept), f"seed {seed}: kept twice"
        assert not strange, f"seed {seed}: {store.incidents}"
        store.upsert({"content": "after all of it"})
        assert len(store.candidates()) == len(kept) + 1
    return Outcome(len(acknowledged), len(kept), torn)


def main() -> None:
    """Run as often as asked, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    for number in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            outcomes.append(run_once(Path(folder), options.seed + number))
    total = Outcome(*map(sum, zip(*outcomes, strict=True)))
    sys.stdout.write(
        f"{len(outcomes)} runs, {2 * len(outcomes)} writers killed: {total.acknowledged} observations acknowledged, "
        f"none lost; {total.kept} kept, {total.torn} lines torn\n"
    )


if __name__ == "__main__":
    main()
