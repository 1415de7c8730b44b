"""What single words do in a rule: verbs that command, modals, and the words of the grammar.

The bits are those of `tipstaff.kernels.formats.roles`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from tipstaff.guidance.wording.vocabulary import DOMAIN_ORDER, INTENT_ORDER, IRREGULAR_STEMS, MASKS, stem
from tipstaff.guidance.wording.word_forms import MODALS, lists, word_lists
from tipstaff.kernels.formats import roles
from tipstaff.kernels.formats.lexicon import make_lexicon
from tipstaff.kernels.formats.roles import FREE

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


_CLASSES: Final = (1 << len(INTENT_ORDER) + len(DOMAIN_ORDER)) - 1


@cache
def lexicon() -> bytes:
    """Return the roles of words in a rule, and from bit `FREE` on the classes that they speak for."""
    values = dict(word_roles())
    for word, mask in MASKS.items():
        values[word] = values.get(word, 0) | mask << FREE
    return make_lexicon(values, {word: stem(word) for word in (*values, *IRREGULAR_STEMS)})


def classes(value: int) -> int:
    """Return the classes in a word's value, as `tipstaff.guidance.wording.vocabulary` numbers them."""
    return value >> FREE & _CLASSES


def column(texts: Sequence[str], plain: Callable[[str], str]) -> tuple[array[int], bytes]:
    """Return texts as the offsets (int32) and bytes of a column that the kernels can read.

    Parameters
    ----------
    texts
        Any texts.
    plain
        What makes a text readable for them, ASCII or not: `plain_words` or `plain_clauses`.
    """
    joined = "".join(texts)
    if not joined.isascii():
        texts = [plain(text) for text in texts]
        joined = "".join(texts)
    encoded = joined.encode("utf-8", "surrogatepass")
    if len(encoded) != len(joined):
        return array(
            "i", accumulate((len(text.encode("utf-8", "surrogatepass")) for text in texts), initial=0)
        ), encoded
    return array("i", accumulate(map(len, texts), initial=0)), encoded
