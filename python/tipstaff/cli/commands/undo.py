"""``tipstaff undo``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tipstaff.cli import exits
from tipstaff.cli.options import json_option, repository_option
from tipstaff.cli.output import Painter, counted, plain, write, write_json
from tipstaff.cli.person import check_person
from tipstaff.errors import ConfigError, SourceNotFoundError

if TYPE_CHECKING:
    from tipstaff.undo import KeptCall, UndoReport

_SHOWN_PATHS: Final = 20
_SHOWN_COMMAND: Final = 70
_UNITS: Final = ("B", "KB", "MB", "GB")


@click.command("undo")
@click.argument("words", metavar="[ID] [PATH]...", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="List what is kept of this repository.")
@click.option("--files", "only_files", is_flag=True, help="Bring back only the files and folders that are named.")
@click.option("--dry-run", is_flag=True, help="Only say what would come back.")
@click.option("--forget", is_flag=True, help="Throw a keep away instead: contents cannot come back; for people only.")
@repository_option
@json_option
def command(
    words: tuple[str, ...], listed: bool, only_files: bool, dry_run: bool, forget: bool, repository: Path, as_json: bool
) -> int:
    """Bring back what a call deleted or overwrote: that of ID, or of the latest call in this repository.

    What stands there now is kept first, so that an undo can be undone. --files PATH... brings back only these.
    """
    from tipstaff.undo.keeps import IDENTIFIER

    identifier = words[0] if words and (IDENTIFIER.fullmatch(words[0]) or not only_files) else None
    paths = words[1:] if identifier else words
    if paths and not only_files:
        raise ConfigError(f"{paths[0]!r}: one ID at a time; with --files, paths")
    if only_files and not paths:
        raise ConfigError("--files names no file; name files or folders to bring back")
    if listed:
        return _list(repository, as_json)
    if forget:
        return _forget(identifier, repository)
    from tipstaff.hosts.tidying import tidy_keeps
    from tipstaff.undo import undo

    report = undo(identifier, repository=repository, files=[Path.cwd() / one for one in paths], dry_run=dry_run)
    tidy_keeps()
    if as_json:
        write_json(report.to_dict())
    else:
        write(*_lines(report, dry_run, Painter()))
    return exits.FINDINGS if report.failed else exits.OK


def _list(repository: Path, as_json: bool) -> int:
    from tipstaff.hosts.tidying import tidy_keeps
    from tipstaff.undo import kept

    tidy_keeps()
    calls = kept(repository)
    if as_json:
        write_json([one.to_dict() for one in calls])
        return exits.OK
    paint = Painter()
    write(*([line for one in calls for line in call_lines(one, paint)] or ["nothing is kept of this repository"]))
    return exits.OK


def call_lines(call: KeptCall, paint: Painter) -> list[str]:
    """Return what a person needs to choose a kept call."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(call.time / 1000))
    session = f", session {plain(call.session_id[:12])}" if call.session_id else ""
    text = " ".join(plain(call.command).split()) or "(command unknown)"
    short = text if len(text) <= _SHOWN_COMMAND else f"{text[: _SHOWN_COMMAND - 1]}…"
    return [
        f"{paint(call.id, bold=True)}  {when}, {counted(call.files, 'file')}, {size_text(call.bytes)}{session}",
        f"  before   {short}",
    ]


def size_text(count: float) -> str:
    """Return a number of bytes for people."""
    power = min(len(_UNITS) - 1, (len(str(int(count))) - 1) // 3)
    return f"{count / 1000**power:.{min(power, 1)}f} {_UNITS[power]}"


def _lines(report: UndoReport, dry_run: bool, paint: Painter) -> list[str]:
    verb = "would come back" if dry_run else "came back"
    shown = [f"  {plain(one)}" for one in report.restored[:_SHOWN_PATHS]]
    if more := len(report.restored) - len(shown):
        shown.append(f"  and {more:,} more")
    lines = [f"{counted(len(report.restored), 'thing')} {verb}:", *shown] if report.restored else []
    lines += [f"{paint('not back', 'red')}: {plain(one.path)}: {plain(one.reason)}" for one in report.failed]
    if not lines:
        return ["everything is as it was kept: there is nothing to bring back"]
    if report.kept_aside:
        lines.append(f"what was there before is kept: `tipstaff undo {report.kept_aside}` undoes this")
    return lines


def _forget(identifier: str | None, repository: Path) -> int:
    from tipstaff.undo import forget
    from tipstaff.undo.keeps import keep_named, kept_call, read_manifest

    if identifier is None:
        raise ConfigError("--forget needs an ID; `tipstaff undo --list` shows them")
    check_person()
    keep = keep_named(identifier, repository)
    try:
        write(*call_lines(kept_call(keep, read_manifest(keep.folder)), Painter()))
    except ValueError as error:
        write(plain(str(error)))
    word = click.prompt("What it kept is gone for good then. To forget it, type forget", default="", show_default=False)
    if word.strip() != "forget":
        write("nothing was done")
        return exits.FINDINGS
    try:
        forget(keep)
    except FileNotFoundError:
        raise SourceNotFoundError(f"{keep.id}: it is gone already") from None
    write("forgotten; commits that only it held are git's to clean up (`git gc --prune=now`)")
    return exits.OK
