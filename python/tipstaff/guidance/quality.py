"""Whether a rule can be followed at all: rules that give nothing to check, and rules that are too long.

A rule is called vague only when *every* word of it belongs to small closed lists: words that steer a sentence, words
that praise ("clean", "proper"), and words for everything ("code", "things"). One word from outside, one number, name,
path or piece of code, and the rule has something to check, so it is left alone. Languages without a list are left
alone as well. A rule that says the same about one broad concern ("Implement proper validation") is vague only where
the praise is of the kind that nobody can measure.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.wording.word_forms import expressions, lists

_EXPRESSIONS: Final = expressions("quality")
_LISTS: Final = lists("quality")

MAX_RULE_CHARS: Final = 600
"""Longer rules are reported: of the list items in 200 public rule files, three in a thousand are."""

_MAX_VAGUE_WORDS: Final = 16

# A number, code, a path, a name with inner capitals or underscores, an acronym, a quotation, a flag, a dotted name.
_CONCRETE: Final = re.compile(r"[`\d\"“”«»<>=$%@#*_|\\]|\w/\w|/\w|\w\.\w|(?:^|\s)-{1,2}\w|[a-z][A-Z]|\b[A-Z]{2,}\b")
_LOUD: Final = re.compile(_EXPRESSIONS["loud"])
_EMPHASIS: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HEDGE: Final = re.compile(_EXPRESSIONS["hedge"], re.IGNORECASE)
_STEERING, _PRAISE, _LOOSE_PRAISE, _EVERYTHING_NOUNS, _CONCERNS = (
    frozenset(_LISTS[name].split()) for name in ("steering", "praise", "loose_praise", "everything_nouns", "concerns")
)
_GENERIC: Final = _STEERING | _PRAISE | _LOOSE_PRAISE | _EVERYTHING_NOUNS


def is_vague(text: str) -> bool:
    """Return whether a rule names nothing that anybody could check.

    Parameters
    ----------
    text
        The rule's words, annotations removed.
    """
    if len(text) > 200:
        return False
    plain = _HEDGE.sub(" ", _EMPHASIS.sub("", text))
    if _CONCRETE.search(_LOUD.sub("", plain)):
        return False
    words = [word.lower() for word in _WORD.findall(plain)]
    if not words or len(words) > _MAX_VAGUE_WORDS:
        return False
    praised = any(word in _PRAISE for word in words)
    if praised or any(word in _LOOSE_PRAISE for word in words):
        outside = [word for word in words if word not in _GENERIC]
        return not outside or (praised and all(word in _CONCERNS for word in outside))
    return False


def is_long(text: str) -> bool:
    """Return whether a rule has more than `MAX_RULE_CHARS` characters."""
    return len(text) > MAX_RULE_CHARS
