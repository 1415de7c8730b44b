"""``tipstaff mcp``."""

from __future__ import annotations

from pathlib import Path

import click

from tipstaff.cli import exits
from tipstaff.cli.options import repository_option


@click.command("mcp")
@repository_option
@click.option("--http", "port", type=click.IntRange(1, 65535), help="Serve HTTP on this port of the loopback instead.")
def command(repository: Path, port: int | None) -> int:
    """Serve this repository's rules, gates and record to agents, as an MCP server on standard input and output.

    An agent can ask what would be decided, which rules matter and what was kept; it can allow nothing.
    """
    from tipstaff.plane import GuidanceControlPlane
    from tipstaff.serving.mcp_tools import server

    with GuidanceControlPlane(repository) as plane:
        made = server(plane)
        if port is None:
            made.run("stdio")
        else:
            made.run("streamable-http", host="127.0.0.1", port=port, stateless_http=True, json_response=True)
    return exits.OK
