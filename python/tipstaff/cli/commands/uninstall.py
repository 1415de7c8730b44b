"""``tipstaff uninstall``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from tipstaff.cli.commands.install import difference_lines
from tipstaff.cli.host_options import host_option, project_root, scope_option
from tipstaff.cli.output import Painter, write, write_json


@click.command("uninstall")
@host_option(required=True)
@scope_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(host: str, scope: Literal["project", "user"] | None, dry_run: bool, as_json: bool) -> None:
    """Remove the hook program from a host's settings; other settings stay as they are.

    If nothing else has changed, the file is restored byte for byte.
    """
    from tipstaff.hosts import hosts_named
    from tipstaff.hosts.host import SCOPES
    from tipstaff.hosts.installation import apply_uninstall, plan_uninstall
    from tipstaff.hosts.registrations import keep_registration
    from tipstaff.store.state import state_folder

    root, home, state = project_root(), Path.home(), state_folder()
    plans = []
    for one in hosts_named(host):
        plan = plan_uninstall(one, scope or one.default_scope, root, home)
        if scope is None and not plan.changes:
            # It may have been registered where it is not by default.
            plan = plan_uninstall(one, next(other for other in SCOPES if other != one.default_scope), root, home)
        plans.append(plan)
    if not dry_run:
        for plan in plans:
            apply_uninstall(plan)
        for one in hosts_named(host):
            for which in (scope,) if scope else SCOPES:
                path = one.settings_file(which, root, home)
                keep_registration(root, state, one.name, str(path), registered=False)
    if as_json:
        changed = [
            {"host": plan.host, "path": plan.path, "changed": plan.changes, "difference": plan.difference()}
            for plan in plans
        ]
        write_json({"dry_run": dry_run, "settings": changed})
        return
    paint = Painter()
    for plan in plans:
        if scope is None and not plan.changes:
            write(f"{paint(plan.host, bold=True)}: not registered")
            continue
        write(*difference_lines(plan, paint, dry_run=dry_run))
