"""Evaluators of a run: forbidden commands and packages, results of tests, violations, the size of the change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Final, Protocol, cast

from tipstaff.errors import ConfigError
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.model import Record
from tipstaff.review.findings.parsing import without_escapes
from tipstaff.runs.evaluators.manifests import is_manifest, matches_package, normal_name
from tipstaff.runs.events import RunEvent, TestResults


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
        self._gates = None if gates is None else gates.by_words()  # the calls are of the past

    @property
    def gates(self) -> EnforcementGates:
        """The gates; made when they are first asked for."""
        if self._gates is None:
            self._gates = default_gates().by_words()
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


# -- forbidden commands among the tools of a run, found by the gate engine ---------------------------------------------


FORBIDDEN_RULES: Final = frozenset({"network.remote-code", "uncertain.remote-code", "uncertain.code"})
"""Rules that only ask for confirmation before a call and that no run should have needed: code that nobody read."""

_PUSH: Final = "git.push-force"
_TOOL_PREFIX: Final = re.compile(r"[A-Za-z_][\w.-]{0,63}: (?=\S)")
_LANGUAGES: Final = ("python", "node")
_EVALUATES: Final = ("eval(", "exec(")


def forbidden_command_scan(event: RunEvent, criteria: Criteria, /) -> EvaluatorResult:
    """Fail where a tool call is one that the gates block, runs code that nobody read, or may rewrite a shared branch.

    Tools are names or commands, as they were called; ``Bash: COMMAND`` is read as its command. Only what would be run
    counts: a commit message or a search that mentions a forbidden command does not.
    """
    name = "forbidden-command-scan"
    found: list[str] = []
    for entry in dict.fromkeys(event.tools_used):
        known = criteria.judged.get(entry)
        rules = dict.fromkeys(forbidden_rules(entry, criteria.gates, criteria.cwd) if known is None else known)
        found.extend(f"{_shortened(entry)} ({rule})" for rule in rules)
    if not found:
        return EvaluatorResult(name, True, 1.0, f"{len(event.tools_used)} tool calls, none of them forbidden")
    return EvaluatorResult(name, False, 0.0, f"forbidden: {'; '.join(found)}")


def command_of(entry: str) -> str:
    """Return the command of a call as runs record it, with or without the tool's name: ``Bash: npm test``."""
    return _TOOL_PREFIX.sub("", entry, count=1)


def forbidden_rules(entry: str, gates: EnforcementGates, cwd: str | None = None) -> Iterator[str]:
    """Yield the ids of the gate rules by which a tool call is forbidden."""
    command = command_of(entry)
    for result in gates.evaluate_command(command, cwd=cwd):
        for finding in result.metadata.get("findings", ()):
            rule = finding.get("rule_id") or result.gate_name
            if (
                finding.get("decision", result.decision) == "block"
                or rule in FORBIDDEN_RULES
                or (rule == _PUSH and _names_no_branch(finding["text"], gates))
            ):
                yield rule
    if "(" not in command:
        return
    # A tool that takes code records the code itself.
    if command.lstrip().startswith(_EVALUATES):
        yield "uncertain.code"
    for language in _LANGUAGES:
        for result in gates.evaluate_command(command, cwd=cwd, shell=language):
            for finding in result.metadata.get("findings", ()):
                if finding["decision"] == "block" or finding["rule_id"] in FORBIDDEN_RULES:
                    yield finding["rule_id"]


def _names_no_branch(command: str, gates: EnforcementGates) -> bool:
    """Return whether a forced push leaves it to git which branch it is, which may be a shared one."""
    for read in gates.explain(command).to_dict()["commands"]:
        words = [word["text"] for word in read["words"] if not word["text"].startswith("-")]
        if "push" in words:
            return len(words) - words.index("push") <= 2
    return False


def _shortened(text: str, chars: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= chars else f"{line[: chars - 3]}..."


# -- how many tests passed, failed and were skipped, by what the runner printed ----------------------------------------


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


# -- forbidden packages: those that a run added to a manifest or lock file, or installed by a comman -------------------


INSTALLERS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "npm": ("npm", frozenset({"install", "i", "add", "in", "ins", "isntall", "install-test", "exec", "x"})),
    "pnpm": ("npm", frozenset({"add", "install", "i", "dlx"})),
    "yarn": ("npm", frozenset({"add", "dlx"})),
    "bun": ("npm", frozenset({"add", "install", "i", "a", "x"})),
    "npx": ("npm", frozenset()),
    "pnpx": ("npm", frozenset()),
    "bunx": ("npm", frozenset()),
    "pip": ("pypi", frozenset({"install"})),
    "pip3": ("pypi", frozenset({"install"})),
    "pipx": ("pypi", frozenset({"install", "run", "inject"})),
    "uv": ("pypi", frozenset({"add", "install"})),
    "uvx": ("pypi", frozenset()),
    "poetry": ("pypi", frozenset({"add"})),
    "pdm": ("pypi", frozenset({"add"})),
    "pipenv": ("pypi", frozenset({"install"})),
    "cargo": ("crates", frozenset({"add", "install"})),
    "go": ("go", frozenset({"get", "install"})),
    "gem": ("gems", frozenset({"install", "i"})),
    "bundle": ("gems", frozenset({"add"})),
    "composer": ("packagist", frozenset({"require"})),
    "dotnet": ("nuget", frozenset({"package"})),
}
"""Program: the ecosystem, and the words after which packages are named (none: after the program)."""

_PACKAGE_OPTION: Final = re.compile(r"^--(?:package|from|with|spec)=")
_VERSION: Final = re.compile(r"(?<=[^@])(?:@|[=<>!~]=?|\[).*$")


def forbidden_dependency_scan(event: RunEvent, criteria: Criteria, /) -> EvaluatorResult:
    """Fail where a forbidden package is among those that the run added or installed."""
    name = "forbidden-dependency-scan"
    if not criteria.forbidden_packages:
        return EvaluatorResult(name, True, 1.0, "no package is forbidden")
    added = [*event.dependencies_added]
    for entry in event.tools_used:
        added += installed_packages(entry, criteria.gates)
    found = sorted(
        {one for one in added for forbidden in criteria.forbidden_packages if matches_package(one, forbidden)}
    )
    if found:
        return EvaluatorResult(name, False, 0.0, f"forbidden packages were added: {', '.join(found)}")
    if event.manifests_unread:
        return EvaluatorResult(name, False, 0.0, f"what was added is not known: {'; '.join(event.manifests_unread)}")
    touched = sorted(path for path in event.files_touched if is_manifest(path))
    if touched:
        return EvaluatorResult(name, True, 1.0, f"{', '.join(touched)}: {len(added)} packages added, none is forbidden")
    return EvaluatorResult(name, True, 1.0, "no manifest was touched and no forbidden package installed")


def installed_packages(entry: str, gates: EnforcementGates) -> Iterator[str]:
    """Yield the packages, as ``ecosystem:name``, that a call installs; the gate engine reads its command."""
    entry = command_of(entry)
    if not any(program in entry for program in INSTALLERS):
        return
    for command in gates.explain(entry).to_dict()["commands"]:
        program = command["program"].rpartition("/")[2]
        words = [word["text"] for word in command["words"]]
        if program.startswith("python") and words[:2] in (["-m", "pip"], ["-m", "pipx"], ["-m", "uv"]):
            program, words = words[1], words[2:]
        about = INSTALLERS.get(program)
        if about is None:
            continue
        ecosystem, verbs = about
        start = next((at + 1 for at, word in enumerate(words) if word in verbs), None) if verbs else 0
        if start is None:
            continue
        for given in words[start:]:
            word = _PACKAGE_OPTION.sub("", given)  # npx --package=left-pad
            if word.startswith("-") or "://" in word:
                continue
            _, _, real = word.partition("@npm:")  # npm install alias@npm:left-pad
            package = _VERSION.sub("", real or word)
            if package:
                yield f"{ecosystem}:{normal_name(ecosystem, package)}"


# -- evaluation of a run by the built-in evaluators and by those that are installed ------------------------------------


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
