"""``tipstaff gate``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from tipstaff.cli import exits
from tipstaff.cli.options import is_below, json_option, repository_if_named
from tipstaff.cli.output import Painter, plain, write, write_json
from tipstaff.errors import ConfigError, SourceNotFoundError

COLOURS: Final = {"allow": "green", "warn": "yellow", "require-confirmation": "magenta", "block": "red"}


class _JudgeByDefault(click.Group):
    """A command line is judged; the name of a subcommand alone is that subcommand."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in self.commands:
            return super().make_context(info_name, args, parent, **extra)
        return judge.make_context(info_name, args, parent, **extra)


@click.group("gate", cls=_JudgeByDefault)
def command() -> None:
    """Show what the gates decide about a command or a tool call; nothing is run."""


@click.command("gate", epilog="`tipstaff gate stats` shows what the gates asked about most.")
@click.argument("text", metavar="COMMAND", required=False)
@click.option("--tool", help="Judge a call of this tool; COMMAND is its parameters as JSON, or its command.")
@click.option("--cwd", help="The directory that it would run in; without it relative paths are unknown.")
@click.option("--shell", default="bash", show_default=True, help="bash, powershell, cmd, sql, python, node ...")
@repository_if_named("The repository whose policy applies; by default the one around --cwd or the current folder.")
@click.option("--unattended", is_flag=True, help="Nobody can confirm: what cannot be determined is blocked.")
@json_option
@click.option(
    "--explain", "explained", is_flag=True, help="Show how the command was parsed, and which rules were tried."
)
def judge(
    text: str | None, tool: str | None, cwd: str | None, shell: str, repository: Path | None, unattended: bool,
    as_json: bool, explained: bool,
) -> int:  # fmt: skip
    """Show what the gates decide about a command or a tool call; ``-`` reads it from standard input. Nothing is run.

    Exits with 1 where the decision is require-confirmation or block.
    """
    from tipstaff.cli.policy_review import policy_document, policy_lines
    from tipstaff.gates.image.repository_policy import has_own_policy, policy_of
    from tipstaff.gates.judging.engine import EnforcementGates
    from tipstaff.gates.results import aggregate_decision, facts_of
    from tipstaff.hosts.policies import check_policy
    from tipstaff.store.state import repository_of, state_folder

    if text is None:
        raise ConfigError("COMMAND is missing; `-` reads it from standard input")
    given = sys.stdin.read() if text == "-" else text
    if cwd is not None and not cwd.startswith("/") and ":" not in cwd:  # `C:\proj` is one of another system
        cwd = str(Path(cwd).absolute())
    state = state_folder()
    root = repository or repository_of(Path(cwd or ".").absolute())
    policy = policy_of(root if root is not None and has_own_policy(root, state) else None, state=state)
    gates = EnforcementGates.of_policy(policy, policy.config.replace(unattended=unattended)).looking()
    if explained and tool is not None:
        raise ConfigError("--explain shows how a command is read; leave --tool out")
    if tool is None:
        results = gates.evaluate_command(given, cwd=cwd, shell=shell)
    else:
        results = gates.evaluate_tool_use(tool, _parameters(given), cwd=cwd, shell=shell)
    decision, facts = aggregate_decision(results), facts_of(results)
    where = cwd or (None if root is None else str(Path.cwd()))
    proven = not results and gates.is_proven(
        tool or "", given if tool is None else _parameters(given), cwd=where, shell=shell
    )
    explanation = gates.explain(given, cwd=cwd, shell=shell) if explained else None
    if as_json:
        document: dict[str, Any] = {
            "decision": decision,
            "proven": proven,
            "facts": facts,
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
        lines.extend(f"  fact: {plain(fact)}" for fact in facts)
        if proven:
            lines.append("  proven to read alone: nothing is changed, sent or shown that is secret")
        if explanation is not None:
            lines.extend(explanation_lines(explanation, paint))
        lines += ["", *policy_lines(policy)]
        if policy.repository is not None and (found := check_policy(Path(policy.repository), state)) is not None:
            lines.append(f"  the hook does not use it yet: {plain(found.problem)}; {plain(found.fix)}")
        write(*lines)
    return exits.FINDINGS if decision in {"require-confirmation", "block"} else exits.OK


@command.command("stats")
@repository_if_named("Only calls in this repository.")
@json_option
def stats(repository: Path | None, as_json: bool) -> int:
    """Show which rules asked most about calls of agents, with the settings that would allow them."""
    from tipstaff.serving.gate_stats import rule_counts, spool_records, stats_lines
    from tipstaff.store.state import state_folder

    state = state_folder()
    records = list(spool_records(state))
    if not records:
        raise SourceNotFoundError(f"{state}: the hook has recorded no call; `tipstaff doctor` tries the hook")
    counts = rule_counts(one for one in records if repository is None or is_below(str(one.get("cwd", "")), repository))
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
