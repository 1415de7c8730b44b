"""The signs of rows in plain Python; ``native/include/tipstaff/scoring/signs.hpp`` says what they are.

It computes in double precision where native code does not: a bit or a place among the candidates may differ.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

    from tipstaff.kernels.plain.scoring import Floats

_BLOCK: Final = 64
_MAX_DIMENSIONS: Final = 1024
_WORD: Final = (1 << 64) - 1


def _padded(dimensions: int) -> int:
    """Return the dimensions after the rotation: the next power of two, at least 8."""
    if not 1 <= dimensions <= _MAX_DIMENSIONS:
        message = f"dimensions: expected 1 to {_MAX_DIMENSIONS} dimensions, got {dimensions}"
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


def _rotated(vector: Sequence[float], padded: int) -> list[float]:
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


def sign_bytes(n: int, dimensions: int) -> int:
    """Return how many bytes the signs of rows take, in blocks of 64."""
    return -(-n // _BLOCK) * _BLOCK * _kept(_padded(dimensions)) // 8


def sign_rows(codes: Buffer, scales: Buffer, dimensions: int) -> tuple[Floats, Floats, memoryview[int]]:
    """Return the mean of rows, their factors and their sign bits in blocks of 64 rows."""
    padded = _padded(dimensions)
    kept = _kept(padded)
    code, scale = memoryview(codes).cast("B").cast("b"), memoryview(scales).cast("B").cast("f")
    n = len(scale)
    if len(code) != n * dimensions:
        message = f"codes: expected {n * dimensions} bytes, got {len(code)}"
        raise ValueError(message)
    rows = [[scale[row] * one for one in code[row * dimensions : (row + 1) * dimensions]] for row in range(n)]
    mean = array("f", [sum(column) / n for column in zip(*rows, strict=True)] if n else [0.0] * dimensions)
    bits = bytearray(sign_bytes(n, dimensions))
    factors = array("f")
    for index, row in enumerate(rows):
        centred = [x - m for x, m in zip(row, mean, strict=True)]
        turned = _rotated(centred, padded)
        total = sum(map(abs, turned))
        factors.append(sum(x * x for x in centred) / total if total and scale[index] else 0.0)
        for i, value in enumerate(turned[:kept]):
            if value >= 0:
                bits[index // _BLOCK * _BLOCK * kept // 8 + i // 8 * _BLOCK + index % _BLOCK] |= 1 << i % 8
    return memoryview(mean), memoryview(factors), memoryview(bits)


def sign_products(query: Sequence[float], mean: Floats, factors: Floats, bits: memoryview[int]) -> list[float]:
    """Return about the product of each row with a query."""
    padded = _padded(len(query))
    kept = _kept(padded)
    base = sum(map(float.__mul__, mean, query))
    turned = _rotated(query, padded)[:kept]
    found: list[float] = []
    for row, factor in enumerate(factors):
        start = row // _BLOCK * _BLOCK * kept // 8 + row % _BLOCK
        near = sum(value if bits[start + i // 8 * _BLOCK] >> i % 8 & 1 else -value for i, value in enumerate(turned))
        found.append(base + factor * near * padded / kept)
    return found
