"""``tipstaff uninstall``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tipstaff.cli.options import host_option, json_option, repository_option, scope_options
from tipstaff.cli.output import plain, write, write_json

if TYPE_CHECKING:
    from tipstaff.hosts.host import Scope


@click.command("uninstall")
@host_option
@repository_option
@scope_options
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@json_option
def command(host: str | None, repository: Path, scope: Scope | None, dry_run: bool, as_json: bool) -> None:
    """Remove the hook from agent hosts, by default wherever it is registered here; other settings stay as they are.

    If nothing else has changed, a file is restored byte for byte.
    """
    from tipstaff.hosts import hosts_named
    from tipstaff.hosts.host import SCOPES
    from tipstaff.hosts.installation import apply_uninstall, exclude_local, plan_uninstall
    from tipstaff.hosts.registrations import record_registration
    from tipstaff.store.state import state_folder

    home, state = Path.home(), state_folder()
    hosts = hosts_named(host or "all")
    # All are planned before any is written: a file that cannot be read stops the whole. Of scopes that share a file the
    # first counts.
    steps = {
        one.settings_file(which, repository, home): (one, plan_uninstall(one, which, repository, home))
        for one in hosts
        for which in ((scope,) if scope else reversed(SCOPES))
    }
    changed = [(path, one, change) for path, (one, change) in steps.items() if change.changes]
    if not dry_run:
        for _, _, change in changed:
            apply_uninstall(change)
        for path, (one, _) in steps.items():
            exclude_local(path, repository, excluded=False)
            record_registration(repository, state, one.name, str(path), registered=False)
    if as_json:
        documents = [
            {"host": change.host, "path": change.path, "changed": True, "difference": change.difference()}
            for _, _, change in changed
        ]
        write_json({"dry_run": dry_run, "settings": documents})
        return
    for _, one, change in changed:
        what = "remove" if change.after is None else "remove the hook from"
        text = f"{one.title}: would {what}" if dry_run else f"{one.title}: {what.replace('remove', 'removed')}"
        write(plain(f"{text} {change.path}"))
    if not changed:
        write("the hook is not registered here; nothing was changed")
