"""What a plane and those narrowed from it have in common: gates, rules, ledger, runs and figures."""

from __future__ import annotations

import contextvars
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tipstaff.errors import ConfigError
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.plane.open_run import OpenRun
from tipstaff.plane.records import PlaneConfig, PlaneMetrics
from tipstaff.plane.rules import Rules
from tipstaff.runs.evaluators.results import EvaluatorResult
from tipstaff.runs.events import RunEvent
from tipstaff.runs.optimizer.experiments import Assigner
from tipstaff.runs.statistics.metrics import ViolationRank

if TYPE_CHECKING:
    from tipstaff.runs.ledger.ledger import Ledger

_FINISHED_KEPT: Final = 1000
_CURRENT_RUN: contextvars.ContextVar[str | None] = contextvars.ContextVar("tipstaff_run", default=None)
"""The run that calls of this thread or asyncio task belong to."""


def leave(run_id: str) -> None:
    """Let calls of this thread or asyncio task belong to a run no longer."""
    if _CURRENT_RUN.get() == run_id:
        _CURRENT_RUN.set(None)


class Shared:
    """What a plane and those narrowed from it have in common."""

    def __init__(self, root: Path, config: PlaneConfig) -> None:
        self.root = root
        self.config = config
        self.gates = EnforcementGates.for_repository(root, config.gates)
        self.assigner = Assigner(config.seed)
        self.lock = threading.Lock()
        self.rules: Rules | None = None
        self.ledger: Ledger | None = None
        self.runs: dict[str, OpenRun] = {}
        self.finished: dict[str, tuple[EvaluatorResult, ...]] = {}
        self.finished_count = 0
        self.decisions: dict[str, int] = {}
        self.sums = [0, 0, 0, 0]  # violations, put right, rework, questions
        self.violated: dict[str, list[float]] = {}

    def start(self, run: OpenRun, *, again: bool = False) -> None:
        """Take in a run, to which calls of this thread or asyncio task belong from now on.

        Raises
        ------
        ConfigError
            A run of this id was started before, and this is not it `again`.
        """
        with self.lock:
            if not again and (run.id in self.runs or run.id in self.finished):
                raise ConfigError(f"run {run.id!r} was started before")
            self.runs[run.id] = run
        _CURRENT_RUN.set(run.id)

    def open_run(self, run_id: str) -> OpenRun:
        """Return an open run.

        Raises
        ------
        ConfigError
            It is not open.
        """
        run = self.runs.get(run_id)
        if run is None:
            state = "was finished" if run_id in self.finished else "was not started here"
            raise ConfigError(f"run {run_id!r} {state}")
        return run

    def run_of_call(self, run_id: str | None) -> OpenRun | None:
        """Return the run that a call belongs to: the one named, the current one, or the only one."""
        if run_id is not None:
            return self.open_run(run_id)
        if not self.runs:
            return None
        found = self.runs.get(_CURRENT_RUN.get() or "")
        if found is None and len(self.runs) == 1:
            found = next(iter(list(self.runs.values())), None)
        return found

    def close(self, run_id: str) -> None:
        """Take an open run away."""
        with self.lock:
            self.runs.pop(run_id, None)
        leave(run_id)

    def count(self, event: RunEvent, results: tuple[EvaluatorResult, ...]) -> None:
        """Close a run with its results, and add it to the figures."""
        with self.lock:
            self.runs.pop(event.event_id, None)
            self.finished[event.event_id] = results
            while len(self.finished) > _FINISHED_KEPT:
                self.finished.pop(next(iter(self.finished)))
            self.finished_count += 1
            self.sums[0] += len(event.violations)
            self.sums[1] += sum(one.auto_corrected for one in event.violations)
            self.sums[2] += event.rework_lines
            self.sums[3] += event.clarifying_questions
            for one in event.violations:
                entry = self.violated.setdefault(one.rule_id, [0, 0.0])
                entry[0] += 1
                entry[1] += event.rework_lines / len(event.violations)
            for verdict in event.verdicts:
                self.decisions[verdict.decision] = self.decisions.get(verdict.decision, 0) + 1

    def metrics(self) -> PlaneMetrics:
        """Return the figures of the runs that were finished."""
        with self.lock:
            violations, corrected, rework, questions = self.sums
            runs, decisions = self.finished_count, dict(self.decisions)
            ranks = [
                ViolationRank(rule, int(count), lines / count, lines) for rule, (count, lines) in self.violated.items()
            ]
        return PlaneMetrics(
            violation_rate=violations / runs * 10 if runs else 0.0,
            self_correction_rate=corrected / violations if violations else float(runs > 0),
            rework_lines=rework / runs if runs else 0.0,
            clarifying_questions=questions / runs if runs else 0.0,
            task_count=runs,
            verdicts=decisions,
            top_violations=tuple(sorted(ranks, key=lambda rank: -(rank.score + rank.frequency))[:5]),
        )
