"""What guidance knows of single words, as the lexicon that the text kernels read, and columns of texts for them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from tipstaff.guidance.wording.vocabulary import DOMAIN_ORDER, INTENT_ORDER, IRREGULAR_STEMS, MASKS, stem
from tipstaff.guidance.wording.word_roles import word_roles
from tipstaff.kernels.formats.lexicon import make_lexicon
from tipstaff.kernels.formats.roles import FREE

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
