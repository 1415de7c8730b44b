"""Calls a kernel on each instruction set that this machine runs; the portable one is the oracle of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tipstaff.kernels import (
    _embedding,
    _focus,
    _fused,
    _intents,
    _similarity,
    _text,
    _tokens,
    _wordpiece,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = ("word_values", "read_words", "opposed_texts", "alike_texts", "join_pieces")
ISAS = _embedding.available_isas()
NATIVE = {
    name: getattr(module, name)
    for module, names in (
        (_focus, ("focus_scan",)),
        (_intents, ("TaskReader", "TopicWords", "stem_hashes", "task_paths")),
        (_embedding, ("hash_embed", "hash_embed_into", "hash_embed_batch")),
        (_fused, ("sign_rows",)),
        (_similarity, ("jaccard_pairs", "WordSets")),
        (_text, TEXT),
        (_tokens, ("token_features", "weigh_tokens", "utf16_units", "MessageGuard")),
        (_wordpiece, ("wordpiece_shape", "wordpiece_embed", "wordpiece_embed_batch", "wordpiece_split", "blend_rows")),
    )
    for name in names
}
WITHOUT_ISA = {
    "MessageGuard",
    "TaskReader",
    "TopicWords",
    "WordSets",
    "blend_rows",
    "jaccard_pairs",
    "join_pieces",
    "sign_rows",
    "stem_hashes",
    "task_paths",
    "utf16_units",
    "wordpiece_shape",
    "wordpiece_split",
    *TEXT,
}


def implementations(name: str) -> dict[str, Callable[..., Any]]:
    """Return a kernel on each instruction set by its name, or as ``native`` where it has none."""
    native = NATIVE[name]
    if name in WITHOUT_ISA:
        return {"native": native}
    found: dict[str, Callable[..., Any]] = {}
    for isa in ISAS:

        def call(*args: Any, isa: str = isa, **options: Any) -> Any:
            return native(*args, isa=isa, **options)

        found[isa] = call
    return found


def call_all(name: str, *args: Any, **options: Any) -> dict[str, Any]:
    """Return the result on each instruction set."""
    return {which: call(*args, **options) for which, call in implementations(name).items()}
