"""Choosing among the best shards: rules that contradict each other are not given together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from tipstaff.globs import leading_folder, matches_any, scopes_may_overlap
from tipstaff.guidance.claims import FORBID, LIFT, Claim, claims, opposed, topic_words
from tipstaff.guidance.compiler import in_force
from tipstaff.guidance.rivals import rivals_among
from tipstaff.model import EVERYWHERE, Constitution, DroppedShard, GuidanceRule, RuleShard

_MAX_CARDS: Final = 8_192
_MAX_PAIRS: Final = 50_000
_RIVALS_AFTER: Final = 16
"""So many choices are made before all shards are compared, which takes as long as some hundred choices."""
_RIVALS_UP_TO: Final = 4_096
"""Of more shards, those that are chosen together are compared, and no others."""
_MAX_COMPARED: Final = 1_024
"""Shards beyond so many for one task are compared with the first ones only: the work stays linear."""
_BANS: Final = frozenset({FORBID, LIFT})
_MAGIC: Final = frozenset("*?[]{}\\")


class Card(msgspec.Struct, gc=False):
    """A shard and what retrieval needs to know about it, found out once.

    Attributes
    ----------
    row
        Its number.
    shard, rule
        The shard and its rule.
    said, stems
        What the rule says, and the words that it says it about.
    least_shared
        How many of those an opponent has at least.
    bans
        Whether it forbids something or lifts an obligation.
    topic
        Stems of the rule's content words.
    place
        Where it holds, in words; empty where that is everywhere.
    law
        The id of the constitution rule that it contradicts.
    replaced_by
        The shards of inner folders that replace it there.
    certain
        Whether nothing outside the choice can refuse it: neither a law nor an inner folder speaks against it.
    boosted
        For an intent, why its boosts raise it; filled by who says so.
    """

    row: int
    shard: RuleShard
    rule: GuidanceRule
    said: tuple[Claim, ...]
    stems: frozenset[str]
    least_shared: int
    bans: bool
    topic: frozenset[str]
    place: str
    law: str | None
    replaced_by: tuple[int, ...]
    certain: bool
    boosted: dict[str, str]


class Taken(msgspec.Struct, gc=False):
    """A shard that stays, for now."""

    card: Card
    score: float
    cosine: float


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
        self._laws = [(rule, claims(rule.text)) for rule in constitution.rules if rule.id not in overflow]
        self._by_stem: dict[str, list[int]] = {}
        for place, (_, said) in enumerate(self._laws):
            for stem in {stem for claim in said for stem in claim.topic}:
                self._by_stem.setdefault(stem, []).append(place)
        self.known: dict[int, Card] = {}
        self._pairs: dict[tuple[int, int], bool] = {}

    def card(self, row: int) -> Card:
        """Return the card of shard `row`."""
        card = self.known.get(row)
        if card is None:
            shard = self._shard(row)
            rule = shard.rule
            said = claims(rule.text)
            told = [claim for claim in said if claim.directive]
            everywhere = EVERYWHERE in rule.repo_scopes
            law = self._law(rule, said)
            replaced_by = self._replacing(rule) if self._overriding else ()
            card = Card(
                row=row,
                shard=shard,
                rule=rule,
                said=said,
                stems=frozenset(stem for claim in told for stem in claim.topic),
                # Topics are the same only if they share half of the larger one.
                least_shared=min(((len(claim.topic) + 1) // 2 for claim in told), default=1),
                bans=any(claim.polarity in _BANS for claim in told),
                topic=topic_words(rule.text),
                place="" if everywhere else f"holds in {', '.join(rule.repo_scopes)}",
                law=law,
                replaced_by=replaced_by,
                certain=law is None and not replaced_by,
                boosted={},
            )
            if len(self.known) >= _MAX_CARDS:
                self.known.clear()
            self.known[row] = card
        return card

    def rivals(self) -> dict[int, frozenset[int]] | None:
        """Return which shards may contradict which others, None where that is not known; ask once for each choice.

        Few choices are quicker without it, and many with it.
        """
        if self._choices_left >= 0:
            self._choices_left -= 1
            if self._choices_left < 0:
                self._rivals = rivals_among([self._shard(row).rule.text for row in range(self._n_shards)])
        return self._rivals

    def contradict(self, one: Card, other: Card) -> bool:
        """Return whether two shards say the opposite about the same thing where both hold."""
        key = (one.row, other.row) if one.row < other.row else (other.row, one.row)
        known = self._pairs.get(key)
        if known is None:
            known = opposed(one.said, other.said) > 0 and scopes_may_overlap(
                one.rule.repo_scopes, other.rule.repo_scopes
            )
            if len(self._pairs) >= _MAX_PAIRS:
                self._pairs.clear()
            self._pairs[key] = known
        return known

    def _replacing(self, rule: GuidanceRule) -> tuple[int, ...]:
        """Return the shards that replace a rule in their folders: tenants may use one id for different rules."""
        rows = self._overriding.get(rule.overrides or rule.id, ())
        return tuple(row for row in rows if self._shard(row).rule.tenant == rule.tenant)

    def _law(self, rule: GuidanceRule, said: tuple[Claim, ...]) -> str | None:
        """Return the id of the constitution rule that a rule contradicts."""
        places = dict.fromkeys(place for claim in said for stem in claim.topic for place in self._by_stem.get(stem, ()))
        for place in places:
            law, theirs = self._laws[place]
            if scopes_may_overlap(rule.repo_scopes, law.repo_scopes) and opposed(said, theirs):
                return law.id
        return None


class Selection:
    """One choice among shards, for a caller who works somewhere, on a day.

    Of rules that contradict each other the one that stays is, in this order: the constitution's; the one of the
    innermost folder, where the caller works in it; the one of higher priority; the one of higher score. A rule is
    dropped only for one that stays. A rule that is replaced in the folder that the caller works in is dropped, whether
    the other one is among the best or not.

    Parameters
    ----------
    cards
        Of all shards.
    max_shards
        How many are wanted, at least 1.
    within
        What the caller works on, a path or a glob, None for anything.
    today
        ISO date; a rule out of force replaces nothing.
    """

    def __init__(self, cards: Cards, max_shards: int, *, within: str | None, today: str) -> None:
        self._cards = cards
        self._max_shards = max_shards
        self._within = within
        self._today = today
        # Of a glob only the folder that it begins with is certain.
        self._inside = within if within is None or _MAGIC.isdisjoint(within) else leading_folder(within)

    def choose(
        self, rows: Sequence[int], scores: Sequence[float], cosines: Sequence[float]
    ) -> tuple[list[Taken], tuple[DroppedShard, ...], bool]:
        """Take shards in the order of their scores until there are enough.

        Returns
        -------
        tuple
            The shards taken, those dropped, and whether the candidates ran out before there were enough.
        """
        wanted = self._max_shards
        if (rivals := self._cards.rivals()) is not None:
            peaceful = self._choose_peaceful(rivals, rows, scores, cosines)
            if peaceful is not None:
                return peaceful, (), False
        known, card_of = self._cards.known, self._cards.card
        standing: list[Taken] = []  # all that are not refused outright
        disputes: _Disputes | None = None
        lost: dict[int, int] = {}
        refused: list[DroppedShard] = []
        for row, score, cosine in zip(rows, scores, cosines, strict=True):
            if len(standing) - len(lost) >= wanted:
                break
            card = known.get(row) or card_of(row)
            if not card.certain and (refusal := self._refusal(card)) is not None:
                refused.append(refusal)
                continue
            if disputes is not None:
                disputes.add(card)
            elif card.bans:  # one of two rules that contradict each other bans something
                disputes = _Disputes(standing, self._exclude, self._rank)
                lost = disputes.lost
                disputes.add(card)
            standing.append(Taken(card, score, cosine))
        if lost:
            for place in sorted(lost):
                strong, weak = standing[lost[place]].card.rule, standing[place].card.rule
                refused.append(DroppedShard(id=weak.id, kept=strong.id, reason=self._why(strong, weak)))
            standing = [one for place, one in enumerate(standing) if place not in lost]
        return standing, tuple(refused), len(standing) < wanted and bool(refused)

    def _choose_peaceful(
        self,
        rivals: Mapping[int, frozenset[int]],
        rows: Sequence[int],
        scores: Sequence[float],
        cosines: Sequence[float],
    ) -> list[Taken] | None:
        """Take the first shards as they come, None where something may speak against one of them."""
        known, card_of = self._cards.known, self._cards.card
        rows = rows[: self._max_shards]
        taken: list[Taken] = []
        for row, score, cosine in zip(rows, scores, cosines, strict=False):
            card = known.get(row) or card_of(row)
            if not card.certain or (row in rivals and not rivals[row].isdisjoint(rows)):
                return None
            taken.append(Taken(card, score, cosine))
        return taken

    def _refusal(self, card: Card) -> DroppedShard | None:
        """Return why a rule cannot stay whatever else is chosen."""
        if card.law is not None:
            return DroppedShard(id=card.rule.id, kept=card.law, reason="it contradicts the constitution")
        inner = self._replacement(card)
        if inner is None:
            return None
        return DroppedShard(id=card.rule.id, kept=inner.id, reason=f"{inner.id} of {inner.path} replaces it there")

    def _replacement(self, card: Card) -> GuidanceRule | None:
        """Return the innermost rule that replaces another one where the caller works."""
        depth = card.rule.depth
        found: GuidanceRule | None = None
        for row in card.replaced_by:
            rule = self._cards.card(row).rule
            if rule.depth > depth and self._covers(rule) and in_force(rule, self._today):
                depth, found = rule.depth, rule
        return found

    def _rank(self, rule: GuidanceRule) -> tuple[bool, int, int]:
        """Return what sorts the strongest rule first."""
        return not rule.is_constitution, -rule.depth if self._inside else 0, -rule.priority

    def _exclude(self, one: Card, other: Card) -> bool:
        """Return whether two shards cannot both be given."""
        if not self._cards.contradict(one, other):
            return False
        left, right = one.rule, other.rule
        if left.depth == right.depth or left.is_constitution != right.is_constitution:
            return True
        # Where the caller may work in both folders, each rule says in which one it holds.
        return self._covers(left if left.depth > right.depth else right)

    def _why(self, strong: GuidanceRule, weak: GuidanceRule) -> str:
        if strong.is_constitution and not weak.is_constitution:
            return "it contradicts a rule of the constitution"
        if strong.depth != weak.depth:
            return f"{strong.path} is nearer to {self._within}"
        if strong.priority != weak.priority:
            return f"priority {strong.priority} over {weak.priority}"
        return f"equal priority {strong.priority}, lower score"

    def _covers(self, rule: GuidanceRule) -> bool:
        """Whether a rule holds for all that the caller works on."""
        return bool(self._inside) and matches_any(rule.repo_scopes, self._inside or "")


class _Disputes:
    """Which of the shards that stand so far exclude each other, and who loses.

    Attributes
    ----------
    banning
        Places of the shards that ban something.
    lost
        For each shard that is out, by its place, the place of the one that stays instead.
    """

    def __init__(
        self,
        standing: list[Taken],
        exclude: Callable[[Card, Card], bool],
        rank: Callable[[GuidanceRule], tuple[bool, int, int]],
    ) -> None:
        self._standing = standing
        self._exclude = exclude
        self._rank = rank
        self._against: dict[int, list[int]] = {}
        self.banning: list[int] = []
        self.lost: dict[int, int] = {}

    def add(self, card: Card) -> None:
        """Look for opponents of the shard that is going to stand next."""
        standing, stems, least = self._standing, card.stems, card.least_shared
        place = len(standing)
        opponents = [
            other
            for other in (range(min(place, _MAX_COMPARED)) if card.bans else self.banning)
            if not stems.isdisjoint((rival := standing[other].card).stems)
            and len(stems & rival.stems) >= least
            and self._exclude(card, rival)
        ]
        if card.bans and place < _MAX_COMPARED:
            self.banning.append(place)
        if opponents:
            self._against[place] = opponents
            for other in opponents:
                self._against.setdefault(other, []).append(place)
            self._settle(place, card)

    def _settle(self, place: int, card: Card) -> None:
        """Settle the shards that hang together with one: the strongest stays, and what contradicts none that stays."""
        group = {place}
        pending = [place]
        while pending:
            for other in self._against[pending.pop()]:
                if other not in group:
                    group.add(other)
                    pending.append(other)
        for member in group:
            self.lost.pop(member, None)
        cards = {member: card if member == place else self._standing[member].card for member in group}
        for member in sorted(group, key=lambda member: (self._rank(cards[member].rule), member)):
            if member not in self.lost:
                for other in self._against[member]:
                    self.lost.setdefault(other, member)
