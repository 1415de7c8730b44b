"""From a task's text to the best shards by the cosine of an embedding: its places, its vector, and the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.intents.task_paths import paths_in
from tipstaff.guidance.retrieval.shard_index import ShardIndex
from tipstaff.guidance.retrieval.vectors import path_boost_of, task_vector
from tipstaff.model import INTENT_BITS, IntentMatch

Best = tuple[Sequence[int], Sequence[float], Sequence[float]]
"""Row numbers, scores and cosines."""


class Asked(NamedTuple):
    """What is asked of the scoring kernels."""

    query: Any
    mask: bytes | None
    intent_bit: int
    risks: int
    paths: tuple[str, ...]


class ShardSearch:
    """Finds the best shards for tasks.

    Parameters
    ----------
    index
        The shards.
    embedding
        That of their vectors.
    boosts
        For intent, critical risk, high risk.
    """

    def __init__(self, index: ShardIndex, embedding: Embedding, boosts: tuple[float, float, float]) -> None:
        self._index = index
        self._embedding = embedding
        self._boosts = boosts
        self._path_boost = path_boost_of(embedding)

    def asked(self, task: str, match: IntentMatch, mask: bytes | None, risks: int) -> Asked:
        """Return what is asked of the kernels for a task."""
        paths = paths_in(task) if self._path_boost else ()
        return Asked(task_vector(task, self._embedding), mask, INTENT_BITS[match.intent], risks, paths)

    def best(self, asked: Asked, wanted: int) -> Best:
        """Ask the scoring kernels."""
        query, mask, bit, risks, paths = asked
        return self._index.best(
            query, mask, intent_bit=bit, risk_filter=risks, boosts=self._boosts, k=wanted,
            paths=paths, path_boost=self._path_boost,
        )  # fmt: skip
