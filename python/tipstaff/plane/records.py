"""Records of a plane: its settings, how it is, its figures, a run between two processes."""

from __future__ import annotations

from typing import Any, Final

from tipstaff.gates.config import GateConfig
from tipstaff.model import Record
from tipstaff.runs.events import RetrievedRule
from tipstaff.runs.limits import LoopLimits
from tipstaff.runs.statistics.metrics import ViolationRank

OUTCOMES: Final[dict[Any, bool | None]] = {
    "accepted": True, "success": True, "completed": True, "rejected": False, "failed": False, "failure": False,
    "unknown": None, True: True, False: False, None: None,
}  # fmt: skip
"""Outcomes as callers may write them."""


class PlaneConfig(Record, frozen=True, kw_only=True):
    """Settings of a plane.

    Attributes
    ----------
    gates
        Settings of the gates.
    max_shards
        Rules that a task is given, beside the constitution.
    ledger_url, ledger_key
        As of `tipstaff.runs.Ledger`; ``.tipstaff/ledger.db`` below the root where None.
    durable
        Whether the ledger flushes to the disk for each run.
    forbidden_packages, max_violations, max_rework_ratio
        What the evaluators judge by.
    limits
        When the loop breaker stops a run.
    experiments
        Whether runs take part in trials of the optimizer.
    seed
        Of the assignment of runs to trials.
    """

    gates: GateConfig = GateConfig()
    max_shards: int = 5
    ledger_url: str | None = None
    ledger_key: bytes | None = None
    durable: bool = True
    forbidden_packages: tuple[str, ...] = ()
    max_violations: int = 0
    max_rework_ratio: float = 0.3
    limits: LoopLimits = LoopLimits()
    experiments: bool = True
    seed: int = 0


class PlaneStatus(Record, frozen=True, kw_only=True):
    """How a plane is."""

    initialized: bool
    constitution_loaded: bool
    rule_count: int
    shard_count: int
    guidance_hash: str
    active_gates: int
    open_runs: int
    finished_runs: int
    open_experiments: int


class PlaneMetrics(Record, frozen=True, kw_only=True):
    """Figures of the runs that this plane finished, kept as they finish: asking costs no query."""

    violation_rate: float
    self_correction_rate: float
    rework_lines: float
    clarifying_questions: float
    task_count: int
    verdicts: dict[str, int]
    top_violations: tuple[ViolationRank, ...]


class SuspendedRun(Record, frozen=True, kw_only=True):
    """A run that was begun in one process and is finished in another; `base` is git's HEAD at its start."""

    run_id: str
    task: str
    at: int
    guidance_hash: str
    session_id: str | None = None
    agent_id: str | None = None
    assignments: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    retrieved: tuple[RetrievedRule, ...] = ()
    base: str = ""
