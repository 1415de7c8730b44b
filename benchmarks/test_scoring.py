"""How long does it take to find the best rules for a query? Peers do less: no boosts, no filters.

Contenders: the float32 and the exact int8 kernel on every instruction set, NumPy's full pipeline, faiss (IndexFlatIP)
and usearch (exact search), both on one thread; run with OPENBLAS_NUM_THREADS=1 to hold NumPy to one as well.
``plain read`` reads the same bytes: it is the limit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from benchmarks.kernel_data import DIMENSIONS, QUERY_INTENTS, Data, make_data, numpy_pipeline

from tipstaff import kernels
from tipstaff.kernels import _scoring

SIZES = (500, 10_000, 100_000)
QUERIES = 64
ONE = "the 5 best rows for one query"
MANY = "the 5 best rows for 64 queries"


@cache
def data_of(size: int) -> Data:
    return make_data(size)


@pytest.mark.benchmark(group=ONE)
@pytest.mark.parametrize("isa", kernels.available_isas())
@pytest.mark.parametrize("size", SIZES)
def test_float32(benchmark: Any, size: int, isa: str) -> None:
    data = data_of(size)
    found = benchmark(
        kernels.score_topk_f32, data.rows, data.query, data.intents, data.risks, query_intents=QUERY_INTENTS, isa=isa
    )
    assert list(found[0]) == numpy_pipeline(data).tolist()


@pytest.mark.benchmark(group=ONE)
@pytest.mark.parametrize("isa", kernels.available_isas())
@pytest.mark.parametrize("size", SIZES)
def test_int8(benchmark: Any, size: int, isa: str) -> None:
    data = data_of(size)
    small = kernels.quantize_rows(data.rows, DIMENSIONS)
    found = benchmark(
        kernels.score_topk_i8,
        data.rows,
        *small,
        data.query,
        data.intents,
        data.risks,
        query_intents=QUERY_INTENTS,
        isa=isa,
    )
    assert list(found[0]) == numpy_pipeline(data).tolist()


@pytest.mark.benchmark(group=ONE)
@pytest.mark.parametrize("size", SIZES)
def test_numpy(benchmark: Any, size: int) -> None:
    assert len(benchmark(numpy_pipeline, data_of(size))) == 5


@pytest.mark.benchmark(group=ONE)
@pytest.mark.parametrize("size", SIZES)
def test_plain_read(benchmark: Any, size: int) -> None:
    benchmark(_scoring.read_bytes, data_of(size).rows)


@pytest.mark.benchmark(group=ONE)
@pytest.mark.parametrize("size", SIZES)
def test_faiss(benchmark: Any, size: int) -> None:
    faiss = pytest.importorskip("faiss")
    faiss.omp_set_num_threads(1)
    data = data_of(size)
    index = faiss.IndexFlatIP(DIMENSIONS)
    index.add(data.rows)
    found = benchmark(index.search, data.query[None, :], 5)
    assert found[1][0, 0] == 7


@pytest.mark.benchmark(group=ONE)
@pytest.mark.parametrize("size", SIZES)
def test_usearch(benchmark: Any, size: int) -> None:
    usearch = pytest.importorskip("usearch.index")
    data = data_of(size)
    found = benchmark(usearch.search, data.rows, data.query, 5, usearch.MetricKind.IP, exact=True, threads=1)
    assert found.keys[0] == 7


@pytest.mark.benchmark(group=MANY)
@pytest.mark.parametrize("isa", kernels.available_isas())
@pytest.mark.parametrize("size", SIZES[:2])
def test_batch(benchmark: Any, size: int, isa: str) -> None:
    data = data_of(size)
    found = benchmark(
        kernels.score_topk_f32_batch,
        data.rows,
        data.rows[:QUERIES].copy(),
        data.intents,
        data.risks,
        dimensions=DIMENSIONS,
        query_intents=np.full(QUERIES, QUERY_INTENTS, dtype=np.uint16),
        risk_filters=np.full(QUERIES, 31, dtype=np.uint8),
        isa=isa,
    )
    assert list(found[7][0]) == numpy_pipeline(data).tolist()


@pytest.mark.benchmark(group=MANY)
@pytest.mark.parametrize("size", SIZES[:2])
def test_numpy_products_alone(benchmark: Any, size: int) -> None:
    data = data_of(size)
    assert benchmark(np.matmul, data.rows, data.rows[:QUERIES].T).shape == (size, QUERIES)


@pytest.mark.benchmark(group=MANY)
@pytest.mark.parametrize("size", SIZES[:2])
def test_faiss_batch(benchmark: Any, size: int) -> None:
    faiss = pytest.importorskip("faiss")
    faiss.omp_set_num_threads(1)
    data = data_of(size)
    index = faiss.IndexFlatIP(DIMENSIONS)
    index.add(data.rows)
    found = benchmark(index.search, data.rows[:QUERIES].copy(), 5)
    assert found[1][7, 0] == 7
