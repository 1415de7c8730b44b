"""From a task's text to the best shards: its intent, its places, its vector, and the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.intents.task_paths import places_in
from tipstaff.guidance.retrieval.shard_index import ShardIndex
from tipstaff.guidance.retrieval.vectors import place_boost_of, task_vector
from tipstaff.model import INTENT_BITS, INTENTS, IntentMatch

Best = tuple[Sequence[int], Sequence[float], Sequence[float]]
"""Row numbers, scores and cosines."""


class Asked(NamedTuple):
    """What is asked of the scoring kernels."""

    query: Any
    mask: bytes | None
    intent_bit: int
    risks: int
    places: tuple[str, ...]


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
        self._place_boost = place_boost_of(embedding)
        self._at_once = index.task_search(embedding)

    def look(
        self, task: str, match: IntentMatch | None, mask: bytes | None, risks: int, wanted: int
    ) -> tuple[IntentMatch, Best, Asked | None]:
        """Find the best shards.

        Parameters
        ----------
        task
            What is to be done.
        match
            Its intent, where somebody named it.
        mask, risks
            Shards that may be given, None for all; risk classes that may, as bits.
        wanted
            How many shards at most.

        Returns
        -------
        tuple
            The intent, the shards, and what was asked of the kernels where they were asked one by one; then alone the
            task may name places.
        """
        if self._at_once is not None:
            found = self._at_once.find(
                task, mask, query_intents=None if match is None else INTENT_BITS[match.intent], risk_filter=risks,
                boosts=self._boosts, k=wanted,
            )  # fmt: skip
            if found is not None:
                number, confidence, rows, scores, cosines = found
                if match is None:
                    match = IntentMatch(INTENTS[number], confidence)
                return match, (rows, scores, cosines), None
        if match is None:
            match = classify_intent(task)
        asked = self.asked(task, match, mask, risks)
        return match, self.best(asked, wanted), asked

    def asked(self, task: str, match: IntentMatch, mask: bytes | None, risks: int) -> Asked:
        """Return what is asked of the kernels for a task."""
        places = places_in(task) if self._place_boost else ()
        return Asked(task_vector(task, self._embedding), mask, INTENT_BITS[match.intent], risks, places)

    def best(self, asked: Asked, wanted: int) -> Best:
        """Ask the scoring kernels."""
        query, mask, bit, risks, places = asked
        return self._index.best(
            query, mask, intent_bit=bit, risk_filter=risks, boosts=self._boosts, k=wanted,
            places=places, place_boost=self._place_boost,
        )  # fmt: skip
