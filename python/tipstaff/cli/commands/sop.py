"""``tipstaff sop``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tipstaff.cli.output import Painter, counted, diagnostic_lines, plain, write, write_json
from tipstaff.model import Severity

_ROOT = click.option(
    "--root", type=click.Path(path_type=Path, file_okay=False, exists=True), default=Path(), help="The repository."
)
_FOLDERS = click.option("--folder", "folders", multiple=True, help="A folder of SOPs; may be given more than once.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_COLOR = click.option("--color", "color", type=click.Choice(["auto", "always", "never"]), default="auto")


@click.group("sop")
def command() -> None:
    """Check, list and match standard operating procedures.

    They are Markdown files with front matter in .tipstaff/sops, .semspec/sources/docs or docs/sops.
    """


@command.command("lint")
@_ROOT
@_FOLDERS
@_JSON
@_COLOR
def lint(*, root: Path, folders: tuple[str, ...], as_json: bool, color: str) -> int:
    """Find what is wrong with the SOPs of a repository.

    Exits with 1 if anything found is an error or a warning.
    """
    from tipstaff.review.config import read_config
    from tipstaff.review.sops.linting import lint_sops

    settings = read_config(root).review
    found = lint_sops(root, folders or settings.sops, reserve=settings.reserve)
    if as_json:
        write_json({"diagnostics": [one.to_dict() for one in found]})
    else:
        paint = Painter(color)
        write(*diagnostic_lines(found, paint), painter=paint)
        write(paint(counted(len(found), "finding"), bold=True), painter=paint)
    return 1 if any(one.severity is not Severity.INFO for one in found) else 0


@command.command("list")
@click.argument("files", nargs=-1)
@_ROOT
@_FOLDERS
@click.option("--scope", type=click.Choice(["plan", "code", "all"]), help="Only SOPs of this scope.")
@_JSON
@_COLOR
def listed(
    *, files: tuple[str, ...], root: Path, folders: tuple[str, ...], scope: str | None, as_json: bool, color: str
) -> int:
    """List the SOPs of a repository, or those that apply to FILES."""
    from tipstaff.review.config import read_config
    from tipstaff.review.sizing.budget import text_tokens
    from tipstaff.review.sops.folder import read_sops

    folder = read_sops(root, folders or read_config(root).review.sops)
    sops = folder.applicable(files, scope=scope) if files else folder.sops
    costs = {sop.id: text_tokens(sop.rendered()) for sop in sops}
    if as_json:
        shown = [{**sop.to_dict(), "tokens": costs[sop.id]} for sop in sops]
        write_json({"sops": shown, "diagnostics": [one.to_dict() for one in folder.diagnostics]})
        return 0
    paint = Painter(color)
    write(*diagnostic_lines(folder.diagnostics, paint), painter=paint)
    for sop in sops:
        globs = ", ".join(sop.applies_to) or "every file"
        write(
            f"{paint(sop.id, bold=True)}  {sop.severity}  {costs[sop.id]:,} tokens  {plain(globs)}  {plain(sop.path)}"
        )
    write(f"{counted(len(sops), 'SOP')}, {sum(costs.values()):,} tokens")
    return 0


@command.command("graph")
@_ROOT
@_FOLDERS
@click.option(
    "--predicate", default="", help="Only statements whose predicate begins with this, such as source.doc.applies_to."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def graph(*, root: Path, folders: tuple[str, ...], predicate: str, as_json: bool) -> int:
    """Print the SOPs and their chunks as statements: subject, predicate and object, with tabs between."""
    from tipstaff.review.config import read_config
    from tipstaff.review.sops.folder import read_sops
    from tipstaff.review.sops.graph import query, sop_graph

    known = sop_graph(read_sops(root, folders or read_config(root).review.sops).sops)
    found = query(known, predicate_prefix=predicate)
    if as_json:
        write_json([one.to_dict() for one in found])
    else:
        write(*("\t".join(map(plain, (one.subject, one.predicate, json.dumps(one.object)))) for one in found))
    return 0
