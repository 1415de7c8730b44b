"""Options that several commands share: the repository, the ledger, the embedding, hosts and scopes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tipstaff.errors import SourceNotFoundError
from tipstaff.hosts import HOST_NAMES

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings.hash_embedding import Embedding
    from tipstaff.runs.ledger.ledger import Ledger

_Command = TypeVar("_Command", bound=Callable[..., Any])
_ONNX: Final = "onnx:"

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="Work on local:N processes, or on ray, ray:HOST:PORT, ray://HOST:PORT."
)
color_option = click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")


def repository_option(command: _Command) -> _Command:
    """Add ``-C`` and ``--repo``: the command is given the repository's root as `repository`."""
    return _repository("The repository; by default the one around the current folder.", repository_root)(command)


def repository_if_named(text: str) -> Callable[[_Command], _Command]:
    """Return ``-C`` and ``--repo`` with a help text of their own: the command is given None where they are not used."""
    return _repository(text, lambda given: None if given is None else repository_root(given))


def _repository(text: str, root_of: Callable[[Path | None], Path | None]) -> Callable[[_Command], _Command]:
    def resolve(context: click.Context, parameter: click.Parameter, given: Path | None) -> Path | None:
        del context, parameter
        return root_of(given)

    kind = click.Path(path_type=Path)
    return click.option("-C", "--repo", "repository", metavar="PATH", type=kind, callback=resolve, help=text)


def repository_root(given: Path | None) -> Path:
    """Return the root of a repository.

    Parameters
    ----------
    given
        A folder, None for the current one.

    Returns
    -------
    Path
        The nearest folder with a ``.git``, from the given one upwards, and that folder itself where there is none. A
        folder other than the current one that has rule files in a repository without any is a root of its own, see
        `tipstaff.guidance.reading.discovery.rules_root`.

    Raises
    ------
    SourceNotFoundError
        It is not a folder.
    """
    from tipstaff.store.state import repository_of

    here = Path.cwd()
    if given is None or given.resolve() == here.resolve():
        return repository_of(here) or here
    if not given.is_dir():
        raise SourceNotFoundError(f"{given}: not a folder; give the root of a repository")
    from tipstaff.guidance.reading.discovery import rules_root

    return rules_root(given)


def is_below(folder: str, repository: Path) -> bool:
    """Return whether a folder, as a call recorded it, is a repository or is in it."""
    return Path(folder).resolve().is_relative_to(repository.resolve())


def ledger_options(command: _Command) -> _Command:
    """Add ``--repo``, ``--ledger`` and ``--key-file``."""
    key = click.option(
        "--key-file", type=click.Path(path_type=Path), help="The key of the chain; by default the state folder's."
    )
    ledger = click.option(
        "--ledger", "url", envvar="TIPSTAFF_LEDGER", help="SQLAlchemy URL; by default .tipstaff/ledger.db."
    )
    return repository_option(ledger(key(command)))


def key_of(key_file: Path | None) -> bytes | None:
    """Return the key in a file, None where none is named."""
    from tipstaff.runs.ledger.chain import key_file as read

    return None if key_file is None else read(key_file)


def opened(repository: Path, url: str | None, key_file: Path | None, *, create: bool = False) -> Ledger:
    """Open the ledger that the options name; only a command that writes to it creates one."""
    from tipstaff.plane import default_ledger_url, keep_out_of_git
    from tipstaff.runs.ledger.ledger import Ledger

    if create and url is None:
        keep_out_of_git(repository)
    return Ledger(url or default_ledger_url(repository), key=key_of(key_file), create=create)


def host_option(command: _Command) -> _Command:
    """Add ``--host``; without it the command is given None."""
    return click.option(
        "--host",
        type=click.Choice([*HOST_NAMES, "all"]),
        help="Which agent host; by default every one that is found here.",
    )(command)


def scope_options(command: _Command) -> _Command:
    """Add ``--project``, ``--local`` and ``--user``."""
    for name, text in (
        ("user", "The user's settings: every repository."),
        ("local", "This repository, in a file that git does not track."),
        ("project", "This repository, in a file that is committed: everybody who works on it."),
    ):
        command = click.option(f"--{name}", "scope", flag_value=name, default=None, help=text)(command)
    return command


def embedding_option(command: _Command) -> _Command:
    """Add ``--embedding`` to a command, which is given its name as `embedding`."""
    return click.option(
        "--embedding",
        metavar="static|hash|onnx:FOLDER",
        default="static",
        show_default=True,
        callback=_checked_embedding,
        help="How texts become vectors: static by meaning, hash by words alone, onnx with a local export of a model.",
    )(command)


def embedding_named(name: str) -> Embedding:
    """Return the embedding of a name."""
    if name.startswith(_ONNX):
        from tipstaff.guidance.embeddings.onnx_embedding import OnnxEmbedding

        return OnnxEmbedding(name[len(_ONNX) :])
    if name == "hash":
        from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding

        return HashEmbedding()
    from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding

    return StaticEmbedding()


def _checked_embedding(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value in {"static", "hash"} or (value.startswith(_ONNX) and len(value) > len(_ONNX)):
        return value
    msg = f"invalid embedding {value!r}; use static, hash or onnx:FOLDER"
    raise click.BadParameter(msg, context, parameter)
