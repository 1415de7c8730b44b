"""``tipstaff lint``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tipstaff.cli.output import Painter, counted, diagnostic_lines, plain, write, write_json
from tipstaff.cli.repository_root import root_of, root_option
from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.model import Severity

if TYPE_CHECKING:
    from tipstaff.guidance.lint import LintReport


@click.command("lint")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="The output format."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--select", multiple=True, metavar="CODES", help="Report these codes alone (TS5, TS503); comma-separated."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not report these codes.")
@root_option
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info"]),
    default="error",
    show_default=True,
    help="Exit with 1 for findings of this severity or above.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option(
    "--all", "everything", is_flag=True, help="Print every informational finding instead of one line for each file."
)
@click.option("--color", "color", type=click.Choice(["auto", "always", "never"]), default="auto")
def command(
    *,
    paths: tuple[Path, ...],
    form: str,
    as_json: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    root: Path | None,
    fail_on: str,
    exit_zero: bool,
    everything: bool,
    color: str,
) -> int:
    """Find what is wrong with the rule files of a repository.

    PATHS is the repository's folder (by default the one around the current folder), or some of its folders or rule
    files: the whole repository is read in either case, and only findings in those are reported.

    Exits with 1 if anything found is an error, with --fail-on warning also for a warning.
    """
    from tipstaff.guidance.lint import lint_repository

    folder, files, below = _where(paths, root)
    report = lint_repository(folder, select=_codes(select), ignore=_codes(ignore), as_root=True)
    if below:
        report = report.only(found.source for found in report.diagnostics if found.source.startswith(f"{below}/"))
    if files:
        for name in files:
            if name not in report.files and all(found.source != name for found in report.diagnostics):
                click.echo(f"tipstaff: warning: {plain(name)}: not a rule file; it was not read", err=True)
        report = report.only(files)
    if as_json or form == "json":
        groups = [group.to_dict() for group in report.groups()]
        write_json({**report.to_dict(), "groups": groups, "exit_code": int(report.fails(Severity(fail_on)))})
    elif form == "sarif":
        from tipstaff.cli.sarif import sarif

        write_json(sarif(report))
    else:
        paint = Painter(color)
        write(*_finding_lines(report, paint, everything=everything), *_summary(report, paint), painter=paint)
    return int(report.fails(Severity(fail_on)) and not exit_zero)


def _codes(given: tuple[str, ...]) -> list[str]:
    return [code.strip() for codes in given for code in codes.split(",")]


def _where(paths: tuple[Path, ...], root: Path | None) -> tuple[Path, list[str], str]:
    """Return the repository's root, and the files or the folder below it that findings are wanted for."""
    for path in paths:
        if not path.exists():
            msg = f"{path}: no such file or folder"
            raise SourceNotFoundError(msg)
    folders = [path for path in paths if path.is_dir()]
    files = [path.resolve() for path in paths if not path.is_dir()]
    if len(folders) > 1:
        msg = f"{folders[0]} and {folders[1]}: one folder can be checked at a time"
        raise ConfigError(msg)
    top = root_of(folders[0] if folders else None, root).resolve()
    outside = [path for path in (*files, *(one.resolve() for one in folders)) if not path.is_relative_to(top)]
    if outside:
        msg = f"{outside[0]}: not inside {top}"
        raise ConfigError(msg)
    below = folders[0].resolve().relative_to(top).as_posix() if folders else "."
    return top, [path.relative_to(top).as_posix() for path in files], "" if below == "." else below


def _finding_lines(report: LintReport, paint: Painter, *, everything: bool) -> list[str]:
    """Return the findings; of a file's informational ones of one kind a line with their number and an example."""
    if everything:
        return diagnostic_lines(report.diagnostics, paint)
    lines: list[str] = []
    grouped: set[tuple[str, str]] = set()
    groups = {(group.source, group.code): group for group in report.groups() if group.count > 1}
    for found in report.diagnostics:
        key = (found.source, found.code)
        if found.severity is not Severity.INFO or key not in groups:
            lines += diagnostic_lines([found], paint)
        elif key not in grouped:
            grouped.add(key)
            group = groups[key]
            lines += diagnostic_lines([found.replace(message=f"{group.count} times, as here: {found.message}")], paint)
    return lines


def _summary(report: LintReport, paint: Painter) -> list[str]:
    by_severity = [
        counted(number, severity.value, "info" if severity is Severity.INFO else None)
        for severity in Severity
        if (number := sum(found.severity is severity for found in report.diagnostics))
    ]
    verdict = paint(", ".join(by_severity), bold=True) if by_severity else paint("nothing found", "green", bold=True)
    full = f" ({report.constitution_overflow:,} without room)" if report.constitution_overflow else ""
    kinds = f"{report.constitution_rules:,} constitution{full}, {report.shard_rules:,} task-scoped"
    cost = f"constitution about {counted(report.constitution_tokens, 'token')} per turn"
    lines = [f"{verdict} in {counted(len(report.files), 'file')}: {counted(report.rules, 'rule')} ({kinds}), {cost}"]
    loads = [
        f"{load.host} {load.always_tokens:,}" + (f" (+{load.scoped_tokens:,} scoped)" if load.scoped_tokens else "")
        for load in report.hosts
    ]
    if loads:
        lines.append(paint(f"loaded by the hosts themselves, tokens per turn: {', '.join(loads)}", dim=True))
    return lines
