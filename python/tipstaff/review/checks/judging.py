"""Results of checks in, what happens next out. It asks no one: exit codes, time limits and thresholds decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.review.checks.model import Check

MAX_ATTEMPTS: Final = 3

CONTINUE: Final = "continue_to_reviewer"
RETRY: Final = "retry_developer"
ESCALATE: Final = "escalate"


class CheckVerdict(Record, frozen=True, kw_only=True):
    """What the results of all checks mean.

    Attributes
    ----------
    failed_required
        Names of required checks that failed.
    warnings
        Names of optional checks that failed.
    action
        ``continue_to_reviewer``, ``retry_developer``, or ``escalate`` after the last attempt.
    """

    failed_required: tuple[str, ...]
    warnings: tuple[str, ...]
    action: str


def check_passes(check: Check, result: Mapping[str, Any] | None) -> bool:
    """Return whether a result is a pass: exit code 0, in time, and the metric not below the threshold.

    A check without a result was not asked for and counts as passed; one whose metric is missing does not.
    """
    if result is None:
        return True
    if result.get("exit_code") != 0 or result.get("timed_out"):
        return False
    if check.threshold is None:
        return True
    metric = result.get("metric")
    return isinstance(metric, int | float) and not isinstance(metric, bool) and metric >= check.threshold


def judge_checks(
    checks: Iterable[Check],
    results: Mapping[str, Mapping[str, Any]],
    *,
    attempt: int,
    max_attempts: int = MAX_ATTEMPTS,
) -> CheckVerdict:
    """Say what the results of checks mean.

    Parameters
    ----------
    checks
        The checks.
    results
        By name: ``exit_code``, and optionally ``timed_out`` and ``metric`` (coverage in percent).
    attempt
        Which attempt this is, from 1 on.
    max_attempts
        After how many a failure is escalated.

    Raises
    ------
    ConfigError
        If `attempt` or `max_attempts` is below 1.
    """
    if attempt < 1 or max_attempts < 1:
        raise ConfigError(f"attempts are counted from 1, got attempt {attempt} of {max_attempts}")
    failed = [check for check in checks if not check_passes(check, results.get(check.name))]
    required = tuple(check.name for check in failed if check.required)
    optional = tuple(check.name for check in failed if not check.required)
    action = CONTINUE if not required else RETRY if attempt < max_attempts else ESCALATE
    return CheckVerdict(failed_required=required, warnings=optional, action=action)
