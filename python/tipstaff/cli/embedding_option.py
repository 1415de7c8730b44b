"""The option that chooses an embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings.hash_embedding import Embedding

_ONNX: Final = "onnx:"


def embedding_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--embedding`` to a command, which is given its name as `embedding`."""
    return click.option(
        "--embedding",
        metavar="static|hash|onnx:FOLDER",
        default="static",
        show_default=True,
        callback=_checked,
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


def _checked(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    if value in {"static", "hash"} or (value.startswith(_ONNX) and len(value) > len(_ONNX)):
        return value
    msg = f"invalid embedding {value!r}; use static, hash or onnx:FOLDER"
    raise click.BadParameter(msg, ctx, parameter)
