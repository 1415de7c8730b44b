"""The options that the commands about hosts share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from tipstaff.hosts import HOST_NAMES

_Command = TypeVar("_Command", bound=Callable[..., object])


def host_option(*, required: bool) -> Callable[[_Command], _Command]:
    """Return ``--host``."""
    kind = click.Choice([*HOST_NAMES, "all"])
    if required:  # a default, even None, would count as given
        return click.option("--host", type=kind, required=True, help="Which agent host.")
    return click.option("--host", type=kind, default="all", show_default=True, help="Which agent host.")


def scope_option(command: _Command) -> _Command:
    """Add ``--project`` and ``--user``."""
    user = click.option("--user", "scope", flag_value="user", help="The user's settings.")
    project = click.option(
        "--project",
        "scope",
        flag_value="project",
        default=None,
        help="The settings of this project. Without either: the user's for Copilot and Gemini CLI, which run no "
        "hooks of untrusted projects, and the project's for all others.",
    )
    return project(user(command))


def project_root() -> Path:
    """Return the repository around the current directory, or that directory where there is none."""
    from tipstaff.store.state import repository_of

    here = Path.cwd()
    return repository_of(here) or here
