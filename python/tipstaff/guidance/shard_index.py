"""The columns that scoring reads, over a bundle in memory or over a mapped store."""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from tipstaff.guidance.compiler import in_force
from tipstaff.guidance.embeddings import Embedding, HashEmbedding
from tipstaff.guidance.globs import scope_applies
from tipstaff.kernels import quantize_rows, score_topk_f32, score_topk_i8
from tipstaff.model import INTENT_BITS, RISK_CODES, Constitution, PolicyBundle, RuleShard
from tipstaff.store.shards import ShardStore

INT8_FROM_ROWS: Final = 1_000
"""Number of shards from which int8 rows with an exact re-rank beat float32 rows."""
_MAX_MASKS: Final = 64


class ShardSource(Protocol):
    """Anything that gives shards by number."""

    def __call__(self, index: int, /) -> RuleShard: ...


class ShardIndex:
    """Vectors, masks and scopes of all shards.

    Parameters
    ----------
    rows
        float32 buffer (n_shards, dimensions), unit rows, at any alignment.
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
    quantized
        int8 rows, scales, error bounds and mean, or None.
    """

    def __init__(
        self,
        *,
        rows: Any,
        dimensions: int,
        n_shards: int,
        intents: Any,
        risks: Any,
        shard: ShardSource,
        constitution: Constitution,
        scope_codes: Any,
        scope_values: tuple[tuple[str, ...], ...],
        dated: tuple[int, ...],
        quantized: tuple[Any, Any, Any, Any] | None,
    ) -> None:
        self.rows = rows
        self.dimensions = dimensions
        self.n_shards = n_shards
        self.intents = intents
        self.risks = risks
        self.shard = shard
        self.constitution = constitution
        self._scope_codes = scope_codes
        self._scope_values = scope_values
        self._dated = dated
        self._quantized = quantized
        self._masks: dict[tuple[str | None, str], bytes | None] = {}

    def best(
        self, query: Any, mask: bytes | None, *, intent_bit: int, risk_filter: int, boosts: tuple[float, float, float], k: int
    ) -> tuple[Any, Any, Any]:
        """Return (row numbers, scores, cosines) of the k best shards, ties in the order of the rows."""
        if self._quantized is not None:
            codes, scales, errors, mean = self._quantized
            return score_topk_i8(
                self.rows, codes, scales, errors, mean, query, self.intents, self.risks, mask,
                query_intents=intent_bit, risk_filter=risk_filter, boosts=boosts, k=k,
            )  # fmt: skip
        return score_topk_f32(
            self.rows, query, self.intents, self.risks, mask,
            query_intents=intent_bit, risk_filter=risk_filter, boosts=boosts, k=k,
        )  # fmt: skip

    def mask(self, repo_scope: str | None, today: str) -> bytes | None:
        """Return which shards a task may be given, uint8 (n_shards,), None for all.

        Parameters
        ----------
        repo_scope
            Path or glob that the caller works on, None for anywhere.
        today
            ISO date against which the rules' dates are held.
        """
        key = (repo_scope or None, today if self._dated else "")
        if key in self._masks:
            return self._masks[key]
        mask: bytearray | None = None
        if repo_scope:
            applies = bytes(scope_applies(scopes, repo_scope) for scopes in self._scope_values)
            if 0 in applies:
                codes = self._scope_codes
                if len(applies) <= 256:
                    mask = bytearray(bytes(codes).translate(applies.ljust(256, b"\0")))
                else:
                    mask = bytearray(applies[code] for code in codes)
        for index in self._dated:
            if not in_force(self.shard(index).rule, today):
                mask = mask if mask is not None else bytearray(b"\1") * self.n_shards
                mask[index] = 0
        result = bytes(mask) if mask is not None else None
        if len(self._masks) >= _MAX_MASKS:
            self._masks.clear()
        self._masks[key] = result
        return result


def index_of_bundle(bundle: PolicyBundle, embedding: Embedding) -> ShardIndex:
    """Embed a bundle's shards and lay out their columns; the bundle is not written to."""
    shards = bundle.shards
    texts = [shard.compact_text for shard in shards]
    rows: Any
    if isinstance(embedding, HashEmbedding):
        rows = embedding.embed_rows(texts)
    else:
        rows = unit_rows(embedding.embed_batch(texts), len(texts), embedding.dimensions)
    intents = array("H", (mask_of(shard.rule.intents) for shard in shards))
    risks = array("B", (RISK_CODES[shard.rule.risk_class] for shard in shards))
    distinct: dict[tuple[str, ...], int] = {}
    codes = [distinct.setdefault(shard.rule.repo_scopes, len(distinct)) for shard in shards]
    dated = tuple(i for i, s in enumerate(shards) if s.rule.active_from is not None or s.rule.active_until is not None)
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
        quantized=quantize_rows(rows, embedding.dimensions) if len(shards) >= INT8_FROM_ROWS else None,
    )


def index_of_store(store: ShardStore) -> ShardIndex:
    """Lay the columns of a mapped store before the kernels, without a copy."""
    values = store.values("repo_scopes")
    codes = store.codes("repo_scopes")
    dates: Callable[[str], Iterable[tuple[int, Any]]] = lambda name: (  # noqa: E731
        (place, value) for place, value in enumerate(store.values(name)) if value is not None
    )
    dated: set[int] = set()
    for column in ("active_from", "active_until"):
        wanted = {place for place, _ in dates(column)}
        if wanted:
            dated.update(row for row, code in enumerate(store.codes(column)) if code in wanted)
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
        dated=tuple(sorted(dated)),
        quantized=quantized if store.n_shards >= INT8_FROM_ROWS else None,
    )


def unit_rows(vectors: Any, n_rows: int, dimensions: int) -> Any:
    """Check a batch of vectors and return it as float32 rows of length 1 (rows of zeros stay).

    Raises
    ------
    ValueError
        If the shape is not (n_rows, dimensions) or a number is not finite.
    """
    import numpy as np

    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.shape != (n_rows, dimensions):
        msg = f"the embedding gave an array of shape {rows.shape}; it must be ({n_rows}, {dimensions})"
        raise ValueError(msg)
    if not np.isfinite(rows).all():
        msg = "the embedding gave a number that is not finite"
        raise ValueError(msg)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if np.abs(lengths - 1.0).max(initial=0.0) <= 1e-5:
        return rows
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def mask_of(intents: tuple[str, ...]) -> int:
    """Return intents as a bit mask; unknown names count for nothing."""
    mask = 0
    for intent in intents:
        mask |= INTENT_BITS.get(intent, 0)
    return mask


def current_day() -> str:
    """Return today's ISO date (UTC)."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()
