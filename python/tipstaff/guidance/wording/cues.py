"""Expressions that are searched only in texts which have a word that they need.

To search a text for one of fifty words takes a regular expression 10 to 50 µs, and most texts hold none of them. One
look at a text's words (0.2 µs, native) says of all expressions at once which may match.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from tipstaff.kernels import word_values
from tipstaff.kernels.formats.lexicon import make_lexicon

_FOREIGN: Final = re.compile(r"[^\x00-\x7f‘’“”„…–—→←↔•·≤≥×✅❌✓✗\ufe0f]")
"""What no text has whose words are ASCII, for all its typographic marks."""
_ALL: Final = -1
_MAX_LISTS: Final = 64

_given: Final[list[str]] = []
"""Lists of words; the place of each is its bit."""


class CuedPattern:
    """A regular expression, without regard to case, and words that it needs.

    Parameters
    ----------
    pattern
        Beside ASCII letters it may match any other script: a text with letters of one is always searched.
    *needed
        Words in lower case, as `tipstaff.guidance.wording.tokenize.words` gives them, one of which is in every other
        text that the expression matches. Of several such lists each must have one there.

    Attributes
    ----------
    pattern
        The compiled expression.
    mask
        The bits that `cues` has for a text which the expression may match.
    """

    __slots__ = ("mask", "pattern")

    def __init__(self, pattern: str, *needed: str) -> None:
        self.pattern = re.compile(pattern, re.IGNORECASE)
        self.mask = cue(*needed)

    def may_match(self, text: str) -> bool:
        """Whether a text has the words that the expression needs; a name such as ``a_b`` counts as two words."""
        return cues(text) & self.mask == self.mask

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a text."""
        return self.pattern.search(text) if cues(text) & self.mask == self.mask else None


def cue(*needed: str) -> int:
    """Give each list of words a bit of its own among those of `cues`, and return these bits."""
    if len(_given) + len(needed) > _MAX_LISTS:
        raise ValueError(f"more than {_MAX_LISTS} lists of words")
    mask = 0
    for words in needed:
        mask |= 1 << len(_given)
        _given.append(words)
    _lexicon.cache_clear()
    return mask


@cache
def _lexicon() -> bytes:
    values: dict[str, int] = {}
    for bit, words in enumerate(_given):
        for word in filter(str.isascii, words.split()):  # texts with other letters are always searched
            values[word] = values.get(word, 0) | 1 << bit
    return make_lexicon(values, {word: word for word in values})


def cues(text: str) -> int:
    """Return which lists of words have one in a text, a bit for each; -1, all bits, if it has letters beyond ASCII."""
    if not text.isascii():
        if _FOREIGN.search(text):
            return _ALL
        text = text.replace("’", "'").encode("ascii", "replace").decode()
    return word_values(_lexicon(), text)
