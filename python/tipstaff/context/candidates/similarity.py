"""How alike two texts are: the Jaccard similarity of their words, in any script."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Protocol

_ASCII_WORDS: Final = re.compile(r"[a-z0-9_]+")
_WORD: Final = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]")
_UNSPACED: Final = (
    "\u0e01-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # iteration marks, kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
)
_PARTS: Final = re.compile(rf"([{_UNSPACED}]+)|[^{_UNSPACED} ]+")
_JOINERS: Final = frozenset((0x200C, 0x200D))


class Described(Protocol):
    """What `similarity` looks at: a candidate or an observation."""

    @property
    def content(self) -> str: ...  # noqa: D102
    @property
    def tags(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def category(self) -> str: ...  # noqa: D102
    @property
    def tool_tag(self) -> str: ...  # noqa: D102


class _Letters(dict[int, int]):
    """Code point to itself where it is part of a word, else to a space; learns each when it first meets it."""

    def __missing__(self, code: int) -> int:
        # Letters, numbers, marks (vowel signs are part of words in many scripts) and connecting punctuation.
        category = unicodedata.category(chr(code))
        kept = category[0] in "LNM" or category == "Pc" or code in _JOINERS
        # Texts of foreign origin may hold any code point; the table does not grow beyond what they use.
        self[code] = value = code if kept else 32
        return value


_LETTERS: Final = _Letters()


def spaced_words(text: str) -> str:
    """Return a text whose words, in lower case, are set apart by something that is not part of a word.

    A word is a run of letters, digits, marks and underscores. Scripts that put no spaces between words (Chinese,
    Japanese, Thai, Lao, Khmer, Burmese) have no words that can be found without a dictionary: of a run of those,
    each pair of neighbouring characters counts as a word, as is usual in retrieval. ASCII text is returned as it is.
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFC", text).lower().translate(_LETTERS)
    found: list[str] = []
    for match in _PARTS.finditer(folded):
        part = match[0]
        if match[1] and len(part) > 1:
            found += [part[i : i + 2] for i in range(len(part) - 1)]
        else:
            found.append(part)
    # A lone surrogate has category Cs and is gone by now.
    return " ".join(found)


def has_words(spaced: str) -> bool:
    """Return whether a text that `spaced_words` returned has any word."""
    return _WORD.search(spaced) is not None


def words(text: str) -> frozenset[str]:
    """Return the set of a text's words, in lower case."""
    if text.isascii():
        return frozenset(_ASCII_WORDS.findall(text.lower()))
    return frozenset(spaced_words(text).split())


def jaccard(left: str | None, right: str | None) -> float:
    """Return the Jaccard similarity of two texts' word sets.

    Parameters
    ----------
    left, right
        Texts in any script; case, punctuation, order and repetition make no difference. See `spaced_words`.

    Returns
    -------
    float
        Shared words over all words, 0 to 1. An empty or blank text is like nothing (0); of two texts that are neither
        and hold no word (``!!!`` and ``???``), no word differs (1).
    """
    if not left or not right or left.isspace() or right.isspace():
        return 0.0
    first, second = words(left), words(right)
    if not first and not second:
        return 1.0
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


def similarity(left: Described, right: Described) -> float:
    """Return how alike two candidates are with their tags: 0.7 for the content's part, 0.3 for that of the tags.

    0 where category or tool differ. Good for showing neighbours in order; merging looks at the content alone, because
    here candidates without tags can never be more than 0.7 alike, and one shared tag makes up for half the words.
    """
    if left.category != right.category or left.tool_tag.lower() != right.tool_tag.lower():
        return 0.0
    return 0.7 * jaccard(left.content, right.content) + 0.3 * jaccard(" ".join(left.tags), " ".join(right.tags))
