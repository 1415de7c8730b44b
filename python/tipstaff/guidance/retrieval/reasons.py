"""Why a shard was chosen, in words: only what did add to its rank, and the words that it shares with the task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from tipstaff.globs import scope_applies
from tipstaff.guidance.retrieval.shard_profiles import Card
from tipstaff.guidance.wording.claims import task_words
from tipstaff.guidance.wording.rule_lexicon import lexicon
from tipstaff.kernels import TopicWords
from tipstaff.kernels.formats import roles
from tipstaff.model import RetrievedShard

_MOST_WORDS: Final = 4
_MEANINGS: Final = tuple(f"meaning {percent / 100:.2f}" for percent in range(102))


class Reasons:
    """Makes answers of the shards that were chosen.

    Parameters
    ----------
    boosts
        For intent, critical risk, high risk.
    path_boost
        For a rule whose scope holds a place that the task names.
    has_meaning
        Whether the cosines are about meaning, or of chance alone.
    """

    def __init__(self, boosts: tuple[float, float, float], path_boost: float, *, has_meaning: bool) -> None:
        self._intent_boost = boosts[0]
        self._path_boost = path_boost
        self._has_meaning = has_meaning
        self._risks = {
            name: f"; {name} risk (+{boost:.2f})"
            for name, boost in (("critical", boosts[1]), ("high", boosts[2]))
            if boost
        }

    def retrieved(
        self,
        cards: Sequence[Card],
        scores: Sequence[float],
        cosines: Sequence[float],
        *,
        task: str,
        intent: str,
        repo_scope: str | None,
        paths: tuple[str, ...],
        often: bool,
    ) -> tuple[RetrievedShard, ...]:
        """Return shards with their scores and why they were chosen for a task.

        Parameters
        ----------
        cards
            Of the shards that were chosen.
        scores, cosines
            Of each, or of more shards after them.
        task, intent, repo_scope, places
            What was asked: the places are those that the task names.
        often
            Whether so much is asked that it pays to compile the lexicon of the words.
        """
        shown: list[str] = []
        for card in cards:
            boosted = card.boosted.get(intent)
            shown.append(self._boosted(card, intent) if boosted is None else boosted)
        cosines = list(cosines[: len(cards)])
        reasons = None
        if often and self._has_meaning:
            reasons = _topic_words().reasons(task, [card.topic_hashes for card in cards], cosines, shown, _MOST_WORDS)
        if reasons is None:
            reasons = self._in_words(cards, cosines, shown, task)
        if repo_scope or paths:
            reasons = [
                reason + self._placed(card, repo_scope, paths) if card.scope else reason
                for card, reason in zip(cards, reasons, strict=True)
            ]
        if not self._has_meaning:
            reasons = [
                reason[2:] or f"nearest by hash ({cosine:.2f}), which carries no meaning; no word in common"
                for cosine, reason in zip(cosines, reasons, strict=True)
            ]
        return tuple(map(RetrievedShard, [card.shard for card in cards], scores, reasons, cosines))

    def _in_words(self, cards: Sequence[Card], cosines: Sequence[float], shown: Sequence[str], task: str) -> list[str]:
        """Return what the kernel says, for any task; without the meaning where there is none."""
        words = task_words(task).items()
        reasons: list[str] = []
        for card, cosine, more in zip(cards, cosines, shown, strict=True):
            reason = _MEANINGS[int(cosine * 100 + 0.5)] + more if self._has_meaning else more
            topic = card.topic
            if shared := [word for stem, word in words if stem in topic]:
                reason += "; shares '" + "', '".join(shared[:_MOST_WORDS]) + "'"
            reasons.append(reason)
        return reasons

    def _boosted(self, card: Card, intent: str) -> str:
        """Say, and remember, what the boosts add for a task of an intent."""
        rule, boost = card.rule, self._intent_boost
        reason = f"; intent match ({intent}, +{boost:.2f})" if boost and intent in rule.intents else ""
        reason += self._risks.get(rule.risk_class, "")
        card.boosted[intent] = reason
        return reason

    def _placed(self, card: Card, repo_scope: str | None, paths: tuple[str, ...]) -> str:
        """Say where a rule holds that does not hold everywhere, if that has to do with the task."""
        if repo_scope:
            return f"; {card.scope}"
        path = next((one for one in paths if scope_applies(card.rule.repo_scopes, one)), None)
        return "" if path is None else f"; {card.scope}, where {path} is (+{self._path_boost:.2f})"


@cache
def _topic_words() -> TopicWords:
    return TopicWords(lexicon(), roles.FUNCTION)
