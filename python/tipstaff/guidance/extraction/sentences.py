"""What a sentence says by itself: to do something, not to do it, what is taken out, or only where to read on."""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.extraction.grammar import (
    EXCEPTION,
    count_words,
    has_modal,
    has_negation,
    is_condition,
    opens_with_imperative,
)
from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.word_forms import expressions, lists, word_lists

_EXPRESSIONS: Final = expressions("sentences")
_LISTS: Final = lists("sentences")

_REFERENCE: Final = re.compile(r"`[^`]*`|(?<!\S)@[~\w./-]+|https?://\S+|\]\([^)\s]*\)")
_MIN_WORDS: Final = 3
"""A sentence with fewer words beside code and links says too little to be a rule."""
_OPENER: Final = re.compile(_EXPRESSIONS["opener"], re.IGNORECASE)
_CLAUSE: Final = re.compile(_EXPRESSIONS["clause"], re.IGNORECASE)
_LISTED: Final = re.compile(r"[^.,:;]{2,60}, ")
_MAX_COMMAS: Final = 4
RUN_IN: Final = re.compile(r"\s*(?:\[[ xX]\]\s*)?(?:\*\*|__)(?P<label>[^*\n]{1,80}?)(?:\*\*|__)(?P<between>[^\w`]*)")
WEAK_MODAL: Final = CuedPattern(_EXPRESSIONS["weak_modal"], _LISTS["weak_modal"])


def has_strong_modal(words: str) -> bool:
    """Whether words demand something by more than an "only" or a "required", which describe as often."""
    return has_modal(WEAK_MODAL.pattern.sub("", words) if WEAK_MODAL.may_match(words) else words)


_POINTS: Final = re.compile(_EXPRESSIONS["points"], re.IGNORECASE)
_HOLDS_ONLY: Final = CuedPattern(_EXPRESSIONS["holds_only"], _LISTS["holds_only"])
_GRANTS: Final = re.compile(r"\b(?:allowed|permitted|may|erlaubt|permitid[oa]s?|autorisée?s?)\b", re.IGNORECASE)


def describes(sentence: str) -> bool:
    """Whether a sentence that is no item only points elsewhere, or says of something that it is or has this alone."""
    if _POINTS.fullmatch(sentence) is not None:
        return True
    first = _HOLDS_ONLY.search(sentence)
    if first is None or count_words(sentence[: first.start()]) < _MIN_WORDS - 1 or is_imperative(sentence):
        return False
    if _GRANTS.search(sentence, 0, first.start()) is not None:
        return False
    return not (has_strong_modal(sentence) or has_negation(sentence) or is_condition(sentence))


_EXCLUSIVELY: Final = re.compile(r"\b(?:exclusively|everywhere|throughout|consistently)\W*$", re.IGNORECASE)
"""What makes a rule of a verb and code alone ("Use `pnpm` exclusively.")."""
_BE: Final = re.compile(r"\W*be [a-z]{4,}(?:,? and [a-z]{4,})?\W*", re.IGNORECASE)


def is_exception(words: str) -> bool:
    """Whether a sentence takes something out of the rule before it."""
    return EXCEPTION.match(words) is not None


_RULED_OUT: Final = re.compile(_EXPRESSIONS["ruled_out"], re.IGNORECASE)


def rules_out(words: str) -> bool:
    """Whether a sentence without a verb says what is not to be there ("No validation in controllers.")."""
    if words.lstrip("*_ ")[:3].casefold() != "no ":
        return False
    return _RULED_OUT.fullmatch(words) is not None and count_words(words) > _MIN_WORDS


_COMMANDS_ELSEWHERE: Final = re.compile(
    "|".join(f"(?:{one})" for one in word_lists()["commands"].values()), re.IGNORECASE
)
_ENGLISH: Final = re.compile(r"\b(?:the|is|are|of|and|to|you|with|this|that|it|for|be|will|was|we)\b", re.IGNORECASE)
_DESCRIBES_ITSELF: Final = re.compile(
    "|".join(f"(?:{one})" for one in word_lists()["descriptions"].values()), re.IGNORECASE
)
_LETTERS_ELSEWHERE: Final = re.compile(r"[^\W\d_a-zA-Z]")


def commands_elsewhere(words: str) -> bool:
    """Whether a sentence in another language than English tells somebody what to do, by its form."""
    if _ENGLISH.search(words) is not None or _DESCRIBES_ITSELF.match(words) is not None:
        return False
    return _COMMANDS_ELSEWHERE.match(words) is not None


def describes_itself(words: str) -> bool:
    """Whether words in another language say what a file or a project is ("Diese Datei ...")."""
    return _DESCRIBES_ITSELF.match(words) is not None


def directs(words: str) -> bool:
    """Whether a sentence tells somebody what to do without a modal."""
    if not is_imperative(words):
        return False
    if count_words(_REFERENCE.sub(" ", words)) >= _MIN_WORDS:
        return True
    return _EXCLUSIVELY.search(words) is not None or _BE.fullmatch(words) is not None


def is_imperative(words: str) -> bool:
    """Whether words command, whatever leads in: a "please", a label in bold, a clause that says when."""
    if opens_with_imperative(words):
        return True
    opening = _OPENER.match(words) or RUN_IN.match(words)
    if opening is None:
        return _imperative_after(words)
    rest = words[opening.end() :]
    return opens_with_imperative(rest) or (opening.re is RUN_IN and _imperative_after(rest))


def _imperative_after(words: str) -> bool:
    """Whether an imperative follows a clause that says when; the clause may list things, with commas."""
    clause = _CLAUSE.match(words)
    if clause is None:
        return False
    at = clause.end()
    for _ in range(_MAX_COMMAS):
        if opens_with_imperative(words[at:]):
            return True
        more = _LISTED.match(words, at)
        if more is None:
            return False
        at = more.end()
    return False
