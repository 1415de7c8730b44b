"""What is at stake in a rule: what makes it part of the constitution without an annotation.

Counted are what a rule is about (what cannot be taken back, what must not get out, whose word is needed, what every
change has to pass), whether it holds without a condition, how strongly it is put, and where it stands. How things are
written, and what only some tasks need, counts against it: such rules are retrieved where they are needed.
The words of all this, in the languages of rule files, are in ``wording/words.toml``.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

import msgspec

from tipstaff.guidance.extraction.grammar import has_modal, is_condition
from tipstaff.guidance.extraction.polarity import is_negative_heading
from tipstaff.guidance.extraction.sentences import has_strong_modal, is_imperative
from tipstaff.guidance.reading.constitution_headings import is_constitution_heading
from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.word_forms import (
    expressions,
    lists,
    word_lists,
)
from tipstaff.model import GuidanceRule

_EXPRESSIONS: Final = expressions("stakes")
_LISTS: Final = lists("stakes")

ENOUGH: Final = 1.5
"""Points from which a rule belongs to the constitution."""

_SUBJECTS: Final = (
    ("danger", 1.2, "what cannot be taken back"),
    ("security", 1.4, "security"),
    ("authority", 1.2, "whose word is needed"),
    ("gate", 1.0, "what every change has to pass"),
    ("tongue", 1.2, "the language of answers"),
)
_SIGNS: Final = (*(name for name, _, _ in _SUBJECTS), "moment", "sequence", "doubt", "rest", "style")
_BIT: Final = {name: 1 << index for index, name in enumerate(_SIGNS)}
_PHRASE: Final = 1 << len(_SIGNS)
"""Of a word that begins a phrase."""
_MAX_WORDS: Final = 50_000
_MAX_HEADINGS: Final = 4_096
_BEGINNING: Final = 45
"""Characters within which a rule says that it forbids."""
_LONG: Final = 280

_CAPITALS: Final = re.compile(_EXPRESSIONS["capitals"])
_SHOUTS: Final = re.compile(r"[^\W\d_a-z]{2}")
"""Two letters that are not small ones of ASCII, as every word in capitals has; five times as quick as the words."""
_MARKED: Final = CuedPattern(_EXPRESSIONS["marked"], _LISTS["marked"])
_MARKS: Final = re.compile(r"\*\*|__|[:⚠🚨⛔🚫❗‼]")
_FORBIDS: Final = CuedPattern(_EXPRESSIONS["forbids"], _LISTS["forbids"])
_FORBIDS_ANYWHERE: Final = re.compile(_EXPRESSIONS["forbids_anywhere"])
"""Of languages whose verbs end a sentence."""
_PLAINLY: Final = CuedPattern(_EXPRESSIONS["plainly"], _LISTS["plainly"])
_OBLIGES: Final = CuedPattern(_EXPRESSIONS["obliges"], _LISTS["obliges"])
_ENDS_FORBIDDING: Final = CuedPattern(r"\b(?:must not|do not|don['’]t|never|avoid)[\W_]*$", "not don't never avoid")
_URGENT: Final = re.compile(_EXPRESSIONS["urgent"], re.IGNORECASE)
_PROCEDURE: Final = re.compile(_EXPRESSIONS["procedure"], re.IGNORECASE)
"""Headings of what one task needs."""
_LAW_LABEL: Final = re.compile(_EXPRESSIONS["law_label"], re.IGNORECASE | re.DOTALL)
_AGAIN: Final = re.compile(_EXPRESSIONS["again"], re.IGNORECASE)
"""What only says again that the rule above it holds."""
_TELLS: Final = re.compile(_EXPRESSIONS["tells"], re.IGNORECASE)
_POINTS_BACK: Final = re.compile(_EXPRESSIONS["points_back"], re.IGNORECASE)
"""What has its object in another sentence."""
_STATES: Final = re.compile(r"\b(?:is|are|has|was|were|ist|sind|es|est|è|é)\b", re.IGNORECASE)
_ENTRY: Final = re.compile(r"[\W_]*`[^`]+`[*_]*\s*[—–-]\s")
"""Code, and what it is."""
_NAMED: Final = re.compile(r"\W*[A-Z][\w/-]*(?: [\w/-]+){0,3}:\W+")
_ONE_CASE: Final = re.compile(_EXPRESSIONS["one_case"], re.IGNORECASE)
_BREADTH: Final = re.compile(_EXPRESSIONS["breadth"], re.IGNORECASE)
_AN_AGENT: Final = re.compile(r"\W*if you are an? (?:\w+ )?(?:ai|coding|automated)\b", re.IGNORECASE)
_CODE: Final = re.compile(r"`[^`]*`")
_TELLING_CODE: Final = re.compile(_EXPRESSIONS["telling_code"], re.IGNORECASE)


class Stakes(msgspec.Struct, frozen=True):
    """What is at stake in a rule, and what says so.

    Attributes
    ----------
    points
        From `ENOUGH` it belongs to the constitution.
    reasons
        What counted for it and, with a minus, against it, in words.
    """

    points: float
    reasons: tuple[str, ...]


_Expressions = list[tuple[str, re.Pattern[str]]]
NOTHING: Final = Stakes(0.0, ())


def stakes(rule: GuidanceRule) -> Stakes:
    """Return what is at stake in a rule.

    Parameters
    ----------
    rule
        Its text and its headings are looked at.
    """
    if rule.kind != "rule":
        return NOTHING
    own, labels = rule.text[rule.own_start :], rule.text[: rule.own_start]
    found: list[tuple[float, str]] = []
    above = _above(rule.headings)
    mask = _signs(own)
    capitals = _CAPITALS.search(own) if _SHOUTS.search(own) else None
    label = labels.strip().rstrip(": ")
    ends_forbidding = bool(labels) and _ENDS_FORBIDDING.search(labels) is not None
    if not (mask & _AT_STAKE or capitals or above or ends_forbidding or "**" in own or not own.isascii()):
        return NOTHING

    def note(points: float, reason: str) -> None:
        found.append((points, reason))

    foreign = not own.isascii() and _FORBIDS_ANYWHERE.search(own) is not None
    bans = foreign or _FORBIDS.search(own[:_BEGINNING]) is not None
    forbidden = bool(above & _FORBIDDEN_ABOVE) or ends_forbidding
    urgent = bool(above & _URGENT_ABOVE)
    marked = (foreign and "**" in own) or (_MARKS.search(own) is not None and _MARKED.search(own) is not None)
    if capitals:
        note(1.0, f"capitals: {capitals[0]}")
    if marked:
        note(0.8, "a marked word")
    plain = False
    if bans:
        note(1.2, "it forbids")
    elif forbidden:
        note(1.2, "it is forbidden by what is above it")
    elif _PLAINLY.search(own):
        note(1.0, "it says must or never")
    elif _OBLIGES.search(own):
        note(0.8, "it obliges")
    else:
        named = _NAMED.match(own)
        if is_imperative(own[named.end() :] if named else own) or (labels and has_strong_modal(labels)):
            note(0.4, "it directs")
        else:
            plain = not has_modal(own)
            if plain and not (urgent and _STATES.search(own) is None):
                note(-1.0, "it only states")
    subjects = [(points, name, what) for name, points, what in _SUBJECTS if mask & _BIT[name]]
    subjects.sort(reverse=True)
    for index, (points, _, what) in enumerate(subjects[:2]):
        note(points if index == 0 else 0.4 * points, f"what it is about: {what}")
    context = _signs(f"{labels} {rule.heading}") & ~mask
    if context & _AT_STAKE:
        weight = 0.6 if context & (_BIT["security"] | _BIT["authority"]) else 0.3
        note(weight, "what is above it")
    law = (forbidden and len(rule.headings) <= 2 and len(label.split()) <= 4) or (
        bool(label) and _LAW_LABEL.match(label) is not None
    )
    if law:
        note(0.8, f"a list of rules: {label or rule.heading}")
    if urgent:
        note(0.5, "the heading urges")
    universal = _AN_AGENT.match(own) is not None or _universal(own, mask)
    if universal:
        note(0.6, "it holds for every change")
    elif is_condition(own):
        note(-1.0, "it holds in one case only")
    elif _ONE_CASE.search(own, 8, 120):
        note(-0.5, "it names a case")
    if labels and any(map(is_condition, labels.split(": "))):
        note(-0.7, "what is above it names a case")
    if _BREADTH.search(own):
        note(0.4, "breadth")
    if not subjects and not law and not above & _CONSTITUTION_ABOVE:
        note(-0.3 if capitals and marked else -1.0, "little depends on it")
    if mask & _BIT["style"]:
        note(-0.7, "how things are written")
    if _signs(f"{' '.join(rule.headings[1:] or rule.headings)} {labels}") & _BIT["style"]:
        note(-0.8, "its section is about how things are written")
    if above & _PROCEDURE_ABOVE and not (bans or forbidden or universal):
        note(-0.7, "its section is about one task")
    if label and not law and label not in rule.headings and (not has_modal(labels) or len(label.split()) > 5):
        note(-0.4, "one of a list")
    if _ENTRY.match(own) and not is_imperative(own):
        note(-1.0, "it says what something is")
    if not labels and _POINTS_BACK.match(own):
        note(-1.5, "its object is elsewhere")
    if _AGAIN.match(own) or _TELLS.match(own):
        note(-2.0, "it says again or why")
    if len(rule.text) > _LONG:
        note(-0.3, "it is long")
    if len(rule.headings) > 2:
        note(-0.15 * (len(rule.headings) - 2), "its section is deep")
    return Stakes(
        round(sum(points for points, _ in found), 2),
        tuple([reason if points > 0 else f"- {reason}" for points, reason in found]),
    )


def place(line: int, last: int) -> float:
    """Return what the place of a rule in its file counts: what comes first matters more."""
    return 0.4 - 0.8 * line / last if last else 0.0


_FORBIDDEN_ABOVE: Final = 1
_URGENT_ABOVE: Final = 2
_CONSTITUTION_ABOVE: Final = 4
_PROCEDURE_ABOVE: Final = 8
_AT_STAKE: Final = sum(_BIT[name] for name, _, _ in _SUBJECTS)


@lru_cache(maxsize=_MAX_HEADINGS)
def _above(headings: tuple[str, ...]) -> int:
    """Return what the headings above a rule say of it."""
    found = 0
    if any(map(is_negative_heading, headings)):
        found |= _FORBIDDEN_ABOVE
    if any(map(_URGENT.search, headings)):
        found |= _URGENT_ABOVE
    if any(map(is_constitution_heading, headings)):
        found |= _CONSTITUTION_ABOVE
    if headings and _PROCEDURE.match(headings[-1]):
        found |= _PROCEDURE_ABOVE
    return found


def _universal(own: str, mask: int) -> bool:
    """Whether a rule holds at a moment of each change, or where somebody does not know ("If unsure, ask")."""
    if mask & _BIT["doubt"] and mask & _BIT["rest"] and is_condition(own):
        return True
    if not mask & _BIT["moment"] or not mask & _BIT["sequence"]:
        return False
    clause = re.split(r"[,:;，、：；]", own, maxsplit=1)[0][:100]
    signs = _signs(clause)
    begins = not clause.isascii() or (is_condition(clause) and _signs(" ".join(split(clause)[:2])) & _BIT["sequence"])
    return bool(begins and signs & _BIT["moment"] and _signs(own[: len(clause) + 1]) & _BIT["sequence"])


class _WordSigns(dict[str, int]):
    """What every word that was met is a sign of; bounded."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_WORDS:
            self.clear()
        singles, phrases, _ = _expressions()
        mask = sum(_BIT[name] for name, expression in singles if expression.fullmatch(word))
        if word in phrases:
            mask |= _PHRASE
        self[word] = mask
        return mask


_WORDS: Final = _WordSigns()


@lru_cache(maxsize=8_192)
def _signs(text: str) -> int:
    """Return what the words of a text are signs of; code says nothing unless it is a command that does."""
    if "`" in text:
        text = _CODE.sub(lambda match: match[0] if _TELLING_CODE.match(match[0]) else " ", text)
    found = split(text)
    mask = 0
    for word in found:
        mask |= _WORDS[word]
    _, phrases, scripts = _expressions()
    if mask & _PHRASE:
        for at, word in enumerate(found):
            for rest, ending, bit in phrases.get(word, ()):
                if not mask & bit and found[at + 1 : at + 1 + len(rest)] == rest:
                    last = found[at + 1 + len(rest)] if at + 1 + len(rest) < len(found) else ""
                    if last == ending or (ending.endswith("*") and last.startswith(ending[:-1])):
                        mask |= bit
    if not text.isascii():
        for name, expression in scripts:
            if expression.search(text):
                mask |= _BIT[name]
    return mask & ~_PHRASE


@cache
def _expressions() -> tuple[_Expressions, dict[str, list[tuple[list[str], str, int]]], _Expressions]:
    """Return the expressions of single words, phrases by their first word, and expressions of scripts without blanks.

    A phrase is its words between the first and the last, the last, and its bit.
    """
    lists, scripts = word_lists()["stakes"], word_lists()["scripts"]
    singles: _Expressions = []
    phrases: dict[str, list[tuple[list[str], str, int]]] = {}
    for name in _SIGNS:
        entries = lists[name].split()
        singles.append((name, re.compile("|".join(_ending(one) for one in entries if "_" not in one))))
        for first, *rest in (one.split("_") for one in entries if "_" in one):
            phrases.setdefault(first, []).append((rest[:-1], rest[-1], _BIT[name]))
    return (
        singles,
        phrases,
        [(name, re.compile("|".join(map(re.escape, words.split())))) for name, words in scripts.items()],
    )


def _ending(word: str) -> str:
    return rf"{re.escape(word[:-1])}\w*" if word.endswith("*") else re.escape(word)
