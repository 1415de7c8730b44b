"""Why a rule was retrieved: the words that pulled it, the boosts, and what it beat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tipstaff.guidance.retrieval.vectors import shard_rows, task_vector

if TYPE_CHECKING:
    from tipstaff.guidance.retrieval.retriever import ShardRetriever
    from tipstaff.model import RetrievalResult

_MAX_WORDS: Final = 64
"""Words of a task that are left out in turn; each costs one more embedding."""
_BEATEN: Final = 3
_LEAST_PULL: Final = 0.005
_WORD: Final = re.compile(r"\S+")
_TRIM: Final = "\"'`.,;:!?()[]{}<>"


class Pull(msgspec.Struct, frozen=True, gc=False):
    """What a word of the task did for a rule.

    Attributes
    ----------
    word
        As it is in the task.
    pull
        What the cosine loses without it; below zero for a word that pulled away.
    """

    word: str
    pull: float

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {"word": self.word, "pull": round(self.pull, 4)}


class Why(msgspec.Struct, frozen=True):
    """Why one rule was retrieved.

    Attributes
    ----------
    id, score, cosine
        The rule, and how it was judged.
    boosts
        What was added to the cosine, in total.
    pulls
        The words of the task, the strongest first; weak ones are left out.
    beat
        The rules that came next, with their scores.
    instead_of
        The rules that were dropped because they contradict this one.
    reason
        As the result says it.
    """

    id: str
    score: float
    cosine: float
    boosts: float
    pulls: tuple[Pull, ...]
    beat: tuple[tuple[str, float], ...]
    instead_of: tuple[str, ...]
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {
            "id": self.id,
            "score": round(self.score, 6),
            "cosine": round(self.cosine, 6),
            "boosts": round(self.boosts, 6),
            "pulls": [pull.to_dict() for pull in self.pulls],
            "beat": [{"id": rule_id, "score": round(score, 6)} for rule_id, score in self.beat],
            "instead_of": list(self.instead_of),
            "reason": self.reason,
        }


def explain_retrieval(
    retriever: ShardRetriever,
    task: str,
    found: RetrievalResult,
    *,
    intent: str | None = None,
    risk_filter: str | Iterable[str] | None = None,
    repo_scope: str | None = None,
    today: str | None = None,
) -> tuple[Why, ...]:
    """Return for each rule of a retrieval why it is among them.

    A word's pull is what the cosine loses when the word is left out of the task, so that it holds for any embedding; an
    embedding without meaning has pulls that mean nothing, and they are left out.

    Parameters
    ----------
    retriever, task
        What was asked, and for which task.
    found
        What `retriever.retrieve` gave.
    intent, risk_filter, repo_scope, today
        The arguments it had; a single-pass iterable must be given as a sequence to both.

    Returns
    -------
    tuple of Why
        In the order of the rules.
    """
    wider = retriever.retrieve(
        task, intent=intent, risk_filter=risk_filter, repo_scope=repo_scope, max_shards=len(found.shards) + _BEATEN,
        today=today,
    )  # fmt: skip
    order = [(one.shard.rule.id, one.similarity) for one in wider.shards]
    pulls = _pulls(retriever, task, [one.shard for one in found.shards])
    answers: list[Why] = []
    for position, one in enumerate(found.shards):
        rule_id = one.shard.rule.id
        answers.append(
            Why(
                id=rule_id,
                score=one.similarity,
                cosine=one.cosine,
                boosts=one.similarity - min(1.0, max(0.0, one.cosine)),
                pulls=pulls[position],
                beat=tuple(other for other in order if other[0] != rule_id and other[1] <= one.similarity)[:_BEATEN],
                instead_of=tuple(dropped.id for dropped in wider.dropped if dropped.kept == rule_id),
                reason=one.reason,
            )
        )
    return tuple(answers)


def _pulls(retriever: ShardRetriever, task: str, shards: Sequence[Any]) -> list[tuple[Pull, ...]]:
    embedding = retriever.embedding
    if not shards or not retriever.has_meaning:
        return [()] * len(shards)
    width = embedding.dimensions
    rows = memoryview(shard_rows(shards, embedding)).cast("B").cast("f")
    whole = task_vector(task, embedding)
    words = list(_WORD.finditer(task))[:_MAX_WORDS]
    without = [task_vector(task[: word.start()] + task[word.end() :], embedding) for word in words]
    answers: list[tuple[Pull, ...]] = []
    for position in range(len(shards)):
        row = rows[position * width : (position + 1) * width]
        cosine = _dot(row, whole)
        pulled = [
            Pull(word[0].strip(_TRIM) or word[0], cosine - _dot(row, vector))
            for word, vector in zip(words, without, strict=True)
        ]
        answers.append(
            tuple(
                sorted((one for one in pulled if abs(one.pull) >= _LEAST_PULL), key=lambda one: (-one.pull, one.word))
            )
        )
    return answers


def _dot(left: Any, right: Any) -> float:
    return float(sum(a * b for a, b in zip(left, right, strict=True)))
