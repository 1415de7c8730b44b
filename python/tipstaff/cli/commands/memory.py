"""``tipstaff memory``: what the agent is given to remember, and which of it came with the repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from tipstaff.cli import exits
from tipstaff.cli.options import json_option, repository_option
from tipstaff.cli.output import Painter, plain, write, write_json
from tipstaff.cli.person import check_person, confirmed
from tipstaff.store.untrusted import read_untrusted_text


@click.group("memory")
def command() -> None:
    """List what an agent is given to remember, and accept what came with the repository."""


@command.command("list")
@repository_option
@json_option
def list_(repository: Path, as_json: bool) -> int:
    """List the files of memory; one that came with the repository is read once a person has accepted it."""
    found = list(_files(repository))
    if as_json:
        write_json([{"path": str(path), "tier": tier, "state": state} for path, tier, state in found])
        return exits.OK
    paint = Painter()
    colours = {"waiting": "yellow", "read": "green"}
    write(*(f"{paint(state.ljust(7), colours[state])}  {plain(str(path))}  {tier}" for path, tier, state in found))
    if not found:
        write("no memory files")
    elif any(state == "waiting" for _, _, state in found):
        write("waiting for a person: run `tipstaff memory accept` in a terminal")
    return exits.OK


@command.command("accept")
@repository_option
def accept(repository: Path) -> int:
    """Show each file of memory that came with the repository, and ask a person whether the agent is to read it.

    Only a person may do this, in a terminal of their own: it refuses when an agent or a script runs it.
    """
    from tipstaff.store.shipped import take_over
    from tipstaff.store.state import state_folder

    check_person()
    waiting = [path for path, _, state in _files(repository) if state == "waiting"]
    if not waiting:
        write("no memory file that came with this repository waits for a person")
    for path in waiting:
        text = read_untrusted_text(path, "utf-8", "replace")
        write("", f"{plain(str(path))}:", *(f"  {plain(line)}" for line in text.splitlines()))
        if confirmed("To let the agent remember this", "remember", "remember", state_folder()):
            take_over(repository, path)
    return exits.OK


def _files(root: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield path, tier and state of the files of a repository that say what the agent is and remembers."""
    from tipstaff.context.sources.memory_tiers import JOURNAL, SHIPPED_NEVER, TIERS
    from tipstaff.store.shipped import is_shipped, is_taken_over

    for tier in TIERS:
        if tier.tier not in SHIPPED_NEVER:
            continue
        for name in tier.places:
            if name.startswith("~"):
                continue
            paths = sorted((root / name).parent.glob("*.md")) if JOURNAL in name else [root / name]
            for path in filter(Path.is_file, paths):
                waits = is_shipped(root, path) and not is_taken_over(root, path)
                yield path, tier.tier, "waiting" if waits else "read"
