"""``tipstaff optimize``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tipstaff.cli import exits
from tipstaff.cli.ledger_options import ledger_options, opened
from tipstaff.cli.output import Painter, plain, write, write_json

if TYPE_CHECKING:
    from tipstaff.runs.optimizer.optimizer import OptimizeReport


@click.command("optimize")
@ledger_options
@click.option("--apply", "apply_id", metavar="CHANGE", help="Write a change that won into the rule files.")
@click.option("--rollback", metavar="CHANGE", help="Revert an applied change.")
@click.option("--demote", metavar="RULE", help="Move a rule from the root file into CLAUDE.local.md.")
@click.option("--min-runs", default=30, show_default=True, type=click.IntRange(1), help="Runs in each arm of a trial.")
@click.option("--patch", "show_patch", is_flag=True, help="Show the patches of changes that won.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    directory: Path, url: str | None, key_file: Path | None, apply_id: str | None, rollback: str | None,
    demote: str | None, min_runs: int, show_patch: bool, as_json: bool,
) -> int:  # fmt: skip
    """Rank violations, propose changes to the rules, and decide trials by the runs that took part in them.

    A change that won is a patch: ``--apply`` writes it and the record of the decision. Nothing is written before.
    """
    from tipstaff.runs.optimizer.optimizer import Optimizer, OptimizerConfig

    with opened(directory, url, key_file) as ledger:
        optimizer = Optimizer(directory, ledger, config=OptimizerConfig(min_runs=min_runs))
        if apply_id or rollback or demote:
            paths = (
                optimizer.apply(apply_id) if apply_id else
                optimizer.rollback(rollback) if rollback else
                optimizer.demote(demote or "")
            )  # fmt: skip
            if as_json:
                write_json({"written": list(paths)})
            else:
                write(*(f"{'wrote' if (directory / path).exists() else 'removed'} {path}" for path in paths))
            return exits.OK
        report = optimizer.cycle()
    if as_json:
        write_json(_document(report))
    else:
        _print(report, show_patch=show_patch)
    return exits.OK


def _document(report: OptimizeReport) -> dict[str, Any]:
    """Return a report as JSON has it, each change with the id that the options take."""
    document = report.to_dict()
    for key in ("started", "proposals"):
        for found, one in zip(document[key], getattr(report, key), strict=True):
            found["change"]["id"] = one.change.id
    for found, trial in zip(document["trials"], report.trials, strict=True):
        found["experiment"]["change"]["id"] = trial.experiment.change.id
    return document


def _print(report: OptimizeReport, *, show_patch: bool) -> None:
    paint = Painter()
    for rank in report.ranking:
        write(
            f"{paint(plain(rank.rule_id), bold=True)}: broken {rank.frequency} times, {rank.score:.0f} lines of rework"
        )
    for trial in report.trials:
        change = trial.experiment.change
        arms = ", ".join(f"{arm} {trial.violations[arm]}/{trial.runs[arm]}" for arm in trial.runs)
        write(f"trial {change.id} of {plain(change.rule_id)}: {trial.decision} ({arms}; evidence {trial.evidence:.1f})")
    for one in report.started:
        write(
            f"new trial {one.change.id} of {plain(one.change.rule_id)}: at most {one.runs_needed:,} runs in each arm",
            *([f"  {plain(one.change.before)}"] if one.change.before else []), f"  -> {plain(one.change.after)}",
        )  # fmt: skip
    for proposal in report.proposals:
        change = proposal.change
        if proposal.patch is None:
            write(f"{paint('won', 'yellow', bold=True)} {change.id}: {plain(proposal.problem)}")
            continue
        write(f"{paint('won', 'green', bold=True)} {change.id}: {change.kind} {plain(change.rule_id)}; "
              f"`tipstaff optimize --apply {change.id}` writes it")  # fmt: skip
        if show_patch:
            write(*(f"  {plain(line)}" for line in proposal.patch.text.splitlines()))
    for note in report.notes:
        write(paint(f"note: {plain(note)}", dim=True))
