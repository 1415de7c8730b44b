"""How long does a text take to embed by hashing? Contenders: single and batch, on every instruction set.

``python -m benchmarks.bars_kernels`` compares with Node in the same run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.kernel_data import DIMENSIONS, TEXT

from tipstaff import kernels

ROWS = 1000
SIZES = (60, 200, 2000)


def text_of(size: int) -> str:
    return (TEXT * (size // len(TEXT) + 1))[:size]


@pytest.mark.benchmark(group="embed one text by hashing")
@pytest.mark.parametrize("isa", kernels.available_isas())
@pytest.mark.parametrize("size", SIZES)
def test_single(benchmark: Any, size: int, isa: str) -> None:
    assert len(benchmark(kernels.hash_embed, text_of(size), DIMENSIONS, isa=isa)) == DIMENSIONS


@pytest.mark.benchmark(group="embed a column of 1000 texts by hashing")
@pytest.mark.parametrize("isa", kernels.available_isas())
@pytest.mark.parametrize("size", SIZES)
def test_batch(benchmark: Any, size: int, isa: str) -> None:
    offsets = (np.arange(ROWS + 1) * size).astype(np.int32)
    data = (text_of(size) * ROWS).encode()
    out = np.empty((ROWS, DIMENSIONS), dtype=np.float32)
    benchmark(kernels.hash_embed_batch, offsets, data, ROWS, DIMENSIONS, out, isa=isa)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1, rtol=1e-6)


@pytest.mark.benchmark(group="embed one text by hashing")
@pytest.mark.parametrize("size", SIZES)
def test_numpy(benchmark: Any, size: int) -> None:
    """The same by NumPy, given the linear identity: sines of (i + 1) H."""
    text = text_of(size)
    steps = np.arange(1, DIMENSIONS + 1, dtype=np.uint32)

    def embed() -> np.ndarray:
        units = np.frombuffer(text.lower().strip().encode("utf-16-le"), dtype=np.uint16)
        total = 0
        for unit in units.tolist():
            total = (31 * total + unit) & 0xFFFFFFFF
        values = ((np.sin((np.uint32(total) * steps).view(np.int32).astype(float)) + 1) / 2).astype(np.float32)
        return values / np.linalg.norm(values)

    np.testing.assert_allclose(benchmark(embed), np.asarray(kernels.hash_embed(text)), atol=1e-6)
