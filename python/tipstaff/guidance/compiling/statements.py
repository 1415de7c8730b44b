"""What a rule says and where, in a form in which two rules can be compared.

A rule's text carries the headings, lead-ins and parents that decide its meaning: "Agents must not: Reformat existing
code". For its claims only its own words count, turned round where a label forbids them; every other label says where or
when the rule holds. Code, flags and links are single words: ``--no-build`` forbids nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from tipstaff.guidance.extraction.grammar import has_negation
from tipstaff.guidance.extraction.polarity import ends_negative
from tipstaff.guidance.wording.claims import FORBID, LIFT, MAX_CHARS, REQUIRE, Claim, claims, opposite, similarity
from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.vocabulary import stem
from tipstaff.guidance.wording.word_forms import expressions, lists
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, word_roles
from tipstaff.model import GuidanceRule

_EXPRESSIONS: Final = expressions("statements")
_LISTS: Final = lists("statements")

CONTRADICTION: Final = "contradiction"
"""One rule demands what the other forbids, in the same words: only one of them can be followed."""
CONFLICT: Final = "conflict"
"""Two rules that cannot both be followed, in other words: a general ban and a special demand, two exclusive choices."""
POSSIBLE: Final = "possible-conflict"
"""Two rules that may exclude each other, or hold in different cases."""

NEARLY_SAME: Final = 0.75
"""Jaccard similarity from which two topics may be the same thing."""
MOST_WORDS_MORE: Final = 3
"""By how many words a demand may be more special than the ban that it is compared with."""

_CODE: Final = re.compile(r"(`+)(.+?)\1")
_LINK: Final = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)|<?https?://\S+")
_FLAG: Final = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*(?:=\S+)?|\b\w+(?:[/.]\w+)+/?|\b[A-Za-z]+(?:_[A-Za-z]+)+\b")
_IN_FLAG: Final = re.compile(_EXPRESSIONS["in_flag"])
"""What every match of `_FLAG` has in it: a mark, which is found ten times as fast as a word that may have one."""
_OPERATORS: Final = str.maketrans({mark: f"x{ord(mark)}" for mark in "=<>!&|+*%^~?@"})
"""``a == b`` and ``a === b`` have the same letters."""
_NO_LETTER: Final = re.compile(r"[\W_]+")
_NEGATION: Final = re.compile(_EXPRESSIONS["negation"], re.IGNORECASE)
_CROSSED: Final = re.compile(_EXPRESSIONS["crossed"], re.IGNORECASE)
"""How an item begins that a sign or a word of its own rules out ("❌ Use default exports")."""
_BAN_AND_VERB: Final = re.compile(_EXPRESSIONS["ban_and_verb"], re.IGNORECASE)
_ROUTINE: Final = CuedPattern(_EXPRESSIONS["routine"], "before after prior whenever when time on", _LISTS["routine_1"])
_ROUTINE_ASIDE: Final = re.compile(rf"[,(]?\s*{_ROUTINE.pattern.pattern}", re.IGNORECASE)
"""With what joins it to the words before it: this is tried at every blank."""
HEDGES: Final = re.compile(_EXPRESSIONS["hedges"], re.IGNORECASE)
_MISTAKES: Final = re.compile(r"\b(?:pitfalls?|mistakes?|gotchas?|traps?|problems?|issues?|errors?)\b", re.IGNORECASE)
"""What is below a heading of mistakes names some of them, and says of others what to do."""
_CATEGORICAL: Final = re.compile(r"\b(?:never|under no circumstances)\b", re.IGNORECASE)
_PLAIN_TOPICS: Final = frozenset(map(stem, _LISTS["plain_topics"].split()))
"""Words of headings that name a concern and narrow no rule to a part of the work."""


class Statement(msgspec.Struct, frozen=True, gc=False):
    """What a rule says, and where.

    Attributes
    ----------
    text
        Its own words, turned round where a label forbids them; code and flags as single words.
    claims
        What they say.
    context
        Stems of the labels and headings that say where or when it holds.
    waits
        The step of everyday work before or after which it is to be done.
    hedged
        Whether it names exceptions, or says by how much.
    categorical
        Whether it says never.
    """

    text: str
    claims: tuple[Claim, ...]
    context: frozenset[str]
    waits: str
    hedged: bool
    categorical: bool


def statement_text(rule: GuidanceRule) -> str:
    """Return a rule's own words as its claims are read from them, without the step of everyday work that they wait for.

    "Run the tests before committing" demands that the tests are run: a ban on running them is about the same thing.
    """
    return _without_routine(_own_words(rule))


def _without_routine(words: str) -> str:
    return _ROUTINE_ASIDE.sub(" ", words) if _ROUTINE.search(words) else words


def _own_words(rule: GuidanceRule) -> str:
    text = rule.text[rule.own_start :]
    if "`" in text:
        text = _CODE.sub(_one_word, text)
    if "](" in text or "//" in text:
        text = _LINK.sub(r"\1", text)
    if ("-" in text or "/" in text or "_" in text or "." in text[:-1]) and _IN_FLAG.search(text):
        text = _FLAG.sub(_one_word, text)
    if rule.own_start and (negation := _prohibition(rule.text[: rule.own_start])):
        text = f"{negation}{text}"
    elif (crossed := _CROSSED.match(text)) is not None and not has_negation(text[crossed.end() :]):
        text = f"never {text[crossed.end() :]}"
    return text[:MAX_CHARS]


def statement(rule: GuidanceRule) -> Statement:
    """Return what a rule says, and where; remembered for some thousand rules."""
    return _statement(_own_words(rule), rule.text[: rule.own_start], rule.headings)


@lru_cache(maxsize=8_192)
def _statement(words: str, labels: str, headings: tuple[str, ...]) -> Statement:
    text = _without_routine(words)
    above = [*headings, *filter(None, labels.split(": "))]
    mistakes = any(_MISTAKES.search(label) and _forbids(label) for label in above)
    waits = " ".join(match[0].strip(" ,(").lower() for match in _ROUTINE.pattern.finditer(words))
    context = {stem(word) for label in above if not _forbids(label) for word in split(label) if _is_topic(word)}
    return Statement(
        text,
        () if mistakes else claims(text),
        frozenset(context) - _PLAIN_TOPICS,
        waits,
        HEDGES.search(text) is not None or HEDGES.search(labels) is not None,
        _CATEGORICAL.search(text) is not None or _CATEGORICAL.search(labels) is not None,
    )


def opposition(one: Statement, other: Statement) -> tuple[str, float] | None:
    """Return in which way two rules oppose each other, and how similar their topics are; None where they do not.

    Notes
    -----
    A contradiction needs the same topic and the same place, and no exception named: on less no rule is removed. A ban
    on something and the demand of a special case of it ("never ship on Friday", "ship hotfixes on Friday") are a
    conflict only where the ban says never; a ban on a special case of what is demanded is an exception and nothing.
    """
    best: tuple[str, float] | None = None
    for ban, demand, banning, demanding in (
        *((x, y, one, other) for x in one.claims for y in other.claims),
        *((y, x, other, one) for x in one.claims for y in other.claims),
    ):
        if ban.polarity not in (FORBID, LIFT) or not opposite(ban.polarity, demand.polarity):
            continue
        kind = _kind(ban, demand, banning, demanding)
        if kind is None:
            continue
        score = similarity(ban.topic, demand.topic)
        if best is None or (STRENGTH[kind], score) > (STRENGTH[best[0]], best[1]):
            best = (kind, score)
    return best


def excludes(one: Statement, other: Statement, *, law: bool = False) -> bool:
    """Whether one rule demands what the other forbids, so that only one of them can be given.

    Beside a rule of the constitution (`law`), which is given in any case, a special case of what it bans for good is
    left out as well.
    """
    found = opposition(one, other)
    return found is not None and (found[0] == CONTRADICTION or (law and found[0] == CONFLICT))


def clash_of_contexts(one: frozenset[str], other: frozenset[str], topic: frozenset[str]) -> int:
    """Return 0 where two rules hold in the same place, 1 where one is narrower, 2 where each has a place of its own."""
    return bool(one - other - topic) + bool(other - one - topic)


STRENGTH: Final = {POSSIBLE: 0, CONFLICT: 1, CONTRADICTION: 2}


def _kind(ban: Claim, demand: Claim, banning: Statement, demanding: Statement) -> str | None:
    if ban.negative_condition != demand.negative_condition or not (ban.directive and demand.directive):
        return None
    if banning.waits and banning.waits != demanding.waits:
        return None
    left, right = ban.topic, demand.topic
    apart = clash_of_contexts(banning.context, demanding.context, left | right)
    hedged = banning.hedged or demanding.hedged
    everywhere = banning.categorical and banning.context <= demanding.context | left | right
    if left == right:
        # One word is little: both rules must be about nothing else, and one of them with emphasis.
        alone = len(banning.claims) == len(demanding.claims) == 1 and (ban.explicit or demand.explicit)
        if len(left) == 1 and not alone:
            return None
        if not apart and not hedged:
            return CONTRADICTION
        if hedged or apart == 2:
            return POSSIBLE if apart < 2 else None
        return CONFLICT if everywhere else POSSIBLE
    if apart == 2:
        return None
    if hedged or ban is not banning.claims[0]:
        return None  # "find a page rather than adding one" bans nothing elsewhere
    if len(left) >= 2 and left < right and len(right) - len(left) <= MOST_WORDS_MORE:
        return CONFLICT if everywhere and demand.polarity == REQUIRE else POSSIBLE
    if not (apart or right < left) and similarity(left, right) >= NEARLY_SAME:
        return POSSIBLE
    return None


def _one_word(match: re.Match[str]) -> str:
    """Return code or a flag as one word of letters and digits, which is no word of the grammar."""
    bare = match[2] if match.lastindex and match.lastindex > 1 else match[0]
    plain = _NO_LETTER.sub("", bare.translate(_OPERATORS)).lower()
    return f" {plain if plain and plain not in word_roles() else f'code{plain}'} "


def _prohibition(labels: str) -> str:
    """Return how a label forbids what is below it ("never test " for "Don't test:"), empty where none does."""
    for label in reversed(labels.split(": ")):
        if label and _forbids(label):
            match = _NEGATION.search(label)
            verb = " ".join(split(label[match.end() :])[:3]) if match is not None else ""
            return f"never {verb} " if verb and not set(split(verb)) <= FUNCTION_WORDS else "never "
    return ""


@lru_cache(maxsize=1_024)
def _forbids(label: str) -> bool:
    return ends_negative(label) or _BAN_AND_VERB.match(label) is not None


def _is_topic(word: str) -> bool:
    return word not in FUNCTION_WORDS and not word.isdigit()
