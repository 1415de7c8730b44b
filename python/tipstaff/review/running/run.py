"""Checks of a repository, run: triggers, commands, reports, thresholds, verdict.

No result is kept for a later run: what a command reads is not known, so an earlier pass says nothing of the present.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from tipstaff.gates.redaction import redact_bytes
from tipstaff.gates.secrets.scanner import redact
from tipstaff.globs import any_matcher, at_root, compile_scope, is_pattern
from tipstaff.processors import usable_processors
from tipstaff.review.checks.judging import ESCALATE, MAX_ATTEMPTS, judge_checks
from tipstaff.review.checks.model import Check
from tipstaff.review.findings.model import Finding
from tipstaff.review.findings.parsing import located, parse_output, without_escapes
from tipstaff.review.findings.reports import MAX_REPORT_BYTES, ReportError, count_tests, parse_report
from tipstaff.review.repository import list_files
from tipstaff.review.running.coverage import coverage_percent
from tipstaff.review.running.feedback import feedback_text
from tipstaff.review.running.results import CheckReport, CheckResult, Outcome
from tipstaff.review.running.schedule import Ended, Watcher, run_all
from tipstaff.store.untrusted import read_untrusted

NOT_FOUND: Final = 127
NOT_EXECUTABLE: Final = 126
_SCRATCH: Final = "{scratch}"
_SHELL_WORDS: Final = frozenset(
    ". : [ ! { ( alias bg break case cd command continue echo eval exec exit export false fg for function getopts hash "
    "if jobs kill local printf pwd read readonly return select set shift source test time times trap true type ulimit "
    "umask unalias unset until wait while".split()
)
"""Words that a shell knows itself: whether a program of that name exists says nothing."""

_SHELL_MISSING: Final = re.compile(r"([^\s:]+): (?:(?:command )?not found|Permission denied|cannot execute)")


class CheckLog(Protocol):
    """Takes reports in, such as a ledger of runs."""

    def record_checks(self, report: CheckReport) -> None:
        """Keep a report."""


class CheckOptions:
    """How checks are run.

    Parameters
    ----------
    jobs
        How many at once; the number of processors where None.
    attempt, max_attempts
        Which attempt at the task this is, and after how many a failure is escalated.
    changed
        The changed files: nothing is run where there are none, and no check whose declared `triggers` match none of
        them. All checks are run where None.
    task
        The task's description, for the feedback.
    """

    def __init__(
        self,
        *,
        jobs: int | None = None,
        attempt: int = 1,
        max_attempts: int = MAX_ATTEMPTS,
        changed: Sequence[str] | None = None,
        task: str = "",
    ) -> None:
        self.jobs = max(1, jobs or usable_processors())
        self.attempt = attempt
        self.max_attempts = max_attempts
        self.changed = None if changed is None else tuple(changed)
        self.task = task


def run_checks(
    root: str | os.PathLike[str],
    checks: Sequence[Check],
    options: CheckOptions | None = None,
    *,
    watcher: Watcher | None = None,
    log: CheckLog | None = None,
) -> CheckReport:
    """Run checks and say what their results mean.

    Parameters
    ----------
    root
        The repository's folder.
    checks
        From `tipstaff.review.resolve_checks` or `tipstaff.review.repository_checks`.
    options
        How.
    watcher
        Receives progress events.
    log
        Takes the report in.
    """
    began = time.perf_counter()
    run = _Run(Path(root).resolve(), checks, options or CheckOptions(), watcher or Watcher())
    report = run.report(began)
    if log is not None:
        log.record_checks(report)
    return report


class _Run:
    def __init__(self, root: Path, checks: Sequence[Check], options: CheckOptions, watcher: Watcher) -> None:
        self.root = root
        self.checks = checks
        self.options = options
        self.watcher = watcher
        self.results: dict[str, CheckResult] = {}
        self.files: list[str] | None = None
        self.scratch: Path | None = None

    def report(self, began: float) -> CheckReport:
        try:
            todo = self._triggered()
            if todo:
                # Folders on a full disk cannot be made: what needs one fails by itself and says why.
                try:
                    self.scratch = Path(tempfile.mkdtemp(prefix="tipstaff-check-"))
                except OSError:
                    self.scratch = None
                run_all(todo, jobs=self.options.jobs, start=self._start, finish=self._finish, watcher=self.watcher)
        finally:
            if self.scratch is not None:
                shutil.rmtree(self.scratch, ignore_errors=True)
        results = tuple(self.results[check.name] for check in self.checks)
        judged = {result.name: value for result in results if (value := result.judged()) is not None}
        verdict = judge_checks(
            self.checks, judged, attempt=self.options.attempt, max_attempts=self.options.max_attempts
        )
        if self.options.changed != () and all(result.outcome is Outcome.SKIPPED for result in results):
            verdict = verdict.replace(action=ESCALATE)  # nothing was checked: a person has to say what would be
        feedback = feedback_text(
            results, attempt=self.options.attempt, max_attempts=self.options.max_attempts, task=self.options.task
        )
        return CheckReport(
            results=results,
            verdict=verdict,
            attempt=self.options.attempt,
            max_attempts=self.options.max_attempts,
            duration_s=time.perf_counter() - began,
            changed=self.options.changed,
            feedback=feedback,
        )

    def _triggered(self) -> list[Check]:
        """Return the checks that have to be run; the others are skipped."""
        changed = self.options.changed
        todo: list[Check] = []
        for check in self.checks:
            if changed is None or _is_triggered(check, changed):
                todo.append(check)
            else:
                self._skip(check, "no changed file is one of its triggers" if changed else "nothing has changed")
        return todo

    def _skip(self, check: Check, reason: str) -> None:
        self.results[check.name] = CheckResult(
            name=check.name,
            outcome=Outcome.SKIPPED,
            required=check.required,
            command=check.command,
            working_dir=check.working_dir,
            reason=reason,
            threshold=check.threshold,
        )

    def _start(self, check: Check) -> tuple[Path, Mapping[str, str], str] | None:
        for other in check.needs:
            result = self.results.get(other)
            if result is not None and result.failed:
                self._skip(check, f"{other} did not pass")
                return None
        folder = self.root / check.working_dir
        if not folder.is_dir() or not folder.resolve().is_relative_to(self.root):
            self._end(
                check, Ended(exit_code=None, duration_s=0.0, output="", error=f"no such folder: {check.working_dir}")
            )
            return None
        missing = missing_program(check.command, folder)
        if missing:
            self._end(check, Ended(exit_code=NOT_FOUND, duration_s=0.0, output=f"{missing}: not found"))
            self.watcher.ended(check, Ended(exit_code=NOT_FOUND, duration_s=0.0, output=""))
            return None
        scratch = str((self.scratch or Path(tempfile.gettempdir())) / re.sub(r"\W", "-", check.name))
        if self.scratch is not None and (
            _SCRATCH in check.command or any(_SCRATCH in v for v in check.environment.values())
        ):
            Path(scratch).mkdir(parents=True, exist_ok=True)
        environment = {name: value.replace(_SCRATCH, scratch) for name, value in check.environment.items()}
        self._remove_old_reports(check, folder)
        return folder, environment, check.command.replace(_SCRATCH, shlex.quote(scratch))

    def _finish(self, check: Check, ended: Ended) -> bool:
        self._end(check, ended)
        return not self.results[check.name].failed

    def _end(self, check: Check, ended: Ended) -> None:
        self.results[check.name] = self._result(check, ended)

    def _remove_old_reports(self, check: Check, folder: Path) -> None:
        """Remove reports that an earlier run left: they must not be taken for this one's."""
        for path in self._reports(check, folder):
            if check.reports and _is_output(check, path, folder):
                path.unlink(missing_ok=True)

    def _reports(self, check: Check, folder: Path) -> list[Path]:
        scratch = str((self.scratch or Path("/nonexistent")) / re.sub(r"\W", "-", check.name))
        found: list[Path] = []
        for glob in check.reports:
            plain = glob.replace(_SCRATCH, scratch)
            if plain.startswith("/"):
                found.append(Path(plain))
            elif is_pattern(plain):
                # Reports are mostly ignored by git, so the file system is asked.
                base = plain.split("*")[0].rpartition("/")[0]
                match = compile_scope(at_root(plain))
                paths = sorted((folder / base).rglob("*")) if (folder / base).is_dir() else []
                found.extend(path for path in paths if match(path.relative_to(folder).as_posix()))
            else:
                found.append(folder / plain)
        return [path for path in found if path.is_file()]

    def _result(self, check: Check, ended: Ended) -> CheckResult:
        folder = self.root / check.working_dir
        paths = self._reports(check, folder) if ended.exit_code is not None else []
        ended = ended.replace(output=redact(ended.output))
        small = [path for path in paths if path.stat().st_size <= MAX_REPORT_BYTES]
        reports = {path: redact_bytes(read_untrusted(path)) for path in small}
        metrics = [value for data in reports.values() if (value := coverage_percent(data)) is not None]
        metric = metrics[0] if metrics else None
        tests = sum(map(count_tests, reports.values()))
        outcome, reason = _outcome(check, ended, metric, tests)
        findings: list[Finding] = []
        if outcome is not Outcome.PASSED and outcome is not Outcome.TOOL_MISSING:
            findings = self._findings(check, ended, reports)
        return CheckResult(
            name=check.name,
            outcome=outcome,
            required=check.required,
            command=check.command,
            working_dir=check.working_dir,
            exit_code=ended.exit_code,
            duration_s=ended.duration_s,
            reason=reason,
            output=without_escapes(ended.output),
            findings=tuple(findings),
            metric=metric,
            threshold=check.threshold,
        )

    def _findings(self, check: Check, ended: Ended, reports: Mapping[Path, bytes]) -> list[Finding]:
        found: list[Finding] = []
        for path, data in reports.items():
            try:
                found.extend(parse_report(data) or ())
            except ReportError as error:
                note = f"this report cannot be read: {error}"
                found.append(Finding(path=str(path), message=note, severity="warning", tool="report"))
        if not any(finding.path and finding.tool != "report" for finding in found):
            found.extend(parse_output(ended.output, check.parser))
        if self.files is None:
            self.files = list_files(self.root)
        return located(found, self.root, check.working_dir, self.files)


def _is_triggered(check: Check, changed: Sequence[str]) -> bool:
    """Return whether a change can concern a check: any change where it declares no triggers."""
    if not check.triggers:
        return bool(changed)
    prefix = f"{check.working_dir}/" if check.working_dir else ""
    match = any_matcher(check.triggers)
    return any(path.startswith(prefix) and match(path[len(prefix) :]) for path in changed)


def missing_program(command: str, folder: Path) -> str:
    """Return the program of a simple command if it does not exist; empty where it does or nobody can tell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    word = next((one for one in words if not re.match(r"[A-Za-z_]\w*=", one)), "")
    if not word or word in _SHELL_WORDS or re.search(r"[$`*?;&|<>(){}~#]", word):
        return ""
    if "/" in word:
        return "" if (folder / word).exists() else word
    return "" if shutil.which(word) else word


def _is_output(check: Check, path: Path, folder: Path) -> bool:
    inside = path.is_relative_to(folder)
    return not inside or any(
        compile_scope(f"**/{glob}" if glob.endswith("/") else glob)(path.relative_to(folder).as_posix())
        for glob in check.outputs
    )


def _outcome(check: Check, ended: Ended, metric: float | None, tests: int) -> tuple[Outcome, str]:
    """Return how a check ended, and why where that needs a sentence; `tests` is how many its reports have."""
    if ended.exit_code is None:
        return Outcome.FAILED, f"it could not be started: {ended.error}"
    if ended.timed_out:
        return Outcome.TIMED_OUT, f"it was killed after {check.timeout_s:g} s"
    if ended.exit_code in {NOT_FOUND, NOT_EXECUTABLE}:
        named = _SHELL_MISSING.findall(ended.output)
        name = named[-1][:100] if named else check.command.split()[0]
        return Outcome.TOOL_MISSING, f"{name} is not installed or cannot be executed"
    if ended.exit_code != 0 and check.missing_pattern and re.search(check.missing_pattern, ended.output):
        return Outcome.TOOL_MISSING, "its tool is not installed in this environment"
    # One module without tests says so as well where others have some.
    is_empty = bool(check.empty_pattern) and not tests and re.search(check.empty_pattern, ended.output) is not None
    if is_empty or (check.empty_exit is not None and ended.exit_code == check.empty_exit):
        return Outcome.NOTHING_COLLECTED, "it ran, but there was nothing to test"
    if ended.exit_code != 0:
        return Outcome.FAILED, f"killed by signal {-ended.exit_code}" if ended.exit_code < 0 else ""
    if check.fails_on_output and ended.output.strip():
        return Outcome.FAILED, "it printed something"
    if check.threshold is not None:
        if metric is None:
            return Outcome.FAILED, f"no coverage was reported; the threshold is {check.threshold:g} %"
        if metric < check.threshold:
            return Outcome.FAILED, f"coverage is {metric:.4g} %, below the threshold of {check.threshold:g} %"
    return Outcome.PASSED, ""
