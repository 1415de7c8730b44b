"""Which rules say the same, nearly the same, or the opposite."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from math import ceil
from typing import Final

from tipstaff.globs import scopes_may_overlap
from tipstaff.guidance.claims import (
    CONTRADICTION,
    DEMANDS,
    Claim,
    claims,
    may_forbid,
    opposite,
    same_topic,
    similarity,
    topic_of,
)
from tipstaff.guidance.words import words as split
from tipstaff.kernels import jaccard_pairs
from tipstaff.model import GuidanceRule, Relation

NEAR_DUPLICATE: Final = 0.8
"""Jaccard similarity of topic words from which two rules of one polarity count as nearly the same."""
_BLOCK: Final = 2_048
"""Rules whose topics are compared in one step of bit arithmetic."""
_WORK_PER_RULE: Final = 64
_LEAST_WORK: Final = 20_000
"""Steps that the search for contradictions may take: in real files a rule meets a handful of others."""
_PAIRS_PER_RULE: Final = 32
"""Bounds the search: in real files a rule resembles a handful of others at most."""


def relate(
    rules: Sequence[GuidanceRule], words: Sequence[Sequence[str]] | None = None
) -> tuple[tuple[Relation, ...], bool]:
    """Find duplicates, near-duplicates and contradictions among rules.

    Parameters
    ----------
    rules
        Any number; the work is near-linear (prefix filtering over rare words) and bounded.
    words
        For each rule the words of its text, where the caller has them.

    Returns
    -------
    tuple
        The relations in the order of the rules, and whether the search was complete. A rule that is nearly the same as
        several is related to the first of them only.
    """
    search = _Search(rules, words if words is not None else [split(rule.text) for rule in rules])
    search.contradictions()
    search.duplicates()
    return tuple(search.found[key] for key in sorted(search.found)), search.complete


class _Search:
    """Relates rules: topics of all rules first, and what exactly a rule says only where topics meet."""

    def __init__(self, rules: Sequence[GuidanceRule], words: Sequence[Sequence[str]]) -> None:
        self.rules = rules
        self.found: dict[tuple[int, int], Relation] = {}
        self.complete = True
        self._topics = [topic_of(listed) for listed in words]
        self._negative = [index for index, listed in enumerate(words) if may_forbid(listed)]

    def _claims(self, index: int) -> tuple[Claim, ...]:
        return claims(self.rules[index].text)

    def _overlap(self, left: int, right: int) -> bool:
        return scopes_may_overlap(self.rules[left].repo_scopes, self.rules[right].repo_scopes)

    def duplicates(self) -> None:
        """Relate rules that point the same way in nearly the same words."""
        topics = self._topics
        number = defaultdict[str, int](count().__next__).__getitem__
        flat = array("I")
        offsets = array("q", [0])
        for topic in topics:
            flat.extend(sorted(map(number, _weighted(topic))))
            offsets.append(len(flat))
        if len(topics) < 2:
            return
        if not flat:
            return
        pairs, complete = jaccard_pairs(flat, offsets, NEAR_DUPLICATE, _PAIRS_PER_RULE * len(topics) + 1_000)
        self.complete = self.complete and complete
        spoken: set[int] = set()
        negative = frozenset(self._negative)
        for left, right, _ in sorted(pairs):
            if right in spoken or (left, right) in self.found or not topics[left]:
                continue
            score = similarity(topics[left], topics[right])
            if score < NEAR_DUPLICATE or (len(topics[left]) == 1 and score < 1.0):
                continue
            one, other = self.rules[left], self.rules[right]
            same = _normal(one.text) == _normal(other.text)
            if not same and score < 1.0 and _is_enumeration(one, other):
                continue
            if not same and (left in negative or right in negative):
                ours, theirs = self._claims(left), self._claims(right)
                if len(ours) != len(theirs) or any(a.polarity != b.polarity for a, b in zip(ours, theirs, strict=True)):
                    continue
            if self._overlap(left, right):
                spoken.add(right)
                kind = "duplicate" if same else "near-duplicate"
                self.found[left, right] = Relation(kind=kind, left=one.id, right=other.id, similarity=round(score, 4))

    def contradictions(self) -> None:
        """Relate rules of which one demands what the other forbids, or need not be done by the other."""
        if not self._negative:
            return
        blocks: list[dict[str, int]] = []
        for index, topic in enumerate(self._topics):
            place = index % _BLOCK
            if not place:
                blocks.append({})
            rows = blocks[-1]
            bit = 1 << place
            for word in topic:
                rows[word] = rows.get(word, 0) | bit
        work = _WORK_PER_RULE * len(self.rules) + _LEAST_WORK
        for index in self._negative:
            for claim in self._claims(index):
                if not claim.directive or claim.polarity in DEMANDS:
                    continue
                work -= len(blocks) * len(claim.topic)
                if work < 0:
                    self.complete = False
                    return
                for number, rows in enumerate(blocks):
                    near = _sharing(claim.topic, rows, _shared_at_least(len(claim.topic)))
                    work -= near.bit_count()
                    while near:
                        lowest = near & -near
                        near ^= lowest
                        other = number * _BLOCK + lowest.bit_length() - 1
                        if other != index:
                            self._oppose(index, claim, other)

    def _oppose(self, index: int, claim: Claim, other: int) -> None:
        key = (index, other) if index < other else (other, index)
        if key in self.found:
            return
        score = 0.0
        for said in self._claims(other):
            if opposite(claim.polarity, said.polarity):
                score = max(score, same_topic(claim, said))
        if score and self._overlap(index, other):
            one, two = self.rules[key[0]], self.rules[key[1]]
            self.found[key] = Relation(kind="contradiction", left=one.id, right=two.id, similarity=round(score, 4))


def _shared_at_least(size: int) -> int:
    """Return how many words a topic of `size` words must share with another to be about the same thing.

    Follows from `same_topic`: an overlap of `CONTRADICTION` takes that share of the words; containment takes all of
    the smaller topic, which has at least two words and at most two less.
    """
    if size <= 2:
        return size
    return max(2, min(ceil(CONTRADICTION * size), size - 2))


def _sharing(topic: frozenset[str], rows: dict[str, int], needed: int) -> int:
    """Return the rules, as a bit set, that share at least `needed` words with a topic.

    The numbers of shared words are added for all rules of a block at once: `ones`, `twos`, `fours` and `eights` hold
    one binary digit of every rule's sum. Sums stop at 15, which is enough to find candidates.
    """
    ones = twos = fours = eights = more = 0
    for word in topic:
        row = rows.get(word)
        if row is None:
            continue
        carry = ones & row
        ones ^= row
        if carry:
            twos, carry = twos ^ carry, twos & carry
            if carry:
                fours, carry = fours ^ carry, fours & carry
                if carry:
                    eights, carry = eights ^ carry, eights & carry
                    more |= carry
    needed = min(needed, 15)
    equal, above = -1, more
    for digit, bits in ((8, eights), (4, fours), (2, twos), (1, ones)):
        if needed & digit:
            equal &= bits
        else:
            above |= equal & bits
    return above | equal


def _weighted(topic: frozenset[str]) -> Iterable[str]:
    """Return a topic's words, numbers counted thrice: rules about ports 9000 and 9001 are two rules."""
    numbers = [word for word in topic if "0" <= word < ":"]
    if not numbers:
        return topic
    return (*topic, *(f"{word}\0" for word in numbers), *(f"{word}\0\0" for word in numbers))


def _is_enumeration(one: GuidanceRule, other: GuidanceRule) -> bool:
    """Whether two rules are alike because they are neighbours in a list, or owe their words to the same parent."""
    if one.path != other.path:
        return False
    return abs(one.line - other.line) <= 2 or not set(one.context_spans).isdisjoint(other.context_spans)


def _normal(text: str) -> str:
    return " ".join(split(text))
