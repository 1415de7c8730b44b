"""How many tests passed, failed and were skipped, by what the runner printed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tipstaff.review.findings.parsing import without_escapes
from tipstaff.runs.events import TestResults

_COUNT: Final = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b")
_PYTEST: Final = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.:]+ ?s", re.MULTILINE)
_UNITTEST: Final = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_PART: Final = re.compile(r"\b(failures|errors|skipped|expected failures)=(\d+)")
_JEST: Final = re.compile(r"^\s*Tests:?\s+(?=\d)(.*(?:total|\(\d+\)).*)$", re.MULTILINE)
_JEST_PART: Final = re.compile(r"(\d+) (passed|failed|skipped|todo|pending)")
_JEST_NONE: Final = re.compile(r"^No test(?: file)?s found", re.MULTILINE)
_CARGO: Final = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_GO: Final = re.compile(r"^\s*--- (PASS|FAIL|SKIP): ", re.MULTILINE)
_GO_PACKAGE: Final = re.compile(
    r"^(ok|FAIL|\?)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[no test files\]|\[build failed\])", re.MULTILINE
)
_MOCHA: Final = re.compile(r"^\s+(\d+) (passing|failing|pending)\b", re.MULTILINE)
_NODE: Final = re.compile(r"^[#ℹ] (pass|fail|skipped) (\d+)$", re.MULTILINE)
_TAP: Final = re.compile(r"^(not ok|ok)\b(.*)$", re.MULTILINE)
_TAP_SIGN: Final = re.compile(r"^(?:TAP version \d+|1\.\.\d+)", re.MULTILINE)
_JUNIT: Final = re.compile(r"<testcase\b(?:[^>]*/>|.*?</testcase>)", re.DOTALL)
_LIMIT: Final = 4 << 20


def results_of(output: str) -> TestResults | None:
    """Return what the tests came to: pytest, unittest, jest, vitest, mocha, node, go, cargo, JUnit XML and TAP.

    Parameters
    ----------
    output
        What the runner printed, or the report that it wrote; its last 4 million characters are read.

    Returns
    -------
    TestResults
        Of several summaries the sum, of pytest's the last; None where no result is recognized.
    """
    text = without_escapes(output[-_LIMIT:])
    return next((found for read in _READERS if (found := read(text)) is not None), None)


def _results(passed: int, failed: int, skipped: int) -> TestResults:
    return TestResults(ran=True, passed=passed, failed=failed, skipped=skipped, parsed=True)


def _junit(text: str) -> TestResults | None:
    if "<testsuite" not in text:
        return None
    cases = [one[0] for one in _JUNIT.finditer(text)]
    failed = sum("<failure" in one or "<error" in one for one in cases)
    skipped = sum("<skipped" in one for one in cases)
    return _results(len(cases) - failed - skipped, failed, skipped)


def _pytest(text: str) -> TestResults | None:
    found = _PYTEST.findall(text)
    if not found:
        return None
    counts = {word.removesuffix("s"): int(number) for number, word in _COUNT.findall(found[-1])}
    return _results(
        counts.get("passed", 0) + counts.get("xpassed", 0), counts.get("failed", 0) + counts.get("error", 0),
        counts.get("skipped", 0) + counts.get("xfailed", 0),
    )  # fmt: skip


def _unittest(text: str) -> TestResults | None:
    found = _UNITTEST.findall(text)
    if not found:
        return None
    parts: dict[str, int] = {}
    for name, number in _UNITTEST_PART.findall(text):
        parts[name] = parts.get(name, 0) + int(number)
    failed = parts.get("failures", 0) + parts.get("errors", 0)
    skipped = parts.get("skipped", 0) + parts.get("expected failures", 0)
    return _results(max(0, sum(map(int, found)) - failed - skipped), failed, skipped)


def _jest(text: str) -> TestResults | None:
    found = _JEST.findall(text)
    if not found:
        return _results(0, 0, 0) if _JEST_NONE.search(text) else None
    sums: dict[str, int] = {}
    for line in found:
        for number, word in _JEST_PART.findall(line):
            sums[word] = sums.get(word, 0) + int(number)
    skipped = sum(sums.get(word, 0) for word in ("skipped", "todo", "pending"))
    return _results(sums.get("passed", 0), sums.get("failed", 0), skipped)


def _cargo(text: str) -> TestResults | None:
    found = _CARGO.findall(text)
    return _results(*(sum(int(one[at]) for one in found) for at in range(3))) if found else None


def _go(text: str) -> TestResults | None:
    packages = _GO_PACKAGE.findall(text)
    if not packages:
        return None
    tests = _GO.findall(text)
    passed = tests.count("PASS") or packages.count("ok")  # without -v only packages and failures are printed
    return _results(passed, max(tests.count("FAIL"), packages.count("FAIL")), tests.count("SKIP"))


def _mocha(text: str) -> TestResults | None:
    counts = {word: int(number) for number, word in _MOCHA.findall(text)}
    return _results(counts.get("passing", 0), counts.get("failing", 0), counts.get("pending", 0)) if counts else None


def _node(text: str) -> TestResults | None:
    counts = {word: int(number) for word, number in _NODE.findall(text)}
    if not {"pass", "fail"} <= counts.keys():
        return None
    return _results(counts["pass"], counts["fail"], counts.get("skipped", 0))


def _tap(text: str) -> TestResults | None:
    if not _TAP_SIGN.search(text):
        return None
    lines = _TAP.findall(text)
    skipped = sum("# skip" in rest.lower() or "# todo" in rest.lower() for _, rest in lines)
    failed = sum(word == "not ok" and "# todo" not in rest.lower() for word, rest in lines)
    return _results(len(lines) - skipped - failed, failed, skipped)


_READERS: Final[tuple[Callable[[str], TestResults | None], ...]] = (
    _junit, _node, _pytest, _unittest, _jest, _cargo, _go, _mocha, _tap,
)  # fmt: skip
