"""Choosing among the best shards: rules that contradict each other are not given together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from tipstaff.guidance.conflicts import Claim, claims, opposed
from tipstaff.guidance.globs import scopes_may_overlap
from tipstaff.model import Constitution, DroppedShard, GuidanceRule, RuleShard

_MAX_REMEMBERED: Final = 50_000


class Taken(msgspec.Struct, gc=False):
    """A shard that stays, for now."""

    row: int
    score: float
    cosine: float
    shard: RuleShard


class Opponents:
    """Remembers which shards contradict each other or the constitution.

    What two rules say does not change, so each pair is looked at once; what is remembered is bounded.
    """

    def __init__(self, shard: Callable[[int], RuleShard], constitution: Constitution) -> None:
        self.shard = shard
        self._constitution = [(rule, claims(rule.text)) for rule in constitution.rules if rule.id not in constitution.overflow]
        self._by_stem: dict[str, list[int]] = {}
        for place, (_, said) in enumerate(self._constitution):
            for stem in {stem for claim in said for stem in claim.topic}:
                self._by_stem.setdefault(stem, []).append(place)
        self._claims: dict[int, tuple[Claim, ...]] = {}
        self._pairs: dict[tuple[int, int], bool] = {}
        self._refused: dict[int, str | None] = {}

    def claims_of(self, row: int, rule: GuidanceRule) -> tuple[Claim, ...]:
        """Return what shard `row` says."""
        said = self._claims.get(row)
        if said is None:
            if len(self._claims) >= _MAX_REMEMBERED:
                self._claims.clear()
            said = self._claims[row] = claims(rule.text)
        return said

    def in_constitution(self, row: int, rule: GuidanceRule) -> str | None:
        """Return the id of the constitution rule that shard `row` contradicts, None for none."""
        if not self._constitution:
            return None
        if row in self._refused:
            return self._refused[row]
        said = self.claims_of(row, rule)
        places = dict.fromkeys(place for claim in said for stem in claim.topic for place in self._by_stem.get(stem, ()))
        opponent = None
        for place in places:
            other, theirs = self._constitution[place]
            if scopes_may_overlap(rule.repo_scopes, other.repo_scopes) and opposed(said, theirs):
                opponent = other.id
                break
        if len(self._refused) >= _MAX_REMEMBERED:
            self._refused.clear()
        self._refused[row] = opponent
        return opponent

    def contradict(self, row: int, rule: GuidanceRule, other_row: int, other: GuidanceRule) -> bool:
        """Return whether two shards say the opposite about the same thing where both hold."""
        key = (row, other_row) if row < other_row else (other_row, row)
        known = self._pairs.get(key)
        if known is None:
            known = (
                opposed(self.claims_of(row, rule), self.claims_of(other_row, other)) > 0
                and scopes_may_overlap(rule.repo_scopes, other.repo_scopes)
            )
            if len(self._pairs) >= _MAX_REMEMBERED:
                self._pairs.clear()
            self._pairs[key] = known
        return known


def select(
    opponents: Opponents, rows: Any, scores: Any, cosines: Any, max_shards: int, *, within: str | None
) -> tuple[list[Taken], tuple[DroppedShard, ...], bool]:
    """Take shards in the order of their scores until there are enough.

    A shard that contradicts the constitution is dropped. Of two shards that contradict each other one is dropped: the
    one of the outer folder where the caller works in the inner one's, else the one of lower priority, else the one of
    lower score. A shard whose rule is overridden in the caller's folder is dropped.

    Returns
    -------
    tuple
        The shards taken, those dropped, and whether the candidates ran out before there were enough.
    """
    taken: list[Taken] = []
    dropped: list[DroppedShard] = []
    for row, score, cosine in zip(rows, scores, cosines, strict=True):
        if len(taken) >= max_shards:
            return taken, tuple(dropped), False
        shard = opponents.shard(row)
        rule = shard.rule
        law = opponents.in_constitution(row, rule)
        if law is not None:
            dropped.append(DroppedShard(id=rule.id, kept=law, reason="it contradicts the constitution"))
            continue
        beaten: list[tuple[Taken, str]] = []
        lost: tuple[str, str] | None = None
        for other in taken:
            verdict = _verdict(opponents, row, rule, other, within)
            if verdict is None:
                continue
            wins, why = verdict
            if wins:
                beaten.append((other, why))
            else:
                lost = (other.shard.rule.id, why)
                break
        if lost is not None:
            dropped.append(DroppedShard(id=rule.id, kept=lost[0], reason=lost[1]))
            continue
        for other, why in beaten:
            taken.remove(other)
            dropped.append(DroppedShard(id=other.shard.rule.id, kept=rule.id, reason=why))
        taken.append(Taken(row, score, cosine, shard))
    return taken, tuple(dropped), len(taken) < max_shards and bool(dropped)


def _verdict(
    opponents: Opponents, row: int, rule: GuidanceRule, other: Taken, within: str | None
) -> tuple[bool, str] | None:
    """Return whether a rule beats one that was taken, and why; None where both may stay."""
    rival = other.shard.rule
    if within is not None and rule.overrides == rival.id:
        return True, f"{rule.id} replaces it in {rule.path.rsplit('/', 1)[0]}/"
    if within is not None and rival.overrides == rule.id:
        return False, f"{rival.id} replaces it in {rival.path.rsplit('/', 1)[0]}/"
    if not opponents.contradict(row, rule, other.row, rival):
        return None
    if rule.depth != rival.depth:
        if within is None:
            return None  # each says in which folder it holds
        nearer = rule if rule.depth > rival.depth else rival
        return nearer is rule, f"{nearer.path} is nearer to {within}"
    if rule.priority != rival.priority:
        return rule.priority > rival.priority, f"priority {max(rule.priority, rival.priority)} over {min(rule.priority, rival.priority)}"
    return False, f"equal priority {rule.priority}, lower score"
