"""Trials of changes: who takes part, what came of it, and what the ledger remembers of both.

The unit of a trial is a session, or a run that belongs to none: runs of one session resemble one another, so they have
one arm, and the first of them counts. Units are dealt in blocks of two within an intent; the block's coin decides which
of the two gets the change. Blocks are entries of the ledger, whichever process starts the run, so a pair is always two
units that came one after the other, and what else changes in the meantime favours neither arm.

A unit counts as it was assigned. One that is not finished in time counts as one that broke the rule, in either arm:
runs that go wrong are abandoned more often, and leaving them out would hide just that. Pairs are taken in their order,
up to the first that is not decided yet, so that waiting for a run favours neither arm.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from tipstaff.errors import LedgerError
from tipstaff.model import Record
from tipstaff.runs.events import RunEvent
from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.runs.open_run import OpenRun
from tipstaff.runs.optimizer.changes import Change, Patch
from tipstaff.runs.statistics.metrics import wilson_interval
from tipstaff.runs.statistics.sequential import ARMS, SequentialTest

ABANDONED_MS: Final = 86_400_000
"""After so long a run that was not finished counts as one that broke the rule."""

_CLOCKS_MS: Final = 7 * 86_400_000
"""Machines' clocks may differ by so much."""

_FEWEST_SIGNS: Final = 5
_RACES: Final = 100


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
        Units in each arm at which a trial without a decision ends as rejected.
    seed
        Of the coins of its blocks.
    """

    id: str
    change: Change
    started_at: int
    runs_needed: int
    seed: str = ""


class Trial(Record, frozen=True, kw_only=True):
    """A trial after the latest runs.

    Attributes
    ----------
    decision
        ``continue``, ``promote``, ``reject`` or ``stopped`` (the rule was edited meanwhile).
    runs, violations
        Of each arm: units that count, and those of them that broke the rule.
    unfinished
        Of each arm: units that count as broken because they were not finished.
    waiting
        Units that do not count yet, as they or an earlier one are not finished.
    evidence
        The e-value of `SequentialTest`; one by chance alone is above it at most once in so many trials.
    effect
        Relative reduction of violations, as observed.
    note
        What speaks against believing the figures, empty where nothing does.
    """

    experiment: Experiment
    decision: str
    runs: dict[str, int]
    violations: dict[str, int]
    unfinished: dict[str, int]
    waiting: int
    evidence: float
    effect: float | None
    note: str = ""

    def __str__(self) -> str:
        parts: list[str] = []
        for arm, words in (("treatment", "With the change"), ("control", "without it")):
            low, high = wilson_interval(self.violations[arm], self.runs[arm])
            broken, runs = self.violations[arm], self.runs[arm]
            parts.append(f"{words} the rule was broken in {broken} of {runs} runs ({low:.0%} to {high:.0%})")
        luck = f"; chance of this by luck below 1 in {int(self.evidence):,}" if self.evidence >= 2 else ""
        lost = sum(self.unfinished.values())
        missing = f"; {lost} of them were not finished and count as broken" if lost else ""
        return f"{', '.join(parts)}{missing}{luck}.{f' {self.note}' if self.note else ''}"


def assign(ledger: Ledger, experiments: Iterable[Experiment], run: OpenRun) -> dict[str, str]:
    """Return the arm of each experiment for a run, and record it.

    Raises
    ------
    StoreWriteError
        It could not be recorded.
    """
    trials = list(experiments)
    if not trials:
        return {}
    unit = f"session {run.session_id}" if run.session_id else f"run {run.event_id}"
    known: dict[tuple[str, str], str] = {}
    counts: dict[tuple[str, str], int] = {}
    for one in _assignments(ledger, min(one.started_at for one in trials)):
        known[one["experiment"], one["unit"]] = one["arm"]
        stratum = (one["experiment"], one["intent"])
        counts[stratum] = max(counts.get(stratum, 0), one["slot"] + 1)
    arms: dict[str, str] = {}
    for trial in trials:
        arm = known.get((trial.id, unit))
        slot = counts.get((trial.id, run.intent), 0)
        for slot_now in range(slot, slot + _RACES):
            if arm is not None:
                break
            dealt = ARMS[_coin(trial, run.intent, slot_now // 2) ^ slot_now & 1]
            body = {
                "experiment": trial.id, "unit": unit, "run_id": run.event_id, "intent": run.intent, "slot": slot_now,
                "arm": dealt, "at": run.timestamp,
            }  # fmt: skip
            name = hashlib.sha256(f"{trial.id}\0{run.intent}".encode()).hexdigest()[:16]
            try:
                ledger.append_record(
                    "assignment", f"assignment-{name}-{slot_now}", body, at=run.timestamp, task_id=trial.id
                )
            except LedgerError:  # another process took this place
                continue
            arm = dealt
        if arm is not None:
            arms[trial.id] = arm
    return arms


def judge(experiment: Experiment, ledger: Ledger, *, now: int, alpha: float = 0.05, min_runs: int = 30) -> Trial:
    """Return a trial as it stands."""
    assigned = [one for one in _assignments(ledger, experiment.started_at) if one["experiment"] == experiment.id]
    events = {
        event.event_id: event
        for event in ledger.iter_events(since=experiment.started_at - _CLOCKS_MS)
        if experiment.id in event.assignments
    }
    test = SequentialTest(alpha, min_runs)
    unfinished: dict[str, int] = dict.fromkeys(ARMS, 0)
    taken: list[RunEvent] = []
    waiting = len(assigned)
    for number, pair in enumerate(_pairs(assigned)):
        broken = [_broken(one, events.get(one["run_id"]), experiment.change.rule_id, now) for one in pair]
        if None in broken:
            break
        waiting -= 2
        for one, is_broken in sorted(zip(pair, broken, strict=True), key=lambda item: ARMS.index(item[0]["arm"])):
            event = events.get(one["run_id"])
            if event is None:
                unfinished[one["arm"]] += 1
            else:
                taken.append(event)
            test.observe(one["arm"], bool(is_broken), stratum=number)
    decision = test.decision
    if decision == "continue" and min(test.runs.values()) >= experiment.runs_needed:
        decision = "reject"
    return Trial(
        experiment=experiment, decision=decision, runs=dict(test.runs), violations=dict(test.violations),
        unfinished=unfinished, waiting=waiting, evidence=round(test.evidence, 6), effect=test.effect,
        note=_doubts(experiment, taken, test),
    )  # fmt: skip


def _assignments(ledger: Ledger, since: int) -> Iterator[dict[str, Any]]:
    return ledger.records("assignment", since=since - _CLOCKS_MS)


def _coin(trial: Experiment, intent: str, block: int) -> int:
    return hashlib.sha256(f"{trial.seed}\0{trial.id}\0{intent}\0{block}".encode()).digest()[0] & 1


def _pairs(assigned: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the blocks that have both of their units, by the time of the second."""
    first: dict[tuple[str, int], dict[str, Any]] = {}
    for one in assigned:
        block = (one["intent"], one["slot"] // 2)
        other = first.setdefault(block, one)
        if other is not one:
            yield other, one


def _broken(assignment: dict[str, Any], event: RunEvent | None, rule_id: str, now: int) -> bool | None:
    """Return whether a unit counts as one that broke the rule; None where that is not known yet."""
    end = assignment["at"] + ABANDONED_MS
    if event is None:
        return True if now >= end else None
    if event.timestamp + event.duration_ms > end:
        return True
    return any(found.rule_id == rule_id for found in event.violations)


def _doubts(experiment: Experiment, events: list[RunEvent], test: SequentialTest) -> str:
    """Return why agents may only report less: nothing that others see became rarer with the change."""
    if test.effect is None or test.effect <= 0:
        return ""
    silent: dict[str, int] = dict.fromkeys(ARMS, 0)
    for event in events:
        reported = any(found.rule_id == experiment.change.rule_id for found in event.violations)
        seen = (
            event.outcome_accepted is False or event.test_results.failed or event.rework_lines
            or any(one.decision in {"block", "require-confirmation"} for one in event.verdicts)
        )  # fmt: skip
        silent[event.assignments[experiment.id]] += bool(seen) and not reported
    with_change, without = (silent[arm] / max(1, test.runs[arm]) for arm in ("treatment", "control"))
    if silent["treatment"] < _FEWEST_SIGNS or with_change <= 1.5 * without:
        return ""
    return (
        f"Tests, gates or people found something wrong in {silent['treatment']} runs with the change whose agents "
        f"reported nothing, and in {silent['control']} without it: look at these before you apply it."
    )


class History:
    """Changes in the order in which they were recorded.

    Attributes
    ----------
    proposed
        Changes that wait for a person to start their trial, by id.
    open
        Trials without a decision, by id.
    waiting
        Won changes that nobody has applied, by id of the change, with what is known of them.
    applied
        Patches that were applied and not taken back, by id of the change.
    wins
        Trials that were won, by rule, since its last applied promotion or rollback.
    last
        Time in milliseconds of the last step about each rule.
    tried
        Ids of changes that are not proposed again.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.proposed: dict[str, Change] = {}
        self.open: dict[str, Experiment] = {}
        self.wins: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.waiting: dict[str, dict[str, Any]] = {}
        self.applied: dict[str, Patch] = {}
        self.applied_at: list[int] = []
        self.tried: set[str] = set()
        for record in ledger.records("change"):
            self._take(record)

    def record(self, step: str, at: int, change: Change, **more: Any) -> None:
        """Append a step to the ledger."""
        body = {"step": step, "at": at, "change": change, **more}
        self._ledger.append_record(
            "change", f"change-{step}-{secrets.token_hex(8)}", body, at=at, task_id=change.rule_id
        )
        self._take(msgspec.to_builtins(body))

    def _take(self, record: dict[str, Any]) -> None:
        change = msgspec.convert(record["change"], Change)
        step, rule = record["step"], change.rule_id
        self.tried.add(change.id)
        if step == "dropped":  # before anybody saw it, so the next proposal need not wait
            return
        if step == "proposed":
            self.proposed[change.id] = change
            return
        self.last[rule] = record["at"]
        self.proposed.pop(change.id, None)
        if step == "started":
            experiment = msgspec.convert(record["experiment"], Experiment)
            self.open[experiment.id] = experiment
        elif step in {"won", "lost", "stopped"}:
            self.open.pop(record["experiment_id"], None)
            self.wins[rule] = self.wins.get(rule, 0) + 1 if step == "won" else 0
            if step == "won":
                self.waiting[change.id] = record
        elif step == "dismissed":
            self.open = {key: one for key, one in self.open.items() if one.change.id != change.id}
            self.waiting.pop(change.id, None)
        elif step == "applied":
            # A promotion stands for the change that won.
            self.waiting = {key: one for key, one in self.waiting.items() if one["change"]["rule_id"] != rule}
            self.applied[change.id] = msgspec.convert(record["patch"], Patch)
            self.applied_at.append(record["at"])
            if change.kind == "promote":
                self.wins[rule] = 0
        elif step == "rolled-back":
            self.applied.pop(change.id, None)
            self.wins[rule] = 0
