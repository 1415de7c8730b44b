"""``tipstaff guard``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tipstaff.cli.options import repository_if_named
from tipstaff.cli.output import plain


@click.command("guard", context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
@repository_if_named("Start it in this repository.")
def command(words: tuple[str, ...], repository: Path | None) -> int:
    """Start an agent host, for which the gate's own files are read-only: tipstaff guard -- claude.

    State, program, the account's registrations and start-up files are kept by the kernel from the host and all that it
    starts. Everything else is as before, but sudo does not work inside. Settings of the host that lie in these files
    are changed outside.
    """
    from tipstaff.hosts.guarding import links_to_places, run
    from tipstaff.store.state import state_folder

    home = Path.home()
    click.echo("tipstaff: guarded: hook settings, state and start-up files are read-only; sudo does not work", err=True)
    for link in links_to_places(home):
        click.echo(f"tipstaff: {plain(str(link))} is a link, which can be replaced: put the file there", err=True)
    if repository is not None:
        os.chdir(repository)
    run(words, home, state_folder())
    raise AssertionError("unreachable")
