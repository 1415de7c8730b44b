"""int8 rows in plain Python; documented in ``src/shared/int8_rows.pxi``."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

from tipstaff.kernels.plain.scoring import (
    DEFAULT_BOOSTS,
    MAX_NORM,
    Columns,
    check_boosts,
    check_isa,
    check_k,
    clamp_cosine,
    entries,
    floats,
    score_topk_f32,
    sized,
    to_f32,
    typed_bytes,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from tipstaff.kernels.plain.scoring import Entries, Floats


def quantize_rows(
    rows: Buffer, dimensions: int, mean: Buffer | None = None
) -> tuple[memoryview[int], Floats, Floats, Floats]:
    """Return int8 codes, scales, error bounds and the mean row; documented in ``src/shared/int8_rows.pxi``."""
    columns = Columns(
        rows, dimensions, bytes(2 * _row_count(rows, dimensions)), bytes(_row_count(rows, dimensions)), None
    )
    n, vectors = columns.n, columns.vectors
    for row in range(n):
        if not math.hypot(*vectors[row * dimensions : (row + 1) * dimensions]) < MAX_NORM:
            message = f"rows: row {row} is not finite, or its norm is above 1e15"
            raise ValueError(message)
    if mean is None:
        centre = array("f", (sum(vectors[i::dimensions]) / n if n else 0.0 for i in range(dimensions)))
    else:
        centre = array("f", sized("mean", floats(mean, "mean"), dimensions))
        if not math.hypot(*centre) < MAX_NORM:
            message = "mean: it is not finite, or its norm is above 1e15"
            raise ValueError(message)
    codes, scales, errors = array("b"), array("f"), array("f")
    for row in range(n):
        centred = [x - m for x, m in zip(vectors[row * dimensions : (row + 1) * dimensions], centre, strict=True)]
        scale = to_f32(max(map(abs, centred)) / 127)
        kept = [max(-127, min(127, round(x / scale))) if scale else 0 for x in centred]
        codes.extend(kept)
        scales.append(scale)
        # Beside |e|: the float32 sums' rounding, the query's to integers, and that of the scan's own arithmetic.
        size = math.hypot(*vectors[row * dimensions : (row + 1) * dimensions])
        off = math.dist(centred, [scale * code for code in kept]) + size * (dimensions + 16) / 2**24
        errors.append(_raised(off + scale * math.hypot(*kept) * _query_share(dimensions)))
    return memoryview(codes), memoryview(scales), memoryview(errors), memoryview(centre)


def _query_share(dimensions: int) -> float:
    """Return how far a query of so many dimensions is off in the native scan's integers, and what that scan rounds."""
    return 0.51 * math.sqrt(dimensions) / min(32512, 2**31 // (128 * dimensions)) + 2**-20


def _raised(error: float) -> float:
    """Return an error bound with room for the rounding of its own arithmetic and to float32."""
    return error * (1 + 2**-19)


def _row_count(rows: Buffer, dimensions: int) -> int:
    return memoryview(rows).nbytes // (4 * max(1, dimensions))


def score_topk_i8(
    rows: Buffer,
    codes: Buffer,
    scales: Buffer,
    errors: Buffer,
    mean: Buffer,
    query: Buffer,
    intents: Buffer,
    risks: Buffer,
    row_mask: Buffer | None = None,
    *,
    query_intents: int = 0,
    risk_filter: int = 0xFF,
    boosts: tuple[float, float, float] = DEFAULT_BOOSTS,
    k: int = 5,
    isa: str | None = None,
) -> Entries:
    """Return the entries of :func:`score_topk_f32`, reading few float32 rows; see ``src/shared/int8_rows.pxi``."""
    check_isa(isa)
    check_k(k)
    check_boosts(boosts)
    vector = floats(query, "query")
    dimensions = len(vector)
    columns = Columns(rows, dimensions, intents, risks, row_mask)
    code = sized("codes", typed_bytes(codes, "codes", "b", "int8", 1).cast("b"), columns.n * dimensions)
    scale = sized("scales", floats(scales, "scales"), columns.n)
    error = sized("errors", floats(errors, "errors"), columns.n)
    centre = sized("mean", floats(mean, "mean"), dimensions)
    base = sum(m * q for m, q in zip(centre, vector, strict=True))
    norm = math.hypot(*vector)
    if not math.isfinite(norm):
        # No bound holds: score every row.
        return score_topk_f32(
            rows, query, intents, risks, row_mask,
            query_intents=query_intents, risk_filter=risk_filter, boosts=boosts, k=k,
        )  # fmt: skip

    def upper(row: int) -> float:
        """Bound the row's score from above: |row . q - (mean + scale code) . q| <= error |q|."""
        start = row * dimensions
        near = base + scale[row] * sum(c * q for c, q in zip(code[start : start + dimensions], vector, strict=True))
        return columns.score(row, clamp_cosine(near + error[row] * norm + 1e-6), query_intents, boosts)

    best: list[tuple[float, int, float]] = []
    for bound, row in sorted(((upper(row), row) for row in columns.passing(risk_filter)), reverse=True):
        if len(best) >= k and (not best or -best[-1][0] > bound):
            break
        cosine = columns.cosine(row, vector)
        best = sorted([*best, (-columns.score(row, cosine, query_intents, boosts), row, cosine)])[:k]
    return entries(best)


class Int8Rows:
    """Rows with their int8 codes, for many queries; documented in ``src/shared/int8_rows.pxi``."""

    def __init__(
        self,
        rows: Buffer,
        codes: Buffer,
        scales: Buffer,
        errors: Buffer,
        mean: Buffer,
        intents: Buffer,
        risks: Buffer,
    ) -> None:
        self._mean = floats(mean, "mean")
        n = Columns(rows, len(self._mean), intents, risks, None).n
        self._columns = [
            sized(name, typed_bytes(column, name, letters, words, size), n * width * size)
            for name, column, letters, words, size, width in (
                ("rows", rows, "f", "float32", 4, len(self._mean)),
                ("codes", codes, "b", "int8", 1, len(self._mean)),
                ("scales", scales, "f", "float32", 4, 1),
                ("errors", errors, "f", "float32", 4, 1),
                ("intents", intents, "Hh", "uint16", 2, 1),
                ("risks", risks, "B", "uint8", 1, 1),
            )
        ]
        self._n = n

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._n

    def topk(
        self,
        query: Buffer,
        row_mask: Buffer | None = None,
        *,
        query_intents: int = 0,
        risk_filter: int = 0xFF,
        boosts: tuple[float, float, float] = DEFAULT_BOOSTS,
        k: int = 5,
        isa: str | None = None,
    ) -> tuple[list[int], list[float], list[float]]:
        """Return the k best rows; documented in ``src/shared/int8_rows.pxi``."""
        sized("query", floats(query, "query"), len(self._mean))
        rows, codes, scales, errors, intents, risks = self._columns
        found, scores, cosines = score_topk_i8(
            rows, codes, scales, errors, self._mean, query, intents, risks, row_mask,
            query_intents=query_intents, risk_filter=risk_filter, boosts=boosts, k=k, isa=isa,
        )  # fmt: skip
        return list(found), list(scores), list(cosines)
