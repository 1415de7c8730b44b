"""Why a shard was chosen, in words: only what did add to its rank, and the words that it shares with the task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from tipstaff.globs import scope_applies
from tipstaff.guidance.retrieval.search import Hit, Question
from tipstaff.guidance.retrieval.shard_profiles import Card
from tipstaff.guidance.wording.claims import task_words
from tipstaff.guidance.wording.word_roles import lexicon
from tipstaff.kernels import TopicWords
from tipstaff.kernels.formats import roles

_MOST_WORDS: Final = 4
_MOST_MEANING: Final = 2.0


class Reasons:
    """Says why shards were chosen.

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

    def of(
        self, question: Question, hits: Sequence[Hit], cards: Sequence[Card], paths: tuple[str, ...], *, often: bool
    ) -> list[str]:
        """Return why each hit was chosen.

        Parameters
        ----------
        question
            What was asked.
        hits, cards
            What was chosen.
        paths
            That the task names.
        often
            Whether so much is asked that it pays to compile the lexicon of the words.
        """
        intent, task = question.match.intent, question.task
        shown: list[str] = []
        for card in cards:
            boosted = card.boosted.get(intent)
            shown.append(self._boosted(card, intent) if boosted is None else boosted)
        meanings = [min(_MOST_MEANING, max(0.0, hit.meaning)) for hit in hits]
        reasons = None
        if often and self._has_meaning:
            reasons = _topic_words().reasons(task, [card.topic_hashes for card in cards], meanings, shown, _MOST_WORDS)
        if reasons is None:
            words = task_words(task).items()
            reasons = [
                (f"meaning {int(meaning * 100 + 0.5) / 100:.2f}" if self._has_meaning else "")
                + more
                + _shared([word for stem, word in words if stem in card.topic])
                for card, meaning, more in zip(cards, meanings, shown, strict=True)
            ]
        if question.scope or paths:
            reasons = [
                reason + self._placed(card, question.scope, paths) if card.scope else reason
                for card, reason in zip(cards, reasons, strict=True)
            ]
        if not self._has_meaning:
            reasons = [
                reason[2:] or f"nearest by hash ({meaning:.2f}), which carries no meaning; no word in common"
                for meaning, reason in zip(meanings, reasons, strict=True)
            ]
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


def _shared(words: Sequence[str]) -> str:
    return "; shares '" + "', '".join(words[:_MOST_WORDS]) + "'" if words else ""


@cache
def _topic_words() -> TopicWords:
    return TopicWords(lexicon(), roles.FUNCTION)
