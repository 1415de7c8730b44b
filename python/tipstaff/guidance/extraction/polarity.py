"""Which headings and labels decide what the words below them mean: bans, mistakes, conditions, leave to be asked for.

Data in the most used languages. "Don't" forbids what is below it; "Common mistakes" lists what went wrong, whatever the
items say; "Before you commit" and "Ask first" say when something holds. An item without such a label means something
else, so none of them is ever left out because another label is nearer or the item is long.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.word_forms import expressions, lists
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, IMPERATIVES

_EXPRESSIONS: Final = expressions("polarity")
_LISTS: Final = lists("polarity")

MAX_DECIDING_CHARS: Final = 90
"""A longer heading is a sentence, and says by itself what it demands."""

_ASKS: Final = re.compile(r"[\W_]*(?:always )?ask\b", re.IGNORECASE)
_BAN: Final = CuedPattern(_EXPRESSIONS["ban"], _LISTS["ban"])
_QUALIFIED: Final = re.compile(r".*?(?:\s[–—-]+\s|[:：]\s|\s?[(（])(?=[^()（）:：]*[)）]?\W*$)")
"""What a ban at a heading's end is about: "Legacy helpers (do not use)"."""
_ASIDE: Final = re.compile(r"\s*[(（][^()（）]{1,60}[)）]\W*$")
"""What a ban's end adds: "Never commit (keep unstaged)"."""
_PERMITS: Final = re.compile(_EXPRESSIONS["permits"], re.IGNORECASE)
_ENDS_BANNING: Final = CuedPattern(_EXPRESSIONS["ends_banning"], _LISTS["ends_banning"])
_MISTAKES: Final = CuedPattern(_EXPRESSIONS["mistakes"], _LISTS["mistakes_1"])
_LEAVE: Final = CuedPattern(_EXPRESSIONS["leave"], _LISTS["leave"])
_WHEN: Final = re.compile(_EXPRESSIONS["when"], re.IGNORECASE)
_SAYS_WHAT_TO_DO: Final = re.compile(_EXPRESSIONS["says_what_to_do"], re.IGNORECASE)
_APPROVES: Final = re.compile(_EXPRESSIONS["approves"], re.IGNORECASE)
_ENDS_FORBIDDING: Final = re.compile(r"(?:しない(?:こと)?|してはいけない|하지 ?(?:마세요|말 것|않기))[\W_]*$")


def is_negative_heading(text: str) -> bool:
    """Whether a heading says that what is below it is not to be done ("Don't", "What to avoid", "Never")."""
    if len(text) > MAX_DECIDING_CHARS:
        return False
    if not _BAN.may_match(text):
        return False
    if _BAN.pattern.fullmatch(_ASIDE.sub("", text)) is not None:
        return True
    about = _QUALIFIED.match(text)
    return about is not None and _BAN.pattern.fullmatch(text, about.end()) is not None


def verdict(text: str) -> str:
    """Return what a label says of all below it: ``no``, ``ask``, ``yes``, or nothing that would end another label's.

    Of two labels that say different things the nearer one counts: "**Always**" below "Ask first" needs no leave.
    """
    if len(text) > MAX_DECIDING_CHARS:
        return ""
    if (_BAN.may_match(text) and _BAN.pattern.fullmatch(_ASIDE.sub("", text)) is not None) or lists_mistakes(text):
        return "no"
    if _PERMITS.fullmatch(text) is None:
        return ""
    return "ask" if _ASKS.match(text) is not None else "yes"


def ends_negative(label: str) -> bool:
    """Whether a label ends with what turns all below it into what is not to be done ("Agents must not")."""
    return is_negative_heading(label) or _ENDS_BANNING.search(label) is not None


def only_bans(label: str) -> bool:
    """Whether a label forbids and names nothing that it forbids ("Banned", "Never", not "Never commit")."""
    if len(label) > MAX_DECIDING_CHARS or not _BAN.may_match(label) or _BAN.pattern.fullmatch(label) is None:
        return False
    return all(word in FUNCTION_WORDS or word not in IMPERATIVES for word in split(label))


def lists_mistakes(label: str) -> bool:
    """Whether what is below a label went wrong, whatever it says ("Anti-patterns", "Common mistakes")."""
    return len(label) <= MAX_DECIDING_CHARS and _MISTAKES.search(label) is not None


def decides(label: str) -> bool:
    """Whether words below a label mean something else without it: a ban, a mistake, a condition, leave to be asked."""
    if len(label) > MAX_DECIDING_CHARS:
        return False
    return (
        ends_negative(label)
        or lists_mistakes(label)
        or _WHEN.search(label) is not None
        or _LEAVE.search(label) is not None
    )


def says_what_to_do(words: str) -> bool:
    """Whether an item says by itself what is to be done, so that a ban above it would turn it round ("Never ...")."""
    return _SAYS_WHAT_TO_DO.match(words) is not None or _ENDS_FORBIDDING.search(words) is not None


def approves(words: str) -> bool:
    """Whether an item says that it is the right way, whatever is wrong above it ("✅ ...", "Good: ...")."""
    return _APPROVES.match(words) is not None
