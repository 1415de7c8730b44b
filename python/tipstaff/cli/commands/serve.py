"""``tipstaff serve``."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

import click

from tipstaff.cli import exits
from tipstaff.cli.options import repository_option
from tipstaff.errors import ConfigError


@click.command("serve")
@repository_option
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 is any that is free.")
def command(repository: Path, port: int) -> int:
    """Serve verdicts, metrics and a page of what happened on the loopback; prints its address and token.

    Beside it: tipstaff mcp is this repository for agents, and tipstaff mcp-gateway -- COMMAND an MCP server behind the
    gates.
    """
    from tipstaff.plane import GuidanceControlPlane
    from tipstaff.serving.service import run

    token = secrets.token_urlsafe(24)
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            raise ConfigError(f"port {port} is taken ({error.strerror}); another with --port, 0 for any") from error
        port = tried.getsockname()[1]
    click.echo(f"http://127.0.0.1:{port}/?token={token}")
    click.echo(f"token {token}: for programs, as Authorization: Bearer TOKEN")
    with GuidanceControlPlane(repository) as plane:
        run(plane, token, port)
    return exits.OK
