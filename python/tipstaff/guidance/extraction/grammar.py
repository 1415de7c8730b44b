"""The little grammar that rule files need: modals, negations, imperatives, sentences, labels.

English first, since most rule files are English; the commonest modals of other languages are known, so that their
sentences are not lost.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.wording.cues import CuedPattern, cue, cues
from tipstaff.guidance.wording.word_forms import MODALS, either, expressions, lists, word_lists
from tipstaff.guidance.wording.word_roles import IMPERATIVES, MODAL_WORDS

_EXPRESSIONS: Final = expressions("grammar")
_LISTS: Final = lists("grammar")

_MODAL_PHRASES: Final = re.compile(_EXPRESSIONS["modal_phrases"].replace(" ", r"\s+"), re.IGNORECASE)
_MODALS_ELSEWHERE: Final = "|".join(word_lists()["modals"].values())
MODAL: Final = re.compile(
    rf"\b(?:{_EXPRESSIONS['english_modals']}|{either(MODALS)})\b|{_MODAL_PHRASES.pattern}|{_MODALS_ELSEWHERE}".replace(
        " ?", r"\s*"
    ),
    re.IGNORECASE,
)
"""A word that turns a sentence into a rule."""
_MODAL_WORD: Final = cue(" ".join(MODAL_WORDS))
_MODAL_PHRASE: Final = cue(_LISTS["modal_phrase"], _LISTS["modal_phrase_1"])
"""The first and the second words of its phrases."""

NEGATION: Final = CuedPattern(_EXPRESSIONS["negation"], _LISTS["negation"])
"""A word that turns what follows into what is not to be done."""

_ABBREVIATION: Final = re.compile(_EXPRESSIONS["abbreviation"], re.IGNORECASE)
_STOP: Final = re.compile(_EXPRESSIONS["stop"])
_OPENS_SENTENCE: Final = re.compile(r"[\"'“‘(*_`\[]{0,4}(?:[^\W\d_a-z]|\d|[⚠❌✅🚫⛔➡→•])|`|[^\x00-\x7f]")
_LINE_OPENS_RULE: Final = re.compile(_EXPRESSIONS["line_opens_rule"])
EXCEPTION: Final = re.compile(_EXPRESSIONS["exception"], re.IGNORECASE)
"""How a sentence begins that takes something out of the rule before it; "Exception handling" does not."""
_PRONOUN_START: Final = re.compile(_EXPRESSIONS["pronoun_start"], re.IGNORECASE)
_REFERS_BACK: Final = re.compile(_EXPRESSIONS["refers_back"], re.IGNORECASE)
_BACKWARD: Final = cue(_LISTS["backward"])
_BACKWARD_CHARS: Final = 24
"""Within so many characters from its beginning, of an ASCII text."""
_CONDITION: Final = re.compile(rf"[\W_]*(?:{_EXPRESSIONS['subordinate']})\b", re.IGNORECASE)
_CJK_CONDITION: Final = re.compile(_EXPRESSIONS["cjk_condition"])
_EMPTY_WORDS: Final = re.compile(_EXPRESSIONS["empty_words"], re.IGNORECASE)
_WORDS: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CJK_RUN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_IMPERATIVE_ELSEWHERE: Final = CuedPattern(_EXPRESSIONS["imperative_elsewhere"], _LISTS["imperative_elsewhere_1"])
"""How an instruction begins in other languages than English."""
_COMMANDS: Final = frozenset(("use", "prefer", "avoid", "keep", "ensure", "follow", "do", "run", "read"))
"""Verbs that command also before a colon; "Build: `make`" and "Note:" are labels."""
_TITLE: Final = re.compile(r"(?!Use |Do |Run |Keep |Avoid )[A-Z][a-z]+(?: [A-Z][\w-]*){1,3}(?:\*\*|__)?:")
"""A label whose first word may also be a verb ("Model Layer: ...")."""
_FIRST_WORD: Final = re.compile(r"[^\w`]*([A-Za-z][A-Za-z-]*)(['’]t)?")


def has_modal(text: str) -> bool:
    """Whether a text holds a word that turns it into a rule."""
    found = cues(text)
    if not found & _MODAL_WORD and found & _MODAL_PHRASE != _MODAL_PHRASE:
        return False
    # Words looked up are a hundred times faster than expressions, which are asked for phrases and other scripts.
    if text.isascii():
        return found & _MODAL_WORD != 0 or _MODAL_PHRASES.search(text) is not None
    return (found & _MODAL_WORD != 0 and found >= 0 and "_" not in text) or MODAL.search(text) is not None


def has_negation(text: str) -> bool:
    """Whether a text negates something."""
    return NEGATION.search(text) is not None


_MAX_TITLE: Final = 300
_DEMANDING_HEAD: Final = re.compile(_EXPRESSIONS["demanding_head"], re.IGNORECASE)
_DEMANDING_SUBJECT: Final = re.compile(_EXPRESSIONS["demanding_subject"], re.IGNORECASE)
_NAMES_RULES: Final = re.compile(_EXPRESSIONS["names_rules"], re.IGNORECASE)


def is_demanding_heading(title: str) -> bool:
    """Whether a heading is a rule by itself ("Never push to main"), not a name for others ("Rules you must follow")."""
    if len(title) > _MAX_TITLE or _NAMES_RULES.match(title):
        return False
    head = _DEMANDING_HEAD.match(title)
    return (head is not None and count_words(head[1]) > 1) or _DEMANDING_SUBJECT.match(title) is not None


def opens_with_imperative(text: str) -> bool:
    """Whether a text begins with a verb that tells somebody what to do."""
    match = _FIRST_WORD.match(text)
    if match is not None and match[1].lower() in IMPERATIVES and _TITLE.match(text, match.start(1)) is None:
        return not text.startswith((":", "：", ":**", "**:"), match.end()) or match[1].lower() in _COMMANDS
    return _IMPERATIVE_ELSEWHERE.may_match(text) and _IMPERATIVE_ELSEWHERE.pattern.match(text) is not None


def is_condition(words: str) -> bool:
    """Whether words begin with the case in which something holds ("When you add a table")."""
    return _CONDITION.match(words) is not None or (not words.isascii() and _CJK_CONDITION.match(words) is not None)


def starts_with_pronoun(text: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    return _PRONOUN_START.match(text) is not None or EXCEPTION.match(text) is not None


def refers_back(text: str) -> bool:
    """Whether an item needs the one before it to be understood ("These ...", "Exception: ...")."""
    if text.isascii() and not cues(text[:_BACKWARD_CHARS]) & _BACKWARD:
        return False
    return starts_with_pronoun(text) or _REFERS_BACK.match(text) is not None


def count_words(text: str) -> int:
    """Count the words of a text; of scripts without spaces two characters are one."""
    words = len(_WORDS.findall(text))
    return words if text.isascii() else words + sum(len(run) // 2 for run in _CJK_RUN.findall(text))


def says_something(text: str) -> bool:
    """Whether a text has a modal and still words of its own without it and without pronouns."""
    return has_modal(text) and _WORDS.search(_EMPTY_WORDS.sub("", MODAL.sub("", text))) is not None


def sentences(text: str) -> list[tuple[int, int]]:
    """Split a paragraph into sentences.

    Parameters
    ----------
    text
        A paragraph as it is in the file, with line ends.

    Returns
    -------
    list of (int, int)
        Half-open ranges in `text`, without surrounding white space. A line that begins like a rule of its own begins
        a sentence even where the line before lacks a full stop.
    """
    cuts: list[int] = []
    for match in _STOP.finditer(text):
        end = match.end()
        if end >= len(text) or match.end() == match.start():
            continue
        if text[match.start()] == "." and _ABBREVIATION.search(text, max(0, match.start() - 12), match.start() + 1):
            continue
        if (
            _OPENS_SENTENCE.match(text, end)
            or text[match.start()] in "。！？।"
            or "\uac00" <= text[match.start() - 1] <= "\ud7a3"
        ):
            cuts.append(end)
    at = text.find("\n")
    while at >= 0:
        start = at + 1
        while start < len(text) and text[start] in " \t>":
            start += 1
        if _LINE_OPENS_RULE.match(text, start):
            cuts.append(start)
        at = text.find("\n", at + 1)
    result: list[tuple[int, int]] = []
    low = 0
    for cut in sorted({*cuts, len(text)}):
        start, end = low, cut
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start:
            result.append((start, end))
        low = cut
    return result
