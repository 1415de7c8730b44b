"""What single words do in a rule: verbs that command, modals, and the words of the grammar.

The bits are those of `tipstaff.kernels.formats.roles`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from tipstaff.guidance.wording.word_forms import MODALS, lists
from tipstaff.kernels.formats import roles

_LISTS: Final = lists("word_roles")

IMPERATIVES: Final = frozenset(_LISTS["imperatives"].split())
"""Verbs that open an instruction; the base form only."""

MODAL_WORDS: Final = frozenset(_LISTS["modal_words"].split()).union(MODALS.split())
"""Each turns a sentence into a rule."""

FUNCTION_WORDS: Final = frozenset(_LISTS["function_words"].split())

_LISTED: Final = {
    "FORBIDS": _LISTS["listed"],
    "FORBIDS_OUTRIGHT": """never avoid don't dont mustn't mustnt shouldn't shouldnt forbidden prohibited disallowed
        banned refrain""",
    "OBLIGES": "must always should shall only ensure mandatory",
    "PERMITS": "may can might could optional optionally allowed permitted fine okay ok needn't",
    "PERMITS_OUTRIGHT": "allowed permitted optional fine okay ok",
    "SUBORDINATES": "when whenever if where that which who until while since",
    "NEGATES": """never not no cannot can't don't dont doesn't won't isn't aren't wasn't weren't didn't hasn't haven't
        without""",
    "TURN": "but never not no instead don't always unless except because otherwise",
    "BREAK": "unless except because otherwise",
    "PREFERS": "prefer prefers favor favour",
    "PAIR": "of than that not never over",
    "LIFTS": "optional optionally needn't",
    "COMMANDS": "must always should shall ensure mandatory",
    "REVERSES": "without",
    "NECESSARY": "required need needed mandatory necessary have",
    "AUXILIARY": "do must should shall may need to you we please",
    "ADDRESSED": "you we agents agent one developers anyone everybody everyone",
    "IS": "is are be",
    "NOT_FORM": "not no don't doesn't isn't aren't",
    "POLITE": "please you we must should always the",
    "NEED": "need needs",
    "OVER": "over",
    "NOT": "not",
}
# Kinds that a word of the grammar may have beside its roles; they alone make none.
_KINDS: Final = frozenset({"AUXILIARY", "ADDRESSED", "IS", "NOT_FORM", "POLITE", "NEED", "OVER", "NOT"})


@cache
def word_roles() -> dict[str, int]:
    """Return every word with a role in a rule, and its bits."""
    found: dict[str, int] = dict.fromkeys(FUNCTION_WORDS, roles.GRAMMAR | roles.FUNCTION)
    for name, listed in _LISTED.items():
        bit: int = getattr(roles, name)
        for word in listed.split():
            # One that is no function word belongs to its clause's topic as well.
            plain = 0 if name in _KINDS else roles.GRAMMAR | roles.CONTENT
            found[word] = found.get(word, plain) | bit
    for index, (first, second) in enumerate(roles.PAIRS):
        found[first] |= 1 << roles.PAIR_FIRST + index
        found[second] |= 1 << roles.PAIR_SECOND + index
    for word in IMPERATIVES:
        found[word] = found.get(word, 0) | roles.IMPERATIVE
    return found


@cache
def not_demanding() -> frozenset[str]:
    """Return the words with which a rule could forbid, permit or lift something."""
    bits = roles.FORBIDS | roles.PERMITS | roles.NECESSARY
    return frozenset({"instead", "over", "rather", *(word for word, role in word_roles().items() if role & bits)})
