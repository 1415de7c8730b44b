"""What kind of work a task asks for, in plain Python: states what the native kernel does."""

from __future__ import annotations

import re
from math import exp
from typing import TYPE_CHECKING, Final

from tipstaff.kernels.formats.intent_table import (
    AND,
    BOTH,
    CONTROL,
    DETERMINER,
    FINITE,
    LEADER,
    NOUN,
    VERB,
    IntentEntry,
    read_intent_table,
)
from tipstaff.kernels.formats.task_text import plain_words
from tipstaff.kernels.plain.task_paths import task_paths
from tipstaff.kernels.plain.topics import TopicWords, stem_hashes

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "GENERAL",
    "WIDE",
    "TaskReader",
    "TopicWords",
    "ascii_words",
    "stem_hashes",
    "task_paths",
]

GENERAL: Final = 10
"""The number of the intent of a task without signs; the other ones are numbered below it."""

_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HAS_HUMP: Final = re.compile(r"[a-z][A-Z]").search

_ASIDE: Final = 0.5
"""Weight of what follows a preposition."""
_SUBJECT: Final = 1.3
"""Weight of a noun that opens the task, or ends the compound that does."""
_AGAIN: Final = 0.7
"""Weight of a further sign for an intent that already has one."""
_MODIFIER: Final = 0.4
"""Share that a noun loses when another one follows at once..."""
_MODIFIER_AHEAD: Final = 0.55
"""...and when it opened the task: what it gained there goes to the other one."""
_LABEL: Final = 1.3
"""What a noun gains as a label at the start, ``docs: ...``..."""
_LABEL_LEAST: Final = 0.9
"""...if it names a kind of work, not just a part of the product, ``Dashboard: ...``."""
_LEAST: Final = 0.3
"""A sum below this says nothing."""

# Confidence = logistic(bias + slope * (best sum - second sum)), fitted on a part of the labelled cases that was not
# looked at when the words were chosen; tools/calibrate_intents.py prints the fit and how well it holds on the rest.
_BIAS: Final = 0.37
_SLOPE: Final = 3.9
WIDE: Final = 1.5
"""A wider margin than this says no more."""

# Plain tuples unpack several times faster than named ones.
_Plain = tuple[int, int, int, float, int, float, float]
_Word = tuple[int, int, int, float, int, float, float, tuple[tuple[int, list[str], _Plain], ...]]


def ascii_words(text: str) -> list[str]:
    """Return the words of an ASCII text in lower case, ``,`` for every mark that ends a clause, and ``:``.

    A capital inside a word begins another one.
    """
    text = text.strip()
    if _HAS_HUMP(text):
        text = _HUMP.sub(" ", text)
    return plain_words(text.replace(". ", ", "))


class TaskReader:
    """Reads tasks; documented in ``src/_intents.pyx``."""

    def __init__(self, lexicon: Buffer) -> None:
        table = read_intent_table(bytes(memoryview(lexicon)))

        def plain(entry: IntentEntry) -> _Plain:
            kind, ident, intent, weight, verb_intent, verb_weight, lead_weight = entry
            return kind, ident, intent, weight, verb_intent, verb_weight, lead_weight

        self._words: dict[str, _Word] = {
            word: (*plain(entry), tuple((size, rest, plain(one)) for size, rest, one in phrases))
            for word, (entry, phrases) in table.words.items()
        }
        self._leaders = frozenset(word for word, flags in table.flags.items() if flags & LEADER)
        self._determiners = frozenset(word for word, flags in table.flags.items() if flags & DETERMINER)
        self._and = frozenset(word for word, flags in table.flags.items() if flags & AND)

    def read(self, task: str) -> tuple[int, float] | None:
        """Return the number of a task's intent and the confidence, None where the task is not ASCII."""
        return self.read_words(ascii_words(task)) if task.isascii() else None

    def read_words(self, words: list[str]) -> tuple[int, float]:
        """Return the number of the intent and the confidence for a task's words, lowered and set apart."""
        scores = self._sums(words)
        best = max(scores)
        if best < _LEAST:
            return GENERAL, 0.0
        winner = scores.index(best)
        scores[winner] = 0.0
        margin = min(best - max(scores), WIDE)
        return winner, 1.0 / (1.0 + exp(-_BIAS - _SLOPE * margin))

    def _sums(self, words: list[str]) -> list[float]:
        """Return each intent's sum."""
        scores = [0.0] * GENERAL
        total = len(words)
        lead = 0
        while lead < total and words[lead] in self._leaders:
            lead += 1
        subject = lead + 1 if lead < total and words[lead] in self._determiners else lead
        # "Investigate and fix ...": two leading verbs share the lead.
        shared = lead + 1 < total and words[lead + 1] in self._and
        seen: set[int] = set()
        factor = 1.0
        opening = lead
        resume = 0
        noun_end = -1
        leading = False
        noun_intent = 0
        noun_loss = 0.0
        for index, entry in enumerate(map(self._words.get, words)):
            if entry is None or index < resume:
                continue
            kind, ident, intent, weight, verb_intent, verb_weight, lead_weight, phrases = entry
            if kind == FINITE and factor == _ASIDE:
                factor = 1.0
            resume = index + 1
            for length, rest, phrase in phrases:
                if words[index + 1 : index + 1 + length] == rest:
                    kind, ident, intent, weight, verb_intent, verb_weight, lead_weight = phrase
                    resume += length
                    break
            if kind == CONTROL:
                if weight:
                    factor = weight
                if verb_weight:
                    opening = resume
                continue
            if kind < CONTROL or ident in seen:
                continue
            seen.add(ident)
            follower = words[resume] if resume < total else ""
            if kind >= VERB and index == opening:
                if index == lead and (kind == VERB or follower in self._determiners):
                    scores[verb_intent] += verb_weight if shared else lead_weight
                    factor = 1.0
                    continue
                if kind == VERB or index == lead or follower in self._determiners:
                    scores[verb_intent] += verb_weight
                    factor = 1.0
                    continue
            amount = weight * factor
            if kind in (NOUN, BOTH):
                compound = noun_end == index
                leading = index in (lead, subject) or (compound and leading)
                if compound:
                    scores[noun_intent] -= noun_loss
                if leading:
                    amount = amount + _LABEL if follower == ":" and weight >= _LABEL_LEAST else amount * _SUBJECT
                noun_end, noun_intent, noun_loss = resume, intent, amount * (_MODIFIER_AHEAD if leading else _MODIFIER)
            score = scores[intent]
            scores[intent] = score + amount * _AGAIN if score else amount
        return scores
