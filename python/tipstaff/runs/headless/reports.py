"""Reports of headless runs, and the comparison of two."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as Xml

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.runs.headless.executors import Executor
from tipstaff.runs.headless.runner import CaseResult, SuiteResult, run_suite
from tipstaff.runs.headless.suites import Suite
from tipstaff.runs.statistics.metrics import bootstrap_difference, wilson_interval

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: SuiteResult) -> str:
    """Return JUnit XML: a failure where an assertion does not hold, an error where the program failed."""
    failed = sum(bool(one.failures) and not one.errors for one in result.results)
    broken = sum(bool(one.errors) for one in result.results)
    attributes = {
        "name": result.name, "tests": str(len(result.results)), "failures": str(failed), "errors": str(broken),
        "time": f"{result.seconds:.3f}",
    }  # fmt: skip
    root = Xml.Element("testsuites", attributes)
    suite = Xml.SubElement(root, "testsuite", attributes)
    for one in result.results:
        case = Xml.SubElement(suite, "testcase", name=one.id, classname=result.name, time=f"{one.seconds:.3f}")
        if one.errors:
            Xml.SubElement(case, "error", message=_clean(one.errors[0])).text = _clean("\n".join(one.errors))
        elif one.failures:
            Xml.SubElement(case, "failure", message=_clean(one.failures[0])).text = _clean("\n".join(one.failures))
        Xml.SubElement(case, "system-out").text = _clean(one.output)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def as_json(result: SuiteResult) -> str:
    """Return one JSON document."""
    return json.dumps({**result.to_dict(), "passed": result.passed}, ensure_ascii=False, indent=2) + "\n"


def markdown(result: SuiteResult) -> str:
    """Return a table, and what went wrong below it."""
    passed = sum(one.passed for one in result.results)
    lines = [
        f"# {result.name}: {passed} of {len(result.results)} cases passed", "",
        "| case | result | attempts | seconds | tokens |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for one in result.results:
        state = "passed" if one.passed else "error" if one.errors else "failed"
        lines.append(f"| {_cell(one.id)} | {state} | {one.attempts} | {one.seconds:.1f} | {one.event.tokens.total} |")
    for one in result.results:
        if not one.passed:
            lines += ["", f"## {one.id}", *(f"- {_cell(text)}" for text in _wrong(one))]
    return "\n".join(lines) + "\n"


def _wrong(result: CaseResult) -> tuple[str, ...]:
    return (*result.errors, *result.failures)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


# -- two sets of rule files over one suite, with repeats, and which of them agents follow better -----------------------


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
