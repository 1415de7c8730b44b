"""``tipstaff size``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tipstaff.cli.output import Painter, counted, diagnostic_lines, plain, write, write_json
from tipstaff.errors import ConfigError, SourceError

if TYPE_CHECKING:
    from tipstaff.review.task_sizing import SizedTask


@click.command("size")
@click.argument("files", nargs=-1, metavar="TASK-FILES...")
@click.option(
    "--root", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(), help="The repository."
)
@click.option("--task", type=click.Path(path_type=Path, dir_okay=False), help="A task: JSON, TOML or YAML.")
@click.option("--plan", type=click.Path(path_type=Path, dir_okay=False), help="A plan with in, out and do_not_touch.")
@click.option("--description", default="", help="The task's description.")
@click.option("--criterion", "criteria", multiple=True, help="An acceptance criterion; may be given more than once.")
@click.option("--window", type=click.IntRange(min=1), help="The model's context window in tokens; 200000 by default.")
@click.option("--model", help="A model of [sizing.models] in the configuration.")
@click.option("--sweet-spot", type=click.IntRange(min=1), help="The model's recommended working context in tokens.")
@click.option("--no-sops", is_flag=True, help="Do not count the SOPs that apply.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--color", "color", type=click.Choice(["auto", "always", "never"]), default="auto")
def command(
    *,
    files: tuple[str, ...],
    root: Path,
    task: Path | None,
    plan: Path | None,
    description: str,
    criteria: tuple[str, ...],
    window: int | None,
    model: str | None,
    sweet_spot: int | None,
    no_sops: bool,
    as_json: bool,
    color: str,
) -> int:
    """Check whether a task fits a model's window, and divide one that does not.

    TASK-FILES are paths and globs from the repository's root; without any, those of --task are used,
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
        msg = "name the task's files, or give --task or --plan"
        raise ConfigError(msg)
    config = read_config(root)
    log = review_log(root, config, reads=True)
    found = size_repository_task(
        root,
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
        write(*_lines(found, paint), painter=paint)
    return exit_code(log, 0 if found.fits else 1)


def _document(path: Path, what: str) -> dict[str, Any]:
    """Return the mapping in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        raise SourceError(msg) from None
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
        msg = f"{path}: not a {what}: {error}"
        raise ConfigError(msg) from None
    if not isinstance(data, dict):
        msg = f"{path}: expected a mapping, got a {type(data).__name__}"
        raise ConfigError(msg)
    return data


def _lines(found: SizedTask, paint: Painter) -> list[str]:
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
