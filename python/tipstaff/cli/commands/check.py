"""``tipstaff check``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tipstaff.cli import exits
from tipstaff.cli.options import color_option, repository_option
from tipstaff.cli.output import Painter, check_outputs, counted, json_bytes, plain, write, write_json
from tipstaff.errors import ConfigError
from tipstaff.store.untrusted import read_untrusted

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

_NOTHING = "no checks were found; name some in .tipstaff/config.toml"


@click.command("check")
@click.argument("names", nargs=-1, metavar="[CHECK]...")
@repository_option
@click.option(
    "--changed",
    "only_changed",
    is_flag=True,
    help="Only if something has changed, and of checks that declare triggers only those that a change triggers.",
)
@click.option("--all", "everything", is_flag=True, help="All checks; the default.")
@click.option("--base", metavar="COMMIT", help="With --changed: compare with the common ancestor of this commit.")
@click.option("--list", "listing", is_flag=True, help="Show the checks and do not run them.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), help="Checks run in parallel; the number of processors by default."
)
@click.option("--attempt", type=click.IntRange(min=1), default=1, help="The number of this attempt at the task.")
@click.option(
    "--max-attempts", type=click.IntRange(min=1), help="Escalate a failure after so many attempts; 3 by default."
)
@click.option("--task", default="", help="The task's description, repeated in the feedback.")
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
@color_option
def command(
    *, names: tuple[str, ...], repository: Path, only_changed: bool, everything: bool, base: str | None,
    listing: bool, jobs: int | None, attempt: int, max_attempts: int | None, task: str, form: str, as_json: bool,
    report: Path | None, color: str,
) -> int:  # fmt: skip
    """Run the repository's own checks: build, tests, linters, coverage.

    The checks are those of .tipstaff/config.toml, or detected without one. CHECK selects some of them by name.

    Exits with 1 if a required check failed, with 3 if nothing was checked: no check was found, or every one was left
    out.
    """
    from tipstaff.cli.review_log import exit_code, review_log
    from tipstaff.review.checks.configured import configured_checks
    from tipstaff.review.config import read_config

    if only_changed and everything:
        raise ConfigError("--changed and --all exclude each other")
    check_outputs(report)
    if base is not None and not only_changed:
        raise ConfigError("--base needs --changed")
    if as_json and form not in {"text", "json"}:
        raise ConfigError(f"--json and --format {form} exclude each other")
    form = "json" if as_json else form
    _refuse_nesting()
    config = read_config(repository)
    checks = _chosen(configured_checks(repository, config), names)
    paint = Painter(color)
    if not checks:
        for name, line in _missing_in_ci(repository).items():
            click.echo(f"tipstaff: its CI runs `{plain(line)}`, and there is no {plain(name)} here", err=True)
    if listing:
        _list(checks, form, paint)
        if not checks:
            click.echo(f"tipstaff: {_NOTHING}", err=True)
        return exits.OK if checks else exits.UNREADABLE
    settings: Any = config.checks if isinstance(config.checks, dict) else {}
    options: dict[str, Any] = {
        "jobs": jobs or settings.get("jobs"),
        "attempt": attempt,
        "max_attempts": max_attempts or settings.get("max_attempts") or 3,
        "task": task,
    }
    log = review_log(repository, config)
    with _ended_by_signals():
        found = _run(repository, checks, options, only_changed=only_changed, base=base, form=form, paint=paint, log=log)
        code = 0 if found.passed else 1 if found.ran else exits.UNREADABLE
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
        raise ConfigError("a check runs tipstaff check itself; name that check's own command in .tipstaff/config.toml")


def _say_what_runs(repository: Path, checks: tuple[Check, ...]) -> None:
    """Say once which commands a repository's checks run, and ask a person who is there.

    They are the repository's author's, as those of its Makefile. Said again where a command has changed.
    """
    import hashlib

    from tipstaff.store.replacing import replaced_file
    from tipstaff.store.state import state_folder

    commands = "\n".join(f"  {check.name}: {check.command}" for check in checks)
    if not commands:
        return
    place = str(repository.resolve())
    known = state_folder() / "checks" / hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    digest = hashlib.sha256(commands.encode("utf-8", "surrogateescape")).hexdigest().encode()
    with contextlib.suppress(OSError):
        if read_untrusted(known) == digest:
            return
    click.echo(
        f"tipstaff: these commands of {plain(place)} are run here for the first time:\n{plain(commands)}", err=True
    )
    if sys.stdin.isatty() and sys.stderr.isatty() and not os.environ.get("CI"):
        click.confirm("Run them?", abort=True, err=True)
    with contextlib.suppress(OSError):
        known.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replaced_file(known, durable=False) as file:
            file.write(digest)


def _chosen(checks: tuple[Check, ...], names: Sequence[str]) -> tuple[Check, ...]:
    from tipstaff.review.names import nearest

    known = [check.name for check in checks]
    for name in names:
        if name not in known:
            raise ConfigError(f"there is no check {name!r}{nearest(name, known)}")
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
    repository: Path, checks: tuple[Check, ...], options: dict[str, Any], *, only_changed: bool, base: str | None,
    form: str, paint: Painter, log: ReviewLog | None,
) -> CheckReport:  # fmt: skip
    from tipstaff.review.repository import changed_files
    from tipstaff.review.running.run import CheckOptions, run_checks

    changed = changed_files(repository, base) if only_changed else None
    if changed != ():
        _say_what_runs(repository, checks)
    os.environ[_NESTED] = "1"
    try:
        watcher = None
        if form == "text" and sys.stdout.isatty():
            from tipstaff.cli.live_view import LiveView

            watcher = LiveView(paint)
        report = run_checks(repository, checks, CheckOptions(changed=changed, **options), watcher=watcher, log=log)
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
    from tipstaff.gates.redaction import write_record

    write_record(path, json_bytes(_document(report)))


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
    from tipstaff.review.running.feedback import OUTCOME_WORDS, location, unread_output

    width = max((len(result.name) for result in report.results), default=0)
    lines: list[str] = []
    for result in report.results:
        colour = "yellow" if result.failed and not result.required else _COLOURS[result.outcome.value]
        took = f"{result.duration_s:.2f} s" if result.exit_code is not None else ""
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
        lines += [f"    {paint('|', dim=True)} {plain(row)}" for row in unread_output(result).splitlines()]
    lines.append(_summary(report, paint))
    return lines


def _missing_in_ci(repository: Path) -> dict[str, str]:
    """Return the programs that a repository's CI checks it with and that are not here, and how it calls them."""
    from tipstaff.review.checks.facts import Facts
    from tipstaff.review.checks.targets import ci_checks

    return {line.split()[0]: line for _, line, program in ci_checks(Facts(repository)) if program is None}


def _summary(report: CheckReport, paint: Painter) -> str:
    verdict = report.verdict
    skipped = len(report.results) - report.ran
    left_out = f", {skipped} left out" if skipped else ""
    if not report.results:
        return paint(f"nothing was checked: {_NOTHING}", "red", bold=True)
    if not report.ran:
        return (
            "nothing has changed, so nothing was run"
            if report.passed
            else paint(f"nothing was checked: {counted(skipped, 'check')} left out", "red", bold=True)
        )
    number = counted(report.ran, "check")
    if verdict.failed_required:
        names = ", ".join(verdict.failed_required)
        then = "escalate" if verdict.action == "escalate" else f"attempt {report.attempt} of {report.max_attempts}"
        return paint(f"{number} run{left_out}, failed: {names}; {then}", "red", bold=True)
    passed = counted(sum(result.outcome.value == "passed" for result in report.results), "check")
    warned = f", warnings: {', '.join(verdict.warnings)}" if verdict.warnings else ""
    return paint(f"{passed} passed{left_out}{warned}; {report.duration_s:.2f} s", "green", bold=True)


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
