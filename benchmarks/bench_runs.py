"""Figures of the ledger, the plane, the replay and the statistics: ``python -m benchmarks.bench_runs [--only WORD]``.

Prints one line for each figure beside what is required of it, and exits with 1 if one does not hold. A figure of a busy
machine says little: the load is printed first, and CPU time is shown beside wall time where that is what is required.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tipstaff.runs import Ledger, RunEvent, Violation, replay, rule_stats

KEY = bytes(range(32))
ORCHARD = Path(__file__).resolve().parents[1] / "examples" / "orchard"
Figure = tuple[str, float, str, bool, str]


def event(number: int) -> RunEvent:
    """Return a run of usual size."""
    return RunEvent(
        event_id=f"run-{number}", task_id=f"task-{number % 50}", guidance_hash="0123456789abcdef",
        retrieved_rule_ids=("SEC-001", "TST-010", "ORD-001"), tools_used=("Read", "npm test", "git diff"),
        files_touched=("src/a.ts", "src/b.ts"), timestamp=1_700_000_000_000 + number, session_id=f"s{number % 9}",
        violations=(Violation(rule_id="TST-010", description="no name"),) if number % 5 == 0 else (),
    )  # fmt: skip


def verify_rate(folder: Path) -> Iterator[Figure]:
    """Events a second that verification reads and checks."""
    count = 200_000
    with Ledger(f"sqlite:///{folder}/verify.db", key=KEY, durable=False) as ledger:
        for start in range(0, count, 20_000):
            ledger.append_many(event(number) for number in range(start, start + 20_000))
        rates: list[float] = []
        for _ in range(5):
            # One thread that waits for nothing: its CPU time is what it takes on a quiet machine.
            began = time.process_time()
            report = ledger.verify()
            rates.append(count / (time.process_time() - began))
            assert report.ok, report.reason
            assert report.checked == count
    best = max(rates)
    yield (
        "ledger verify, events a second of CPU",
        best,
        ">= 200,000",
        best >= 200_000,
        f"median {statistics.median(rates):,.0f}",
    )


WRITER = """
import sys, time
from benchmarks.bench_runs import KEY, event
from tipstaff.runs import Ledger
url, first, count, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
with Ledger(url, key=KEY) as ledger:
    sys.stdin.readline()
    for start in range(first, first + count, batch):
        ledger.append_many(event(number) for number in range(start, start + batch))
"""


def writers(folder: Path) -> Iterator[Figure]:
    """Events a second that eight processes append to one SQLite ledger, each append on the disk before it returns."""
    for batch in (1, 5):
        url, each = f"sqlite:///{folder}/writers{batch}.db", 500
        Ledger(url, key=KEY).close()
        started = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, url, str(n * 10_000), str(each), str(batch)], stdin=subprocess.PIPE
            )
            for n in range(8)
        ]
        time.sleep(6)  # all have opened it
        began = time.perf_counter()
        for one in started:
            assert one.stdin is not None
            one.stdin.write(b"\n")
            one.stdin.close()
        assert all(one.wait() == 0 for one in started)
        seconds = time.perf_counter() - began
        with Ledger(url, key=KEY) as ledger:
            assert ledger.verify().checked == 8 * each
        rate = 8 * each / seconds
        yield f"8 writers, {batch} to an append, events a second", rate, ">= 1,000", rate >= 1000, "nothing lost"


def plane_run(folder: Path) -> Iterator[Figure]:
    """One run end to end: start, 20 retrievals, 200 verdicts, finish; without the disk's flush."""
    import shutil

    from tipstaff import GuidanceControlPlane, PlaneConfig

    root = folder / "orchard"
    shutil.copytree(ORCHARD, root)
    commands = [f"grep -rn pattern{number} src/{number}" for number in range(190)] + ["git reset --hard"] * 10
    tasks = [f"Fix the delivery day that is wrong around midnight {number}" for number in range(20)]
    with GuidanceControlPlane(root, config=PlaneConfig(ledger_key=KEY, durable=False)) as plane:
        plane.initialize()
        wall: list[float] = []
        for _ in range(100):
            began = time.process_time()
            run = plane.start_run(tasks[0])
            for task in tasks:
                plane.retrieve_for_task(task)
            for command in commands:
                plane.evaluate_command(command)
            plane.finalize_run(run, outcome="accepted", tests={"ran": True, "passed": 5})
            wall.append((time.process_time() - began) * 1e3)
    typical = statistics.median(wall)
    yield "a plane's run, ms of CPU (median of 100)", typical, "<= 5", typical <= 5, f"least {min(wall):.1f} ms"


def made_commands(count: int) -> list[str]:
    """Return commands as agents write them, most of them distinct."""
    rng = np.random.default_rng(5)
    heads = [
        "git status", "npm test", "grep -rn", "ls -la", "git reset --hard", "rm -rf", "cat", "python -m pytest",
        "sed -n 1,20p",
    ]  # fmt: skip
    kinds, paths = rng.integers(0, len(heads), count), rng.integers(0, 400_000, count)
    return [f"{heads[kind]} src/part{path}/file.ts" for kind, path in zip(kinds.tolist(), paths.tolist(), strict=True)]


def million(folder: Path) -> Iterator[Figure]:
    """Replay a million calls, from Parquet to report, and how many of them differ in their text."""
    commands = made_commands(1_000_000)
    table = pa.table({"command": commands, "cwd": pa.array(["/srv/repository"] * len(commands))})
    path = folder / "calls.parquet"
    pq.write_table(table, path)
    distinct = len(set(commands))
    del commands, table
    from tipstaff.gates.config import GateConfig
    from tipstaff.runs.replaying.report import html_report

    began = time.perf_counter()
    report = replay(path, before=GateConfig(), after=GateConfig(destructive_ops=False))
    page = html_report(report)
    seconds = time.perf_counter() - began
    assert report.total == 1_000_000
    yield (
        "a million calls replayed, seconds", seconds, "<= 120", seconds <= 120,
        f"{distinct:,} distinct, {report.changed:,} differ, {len(page):,} characters of HTML",
    )  # fmt: skip


def beside_node(folder: Path) -> Iterator[Figure]:
    """The calls of a replay judged here and by the Node package's gates, the same calls in one run."""
    from benchmarks.peers.install import PeerUnavailableError, install, node_program

    from tipstaff.gates.judging.engine import EnforcementGates
    from tipstaff.gates.results import aggregate_decision

    commands = made_commands(200_000)
    path = folder / "commands.json"
    path.write_text(json.dumps(commands))
    try:
        words = [node_program(), str(Path(__file__).parent / "peers" / "gates_replay.mjs"), str(install()), str(path)]
    except PeerUnavailableError as error:
        print(f"---- not measured beside Node: {error}")
        return
    theirs = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    gates = EnforcementGates().offline(home="/home/user", temporary="/tmp")
    seconds, stopped = float("inf"), 0
    for _ in range(3):  # as theirs
        began = time.perf_counter()
        decided = [aggregate_decision(results) for results in gates.evaluate_batch(commands)]
        seconds = min(seconds, time.perf_counter() - began)
        stopped = sum(one in {"require-confirmation", "block"} for one in decided)
    yield (
        "200,000 commands judged, times faster than Node", theirs["seconds"] / seconds, "stated", True,
        f"{seconds:.2f} s, Node {theirs['seconds']:.2f} s; stopped {stopped:,}, Node {theirs['stopped']:,}",
    )  # fmt: skip


def rule_figures(folder: Path) -> Iterator[Figure]:
    """How rules fare in many runs."""
    del folder
    chance = random.Random(1)
    rules = [f"R-{number}" for number in range(200)]
    events = [
        RunEvent(
            event_id=str(number), task_id="t", guidance_hash="h", retrieved_rule_ids=tuple(chance.sample(rules, 5)),
            violations=tuple(Violation(rule_id=rule) for rule in chance.sample(rules, number % 2)),
        )
        for number in range(100_000)
    ]  # fmt: skip
    began = time.perf_counter()
    rule_stats(events)
    yield "s for the rules of 100,000 runs", time.perf_counter() - began, "<= 2", time.perf_counter() - began <= 2, ""


def promotions(folder: Path) -> Iterator[Figure]:
    """How often the optimizer's test promotes a change: 10,000 simulated experiments for each figure."""
    del folder
    from benchmarks.simulated_trials import simulate

    from tipstaff.runs.statistics.sequential import SequentialTest

    for rate in (0.1, 0.3, 0.5):
        found = simulate(rate, rate, runs=3_000, experiments=10_000)
        remark = f"{rate:.0%} of the runs break the rule, 3,000 looks"
        yield "% promoted without an effect", 100 * found.promoted, "<= 5", found.promoted <= 0.05, remark
        runs = SequentialTest.sample_size(rate, 0.3)
        found = simulate(rate, 0.7 * rate, runs=runs, experiments=10_000)
        remark = f"{rate:.0%} break it, 30 % fewer with the change, {runs:,} runs in each arm"
        yield "% promoted with an effect", 100 * found.promoted, ">= 80", found.promoted >= 0.8, remark


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="figures whose function's name has this word")
    chosen = parser.parse_args().only
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors")
    failed = 0
    for measure in (verify_rate, writers, plane_run, million, beside_node, rule_figures, promotions):
        if chosen not in measure.__name__:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name, value, required, holds, remark in measure(Path(folder)):
                failed += not holds
                print(f"{'ok  ' if holds else 'MISS'} {name}: {value:,.2f} ({required}); {remark}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
