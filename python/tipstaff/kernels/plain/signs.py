"""Sign rows in plain Python; documented in ``src/_signs.pyx``.

It computes in double precision where native code does not: a bit or a place among the candidates may differ, never a
score beyond rounding.
"""

from __future__ import annotations

import heapq
import math
from array import array
from typing import TYPE_CHECKING, Final

from tipstaff.kernels.plain import scoring as plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

    from tipstaff.kernels.plain.scoring import Entries, Floats

_BLOCK: Final = 64
_MAX_DIMENSIONS: Final = 2048
_WORD: Final = (1 << 64) - 1


def _padded(dimensions: int) -> int:
    """Return the dimensions after the rotation: the next power of two, at least 8."""
    if not 1 <= dimensions <= _MAX_DIMENSIONS:
        message = f"query: expected 1 to {_MAX_DIMENSIONS} dimensions, got {dimensions}"
        raise ValueError(message)
    return max(8, 1 << (dimensions - 1).bit_length())


def _kept(padded: int) -> int:
    """Return of how many dimensions the signs are kept."""
    return padded if padded < 64 else padded // 4 * 3


def _scrambled(number: int) -> int:
    """Return a number's place in the sequence splitmix64."""
    number = (number + 0x9E3779B97F4A7C15) & _WORD
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & _WORD
    return number ^ (number >> 31)


def _rotated(vector: Sequence[float] | Floats, padded: int) -> list[float]:
    """Flip signs and transform (Walsh and Hadamard), twice: an orthogonal map that spreads every vector evenly."""
    x = [*vector, *([0.0] * (padded - len(vector)))]
    for start in (0, padded):
        for i in range(padded):
            if not _scrambled((start + i) // 64) >> (start + i) % 64 & 1:
                x[i] = -x[i]
        half = 1
        while half < padded:
            for i in range(padded):
                if not i & half:
                    x[i], x[i + half] = x[i] + x[i + half], x[i] - x[i + half]
            half *= 2
        x = [value / math.sqrt(padded) for value in x]
    return x


def sign_rows(rows: Buffer, mean: Buffer, dimensions: int) -> tuple[memoryview[int], Floats]:
    """Return sign bits in blocks of 64 rows, and the rows' factors."""
    padded = _padded(dimensions)
    vectors = memoryview(rows).cast("B").cast("f")
    if len(vectors) % dimensions:
        message = f"rows: {4 * len(vectors)} bytes are not whole rows of {dimensions} float32, which the query has"
        raise ValueError(message)
    centre = memoryview(mean).cast("B").cast("f")
    if len(centre) != dimensions:
        message = f"mean: expected {4 * dimensions} bytes, got {4 * len(centre)}"
        raise ValueError(message)
    n = len(vectors) // dimensions
    kept = _kept(padded)
    bits = bytearray(-(-n // _BLOCK) * _BLOCK * kept // 8)
    factors = array("f")
    for row in range(n):
        start = row * dimensions
        centred = [x - m for x, m in zip(vectors[start : start + dimensions], centre, strict=True)]
        turned = _rotated(centred, padded)
        total = sum(map(abs, turned))
        factor = sum(x * x for x in centred) / total if total else 0.0
        factors.append(factor if math.isfinite(factor) else 0.0)
        for i, value in enumerate(turned[:kept]):
            if value >= 0:
                bits[row // _BLOCK * _BLOCK * kept // 8 + i // 8 * _BLOCK + row % _BLOCK] |= 1 << i % 8
    return memoryview(bits), memoryview(factors)


def score_topk_signs(
    rows: Buffer,
    bits: Buffer,
    factors: Buffer,
    mean: Buffer,
    query: Buffer,
    intents: Buffer,
    risks: Buffer,
    row_mask: Buffer | None = None,
    *,
    query_intents: int = 0,
    risk_filter: int = 0xFF,
    boosts: tuple[float, float, float] = plain.DEFAULT_BOOSTS,
    k: int = 5,
    candidates: int = 1024,
    isa: str | None = None,
) -> Entries:
    """Return the k best of the rows that look best by their signs."""
    if k < 0 or candidates < 0:
        message = f"k, candidates: expected 0 or more, got {k} and {candidates}"
        raise ValueError(message)
    everything = plain.score_topk_f32(
        rows, query, intents, risks, row_mask,
        query_intents=query_intents, risk_filter=risk_filter, boosts=boosts, k=memoryview(risks).nbytes, isa=isa,
    )  # fmt: skip
    vector = memoryview(query).cast("B").cast("f")
    padded = _padded(len(vector))
    kept_signs = _kept(padded)
    n = memoryview(risks).nbytes
    view = memoryview(bits).cast("B")
    factor = memoryview(factors).cast("B").cast("f")
    centre = memoryview(mean).cast("B").cast("f")
    for name, found, expected in (
        ("bits", len(view), -(-n // _BLOCK) * _BLOCK * kept_signs // 8),
        ("factors", 4 * len(factor), 4 * n),
        ("mean", 4 * len(centre), 4 * len(vector)),
    ):
        if found != expected:
            message = f"{name}: expected {expected} bytes, got {found}"
            raise ValueError(message)
    wanted = max(candidates, k, 1)
    entries = list(zip(*everything, strict=True))
    base = sum(m * q for m, q in zip(centre, vector, strict=True))
    if len(entries) > wanted and any(vector) and all(map(math.isfinite, vector)):
        turned = _rotated(vector, padded)

        def estimate(entry: tuple[int, float, float]) -> float:
            row, score, cosine = entry
            start = row // _BLOCK * _BLOCK * kept_signs // 8 + row % _BLOCK
            near = sum(
                value if view[start + i // 8 * _BLOCK] >> i % 8 & 1 else -value
                for i, value in enumerate(turned[:kept_signs])
            )
            return max(0.0, min(1.0, base + factor[row] * near * padded / kept_signs)) + (score - cosine)

        kept = heapq.nsmallest(wanted, ((-estimate(entry), entry[0]) for entry in entries))
        chosen = {row for _, row in kept}
        entries = [entry for entry in entries if entry[0] in chosen]
    entries = entries[:k]
    return (
        memoryview(array("i", [row for row, _, _ in entries])),
        memoryview(array("f", [score for _, score, _ in entries])),
        memoryview(array("f", [cosine for _, _, cosine in entries])),
    )
