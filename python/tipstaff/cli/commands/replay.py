"""``tipstaff replay``."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path

import click

from tipstaff.cli import exits
from tipstaff.cli.options import cluster_option, json_option, repository_option
from tipstaff.cli.output import Painter, check_outputs, plain, write, write_json
from tipstaff.errors import SourceNotFoundError


@click.command("replay")
@click.argument("calls", type=click.Path(path_type=Path))
@repository_option
@click.option("--before", type=click.Path(path_type=Path), help="A repository or a pack; by default the repository.")
@click.option("--after", required=True, type=click.Path(path_type=Path), help="A repository or a pack.")
@click.option("--html", type=click.Path(path_type=Path), help="Write the report as one HTML page.")
@click.option("--threads", type=click.IntRange(1), help="Threads; by default the number of processors.")
@cluster_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
@json_option
def command(
    calls: Path, repository: Path, before: Path | None, after: Path, html: Path | None, threads: int | None,
    cluster: str | None, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Show what a changed policy or rule set would have decided about recorded calls and tasks.

    CALLS is a Parquet or Arrow file, or a folder of them, with columns command, or tool and params (JSON); cwd; and
    task. What `tipstaff ledger export` writes is one as well: the calls and tasks of the runs. Nothing is run.
    Exits with 1 if something would differ.
    """
    import sys

    from tipstaff.gates.redaction import write_record
    from tipstaff.runs.replaying.comparing import replay
    from tipstaff.runs.replaying.report import html_report

    check_outputs(html)
    before = before or repository
    with contextlib.ExitStack() as opened:
        show: Callable[[int, int], None] | None = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            bar = opened.enter_context(Progress(console=Console(stderr=True), transient=True))
            task = bar.add_task("replay", total=None)
            show = lambda done, of: bar.update(task, completed=done, total=of)  # noqa: E731
        spread = None
        if cluster:
            from tipstaff.cluster.spreading import open_cluster

            spread = functools.partial(opened.enter_context(open_cluster(cluster)).map, progress=show)
        report = replay(calls, before=before, after=after, threads=threads, progress=show, spread=spread)
    if html is not None:
        write_record(html, html_report(report))
    if not report.total and not report.tasks:
        raise SourceNotFoundError(f"{calls}: it has no calls and no tasks")
    changed = bool(report.changed or report.tasks_changed)
    if as_json:
        write_json(report.to_dict())
        return exits.FINDINGS if changed else exits.OK
    paint = Painter()
    low, high = report.changed_interval
    write(f"{report.changed:,} of {report.total:,} calls would be decided differently ({low:.2%} to {high:.2%})")
    for name, count in report.transitions.items():
        if len(set(name.split(" -> "))) > 1:
            write(f"  {count:>9,}  {name}")
    for rule, count in list(report.by_rule.items())[:10]:
        write(f"  {count:>9,}  {paint(plain(rule), bold=True)}")
    for one in report.examples[:5]:
        write(f"  {one.before} -> {one.after}: {plain(one.text[:100])}")
    if report.tasks:
        write(f"{report.tasks_changed:,} of {report.tasks:,} tasks would be given different rules")
    return exits.FINDINGS if changed else exits.OK
