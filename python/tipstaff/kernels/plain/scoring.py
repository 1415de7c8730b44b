"""The kernels in plain Python: the same names and signatures, written to be read.

They say what the native kernels do, one row and one step at a time, and serve where no compiled module exists. Hash
embeddings and token-set pairs are the native ones' to the bit. Scores are sums in double precision rounded once to
float32, so they may differ from native scores in the last bits.
"""

from __future__ import annotations

import heapq
import math
import struct
from array import array
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Buffer

    Entries = tuple[memoryview[int], memoryview[float], memoryview[float]]
    Floats = memoryview[float]

_T = TypeVar("_T", int, float)

MAX_DIMENSIONS: Final = 65536
MAX_NORM: Final = 1e15
DEFAULT_BOOSTS: Final = (0.15, 0.10, 0.05)
_JS_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_HIGH: Final = 3
_CRITICAL: Final = 4


def isa() -> str:
    """Return ``"plain"``: no instruction set."""
    return "plain"


def available_isas() -> tuple[str, ...]:
    """Return the instruction sets there are to choose from: ``("plain",)``."""
    return ("plain",)


def check_isa(name: str | None) -> None:
    """Refuse instruction sets: there is none to choose."""
    if name not in {None, "plain"}:
        message = f"instruction set {name!r} is not one that this machine runs: plain"
        raise ValueError(message)


def typed_bytes(data: Buffer, name: str, codes: str, type_name: str, size: int) -> memoryview:
    """Return a buffer's bytes, refusing items that are neither ``type_name`` nor plain bytes."""
    view = memoryview(data)
    if not view.c_contiguous:
        message = f"{name}: expected a C-contiguous buffer"
        raise BufferError(message)
    letter = view.format.lstrip("<=@")
    if not (letter in codes and view.itemsize == size) and letter not in {"B", "b", "c"}:
        message = f"{name}: expected a buffer of {type_name} or of bytes, got items of format {view.format!r}"
        raise TypeError(message)
    if view.nbytes % size:
        message = f"{name}: {view.nbytes} bytes are not a whole number of {type_name}"
        raise ValueError(message)
    return view.cast("B") if view.nbytes else memoryview(b"")


def floats(data: Buffer, name: str) -> Floats:
    """Return a buffer's float32 numbers."""
    return typed_bytes(data, name, "f", "float32", 4).cast("f")


def to_f32(value: float) -> float:
    """Round to the nearest float32."""
    result: float = struct.unpack("f", struct.pack("f", value))[0]
    return result


# --- hash embedding ---------------------------------------------------------------------------------------------------


def _check_dimensions(dimensions: int) -> None:
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        message = f"dimensions: expected 1 to {MAX_DIMENSIONS}, got {dimensions}"
        raise ValueError(message)


def _hash_vector(text: str, dimensions: int) -> array[float]:
    units = text.lower().strip(_JS_SPACE).encode("utf-16-le", "surrogatepass")
    total = 0
    for (unit,) in struct.iter_unpack("<H", units):
        total = (31 * total + unit) & 0xFFFFFFFF
    values = array("f")
    for i in range(dimensions):
        argument = (i + 1) * total & 0xFFFFFFFF
        signed = argument - (1 << 32) if argument >= 1 << 31 else argument
        values.append((math.sin(signed) + 1) / 2)
    squares = 0.0
    for value in values:  # in this order: the rounding is part of the result
        squares += value * value
    norm = math.sqrt(squares)
    return array("f", (value / norm for value in values)) if norm > 0 else values


def hash_embed(text: str, dimensions: int = 384, *, isa: str | None = None) -> Floats:
    """Embed one text; documented in ``src/_embedding.pyx``."""
    _check_dimensions(dimensions)
    check_isa(isa)
    return memoryview(_hash_vector(text, dimensions))


def hash_embed_into(text: str, out: Buffer, *, isa: str | None = None) -> None:
    """Embed one text into a caller's array; documented in ``src/_embedding.pyx``."""
    check_isa(isa)
    target = _writable(out)
    _check_dimensions(len(target))
    target[:] = memoryview(_hash_vector(text, len(target)))


def _writable(out: Buffer) -> Floats:
    if memoryview(out).readonly:
        message = "out: the buffer is read-only"
        raise BufferError(message)
    return floats(out, "out")


def hash_embed_batch(
    offsets: Buffer,
    data: Buffer,
    n_rows: int,
    dimensions: int,
    out: Buffer,
    *,
    large_offsets: bool = False,
    isa: str | None = None,
) -> None:
    """Embed the rows of a string column; documented in ``src/_embedding.pyx``."""
    _check_dimensions(dimensions)
    check_isa(isa)
    if n_rows < 0:
        message = f"n_rows: expected 0 or more, got {n_rows}"
        raise ValueError(message)
    if large_offsets:
        bounds = typed_bytes(offsets, "offsets", "lqLQ", "int64", 8).cast("q")
    else:
        bounds = typed_bytes(offsets, "offsets", "iIlL", "int32", 4).cast("i")
    if n_rows > 0 and len(bounds) < n_rows + 1:
        message = f"offsets: {n_rows} rows need {n_rows + 1} offsets, got {len(bounds)}"
        raise ValueError(message)
    text = typed_bytes(data, "data", "B", "bytes", 1)
    vectors = _writable(out)
    if len(vectors) != n_rows * dimensions:
        message = f"out: {n_rows} rows of {dimensions} float32 are {n_rows * dimensions} items, got {len(vectors)}"
        raise ValueError(message)
    for row in range(n_rows):
        start, end = bounds[row], bounds[row + 1]
        if not 0 <= start <= end <= len(text):
            message = f"offsets: those of row {row} are out of order or outside the data"
            raise ValueError(message)
        vector = _hash_vector(str(text[start:end], "utf-8"), dimensions)
        vectors[row * dimensions : (row + 1) * dimensions] = memoryview(vector)


# --- scoring ----------------------------------------------------------------------------------------------------------


class Columns:
    """Checked columns of n rows, and one row's score against a query."""

    def __init__(self, rows: Buffer, dimensions: int, intents: Buffer, risks: Buffer, row_mask: Buffer | None) -> None:
        self.dimensions = dimensions
        self.vectors = floats(rows, "rows")
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            message = f"query: expected 1 to {MAX_DIMENSIONS} dimensions, got {dimensions}"
            raise ValueError(message)
        self.n, rest = divmod(len(self.vectors), dimensions)
        if rest:
            message = f"rows: {len(self.vectors) * 4} bytes are not whole rows of {dimensions} float32"
            raise ValueError(message)
        self.intents = sized("intents", typed_bytes(intents, "intents", "Hh", "uint16", 2).cast("H"), self.n)
        self.risks = sized("risks", typed_bytes(risks, "risks", "B", "uint8", 1), self.n)
        self.mask: memoryview | None = None
        if row_mask is not None:
            self.mask = sized("row_mask", typed_bytes(row_mask, "row_mask", "?B", "uint8", 1), self.n)

    def passing(self, risk_filter: int) -> Iterator[int]:
        """Give the rows that risk filter and mask let through."""
        for row in range(self.n):
            risk = self.risks[row]
            if risk < 8 and risk_filter >> risk & 1 and (self.mask is None or self.mask[row]):
                yield row

    def cosine(self, row: int, query: Sequence[float] | Floats) -> float:
        """Return a row's cosine, 0..1."""
        start = row * self.dimensions
        vector = self.vectors[start : start + self.dimensions]
        return clamp_cosine(sum(x * y for x, y in zip(vector, query, strict=True)))

    def score(self, row: int, cosine: float, query_intents: int, boosts: tuple[float, float, float]) -> float:
        """Return a cosine with the boosts of its row."""
        intent, critical, high = boosts
        score = to_f32(cosine + (to_f32(intent) if self.intents[row] & query_intents else 0.0))
        risk = self.risks[row]
        boost = critical if risk == _CRITICAL else high if risk == _HIGH else 0.0
        return to_f32(score + to_f32(boost))


def sized(name: str, column: memoryview[_T], expected: int) -> memoryview[_T]:
    """Return a column if it has as many items as it should."""
    if len(column) != expected:
        message = f"{name}: expected {expected * column.itemsize} bytes, got {column.nbytes}"
        raise ValueError(message)
    return column


def clamp_cosine(dot: float) -> float:
    """Clamp to 0..1; what is not a number counts as 0."""
    return to_f32(min(dot, 1.0)) if dot > 0 else 0.0


def check_k(k: int) -> None:
    """Refuse a negative number of rows."""
    if k < 0:
        message = f"k: expected 0 or more, got {k}"
        raise ValueError(message)


def check_boosts(boosts: tuple[float, float, float]) -> None:
    """Refuse boosts that are not three finite numbers, or whose sums are not finite in float32."""
    if len(boosts) != 3 or not all(map(math.isfinite, boosts)) or not abs(boosts[0]) + max(map(abs, boosts[1:])) < 3e38:
        message = f"boosts: expected three finite numbers of which no two add up to 3e38, got {boosts}"
        raise ValueError(message)


def _check_range(name: str, value: int, bits: int) -> None:
    if not 0 <= value < 1 << bits:
        message = f"{name}: expected 0 to {(1 << bits) - 1}, got {value}"
        raise OverflowError(message)


def entries(best: list[tuple[float, int, float]]) -> Entries:
    """Turn (-score, row, cosine) triples into the three result arrays."""
    return (
        memoryview(array("i", [row for _, row, _ in best])),
        memoryview(array("f", [-negative for negative, _, _ in best])),
        memoryview(array("f", [cosine for _, _, cosine in best])),
    )


def score_topk_f32(
    rows: Buffer,
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
    """Return the k best rows for a query; documented in ``src/_scoring.pyx``."""
    check_isa(isa)
    check_k(k)
    check_boosts(boosts)
    _check_range("query_intents", query_intents, 16)
    _check_range("risk_filter", risk_filter, 8)
    vector = floats(query, "query")
    columns = Columns(rows, len(vector), intents, risks, row_mask)

    def scored() -> Iterator[tuple[float, int, float]]:
        for row in columns.passing(risk_filter):
            cosine = columns.cosine(row, vector)
            yield -columns.score(row, cosine, query_intents, boosts), row, cosine

    return entries(heapq.nsmallest(k, scored()))


def score_topk_f32_batch(
    rows: Buffer,
    queries: Buffer,
    intents: Buffer,
    risks: Buffer,
    row_mask: Buffer | None = None,
    *,
    dimensions: int,
    query_intents: Buffer,
    risk_filters: Buffer,
    boosts: tuple[float, float, float] = DEFAULT_BOOSTS,
    k: int = 5,
    isa: str | None = None,
) -> list[Entries]:
    """Return the k best rows for each query; documented in ``src/_scoring.pyx``."""
    filters = typed_bytes(risk_filters, "risk_filters", "B", "uint8", 1)
    Columns(rows, dimensions, intents, risks, row_mask)  # its checks, even where there is no query
    vectors = sized("queries", floats(queries, "queries"), len(filters) * dimensions)
    masks = sized(
        "query_intents", typed_bytes(query_intents, "query_intents", "Hh", "uint16", 2).cast("H"), len(filters)
    )
    return [
        score_topk_f32(
            rows,
            vectors[i * dimensions : (i + 1) * dimensions],
            intents,
            risks,
            row_mask,
            query_intents=masks[i],
            risk_filter=filters[i],
            boosts=boosts,
            k=k,
            isa=isa,
        )
        for i in range(len(filters))
    ]


# --- similarity -------------------------------------------------------------------------------------------------------


def jaccard_pairs(
    tokens: Buffer,
    offsets: Buffer,
    threshold: float,
    max_pairs: int,
    *,
    work_limit: int | None = None,
) -> tuple[list[tuple[int, int, float]], bool]:
    """Return all pairs of sets at least this similar; documented in ``src/_similarity.pyx``."""
    if not 0 < threshold <= 1:
        message = f"threshold: expected above 0 and at most 1, got {threshold}"
        raise ValueError(message)
    if max_pairs < 0:
        message = f"max_pairs: expected 0 or more, got {max_pairs}"
        raise ValueError(message)
    flat = typed_bytes(tokens, "tokens", "IL", "uint32", 4).cast("I")
    bounds = typed_bytes(offsets, "offsets", "qlQL", "int64", 8).cast("q")
    if not bounds:
        message = "offsets: expected one more than there are sets, got none"
        raise ValueError(message)
    sets: list[memoryview[int]] = []
    for number, (start, end) in enumerate(pairwise(bounds)):
        if not 0 <= start <= end <= len(flat):
            message = f"offsets: those of set {number} are out of order or outside the tokens"
            raise ValueError(message)
        members = flat[start:end]
        if any(a >= b for a, b in pairwise(members)):
            message = f"tokens: those of set {number} are not strictly ascending"
            raise ValueError(message)
        sets.append(members)
    limit = 1024 * (len(flat) + len(sets)) if work_limit is None else work_limit
    holders: dict[int, list[int]] = {}  # token -> sets that hold it, so far
    found: list[tuple[int, int, float]] = []
    work = 0
    for second, members in enumerate(sets):
        shared: dict[int, int] = {}
        for token in members:
            for first in holders.setdefault(token, []):
                shared[first] = shared.get(first, 0) + 1
                work += 1
            holders[token].append(second)
            if work > limit:
                return sorted(found), False
        for first, common in shared.items():
            similarity = common / (len(sets[first]) + len(members) - common)
            if similarity >= threshold:
                if len(found) == max_pairs:
                    return sorted(found), False
                found.append((first, second, similarity))
    return sorted(found), True
