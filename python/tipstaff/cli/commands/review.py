"""``tipstaff review``: whether a task fits, what its reviewer reads, which SOPs apply, and whether an answer counts."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tipstaff.cli.options import color_option, json_option, repository_option
from tipstaff.cli.output import Painter, check_outputs, counted, diagnostic_lines, plain, write, write_json
from tipstaff.errors import ConfigError, SourceError, SourceNotFoundError
from tipstaff.model import Severity
from tipstaff.store.untrusted import read_untrusted_text

if TYPE_CHECKING:
    from tipstaff.review.assembly.reviewer import ReviewContext
    from tipstaff.review.task_sizing import SizedTask

_DIFF = click.option("--diff", "base", metavar="BASE", help="Compare with the common ancestor of this commit.")
_FILES = click.option("--file", "files", multiple=True, help="A changed file, instead of those that git reports.")
_FOLDERS = click.option("--folder", "folders", multiple=True, help="A folder of SOPs; may be given more than once.")
_SCOPE = click.option("--scope", type=click.Choice(["plan", "code"]), default="code", help="Which SOPs count.")


@click.group("review")
def command() -> None:
    """See whether a task fits, assemble what its reviewer reads, list SOPs, and verify what the reviewer answers."""


@command.command("assemble")
@repository_option
@_DIFF
@_FILES
@_SCOPE
@click.option(
    "--window", type=click.IntRange(min=1), help="The reviewer's context window in tokens; 200000 by default."
)
@click.option("--reserve", type=click.IntRange(min=0), help="Tokens for the context; 4000 by default.")
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write the context to this file.")
@json_option
@color_option
def assemble(
    *, repository: Path, base: str | None, files: tuple[str, ...], scope: str, window: int | None,
    reserve: int | None, output: Path | None, as_json: bool, color: str,
) -> int:  # fmt: skip
    """Assemble what the reviewer of a change reads: SOPs, decisions, summaries of files, conventions.

    The context goes to standard output and the report to standard error, or both into one document with --json.
    Exits with 1 if the task is too large and has to be divided.
    """
    from tipstaff.cli.review_log import exit_code, review_log
    from tipstaff.review.assembly.reviewer import review_context
    from tipstaff.review.config import read_config

    check_outputs(output)
    config = read_config(repository)
    log = review_log(repository, config, reads=True)
    found = review_context(
        repository,
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
        from tipstaff.gates.redaction import write_record

        write_record(output, found.text)
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
        lines.append(
            paint(f"too large for a review: {reasons}; divide the task (tipstaff review size)", "red", bold=True)
        )
        return lines
    lines += [f"  {paint('+', 'green')} {plain(name)}" for name in assembly.included]
    lines += [f"  {paint('-', 'yellow')} {plain(name)}: {assembly.omitted_reasons[name]}" for name in assembly.omitted]
    lines.append(f"{assembly.used:,} tokens used, {assembly.remaining:,} remaining")
    return lines


@command.command("verify")
@click.argument("answer", type=click.Path(path_type=Path, allow_dash=True))
@repository_option
@_DIFF
@_FILES
@_SCOPE
@click.option(
    "--min-confidence", type=click.FloatRange(0, 1), default=0.7, help="Below this confidence a person decides."
)
@json_option
@color_option
def verify(
    *, answer: Path, repository: Path, base: str | None, files: tuple[str, ...], scope: str, min_confidence: float,
    as_json: bool, color: str,
) -> int:  # fmt: skip
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
        text = sys.stdin.read() if str(answer) == "-" else read_untrusted_text(answer)
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{answer}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    config = read_config(repository)
    changed = files or changed_files(repository, base)
    folder = change_sops(repository, changed, base, config.review)
    sops = folder.applicable(changed, scope=scope)
    expected = {sop.id: sop.severity for sop in sops}
    log = review_log(repository, config)
    if log is not None:
        log.files = changed
    try:
        parsed = parse_answer(text)
    except ConfigError as error:
        raise ConfigError(f"{answer}: {error}") from None
    outcome = verify_answer(
        parsed,
        expected,
        repository,
        files=changed,
        diff=diff_text(repository, base, files) if is_work_tree(repository) else "",
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


@command.command("size")
@click.argument("files", nargs=-1, metavar="TASK-FILES...")
@repository_option
@click.option("--task", type=click.Path(path_type=Path, dir_okay=False), help="A task: JSON, TOML or YAML.")
@click.option("--plan", type=click.Path(path_type=Path, dir_okay=False), help="A plan with in, out and do_not_touch.")
@click.option("--description", default="", help="The task's description.")
@click.option("--criterion", "criteria", multiple=True, help="An acceptance criterion; may be given more than once.")
@click.option("--window", type=click.IntRange(min=1), help="The model's context window in tokens; 200000 by default.")
@click.option("--model", help="A model of [sizing.models] in the configuration.")
@click.option("--sweet-spot", type=click.IntRange(min=1), help="The model's recommended working context in tokens.")
@click.option("--no-sops", is_flag=True, help="Do not count the SOPs that apply.")
@json_option
@color_option
def size(
    *, files: tuple[str, ...], repository: Path, task: Path | None, plan: Path | None, description: str,
    criteria: tuple[str, ...], window: int | None, model: str | None, sweet_spot: int | None, no_sops: bool,
    as_json: bool, color: str,
) -> int:  # fmt: skip
    """Check whether a task fits a model's window, and divide one that does not.

    TASK-FILES are paths and globs from the repository's repository; without any, those of --task are used,
    else those of --plan.

    Exits with 1 if the task is too large, or has no files.
    """
    from tipstaff.cli.review_log import exit_code, review_log
    from tipstaff.review.config import read_config
    from tipstaff.review.task_sizing import Task, size_repository_task

    given = _document(task, "task") if task is not None else {}
    wanted = Task.from_mapping(given)
    wanted = wanted.replace(
        files=tuple(files) or wanted.files,
        description=description or wanted.description,
        acceptance_criteria=tuple(criteria) or wanted.acceptance_criteria,
    )
    plan_data = _document(plan, "plan") if plan is not None else given.get("plan")
    if not wanted.files and not plan_data:
        raise ConfigError("name the task's files, or give --task or --plan")
    config = read_config(repository)
    log = review_log(repository, config, reads=True)
    found = size_repository_task(
        repository,
        wanted,
        plan=plan_data,
        window=window,
        model=model,
        sweet_spot=sweet_spot,
        count_sops=not no_sops,
        config=config,
        log=log,
    )
    if as_json:
        write_json({**found.to_dict(), "fits": found.fits})
    else:
        paint = Painter(color)
        write(*_sizing_lines(found, paint), painter=paint)
    return exit_code(log, 0 if found.fits else 1)


def _document(path: Path, what: str) -> dict[str, Any]:
    """Return the mapping in a file."""
    try:
        text = read_untrusted_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    import yaml

    try:
        if path.suffix == ".json":
            data: object = json.loads(text)
        elif path.suffix == ".toml":
            import tomllib

            data = tomllib.loads(text)
        else:
            data = yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: not a {what}: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a mapping, got a {type(data).__name__}")
    return data


def _sizing_lines(found: SizedTask, paint: Painter) -> list[str]:
    sizing = found.sizing
    lines: list[str] = []
    shown = sorted(sizing.file_tokens.items(), key=lambda item: (-item[1], item[0]))
    for path, tokens in shown[:20]:
        note = " (new)" if path in found.scope.missing else " (generated)" if path in found.generated else ""
        lines.append(f"{tokens:>9,}  {plain(path)}{paint(note, dim=True)}")
    if len(shown) > 20:
        lines.append(f"{sum(tokens for _, tokens in shown[20:]):>9,}  in {len(shown) - 20:,} more files")
    about = sizing.description_tokens + sum(sizing.criteria_tokens)
    if about:
        lines.append(f"{about:>9,}  description and acceptance criteria")
    number = counted(len(sizing.file_tokens), "file")
    lines.append(
        f"{sizing.estimate:>9,}  tokens in {number}; the limit is {sizing.limit:,} of {sizing.available:,} available"
    )
    lines += [f"{paint('matches no file', 'yellow')}: {plain(glob)}" for glob in found.scope.unmatched_patterns]
    lines += [f"{paint('must not be touched', 'red')}: {plain(path)}" for path in found.scope.violations]
    lines += [f"{paint('leads out of the repository', 'red')}: {plain(path)}" for path in found.refused]
    lines += diagnostic_lines(found.diagnostics, paint)
    if found.sop_tokens:
        lines.append(f"{counted(len(found.sops), 'SOP')} with {found.sop_tokens:,} of {found.sop_reserve:,} tokens")
    if not sizing.file_tokens:
        return [*lines, paint("no files: nothing was sized", "yellow", bold=True)]
    if found.scope.violations:
        return [*lines, paint("it does not fit its plan: it names files that must not be touched", "red", bold=True)]
    if sizing.fits:
        warned = f", with a warning: {number}" if sizing.warnings else ""
        return [*lines, paint(f"it fits{warned}", "yellow" if warned else "green", bold=True)]
    lines.append(paint(f"too large: {', '.join(sizing.reasons)}", "red", bold=True))
    if found.decomposition is not None:
        lines.append(f"divided into {counted(len(found.decomposition.tasks), 'task')}:")
        for task in found.decomposition.tasks[:30]:
            after = f", after {', '.join(map(str, task.after))}" if task.after else ""
            wrong = "" if task.fits else paint(f" too large by itself: {', '.join(task.reasons)}", "red")
            lines.append(
                f"  {task.sequence:>3}. {task.estimate:,} tokens{after}: {', '.join(map(plain, task.files))}{wrong}"
            )
        if len(found.decomposition.tasks) > 30:
            lines.append(f"  and {len(found.decomposition.tasks) - 30:,} more; --json has them all")
    return lines


@command.command("sops")
@click.argument("files", nargs=-1)
@repository_option
@_FOLDERS
@click.option("--scope", type=click.Choice(["plan", "code", "all"]), help="Only SOPs of this scope.")
@json_option
@color_option
def sops(
    *, files: tuple[str, ...], repository: Path, folders: tuple[str, ...], scope: str | None, as_json: bool, color: str
) -> int:
    """List the standard operating procedures (SOPs), or those that apply to FILES, and what is wrong with any.

    They are Markdown files with front matter in .tipstaff/sops, .semspec/sources/docs or docs/sops.

    Exits with 1 if anything found is an error or a warning.
    """
    from tipstaff.review.config import read_config
    from tipstaff.review.sizing.budget import text_tokens
    from tipstaff.review.sops.folder import read_sops
    from tipstaff.review.sops.linting import lint_sops

    settings = read_config(repository).review
    where = folders or settings.sops
    folder = read_sops(repository, where)
    findings = lint_sops(repository, where, reserve=settings.reserve)
    if not folder.sops and not findings:
        raise SourceNotFoundError(f"{repository}: no SOPs; write them in .tipstaff/sops or name their --folder")
    found = folder.applicable(files, scope=scope) if files else folder.sops
    costs = {sop.id: text_tokens(sop.rendered()) for sop in found}
    if as_json:
        shown = [{**sop.to_dict(), "tokens": costs[sop.id]} for sop in found]
        write_json({"sops": shown, "diagnostics": [one.to_dict() for one in findings]})
    else:
        paint = Painter(color)
        for sop in found:
            globs = ", ".join(sop.applies_to) or "every file"
            name = paint(sop.id, bold=True)
            write(f"{name}  {sop.severity}  {costs[sop.id]:,} tokens  {plain(globs)}  {plain(sop.path)}", painter=paint)
        write(f"{counted(len(found), 'SOP')}, {sum(costs.values()):,} tokens")
        write(*diagnostic_lines(findings, paint), painter=paint)
    return 1 if any(one.severity is not Severity.INFO for one in findings) else 0


@command.command("graph")
@repository_option
@_FOLDERS
@click.option(
    "--predicate", default="", help="Only statements whose predicate begins with this, such as source.doc.applies_to."
)
@json_option
def graph(*, repository: Path, folders: tuple[str, ...], predicate: str, as_json: bool) -> int:
    """Print the SOPs and their chunks as statements: subject, predicate and object, with tabs between."""
    from tipstaff.review.config import read_config
    from tipstaff.review.sops.folder import read_sops
    from tipstaff.review.sops.graph import query, sop_graph

    known = sop_graph(read_sops(repository, folders or read_config(repository).review.sops).sops)
    found = query(known, predicate_prefix=predicate)
    if as_json:
        write_json([one.to_dict() for one in found])
    else:
        write(*("\t".join(map(plain, (one.subject, one.predicate, json.dumps(one.object)))) for one in found))
    return 0
