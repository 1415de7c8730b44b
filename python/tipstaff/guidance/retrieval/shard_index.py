"""The columns that scoring reads, over a bundle in memory or over a mapped store."""

from __future__ import annotations

import datetime as dt
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.globs import scope_applies
from tipstaff.guidance.compiling.compiler import in_force
from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.retrieval.fused_index import intent_mask, search_blob
from tipstaff.guidance.retrieval.vectors import shard_rows
from tipstaff.model import EVERYWHERE, RISK_CLASSES, RISK_CODES, Constitution, GuidanceRule, PolicyBundle, RuleShard
from tipstaff.store.shards import ShardStore

_DAY_S: Final = 86_400


class ShardIndex:
    """Vectors, masks and scopes of all shards.

    Parameters
    ----------
    search
        The index by words and priors, and of `StaticEmbedding` by meaning (`fused_index`).
    rows
        float32 buffer (n_shards, dimensions), unit rows; empty where `search` has them.
    n_shards
        How many there are.
    intents
        uint16 buffer (n_shards,): `tipstaff.model.INTENT_BITS` joined.
    risks
        uint8 buffer (n_shards,): `tipstaff.model.RISK_CODES`.
    shard
        Gives shard `index`.
    scope_codes, scope_values
        For each shard the place of its scopes among the distinct ones.
    dated
        Numbers of the shards that have dates.
    overriding
        For the id of a rule in an outer folder, the numbers of the shards that replace it in theirs.
    path_codes, path_values
        For each shard the place of its file's path among the distinct ones.
    """

    def __init__(
        self,
        *,
        search: Any,
        rows: Any,
        n_shards: int,
        intents: Any,
        risks: Any,
        shard: Callable[[int], RuleShard],
        constitution: Constitution,
        scope_codes: Any,
        scope_values: tuple[tuple[str, ...], ...],
        dated: tuple[int, ...],
        overriding: dict[str, list[int]],
        path_codes: Sequence[int],
        path_values: tuple[str, ...],
    ) -> None:
        self.search = search
        self.rows = rows
        self.n_shards = n_shards
        self.intents = intents
        self.risks = risks
        self.shard = shard
        self.constitution = constitution
        self.overriding = overriding
        self.path_codes = path_codes
        self.path_values = path_values
        self.masks = ShardMasks(n_shards, shard, scope_codes=scope_codes, scope_values=scope_values, dated=dated)


def index_of_bundle(bundle: PolicyBundle, embedding: Embedding) -> ShardIndex:
    """Embed a bundle's shards and lay out their columns; the bundle is not written to."""
    shards = bundle.shards
    paths: dict[str, int] = {}
    distinct: dict[tuple[str, ...], int] = {}
    codes = [distinct.setdefault(shard.rule.repo_scopes, len(distinct)) for shard in shards]
    dated = tuple(i for i, s in enumerate(shards) if s.rule.active_from is not None or s.rule.active_until is not None)
    return ShardIndex(
        search=search_blob(shards, embedding),
        rows=b"" if type(embedding) is StaticEmbedding else shard_rows(shards, embedding),
        n_shards=len(shards),
        intents=array("H", (intent_mask(shard.rule.intents) for shard in shards)),
        risks=array("B", (_risk_code(shard.rule) for shard in shards)),
        shard=shards.__getitem__,
        constitution=bundle.constitution,
        scope_codes=bytes(codes) if len(distinct) <= 256 else codes,
        scope_values=tuple(distinct),
        dated=dated,
        overriding=_overriding((index, shard.rule.overrides) for index, shard in enumerate(shards)),
        path_codes=[paths.setdefault(shard.rule.path, len(paths)) for shard in shards],
        path_values=tuple(paths),
    )


def index_of_store(store: ShardStore) -> ShardIndex:
    """Lay the columns of a mapped store before the kernels, without a copy."""
    values = store.values("repo_scopes")
    codes = store.codes("repo_scopes")
    return ShardIndex(
        search=store.search,
        rows=store.vectors,
        n_shards=store.n_shards,
        intents=store.intent_masks,
        risks=store.risks,
        shard=store.shard,
        constitution=store.constitution,
        scope_codes=bytes(codes.tolist()) if len(values) <= 256 else codes,
        scope_values=values,
        dated=tuple(sorted({*_filled(store, "active_from"), *_filled(store, "active_until")})),
        overriding=_overriding(_filled(store, "overrides").items()),
        path_codes=store.codes("path"),
        path_values=store.values("path"),
    )


def _filled(store: ShardStore, column: str) -> dict[int, str]:
    """Return the shards that have a value in a column, and the value."""
    values = store.values(column)
    if all(value is None for value in values):
        return {}
    return {row: values[code] for row, code in enumerate(store.codes(column)) if values[code] is not None}


def _overriding(overrides: Iterable[tuple[int, str | None]]) -> dict[str, list[int]]:
    """Return the shards by the id of the rule that they replace in their folder."""
    found: dict[str, list[int]] = {}
    for row, rule_id in overrides:
        if rule_id is not None:
            found.setdefault(rule_id, []).append(row)
    return found


def _risk_code(rule: GuidanceRule) -> int:
    code = RISK_CODES.get(rule.risk_class)
    if code is None:
        msg = f"rule {rule.id}: risk class is {rule.risk_class!r}; it must be one of {', '.join(RISK_CLASSES)}"
        raise ConfigError(msg)
    return code


def current_day() -> str:
    """Return today's ISO date (UTC)."""
    return _day(int(time.time()) // _DAY_S)


@lru_cache(maxsize=2)
def _day(days: int) -> str:
    return (dt.date(1970, 1, 1) + dt.timedelta(days)).isoformat()


@lru_cache(maxsize=64)
def iso_day(day: str) -> str:
    """Return an ISO date as it is.

    Raises
    ------
    ConfigError
        If it is invalid.
    """
    try:
        if dt.date.fromisoformat(day).isoformat() == day:
            return day
    except (TypeError, ValueError):
        pass
    raise ConfigError(f"today is {day!r}; it must be an ISO date such as 2026-11-21")


MAX_MASKS: Final = 64
"""So many are remembered."""
_NUMPY_FROM_ROWS: Final = 5_000


class ShardMasks:
    """Masks of shards: uint8 (n_shards,), 0 for those that are left out; remembered for some questions.

    Parameters
    ----------
    n_shards, shard
        How many there are, and what gives shard `index`.
    scope_codes, scope_values
        For each shard the place of its scopes among the distinct ones.
    dated
        Numbers of the shards that have dates.

    Attributes
    ----------
    has_scopes
        Whether any shard does not hold everywhere.
    known
        The masks that are remembered.
    """

    def __init__(
        self,
        n_shards: int,
        shard: Callable[[int], RuleShard],
        *,
        scope_codes: Any,
        scope_values: tuple[tuple[str, ...], ...],
        dated: tuple[int, ...],
    ) -> None:
        self._n_shards = n_shards
        self._shard = shard
        self._scope_codes = scope_codes
        self._scope_values = scope_values
        self._dated = dated
        self.has_scopes = any(EVERYWHERE not in scopes for scopes in scope_values)
        self.known: dict[tuple[str | None, str], tuple[bytes | None]] = {}
        self._holds: dict[str, tuple[bytes | None]] = {}

    def mask(self, repo_scope: str | None, today: str) -> bytes | None:
        """Return which shards a task may be given, uint8 (n_shards,), None for all.

        Parameters
        ----------
        repo_scope
            Path or glob that the caller works on, a folder with a slash at its end, None for anywhere.
        today
            ISO date against which the rules' dates are held.
        """
        if not repo_scope and not self._dated:
            return None
        key = (repo_scope or None, today if self._dated else "")
        known = self.known.get(key)  # one look only: another thread may empty the table
        if known is not None:
            return known[0]
        mask: bytearray | None = None
        if repo_scope:
            # In a folder a rule about some of its files may hold.
            within = f"{repo_scope}**" if repo_scope.endswith("/") else repo_scope
            applies = bytes(scope_applies(scopes, within) for scopes in self._scope_values)
            if 0 in applies:
                mask = bytearray(_spread(self._scope_codes, applies))
        for index in self._dated:
            if not in_force(self._shard(index).rule, today):
                mask = mask if mask is not None else bytearray(b"\1") * self._n_shards
                mask[index] = 0
        result = bytes(mask) if mask is not None else None
        if len(self.known) >= MAX_MASKS:
            self.known.clear()
        self.known[key] = (result,)
        return result

    def holding(self, paths: tuple[str, ...], mask: bytes | None) -> bytes | None:
        """Return which shards of a mask hold a place by a scope of their own, None where none does."""
        key = "\n".join(paths)
        known = self._holds.get(key)
        if known is None:
            holds = bytes(
                EVERYWHERE not in scopes and any(scope_applies(scopes, path) for path in paths)
                for scopes in self._scope_values
            )
            known = (_spread(self._scope_codes, holds) if 1 in holds else None,)
            if len(self._holds) >= MAX_MASKS:
                self._holds.clear()
            self._holds[key] = known
        held = known[0]
        if held is None or mask is None:
            return held
        both = joined(held, mask)
        return both if 1 in both else None


def joined(left: bytes, right: bytes | None) -> bytes:
    """Return where both masks let a shard through."""
    if right is None:
        return left
    return (int.from_bytes(left, "little") & int.from_bytes(right, "little")).to_bytes(len(left), "little")


def _spread(codes: Any, by_code: bytes) -> bytes:
    """Return for each shard the bits of its code."""
    if len(by_code) <= 256:
        return bytes(codes).translate(by_code.ljust(256, b"\0"))
    if len(codes) < _NUMPY_FROM_ROWS:
        return bytes(map(by_code.__getitem__, codes))
    import numpy as np

    spread: bytes = np.frombuffer(by_code, np.uint8)[np.asarray(codes)].tobytes()
    return spread
