"""The result of an evaluator for a run, and what it judges by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.model import Record
from tipstaff.runs.events import RunEvent


class EvaluatorResult(Record, frozen=True):
    """One evaluator's judgement of one run.

    Attributes
    ----------
    name
        The evaluator's.
    passed
        Whether the run is good enough.
    score
        0 (bad) to 1 (good).
    details
        Why, in one sentence.
    """

    name: str
    passed: bool
    score: float
    details: str


class Criteria:
    """What evaluators judge by.

    Parameters
    ----------
    forbidden_packages
        Names that no run may add: ``left-pad``, or ``npm:left-pad`` for one ecosystem alone.
    max_violations
        Violations that a run may have.
    max_rework_ratio
        Share of the changed lines that may have been written again.
    gates
        Judges the commands; gates with the default settings where None.
    cwd
        Where the commands ran; None where it is not known.
    judged
        Rules by which tool calls are forbidden, for calls that were judged before.
    """

    def __init__(
        self,
        *,
        forbidden_packages: tuple[str, ...] = (),
        max_violations: int = 0,
        max_rework_ratio: float = 0.3,
        gates: EnforcementGates | None = None,
        cwd: str | None = None,
        judged: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.forbidden_packages = forbidden_packages
        self.max_violations = max_violations
        self.max_rework_ratio = max_rework_ratio
        self.cwd = cwd
        self.judged = judged or {}
        self._gates = gates

    @property
    def gates(self) -> EnforcementGates:
        """The gates; made when they are first asked for."""
        if self._gates is None:
            self._gates = default_gates()
        return self._gates


class Evaluator(Protocol):
    """Judges one run; what it raises counts as a failure of the run."""

    def __call__(self, event: RunEvent, criteria: Criteria, /) -> EvaluatorResult:
        """Return the judgement."""
        ...


def default_gates() -> EnforcementGates:
    """Return gates with the default settings; making them costs more than a run, so they are made once."""
    global _shared  # noqa: PLW0603 - one for the process
    if _shared is None:
        _shared = EnforcementGates()
    return _shared


_shared: EnforcementGates | None = None
