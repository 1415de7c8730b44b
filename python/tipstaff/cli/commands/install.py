"""``tipstaff install``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tipstaff.cli.options import host_option, json_option, repository_option, scope_options
from tipstaff.cli.output import plain, write, write_json
from tipstaff.errors import SourceNotFoundError

if TYPE_CHECKING:
    from tipstaff.hosts.host import AgentHost, Scope
    from tipstaff.hosts.installation import Change
    from tipstaff.model import PolicyBundle

_FOR_WHOM = {
    "local": "for this repository on this machine; git ignores the file",
    "project": "for everybody who works on this repository, once you commit it; without tipstaff it does nothing",
    "user": "for every repository of yours",
}


class Step(NamedTuple):
    """The change of one host's settings."""

    host: AgentHost
    scope: Scope
    change: Change

    def sentence(self, root: Path, *, done: bool) -> str:
        """Return what it does, or has done, for people."""
        name, path = self.host.title, _short(Path(self.change.path), root)
        if not self.change.changes:
            return f"{name}: is registered in {path} already"
        verb = "added" if done else "add"
        return f"{name}: {verb} the hook {'to' if self.change.before else 'in'} {path}, {_FOR_WHOM[self.scope]}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        change = self.change
        return {
            "host": change.host, "scope": self.scope, "path": change.path, "changed": change.changes,
            "copy": change.copy, "difference": change.difference(),
        }  # fmt: skip


class Compiled(NamedTuple):
    """The files that the hook judges and informs by; none outside a repository."""

    policy: Path | None
    rules: Path | None


@click.command("install")
@host_option
@repository_option
@scope_options
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@json_option
def command(host: str | None, repository: Path, scope: Scope | None, dry_run: bool, as_json: bool) -> None:
    """Register the hook with agent hosts, and compile what it judges by; ``tipstaff uninstall`` takes it away again.

    Other settings stay as they are; a copy of each file is kept beside it. Installing again changes nothing.

    Without a scope it is this repository alone, in a file that git does not track. Where git tracks the file, and for
    Gemini CLI and Copilot, which run no hooks of repositories that nobody has trusted, it is the user's settings.
    """
    from tipstaff.store.state import state_folder

    state = state_folder()
    steps = plan(hosts_wanted(host), scope, repository)
    compiled = Compiled(None, None)
    if not dry_run:
        compiled = compile_all(repository, read_rules(repository), state, ask=not as_json)
        register(steps, repository, state)
    if as_json:
        from tipstaff.hosts.host import hook_program

        write_json(
            {
                "program": str(hook_program()),
                "dry_run": dry_run,
                "settings": [step.to_dict() for step in steps],
                "policies": [] if compiled.policy is None else [str(compiled.policy)],
                "rules": None if compiled.rules is None else str(compiled.rules),
            }
        )
        return
    write(*(plain(step.sentence(repository, done=not dry_run)) for step in steps))
    if dry_run:
        write("Nothing was changed. --json shows each difference.")
    else:
        write("Try it: tipstaff doctor. Undo it: tipstaff uninstall")


def hosts_wanted(host: str | None) -> dict[str, str]:
    """Return the hosts that are named, else those that are found, and by what they are known to be here.

    Raises
    ------
    SourceNotFoundError
        None is named, and none is found.
    """
    from tipstaff.hosts import HOST_NAMES, hosts_found

    if host is not None:
        return dict.fromkeys(HOST_NAMES if host == "all" else (host,), "")
    found = hosts_found(Path.home())
    if not found:
        raise SourceNotFoundError(f"no agent host is found here; name one: --host {'|'.join(HOST_NAMES)}")
    return found


def plan(hosts: Sequence[str] | dict[str, str], scope: Scope | None, repository: Path) -> list[Step]:
    """Return the change of each host's settings; a file that cannot be read stops the whole."""
    from tipstaff.hosts import host_named
    from tipstaff.hosts.host import PROGRAM, hook_program
    from tipstaff.hosts.installation import plan_install, scope_for

    program, home = hook_program(), Path.home()
    steps: list[Step] = []
    for host in map(host_named, hosts):
        where = scope_for(host, scope, repository, home)
        # What is committed names the program alone: its path is another one on every machine.
        named = Path(PROGRAM) if where == "project" else program
        steps.append(Step(host, where, plan_install(host, where, repository, home, named)))
    return steps


def read_rules(repository: Path) -> PolicyBundle:
    """Return the rules of a repository, with the ids that they have in its store, if there is one."""
    from tipstaff.guidance.project import open_project

    with open_project(repository, write=False) as project:
        return project.bundle


def compile_all(repository: Path, rules: PolicyBundle, state: Path, *, ask: bool) -> Compiled:
    """Compile a repository's rules for the hook, and its policy where it has packs or settings of its own."""
    from tipstaff.cli.policy_review import compile_reviewed
    from tipstaff.gates.image.policy_file import policy_path
    from tipstaff.gates.image.repository_policy import has_own_policy
    from tipstaff.guidance.hook.image import write_hook_image
    from tipstaff.store.state import repository_of

    root = repository_of(repository)
    if root is None:
        return Compiled(None, None)
    policy = None
    if has_own_policy(root, state):
        compile_reviewed(root, state, ask=ask)
        policy = policy_path(root, state)
    return Compiled(policy, write_hook_image(rules, root, state=state))


def register(steps: Sequence[Step], repository: Path, state: Path) -> None:
    """Write the settings, and note where the hook is registered, so that a loss is noticed."""
    from tipstaff.hosts.installation import apply_install, exclude_local
    from tipstaff.hosts.registrations import record_registration

    for step in steps:
        path = step.host.settings_file(step.scope, repository, Path.home())
        apply_install(step.change)
        if step.scope == "local":
            exclude_local(path, repository, excluded=True)
        record_registration(repository, state, step.host.name, str(path), registered=True)


def _short(path: Path, root: Path) -> str:
    for folder, name in ((root, ""), (Path.home(), "~/")):
        if path.is_relative_to(folder):
            return f"{name}{path.relative_to(folder).as_posix()}"
    return str(path)
