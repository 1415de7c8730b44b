"""``tipstaff check``."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tipstaff.cli.output import Painter, check_outputs, counted, json_bytes, plain, write, write_json
from tipstaff.errors import ConfigError

if TYPE_CHECKING:
    from tipstaff.cli.review_log import ReviewLog
    from tipstaff.review.checks.model import Check
    from tipstaff.review.running.results import CheckReport

_COLOURS = {
    "passed": "green",
    "failed": "red",
    "timed_out": "red",
    "tool_missing": "red",
    "nothing_collected": "yellow",
    "skipped": "cyan",
}
_NESTED = "TIPSTAFF_CHECK_DEPTH"
_WATCH_S = 0.5
_MAX_REPEATS = 3


@click.command("check")
@click.argument("names", nargs=-1, metavar="[CHECK]...")
@click.option(
    "--root", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(), help="The repository."
)
@click.option("--changed", "only_changed", is_flag=True, help="Only checks that a changed file triggers.")
@click.option("--all", "everything", is_flag=True, help="All checks; the default.")
@click.option("--base", metavar="COMMIT", help="With --changed: compare with the common ancestor of this commit.")
@click.option("--watch", is_flag=True, help="Run again whenever a file changes, until interrupted.")
@click.option("--list", "listing", is_flag=True, help="Show the checks and do not run them.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), help="Checks run in parallel; the number of processors by default."
)
@click.option("--attempt", type=click.IntRange(min=1), default=1, help="The number of this attempt at the task.")
@click.option(
    "--max-attempts", type=click.IntRange(min=1), help="Escalate a failure after so many attempts; 3 by default."
)
@click.option("--task", default="", help="The task's description, repeated in the feedback.")
@click.option("--no-cache", is_flag=True, help="Run checks even if nothing that they depend on has changed.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github", "feedback"]),
    default="text",
    help="The output format.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="Write the JSON document to this file as well."
)
@click.option("--color", "color", type=click.Choice(["auto", "always", "never"]), default="auto")
def command(
    *,
    names: tuple[str, ...],
    root: Path,
    only_changed: bool,
    everything: bool,
    base: str | None,
    watch: bool,
    listing: bool,
    jobs: int | None,
    attempt: int,
    max_attempts: int | None,
    task: str,
    no_cache: bool,
    form: str,
    as_json: bool,
    report: Path | None,
    color: str,
) -> int:
    """Run the repository's own checks: build, tests, linters, coverage.

    The checks are those of .tipstaff/config.toml, or detected without one. CHECK selects some of them by name.

    Exits with 1 if a required check failed.
    """
    from tipstaff.cli.review_log import exit_code, review_log
    from tipstaff.review.checks.configured import configured_checks
    from tipstaff.review.config import read_config

    if only_changed and everything:
        msg = "--changed and --all exclude each other"
        raise ConfigError(msg)
    check_outputs(report)
    if watch and report is not None:
        msg = "--watch and --report exclude each other"
        raise ConfigError(msg)
    if base is not None and not only_changed:
        msg = "--base needs --changed"
        raise ConfigError(msg)
    if as_json and form not in {"text", "json"}:
        msg = f"--json and --format {form} exclude each other"
        raise ConfigError(msg)
    form = "json" if as_json else form
    _refuse_nesting()
    config = read_config(root)
    checks = _chosen(configured_checks(root, config), names)
    paint = Painter(color)
    if listing:
        _list(checks, form, paint)
        return 0
    settings: Any = config.checks if isinstance(config.checks, dict) else {}
    options: dict[str, Any] = {
        "jobs": jobs or settings.get("jobs"),
        "attempt": attempt,
        "max_attempts": max_attempts or settings.get("max_attempts") or 3,
        "use_cache": not no_cache,
        "task": task,
    }
    log = review_log(root, config)
    run = functools.partial(
        _run, root, checks, options, only_changed=only_changed, base=base, form=form, paint=paint, log=log
    )
    with _ended_by_signals():
        if watch:
            code = _watch(root, run)
        else:
            found = run()
            code = 0 if found.passed else 1
            if report is not None:
                _write_report(found, report)
    return exit_code(log, code)


@contextlib.contextmanager
def _ended_by_signals() -> Generator[None]:
    """Let the signals that end a program raise, so that the checks that run are killed with it."""

    def end(number: int, frame: object) -> None:
        del frame
        raise SystemExit(128 + number)

    wanted = [signal.SIGTERM, signal.SIGHUP] if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.getsignal(number) for number in wanted}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # under nohup it stays ignored
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _refuse_nesting() -> None:
    """Refuse to run inside a check: a target that runs this very command would never end."""
    if os.environ.get(_NESTED):
        msg = "a check runs tipstaff check itself; name that check's own command in .tipstaff/config.toml"
        raise ConfigError(msg)


def _chosen(checks: tuple[Check, ...], names: Sequence[str]) -> tuple[Check, ...]:
    from tipstaff.review.names import nearest

    known = [check.name for check in checks]
    for name in names:
        if name not in known:
            msg = f"there is no check {name!r}{nearest(name, known)}"
            raise ConfigError(msg)
    if not names:
        return checks
    return tuple(
        check.replace(
            after=tuple(one for one in check.after if one in names),
            needs=tuple(one for one in check.needs if one in names),
        )
        for check in checks
        if check.name in names
    )


def _run(
    root: Path,
    checks: tuple[Check, ...],
    options: dict[str, Any],
    *,
    only_changed: bool,
    base: str | None,
    form: str,
    paint: Painter,
    log: ReviewLog | None,
) -> CheckReport:
    from tipstaff.review.repository import changed_files
    from tipstaff.review.running.run import CheckOptions, run_checks

    changed = changed_files(root, base) if only_changed else None
    os.environ[_NESTED] = "1"
    try:
        watcher = None
        if form == "text" and sys.stdout.isatty():
            from tipstaff.cli.live_view import LiveView

            watcher = LiveView(paint)
        report = run_checks(root, checks, CheckOptions(changed=changed, **options), watcher=watcher, log=log)
    finally:
        del os.environ[_NESTED]
    _show(report, form, paint)
    return report


def _show(report: CheckReport, form: str, paint: Painter) -> None:
    if form == "json":
        write_json(_document(report))
    elif form == "feedback":
        write(*report.feedback.splitlines())
    elif form in {"sarif", "github"}:
        from tipstaff.review.findings.output import to_annotations, to_sarif

        pairs = [(result.name, finding) for result in report.results for finding in _findings(result)]
        if form == "sarif":
            write_json(to_sarif(pairs))
        else:
            write(*to_annotations(pairs))
    else:
        write(*_lines(report, paint), painter=paint)


def _write_report(report: CheckReport, path: Path) -> None:
    from tipstaff.store.replacing import replaced_file

    with replaced_file(path) as file:
        file.write(json_bytes(_document(report)))


def _document(report: CheckReport) -> dict[str, Any]:
    return {**report.to_dict(), "passed": report.passed}


def _findings(result: Any) -> list[Any]:
    from tipstaff.review.findings.model import Finding

    found = list(result.findings)
    if result.failed and not found:
        found = [Finding(path="", message=result.reason or f"{result.command} failed")]
    severity = "error" if result.required else "warning"
    return [finding.replace(severity=severity) if finding.severity == "error" else finding for finding in found]


def _lines(report: CheckReport, paint: Painter) -> list[str]:
    from tipstaff.review.running.feedback import OUTCOME_WORDS, clipped, location

    width = max((len(result.name) for result in report.results), default=0)
    lines: list[str] = []
    for result in report.results:
        colour = "yellow" if result.failed and not result.required else _COLOURS[result.outcome.value]
        took = "cached" if result.cached else f"{result.duration_s:.2f} s" if result.exit_code is not None else ""
        more = [took, *([f"{result.metric:.1f} %"] if result.metric is not None else [])]
        more += [] if result.required else ["optional"]
        about = f"  {plain(result.reason)}" if result.reason else ""
        word = paint(OUTCOME_WORDS[result.outcome].ljust(17), colour, bold=True)
        lines.append(
            f"{plain(result.name).ljust(width)}  {word} {paint(', '.join(filter(None, more)), dim=True)}{about}"
        )
        if not result.failed:
            continue
        for finding in result.findings[:20]:
            where = location(plain(finding.path), finding.line, finding.column)
            code = f" {paint(plain(finding.code), colour)}" if finding.code else ""
            lines.append(f"    {paint(where, bold=True)}{': ' if where else ''}{plain(finding.message)}{code}")
        if len(result.findings) > 20:
            lines.append(f"    and {len(result.findings) - 20:,} more; --json has them all")
        if not result.findings and result.output.strip():
            lines += [f"    {paint('|', dim=True)} {plain(row)}" for row in clipped(result.output).splitlines()]
    verdict = report.verdict
    number = counted(len(report.results), "check")
    if not report.results:
        lines.append("no checks: nothing here is of a known ecosystem; name some in .tipstaff/config.toml")
    elif verdict.failed_required:
        names = ", ".join(verdict.failed_required)
        then = "escalate" if verdict.action == "escalate" else f"attempt {report.attempt} of {report.max_attempts}"
        lines.append(paint(f"{number}, failed: {names}; {then}", "red", bold=True))
    else:
        warned = f", warnings: {', '.join(verdict.warnings)}" if verdict.warnings else ""
        lines.append(paint(f"{number} passed{warned}; {report.duration_s:.2f} s", "green", bold=True))
    return lines


def _list(checks: tuple[Check, ...], form: str, paint: Painter) -> None:
    if form == "json":
        write_json([check.to_dict() for check in checks])
        return
    width = max((len(check.name) for check in checks), default=0)
    for check in checks:
        more = [
            *([] if check.required else ["optional"]),
            *([f"{check.threshold:g} %"] if check.threshold is not None else []),
        ]
        where = f" in {check.working_dir}" if check.working_dir else ""
        about = f" ({', '.join(more)})" if more else ""
        write(f"{paint(check.name.ljust(width), bold=True)}  {check.command}{where}{about}")


def _watch(root: Path, run: Callable[[], CheckReport]) -> int:
    """Run the checks again after each change until interrupted; the code is that of the last run."""
    from tipstaff.review.running.watching import fingerprint

    report = None
    last = b""
    repeats = 0
    try:
        while True:
            now = fingerprint(root)
            if now == last:
                repeats = 0
            else:
                report = run()
                sys.stdout.flush()
                after = fingerprint(root)
                # What changed during a run is looked at in another; checks that change files each time come to rest.
                repeats = 0 if after == now else repeats + 1
                last = now if repeats <= _MAX_REPEATS else after
            time.sleep(_WATCH_S)
    except KeyboardInterrupt:
        return 0 if report is None or report.passed else 1
