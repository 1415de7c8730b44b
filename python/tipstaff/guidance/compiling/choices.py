"""Rules that choose differently where only one choice can be: tabs or spaces, 50 or 200 lines, English or German.

`CHOICES` is the table. Two rules are compared only where they choose for the same thing, which is what is left of their
words without the choice and the words that go with any choice; what names no thing is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from tipstaff.globs import scopes_may_overlap
from tipstaff.guidance.compiling.statements import CONFLICT, POSSIBLE, Statement, clash_of_contexts, statement
from tipstaff.guidance.wording.claims import PERMIT, REQUIRE, claims, topic_of
from tipstaff.guidance.wording.cues import cue, cues
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.vocabulary import stem
from tipstaff.guidance.wording.word_forms import expressions, lists, word_lists
from tipstaff.model import GuidanceRule, Relation

_EXPRESSIONS: Final = expressions("choices")
_LISTS: Final = lists("choices")

_DATA: Final = word_lists()["choices"]
CHOICES: Final[dict[str, dict[str, str]]] = _DATA["kinds"]
"""Kind of choice: the exclusive values, the words that say nothing about what it is made for, and perhaps one that must
be there: "single" alone chooses no quotes."""
_NEEDS: Final = {kind: stem(entry["needs"]) for kind, entry in CHOICES.items() if "needs" in entry}
_LANGUAGE_OF: Final = {word: name for name, words in _DATA["languages"].items() for word in words.split()}
_IN_LANGUAGE: Final = re.compile(
    r"\b(?:in|auf|en|em|po|på|na|на|dalam)\s+(?:(?:plain|simple|clear|us|british|american|bahasa|język[ua]|"
    rf"deutscher|het|lingua|língua)\s+)?({'|'.join(_LANGUAGE_OF)})\b|\b(türkçe|turkce|ingilizce|almanca|українською)\b",
    re.IGNORECASE,
)
_SPOKEN: Final = {re.compile(pattern): name for pattern, name in _DATA["spoken"].items()}
"""In which language the user is answered, in scripts without words between blanks."""
_NAMED: Final = re.compile("日本語|英[文语語]|中文|한국어|영어")
_THINGS: Final = {word: thing for thing, words in _DATA["things"].items() for word in words.split()}
"""What is written in a language, by its names in the twelve."""
_NEUTRAL: Final = frozenset(map(stem, _LISTS["neutral"].split()))
_COLUMNS: Final = frozenset(map(stem, _LISTS["columns"].split()))
"""How a table's columns are headed, whose names are in the words of its rows."""
_ABOUT_LANGUAGE: Final = ("sprach", "languag", "idioma", "langu", "lingu")
_CASE: Final = re.compile(r"\b(camel|snake|kebab|pascal)[ _-]?case\b", re.IGNORECASE)
_ASIDE: Final = re.compile(r"\([^()]*\)")
_LIMIT: Final = re.compile(_EXPRESSIONS["limit"], re.IGNORECASE)
_UNITS: Final[dict[str, str]] = _DATA["units"]
_AT_LEAST: Final = re.compile(_EXPRESSIONS["at_least"], re.IGNORECASE)
_NO_MORE: Final = re.compile(_EXPRESSIONS["no_more"], re.IGNORECASE)
_LIMIT_WORDS: Final = frozenset(map(stem, _LISTS["limit_words"].split()))
_EXCLUSIVE_EMPTY: Final = frozenset(
    {"indentation", "spaces", "quotes", "package manager", "python packages", "language", "exports", "percent at least"}
)
"""Choices that are made for everything where nothing is named."""
_MAX_SAME: Final = 64
"""Rules of one choice that each rule is compared with."""


class Choice(msgspec.Struct, frozen=True, gc=False):
    """What a rule chooses, and for what.

    Attributes
    ----------
    kind
        A key of `CHOICES`, ``language``, or a unit and which end of it is meant.
    value
        One of the exclusive values.
    thing
        Stems of what it is chosen for.
    permits
        Whether it only allows the choice.
    """

    kind: str
    value: str
    thing: frozenset[str]
    permits: bool


_VALUE_OF: Final = {stem(value): (kind, value) for kind, entry in CHOICES.items() for value in entry["values"].split()}
_WITH: Final = {kind: frozenset(map(stem, entry["beside"].split())) for kind, entry in CHOICES.items()}
_NAMING: Final = cue(
    "tab tabs space spaces quote quotes export exports component components squash squashes squashed squashing rebase "
    "rebases rebased rebasing crlf lf case camelcase snakecase kebabcase pascalcase "
    + " ".join(CHOICES[kind]["values"] for kind in ("package manager", "python packages"))
)
"""One of these words is in a rule that makes a choice of the table: most have none."""
_SPEAKING: Final = cue(" ".join(_LANGUAGE_OF))
_NAMING_OR_SPEAKING: Final = _NAMING | _SPEAKING
_DIGIT: Final = re.compile("[0-9]")


def choices(rule: GuidanceRule) -> Sequence[Choice]:
    """Return what a rule chooses; a rule that names two values of a kind chooses none of them."""
    own = rule.text[rule.own_start :]
    found = cues(own)
    number = found < 0 or _DIGIT.search(own)
    if not (number or found & _NAMING_OR_SPEAKING):
        return ()
    made: list[Choice | None] = list(_tabled(statement(rule))) if found & _NAMING else []
    plain = _ASIDE.sub(" ", own)
    if found & _SPEAKING:
        made.append(_language(plain, rule))
    if number:
        made.append(_limit(plain, rule))
    return [choice for choice in made if choice is not None]


def conflicting_choices(rules: Sequence[GuidanceRule]) -> dict[tuple[int, int], Relation]:
    """Return the rules that choose differently for the same thing where both hold, by their places."""
    by_kind: dict[str, list[tuple[int, Choice]]] = {}
    found: dict[tuple[int, int], Relation] = {}
    for index, rule in enumerate(rules):
        if rule.kind != "rule":
            continue
        for choice in choices(rule):
            same = by_kind.setdefault(choice.kind, [])
            for other, earlier in same[-_MAX_SAME:]:
                kind = _clash(earlier, choice, rules[other], rule)
                if kind is not None:
                    left, right = rules[other], rule
                    found[other, index] = Relation(kind=kind, left=left.id, right=right.id, similarity=1.0)
            same.append((index, choice))
    return found


def _clash(one: Choice, other: Choice, left: GuidanceRule, right: GuidanceRule) -> str | None:
    if one.value == other.value or (one.permits and other.permits):
        return None
    first, second = statement(left), statement(right)
    if first.hedged or second.hedged or first.waits != second.waits:
        return None
    things = one.thing | other.thing
    apart = clash_of_contexts(_without_language(first.context), _without_language(second.context), things)
    if not scopes_may_overlap(left.repo_scopes, right.repo_scopes):
        return None
    if one.thing != other.thing:
        # A narrower thing is an exception, unless it only says more of the same.
        shared = one.thing & other.thing
        return POSSIBLE if len(shared) >= 2 and shared in (one.thing, other.thing) and not apart else None
    if not one.thing and one.kind not in _EXCLUSIVE_EMPTY:
        return None
    if not apart:
        return CONFLICT
    return POSSIBLE if apart == 1 else None


def _tabled(stated: Statement) -> Iterator[Choice]:
    text = _CASE.sub(lambda match: f"{match[1]}case", stated.text)
    clauses = [
        claim for claim in (stated.claims if text == stated.text else claims(text)) if claim.polarity in _CHOOSING
    ]
    topic = frozenset[str]().union(*(claim.topic for claim in clauses))
    values: dict[str, set[str]] = {}
    for claim in clauses:
        for word in claim.topic:
            kind, value = _VALUE_OF.get(word, ("", ""))
            if kind and (kind not in _NEEDS or _NEEDS[kind] in claim.topic):
                values.setdefault(kind, set()).add(value)
    for kind, required in values.items():
        if len(required) == 1:
            value = required.pop()
            rest = topic - {stem(value)} - _WITH[kind] - _COLUMNS - (_NEUTRAL if kind not in _NAMES_THINGS else _VERBS)
            thing = frozenset(one for one in rest if not one.isdigit() and one not in _COUNTS)
            yield Choice(kind, value, thing, all(claim.polarity == PERMIT for claim in clauses))


_CHOOSING: Final = frozenset({REQUIRE, PERMIT})
_NAMES_THINGS: Final = frozenset({"naming"})
"""Choices of which each is made for one kind of thing, whatever it is called."""
_VERBS: Final = frozenset(
    map(stem, "write written writing use used using keep be prefer always must should all every".split())
)
_COUNTS: Final = frozenset("two three four eight".split())


def _language(own: str, rule: GuidanceRule) -> Choice | None:
    spoken: set[str] = set()
    if not own.isascii() and _NAMED.search(own):
        spoken = {name for pattern, name in _SPOKEN.items() if pattern.search(own)}
    named = (_LANGUAGE_OF.get((match[1] or match[2]).lower()) for match in _IN_LANGUAGE.finditer(own))
    names = {name for name in named if name is not None}
    if not (names or spoken or own.isascii()):
        for key in ("before", "after"):
            if (written := re.search(_DATA["written"][key], own)) is not None:
                what = re.sub("^(?:所有|すべての|全ての|모든 ?)", "", written["thing"])
                return Choice("language", _DATA["written"]["names"][written["name"]], frozenset({what}), permits=False)
    mentioned = {_LANGUAGE_OF[word] for word in split(own) if word in _LANGUAGE_OF}
    if len(names | spoken) != 1 or mentioned != names:
        return None
    permits = any(claim.polarity == PERMIT for claim in statement(rule).claims) or "können" in own.lower()
    if spoken:
        return Choice("language", spoken.pop(), frozenset({"answer"}), permits)
    labels = rule.text[: rule.own_start]
    words = [word for word in split(_IN_LANGUAGE.sub(" ", f"{labels} {own}")) if word not in _LANGUAGE_OF]
    things = frozenset(_THINGS[word] for word in words if word in _THINGS)
    rest = topic_of([word for word in words if word not in _THINGS])
    thing = frozenset(word for word in rest if not word.startswith(_ABOUT_LANGUAGE)) - _COLUMNS
    return Choice("language", names.pop(), things | (thing - _NEUTRAL), permits)


def _without_language(context: frozenset[str]) -> frozenset[str]:
    """Return a place without the words of headings that only say that it is about languages."""
    return frozenset(word for word in context if not word.startswith(_ABOUT_LANGUAGE))


def _limit(own: str, rule: GuidanceRule) -> Choice | None:
    found = list(_LIMIT.finditer(own))
    if len(found) != 1 or len(re.findall(r"\d+", own)) != 1:
        return None
    match = found[0]
    unit = _UNITS.get(match[2].lower(), match[2].lower())
    if unit.startswith("space"):
        kind, rest = "spaces", topic_of(split(_LIMIT.sub(" ", own))) - _WITH["indentation"]
    else:
        low = _AT_LEAST.search(own) is not None and _NO_MORE.search(own) is None
        kind, rest = f"{unit} at {'least' if low else 'most'}", topic_of(split(_LIMIT.sub(" ", own)))
    thing = rest - _LIMIT_WORDS - _NEUTRAL - _COLUMNS - {stem(unit)}
    if not thing and unit == "char":
        thing = frozenset({"line"})
    if not thing and kind != "spaces":
        thing = statement(rule).context
    return Choice(kind, match[1].replace(",", ""), thing, permits=False)
