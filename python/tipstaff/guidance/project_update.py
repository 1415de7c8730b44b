"""Updating a store: what did not change is taken from the former one, neither embedded nor quantised again.

A shard's vector depends on nothing but the embedding and the words that it is given; those are the key. Its int8 row
also depends on the row that all are centred on. Any centre gives exact answers, a near one fast ones, so
the former centre is kept as long as at least half of the shards are. Dates of rules say how long a store holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tipstaff.errors import StoreError
from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.retrieval.vectors import shard_rows
from tipstaff.model import PolicyBundle, RuleShard
from tipstaff.store.shards import ShardStore


class Columns(NamedTuple):
    """The numbers of a store that is to be written.

    Attributes
    ----------
    vectors
        float32 (n_shards, dimensions), or the bytes of it.
    quantized
        int8 rows, scales, error bounds, mean; None where the writer is to make them.
    n_embedded
        How many shards were embedded.
    """

    vectors: Any
    quantized: tuple[Any, Any, Any, Any] | None
    n_embedded: int


def shard_columns(
    shards: Sequence[RuleShard],
    embedding: Embedding,
    former: ShardStore | None = None,
    former_shards: Sequence[RuleShard] = (),
) -> Columns:
    """Return the columns of shards, copying the rows of those that a former store has.

    Parameters
    ----------
    shards
        What is to be stored.
    embedding
        Turns their words into vectors.
    former, former_shards
        The store that is replaced, and what it holds; of another embedding it is not used.
    """
    positions = _former_positions(embedding, former, former_shards)
    taken = [positions.get(_key(shard, embedding), -1) for shard in shards] if positions else []
    fresh = [index for index, position in enumerate(taken) if position < 0]
    if former is None or len(fresh) == len(taken):
        return Columns(shard_rows(shards, embedding), None, len(shards))
    import numpy as np

    dims, n_shards = embedding.dimensions, len(shards)
    try:
        former.verify()  # of a large store not every byte was read when it was opened
    except StoreError:
        return Columns(shard_rows(shards, embedding), None, n_shards)
    source = np.asarray(taken)
    old = np.flatnonzero(source >= 0)
    new = np.asarray(fresh, dtype=np.int64)
    vectors = np.empty((n_shards, dims), dtype=np.float32)
    vectors[old] = np.asarray(former.vectors).reshape(-1, dims)[source[old]]
    if fresh:
        made = shard_rows([shards[index] for index in fresh], embedding)
        vectors[new] = np.frombuffer(made, dtype=np.float32).reshape(-1, dims)
    if 2 * len(old) < n_shards:
        return Columns(vectors, None, len(fresh))
    from tipstaff.kernels import quantize_rows

    mean = former.mean
    some = memoryview(np.ascontiguousarray(vectors[new]).tobytes()).cast("f")
    codes, scales, errors, _ = quantize_rows(some, dims, mean)
    kept = (np.asarray(former.rows_i8).reshape(-1, dims), np.asarray(former.scales), np.asarray(former.error_bounds))
    added = (np.asarray(codes).reshape(-1, dims), np.asarray(scales), np.asarray(errors))
    quantized: list[Any] = []
    for column, further in zip(kept, added, strict=True):
        whole = np.empty((n_shards, *column.shape[1:]), dtype=column.dtype)
        whole[old], whole[new] = column[source[old]], further
        quantized.append(whole)
    return Columns(vectors, (quantized[0], quantized[1], quantized[2], mean), len(fresh))


def _former_positions(
    embedding: Embedding, former: ShardStore | None, former_shards: Sequence[RuleShard]
) -> dict[object, int]:
    """Return the rows of a former store by their keys."""
    if former is None or (former.embedding_identity, former.dims) != (embedding.identity, embedding.dimensions):
        return {}
    return {_key(shard, embedding): position for position, shard in enumerate(former_shards)}


def _key(shard: RuleShard, embedding: Embedding) -> object:
    """Return what the embedding is given of a shard; see `shard_rows`."""
    return (shard.rule.text, shard.rule.heading) if hasattr(embedding, "rule_rows") else shard.compact_text


def last_day_valid(bundle: PolicyBundle, today: str) -> str:
    """Return the last ISO date on which the same rules are in force as today, empty if that never changes."""
    import datetime as dt

    ends: list[str] = []
    for rule in bundle.rules():
        if rule.active_until is not None and rule.active_until >= today:
            ends.append(rule.active_until)
        if rule.active_from is not None and rule.active_from > today:
            ends.append((dt.date.fromisoformat(rule.active_from) - dt.timedelta(days=1)).isoformat())
    return min(ends, default="")
