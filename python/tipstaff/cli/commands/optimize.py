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
@click.option(
    "--start", "start_id", metavar="CHANGE", help="Begin the trial of a proposed change: half of the runs get it."
)
@click.option("--dismiss", metavar="CHANGE", help="Drop a change that is proposed, on trial or won.")
@click.option("--apply", "apply_id", metavar="CHANGE", help="Write a change that won into the rule files.")
@click.option("--rollback", metavar="CHANGE", help="Revert an applied change.")
@click.option("--demote", metavar="RULE", help="Move a rule from the root file into CLAUDE.local.md.")
@click.option("--min-runs", default=30, show_default=True, type=click.IntRange(1), help="Runs in each arm of a trial.")
@click.option("--patch", "show_patch", is_flag=True, help="Show the patches of changes that won.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    directory: Path, url: str | None, key_file: Path | None, start_id: str | None, dismiss: str | None,
    apply_id: str | None, rollback: str | None, demote: str | None, min_runs: int, show_patch: bool, as_json: bool,
) -> int:  # fmt: skip
    """Rank violations, propose changes to the rules, and decide trials by the runs that took part in them.

    No agent is given a proposed text before ``--start`` accepts it, and no file is written before ``--apply``.
    """
    from tipstaff.runs.optimizer.optimizer import Optimizer, OptimizerConfig

    with opened(directory, url, key_file) as ledger:
        optimizer = Optimizer(directory, ledger, config=OptimizerConfig(min_runs=min_runs))
        if start_id or dismiss:
            document: dict[str, Any]
            if start_id:
                trial = optimizer.start(start_id)
                document = {"started": {**trial.to_dict(), "change": {**trial.change.to_dict(), "id": start_id}}}
                line = f"on trial: {start_id}, at most {trial.runs_needed:,} runs in each arm"
            else:
                state = optimizer.dismiss(dismiss or "")
                document, line = {"dismissed": dismiss, "was": state}, f"dismissed: {dismiss}, which was {state}"
            write_json(document) if as_json else write(line)
            return exits.OK
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
    for found, change in zip(document["proposed"], report.proposed, strict=True):
        found["id"] = change.id
    for found, one in zip(document["proposals"], report.proposals, strict=True):
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
        waiting = f" {trial.waiting} runs are not counted yet." if trial.waiting else ""
        write(f"trial {change.id} of {plain(change.rule_id)}: {trial.decision}. {plain(str(trial))}{waiting}")
    for change in report.proposed:
        write(
            f"proposed {change.id} for {plain(change.rule_id)}; `tipstaff optimize --start {change.id}` tries it",
            *([f"  {plain(change.before)}"] if change.before else []), f"  -> {plain(change.after)}",
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
