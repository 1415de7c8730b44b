"""Running a suite: a clone for each case, several at once, tried again where asked for."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.guidance.reading.sources import read_repository
from tipstaff.model import Record
from tipstaff.runs.events import DiffSummary, RunEvent, TestResults, TokenUse, Violation
from tipstaff.runs.headless.executors import Executor, end_running
from tipstaff.runs.headless.suites import Case, Suite, failure_of

_GIT: Final = (
    "git",
    "-c",
    "user.name=tipstaff",
    "-c",
    "user.email=tipstaff@localhost",
    "-c",
    "core.hooksPath=/dev/null",
)


class CaseResult(Record, frozen=True, kw_only=True):
    """What became of a case.

    Attributes
    ----------
    id, passed, attempts
        Whether the last attempt passed, and how many there were.
    failures
        Assertions that did not hold in the last attempt.
    errors, notes
        What the program or the runner reported; what a person should know beside that, such as calls that were refused.
    event
        The last attempt as a run for the ledger.
    """

    id: str
    passed: bool
    attempts: int
    assertions: int
    failures: tuple[str, ...]
    errors: tuple[str, ...]
    output: str
    seconds: float
    event: RunEvent
    notes: tuple[str, ...] = ()


class SuiteResult(Record, frozen=True, kw_only=True):
    """What became of a suite."""

    name: str
    results: tuple[CaseResult, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether there are cases, and all passed."""
        return bool(self.results) and all(one.passed for one in self.results)


def run_suite(
    suite: Suite,
    root: str | Path,
    *,
    executor: Executor | None = None,
    parallel: int = 1,
    overlay: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    done: Callable[[CaseResult], None] | None = None,
) -> SuiteResult:
    """Run every case of a suite.

    Parameters
    ----------
    suite
        What is asked.
    root
        The repository; each case works in a clone of its own (a copy where it is not one of git), with the rule files
        as they are now, that is removed afterwards.
    executor
        Who is asked; the suite's where None.
    parallel
        Cases at once.
    overlay
        Files that are written into each clone first, by path: the rule files on trial.
    env
        Variables for the program.
    done
        Called with each result as it comes.
    """
    if parallel < 1:
        raise ConfigError(f"parallel is {parallel}; it must be 1 or more")
    asked = executor or Executor(suite.executor, **suite.options.to_dict())
    gates = EnforcementGates.for_repository(root).by_words()
    began = time.monotonic()

    stopped = threading.Event()

    def work(case: Case) -> CaseResult:
        result = _attempts(case, Path(root), asked, gates, overlay or {}, env, stopped)
        if done is not None and not stopped.is_set():
            done(result)
        return result

    with ThreadPoolExecutor(parallel) as pool:
        try:
            results = tuple(pool.map(work, suite.cases))
        except BaseException:
            # An interrupt: what runs has sessions of its own, and would be waited for.
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            end_running()
            raise
    return SuiteResult(name=suite.name, results=results, seconds=round(time.monotonic() - began, 3))


def _attempts(
    case: Case, root: Path, executor: Executor, gates: EnforcementGates, overlay: Mapping[str, str],
    env: Mapping[str, str] | None, stopped: threading.Event,
) -> CaseResult:  # fmt: skip
    attempt = 0
    while True:
        attempt += 1
        try:
            result = _run_case(case, root, executor, gates, overlay, env, attempt)
        except (OSError, subprocess.SubprocessError, ConfigError) as error:
            result = _broken(case, attempt, f"{type(error).__name__}: {error}")
        if result.passed or attempt > case.retries or stopped.is_set():
            return result


def _run_case(
    case: Case, root: Path, executor: Executor, gates: EnforcementGates, overlay: Mapping[str, str],
    env: Mapping[str, str] | None, attempt: int,
) -> CaseResult:  # fmt: skip
    at = time.time_ns() // 1_000_000
    tests: list[TestResults] = []
    with clone(root) as folder:
        for name, text in {**overlay, **case.files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        _git(folder, "add", "-A", "-f", "--", *overlay, *case.files) if overlay or case.files else None
        _git(folder, "commit", "-q", "--allow-empty", "--no-verify", "-m", "before the agent")
        base = _git(folder, "rev-parse", "HEAD").strip()
        finished, transcript = executor.run(case.prompt, folder, timeout_s=case.timeout_s, env=env)
        touched, diff = _changes(folder, base)
        reported = (
            str(Path(one).relative_to(folder)) if Path(one).is_relative_to(folder) else one for one in transcript.files
        )
        files = tuple(sorted({*touched, *reported}))
        failures = tuple(
            f"{one.kind}: {why}"
            for one in case.assertions
            if (why := failure_of(one, case, transcript, files, folder, gates, tests))
        ) or (() if case.assertions else ("assertions: there are none, so nothing was checked",))
    violations = tuple(Violation(rule_id=f"ASSERT-{case.id}", description=one, severity="medium") for one in failures)
    passed = not failures and not transcript.errors
    return CaseResult(
        id=case.id, passed=passed, attempts=attempt, assertions=len(case.assertions), failures=failures,
        errors=tuple(transcript.errors), notes=tuple(transcript.notes), output=transcript.result,
        seconds=finished.seconds,
        event=RunEvent(
            event_id=f"headless-{case.id}-{at}-{attempt}-{time.monotonic_ns()}", task_id=case.id, guidance_hash="",
            task=case.prompt, tools_used=tuple(transcript.tools), files_touched=files, diff_summary=diff,
            violations=violations, outcome_accepted=passed, timestamp=at, duration_ms=finished.seconds * 1e3,
            session_id=transcript.session_id or None, tokens=transcript.tokens,
            test_results=tests[-1] if tests else TestResults(),
        ),
    )  # fmt: skip


def _broken(case: Case, attempt: int, why: str) -> CaseResult:
    event = RunEvent(
        event_id=f"headless-{case.id}-{time.time_ns()}", task_id=case.id, guidance_hash="", task=case.prompt,
        outcome_accepted=False, tokens=TokenUse(),
    )  # fmt: skip
    return CaseResult(
        id=case.id, passed=False, attempts=attempt, assertions=len(case.assertions), failures=(), errors=(why,),
        output="", seconds=0.0, event=event,
    )  # fmt: skip


@contextlib.contextmanager
def clone(root: Path) -> Generator[Path]:
    """Give a working copy of a repository that is removed afterwards: of git's HEAD, else of the folder as it is.

    It is a repository of its own, without a way back: branches, stashes, settings and remotes of the user's are out of
    an agent's reach. Rule files that are not committed yet are in it as they are now.
    """
    with tempfile.TemporaryDirectory(prefix="tipstaff-case-") as scratch:
        folder = Path(scratch).resolve() / "work"
        is_repository = (root / ".git").exists() and _run(root, "rev-parse", "HEAD").returncode == 0
        if not is_repository:
            shutil.copytree(root, folder, ignore=shutil.ignore_patterns(".git", "node_modules", ".venv"))
            _git(folder, "init", "-q")
        else:
            _git(
                root,
                "clone",
                "-q",
                "-c",
                "core.hooksPath=/dev/null",
                "--template=",
                "--",
                str(root.resolve()),
                str(folder),
            )
            _git(folder, "remote", "remove", "origin")
            for name in read_repository(root).files:
                if not Path(name).is_absolute() and (root / name).is_file():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(root / name, folder / name)
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "--allow-empty", "--no-verify", "-m", "the folder")
        yield folder


def _changes(folder: Path, base: str) -> tuple[list[str], DiffSummary]:
    """Return the files that differ from the commit before the agent, and how many lines of them; commits count."""
    _git(folder, "add", "-A", "-N")
    names = [one for one in _git(folder, "diff", "--name-only", "-z", base).split("\0") if one]
    added = removed = 0
    for line in _git(folder, "diff", "--numstat", base).splitlines():
        plus, minus, _ = line.split("\t", 2)
        added, removed = added + (int(plus) if plus != "-" else 0), removed + (int(minus) if minus != "-" else 0)
    return names, DiffSummary(lines_added=added, lines_removed=removed, files_changed=len(names))


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - git, with paths as arguments
        [*_GIT, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
    )


def _git(folder: Path, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode != 0:
        raise ConfigError(f"git {arguments[0]} failed in {folder}: {done.stderr.strip()[-300:]}")
    return done.stdout
