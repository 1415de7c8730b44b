"""What single words do in a rule: verbs that command, modals, and the words of the grammar.

The bits are those of `tipstaff.kernels.formats.roles`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from tipstaff.guidance.wording.word_forms import MODALS, lists, word_lists
from tipstaff.kernels.formats import roles

_LISTS: Final = lists("word_roles")

IMPERATIVES: Final = frozenset(_LISTS["imperatives"].split())
"""Verbs that open an instruction; the base form only."""

MODAL_WORDS: Final = frozenset(_LISTS["modal_words"].split()).union(MODALS.split())
"""Each turns a sentence into a rule."""

FUNCTION_WORDS: Final = frozenset(_LISTS["function_words"].split())

_LISTED: Final[dict[str, str]] = word_lists()["word_roles"]["listed"]
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
