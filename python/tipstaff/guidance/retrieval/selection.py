"""Choosing among the best shards: rules that contradict each other are not given together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tipstaff.errors import require_whole_number
from tipstaff.globs import leading_folder, matches_any
from tipstaff.guidance.compiling.choices import conflicting_choices
from tipstaff.guidance.compiling.compiler import in_force
from tipstaff.guidance.retrieval.search import Hit, Question
from tipstaff.guidance.retrieval.shard_profiles import Card, Cards
from tipstaff.model import DroppedShard, GuidanceRule

_MAX_COMPARED: Final = 1_024
"""Shards beyond so many for one task are compared with the first ones only: the work stays linear."""
_MAGIC: Final = frozenset("*?[]{}\\")


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
    question
        What is asked: how many are wanted, where the caller works, and on which day.
    """

    def __init__(self, cards: Cards, question: Question) -> None:
        within = question.scope
        self._cards = cards
        self._max_shards = question.most
        self._within = within
        self._today = question.today
        # Of a glob only the folder that it begins with is certain.
        self._inside = within if within is None or _MAGIC.isdisjoint(within) else leading_folder(within)

    def choose(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[Card], tuple[DroppedShard, ...], bool]:
        """Take shards in the order of their scores until there are enough, as `_choose`, without outer choices.

        Of two rules that choose differently ("tabs", and in ``web/`` "2 spaces") the nearer one alone is given.
        """
        found = self._choose(hits)
        if not self._inside or len({card.rule.depth for card in found[1]}) < 2:
            return found
        outer = self._outer_choices([card.rule for card in found[1]])
        if not outer:
            return found
        rows = {hit.row for hit, card in zip(found[0], found[1], strict=True) if card.rule.id in outer}
        taken, cards, dropped, exhausted = self._choose([hit for hit in hits if hit.row not in rows])
        return taken, cards, (*dropped, *outer.values()), exhausted

    def _outer_choices(self, rules: list[GuidanceRule]) -> dict[str, DroppedShard]:
        """Return the rules whose choice a nearer one of some rules makes differently, by id."""
        found: dict[str, DroppedShard] = {}
        for left, right in conflicting_choices(rules):
            far, near = sorted((rules[left], rules[right]), key=lambda rule: rule.depth)
            if far.depth < near.depth and self._covers(near):
                reason = f"{near.path} is nearer to {self._within}"
                found[far.id] = DroppedShard(id=far.id, kept=near.id, reason=reason)
        return found

    def _choose(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[Card], tuple[DroppedShard, ...], bool]:
        """Take shards in the order of their scores until there are enough.

        Returns
        -------
        tuple
            The hits taken and their cards, what was dropped, and whether the candidates ran out before there were
            enough.
        """
        wanted = self._max_shards
        first = list(hits[:wanted])
        cards = self._cards.undisputed([hit.row for hit in first])
        if cards is not None:
            return first, cards, (), False
        known, card_of = self._cards.known, self._cards.card
        standing: list[Card] = []  # all that are not refused outright
        taken: list[Hit] = []
        disputes: _Disputes | None = None
        lost: dict[int, int] = {}
        refused: list[DroppedShard] = []
        for hit in hits:
            if len(standing) - len(lost) >= wanted:
                break
            card = known.get(hit.row) or card_of(hit.row)
            if not card.certain and (refusal := self._refusal(card)) is not None:
                refused.append(refusal)
                continue
            if disputes is not None:
                disputes.add(card)
            elif card.bans:  # one of two rules that contradict each other bans something
                disputes = _Disputes(standing, self._exclude, self._rank)
                lost = disputes.lost
                disputes.add(card)
            standing.append(card)
            taken.append(hit)
        if lost:
            given = self._given(len(standing), lost)
            for position in sorted(lost):
                if lost[position] in given:
                    strong, weak = standing[lost[position]].rule, standing[position].rule
                    refused.append(DroppedShard(id=weak.id, kept=strong.id, reason=self._why(strong, weak)))
            taken = [hit for position, hit in enumerate(taken) if position in given]
            standing = [card for position, card in enumerate(standing) if position in given]
        return taken, standing, tuple(refused), len(standing) < wanted and bool(refused)

    def _given(self, count: int, lost: dict[int, int]) -> set[int]:
        """Return which of the shards that stay are given.

        They are more than wanted where one that came last won over one that had kept others out: those that won are
        given first, since others are left out for them.
        """
        winners = sorted({*lost.values()})[: self._max_shards]
        others = [position for position in range(count) if position not in lost and position not in winners]
        return {*winners, *others[: self._max_shards - len(winners)]}

    def _refusal(self, card: Card) -> DroppedShard | None:
        """Return why a rule cannot stay whatever else is chosen."""
        if card.against is not None:
            return DroppedShard(id=card.rule.id, kept=card.against, reason="it contradicts the constitution")
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
    """Which of the shards that are so far exclude each other, and who loses.

    Attributes
    ----------
    banning
        Places of the shards that ban something.
    lost
        For each shard that is out, by its place, the place of the one that stays instead.
    """

    def __init__(
        self,
        standing: list[Card],
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
        """Look for opponents of the shard that is going to be next."""
        standing, stems, least = self._standing, card.stems, card.least_shared
        position = len(standing)
        opponents = [
            other
            for other in (range(min(position, _MAX_COMPARED)) if card.bans else self.banning)
            if not stems.isdisjoint((rival := standing[other]).stems)
            and len(stems & rival.stems) >= least
            and self._exclude(card, rival)
        ]
        if card.bans and position < _MAX_COMPARED:
            self.banning.append(position)
        if opponents:
            self._against[position] = opponents
            for other in opponents:
                self._against.setdefault(other, []).append(position)
            self._settle(position, card)

    def _settle(self, position: int, card: Card) -> None:
        """Settle the shards that hang together with one: the strongest stays, and what contradicts none that stays."""
        group = {position}
        pending = [position]
        while pending:
            for other in self._against[pending.pop()]:
                if other not in group:
                    group.add(other)
                    pending.append(other)
        for member in group:
            self.lost.pop(member, None)
        cards = {member: card if member == position else self._standing[member] for member in group}
        for member in sorted(group, key=lambda member: (self._rank(cards[member].rule), member)):
            if member not in self.lost:
                for other in self._against[member]:
                    self.lost.setdefault(other, member)


MOST_SHARDS: Final = 5
"""Shards that are given at most where nobody says how many."""
PROMPT_TOKENS: Final = 800
"""What the hook and the command line give for a task (ADR-G001: 200 to 800)."""
MOST_BY_TOKENS: Final = 40
"""The same where as many are wanted as fit."""


def most_shards(max_shards: int | None, max_tokens: int | None) -> int:
    """Return how many shards may be given at most; None is as many as fit."""
    if max_tokens is not None:
        require_whole_number("max_tokens", max_tokens, 0)
    if max_shards is None:
        return MOST_BY_TOKENS
    require_whole_number("max_shards", max_shards, 0)
    return max_shards


def positions_within(lines: Sequence[str], max_tokens: int) -> list[int]:
    """Return the positions of the lines that fit into so many tokens, passing over those that do not."""
    kept: list[int] = []
    left = max_tokens
    for position, line in enumerate(lines):
        cost = len(line) // 4 + 1
        if cost <= left:
            left -= cost
            kept.append(position)
    return kept
