"""``tipstaff context``: what the last request really contained."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from tipstaff.cli.context_text import (
    Page,
    compared,
    costs,
    course_lines,
    detail_lines,
    difference_lines,
    overview_lines,
)
from tipstaff.cli.options import json_option, repository_option
from tipstaff.cli.output import Painter, plain, write, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from tipstaff.context.inspecting.snapshot import ContextSnapshot


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        repository_option,
        click.option("--session", metavar="ID", help="The session; by default the one that was active last."),
        click.option(
            "--request", "number", type=int, metavar="N", help="The number of the request; by default the latest."
        ),
        json_option,
    ):
        function = option(function)
    return function


class _ListByDefault(click.Group):
    """Lists where no subcommand is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names = [*self.commands, "-h", "--help"]
        if not args or (args[0].startswith("-") and args[0] not in names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("context", cls=_ListByDefault)
def command() -> None:
    """Show what the last request to the model contained."""


@command.command("list")
@_options
def list_(*, repository: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Show sizes, pressure, costs by type, and every section."""
    from tipstaff.context.inspecting.snapshot import json_ready

    snapshot = _load(repository, session, number)
    if as_json:
        document = json_ready(snapshot)
        for section in document["sections"]:
            del section["content"]
        write_json({**document, "costs": costs(snapshot.sections)})
    else:
        paint = Painter()
        write(*overview_lines(snapshot, Page(paint)), painter=paint)


@command.command("detail")
@click.argument("key")
@_options
def detail(*, key: str, repository: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Show the section KEY with its text; KEY#2 is the second section of that key."""
    from tipstaff.errors import SourceNotFoundError

    snapshot = _load(repository, session, number)
    section = snapshot.find(key)
    if section is None:
        known = ", ".join(section.ref for section in snapshot.sections) or "none"
        raise SourceNotFoundError(2, f"there is no section {key!r}; there are: {known}")
    if as_json:
        write_json(section.to_dict())
    else:
        paint = Painter()
        write(*detail_lines(section, Page(paint)), painter=paint)


@command.command("diff")
@click.option("--against", type=int, metavar="N", help="Compare with this request; by default the previous one.")
@_options
def diff(*, against: int | None, repository: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Show what changed from one request to the next."""
    from tipstaff.context.inspecting.snapshot import SnapshotFolder
    from tipstaff.errors import SourceNotFoundError

    after = _load(repository, session, number)
    if against is None:
        earlier = [
            kept
            for kept in SnapshotFolder.of_project(repository).numbers(after.session_id)
            if kept < after.request_number
        ]
        if not earlier:
            raise SourceNotFoundError(2, f"request {after.request_number} is the first one of its session that is kept")
        against = earlier[-1]
    before = _load(repository, after.session_id, against)
    changes = compared(before, after)
    if as_json:
        write_json(changes)
    else:
        paint = Painter()
        write(*difference_lines(changes, Page(paint)), painter=paint)


@command.command("plot")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="context.svg", show_default=True)
@_options
def plot(*, output: Path, repository: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Write a treemap of the window as an SVG file."""
    from tipstaff.serving.pictures import prompt_tiles, treemap_svg, window_tiles
    from tipstaff.store.replacing import replaced_file

    snapshot = _load(repository, session, number)
    with replaced_file(output) as file:
        file.write(treemap_svg(snapshot).encode())
    if as_json:
        window, prompt = ([tile._asdict() for tile in tiles(snapshot)] for tiles in (window_tiles, prompt_tiles))
        document = {"output": str(output), "request_number": snapshot.request_number}
        write_json({**document, "window": window, "prompt": prompt})
    else:
        write(f"wrote {plain(str(output))}")


@command.command("course")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write it as an SVG file.")
@repository_option
@click.option("--session", metavar="ID", help="The session; by default the one that was active last.")
@json_option
def course(*, output: Path | None, repository: Path, session: str | None, as_json: bool) -> None:
    """Show what each call of a session took: tokens, the share from the cache, compactions."""
    import msgspec

    from tipstaff.context.inspecting.course import read
    from tipstaff.context.inspecting.snapshot import SnapshotFolder
    from tipstaff.serving.pictures import course_svg
    from tipstaff.store.replacing import replaced_file

    found = read(SnapshotFolder.of_project(repository), session)
    if output is not None:
        with replaced_file(output) as file:
            picture = course_svg(found.course, window=found.window, title=f"Session {plain(found.session_id)}")
            file.write(picture.encode())
    if as_json:
        totals = {name: getattr(found.course, name) for name in ("tokens", "cost_share", "prefix_share", "compactions")}
        written = {} if output is None else {"output": str(output)}
        write_json({**msgspec.to_builtins(found), **totals, **written})
        return
    paint = Painter()
    write(*course_lines(found, Page(paint)), painter=paint)
    if output is not None:
        write(f"wrote {plain(str(output))}")


def _load(repository: Path, session: str | None, number: int | None) -> ContextSnapshot:
    from tipstaff.context.inspecting.snapshot import SnapshotFolder

    return SnapshotFolder.of_project(repository).load(session, number)


@command.command("serve")
@repository_option
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path),
    help="The socket's path; by default .tipstaff/run/tipstaff.sock in the repository.",
)
@json_option
def serve(*, repository: Path, socket_path: Path | None, as_json: bool) -> None:
    """Answer JSON-RPC 2.0 on a Unix socket that only you may use, one message per line.

    Methods: context.inspect(sessionId, queryHint?, detailKey?) and context.sessions(). Runs until interrupted.
    """
    from tipstaff.context.inspecting.snapshot import SnapshotFolder
    from tipstaff.serving.inspection import METHODS, ContextServer

    path = socket_path or repository / ".tipstaff" / "run" / "tipstaff.sock"
    # Before it is announced that it listens: whoever knows may end it.
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with (
            ContextServer(path, SnapshotFolder.of_project(repository)) as server,
            contextlib.suppress(KeyboardInterrupt),
        ):
            if as_json:
                write_json({"socket": str(path), "methods": list(METHODS)})
            else:
                write(f"listening on {plain(str(path))}")
            server.serve_forever(poll_interval=0.1)
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt
