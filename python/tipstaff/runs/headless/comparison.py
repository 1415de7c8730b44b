"""Two sets of rule files over one suite, with repeats, and which of them agents follow better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.runs.headless.executors import Executor
from tipstaff.runs.headless.runner import CaseResult, run_suite
from tipstaff.runs.headless.suites import Suite
from tipstaff.runs.statistics.intervals import bootstrap_difference, wilson_interval


class ArmResult(Record, frozen=True, kw_only=True):
    """One set of rule files: how often cases passed, with the Wilson interval, and what it cost."""

    passed: int
    runs: int
    interval: tuple[float, float]
    tokens: float
    by_case: dict[str, tuple[int, int]]


class Comparison(Record, frozen=True, kw_only=True):
    """Both sets; `difference` is the pass rate of B less that of A, with its bootstrap interval within cases."""

    name: str
    a: ArmResult
    b: ArmResult
    difference: float
    interval: tuple[float, float]


def compare(
    suite: Suite, root: str | Path, a: Mapping[str, str], b: Mapping[str, str], *, repeats: int = 3,
    executor: Executor | None = None, parallel: int = 1, env: Mapping[str, str] | None = None, seed: int = 0,
    done: Callable[[CaseResult], None] | None = None,
) -> Comparison:  # fmt: skip
    """Run a suite with two sets of rule files, in turn.

    Parameters
    ----------
    suite, root, executor, parallel, env, done
        As of `run_suite`.
    a, b
        Rule files by path, which are written into each clone.
    repeats
        Times that each case is run with each set.
    seed
        Of the interval.
    """
    if repeats < 1:
        raise ConfigError(f"repeats is {repeats}; it must be 1 or more")
    results: tuple[list[CaseResult], list[CaseResult]] = ([], [])
    for turn in range(repeats):
        # Which of the two begins changes, so that neither has the quieter hours.
        for arm in (0, 1) if turn % 2 == 0 else (1, 0):
            found = run_suite(
                suite, root, executor=executor, parallel=parallel, overlay=(a, b)[arm], env=env, done=done
            )
            results[arm].extend(found.results)
    number = {case.id: at for at, case in enumerate(suite.cases)}
    values = [[float(one.passed) for one in arm] for arm in results]
    strata = [[number[one.id] for one in arm] for arm in results]
    low, high = bootstrap_difference(values[0], values[1], strata[0], strata[1], seed=seed)
    arms = [_arm(arm) for arm in results]
    return Comparison(
        name=suite.name, a=arms[0], b=arms[1], interval=(low, high),
        difference=arms[1].passed / arms[1].runs - arms[0].passed / arms[0].runs,
    )  # fmt: skip


def _arm(results: list[CaseResult]) -> ArmResult:
    by_case: dict[str, tuple[int, int]] = {}
    for one in results:
        passed, runs = by_case.get(one.id, (0, 0))
        by_case[one.id] = (passed + one.passed, runs + 1)
    passed = sum(one.passed for one in results)
    return ArmResult(
        passed=passed, runs=len(results), interval=wilson_interval(passed, len(results)), by_case=by_case,
        tokens=sum(one.event.tokens.total for one in results) / len(results),
    )  # fmt: skip
