"""``tipstaff gate``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from tipstaff.cli import exits
from tipstaff.cli.output import Painter, plain, write, write_json
from tipstaff.errors import ConfigError

COLOURS: Final = {"allow": "green", "warn": "yellow", "require-confirmation": "magenta", "block": "red"}


@click.command("gate")
@click.argument("text", metavar="COMMAND", required=False)
@click.option("--tool", help="Judge a call of this tool; COMMAND is its parameters as JSON, or its command.")
@click.option("--cwd", help="The directory that it would run in; without it relative paths are unknown.")
@click.option("--shell", default="bash", show_default=True, help="bash, powershell, cmd, sql, python, node ...")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    help="The repository whose policy applies; that around --cwd or here if not given.",
)
@click.option("--unattended", is_flag=True, help="Nobody can confirm: what cannot be determined is blocked.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--stats",
    is_flag=True,
    help="List what the gates asked about most, with the settings that would allow it; takes no COMMAND.",
)
@click.option(
    "--explain", "explained", is_flag=True, help="Show how the command was parsed, and which rules were tried."
)
def command(
    text: str | None,
    tool: str | None,
    cwd: str | None,
    shell: str,
    directory: Path | None,
    unattended: bool,
    as_json: bool,
    stats: bool,
    explained: bool,
) -> int:
    """Show what the gates decide about a command or a tool call; ``-`` reads it from standard input. Nothing is run.

    Exits with 1 where the decision is require-confirmation or block.
    """
    from tipstaff.cli.policy_review import policy_document, policy_lines
    from tipstaff.gates.image.repository_policy import has_own_policy, policy_of
    from tipstaff.gates.judging.engine import EnforcementGates
    from tipstaff.gates.results import aggregate_decision
    from tipstaff.hosts.policies import check_policy
    from tipstaff.store.state import repository_of, state_folder

    if stats:
        if text is not None:
            raise ConfigError("--stats counts what was asked before; leave COMMAND out")
        return _stats(as_json=as_json)
    if text is None:
        raise ConfigError("COMMAND is missing; `-` reads it from standard input")
    given = sys.stdin.read() if text == "-" else text
    if cwd is not None and not cwd.startswith("/") and ":" not in cwd:  # `C:\proj` is one of another system
        cwd = str(Path(cwd).absolute())
    state = state_folder()
    repository = repository_of((directory or Path(cwd or ".")).absolute()) or directory
    policy = policy_of(
        repository if repository is not None and has_own_policy(repository, state) else None, state=state
    )
    gates = EnforcementGates.of_policy(policy, policy.config.replace(unattended=unattended))
    if explained and tool is not None:
        raise ConfigError("--explain shows how a command is read; leave --tool out")
    if tool is None:
        results = gates.evaluate_command(given, cwd=cwd, shell=shell)
    else:
        results = gates.evaluate_tool_use(tool, _parameters(given), cwd=cwd, shell=shell)
    decision = aggregate_decision(results)
    explanation = gates.explain(given, cwd=cwd, shell=shell) if explained else None
    if as_json:
        document: dict[str, Any] = {
            "decision": decision,
            "results": [result.to_dict() for result in results],
            "policy": policy_document(policy),
        }
        if explanation is not None:
            document["explanation"] = explanation.to_dict()
        write_json(document)
    else:
        from tipstaff.cli.gate_text import explanation_lines, result_lines

        paint = Painter()
        lines = [paint(decision, COLOURS[decision], bold=True)]
        for result in results:
            lines.extend(result_lines(result, paint, COLOURS))
        if explanation is not None:
            lines.extend(explanation_lines(explanation, paint))
        lines += ["", *policy_lines(policy)]
        if policy.repository is not None and (found := check_policy(Path(policy.repository), state)) is not None:
            lines.append(f"  the hook does not use it yet: {plain(found.problem)}; {plain(found.fix)}")
        write(*lines)
    return exits.FINDINGS if decision in {"require-confirmation", "block"} else exits.OK


def _stats(*, as_json: bool) -> int:
    from tipstaff.cli.gate_stats import rule_counts, spool_records, stats_lines
    from tipstaff.store.state import state_folder

    counts = rule_counts(spool_records(Path(state_folder())))
    if as_json:
        write_json({"rules": counts})
    else:
        write(*(plain(line) for line in stats_lines(counts)))
    return exits.OK


def _parameters(given: str) -> Any:
    """Return a tool's parameters: a JSON object, or a text that stands for its command."""
    try:
        parameters = json.loads(given)
    except ValueError as error:
        if given.lstrip().startswith("{"):
            raise ConfigError(f"the parameters are not valid JSON: {plain(str(error))}") from error
        return {"command": given}
    return parameters if isinstance(parameters, dict) else {"command": given}
