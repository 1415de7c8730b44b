"""``tipstaff rules stats``: how each rule fares."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import click

from tipstaff.cli import exits
from tipstaff.cli.ledger_options import ledger_options, opened
from tipstaff.cli.output import check_outputs, write, write_json

_COLOURS = {"dead": "dim", "never-retrieved": "yellow", "always-violated": "red", "in-use": "green"}


@click.group("rules")
def command() -> None:
    """Show how the rules did in the runs."""


@command.command("stats")
@ledger_options
@click.option("--limit", default=0, type=click.IntRange(0), help="Only the first so many rules; all if 0.")
@click.option("--plot", type=click.Path(path_type=Path), help="Write a plot of the violation rates to an SVG file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def stats(directory: Path, url: str | None, key_file: Path | None, limit: int, plot: Path | None, as_json: bool) -> int:
    """Show how often each rule was relevant, retrieved, followed, broken and corrected, with 95 % intervals."""
    from tipstaff.guidance.project import open_project
    from tipstaff.runs.statistics.rules import rule_stats
    from tipstaff.store.replacing import replaced_file

    check_outputs(plot)
    with opened(directory, url, key_file) as ledger:
        with open_project(directory) as project:
            known = [rule.id for rule in project.bundle.rules()]
        rows: list[dict[str, Any]] = rule_stats(ledger.events(), rule_ids=known).to_pylist()
    rows = rows[:limit] if limit else rows
    if plot is not None:
        with replaced_file(plot) as file:
            file.write(svg(rows).encode())
    if as_json:
        write_json(rows)
        return exits.OK
    _print_table(rows)
    if plot is not None:
        write(f"plot in {plot}")
    return exits.OK


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("rule", overflow="fold")
    for name in ("relevant", "retrieved", "followed", "broken", "put right"):
        table.add_column(name, justify="right")
    for name in ("broken of relevant", "95 % interval", "", "fate"):
        table.add_column(name)
    for row in rows:
        rate = row["violation_rate"]
        interval = "" if rate is None else f"{row['violation_low']:.0%} – {row['violation_high']:.0%}"
        fate = row["fate"]
        table.add_row(
            Text(row["rule_id"]), *(str(row[name]) for name in ("relevant", "retrieved", "followed", "violated")),
            str(row["auto_corrected"]), "" if rate is None else f"{rate:.0%}", interval,
            "█" * round(20 * (rate or 0)), Text(fate, style=_COLOURS[fate]),
        )  # fmt: skip
    console = Console()
    if not console.is_terminal:
        console.width = 140  # a pipe has no width, and nothing is to be cut in it
    console.print(table)


def svg(rows: list[dict[str, Any]]) -> str:
    """Return a plot of violation rates with their intervals, one line a rule; the same rows give the same bytes."""
    height, left, width = 20, 190, 420
    shown = [row for row in rows if row["violation_rate"] is not None]
    total = height * len(shown) + 30
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {total}" font-size="12" '
            f'font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>'
        )
    ]
    for number, row in enumerate(shown):
        y = number * height + 14
        low, high, rate = (left + width * row[name] for name in ("violation_low", "violation_high", "violation_rate"))
        parts.append(
            f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(row["rule_id"][:26])}</text>'
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="#999" stroke-width="2"/>'
            f'<circle cx="{rate:.1f}" cy="{y}" r="4" fill="#c0392b"/>'
            f'<text x="{left + width + 8}" y="{y + 4}">{row["violated"]}/{row["relevant"]}</text>'
        )
    for share in (0, 0.5, 1):
        x = left + width * share
        parts.append(f'<text x="{x:.1f}" y="{total - 6}" text-anchor="middle">{share:.0%}</text>')
    return "".join(parts) + "</svg>\n"
