"""A rule is broken in recorded runs, a change of it is tried, wins, is applied, and the next run is given it.

The agent is made up: it breaks the rule in three of five runs, and in one of twenty where the rule asks for a check
at the end. Everything else is real: the rules of ``orchard``, the ledger, the trial, the patch. Works in a
temporary folder.
"""

from __future__ import annotations

import itertools
import random
import shutil
import sys
import tempfile
from pathlib import Path

from tipstaff import GuidanceControlPlane, PlaneConfig
from tipstaff.runs import ledger_metrics
from tipstaff.runs.optimizer.optimizer import Optimizer, OptimizerConfig

ORCHARD = Path(__file__).resolve().parent / "orchard"
TASK = "Add a test for the delivery day around midnight"
RULE = "TST-011"
CONFIG = OptimizerConfig(min_runs=20, cooldown_ms=0)

chance = random.Random(7)  # noqa: S311 - the same story each time
run_ids = (f"run-{number}" for number in itertools.count(1))


def show(*lines: str) -> None:
    """Print lines."""
    sys.stdout.write("\n".join(lines) + "\n")


def one_run(plane: GuidanceControlPlane) -> str:
    """Let the agent work once; returns the rule as it was given."""
    run = plane.start_run(TASK, run_id=next(run_ids))
    given = plane.retrieve_for_task(TASK, repo_scope="api/tests/test_orders.py", max_shards=8)
    text = next((one.shard.rule.text for one in given.shards if one.shard.rule.id == RULE), "")
    plane.evaluate_command("python -m pytest -q api/tests")
    broken = chance.random() < (0.05 if "Before you finish" in text else 0.6)
    if broken:
        plane.record_violation(run, RULE, severity="medium", description="a test read the clock of the machine")
    plane.finalize_run(
        run, outcome="rejected" if broken else "accepted", tests={"ran": True, "passed": 12},
        diff={"lines_added": 40}, rework_lines=15 if broken else 0,
    )  # fmt: skip
    return text


def main() -> None:
    """Tell the story."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "orchard"
        shutil.copytree(ORCHARD, root)
        config = PlaneConfig(ledger_key=bytes(range(32)), durable=False)
        with GuidanceControlPlane(root, config=config) as plane:
            tell(plane, root)


def tell(plane: GuidanceControlPlane, root: Path) -> None:
    """Tell it with a plane over the repository."""
    show("", "1. thirty runs are recorded")
    for _ in range(30):
        text = one_run(plane)
    metrics = ledger_metrics(plane.ledger.events())
    show(
        f"   {RULE}: {text}",
        f"   {metrics.violation_rate:.1f} violations in ten runs, {metrics.rework_lines:.1f} lines of rework each",
    )
    now = plane.ledger.events()[-1].timestamp
    report = plane.optimize(config=CONFIG, now=now)
    (change,) = report.proposed
    show("2. a change is proposed; a person starts its trial", f"   {change.after}", f"   because {change.rationale}")
    optimizer = Optimizer(root, plane.ledger, config=CONFIG)
    trial = optimizer.start(change.id, now=now)
    plane.initialize()
    runs = 0
    while not report.proposals and runs < 2000:
        for _ in range(10):
            one_run(plane)
        runs += 10
        report = plane.optimize(config=CONFIG, now=now)
        plane.initialize()
    (proposal,) = report.proposals
    won = next(one for one in report.trials if one.experiment.id == trial.id)
    show(
        f"3. after {runs} more runs the evidence decides: {won.decision}",
        f"   {won}",
    )
    paths = optimizer.apply(proposal.change.id, now=now)
    show(f"4. a person applies it: {', '.join(paths)}")
    patch = proposal.patch.text if proposal.patch is not None else ""
    show(*(f"   {line}" for line in patch.splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}))
    plane.initialize()
    show("5. the next run is given it", f"   {RULE}: {one_run(plane)}")
    verified = plane.ledger.verify()
    show(f"   the ledger holds {verified.checked} entries, and its chain is {'whole' if verified.ok else 'broken'}")


if __name__ == "__main__":
    main()
