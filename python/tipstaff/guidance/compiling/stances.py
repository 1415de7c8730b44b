"""What a rule wants of one thing, read so that two rules can be compared in whatever words and language they say it.

A stance is for or against a thing, with what narrows it: "Commit messages must not contain emojis" is against *emojis*
in *commit messages*, "Use emojis in commit messages" is for them. Verbs that say no more than that something is there
("use", "add", "have") count for nothing. Two stances meet where they are about the same thing; a ban that holds in one
place only is an exception to a demand, and no contradiction. The words are in ``wording/words.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from tipstaff.globs import scopes_may_overlap
from tipstaff.guidance.compiling.statements import (
    CONFLICT,
    CONTRADICTION,
    HEDGES,
    POSSIBLE,
    STRENGTH,
    Statement,
    clash_of_contexts,
    statement,
)
from tipstaff.guidance.wording.tokenize import tokens
from tipstaff.guidance.wording.vocabulary import stem
from tipstaff.guidance.wording.word_forms import filled, word_lists
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, IMPERATIVES
from tipstaff.kernels.formats.clauses import COMMA, STOP
from tipstaff.model import GuidanceRule, Relation

_MAX_SAME: Final = 64
"""Bans of one thing that each demand is compared with."""
_MAX_WORDS: Final = 60


class Stance(NamedTuple):
    """For or against a thing.

    Attributes
    ----------
    wanted
        Whether it is for it.
    thing
        Stems of what it is about.
    place
        Stems of what narrows it: where, when, for what.
    everywhere
        Whether the place is all of its kind ("every statement").
    preferred
        Whether it only names what something else is preferred to.
    """

    wanted: bool
    thing: frozenset[str]
    place: frozenset[str]
    everywhere: bool = False
    preferred: bool = False


class _Kinds(dict[str, str]):
    """The kind of each word of the grammar, empty for any other; remembers what it was asked, as `_Stems` does."""

    def __missing__(self, word: str) -> str:
        if not self:
            self.update(dict.fromkeys(IMPERATIVES, "verb") | dict.fromkeys(FUNCTION_WORDS, "filler"))
            for kind, words in word_lists()["stances"]["kinds"].items():
                self.update(dict.fromkeys(words.split(), kind))
            self.update((one, "not") for one in list(self) if one.endswith("n't"))
            return self[word]
        if len(self) > _MAX_KNOWN:
            self.clear()
            return self[word]
        self[word] = found = "not" if word.endswith("n't") else ""
        return found


class _Stems(dict[str, str]):
    """The stem of each word that may be what a rule is about, empty for any other."""

    def __missing__(self, word: str) -> str:
        if len(self) > _MAX_KNOWN:
            self.clear()
        content = word.isalnum() and _KIND[word] in {"", "verb"}
        self[word] = found = stem(word) if content else ""
        return found


_MAX_KNOWN: Final = 50_000
_KIND: Final = _Kinds()
_STEM: Final = _Stems()


@cache
def _elsewhere() -> dict[str, str]:
    """Return the English of words of other languages with letters."""
    return {word: one for one, words in filled("stances", "english").items() for word in words.split()}


@cache
def _scripts() -> dict[str, dict[str, re.Pattern[str]]]:
    """Return the expressions of languages without blanks between words, or with particles at their ends."""
    return {
        name: {key: re.compile(text) for key, text in entry.items()}
        for name, entry in word_lists()["stances"]["scripts"].items()
    }


def stances(text: str) -> list[Stance]:
    """Return what a rule's own words want of things; nothing of words that only describe.

    Parameters
    ----------
    text
        As `tipstaff.guidance.compiling.statements.Statement` has it.
    """
    if not text.isascii():
        for entry in _scripts().values():
            if entry["letters"].search(text):
                return list(_in_script(text, entry))
    text = _ASIDE.sub(" ", _NEEDED.sub("", text))
    label = _LABEL.match(text)
    named = tokens(label[1]) if label is not None else []
    if len(named) == 1 or (named and _KIND[named[0]] not in {"not", "must", "always", "use", "verb"}):
        text = text[label.end() :] if label is not None else text
    else:
        named = []
    words = tokens(text)[:_MAX_WORDS]
    english = _elsewhere()
    if _ENGLISH.isdisjoint(words) and any(
        (english.get(word) in _HEADS and len(word) > 2 and word not in _AMBIGUOUS) or word in _LITTLE for word in words
    ):
        words = _in_english(words, english)
    found: list[Stance] = []
    context: list[str] = [*named]
    clause: list[str] = []
    for word in (*words, STOP):
        if word not in (COMMA, STOP):
            clause.append(word)
            continue
        if clause and _KIND[clause[0]] == "place" and word == COMMA:
            context += clause
        elif clause:
            found += _of_clause(clause, context)
        clause = []
        if word == STOP:
            context = [*named]
    return [one for one in found if one.thing]


_NEEDED: Final = re.compile(r"\b(?:that )?(?:you|we|they|it) \w+(?= without\b)", re.IGNORECASE)
_LABEL: Final = re.compile(r"[*_\s]*([^:*_`\n]{2,40}?)[*_]*:[*_]*\s")
_ASIDE: Final = re.compile(r"\([^()]*\)")
_ENGLISH: Final = frozenset("and are for is of that the to with".split())
_LITTLE: Final = frozenset("das der des een ein eine el het las les los une y".split())
"""Words that tell that a text is English, and that it is not."""
_AMBIGUOUS: Final = frozenset("alle execute fare fine her installer lance mai met non usa use uses".split())
"""Words of other languages that are English as well: they tell no language."""


def _stems(words: Sequence[str]) -> frozenset[str]:
    """Return the stems of a phrase's words; "annotate" and "annotation" are one thing, and what is negated another."""
    found = {one.removesuffix("ion") for word in words if (one := _STEM[word])}
    if found and any(_KIND[word] == "not" for word in words):
        found.add("not")
    return frozenset(found)


def _of_clause(clause: list[str], context: list[str]) -> Iterator[Stance]:
    if "without" in clause[1:]:
        at = clause.index("without", 1)
        action, left_out = clause[:at], clause[at + 1 :]
        refused = any(_KIND[word] == "not" for word in action)
        if left_out and _KIND[action[0]] in {"verb", "use", "not", "always"}:
            yield Stance(refused, _stems(left_out[:1]), _stems([*left_out[1:], *action, *context]))
        return
    for at in range(1, len(clause)):
        if clause[at] == "over" or (clause[at : at + 2] in (["instead", "of"], ["rather", "than"])):
            other = clause[at + 1 + (clause[at] != "over") :]
            for one in _of_clause(clause[:at], context):
                yield one
                if one.wanted:
                    low = next((n for n, word in enumerate(other) if _KIND[word] == "place"), len(other))
                    yield Stance(False, _stems(other[:low]), one.place | _stems(other[low:]), preferred=True)
            return
    kinds = [_KIND[word] for word in clause]
    at = next((n for n, kind in enumerate(kinds) if kind not in {"filler", "always", "not", "must"}), len(kinds))
    low = next((n for n, kind in enumerate(kinds) if kind == "place"), len(kinds))
    modal = next((n for n, kind in enumerate(kinds[:low]) if n > at and kind in {"must", "not", "be"}), -1)
    wanted = "not" not in kinds[:at]
    if at < len(clause) and modal < 0 and (not wanted or kinds[at] in {"verb", "use"}):
        yield _completed(clause[at:], context, wanted=wanted)
        return
    if modal <= 0:
        return
    subject, rest = clause[:modal], clause[modal:]
    at = 0
    while at < len(rest) and _KIND[rest[at]] in {"must", "not", "be", "always", "filler"}:
        at += 1
    said = {_KIND[word] for word in rest[:at]}
    if not rest[at:]:
        return
    wanted = ("not" in said) == any(_KIND[word] == "not" for word in subject)  # "no function should exceed 50 lines"
    judged = _KIND[rest[at]]
    if judged in {"banned", "allowed"}:
        yield _completed([*subject, *rest[at + 1 :]], context, wanted=wanted == (judged == "allowed"))
    elif "must" in said or "not" in said:
        if "be" in said:
            yield _completed([*rest[at : at + 1], *subject, *rest[at + 1 :]], context, wanted=wanted)
        elif judged in {"use", "verb"}:
            yield _completed(rest[at:], [*subject, *context], wanted=wanted)


def _completed(words: Sequence[str], context: Sequence[str], *, wanted: bool) -> Stance:
    """Return the stance of a verb and its object, and of what follows a preposition."""
    low = next((n for n, word in enumerate(words) if n and _KIND[word] == "place"), len(words))
    place = [*words[low:], *context]
    everywhere = any(_KIND[word] == "all" for word in place)
    thing = _stems(words[:low])
    if len(thing) == 1:  # "inherit" alone is not "inheritance"
        thing = frozenset(one for word in words[:low] if (one := _STEM[word]))
    return Stance(wanted, thing, _stems(place), everywhere)


def _in_english(words: Sequence[str], english: dict[str, str]) -> list[str]:
    """Return the words of another language with its grammar's in English, and each clause's verb before its object."""
    found: list[str] = []
    clause: list[str] = []
    for word in (*words, STOP):
        if word not in (COMMA, STOP):
            plain = english.get(word.rpartition("'")[2] if word[:2] in {"n'", "l'", "d'"} else word, "")
            if word.startswith("n'"):
                clause.append("never")
            clause.append(plain or word.rpartition("'")[2])
            continue
        order = {"not": 0, "always": 1, "must": 2, "use": 3, "verb": 3}
        heads = [one for one in clause if one.isascii() and _KIND[one] in order and one in _HEADS]
        heads.sort(key=lambda one: order[_KIND[one]])
        found += [*dict.fromkeys(heads), *(one for one in clause if one not in _HEADS), word]
        clause = []
    return found


_HEADS: Final = frozenset("never always must use write run edit commit install".split())


def _in_script(text: str, entry: dict[str, re.Pattern[str]]) -> Iterator[Stance]:
    """Read sentences whose words are told apart by their particles."""
    for sentence in entry["ends"].split(text):
        bans, demands = entry["bans"].search(sentence), entry["demands"].search(sentence)
        if not sentence or not (bans or demands):
            continue
        plain = entry["empty"].sub(" ", entry["bans"].sub(" ", sentence))
        thing: set[str] = set()
        place: set[str] = set()
        everywhere = False
        for match in entry["parts"].finditer(plain):
            everywhere |= bool(match.groupdict().get("all"))
            if match["thing"]:
                thing |= {match["thing"].lower()}
            elif match["place"]:
                place |= {match["place"].lower()}
        if thing:
            yield Stance(bans is None, frozenset(thing), frozenset(place), everywhere)


def _hedged(text: str) -> bool:
    return HEDGES.search(_READ.sub("", text)) is not None


_READ: Final = re.compile(r"\b(?:without|instead of|over(?!-)|only(?=\W*$))\b", re.IGNORECASE)
"""What hedges elsewhere, and is read here."""


def _opposed(ban: Stance, demand: Stance, banning: Statement, demanding: Statement) -> str | None:
    if _hedged(banning.text) or _hedged(demanding.text) or (banning.waits and banning.waits != demanding.waits):
        return None
    apart = clash_of_contexts(banning.context, demanding.context, ban.thing | ban.place | demand.place)
    if apart == 2:
        return None
    if ban.place == demand.place:
        return POSSIBLE if apart else CONTRADICTION
    if ban.preferred or ban.place - demand.place:
        return None
    return CONFLICT if demand.everywhere and not (apart or ban.place) else POSSIBLE


def opposed_stances(rules: Sequence[GuidanceRule], texts: Sequence[str]) -> dict[tuple[int, int], Relation]:
    """Return the rules of which one is for and the other against the same thing where both hold, by their places.

    Parameters
    ----------
    rules
        In any order.
    texts
        What `tipstaff.guidance.compiling.statements.statement_text` gives for each.
    """
    read = [stances(text) if rule.kind == "rule" else [] for rule, text in zip(rules, texts, strict=True)]
    bans: dict[frozenset[str], list[tuple[int, Stance]]] = {}
    for index, found in enumerate(read):
        for one in found:
            if not one.wanted:
                bans.setdefault(one.thing, []).append((index, one))
    relations: dict[tuple[int, int], Relation] = {}
    for index, found in enumerate(read):
        for demand in found:
            for other, ban in bans.get(demand.thing, ())[:_MAX_SAME] if demand.wanted else ():
                pair = min(index, other), max(index, other)
                left, right = rules[pair[0]], rules[pair[1]]
                if index == other or not scopes_may_overlap(left.repo_scopes, right.repo_scopes):
                    continue
                kind = _opposed(ban, demand, statement(rules[other]), statement(rules[index]))
                if kind is not None and (pair not in relations or STRENGTH[kind] > STRENGTH[relations[pair].kind]):
                    relations[pair] = Relation(kind=kind, left=left.id, right=right.id, similarity=1.0)
    return relations
