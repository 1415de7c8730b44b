"""``tipstaff lint``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tipstaff.cli.options import color_option, repository_option
from tipstaff.cli.output import Painter, counted, diagnostic_lines, plain, write, write_json
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
@repository_option
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
@color_option
def command(
    *, paths: tuple[Path, ...], form: str, as_json: bool, select: tuple[str, ...], ignore: tuple[str, ...],
    repository: Path, fail_on: str, exit_zero: bool, everything: bool, color: str,
) -> int:  # fmt: skip
    """Find what is wrong with the rule files of a repository.

    PATHS are folders or rule files of the repository: all of it is read in any case, and only what is found in those is
    reported.

    Exits with 1 if anything found is an error, with --fail-on warning also for a warning.
    """
    from tipstaff.guidance.lint import lint_repository

    files, folders = _within(paths, repository)
    report = lint_repository(repository, select=_codes(select), ignore=_codes(ignore), as_root=True)
    if not report.files and not report.diagnostics:
        raise SourceNotFoundError(
            f"{repository}: no rule files; write a CLAUDE.md or AGENTS.md, or name the repository with -C"
        )
    if files or folders:
        for name in files:
            if name not in report.files and all(found.source != name for found in report.diagnostics):
                click.echo(f"tipstaff: warning: {plain(name)}: not a rule file; it was not read", err=True)
        below = {found.source for found in report.diagnostics if found.source.startswith(folders)} if folders else ()
        report = report.only([*files, *below])
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


def _within(paths: tuple[Path, ...], repository: Path) -> tuple[list[str], tuple[str, ...]]:
    """Return the files that findings are wanted for, and the folders with a slash at the end, from the root."""
    top = repository.resolve()
    files: list[str] = []
    folders: list[str] = []
    for path in paths:
        if not path.exists():
            raise SourceNotFoundError(f"{path}: no such file or folder")
        if not path.resolve().is_relative_to(top):
            raise ConfigError(f"{path}: not inside {top}; name its repository with -C")
        name = path.resolve().relative_to(top).as_posix()
        if not path.is_dir():
            files.append(name)
        else:
            folders.append("" if name == "." else f"{name}/")
    return files, tuple(folders)


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
