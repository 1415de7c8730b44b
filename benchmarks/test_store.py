"""How long until the columns of 100,000 shards x 384 float32 are at hand, from a warm page cache.

The mapped one reads little now and the rest when it is used, pickle reads all at once; ``np.load`` maps the vectors
alone, without texts and without any check.

Run: ``python -m pytest benchmarks/test_store.py --benchmark-columns=median,iqr,rounds``
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.bars_store import DIMS, N_SHARDS, Files, open_mapped, unpickle, write_files

from tipstaff.store.shards import open_store

Benchmark = Callable[..., Any]
pytestmark = pytest.mark.benchmark(group="open a store of 100,000 shards")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_files(tmp_path_factory.mktemp("columns"))


def test_tipstaff(benchmark: Benchmark, files: Files) -> None:
    assert benchmark(open_mapped, files.store) == N_SHARDS


def test_tipstaff_and_five_shards(benchmark: Benchmark, files: Files) -> None:
    def read() -> int:
        with open_store(files.store) as store:
            return len([store.shard(index) for index in range(0, N_SHARDS, N_SHARDS // 5)])

    assert benchmark(read) == 5


def test_pickled_columns(benchmark: Benchmark, files: Files) -> None:
    assert benchmark.pedantic(unpickle, (files.pickled,), rounds=7) == N_SHARDS


def test_numpy_mapped_vectors_only(benchmark: Benchmark, files: Files) -> None:
    assert benchmark(lambda: np.load(files.npy, mmap_mode="r")).shape == (N_SHARDS, DIMS)
