"""int8 scoring of few rows, which is chosen another way: still the rows and the bits of float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import ISAS, unit_rows
from tipstaff.kernels import _scoring

FEW = 2_048
"""Up to so many rows, and 32 of them wanted."""
SIZES = st.sampled_from([1, 31, 32, 33, 63, 64, 65, 100, 500, FEW - 1, FEW, FEW + 1])


def some_rows(rng: np.random.Generator, n: int, dimensions: int, kind: str) -> np.ndarray:
    """Return rows: varied ones, few different ones, or ones that come again at equal distances."""
    varied = unit_rows(rng, n, dimensions)
    if kind == "varied":
        return varied
    few = varied[rng.integers(0, n, 5)]
    return np.ascontiguousarray(few[rng.integers(0, 5, n)] if kind == "equal" else few[np.arange(n) % 4])


@given(
    n=SIZES,
    k=st.sampled_from([1, 2, 5, 13, 31, 32, 33]),
    kind=st.sampled_from(["varied", "equal", "periodic"]),
    share=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    boosts=st.sampled_from([(0.03, 0.02, 0.01), (0.0, 0.0, 0.0), (-0.1, 0.1, -0.2)]),
    seed=st.integers(0, 2**32 - 1),
)
def test_they_are_those_of_float32(
    n: int, k: int, kind: str, share: float, boosts: tuple[float, float, float], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    dimensions = int(rng.integers(1, 40))
    rows = some_rows(rng, n, dimensions, kind)
    query = unit_rows(rng, 1, dimensions)[0]
    intents, risks = rng.integers(0, 8, n).astype(np.uint16), rng.integers(0, 6, n).astype(np.uint8)
    mask = None if share == 1.0 else rng.random(n) < share
    options: dict[str, Any] = {"query_intents": 2, "risk_filter": 0x1F, "boosts": boosts, "k": k}
    codes = _scoring.quantize_rows(rows, dimensions)
    for isa in ISAS:
        wanted = _scoring.score_topk_f32(rows, query, intents, risks, mask, isa=isa, **options)
        found = _scoring.score_topk_i8(rows, *codes, query, intents, risks, mask, isa=isa, **options)
        assert [bytes(part) for part in found] == [bytes(part) for part in wanted]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("period", [1, 8, 32])
def test_few_of_them_are_scored_exactly(isa: str, period: int) -> None:
    rng = np.random.default_rng(7)
    n, dimensions = 1_000, 256
    centres = rng.normal(size=(8, dimensions))
    numbers = np.arange(n) // period % 8
    rows = centres[numbers] + 0.8 * rng.normal(size=(n, dimensions))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    codes = _scoring.quantize_rows(rows, dimensions)
    columns = np.zeros(n, np.uint16), np.full(n, 2, np.uint8)
    for query in unit_rows(rng, 20, dimensions), rows[:20]:
        for one in query:
            _, exact = _scoring.score_topk_i8_counted(rows, *codes, one, *columns, k=13, isa=isa)
            assert 13 <= exact <= 100
