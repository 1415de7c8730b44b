"""The columns that scoring reads, over a bundle in memory or over a mapped store."""

from __future__ import annotations

import datetime as dt
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.retrieval.fused import FusedShards
from tipstaff.guidance.retrieval.fused_index import fused_index, rule_text
from tipstaff.guidance.retrieval.masks import ShardMasks
from tipstaff.guidance.retrieval.vectors import shard_rows
from tipstaff.kernels import Int8Rows, quantize_rows, score_topk_f32
from tipstaff.model import (
    INTENT_BITS,
    RISK_CLASSES,
    RISK_CODES,
    Constitution,
    GuidanceRule,
    PolicyBundle,
    RuleShard,
)
from tipstaff.store.shards import ShardStore

INT8_FROM_ROWS: Final = 256
"""Number of shards from which int8 rows with an exact re-rank beat float32 rows."""
_DAY_S: Final = 86_400


class ShardIndex:
    """Vectors, masks and scopes of all shards.

    Parameters
    ----------
    rows
        float32 buffer (n_shards, dimensions), unit rows, at any alignment; empty where `search` finds them.
    dimensions, n_shards
        Its shape.
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
    quantized
        int8 rows, scales, error bounds and mean, or None.
    tenant_codes, tenant_values
        For each shard the place of its tenant among the distinct ones; None is everybody's.
    tenant_constitutions
        For each tenant that has one of its own, what it always loads.
    search
        The index by meaning, words and priors (`fused_index`), empty for an embedding that has none.
    path_codes, path_values
        For each shard the place of its file's path among the distinct ones.
    """

    def __init__(
        self,
        *,
        rows: Any,
        dimensions: int,
        n_shards: int,
        intents: Any,
        risks: Any,
        shard: Callable[[int], RuleShard],
        constitution: Constitution,
        scope_codes: Any,
        scope_values: tuple[tuple[str, ...], ...],
        dated: tuple[int, ...],
        overriding: dict[str, list[int]],
        quantized: tuple[Any, Any, Any, Any] | None,
        tenant_codes: Any = b"",
        tenant_values: tuple[str | None, ...] = (),
        tenant_constitutions: dict[str, Constitution] | None = None,
        search: Any = b"",
        path_codes: Sequence[int] = (),
        path_values: tuple[str, ...] = (),
    ) -> None:
        self.rows = rows
        self.dimensions = dimensions
        self.n_shards = n_shards
        self.intents = intents
        self.risks = risks
        self.shard = shard
        self.constitution = constitution
        self.overriding = overriding
        self._fused = (search, path_codes, path_values)
        self.masks = ShardMasks(
            n_shards, shard, scope_codes=scope_codes, scope_values=scope_values, dated=dated,
            tenant_codes=tenant_codes, tenant_values=tenant_values,
        )  # fmt: skip
        self._tenant_codes = tenant_codes
        self._tenant_numbers = {tenant: number for number, tenant in enumerate(tenant_values)}
        self._tenant_constitutions = tenant_constitutions or {}
        self._has_tenants = any(tenant is not None for tenant in tenant_values)
        self._int8 = Int8Rows(rows, *quantized, intents, risks) if quantized is not None else None

    def best(
        self,
        query: Any,
        mask: bytes | None,
        *,
        intent_bit: int,
        risk_filter: int,
        boosts: tuple[float, float, float],
        k: int,
        paths: tuple[str, ...] = (),
        path_boost: float = 0.0,
    ) -> tuple[Any, Any, Any]:
        """Return (row numbers, scores, cosines) of the k best shards, ties in the order of the rows.

        Shards whose scope, not being everywhere, holds one of `paths` gain `path_boost`.
        """
        held = self.masks.holding(paths, mask) if paths and path_boost else None
        plain = self._best(query, mask, intent_bit, risk_filter, boosts, k)
        if held is None:
            return plain
        raised = zip(*self._best(query, held, intent_bit, risk_filter, boosts, k), strict=True)
        entries = {row: (score + path_boost, cosine) for row, score, cosine in raised}
        for row, score, cosine in zip(*plain, strict=True):
            entries.setdefault(row, (score, cosine))
        best = sorted(entries.items(), key=lambda entry: (-entry[1][0], entry[0]))[:k]
        return [row for row, _ in best], [score for _, (score, _) in best], [cosine for _, (_, cosine) in best]

    def _best(
        self,
        query: Any,
        mask: bytes | None,
        intent_bit: int,
        risk_filter: int,
        boosts: tuple[float, float, float],
        k: int,
    ) -> tuple[Any, Any, Any]:
        small = self._int8
        if small is None:
            return score_topk_f32(
                self.rows, query, self.intents, self.risks, mask,
                query_intents=intent_bit, risk_filter=risk_filter, boosts=boosts, k=k,
            )  # fmt: skip
        return small.topk(query, mask, query_intents=intent_bit, risk_filter=risk_filter, boosts=boosts, k=k)

    def fused(self, embedding: Embedding, boosts: tuple[float, float, float], path_boost: float) -> FusedShards | None:
        """Return what finds the best shards by meaning, words and priors, None for an embedding without that."""
        blob, codes, values = self._fused
        if type(embedding) is not StaticEmbedding or not len(blob):
            return None
        return FusedShards(
            blob, embedding.table, risks=self.risks, path_codes=codes, path_values=values, masks=self.masks,
            boosts=boosts, path_boost=path_boost,
        )  # fmt: skip

    def constitution_of(self, tenant: str | None) -> Constitution:
        """Return what a tenant always loads."""
        return self._tenant_constitutions.get(tenant, self.constitution) if tenant is not None else self.constitution

    def overriding_of(self, tenant: str | None) -> dict[str, list[int]]:
        """Return `overriding` with the shards that a tenant may see."""
        if not self._has_tenants or not self.overriding:
            return self.overriding
        codes = self._tenant_codes
        seen = {self._tenant_numbers.get(None), self._tenant_numbers.get(tenant)}
        found = {rule_id: [row for row in rows if codes[row] in seen] for rule_id, rows in self.overriding.items()}
        return {rule_id: rows for rule_id, rows in found.items() if rows}

    def knows(self, tenant: str | None) -> bool:
        """Whether a tenant has anything of its own here."""
        return tenant is not None and (tenant in self._tenant_numbers or tenant in self._tenant_constitutions)

    def mask(self, repo_scope: str | None, today: str, tenant: str | None = None) -> bytes | None:
        """Return which shards a task may be given, as `ShardMasks.mask` says."""
        return self.masks.mask(repo_scope, today, tenant)


def index_of_bundle(bundle: PolicyBundle, embedding: Embedding) -> ShardIndex:
    """Embed a bundle's shards and lay out their columns; the bundle is not written to."""
    shards = bundle.shards
    search = search_blob(shards, embedding)
    rows = b"" if search else shard_rows(shards, embedding)
    paths: dict[str, int] = {}
    intents = array("H", (mask_of(shard.rule.intents) for shard in shards))
    risks = array("B", (_risk_code(shard.rule) for shard in shards))
    tenants: dict[str | None, int] = {}
    owners = [tenants.setdefault(shard.rule.tenant, len(tenants)) for shard in shards]
    distinct: dict[tuple[str, ...], int] = {}
    codes = [distinct.setdefault(shard.rule.repo_scopes, len(distinct)) for shard in shards]
    dated = tuple(i for i, s in enumerate(shards) if s.rule.active_from is not None or s.rule.active_until is not None)
    quantized = quantize_rows(rows, embedding.dimensions) if not search and len(shards) >= INT8_FROM_ROWS else None
    return ShardIndex(
        rows=rows,
        dimensions=embedding.dimensions,
        n_shards=len(shards),
        intents=intents,
        risks=risks,
        shard=shards.__getitem__,
        constitution=bundle.constitution,
        scope_codes=bytes(codes) if len(distinct) <= 256 else codes,
        scope_values=tuple(distinct),
        dated=dated,
        overriding=_overriding((index, shard.rule.overrides) for index, shard in enumerate(shards)),
        quantized=quantized,
        tenant_codes=bytes(owners) if len(tenants) <= 256 else array("i", owners),
        tenant_values=tuple(tenants),
        tenant_constitutions=bundle.tenant_constitutions,
        search=search,
        path_codes=[paths.setdefault(shard.rule.path, len(paths)) for shard in shards],
        path_values=tuple(paths),
    )


def index_of_store(store: ShardStore) -> ShardIndex:
    """Lay the columns of a mapped store before the kernels, without a copy."""
    values = store.values("repo_scopes")
    codes = store.codes("repo_scopes")
    tenants: tuple[str | None, ...] = store.values("tenant")
    owners = store.codes("tenant")
    dated = sorted({*_filled(store, "active_from"), *_filled(store, "active_until")})
    overrides = _filled(store, "overrides")
    many = store.n_shards >= INT8_FROM_ROWS and len(store.rows_i8) > 0
    quantized = (store.rows_i8, store.scales, store.error_bounds, store.mean)
    return ShardIndex(
        rows=store.vectors,
        dimensions=store.dims,
        n_shards=store.n_shards,
        intents=store.intent_masks,
        risks=store.risks,
        shard=store.shard,
        constitution=store.constitution,
        scope_codes=bytes(codes.tolist()) if len(values) <= 256 else codes,
        scope_values=values,
        dated=tuple(dated),
        overriding=_overriding(overrides.items()),
        quantized=quantized if many else None,
        tenant_codes=bytes(owners.tolist()) if len(tenants) <= 256 else owners,
        tenant_values=tenants,
        tenant_constitutions=store.tenant_constitutions,
        search=store.search,
        path_codes=store.codes("path"),
        path_values=store.values("path"),
    )


def search_blob(shards: Sequence[RuleShard], embedding: Embedding) -> bytes:
    """Return the index of shards by meaning, words and priors, empty for an embedding that has none."""
    if type(embedding) is not StaticEmbedding:
        return b""
    return fused_index([rule_text(shard) for shard in shards], embedding)


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


def mask_of(intents: tuple[str, ...]) -> int:
    """Return intents as a bit mask; unknown names count for nothing."""
    mask = 0
    for intent in intents:
        mask |= INTENT_BITS.get(intent, 0)
    return mask


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
    msg = f"today is {day!r}; it must be an ISO date such as 2026-11-21"
    raise ConfigError(msg)
