"""Clauses of a text: what each one requires, forbids, permits or lifts, and about which topic.

``native/include/tipstaff/similarity/clauses.hpp`` reads clauses in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Final, NamedTuple

from tipstaff.kernels.formats import roles

REQUIRE: Final = 1
FORBID: Final = -1
PERMIT: Final = 2
LIFT: Final = 3
"""An obligation is lifted: "is not required", "need not", "is optional"."""

COMMA: Final = "\x01"
STOP: Final = "\x02"
"""Tokens that represent a comma, and any other mark that ends a clause."""

MAX_CLAUSES: Final = 4
MAX_TOKENS: Final = 128

SAME_TOPIC: Final = 0.6
"""Jaccard similarity from which two topics are about the same thing."""


class Clause(NamedTuple):
    """What one clause says: its polarity, and the words of its topic as they are, one perhaps twice."""

    polarity: int
    topic: list[str]
    explicit: bool
    """Whether a modal or a negation says so, and not the verb's mood alone."""
    directive: bool
    """Whether it is an instruction."""
    negative_condition: bool
    """Whether the condition under which it holds is negated."""


class _Reading:
    """What is known of the clause that is being read."""

    __slots__ = ("condition", "directs", "main", "negations", "outside", "seen", "started", "subordinate", "topic")

    def __init__(self) -> None:
        self.topic: list[str] = []
        self.seen = 0  # roles of its main words
        self.started = self.directs = False
        self.outside = 0  # negations in conditions
        self.negations = 0
        self.condition = self.subordinate = False
        self.main: int | None = None  # roles of its last main word

    def finished(self, *, flip: bool, flip_directs: bool) -> Clause:
        """Return the clause; `flip` turns its polarity round."""
        seen = self.seen
        # "never merge without review" requires the review; two negations side by side are two bans.
        negated = self.negations > 0 and not seen & roles.REVERSES
        directive = bool(self.directs or seen & roles.COMMANDS or flip_directs)
        obliges = seen & roles.OBLIGES != 0
        if seen & roles.LIFTS and (self.negations or seen & roles.PERMITS):
            polarity, directive = LIFT, True
        elif negated != flip:
            polarity = FORBID
        elif seen & roles.PERMITS and not self.negations and not obliges:
            polarity = PERMIT
        else:
            polarity = REQUIRE
        explicit = obliges or self.negations > 0 or flip
        return Clause(polarity, self.topic, explicit, directive, self.outside % 2 == 1)


def read_clauses(tokens: Iterable[str], value: Callable[[str], int]) -> list[Clause]:
    """Return what a text's clauses say, at most four, the first first.

    One pass over the words: a clause ends at punctuation, at a comma before a word that turns the sentence, and at
    "unless", "because", "instead of" and the like. What follows "if", "when", "which" ... is a condition: its words
    belong to the topic, but its negations do not turn the clause round.

    Parameters
    ----------
    tokens
        At most `MAX_TOKENS` words in lower case, with `COMMA` and `STOP` among them.
    value
        Returns a word's roles.
    """
    result: list[Clause] = []
    clause = _Reading()
    flip = flip_directs = comma = False  # what an earlier clause hands on
    before = 0
    for word in chain(tokens, (STOP,)):
        if word == COMMA:
            comma, clause.condition = True, False
            continue
        role = roles.GRAMMAR if word == STOP else value(word)
        if not role & roles.GRAMMAR:
            clause.topic.append(word)
            if not (clause.condition or clause.subordinate):
                clause.directs |= not clause.started and role & roles.IMPERATIVE != 0
                clause.started, clause.main = True, role
        else:
            pair = before >> roles.PAIR_FIRST & role >> roles.PAIR_SECOND & 0b1111
            if word == STOP or _ends_before(role, pair, clause.seen, comma=comma):
                if clause.topic:
                    done = clause.finished(flip=flip, flip_directs=flip_directs)
                    result.append(done)
                    if len(result) == MAX_CLAUSES:
                        break
                    flip = flip_directs = False
                    # "tabs rather than spaces" directs as much as its first half.
                    if role & roles.OVER or pair & roles.REVERSING_PAIRS:
                        flip, flip_directs = True, done.directive
                else:  # "Never: hardcode secrets": the negation belongs to what follows
                    flip = flip_directs = flip != (clause.negations > 0)
                clause = _Reading()
            if role & roles.CONTENT:
                clause.topic.append(word)
            if role & roles.SUBORDINATES:
                if not clause.topic and clause.main is None:
                    clause.condition = True
                elif not clause.condition:
                    clause.subordinate = True
            if clause.condition or clause.subordinate:
                clause.outside += role & roles.NEGATES != 0
            elif word != STOP:
                _take_in(clause, role, before)
        comma = False
        before = role
    return result


def _ends_before(role: int, pair: int, seen: int, *, comma: bool) -> bool:
    """Whether a word of the grammar ends the clause before it."""
    if not role & (roles.TURN | roles.PAIR):
        return False
    if pair or (role & roles.OVER and seen & roles.PREFERS):
        return True
    return bool(role & roles.TURN and (comma or role & roles.BREAK))


def _take_in(clause: _Reading, role: int, before: int) -> None:
    """Note what a main word of the grammar does to its clause."""
    if role & roles.FORBIDS:
        clause.negations += 1
        main = clause.main
        directs = bool(role & roles.FORBIDS_OUTRIGHT or main is None or main & roles.AUXILIARY)
    elif role & roles.PERMITS:
        directs = bool(role & roles.PERMITS_OUTRIGHT or before & roles.ADDRESSED)
    else:
        directs = not clause.started and role & roles.IMPERATIVE != 0
    clause.directs |= directs
    if role & roles.NECESSARY and before & roles.IS:
        clause.seen |= roles.OBLIGES | roles.COMMANDS  # "is required"
    if (role & roles.NECESSARY and before & roles.NOT_FORM) or (role & roles.NOT and before & roles.NEED):
        clause.seen |= roles.LIFTS
    clause.seen |= role
    if not role & roles.POLITE:
        clause.started = True
    clause.main = role
