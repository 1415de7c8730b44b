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

from tipstaff.guidance.wording.tokenize import tokens
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.vocabulary import stem
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, not_demanding, word_roles
from tipstaff.kernels.formats.clauses import FORBID, LIFT, MAX_TOKENS, PERMIT, REQUIRE, SAME_TOPIC, read_clauses

__all__ = ["FORBID", "LIFT", "PERMIT", "REQUIRE", "Claim", "claims", "opposed", "topic_of", "topic_words"]

MAX_TOPIC_WORDS: Final = 64
MAX_CHARS: Final = 1_000
"""What of a rule's text counts for its topic, and for its claims."""
_MAX_STEMS: Final = 50_000
_NO_TOPIC: Final = frozenset({""})
_OPPOSITES: Final = frozenset(
    {(REQUIRE, FORBID), (FORBID, REQUIRE), (PERMIT, FORBID), (FORBID, PERMIT), (LIFT, REQUIRE), (REQUIRE, LIFT)}
)


class _Stems(dict[str, str]):
    """Word to stem, the empty string for a word of the grammar; remembers what it was asked."""

    def __missing__(self, word: str) -> str:
        found = "" if word in FUNCTION_WORDS else stem(word)
        if len(self) > _MAX_STEMS:
            self.clear()
        self[word] = found
        return found


class _TaskStems(_Stems):
    """As `_Stems`; a single letter, which is most often a name, says nothing either."""

    def __missing__(self, word: str) -> str:
        if len(word) > 1:
            return super().__missing__(word)
        self[word] = ""
        return ""


class _PlainStems(_Stems):
    """As `_Stems`; a number says nothing either."""

    def __missing__(self, word: str) -> str:
        if not word.isdigit():
            return super().__missing__(word)
        self[word] = ""
        return ""


_STEM: Final = _Stems()
_PLAIN_STEM: Final = _PlainStems()
_TASK_STEM: Final = _TaskStems()


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
        Whether the clause is an instruction; a description ("cannot interrupt a
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

    Examples
    --------
    >>> claims("Never use TLS 1.0; always use TLS 1.3")
    (Claim(polarity=-1, ...), Claim(polarity=1, ...))
    """
    roles = word_roles()
    return tuple(
        Claim(polarity, frozenset(map(_STEM.__getitem__, topic)), explicit, directive, negative)
        for polarity, topic, explicit, directive, negative in read_clauses(
            tokens(text[:MAX_CHARS])[:MAX_TOKENS], lambda word: roles.get(word, 0)
        )
    )


def similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the Jaccard similarity of two topics, 0..1."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def opposed(left: Sequence[Claim], right: Sequence[Claim]) -> float:
    """Return how similar the topics are about which two rules say the opposite, 0 if they do not.

    A topic counts as the same when its words overlap by `SAME_TOPIC`, or when one topic of at least two words is
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
        # One word is little: both must be about nothing else, and one of them with emphasis.
        return score if score == 1.0 and (one.explicit or other.explicit) else 0.0
    if score >= SAME_TOPIC or (len(large) - len(small) <= 2 and small <= large):
        return score
    return 0.0


def topic_of(words: Sequence[str]) -> frozenset[str]:
    """Return the stems of the content words among a rule's words."""
    return frozenset(map(_STEM.__getitem__, words[:MAX_TOPIC_WORDS])) - _NO_TOPIC


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text that are no numbers."""
    return frozenset(map(_PLAIN_STEM.__getitem__, split(text))) - _NO_TOPIC


def may_forbid(words: Sequence[str]) -> bool:
    """Whether a rule has a word with which it could forbid, permit or lift something."""
    return not not_demanding().isdisjoint(words)


@lru_cache(maxsize=8_192)
def topic_words(text: str) -> frozenset[str]:
    """Return the stems of a rule's content words."""
    return topic_of(split(text[:MAX_CHARS]))


def task_words(task: str) -> dict[str, str]:
    """Return a task's content words in their order: stem to the last word that has it."""
    words = split(task[:MAX_CHARS])[:MAX_TOPIC_WORDS]
    found = dict(zip(map(_TASK_STEM.__getitem__, words), words, strict=True))
    found.pop("", None)
    return found
