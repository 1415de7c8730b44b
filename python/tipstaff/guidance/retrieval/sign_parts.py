"""Very many shards: the signs of their vectors choose those that are scored.

Rows are cut into as many parts on every machine, and each part brings as many candidates, so that the answer does not
depend on how many processors there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from tipstaff.budgets import SIGN_CANDIDATES
from tipstaff.guidance.retrieval.scoring_threads import by_turns
from tipstaff.kernels import score_topk_signs

MAX_BY_SIGNS: Final = 128
"""Where more shards than this are wanted, all are scanned: candidates should be many times those wanted."""

_PARTS: Final = 4
_BLOCK: Final = 64
"""Rows whose sign bits lie side by side."""

Found = tuple[Any, Any, Any]


class _Part(NamedTuple):
    """A range of rows, whole blocks of them, and their columns."""

    start: int
    stop: int
    rows: memoryview
    bits: memoryview
    factors: memoryview
    intents: memoryview
    risks: memoryview


class SignParts:
    """The columns that the scan reads, cut into parts.

    Parameters
    ----------
    parts
        In the order of the rows.
    mean
        float32 (dimensions,): what the signs are about.
    """

    def __init__(self, parts: Sequence[_Part], mean: Any) -> None:
        self._mean = mean
        self._parts = parts

    @classmethod
    def cut(
        cls, rows: Any, dimensions: int, n_shards: int, intents: Any, risks: Any, signs: tuple[Any, Any, Any]
    ) -> SignParts:
        """Cut columns as `ShardIndex` has them; `signs` are bits, factors and mean."""
        bits, factors, mean = signs
        n_blocks = -(-n_shards // _BLOCK)
        edges = [n_blocks * part // _PARTS for part in range(_PARTS + 1)]
        views = [
            (memoryview(column).cast("B"), width)
            for column, width in ((rows, 4 * dimensions), (factors, 4), (intents, 2), (risks, 1))
        ]
        bit_view = memoryview(bits).cast("B")
        block_bytes = len(bit_view) // max(1, n_blocks)
        parts: list[_Part] = []
        for first, last in pairwise(edges):
            start, stop = first * _BLOCK, min(last * _BLOCK, n_shards)
            row, factor, intent, risk = (view[start * width : stop * width] for view, width in views)
            parts.append(
                _Part(start, stop, row, bit_view[first * block_bytes : last * block_bytes], factor, intent, risk)
            )
        return cls(parts, mean)

    def best(self, query: Any, mask: bytes | None, **options: Any) -> list[Found]:
        """Return each part's best: row numbers, scores, cosines.

        Parameters
        ----------
        query
            float32 (dimensions,).
        mask
            uint8 (n_shards,), None for all.
        options
            ``query_intents``, ``risk_filter``, ``boosts`` and ``k``, as the kernel takes them.
        """
        view = None if mask is None else memoryview(mask)

        def score(part: _Part) -> Found:
            rows, scores, cosines = score_topk_signs(
                part.rows, part.bits, part.factors, self._mean, query, part.intents, part.risks,
                None if view is None else view[part.start : part.stop],
                candidates=SIGN_CANDIDATES // _PARTS, **options,
            )  # fmt: skip
            return [row + part.start for row in rows], scores, cosines

        return by_turns(score, self._parts)
