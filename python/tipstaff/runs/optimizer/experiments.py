"""Which run has which change: seeded, balanced within each intent, recorded with the run."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable

from tipstaff.model import Record
from tipstaff.runs.events import RunEvent
from tipstaff.runs.optimizer.changes import Change
from tipstaff.runs.statistics.sequential import ARMS, SequentialTest


class Experiment(Record, frozen=True, kw_only=True):
    """One change, on trial.

    Attributes
    ----------
    id
        Of this trial; the same change may be tried again, on new evidence.
    change
        What is tried.
    started_at
        Milliseconds since 1970.
    runs_needed
        Runs in each arm at which a trial without a decision ends as rejected.
    """

    id: str
    change: Change
    started_at: int
    runs_needed: int


class Assigner:
    """Deals the arms of experiments in blocks of two within each intent, so that both arms grow alike.

    The run's id decides the first of a block, so that a process that starts a single run, as a command line does,
    deals both arms as well.

    Parameters
    ----------
    seed
        The same seed deals the same runs the same arms.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._second: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def assign(self, experiments: Iterable[Experiment], intent: str, run_id: str) -> dict[str, str]:
        """Return the arm of each experiment for a run of an intent."""
        arms: dict[str, str] = {}
        for experiment in experiments:
            block = (experiment.id, intent)
            with self._lock:
                arm = self._second.pop(block, None)
                if arm is None:
                    text = f"{self._seed}\0{experiment.id}\0{run_id}"
                    first = hashlib.sha256(text.encode()).digest()[0] & 1
                    arm, self._second[block] = ARMS[first], ARMS[1 - first]
            arms[experiment.id] = arm
        return arms


def judge(experiment: Experiment, events: Iterable[RunEvent], *, alpha: float, min_runs: int) -> SequentialTest:
    """Return the test of an experiment after the runs that took part in it, in the order of the ledger."""
    test = SequentialTest(alpha, min_runs)
    for event in events:
        arm = event.assignments.get(experiment.id)
        if arm in ARMS:
            violated = any(found.rule_id == experiment.change.rule_id for found in event.violations)
            test.observe(arm, violated, stratum=event.intent)
    return test
