"""What came of a check, and of all of them."""

from __future__ import annotations

import enum
from typing import Any

from tipstaff.model import Record
from tipstaff.review.checks.judging import CheckVerdict
from tipstaff.review.findings.model import Finding


class Outcome(enum.StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    TOOL_MISSING = "tool_missing"
    NOTHING_COLLECTED = "nothing_collected"
    SKIPPED = "skipped"


class CheckResult(Record, frozen=True, kw_only=True):
    """What came of one check.

    Attributes
    ----------
    outcome
        `NOTHING_COLLECTED` is a failure where the tool's exit code says so, else a warning; `SKIPPED` is neither.
    exit_code
        Of the command: negative for a signal, None where it did not run.
    duration_s
        Of the command; 0 where it did not run.
    reason
        Why, in one sentence, where the outcome alone does not say it.
    output
        What the command printed, its middle left out where it is long.
    metric
        Coverage in percent, where a report of it was found.
    """

    name: str
    outcome: Outcome
    required: bool
    command: str
    working_dir: str = ""
    exit_code: int | None = None
    duration_s: float = 0.0
    reason: str = ""
    output: str = ""
    findings: tuple[Finding, ...] = ()
    metric: float | None = None
    threshold: float | None = None

    @property
    def failed(self) -> bool:
        """Whether it is a failure."""
        if self.outcome is Outcome.NOTHING_COLLECTED:
            return self.exit_code != 0
        return self.outcome not in {Outcome.PASSED, Outcome.SKIPPED}

    def judged(self) -> dict[str, Any] | None:
        """Return the result as :func:`tipstaff.review.judge_checks` takes it; None for one that was skipped."""
        if self.outcome is Outcome.SKIPPED:
            return None
        code = self.exit_code if self.failed or self.exit_code is not None else 0
        if self.failed and code == 0:
            code = 1
        return {"exit_code": code, "timed_out": self.outcome is Outcome.TIMED_OUT, "metric": self.metric}


class CheckReport(Record, frozen=True, kw_only=True):
    """What came of all checks.

    Attributes
    ----------
    results
        In the order of the checks.
    changed
        The changed files that triggered checks; None where all were run.
    feedback
        The text for the developer: empty where no required check failed.
    """

    results: tuple[CheckResult, ...]
    verdict: CheckVerdict
    attempt: int
    max_attempts: int
    duration_s: float
    changed: tuple[str, ...] | None = None
    feedback: str = ""

    @property
    def ran(self) -> int:
        """How many checks were run."""
        return sum(result.outcome is not Outcome.SKIPPED for result in self.results)

    @property
    def passed(self) -> bool:
        """Whether every required check passed, and at least one was run if anything has changed."""
        return not self.verdict.failed_required and (self.ran > 0 or self.changed == ())
