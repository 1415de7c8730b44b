"""Figures of a ledger as a whole, and the violations that cost most.

Source: ADR-G001, "Ledger" and "Optimizer".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tipstaff.model import Record
from tipstaff.runs.events import RunEvent

_PER_RUNS: Final = 10


class Metrics(Record, frozen=True):
    """Figures of a set of runs.

    Attributes
    ----------
    violation_rate
        Violations in ten runs.
    self_correction_rate
        Share of the violations that agents put right themselves; 1 where runs have none, 0 where there are no runs.
    rework_lines
        Mean lines written again, over all runs.
    clarifying_questions
        Mean questions that agents asked, over all runs.
    task_count
        Number of runs.
    """

    violation_rate: float
    self_correction_rate: float
    rework_lines: float
    clarifying_questions: float
    task_count: int


class ViolationRank(Record, frozen=True):
    """One rule's violations.

    Attributes
    ----------
    rule_id
        The rule.
    frequency
        How often it was broken.
    cost
        Mean lines of rework that a violation of it is charged with.
    score
        ``frequency * cost``: all its lines of rework.
    """

    rule_id: str
    frequency: int
    cost: float
    score: float


def ledger_metrics(events: Iterable[RunEvent]) -> Metrics:
    """Return the figures of runs."""
    runs = violations = corrected = rework = questions = 0
    for event in events:
        runs += 1
        violations += len(event.violations)
        corrected += sum(found.auto_corrected for found in event.violations)
        rework += event.rework_lines
        questions += event.clarifying_questions
    if runs == 0:
        return Metrics(0.0, 0.0, 0.0, 0.0, 0)
    return Metrics(
        violation_rate=violations / runs * _PER_RUNS,
        self_correction_rate=corrected / violations if violations else 1.0,
        rework_lines=rework / runs,
        clarifying_questions=questions / runs,
        task_count=runs,
    )
