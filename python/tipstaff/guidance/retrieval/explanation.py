"""Why a rule was retrieved: what its score is made of, the words that raised it, and what it beat."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tipstaff.guidance.retrieval.selection import MOST_BY_TOKENS

if TYPE_CHECKING:
    from tipstaff.guidance.retrieval.retriever import ShardRetriever
    from tipstaff.guidance.retrieval.search import Hit, Question
    from tipstaff.model import RetrievalResult

_MAX_WORDS: Final = 64
"""Words of a task that are left out in turn; each costs one more search."""
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
        What the score loses without it; below zero for a word that pulled away.
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
    id, score
        The rule, and how it was judged.
    parts
        What the score is the sum of, by name: meaning, words, prior (how the rule is put), intent, risk, scope (it
        holds a path that the task names), folder (its file is near the file worked on). Those that are 0 are left out.
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
    parts: dict[str, float]
    pulls: tuple[Pull, ...]
    beat: tuple[tuple[str, float], ...]
    instead_of: tuple[str, ...]
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {
            "id": self.id,
            "score": round(self.score, 6),
            "parts": {name: round(value, 6) for name, value in self.parts.items()},
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

    A word's pull is what the rule's score loses when the word is left out of the task, so that it holds for any
    embedding; an embedding without meaning has pulls that mean nothing, and they are left out.

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
    most = max(MOST_BY_TOKENS, len(found.shards)) + _BEATEN
    options: dict[str, Any] = {"intent": intent, "risk_filter": risk_filter, "repo_scope": repo_scope, "today": today}
    wider = retriever.retrieve(task, max_shards=most, **options)
    order = [(one.shard.rule.id, one.similarity) for one in wider.shards]
    question = retriever.question(task, max_shards=most, **options)
    hits = {retriever.shard(row).rule.id: hit for row, hit in retriever.search.hits(question).items()}
    shown = [hits[one.shard.rule.id] for one in found.shards]
    pulls = _pulls(retriever, question, shown)
    return tuple(
        Why(
            id=one.shard.rule.id,
            score=one.similarity,
            parts=retriever.search.parts(question, hit),
            pulls=pulled,
            beat=tuple(other for other in order if other[0] not in known and other[1] <= one.similarity)[:_BEATEN],
            instead_of=tuple(dropped.id for dropped in wider.dropped if dropped.kept == one.shard.rule.id),
            reason=one.reason,
        )
        for one, hit, pulled in zip(found.shards, shown, pulls, strict=True)
        for known in [{one.shard.rule.id}]
    )


def _pulls(retriever: ShardRetriever, question: Question, hits: list[Hit]) -> list[tuple[Pull, ...]]:
    if not hits or not retriever.has_meaning:
        return [()] * len(hits)
    pulled: list[list[Pull]] = [[] for _ in hits]
    task = question.task
    for word in list(_WORD.finditer(task))[:_MAX_WORDS]:
        rest = question._replace(task=task[: word.start()] + task[word.end() :])
        without = retriever.search.hits(rest)
        for one, hit in zip(pulled, hits, strict=True):
            one.append(Pull(word[0].strip(_TRIM) or word[0], hit.score - without[hit.row].score))
    return [
        tuple(sorted((one for one in all_ if abs(one.pull) >= _LEAST_PULL), key=lambda one: (-one.pull, one.word)))
        for all_ in pulled
    ]
