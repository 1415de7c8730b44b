"""``tipstaff serve``."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path
from types import FrameType

import click

from tipstaff.cli.output import plain, write, write_json


@click.command("serve")
@click.option("--dir", "directory", type=click.Path(path_type=Path), default=".", help="The project's folder.")
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path),
    help="The socket's path; by default .tipstaff/run/tipstaff.sock in the project's folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the socket's path as one JSON document.")
def command(*, directory: Path, socket_path: Path | None, as_json: bool) -> None:
    """Answer JSON-RPC 2.0 on a Unix socket that only you may use, one message per line.

    Methods: context.inspect(sessionId, queryHint?, detailKey?) and context.sessions(). Runs until interrupted.
    """
    from tipstaff.context.inspecting.serving import METHODS, ContextServer
    from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder

    path = socket_path or directory / ".tipstaff" / "run" / "tipstaff.sock"
    # Before it is announced that it listens: whoever knows may end it.
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with (
            ContextServer(path, SnapshotFolder.of_project(directory)) as server,
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
