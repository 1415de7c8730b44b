"""What retrieval needs to know about shards beyond their vectors, found out once for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from tipstaff.globs import scopes_may_overlap
from tipstaff.guidance.compiling.statements import Statement, excludes, statement, statement_text
from tipstaff.guidance.wording.claims import FORBID, LIFT, MAX_CHARS, topic_words
from tipstaff.guidance.wording.tokenize import plain_clauses
from tipstaff.guidance.wording.word_roles import column, lexicon
from tipstaff.kernels import opposed_texts, stem_hashes
from tipstaff.model import EVERYWHERE, Constitution, GuidanceRule, RuleShard

_MAX_CARDS: Final = 8_192
_MAX_PAIRS: Final = 50_000
_RIVALS_AFTER: Final = 16
"""So many choices are made before all shards are compared, which takes as long as some hundred choices."""
_RIVALS_UP_TO: Final = 4_096
"""Of more shards, those that are chosen together are compared, and no others."""
_BANS: Final = frozenset({FORBID, LIFT})
_NOBODY: Final[frozenset[int]] = frozenset()


class Card(msgspec.Struct, gc=False):
    """A shard and what retrieval needs to know about it, found out once.

    Attributes
    ----------
    row
        Its number.
    shard, rule
        The shard and its rule.
    stated, stems
        What the rule says, and the words that it says it about.
    least_shared
        How many of those an opponent has at least.
    bans
        Whether it forbids something or lifts an obligation.
    topic, topic_hashes
        Stems of the rule's content words, and what `tipstaff.kernels.stem_hashes` makes of them.
    line
        What the policy's text says of it.
    scope
        Where it holds, in words; empty where that is everywhere.
    against
        The id of the constitution rule that it contradicts.
    replaced_by
        The shards of inner folders that replace it there.
    certain
        Whether nothing outside the choice can refuse it: neither a constitution rule nor an inner folder opposes it.
    boosted
        For an intent, why its boosts raise it; filled by who says so.
    """

    row: int
    shard: RuleShard
    rule: GuidanceRule
    stated: Statement
    stems: frozenset[str]
    least_shared: int
    bans: bool
    topic: frozenset[str]
    topic_hashes: bytes
    line: str
    scope: str
    against: str | None
    replaced_by: tuple[int, ...]
    certain: bool
    boosted: dict[str, str]


class Cards:
    """Gives the cards of shards, and remembers them and which of them contradict each other.

    What two rules say does not change, so each pair is looked at once; what is remembered is bounded.

    Parameters
    ----------
    shard
        Gives shard `index`.
    constitution
        The rules that are always loaded.
    overriding
        For the id of a rule in an outer folder, the numbers of the shards that replace it in theirs.
    n_shards
        How many there are.

    Attributes
    ----------
    known
        The cards that are remembered, by the shard's number.
    """

    def __init__(
        self,
        shard: Callable[[int], RuleShard],
        constitution: Constitution,
        overriding: Mapping[str, Sequence[int]],
        n_shards: int,
    ) -> None:
        self._shard = shard
        self._n_shards = n_shards
        self._choices_left = _RIVALS_AFTER if n_shards <= _RIVALS_UP_TO else -1
        self._rivals: dict[int, frozenset[int]] | None = None
        self._overriding = overriding
        overflow = set(constitution.overflow)
        self._laws = [(rule, statement(rule)) for rule in constitution.rules if rule.id not in overflow]
        self._by_stem: dict[str, list[int]] = {}
        for number, (_, stated) in enumerate(self._laws):
            for stem in {stem for claim in stated.claims for stem in claim.topic}:
                self._by_stem.setdefault(stem, []).append(number)
        self.known: dict[int, Card] = {}
        self._undisputed: dict[int, Card] = {}
        self._pairs: dict[tuple[int, int], bool] = {}

    def card(self, row: int) -> Card:
        """Return the card of shard `row`."""
        card = self.known.get(row)
        if card is None:
            shard = self._shard(row)
            rule = shard.rule
            stated = statement(rule)
            directives = [claim for claim in stated.claims if claim.directive]
            everywhere = EVERYWHERE in rule.repo_scopes
            against = self._contradicted(rule, stated)
            replaced_by = self._replacing(rule) if self._overriding else ()
            topic = topic_words(rule.text)
            card = Card(
                row=row,
                shard=shard,
                rule=rule,
                stated=stated,
                stems=frozenset(stem for claim in directives for stem in claim.topic),
                # Topics are the same only if they share half of the larger one.
                least_shared=min(((len(claim.topic) + 1) // 2 for claim in directives), default=1),
                bans=any(claim.polarity in _BANS for claim in directives),
                topic=topic,
                topic_hashes=stem_hashes(topic),
                line=f"- {shard.compact_text}",
                scope="" if everywhere else f"applies to {', '.join(rule.repo_scopes)}",
                against=against,
                replaced_by=replaced_by,
                certain=against is None and not replaced_by,
                boosted={},
            )
            if len(self.known) >= _MAX_CARDS:
                self.known.clear()
            self.known[row] = card
        return card

    @property
    def compared(self) -> bool:
        """Whether all shards were compared with each other, which pays after some choices."""
        return self._rivals is not None

    def undisputed(self, rows: Sequence[int]) -> list[Card] | None:
        """Return the cards of some shards, None where something may oppose one of them; ask once for each choice."""
        if self._choices_left >= 0:
            self._choices_left -= 1
            if self._choices_left < 0:
                self._rivals = _rivals_among([statement_text(self._shard(row).rule) for row in range(self._n_shards)])
        try:
            return list(map(self._undisputed.__getitem__, rows))
        except KeyError:
            pass
        rivals = self._rivals
        if rivals is None:
            return None
        cards = [self.known.get(row) or self.card(row) for row in rows]
        self._undisputed.update({card.row: card for card in cards if card.certain and card.row not in rivals})
        for card in cards:
            if not card.certain or not rivals.get(card.row, _NOBODY).isdisjoint(rows):
                return None
        return cards

    def contradict(self, one: Card, other: Card) -> bool:
        """Return whether two shards say the opposite about the same thing where both hold."""
        key = (one.row, other.row) if one.row < other.row else (other.row, one.row)
        known = self._pairs.get(key)
        if known is None:
            known = (
                one.rule.kind == other.rule.kind == "rule"
                and excludes(one.stated, other.stated)
                and scopes_may_overlap(one.rule.repo_scopes, other.rule.repo_scopes)
            )
            if len(self._pairs) >= _MAX_PAIRS:
                self._pairs.clear()
            self._pairs[key] = known
        return known

    def _replacing(self, rule: GuidanceRule) -> tuple[int, ...]:
        """Return the shards that replace a rule in their folders."""
        return tuple(self._overriding.get(rule.overrides or rule.id, ()))

    def _contradicted(self, rule: GuidanceRule, stated: Statement) -> str | None:
        """Return the id of the constitution rule that a rule contradicts."""
        if rule.kind != "rule":
            return None
        numbers = dict.fromkeys(
            number for claim in stated.claims for stem in claim.topic for number in self._by_stem.get(stem, ())
        )
        for number in numbers:
            law, theirs = self._laws[number]
            if scopes_may_overlap(rule.repo_scopes, law.repo_scopes) and excludes(stated, theirs, law=True):
                return law.id
        return None


def _rivals_among(texts: Sequence[str]) -> dict[int, frozenset[int]] | None:
    """Return for each rule that may contradict another one the rules that it may contradict.

    Some that are named agree after all: the kernel compares topics as hashes and knows no scopes. None where the search
    would take too long.
    """
    pairs, complete = opposed_texts(lexicon(), *column([text[:MAX_CHARS] for text in texts], plain_clauses))
    if not complete:
        return None
    found: dict[int, set[int]] = {}
    for one, other in pairs:
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {position: frozenset(others) for position, others in found.items()}
