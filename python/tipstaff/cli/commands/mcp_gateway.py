"""``tipstaff mcp-gateway``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from tipstaff.cli.options import repository_option
from tipstaff.errors import ConfigError
from tipstaff.store.untrusted import read_untrusted_text


@click.command("mcp-gateway", context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@repository_option
@click.option(
    "--config", "path", type=click.Path(path_type=Path), help="A file with the servers and what is said of each."
)
@click.option("--server", "name", default="", help="The server's name; of the configuration, the one to start.")
@click.option("--wait", type=float, help="Seconds that a call which needs a person waits in `tipstaff approve`.")
def command(words: tuple[str, ...], repository: Path, path: Path | None, name: str, wait: float | None) -> int:
    """Start an MCP server behind the gates: tipstaff mcp-gateway -- npx some-server.

    Its calls are judged and recorded, results masked, and a tool that describes itself otherwise than at first is asked
    about.
    """
    import msgspec

    from tipstaff.plane import GuidanceControlPlane
    from tipstaff.serving.gateway import ServerPolicy, run

    table: dict[str, Any] = {}
    if path is not None:
        servers: Any = tomllib.loads(read_untrusted_text(path)).get("servers", {})
        if name not in servers:
            raise ConfigError(f"{path}: there is no server {name!r}; there are {', '.join(servers) or 'none'}")
        table = dict(servers[name])
    started = list(words) or table.pop("command", [])
    table.pop("command", None)
    env, cwd = table.pop("env", {}), table.pop("cwd", None)
    if not started:
        raise ConfigError("which server? tipstaff mcp-gateway -- COMMAND, or --config FILE --server NAME")
    if wait is not None:
        table["wait"] = wait
    unknown = set(table) - set(ServerPolicy.__struct_fields__)
    if unknown:
        raise ConfigError(f"{path}: unknown keys: {', '.join(sorted(unknown))}")
    try:
        policy = msgspec.convert(table, ServerPolicy)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}") from error
    with GuidanceControlPlane(repository) as plane:
        named = name or Path(started[0]).name
        return run(started, named, plane, policy, env=env, cwd=None if cwd is None else Path(cwd))
