"""``tipstaff run``: begin and finish a run from a shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tipstaff.cli import exits
from tipstaff.cli.options import json_option, key_of, ledger_options
from tipstaff.cli.output import Painter, plain, write, write_json
from tipstaff.errors import SourceError
from tipstaff.store.untrusted import read_untrusted_text

if TYPE_CHECKING:
    from tipstaff.plane import GuidanceControlPlane
    from tipstaff.runs.events import TestResults


@click.group("run")
def command() -> None:
    """Begin and finish a run of an agent, with the rules that it was given and its outcome."""


@command.command("start")
@click.argument("task")
@ledger_options
@click.option("--session", "session_id", help="The host's session; its verdicts are added when the run is finished.")
@click.option("--agent", "agent_id", help="The agent.")
@click.option("--path", "scope", help="The path that is worked on: rules that do not apply to it are left out.")
@json_option
def start(
    task: str, repository: Path, url: str | None, key_file: Path | None, session_id: str | None, agent_id: str | None,
    scope: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Begin a run: print its id and the rules for its task, with changes that are on trial."""
    import msgspec

    with _plane(repository, url, key_file) as plane:
        run_id = plane.start_run(task, session_id=session_id, agent_id=agent_id)
        found = plane.retrieve_for_task(task, repo_scope=scope)
        suspended = plane.suspend_run(run_id)
    if as_json:
        write_json(
            {"run_id": run_id, "policy_text": found.policy_text, "rules": msgspec.to_builtins(suspended.retrieved)}
        )
    else:
        write(run_id, "", found.policy_text)
    return exits.OK


@command.command("finish")
@click.argument("run_id")
@ledger_options
@click.option("--outcome", type=click.Choice(["accepted", "rejected", "unknown"]), default="unknown", show_default=True)
@click.option("--passed", type=click.IntRange(0), help="Tests that passed.")
@click.option("--failed", type=click.IntRange(0), help="Tests that failed.")
@click.option("--skipped", type=click.IntRange(0), help="Tests that were skipped.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What the tests printed, or their JUnit or TAP file: its results count, whatever is said of them.",
)
@click.option("--violation", "violations", multiple=True, help="RULE, RULE:SEVERITY or RULE:SEVERITY:DESCRIPTION.")
@click.option("--file", "files", multiple=True, help="A file that was touched; else those changed since the start.")
@click.option("--forbid", "forbidden", multiple=True, help="A package that must not be added: NAME, or npm:NAME.")
@click.option("--rework", default=0, type=click.IntRange(0), help="Lines that had to be rewritten.")
@click.option("--tokens", default=0, type=click.IntRange(0), help="Tokens that were used.")
@json_option
def finish(
    run_id: str, repository: Path, url: str | None, key_file: Path | None, outcome: str, passed: int | None,
    failed: int | None, skipped: int | None, report: Path | None,
    violations: tuple[str, ...], files: tuple[str, ...],
    forbidden: tuple[str, ...], rework: int, tokens: int, as_json: bool,
) -> int:  # fmt: skip
    """Finish a run: record it in the ledger, and print the results of the evaluators.

    Exits with 1 if an evaluator does not pass it.
    """
    from tipstaff.cli.run_changes import changes_since

    tests: dict[str, Any] | TestResults
    ran = passed is not None or failed is not None or skipped is not None
    tests = {"ran": ran, "passed": passed or 0, "failed": failed or 0, "skipped": skipped or 0}
    if report is not None:
        tests = _reported(report)
    with _plane(repository, url, key_file, forbidden) as plane:
        suspended = plane.open_run(plane.resume_run(run_id))
        for given in violations:
            rule, _, rest = given.partition(":")
            severity, _, description = rest.partition(":")
            plane.record_violation(run_id, rule, severity=severity or "medium", description=description)
        touched, diff = (files, None) if files else changes_since(repository, suspended.base, suspended.timestamp)
        results = plane.finalize_run(
            run_id, outcome=outcome, tests=tests, files=touched, diff=diff, rework_lines=rework, tokens=tokens,
            verdicts=_verdicts(plane, repository, suspended.session_id, suspended.timestamp),
        )  # fmt: skip
    if as_json:
        write_json({"run_id": run_id, "evaluation": [one.to_dict() for one in results]})
    else:
        paint = Painter()
        for one in results:
            mark = paint("pass", "green") if one.passed else paint("FAIL", "red", bold=True)
            write(f"{mark}  {one.score:4.2f}  {one.name}: {plain(one.details)}", painter=paint)
    return exits.OK if all(one.passed for one in results) else exits.FINDINGS


def _reported(path: Path) -> TestResults:
    from tipstaff.runs.evaluators.evaluating import results_of

    try:
        found = results_of(read_untrusted_text(path, errors="replace"))
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}") from error
    if found is None:
        raise SourceError(f"{path}: no results of tests are recognized in it; JUnit XML, TAP or a runner's output is")
    return found


def _plane(
    repository: Path, url: str | None, key_file: Path | None, forbidden: tuple[str, ...] = ()
) -> GuidanceControlPlane:
    from tipstaff.plane import GuidanceControlPlane, PlaneConfig

    config = PlaneConfig(ledger_url=url, ledger_key=key_of(key_file), forbidden_packages=forbidden)
    return GuidanceControlPlane(repository, config=config)


def _verdicts(plane: GuidanceControlPlane, root: Path, session_id: str | None, since: int) -> list[Any]:
    """Take the hook's spool in, and return what it decided in the run's session since the run began."""
    from tipstaff.runs.events import GateVerdict
    from tipstaff.store.state import state_folder

    if session_id is None:
        return []
    plane.ledger.ingest(state_folder() / "spool.jsonl", repository=root)
    # The hook counts in seconds.
    lines = plane.ledger.records("verdict", session_id=session_id, since=since // 1000 * 1000)
    return [
        GateVerdict(
            tool=line.get("tool", ""), decision=line["decision"], rules=tuple(line.get("rules", ())),
            subject=line.get("subject", ""), at=line["at"] * 1000,
        )
        for line in lines
    ]  # fmt: skip
