"""``tipstaff review``."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tipstaff.cli.output import Painter, check_outputs, counted, diagnostic_lines, plain, write, write_json
from tipstaff.errors import ConfigError, SourceError

if TYPE_CHECKING:
    from tipstaff.review.assembly.reviewer import ReviewContext

_ROOT = click.option(
    "--root", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(), help="The repository."
)
_DIFF = click.option("--diff", "base", metavar="BASE", help="Compare with the common ancestor of this commit.")
_FILES = click.option("--file", "files", multiple=True, help="A changed file, instead of those that git reports.")
_SCOPE = click.option("--scope", type=click.Choice(["plan", "code"]), default="code", help="Which SOPs count.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_COLOR = click.option("--color", "color", type=click.Choice(["auto", "always", "never"]), default="auto")


@click.group("review")
def command() -> None:
    """Assemble what a reviewer reads, and verify what a reviewer answers."""


@command.command("assemble")
@_ROOT
@_DIFF
@_FILES
@_SCOPE
@click.option(
    "--window", type=click.IntRange(min=1), help="The reviewer's context window in tokens; 200000 by default."
)
@click.option("--reserve", type=click.IntRange(min=0), help="Tokens for the context; 4000 by default.")
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write the context to this file.")
@_JSON
@_COLOR
def assemble(
    *,
    root: Path,
    base: str | None,
    files: tuple[str, ...],
    scope: str,
    window: int | None,
    reserve: int | None,
    output: Path | None,
    as_json: bool,
    color: str,
) -> int:
    """Assemble what the reviewer of a change reads: SOPs, decisions, summaries of files, conventions.

    The context goes to standard output and the report to standard error, or both into one document with --json.
    Exits with 1 if the task is too large and has to be divided.
    """
    from tipstaff.cli.review_log import exit_code, review_log
    from tipstaff.review.assembly.reviewer import review_context
    from tipstaff.review.config import read_config

    check_outputs(output)
    config = read_config(root)
    log = review_log(root, config, reads=True)
    found = review_context(
        root,
        base=base,
        files=files or None,
        window=window,
        reserve=reserve,
        scope=scope,
        config=config,
        source=log,
        log=log,
    )
    if output is not None:
        from tipstaff.store.replacing import replaced_file

        with replaced_file(output) as stream:
            stream.write(found.text.encode("utf-8", "replace"))
    if as_json:
        write_json(found.to_dict())
    else:
        paint = Painter(color)
        click.echo("\n".join(_report(found, paint)), err=True, color=paint.on)
        if output is None and found.text:
            write(*found.text.rstrip("\n").split("\n"))
    return exit_code(log, 1 if found.assembly.decompose else 0)


def _report(found: ReviewContext, paint: Painter) -> list[str]:
    assembly = found.assembly
    lines = diagnostic_lines(found.diagnostics, paint)
    lines += [f"{paint('note', 'yellow')}: {plain(note)}" for note in found.notes]
    changed = counted(len(found.files), "changed file")
    lines.append(f"{changed}, {found.task_output_tokens:,} tokens of difference, {counted(len(found.expected), 'SOP')}")
    if assembly.decompose:
        why = {
            "sops": f"the SOPs that apply have {assembly.sop_total:,} tokens",
            "task_output": f"the change has more than {max(0, int(Fraction(assembly.max_task_output))):,} tokens",
        }
        reasons = "; ".join(why[reason] for reason in assembly.reasons)
        lines.append(paint(f"too large for a review: {reasons}; divide the task (tipstaff size)", "red", bold=True))
        return lines
    lines += [f"  {paint('+', 'green')} {plain(name)}" for name in assembly.included]
    lines += [f"  {paint('-', 'yellow')} {plain(name)}: {assembly.omitted_reasons[name]}" for name in assembly.omitted]
    lines.append(f"{assembly.used:,} tokens used, {assembly.remaining:,} remaining")
    return lines


@command.command("verify")
@click.argument("answer", type=click.Path(path_type=Path, allow_dash=True))
@_ROOT
@_DIFF
@_FILES
@_SCOPE
@click.option(
    "--min-confidence", type=click.FloatRange(0, 1), default=0.7, help="Below this confidence a person decides."
)
@_JSON
@_COLOR
def verify(
    *,
    answer: Path,
    root: Path,
    base: str | None,
    files: tuple[str, ...],
    scope: str,
    min_confidence: float,
    as_json: bool,
    color: str,
) -> int:
    """Verify a reviewer's ANSWER: a file with JSON, or - for standard input.

    Every SOP that applies has to be answered, with evidence that is in the files that it names. Exits with 0 where the
    change is accepted, else with 1.
    """
    from tipstaff.cli.review_log import exit_code, review_log
    from tipstaff.review.assembly.reviewer import change_sops
    from tipstaff.review.config import read_config
    from tipstaff.review.repository import changed_files, diff_text, is_work_tree
    from tipstaff.review.verdicts.answer import parse_answer
    from tipstaff.review.verdicts.verify import verify_answer

    try:
        text = sys.stdin.read() if str(answer) == "-" else answer.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{answer}: cannot be read: {getattr(error, 'strerror', None) or error}"
        raise SourceError(msg) from None
    config = read_config(root)
    changed = files or changed_files(root, base)
    folder = change_sops(root, changed, base, config.review)
    sops = folder.applicable(changed, scope=scope)
    expected = {sop.id: sop.severity for sop in sops}
    log = review_log(root, config)
    if log is not None:
        log.files = changed
    try:
        parsed = parse_answer(text)
    except ConfigError as error:
        msg = f"{answer}: {error}"
        raise ConfigError(msg) from None
    outcome = verify_answer(
        parsed,
        expected,
        root,
        files=changed,
        diff=diff_text(root, base, files) if is_work_tree(root) else "",
        sops={sop.id: sop.text for sop in sops},
        broken=folder.diagnostics,
        min_confidence=min_confidence,
        log=log,
    )
    if as_json:
        write_json({**outcome.to_dict(), "expected": expected})
        return exit_code(log, 0 if outcome.accepted else 1)
    paint = Painter(color)
    write(*(f"  {plain(problem)}" for problem in outcome.problems), painter=paint)
    colour = "green" if outcome.accepted else "red"
    write(paint(f"{outcome.action}: {plain(outcome.reason)}", colour, bold=True), painter=paint)
    return exit_code(log, 0 if outcome.accepted else 1)
