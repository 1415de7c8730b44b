"""Which folder is the repository's root, for the commands that read rule files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., object])


def root_option(command: _Command) -> _Command:
    """Add ``--root``."""
    return click.option(
        "--root",
        type=click.Path(path_type=Path),
        help="The repository's root; by default the nearest enclosing folder that has a .git.",
    )(command)


def root_of(given: Path | None, root: Path | None = None) -> Path:
    """Return the repository's root.

    Parameters
    ----------
    given
        The folder that a command was given, None for the present one.
    root
        What ``--root`` says; it is taken as it is.

    Notes
    -----
    From the present folder, named or not, the root is looked for upwards, as git does it; for any other folder see
    `tipstaff.guidance.reading.repository_root.rules_root`.
    """
    if root is not None:
        return root
    from tipstaff.store.state import repository_of

    here = Path.cwd()
    if given is None or given.resolve() == here.resolve():
        return repository_of(here) or here
    from tipstaff.guidance.reading.repository_root import rules_root

    return rules_root(given)
