"""The option that chooses an embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings import Embedding

NAMES = ("static", "hash")


def embedding_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--embedding`` to a command, which is given its name as `embedding`."""
    return click.option(
        "--embedding",
        type=click.Choice(NAMES),
        default="static",
        show_default=True,
        help="How texts become vectors: static carries meaning, hash none.",
    )(command)


def embedding_named(name: str) -> Embedding:
    """Return the embedding of a name."""
    if name == "static":
        from tipstaff.guidance.static_embedding import StaticEmbedding

        return StaticEmbedding()
    from tipstaff.guidance.embeddings import HashEmbedding

    return HashEmbedding()
