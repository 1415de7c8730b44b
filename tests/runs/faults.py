"""Kills writers and ingesters at random points: ``python -m tests.runs.faults FOLDER ROUNDS SEED``; prints JSON.

One thread, so that forking is safe. Children report on a pipe what was acknowledged to them.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.runs.made import KEY, run_event, spool_line
from tipstaff.runs import Ledger
from tipstaff.runs.ledger import ingestion

LINES = 20


def append(url: str, first: int, acknowledge: int) -> None:
    with Ledger(url, key=KEY) as ledger:
        os.write(acknowledge, b"\n")
        for number in range(first, first + 1000):
            ledger.append(run_event(number))
            os.write(acknowledge, f"{number}\n".encode())


def ingest(url: str, spool: Path, ready: int) -> None:
    with Ledger(url, key=KEY) as ledger:
        os.write(ready, b"\n")
        while True:
            ledger.ingest(spool)


def killed_after(seconds: float, child: int) -> None:
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main(folder: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    url, spool = f"sqlite:///{folder}/ledger.db", folder / "spool.jsonl"
    # Small steps, and no grace: more points at which to die.
    ingestion._LINES, ingestion.GRACE_S = 3, 0.0
    acknowledged: list[int] = []
    lines = 0
    Ledger(url, key=KEY).close()
    for round_ in range(rounds):
        reading, writing = os.pipe()
        if round_ % 2:
            with spool.open("ab") as file:
                for _ in range(LINES):
                    file.write(spool_line(lines))
                    lines += 1
        child = os.fork()
        if child == 0:
            os.close(reading)
            if round_ % 2:
                ingest(url, spool, writing)
            append(url, round_ * 1000, writing)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            if round_ % 10 > 1:  # the others may die while they open
                pipe.read(1)
            killed_after(chance.uniform(0.0, 0.03), child)
            acknowledged += [int(line) for line in pipe.read().split(b"\n")[:-1] if line]
    with Ledger(url, key=KEY) as ledger:
        for _ in range(2):
            ledger.ingest(spool)
        kept = {int(event.event_id.removeprefix("run-")) for event in ledger.events()}
        subjects = [int(record["subject"], 16) for record in ledger.records("verdict")]
        report = ledger.verify()
    result = {
        "acknowledged": len(acknowledged), "lost": len(set(acknowledged) - kept), "ok": report.ok, "reason": report.reason,
        "lines": lines, "verdicts": len(subjects), "distinct": len(set(subjects)),
        "left": sorted(path.name for path in folder.glob("spool*")),
    }  # fmt: skip
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
