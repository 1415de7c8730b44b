"""Options of the commands that read or write a ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tipstaff.errors import SourceNotFoundError

if TYPE_CHECKING:
    from tipstaff.runs.ledger.ledger import Ledger

_Function = TypeVar("_Function", bound=Callable[..., Any])


def ledger_options(function: _Function) -> _Function:
    """Add ``--dir``, ``--ledger`` and ``--key-file``."""
    for option in (
        click.option(
            "--key-file", type=click.Path(path_type=Path), help="The key of the chain; by default the state folder's."
        ),
        click.option(
            "--ledger", "url", envvar="TIPSTAFF_LEDGER", help="SQLAlchemy URL; by default .tipstaff/ledger.db."
        ),
        click.option(
            "--dir",
            "directory",
            type=click.Path(path_type=Path),
            callback=_root,
            help="The repository, where it is not the one around this folder.",
        ),
    ):
        function = option(function)
    return function


def key_of(key_file: Path | None) -> bytes | None:
    """Return the key in a file, None where none is named."""
    from tipstaff.runs.ledger.chain import key_file as read

    return None if key_file is None else read(key_file)


def opened(directory: Path, url: str | None, key_file: Path | None, *, create: bool = False) -> Ledger:
    """Open the ledger that the options name; one that does not exist is made only for what writes to it."""
    from tipstaff.plane import default_ledger_url, keep_out_of_git
    from tipstaff.runs.ledger.ledger import Ledger

    if create and url is None:
        keep_out_of_git(directory)
    return Ledger(url or default_ledger_url(directory), key=key_of(key_file), create=create)


def _root(context: click.Context, option: click.Parameter, given: Path | None) -> Path:
    from tipstaff.cli.repository_root import root_of

    del context, option
    if given is not None and not given.is_dir():
        raise SourceNotFoundError(f"{given}: not a folder; give the root of a repository")
    return root_of(given)
