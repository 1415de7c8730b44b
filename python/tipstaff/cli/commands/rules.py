"""``tipstaff rules``: explain one rule, how each is followed in the runs, and changes that the runs decide."""

from __future__ import annotations

import datetime as dt
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tipstaff.cli import exits
from tipstaff.cli.options import json_option, ledger_options, opened, repository_option
from tipstaff.cli.output import Painter, plain, report_unread, write, write_json
from tipstaff.errors import SourceNotFoundError
from tipstaff.model import EVERYWHERE, Diagnostic, GuidanceRule, PolicyBundle

if TYPE_CHECKING:
    from tipstaff.runs.optimizer.optimizer import OptimizeReport

_COLOURS: Final = {"dead": "dim", "never-retrieved": "yellow", "always-violated": "red", "in-use": "green"}


@click.group("rules")
def command() -> None:
    """Explain one rule, show how each is followed in the runs, and improve them by that evidence."""


@command.command("explain")
@click.argument("rule_id", metavar="RULE-ID")
@repository_option
@json_option
def explain(*, rule_id: str, repository: Path, as_json: bool) -> None:
    """Show where a rule comes from, when it is loaded, and how it relates to other rules."""
    from tipstaff.guidance.project import open_project

    # From the store where it is current: a rule that was edited keeps the id that `retrieve` shows.
    with open_project(repository, write=False, as_root=True) as project:
        bundle = project.bundle
    report_unread(bundle.diagnostics, "warning")
    rule = bundle.rule(rule_id)
    if rule is None:
        raise SourceNotFoundError(_unknown(bundle, rule_id, repository))
    explanation = explanation_of(bundle, rule)
    if as_json:
        write_json(explanation)
    else:
        write(*_explanation_lines(rule, explanation, Painter()))


def explanation_of(bundle: PolicyBundle, rule: GuidanceRule) -> dict[str, Any]:
    """Return everything that is known about a rule, as JSON-ready data."""
    from tipstaff.guidance.compiling.election import reasons, why_left

    related: dict[str, list[str]] = {"duplicate": [], "near-duplicate": [], "contradiction": [], "conflict": []}
    for relation in bundle.relations:
        if rule.id in {relation.left, relation.right}:
            other = relation.right if relation.left == rule.id else relation.left
            related.setdefault(relation.kind, []).append(other)
    return {
        "rule": rule.to_dict(),
        "loaded": (loaded := _loaded(bundle, rule)),
        "constitution_reasons": list(reasons(rule)),
        "not_in_constitution": "" if loaded != "by-task" else why_left(rule, bundle.constitution.rules),
        "duplicates": related["duplicate"],
        "repeated_in": [
            f"{found.source}:{found.line}"
            for found in bundle.diagnostics
            if found.rule_id == rule.id
            and found.code == "TS501"
            and (found.source, found.line) != (rule.path, rule.line)
        ],
        "near_duplicates": related["near-duplicate"],
        "contradicts": [*related["contradiction"], *related["conflict"]],
        "may_conflict_with": related.get("possible-conflict", []),
        "overrides": rule.overrides,
        "overridden_by": [other.id for other in bundle.rules() if other.overrides == rule.id],
        "former_id": rule.former_id,
        "diagnostics": [found.to_dict() for found in bundle.diagnostics if _concerns(found, rule.id)],
    }


def _concerns(found: Diagnostic, rule_id: str) -> bool:
    """Whether a finding is about a rule; of two with the same id, the earlier was given another: ``SEC-001~1``."""
    return found.rule_id == rule_id or (found.code == "TS306" and found.rule_id == rule_id.rpartition("~")[0])


def _loaded(bundle: PolicyBundle, rule: GuidanceRule) -> str:
    """Return ``always``, ``by-task``, or ``never`` for a rule that is not in force today."""
    from tipstaff.guidance.compiling.compiler import in_force

    if not in_force(rule, dt.datetime.now(tz=dt.UTC).date().isoformat()):
        return "never"
    if rule.is_constitution and rule.id not in bundle.constitution.overflow:
        return "always"
    return "by-task"


def _unknown(bundle: PolicyBundle, rule_id: str, repository: Path) -> str:
    rules = bundle.rules()
    renamed = [rule.id for rule in rules if rule.former_id and rule.former_id.casefold() == rule_id.casefold()]
    if renamed:
        return f"{rule_id}: the rule is now {renamed[0]}"
    ids = {rule.id.casefold(): rule.id for rule in rules}
    near = [ids[found] for found in get_close_matches(rule_id.casefold(), list(ids), n=3, cutoff=0.5)]
    if not ids:
        return f"{rule_id}: {repository} has no rules"
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(ids.values())[:8])}"
    return f"{rule_id}: no rule of {repository} has this id; {hint}"


def _explanation_lines(rule: GuidanceRule, explanation: dict[str, Any], paint: Painter) -> list[str]:
    location = f"{rule.path}:{rule.line}" if rule.line else rule.path
    lines = [paint(rule.id, bold=True), f"  {plain(rule.text)}", ""]
    facts = [
        ("from", f"{location}, a file of {rule.host}" + (f', under "{rule.heading}"' if rule.heading else "")),
        ("loaded", _when(rule, explanation["loaded"])),
        ("because", "; ".join(explanation["constitution_reasons"]) if rule.is_constitution else ""),
        ("at stake", "; ".join(explanation["constitution_reasons"]) if not rule.is_constitution else ""),
        ("left because", explanation["not_in_constitution"]),
        ("in force", _period(rule)),
        ("scopes", ", ".join(rule.repo_scopes) if rule.repo_scopes != (EVERYWHERE,) else ""),
        ("intents", ", ".join(rule.intents)),
        ("domains", ", ".join(rule.domains)),
        ("tools", ", ".join(rule.tool_classes) if rule.tool_classes != ("all",) else ""),
        ("risk", f"{rule.risk_class}, priority {rule.priority}"),
        ("verified by", ", ".join(rule.verifiers or ((rule.verifier,) if rule.verifier else ()))),
        ("duplicates", ", ".join(explanation["duplicates"])),
        ("repeated in", ", ".join(explanation["repeated_in"])),
        ("nearly says", ", ".join(explanation["near_duplicates"])),
        ("contradicts", ", ".join(explanation["contradicts"])),
        ("may conflict", ", ".join(explanation["may_conflict_with"])),
        ("overrides", rule.overrides or ""),
        ("overridden by", ", ".join(explanation["overridden_by"])),
        ("by its words" if _has_former_id(rule) else "formerly", rule.former_id or ""),
    ]
    lines += [f"  {name:<14} {plain(text)}" for name, text in facts if text]
    for found in explanation["diagnostics"]:
        elsewhere = (found["source"], found["line"]) != (rule.path, rule.line)
        at = plain(f"{found['source']}:{found['line']}: ") if elsewhere else ""
        lines.append(f"  {found['severity']:<14} {found['code']} {at}{plain(found['message'])}")
    return lines


def _has_former_id(rule: GuidanceRule) -> bool:
    """Whether a rule that was edited bears the id of its earlier words, and `former_id` is what they would give now."""
    from tipstaff.guidance.compiling.identity import content_id, salt_of

    return rule.is_generated_id and rule.former_id == content_id(rule.text, salt_of(rule.file_scope))


def _when(rule: GuidanceRule, loaded: str) -> str:
    if loaded == "always":
        return "always: it is part of the constitution"
    if loaded == "never":
        return "never: it is not in force today"
    where = "" if rule.repo_scopes == (EVERYWHERE,) else f" in {', '.join(rule.repo_scopes)}"
    full = "; it does not fit into the constitution" if rule.is_constitution else ""
    return f"when a task{where} calls for it{full}"


def _period(rule: GuidanceRule) -> str:
    parts = [
        f"from {rule.active_from}" if rule.active_from else "",
        f"until {rule.active_until}" if rule.active_until else "",
    ]
    return " ".join(part for part in parts if part)


@command.command("stats")
@ledger_options
@click.option("--limit", default=0, type=click.IntRange(0), help="Only the first so many rules; all if 0.")
@json_option
def stats(repository: Path, url: str | None, key_file: Path | None, limit: int, as_json: bool) -> int:
    """Show how often each rule was relevant, retrieved, followed, broken and corrected, with 95 % intervals."""
    from tipstaff.guidance.project import open_project
    from tipstaff.runs.statistics.metrics import RunRow, rule_stats

    with opened(repository, url, key_file) as ledger:
        with open_project(repository) as project:
            known = [rule.id for rule in project.bundle.rules()]
        rows: list[dict[str, Any]] = rule_stats(ledger.iter_as(RunRow), rule_ids=known).to_pylist()
    rows = rows[:limit] if limit else rows
    if as_json:
        write_json(rows)
        return exits.OK
    _print_table(rows)
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


@command.command("optimize")
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
@json_option
def optimize(
    repository: Path, url: str | None, key_file: Path | None, start_id: str | None, dismiss: str | None,
    apply_id: str | None, rollback: str | None, demote: str | None, min_runs: int, show_patch: bool, as_json: bool,
) -> int:  # fmt: skip
    """Rank violations, propose changes to the rules, and decide trials by the runs that took part in them.

    No agent is given a proposed text before ``--start`` accepts it, and no file is written before ``--apply``.
    """
    from tipstaff.runs.optimizer.optimizer import Optimizer, OptimizerConfig

    with opened(repository, url, key_file) as ledger:
        optimizer = Optimizer(repository, ledger, config=OptimizerConfig(min_runs=min_runs))
        if start_id or dismiss:
            if start_id:
                trial = optimizer.start(start_id)
                document: dict[str, Any] = {
                    "started": {**trial.to_dict(), "change": {**trial.change.to_dict(), "id": start_id}}
                }
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
                write(*(f"{'wrote' if (repository / path).exists() else 'removed'} {path}" for path in paths))
            return exits.OK
        report = optimizer.cycle()
    if as_json:
        write_json(_optimize_document(report))
    else:
        _print_report(report, show_patch=show_patch)
    return exits.OK


def _optimize_document(report: OptimizeReport) -> dict[str, Any]:
    """Return a report as JSON has it, each change with the id that the options take."""
    document = report.to_dict()
    for found, change in zip(document["proposed"], report.proposed, strict=True):
        found["id"] = change.id
    for found, one in zip(document["proposals"], report.proposals, strict=True):
        found["change"]["id"] = one.change.id
    for found, trial in zip(document["trials"], report.trials, strict=True):
        found["experiment"]["change"]["id"] = trial.experiment.change.id
    return document


def _print_report(report: OptimizeReport, *, show_patch: bool) -> None:
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
            f"proposed {change.id} for {plain(change.rule_id)}; `tipstaff rules optimize --start {change.id}` tries it",
            *([f"  {plain(change.before)}"] if change.before else []), f"  -> {plain(change.after)}",
        )  # fmt: skip
    for proposal in report.proposals:
        change = proposal.change
        if proposal.patch is None:
            write(f"{paint('won', 'yellow', bold=True)} {change.id}: {plain(proposal.problem)}")
            continue
        write(f"{paint('won', 'green', bold=True)} {change.id}: {change.kind} {plain(change.rule_id)}; "
              f"`tipstaff rules optimize --apply {change.id}` writes it")  # fmt: skip
        if show_patch:
            write(*(f"  {plain(line)}" for line in proposal.patch.text.splitlines()))
    for note in report.notes:
        write(paint(f"note: {plain(note)}", dim=True))
