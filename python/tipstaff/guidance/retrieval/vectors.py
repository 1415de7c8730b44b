"""What retrieval asks of an embedding: the vectors of shards and tasks, and the boosts that suit its scores.

An embedding of another making needs `embed`, `embed_batch`, `identity` and `dimensions` alone; it may bring `boosts`
and `path_boost` of its own, and `rule_rows` where a rule's vector is to hold its heading. With `cosine_alone` neither
words nor priors count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tipstaff.guidance.embeddings.hash_embedding import Embedding, HashEmbedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.model import RuleShard

INTENT_BOOST: Final = 0.15
CRITICAL_BOOST: Final = 0.10
HIGH_BOOST: Final = 0.05
SEED_BOOSTS: Final = (INTENT_BOOST, CRITICAL_BOOST, HIGH_BOOST)
"""For intent, critical risk, high risk; the embedding's own where it has any (ADR-G002)."""


def default_embedding() -> Embedding:
    """Return the embedding that is used where none is given."""
    return StaticEmbedding()


def boosts_of(embedding: Embedding) -> tuple[float, float, float]:
    """Return the boosts for intent, critical and high risk that suit an embedding's scores."""
    boosts: tuple[float, float, float] = getattr(embedding, "boosts", SEED_BOOSTS)
    return boosts


def path_boost_of(embedding: Embedding) -> float:
    """Return what a rule gains whose scope holds a path that the task names."""
    return float(getattr(embedding, "path_boost", 0.0))


def with_words(embedding: Embedding) -> bool:
    """Return whether words and priors count beside an embedding's cosine."""
    return not getattr(embedding, "cosine_alone", False)


def shard_rows(shards: Sequence[RuleShard], embedding: Embedding) -> Any:
    """Return the vectors of shards, float32 (n_shards, dimensions) or the bytes of it.

    An embedding with `rule_rows` is given each rule's words and their heading, any other one the line in which the
    model reads the shard.
    """
    if hasattr(embedding, "rule_rows"):
        return text_rows([shard.rule.text for shard in shards], embedding, [shard.rule.heading for shard in shards])
    return text_rows([shard.compact_text for shard in shards], embedding)


def text_rows(texts: Sequence[str], embedding: Embedding, headings: Sequence[str] | None = None) -> Any:
    """Return the vectors of texts, each under its heading where there are any."""
    rule_rows = getattr(embedding, "rule_rows", None)
    if rule_rows is not None:
        rows = rule_rows(texts, headings if headings is not None else [""] * len(texts))
        if isinstance(embedding, StaticEmbedding):
            return rows
        return unit_rows(rows, len(texts), embedding.dimensions)
    if headings is not None:
        texts = [f"{head}: {text}" if head else text for head, text in zip(headings, texts, strict=True)]
    if type(embedding) is HashEmbedding:  # which needs no NumPy; one derived from it may do anything
        return embedding.embed_rows(texts)
    return unit_rows(embedding.embed_batch(texts), len(texts), embedding.dimensions)


def task_vector(task: str, embedding: Embedding) -> Any:
    """Return the vector of a task, float32 (dimensions,)."""
    if type(embedding) is StaticEmbedding or type(embedding) is HashEmbedding:
        return embedding.embed_query(task)
    return unit_rows([embedding.embed(task)], 1, embedding.dimensions)[0]


def cosines(rows: Any, task: str, embedding: Embedding) -> Any:
    """Return how near rows are to a task, float32 (n_rows,), 0 to 1."""
    import numpy as np

    vectors = np.frombuffer(rows, dtype=np.float32).reshape(-1, embedding.dimensions)
    found = vectors @ np.asarray(task_vector(task, embedding), dtype=np.float32)
    # How a product is summed differs among rows: without the last digits equal rows are equally near.
    return np.round(np.clip(np.nan_to_num(found), 0.0, 1.0), 6)


def unit_rows(vectors: Any, n_rows: int, dimensions: int) -> Any:
    """Check a batch of vectors and return it as float32 rows of length 1 (rows of zeros stay).

    Raises
    ------
    ValueError
        If the shape is not (n_rows, dimensions) or a number is not finite.
    """
    import numpy as np

    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.shape != (n_rows, dimensions):
        raise ValueError(f"the embedding gave an array of shape {rows.shape}; it must be ({n_rows}, {dimensions})")
    if not np.isfinite(rows).all():
        raise ValueError("the embedding gave a number that is not finite")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if np.abs(lengths - 1.0).max(initial=0.0) <= 1e-5:
        return rows
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
