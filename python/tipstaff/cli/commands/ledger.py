"""``tipstaff ledger``: list, show, verify, ingest, export, import, prune."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tipstaff.cli import exits
from tipstaff.cli.options import json_option, ledger_options, opened
from tipstaff.cli.output import Painter, check_outputs, counted, plain, write, write_json
from tipstaff.errors import ConfigError, SourceNotFoundError

if TYPE_CHECKING:
    from tipstaff.runs.events import RunEvent

_REVIEWS: Final = ("check", "review")


@click.group("ledger")
def command() -> None:
    """Show, verify and export the ledger of runs; ingest the hook's spool."""


@command.command("list")
@ledger_options
@click.option("--limit", default=20, show_default=True, type=click.IntRange(0), help="Only the latest so many.")
@click.option("--rule", help="Runs that were given this rule or broke it.")
@click.option("--task", "task_id", help="Runs of this task.")
@click.option("--session", "session_id", help="Runs of this session.")
@json_option
def list_(
    repository: Path, url: str | None, key_file: Path | None, limit: int, rule: str | None, task_id: str | None,
    session_id: str | None, as_json: bool,
) -> int:  # fmt: skip
    """List runs, and the checks and reviews beside them, latest last."""
    with opened(repository, url, key_file) as ledger:
        runs = ledger.events(rule_id=rule, task_id=task_id, session_id=session_id, limit=limit)
        of_runs = rule is not None or session_id is not None
        reviews = [] if of_runs else ledger.entries(_REVIEWS, task_id=task_id, limit=limit)
    # A run that was imported follows on later ones.
    found: list[tuple[int, RunEvent | dict[str, Any]]] = [(event.timestamp, event) for event in runs]
    found += [(one["at"], one) for one in reviews]
    found = sorted(found, key=itemgetter(0))[-limit:] if limit else []
    if as_json:
        write_json([one if isinstance(one, dict) else one.to_dict() for _, one in found])
        return exits.OK
    paint = Painter()
    for at, one in found:
        when = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")
        write(f"{when}  {_review_line(one, paint) if isinstance(one, dict) else _run_line(one, paint)}", painter=paint)
    kinds = Counter(one["kind"] if isinstance(one, dict) else "run" for _, one in found)
    write(", ".join(counted(kinds[kind], kind) for kind in ("run", *_REVIEWS) if kind == "run" or kinds[kind]))
    return exits.OK


def _run_line(event: RunEvent, paint: Painter) -> str:
    outcome = {True: "accepted", False: "rejected", None: "-"}[event.outcome_accepted]
    broken = ", ".join(dict.fromkeys(one.rule_id for one in event.violations))
    line = f"{paint(plain(event.event_id), bold=True)}  {event.intent}  {outcome}  {plain(event.task[:60])}"
    return line + (paint(f"  broke {plain(broken)}", "red") if broken else "")


def _review_line(entry: dict[str, Any], paint: Painter) -> str:
    if entry["kind"] == "check":
        failed = [one["name"] for one in entry.get("results", ()) if one.get("outcome") not in {"passed", "skipped"}]
        outcome, words = ("passed" if entry.get("passed") else "failed"), ", ".join(failed)
    else:
        outcome, words = entry["outcome"]["action"], entry["outcome"]["reason"]
    return f"{paint(plain(entry['event_id']), bold=True)}  {entry['kind']}  {outcome}  {plain(words[:100])}".rstrip()


@command.command("show")
@click.argument("event_id")
@ledger_options
def show(event_id: str, repository: Path, url: str | None, key_file: Path | None) -> int:
    """Show one run as JSON, with the results of the evaluators; a check or a review as it was recorded."""
    from tipstaff.runs.evaluators.evaluating import evaluate

    with opened(repository, url, key_file) as ledger:
        event = ledger.event(event_id)
        others = ledger.entries(event_id=event_id) if event is None else []
    if others:
        write_json(others[0])
        return exits.OK
    if event is None:
        raise SourceNotFoundError(f"there is no run {event_id!r} in the ledger; `tipstaff ledger list` lists them")
    write_json({"event": event.to_dict(), "evaluation": [one.to_dict() for one in evaluate(event)]})
    return exits.OK


@command.command("verify")
@ledger_options
@click.option("--anchor", help="The anchor that an earlier run of this command printed.")
@json_option
def verify(repository: Path, url: str | None, key_file: Path | None, anchor: str | None, as_json: bool) -> int:
    """Check the chain: any edit, deletion, insertion, change of order or cut. Exits with 1 where it finds one.

    The anchor that it prints, kept elsewhere, finds a restored older copy as well.
    """
    with opened(repository, url, key_file) as ledger:
        report = ledger.verify(anchor=anchor)
        head = ledger.head if report.ok else ""
    if as_json:
        write_json({**report.to_dict(), "anchor": head})
    else:
        paint = Painter()
        if report.ok:
            note = f" ({report.reason})" if report.reason else ""
            write(
                f"{paint('whole', 'green', bold=True)}: {counted(report.checked, 'entry', 'entries')}{note}",
                f"anchor {head}",
            )
        else:
            where = "" if report.first_bad is None else f" at entry {report.first_bad}"
            right = f"the {counted(report.checked, 'entry', 'entries')} before"
            if anchor is not None and report.first_bad is not None and report.checked >= report.first_bad:
                right = f"all {counted(report.checked, 'entry', 'entries')}"  # it is another chain, or an older copy
            write(f"{paint('broken', 'red', bold=True)}{where}: {report.reason}; {right} are valid")
    return exits.OK if report.ok else exits.FINDINGS


@command.command("ingest")
@ledger_options
@click.option(
    "--spool",
    type=click.Path(path_type=Path),
    help="Ingest all of this spool; by default this repository's calls from the state folder's spool.",
)
@click.option(
    "--all", "of_all", is_flag=True, help="Ingest the calls of all repositories from the state folder's spool."
)
@json_option
def ingest(
    repository: Path, url: str | None, key_file: Path | None, spool: Path | None, of_all: bool, as_json: bool
) -> int:
    """Ingest the hook's spool, each line once."""
    from tipstaff.runs.ledger.ingestion import SPOOL_NAME, check_spool, spool_files
    from tipstaff.store.state import state_folder

    own = state_folder() / SPOOL_NAME
    if spool is not None:
        check_spool(spool)
    elif not spool_files(own):
        raise SourceNotFoundError(f"{own}: no hook has recorded a call; `tipstaff doctor` tries the hook")
    with opened(repository, url, key_file, create=True) as ledger:
        report = ledger.ingest(spool or own, repository=None if of_all or spool is not None else repository)
    if as_json:
        write_json(report.to_dict())
        return exits.OK
    write(f"{counted(report.taken, 'line')} ingested, {report.repeated:,} repeated, {report.set_aside:,} set aside")
    return exits.OK


@command.command("export")
@click.argument("path", type=click.Path(path_type=Path))
@ledger_options
def export(path: Path, repository: Path, url: str | None, key_file: Path | None) -> int:
    """Write all runs to a Parquet (.parquet) or Arrow (.arrow) file."""
    check_outputs(path)
    with opened(repository, url, key_file) as ledger:
        write(f"{counted(ledger.export(path), 'run')} in {path}")
    return exits.OK


@command.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@ledger_options
def import_(path: Path, repository: Path, url: str | None, key_file: Path | None) -> int:
    """Append the runs of an exported file that the ledger does not have."""
    from tipstaff.runs.ledger.columns import check_export

    check_export(path)
    with opened(repository, url, key_file, create=True) as ledger:
        write(f"{counted(ledger.import_events(path), 'new run')} from {path}")
    return exits.OK


@command.command("prune")
@ledger_options
@click.option("--max-days", type=click.FloatRange(0), help="Remove entries older than so many days.")
@click.option("--max-entries", type=click.IntRange(0), help="Keep at most so many entries.")
@click.option("--max-bytes", type=click.IntRange(0), help="Keep at most so many bytes.")
def prune(
    repository: Path, url: str | None, key_file: Path | None, max_days: float | None, max_entries: int | None,
    max_bytes: int | None,
) -> int:  # fmt: skip
    """Remove the oldest entries; the chain stays verifiable."""
    if max_days is None and max_entries is None and max_bytes is None:
        raise ConfigError("name a limit: --max-days, --max-entries or --max-bytes")
    age = None if max_days is None else int(max_days * 86_400_000)
    with opened(repository, url, key_file) as ledger:
        removed = ledger.prune(max_age_ms=age, max_entries=max_entries, max_bytes=max_bytes)
    write(f"{counted(removed, 'entry', 'entries')} removed")
    return exits.OK
