"""``tipstaff sync``."""

from __future__ import annotations

from pathlib import Path

import click

from tipstaff.cli import exits
from tipstaff.cli.options import json_option, repository_option
from tipstaff.cli.output import plain, write, write_json


@click.command("sync")
@repository_option
@click.option("--to", "targets", multiple=True, metavar="HOST", help="Write for this host; may be repeated.")
@click.option("--from", "source", metavar="HOST", help="Whose rule files are taken; those of AGENTS.md by default.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not as its source says.")
@json_option
def command(*, repository: Path, targets: tuple[str, ...], source: str | None, check: bool, as_json: bool) -> int:
    """Write the rules of one host for others, each in its format, with scopes and modes translated.

    Without --to, what was written before is brought up to date. Only files of its own, and what stands between its
    comments in others, are changed; what a host cannot hold is said.
    """
    from tipstaff.hosts.sync import apply, plan, synced_hosts

    found = plan(repository, targets or synced_hosts(repository), source=source)
    if not check:
        apply(repository, found.changes)
    if as_json:
        write_json({"written": not check, **found.to_dict()})
    else:
        done = "is" if check else "was"
        write(*(plain(f"{one.path} {done} {one.why}") for one in found.changes))
        write(*(plain(f"note: {loss}") for loss in found.losses))
        write(*(plain(f"note: {path} is not written by tipstaff sync, and stays as it is") for path in found.kept))
        if not found.changes:
            write("everything is as its source says")
    return exits.FINDINGS if check and found.changes else exits.OK
