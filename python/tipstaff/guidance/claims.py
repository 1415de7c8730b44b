"""What a rule says: its claims, each a polarity about a topic.

A claim's polarity is to require, forbid, permit, or lift an obligation; its topic is the set of its content words
reduced to stems. Words such as "must" and "never" say nothing about the topic, and a topic alone says nothing about
what is wanted: two rules contradict each other when a claim of one opposes a claim of the other *about the same thing*.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from tipstaff.guidance.grammar import IMPERATIVES
from tipstaff.guidance.vocabulary import stem
from tipstaff.guidance.words import COMMA, STOP, tokens
from tipstaff.guidance.words import words as split

REQUIRE: Final = 1
FORBID: Final = -1
PERMIT: Final = 2
LIFT: Final = 3
"""An obligation is lifted: "is not required", "need not", "is optional"."""

CONTRADICTION: Final = 0.6
_MAX_CLAIMS: Final = 4
_MAX_WORDS: Final = 64
_MAX_TOKENS: Final = 128
_MAX_STEMS: Final = 50_000

_MAX_CHARS: Final = 1_000

# What a word of the grammar does to its clause.
_FORBIDS, _FORBIDS_OUTRIGHT, _OBLIGES, _PERMITS, _PERMITS_OUTRIGHT, _SUBORDINATES, _NEGATES, _TURN, _BREAK, _PAIR = (
    1 << bit for bit in range(10)
)
_NECESSARY, _CONTENT, _LIFTS, _COMMANDS, _REVERSES, _STARTED, _DIRECTS, _STOP, _PREFERS = (
    1 << bit for bit in range(10, 19)
)


def _roles(**words: str) -> dict[str, int]:
    roles: dict[str, int] = dict.fromkeys(_FUNCTION_WORDS, 0)
    for name, listed in words.items():
        bit = globals()[f"_{name}"]
        for word in listed.split():
            roles[word] = roles.get(word, _CONTENT) | bit
    return roles


_FUNCTION_WORDS: Final = frozenset(
    """a an the this that these those it its they them their there here he she we you your i our me my us one any all
    each every both either some such same other another more most much many few less least very too also just even
    still yet already then than as at by for from in into of off on onto out over per through to toward towards under
    until up upon via with within about above across after against along among around before behind below beneath
    beside between beyond during near since and or if when where while which who whom whose what why how whether be is
    am are was were been being have has had having do does did doing done will would shall should must may might can
    could ought need needs needed always never not no only ensure ensures make makes sure please use uses used using
    avoid forbidden forbid prohibited prohibit require requires required mandatory cannot can't don't dont doesn't
    isn't aren't shouldn't mustn't won't without instead rather unless except because so get gets keep it's we're you're
    there's strictly absolutely explicitly really simply actually generally usually typically whenever wherever
    etc eg ie vs allowed allow permitted ok okay fine optional e.g i.e cant mustnt shouldnt needn't never otherwise but
    prefer prefers favor favour nor neither disallowed banned refrain optionally""".split()
)
_ROLES: Final = {STOP: _STOP} | _roles(
    FORBIDS="""never avoid forbid forbids forbidden prohibit prohibits prohibited disallow disallowed banned refrain
        not no cannot cant can't don't dont doesn't mustn't mustnt shouldn't shouldnt won't nor neither nunca
        jamais niemals""",
    FORBIDS_OUTRIGHT="""never avoid don't dont mustn't mustnt shouldn't shouldnt forbidden prohibited disallowed banned
        refrain""",
    OBLIGES="must always should shall only ensure mandatory",
    PERMITS="may can might could optional optionally allowed permitted fine okay ok needn't",
    PERMITS_OUTRIGHT="allowed permitted optional fine okay ok",
    SUBORDINATES="when whenever if where that which who until while since",
    NEGATES="""never not no cannot can't don't dont doesn't won't isn't aren't wasn't weren't didn't hasn't haven't
        without""",
    TURN="but never not no instead don't always unless except because otherwise",
    BREAK="unless except because otherwise",
    PREFERS="prefer prefers favor favour",
    PAIR="of than that not never over",
    LIFTS="optional optionally needn't",
    COMMANDS="must always should shall ensure mandatory",
    REVERSES="without",
    NECESSARY="required need needed mandatory necessary have",
)
_BREAKING_PAIRS: Final = frozenset({("instead", "of"), ("rather", "than"), ("so", "that"), ("and", "never")})
_REVERSING_PAIRS: Final = frozenset({("instead", "of"), ("rather", "than")})
_NEED: Final = frozenset({"need", "needs"})
_AUXILIARIES: Final = frozenset("do must should shall may need to you we please".split())
_ADDRESSED: Final = frozenset("you we agents agent one developers anyone everybody everyone".split())
_IS: Final = frozenset({"is", "are", "be"})
_NOT: Final = frozenset("not no don't doesn't isn't aren't".split())
_POLITE: Final = frozenset("please you we must should always the".split())
DEMANDS: Final = frozenset({REQUIRE, PERMIT})
_NOT_DEMANDING: Final = frozenset(
    word for word, role in _ROLES.items() if role & (_FORBIDS | _PERMITS | _NECESSARY)
) | {
    "instead",
    "over",
    "rather",
}
_NO_TOPIC: Final = frozenset({""})
_OPPOSITES: Final = frozenset(
    {(REQUIRE, FORBID), (FORBID, REQUIRE), (PERMIT, FORBID), (FORBID, PERMIT), (LIFT, REQUIRE), (REQUIRE, LIFT)}
)


class _Stems(dict[str, str]):
    """Word to stem, the empty string for a word of the grammar; remembers what it was asked."""

    def __missing__(self, word: str) -> str:
        found = "" if word in _FUNCTION_WORDS else stem(word)
        if len(self) > _MAX_STEMS:
            self.clear()
        self[word] = found
        return found


_STEM: Final = _Stems()


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
        Whether the clause tells somebody what to do; a description ("cannot interrupt a
        paragraph") contradicts nothing.
    negative_condition
        Whether the condition under which it holds is negated: "when the cache is not warm".
    """

    polarity: int
    topic: frozenset[str]
    explicit: bool
    directive: bool
    negative_condition: bool


@lru_cache(maxsize=8_192)
def claims(text: str) -> tuple[Claim, ...]:
    """Return what a rule says, at most four claims, the first clause first.

    Remembered for some thousand texts: when a file changes, most of its rules are those of before.

    One pass over the words: a clause ends at punctuation, at a comma before a word that turns the sentence, and at
    "unless", "because", "instead of" and the like. What follows "if", "when", "which" ... is a condition: its words
    belong to the topic, but its negations do not turn the rule round.

    Examples
    --------
    >>> claims("Never use TLS 1.0; always use TLS 1.3")
    (Claim(polarity=-1, ...), Claim(polarity=1, ...))
    """
    result: list[Claim] = []
    topic: list[str] = []
    seen = flip = flip_directs = 0  # roles of the clause's main words; what an earlier clause hands on
    outside = 0  # negations in conditions
    negations = 0
    condition = subordinate = comma = False
    main = before = ""  # the last main word, the last word
    for word in (*tokens(text[:_MAX_CHARS])[:_MAX_TOKENS], STOP):
        role = _ROLES.get(word)
        if word == COMMA:
            comma = True
            condition = False
            continue
        if role is not None and role & (_TURN | _PAIR):
            preferred = word == "over" and seen & _PREFERS
            if preferred or (before, word) in _BREAKING_PAIRS or (role & _TURN and (comma or role & _BREAK)):
                role |= _STOP
        if role is None:
            topic.append(_STEM[word])
            if not (condition or subordinate):
                if not seen & _STARTED and word in IMPERATIVES:
                    seen |= _DIRECTS
                seen |= _STARTED
                main = word
        else:
            if role & _STOP:
                if topic:
                    claim = _claim(topic, seen, negations, outside, flip, flip_directs)
                    result.append(claim)
                    if len(result) == _MAX_CLAIMS:
                        break
                    flip = flip_directs = 0
                    # "tabs rather than spaces" directs as much as its first half
                    if word == "over" or (before, word) in _REVERSING_PAIRS:
                        flip, flip_directs = 1, claim.directive
                    topic = []
                else:  # "Never: hardcode secrets": the negation belongs to what follows
                    flip = flip_directs = flip ^ (negations > 0)
                seen = outside = negations = 0
                condition = subordinate = False
                main = ""
            if role & _CONTENT:
                topic.append(_STEM[word])
            if role & _SUBORDINATES:
                if not topic and not main:
                    condition = True
                elif not condition:
                    subordinate = True
            if condition or subordinate:
                outside += role & _NEGATES != 0
            elif word != STOP:
                if role & _FORBIDS:
                    negations += 1
                    directs = role & _FORBIDS_OUTRIGHT or not main or main in _AUXILIARIES
                elif role & _PERMITS:
                    directs = role & _PERMITS_OUTRIGHT or before in _ADDRESSED
                else:
                    directs = not seen & _STARTED and word in IMPERATIVES
                if directs:
                    seen |= _DIRECTS
                if role & _NECESSARY and before in _IS:
                    seen |= _OBLIGES | _COMMANDS  # "is required"
                if (role & _NECESSARY and before in _NOT) or (word == "not" and before in _NEED):
                    seen |= _LIFTS
                seen |= role
                if word not in _POLITE:
                    seen |= _STARTED
                main = word
        comma = False
        before = word
    return tuple(result)


def _claim(topic: list[str], seen: int, negations: int, outside: int, flip: int, flip_directs: int) -> Claim:
    # "never merge without review" requires the review; two negations side by side are two bans.
    negated = negations > 0 and not seen & _REVERSES
    directive = bool(seen & (_DIRECTS | _COMMANDS) or flip_directs)
    obliges = seen & _OBLIGES != 0
    if seen & _LIFTS and (negations or seen & _PERMITS):
        polarity, directive = LIFT, True
    elif negated != (flip > 0):
        polarity = FORBID
    elif seen & _PERMITS and not negations and not obliges:
        polarity = PERMIT
    else:
        polarity = REQUIRE
    return Claim(polarity, frozenset(topic), obliges or negations > 0 or flip > 0, directive, outside % 2 == 1)


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
        (same_topic(one, other) for one in left for other in right if opposite(one.polarity, other.polarity)),
        default=0.0,
    )


def opposite(left: int, right: int) -> bool:
    """Whether two polarities oppose each other."""
    return (left, right) in _OPPOSITES


def same_topic(one: Claim, other: Claim) -> float:
    """Return the similarity of two claims' topics if both direct somebody to do or not to do the same thing, else 0."""
    if one.negative_condition != other.negative_condition or not (one.directive and other.directive):
        return 0.0
    left, right = one.topic, other.topic
    if (one.polarity == FORBID and right < left) or (other.polarity == FORBID and left < right):
        return 0.0  # "never log errors with secrets" is an exception to "always log errors", and no contradiction
    score = similarity(left, right)
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    if len(small) == 1:
        # One word is little: both must speak of nothing else, and one of them with emphasis.
        return score if score == 1.0 and (one.explicit or other.explicit) else 0.0
    if score >= CONTRADICTION or (len(large) - len(small) <= 2 and small <= large):
        return score
    return 0.0


def topic_of(words: Sequence[str]) -> frozenset[str]:
    """Return the stems of the content words among a rule's words."""
    return frozenset(map(_STEM.__getitem__, words[:_MAX_WORDS])) - _NO_TOPIC


def may_forbid(words: Sequence[str]) -> bool:
    """Whether a rule has a word with which it could forbid, permit or lift something."""
    return not _NOT_DEMANDING.isdisjoint(words)


@lru_cache(maxsize=8_192)
def topic_words(text: str) -> frozenset[str]:
    """Return the stems of a rule's content words."""
    return topic_of(split(text[:_MAX_CHARS]))


def task_words(task: str) -> dict[str, str]:
    """Return a task's content words: stem to the first word that has it."""
    found: dict[str, str] = {}
    for word in split(task[:_MAX_CHARS])[:_MAX_WORDS]:
        known = _STEM[word]
        if known and len(word) > 1:
            found.setdefault(known, word)
    return found
