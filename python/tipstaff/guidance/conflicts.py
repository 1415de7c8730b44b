"""Which rules say the same, nearly the same, or the opposite.

A rule makes one or more *claims*: a polarity (require, forbid, permit) about a topic, the set of its content words
reduced to stems. Two rules contradict when a claim of one requires what a claim of the other forbids *about the same
thing*; words such as "must" and "never" alone say nothing.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from tipstaff.guidance.globs import scopes_may_overlap
from tipstaff.guidance.grammar import opens_with_imperative
from tipstaff.guidance.vocabulary import stem
from tipstaff.kernels import jaccard_pairs
from tipstaff.model import GuidanceRule, Relation

REQUIRE: Final = 1
FORBID: Final = -1
PERMIT: Final = 2
LIFT: Final = 3
"""An obligation is lifted: "is not required", "need not", "is optional"."""

NEAR_DUPLICATE: Final = 0.8
"""Jaccard similarity of topic words from which two rules of one polarity count as nearly the same."""
CONTRADICTION: Final = 0.6
_CANDIDATE: Final = 0.5
_MAX_CLAIMS: Final = 4
_MAX_WORDS: Final = 64
_MAX_PAIRS: Final = 200_000

_WORD: Final = re.compile(r"\d+(?:\.\d+)+|[^\W_]+(?:['’][^\W_]+)?")
_CLAUSE: Final = re.compile(r"[;:.!?。；：，]+(?:\s|$)|[。；]|,\s+(?=(?:but|and never|never|not|no|instead|do not|don['’]t|always)\b)|\s[–—-]+\s|\s(?:instead of|rather than|unless|except|because|so that|otherwise)\s", re.IGNORECASE)
_REVERSED: Final = re.compile(r"\s(?:instead of|rather than)\s", re.IGNORECASE)

_FORBIDDING: Final = frozenset(
    """never avoid forbid forbids forbidden prohibit prohibits prohibited disallow disallowed banned refrain not no
    cannot cant can't don't dont doesn't mustn't mustnt shouldn't shouldnt won't nor neither nunca jamais niemals
    never-""".split()
)
_PERMITTING: Final = frozenset("may can might could optional optionally allowed permitted fine okay ok needn't".split())
_OPPOSITES: Final = frozenset(
    {(REQUIRE, FORBID), (FORBID, REQUIRE), (PERMIT, FORBID), (FORBID, PERMIT), (LIFT, REQUIRE), (REQUIRE, LIFT)}
)
_LIFTING: Final = frozenset("optional optionally needn't unnecessary".split())
_OBLIGING: Final = frozenset("must always should shall only ensure mandatory".split())
_COMMANDING: Final = _OBLIGING - {"only"}
_DIRECTLY_FORBIDDING: Final = frozenset(
    "never avoid don't dont mustn't mustnt shouldn't shouldnt forbidden prohibited disallowed banned refrain".split()
)
_AUXILIARIES: Final = frozenset("do must should shall may need to you we please".split())
_ADDRESSED: Final = frozenset("you we agents agent one developers anyone everybody everyone".split())
_PERMITTING_OUTRIGHT: Final = frozenset("allowed permitted optional fine okay ok".split())
_NEGATED: Final = _FORBIDDING | frozenset("isn't aren't wasn't weren't doesn't didn't hasn't haven't".split())
_EMPHASIS: Final = re.compile(r"\*+|__|`")
_NOT: Final = frozenset("not no don't doesn't isn't aren't".split())
_NECESSARY: Final = frozenset("required need needed mandatory necessary have".split())
_SUBORDINATORS: Final = frozenset("when whenever if where that which who until unless while because since so".split())
_LEADING_CONDITION: Final = re.compile(
    r"\W*(?:if|when|whenever|where|while|unless|before|after|until)\b[^,]{0,200},", re.IGNORECASE
)
_FUNCTION_WORDS: Final = frozenset(
    """a an the this that these those it its they them their there here he she we you your our i me my us one any all
    each every both either some such same other another more most much many few less least very too also just even
    still yet already then than as at by for from in into of off on onto out over per through to toward towards under
    until up upon via with within about above across after against along among around before behind below beneath
    beside between beyond during near since and or if when while where which who whom whose what why how whether be is
    am are was were been being have has had having do does did doing done will would shall should must may might can
    could ought need needs needed always never not no only ensure ensures make makes sure please use uses used using
    avoid forbidden forbid prohibited prohibit require requires required mandatory cannot can't don't dont do doesn't
    isn't aren't shouldn't mustn't won't without instead rather unless except because so let get gets keep it's we're
    you're there's strictly absolutely explicitly really simply actually generally usually typically whenever wherever
    etc eg ie vs allowed allow permitted ok okay fine optional e.g i.e""".split()
)


class Claim(msgspec.Struct, frozen=True, gc=False):
    """What one clause of a rule says.

    Attributes
    ----------
    polarity
        `REQUIRE`, `FORBID`, `PERMIT` or `LIFT`.
    topic
        Stems of the clause's content words.
    explicit
        Whether a modal or a negation says so ("must", "never", "do not"), and not the verb's mood alone.
    directive
        Whether the clause tells somebody what to do; a description ("cannot interrupt a paragraph") contradicts nothing.
    negative_condition
        Whether the condition under which it holds is negated: "when the cache is not warm".
    """

    polarity: int
    topic: frozenset[str]
    explicit: bool
    directive: bool
    negative_condition: bool


def claims(text: str) -> tuple[Claim, ...]:
    """Return what a rule says, at most four claims, the first clause first.

    Examples
    --------
    >>> claims("Never use TLS 1.0; always use TLS 1.3")
    (Claim(polarity=-1, ...), Claim(polarity=1, ...))
    """
    result: list[Claim] = []
    flip = flip_directs = False
    at = 0
    text = text[:1_000]
    if "*" in text or "__" in text or "`" in text:
        text = _EMPHASIS.sub("", text)
    for bound in (*_CLAUSE.finditer(text), None):
        clause = text[at : bound.start()] if bound is not None else text[at:]
        words = [word.replace("’", "'").lower() for word in _WORD.findall(clause)[:_MAX_WORDS]]
        topic = frozenset([stem(word) for word in words if word not in _FUNCTION_WORDS])
        if topic:
            claim = _claim(clause, words, topic, negate=flip)
            if flip_directs and not claim.directive:
                claim = msgspec.structs.replace(claim, directive=True)
            result.append(claim)
            if len(result) == _MAX_CLAIMS:
                break
            flip = flip_directs = False
        else:  # "Never: hardcode secrets": the negation belongs to what follows
            flip = flip_directs = flip != (sum(word in _FORBIDDING for word in words) % 2 == 1)
        if bound is not None:
            if _REVERSED.match(bound[0]):  # "use tabs rather than spaces" directs as much as its first half
                flip, flip_directs = True, bool(result) and result[-1].directive
            at = bound.end()
    return tuple(result)


def _claim(clause: str, words: list[str], topic: frozenset[str], *, negate: bool) -> Claim:
    # A condition ("if the cache is not warm, ...") has its own negations; they do not turn the rule round.
    main = _main_words(clause, words)
    negations = 0
    obliges = permits = directive = False
    before = ""
    for word in main:
        if word in _FORBIDDING:
            negations += 1
            directive = directive or word in _DIRECTLY_FORBIDDING or before in _AUXILIARIES or not before
        elif word in _OBLIGING:
            obliges = True
        elif word in _PERMITTING:
            permits = True
            directive = directive or before in _ADDRESSED or word in _PERMITTING_OUTRIGHT
        before = word
    if negations and "without" in main:
        negations += 1  # "never merge without review" requires the review
    forbids = (negations % 2 == 1) != negate
    if negations and _lifts_obligation(main):
        polarity = LIFT
        directive = True
    elif forbids:
        polarity = FORBID
    elif permits and not negations and not obliges:
        polarity = LIFT if not _LIFTING.isdisjoint(main) else PERMIT
    else:
        polarity = REQUIRE
        directive = directive or not _COMMANDING.isdisjoint(main) or opens_with_imperative(clause)
    explicit = obliges or negations > 0 or negate
    return Claim(polarity, topic, explicit, directive, _condition_is_negated(words, main))


def _condition_is_negated(words: list[str], main: list[str]) -> bool:
    if len(words) == len(main):
        return False
    return (sum(word in _NEGATED for word in words) - sum(word in _NEGATED for word in main)) % 2 == 1


def _main_words(clause: str, words: list[str]) -> list[str]:
    condition = _LEADING_CONDITION.match(clause)
    if condition is not None:
        return [word.replace("’", "'").lower() for word in _WORD.findall(clause, condition.end())[:_MAX_WORDS]]
    for index, word in enumerate(words):
        if index and word in _SUBORDINATORS:
            return words[:index]
    return words


def _lifts_obligation(words: list[str]) -> bool:
    return any(
        (first in _NOT and second in _NECESSARY) or (first in {"need", "needs"} and second == "not")
        for first, second in zip(words, words[1:], strict=False)
    )


def similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the Jaccard similarity of two topics, 0..1."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def opposed(left: Sequence[Claim], right: Sequence[Claim]) -> float:
    """Return how similar the topics are about which two rules say the opposite, 0 if they do not.

    A topic counts as the same when its words overlap by `CONTRADICTION`, or when one topic of at least two words is
    contained in the other and the other adds at most two words; a topic of one word only where both clauses say
    nothing else. A requirement opposes a ban, a permission opposes a ban, a lifted obligation opposes a requirement.
    """
    return max(
        (_same_topic(one, other) for one in left for other in right if _opposite(one.polarity, other.polarity)),
        default=0.0,
    )


def _opposite(left: int, right: int) -> bool:
    return (left, right) in _OPPOSITES


def _same_topic(one: Claim, other: Claim) -> float:
    if one.negative_condition != other.negative_condition or not (one.directive and other.directive):
        return 0.0
    left, right = one.topic, other.topic
    score = similarity(left, right)
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    if len(small) == 1:
        # One word is little: both must speak of nothing else, and one of them with emphasis.
        return score if score == 1.0 and (one.explicit or other.explicit) else 0.0
    if score >= CONTRADICTION or (len(large) - len(small) <= 2 and small <= large):
        return score
    return 0.0


def rules_contradict(left: GuidanceRule, right: GuidanceRule, claims_of: dict[str, tuple[Claim, ...]]) -> float:
    """Return the topic similarity of two rules that contradict each other where both apply, else 0."""
    if not scopes_may_overlap(left.repo_scopes, right.repo_scopes):
        return 0.0
    return opposed(claims_of[left.id], claims_of[right.id])


def relate(rules: Sequence[GuidanceRule]) -> tuple[tuple[Relation, ...], bool]:
    """Find duplicates, near-duplicates and contradictions among rules.

    Parameters
    ----------
    rules
        Any number; the work is near-linear (prefix filtering over rare words) and bounded.

    Returns
    -------
    tuple
        The relations in the order of the rules, and whether the search was complete.
    """
    owners: list[int] = []
    topics: list[Claim] = []
    ids: dict[str, int] = {}
    flat = array("I")
    offsets = array("q", [0])
    for index, rule in enumerate(rules):
        for claim in claims(rule.text):
            owners.append(index)
            topics.append(claim)
            flat.extend(sorted(ids.setdefault(word, len(ids)) for word in claim.topic))
            offsets.append(len(flat))
    if len(owners) < 2:
        return (), True
    pairs, complete = _pairs(flat, offsets)
    found: dict[tuple[int, int], Relation] = {}
    spoken = [0] * len(rules)
    for owner in owners:
        spoken[owner] += 1
    for first, second in pairs:
        left, right = owners[first], owners[second]
        if left == right:
            continue
        if left > right:
            left, right, first, second = right, left, second, first
        one, other = topics[first], topics[second]
        score = similarity(one.topic, other.topic)
        kind = _kind(one, other, score, spoken[left], spoken[right])
        if kind is None:
            continue
        a, b = rules[left], rules[right]
        if not scopes_may_overlap(a.repo_scopes, b.repo_scopes):
            continue
        if kind == "near-duplicate" and _normal(a.text) == _normal(b.text):
            kind = "duplicate"
        known = found.get((left, right))
        if known is None or (known.kind != "contradiction" and kind == "contradiction"):
            found[left, right] = Relation(kind=kind, left=a.id, right=b.id, similarity=round(score, 4))
    return tuple(found[key] for key in sorted(found)), complete


def _kind(one: Claim, other: Claim, score: float, left_claims: int, right_claims: int) -> str | None:
    if _opposite(one.polarity, other.polarity):
        return "contradiction" if _same_topic(one, other) else None
    if score >= NEAR_DUPLICATE and left_claims == right_claims == 1 and (len(one.topic) > 1 or score == 1.0):
        return "near-duplicate"
    return None


def _pairs(flat: array[int], offsets: array[int]) -> tuple[list[tuple[int, int]], bool]:
    pairs, complete = jaccard_pairs(flat, offsets, _CANDIDATE, _MAX_PAIRS)
    return [(first, second) for first, second, _ in pairs], complete


def _normal(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@lru_cache(maxsize=8_192)
def topic_words(text: str) -> frozenset[str]:
    """Return the stems of a rule's content words."""
    return frozenset(
        stem(word) for word in map(str.lower, _WORD.findall(text[:1_000])) if word not in _FUNCTION_WORDS
    )


def task_words(task: str) -> dict[str, str]:
    """Return a task's content words: stem to the word as it was written first."""
    words: dict[str, str] = {}
    for word in _WORD.findall(task[:1_000])[:_MAX_WORDS]:
        lower = word.lower()
        if lower not in _FUNCTION_WORDS and len(lower) > 1:
            words.setdefault(stem(lower), word)
    return words
