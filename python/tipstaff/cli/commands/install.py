"""``tipstaff install``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tipstaff.cli.host_options import host_option, project_root, scope_option
from tipstaff.cli.output import Painter, plain, write, write_json

if TYPE_CHECKING:
    from tipstaff.hosts.installation import Change


@click.command("install")
@host_option(required=True)
@scope_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(host: str, scope: Literal["project", "user"] | None, dry_run: bool, as_json: bool) -> None:
    """Register the hook program in a host's settings, and compile the policies that it judges by.

    Other settings stay as they are; a copy of the file is kept beside it. Installing again changes nothing.
    """
    from tipstaff.cli.policy_review import compile_reviewed
    from tipstaff.gates.image.policy_file import policy_path
    from tipstaff.guidance.hook.image import write_hook_image
    from tipstaff.guidance.project import open_project
    from tipstaff.hosts import hosts_named
    from tipstaff.hosts.installation import apply_install, plan_install
    from tipstaff.hosts.program import hook_program
    from tipstaff.hosts.registrations import keep_registration
    from tipstaff.store.state import repository_of, state_folder

    root, home, state = project_root(), Path.home(), state_folder()
    program = hook_program()
    # All are planned before any is written: a file that cannot be read stops the whole.
    hosts = hosts_named(host)
    plans = [plan_install(one, scope or one.default_scope, root, home, program) for one in hosts]
    policies: list[Path] = []
    rules: Path | None = None
    if not dry_run:
        repository = repository_of(root)
        if repository is not None:
            compile_reviewed(repository, state, ask=not as_json)
            policies = [policy_path(repository, state)]
            # By way of the store, if there is one: the rules have the ids there that they are known by.
            with open_project(repository, write=False) as project:
                rules = write_hook_image(project.bundle, repository, state=state)
        for one, plan in zip(hosts, plans, strict=True):
            apply_install(plan)
            path = one.settings_file(scope or one.default_scope, root, home)
            keep_registration(root, state, one.name, str(path), registered=True)
    if as_json:
        changed = [
            {
                "host": plan.host,
                "path": plan.path,
                "changed": plan.changes,
                "copy": plan.copy,
                "difference": plan.difference(),
            }
            for plan in plans
        ]
        write_json(
            {
                "program": str(program),
                "dry_run": dry_run,
                "settings": changed,
                "policies": [str(one) for one in policies],
                "rules": None if rules is None else str(rules),
            }
        )
        return
    paint = Painter()
    for plan in plans:
        write(*difference_lines(plan, paint, dry_run=dry_run))
    write(*(f"policy: {plain(str(path))}" for path in policies))
    write(*([] if rules is None else [f"rules: {plain(str(rules))}"]))
    if not dry_run:
        write("Try it: tipstaff doctor")


def difference_lines(plan: Change, paint: Painter, *, dry_run: bool) -> list[str]:
    """Return what one settings file becomes, for people."""
    name = f"{paint(plan.host, bold=True)}: {plain(plan.path)}"
    difference = plan.difference()
    if not difference:
        return [f"{name}: nothing to change"]
    done = "created" if plan.before is None else "removed" if plan.after is None else "changed"
    done = f"would be {done}" if dry_run else done
    colours = {"+": "green", "-": "red"}
    lines = [paint(plain(line), colours.get(line[:1])) for line in difference.splitlines()]
    return [f"{name}: {done}", *lines]
