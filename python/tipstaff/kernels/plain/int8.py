"""int8 rows in plain Python; documented in ``src/_int8.pyx``."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Final

from tipstaff.kernels.plain.scoring import (
    DEFAULT_BOOSTS,
    MAX_DIMENSIONS,
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


_REACH_DEVIATIONS: Final = 2.7
"""Numbers further out than so many deviations of their row are cut off in its nibbles: the others gain more."""

_TURN_SIGNS: Final = 0x13198A2E03707344_243F6A8885A308D3
"""Which of 128 numbers change their signs."""


def quantize_rows(
    rows: Buffer, dimensions: int, mean: Buffer | None = None
) -> tuple[memoryview[int], Floats, Floats, Floats]:
    """Return int8 codes, scales, error bounds and the mean row; documented in ``src/_int8.pyx``."""
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


def nibble_rows(
    codes: Buffer, scales: Buffer, errors: Buffer, dimensions: int
) -> tuple[memoryview[int], Floats, Floats]:
    """Return four bits for each code, scales and error bounds; documented in ``src/_int8.pyx``."""
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        message = f"dimensions: expected 1 to {MAX_DIMENSIONS}, got {dimensions}"
        raise ValueError(message)
    scale, error = floats(scales, "scales"), floats(errors, "errors")
    n, width = len(scale), nibble_bytes(dimensions)
    code = sized("codes", typed_bytes(codes, "codes", "b", "int8", 1).cast("b"), n * dimensions)
    sized("errors", error, n)
    nibbles, new_scales, new_errors = bytearray(n * width), array("f"), array("f")
    for row in range(n):
        values = [*code[row * dimensions : (row + 1) * dimensions], *bytes(2 * width - dimensions)]
        turned = [number for part in range(width // 64) for number in _turned(values[part :: width // 64])]
        reach = min(max(map(abs, turned)), _REACH_DEVIATIONS * math.hypot(*turned) / math.sqrt(len(turned)))
        unit = scale[row] / 128
        half = to_f32(unit * reach / 15)
        inverse = unit / (2 * half) if half > 0 else 0.0
        kept = [max(0, min(15, math.floor(number * inverse + 8))) for number in turned]
        for i in range(width):
            low = i // 64 * 128 + i % 64
            nibbles[row * width + i] = kept[low] | kept[low + 64] << 4
        new_scales.append(half)
        off = math.dist([unit * number for number in turned], [half * (2 * nibble - 15) for nibble in kept])
        size = half * math.hypot(*(2 * nibble - 15 for nibble in kept))
        new_errors.append(_raised(error[row] + math.sqrt(128) * (off + size * _query_share(2 * width))))
    return memoryview(nibbles), memoryview(new_scales), memoryview(new_errors)


def _query_share(dimensions: int) -> float:
    """Return how far a query of so many dimensions is off in the native scan's integers, and what that scan rounds."""
    return 0.51 * math.sqrt(dimensions) / min(32512, 2**31 // (128 * dimensions)) + 2**-20


def _raised(error: float) -> float:
    """Return an error bound with room for the rounding of its own arithmetic and to float32."""
    return error * (1 + 2**-19)


def _turned(values: list[int]) -> list[int]:
    """Return 128 numbers after a fixed change of signs and the Walsh-Hadamard transform, 11.3 times as long."""
    found = [-value if _TURN_SIGNS >> i & 1 else value for i, value in enumerate(values)]
    half = 1
    while half < len(found):
        found = [found[i] + found[i + half] if not i & half else found[i - half] - found[i] for i in range(len(found))]
        half *= 2
    return found


def nibble_bytes(dimensions: int) -> int:
    """Return how many bytes a row of nibbles takes."""
    return -(-dimensions // 128) * 64


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
    """Return the entries of :func:`score_topk_f32`, reading few float32 rows; documented in ``src/_int8.pyx``."""
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
    """Rows with their int8 codes, for many queries; documented in ``src/_int8.pyx``."""

    def __init__(
        self,
        rows: Buffer,
        codes: Buffer,
        scales: Buffer,
        errors: Buffer,
        mean: Buffer,
        intents: Buffer,
        risks: Buffer,
        nibbles: tuple[Buffer, Buffer, Buffer] | None = None,
    ) -> None:
        self._mean = floats(mean, "mean")
        self.dimensions = dimensions = len(self._mean)
        n = Columns(rows, dimensions, intents, risks, None).n
        self._n = n
        self._columns = [
            (sized(name, typed_bytes(column, name, letters, words, size), n * width * size), width * size)
            for name, column, letters, words, size, width in (
                ("rows", rows, "f", "float32", 4, dimensions),
                ("codes", codes, "b", "int8", 1, dimensions),
                ("scales", scales, "f", "float32", 4, 1),
                ("errors", errors, "f", "float32", 4, 1),
                ("intents", intents, "Hh", "uint16", 2, 1),
                ("risks", risks, "B", "uint8", 1, 1),
            )
        ]
        # They only say which codes need not be read.
        if nibbles is not None:
            halves, half_scales, half_errors = nibbles
            sized("nibbles", typed_bytes(halves, "nibbles", "B", "uint8", 1), n * nibble_bytes(dimensions))
            sized("nibble_scales", floats(half_scales, "nibble_scales"), n)
            sized("nibble_errors", floats(half_errors, "nibble_errors"), n)

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
        start: int = 0,
        stop: int | None = None,
        isa: str | None = None,
    ) -> tuple[list[int], list[float], list[float]]:
        """Return the k best of a range of rows; documented in ``src/_int8.pyx``."""
        stop = self._n if stop is None else stop
        if not 0 <= start <= stop <= self._n:
            message = f"rows {start} to {stop}: expected a range within the {self._n} rows"
            raise ValueError(message)
        sized("query", floats(query, "query"), len(self._mean))
        mask = None
        if row_mask is not None:
            mask = sized("row_mask", typed_bytes(row_mask, "row_mask", "?B", "uint8", 1), self._n)[start:stop]
        rows, codes, scales, errors, intents, risks = (
            column[start * width : stop * width] for column, width in self._columns
        )
        found, scores, cosines = score_topk_i8(
            rows, codes, scales, errors, self._mean, query, intents, risks, mask,
            query_intents=query_intents, risk_filter=risk_filter, boosts=boosts, k=k, isa=isa,
        )  # fmt: skip
        return [row + start for row in found], list(scores), list(cosines)
