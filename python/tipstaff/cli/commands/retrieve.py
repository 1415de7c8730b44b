"""``tipstaff retrieve``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tipstaff.cli.options import embedding_named, embedding_option, json_option, repository_option
from tipstaff.cli.output import Painter, counted, plain, report_unread, write, write_json
from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.model import INTENTS, RISK_CLASSES

if TYPE_CHECKING:
    from tipstaff.guidance.retrieval.explanation import Why
    from tipstaff.model import RetrievalResult


@click.command("retrieve")
@click.argument("task")
@repository_option
@json_option
@click.option("--intent", type=click.Choice(INTENTS), help="Use this intent instead of classifying the task.")
@click.option("--risk", type=click.Choice(RISK_CLASSES), multiple=True, help="Only rules of these risk classes.")
@click.option(
    "--scope",
    metavar="PATH",
    help="Only rules that apply to this file, folder or glob; by default to the folder that the command is run "
    "in, and . is the whole repository.",
)
@click.option(
    "--max-shards",
    type=click.IntRange(min=0),
    help="Maximum number of rules; by default as many as fit into --max-tokens, at most 40.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=0),
    default=800,
    show_default=True,
    help="Maximum number of tokens of all rules together.",
)
@click.option(
    "--why",
    is_flag=True,
    help="Show what each score is made of, the words that raised it, and the rules that it outranked.",
)
@embedding_option
def command(
    *, task: str, repository: Path, as_json: bool, intent: str | None, risk: tuple[str, ...], scope: str | None,
    max_shards: int | None, max_tokens: int, why: bool, embedding: str,
) -> None:  # fmt: skip
    """Show the rules that matter for TASK, and why each of them was chosen."""
    from tipstaff.guidance.project import open_project

    within = _folder_within(repository, Path.cwd()) if scope is None else None
    scope = within if scope is None else _scope_within(repository, scope)
    with open_project(repository, embedding=embedding_named(embedding), as_root=True) as project:
        report_unread(project.diagnostics, "warning")
        if not project.bundle.manifest.source_hashes and not project.diagnostics:
            raise SourceNotFoundError(
                f"{repository}: no rule files; write a CLAUDE.md or AGENTS.md, or name the repository with -C"
            )
        retriever = project.retriever()
        result = retriever.retrieve(
            task, intent=intent, risk_filter=risk or None, repo_scope=scope, max_shards=max_shards,
            max_tokens=max_tokens,
        )  # fmt: skip
        whys: tuple[Why, ...] = ()
        if why:
            from tipstaff.guidance.retrieval.explanation import explain_retrieval

            whys = explain_retrieval(retriever, task, result, intent=intent, risk_filter=risk or None, repo_scope=scope)
    if as_json:
        write_json(result.to_dict() | ({"why": [one.to_dict() for one in whys]} if why else {}))
    else:
        write(*_lines(result, Painter(), whys, within))


def _folder_within(repository: Path, folder: Path) -> str | None:
    """Return a folder relative to the repository, with a slash at its end; None for the root and for one elsewhere."""
    root, here = repository.resolve(), folder.resolve()
    return f"{here.relative_to(root).as_posix()}/" if root in here.parents else None


def _scope_within(repository: Path, scope: str) -> str | None:
    """Return a scope relative to the repository: rules do not name absolute paths, as hosts and shells do."""
    path = Path(scope)
    if not path.is_absolute():
        return scope if path.parts else None
    # The name first as it was given: a link inside the repository stands for itself there.
    for root, target in ((repository.absolute(), path), (repository.resolve(), path.resolve())):
        if target.is_relative_to(root):
            return _scope_within(repository, target.relative_to(root).as_posix() + "/" * scope.endswith("/"))
    raise ConfigError(f"--scope {scope}: not inside {repository.resolve()}")


def _lines(result: RetrievalResult, paint: Painter, whys: Sequence[Why], within: str | None) -> list[str]:
    always = len(result.constitution.rules) - len(result.constitution.overflow)
    intent = f"intent {paint(result.detected_intent, bold=True)} ({result.confidence:.0%} sure)"
    numbers = (
        f"{counted(always, 'constitution rule')} always loaded, {counted(len(result.shards), 'rule')} for this task"
    )
    lines = [f"{intent}; {numbers}{f' in {plain(within)}' if within else ''}:"]
    for number, found in enumerate(result.shards):
        rule = found.shard.rule
        location = f"{rule.path}:{rule.line}" if rule.line else rule.path
        lines.append(f"  {found.similarity:.2f}  {paint(rule.id, bold=True)} {plain(rule.text)}")
        lines.append(paint(f"        {found.reason}; {plain(location)}", dim=True))
        if whys:
            lines += [f"        {line}" for line in _why(whys[number])]
    lines += [f"  left out: {dropped.id} for {dropped.kept}: {plain(dropped.reason)}" for dropped in result.dropped]
    lines.append(paint(f"{result.latency_ms:.3f} ms", dim=True))
    return lines


def _why(why: Why) -> list[str]:
    lines = [f"{' + '.join(f'{name} {value:.3f}' for name, value in why.parts.items())} = {why.score:.3f}"]
    towards = [f"{plain(one.word)} {one.pull:+.2f}" for one in why.pulls if one.pull > 0][:6]
    away = [f"{plain(one.word)} {one.pull:+.2f}" for one in reversed(why.pulls) if one.pull < 0][:3]
    if towards:
        lines.append(f"pulled by {', '.join(towards)}")
    if away:
        lines.append(f"pushed away by {', '.join(away)}")
    if why.beat:
        lines.append(f"beat {', '.join(f'{rule_id} ({score:.2f})' for rule_id, score in why.beat)}")
    if why.instead_of:
        lines.append(f"returned instead of {', '.join(why.instead_of)}")
    return lines
