"""Evaluation of a run by the built-in evaluators and by those that are installed.

A package offers an evaluator as an entry point of the group ``tipstaff.evaluators``: a callable that takes the run
and the criteria and returns an `EvaluatorResult`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Final, cast

from tipstaff.errors import ConfigError
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.runs.evaluators.commands import forbidden_command_scan
from tipstaff.runs.evaluators.dependencies import forbidden_dependency_scan
from tipstaff.runs.evaluators.results import Criteria, Evaluator, EvaluatorResult
from tipstaff.runs.events import RunEvent

GROUP: Final = "tipstaff.evaluators"


def tests_pass(event: RunEvent, criteria: Criteria, /) -> EvaluatorResult:
    """Fail where tests failed, none was started, or none passed (all were skipped)."""
    del criteria
    name, tests = "tests-pass", event.test_results
    total = tests.passed + tests.failed + tests.skipped
    if not tests.ran:
        return EvaluatorResult(name, False, 0.0, "no tests were run")
    score = tests.passed / total if total else 0.0
    details = f"{tests.passed} passed, {tests.failed} failed, {tests.skipped} skipped"
    if not tests.parsed:
        details += ", as the caller says: no report of them was read"
    if tests.passed == 0 and tests.failed == 0:
        details = f"tests were started and none was run to its end: {details}"
    return EvaluatorResult(name, tests.failed == 0 and tests.passed > 0, score, details)


def violation_rate(event: RunEvent, criteria: Criteria, /) -> EvaluatorResult:
    """Fail where there are more violations than allowed; each takes an equal part of the score."""
    count, most = len(event.violations), criteria.max_violations
    score = max(0.0, 1 - count / (most + 1))
    return EvaluatorResult("violation-rate", count <= most, score, f"{count} violations, at most {most} allowed")


def diff_quality(event: RunEvent, criteria: Criteria, /) -> EvaluatorResult:
    """Fail where too large a share of the changed lines was written again."""
    name = "diff-quality"
    changed = event.diff_summary.lines_added + event.diff_summary.lines_removed
    if changed == 0:
        return EvaluatorResult(name, True, 1.0, "nothing was changed")
    ratio = event.rework_lines / changed
    details = f"{event.rework_lines} of {changed} lines were written again ({ratio:.1%})"
    return EvaluatorResult(name, ratio <= criteria.max_rework_ratio, max(0.0, 1 - ratio), details)


BUILT_IN: Final[dict[str, Evaluator]] = {
    "tests-pass": tests_pass,
    "forbidden-command-scan": forbidden_command_scan,
    "forbidden-dependency-scan": forbidden_dependency_scan,
    "violation-rate": violation_rate,
    "diff-quality": diff_quality,
}
"""In the order in which they judge."""


def evaluate(
    event: RunEvent,
    *,
    forbidden_packages: Iterable[str] = (),
    max_violations: int = 0,
    max_rework_ratio: float = 0.3,
    evaluators: Iterable[str | Evaluator] | None = None,
    gates: EnforcementGates | None = None,
    cwd: str | None = None,
    judged: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[EvaluatorResult, ...]:
    """Judge a run.

    Parameters
    ----------
    event
        The run.
    forbidden_packages, max_violations, max_rework_ratio, gates, cwd, judged
        See `Criteria`.
    evaluators
        Names or callables, in this order; the built-in ones and then the installed ones if None.

    Returns
    -------
    tuple of EvaluatorResult
        One for each evaluator. One that raises gives a result that did not pass.

    Raises
    ------
    ConfigError
        An evaluator's name is not known, or a limit is negative.
    """
    if isinstance(forbidden_packages, str):
        raise ConfigError(f"forbidden_packages is {forbidden_packages!r}; it must be a list of names")
    if max_violations < 0 or max_rework_ratio < 0:
        raise ConfigError("max_violations and max_rework_ratio must be 0 or more")
    criteria = Criteria(
        forbidden_packages=tuple(forbidden_packages), max_violations=max_violations,
        max_rework_ratio=max_rework_ratio, gates=gates, cwd=cwd, judged=judged,
    )  # fmt: skip
    chosen = {**BUILT_IN, **installed()} if evaluators is None else dict(map(_named, evaluators))
    return tuple(_result(name, judge, event, criteria) for name, judge in chosen.items())


@cache
def installed() -> dict[str, Evaluator]:
    """Return the evaluators of other packages, by name; they are looked for once in a process."""
    return {point.name: cast("Evaluator", point.load()) for point in entry_points(group=GROUP)}


def _named(evaluator: str | Evaluator) -> tuple[str, Evaluator]:
    if not isinstance(evaluator, str):
        return getattr(evaluator, "__name__", type(evaluator).__name__), evaluator
    known = {**BUILT_IN, **installed()}
    if evaluator not in known:
        raise ConfigError(f"unknown evaluator {evaluator!r}; known are {', '.join(known)}")
    return evaluator, known[evaluator]


def _result(name: str, judge: Evaluator, event: RunEvent, criteria: Criteria) -> EvaluatorResult:
    try:
        return judge(event, criteria)
    except Exception as error:  # noqa: BLE001 - a judge that fails is no pass, and the others are asked all the same
        return EvaluatorResult(name, False, 0.0, f"the evaluator failed: {type(error).__name__}: {error}")
