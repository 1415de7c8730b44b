"""How long until the columns of 100,000 shards x 384 float32 are at hand, from a warm page cache.

The mapped ones read little now and the rest when it is used, pickle and Parquet read all at once; ``np.load`` maps the
vectors alone, without texts and without any check.

Run: ``python -m pytest benchmarks/test_store.py --benchmark-columns=median,iqr,rounds``
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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


def test_plain_arrow_file_unchecked(benchmark: Benchmark, files: Files, tmp_path: Path) -> None:
    with open_store(files.store) as store:
        batch = store.to_arrow()
        with pa.OSFile(str(tmp_path / "plain.arrow"), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)

    def read() -> int:
        with pa.memory_map(str(tmp_path / "plain.arrow")) as source:
            return pa.ipc.open_file(source).get_batch(0).num_rows

    assert benchmark(read) == N_SHARDS


def test_parquet(benchmark: Benchmark, files: Files, tmp_path: Path) -> None:
    with open_store(files.store) as store:
        table = pa.Table.from_batches([store.to_arrow()]).select(["embedding", "compact_text", "risk", "priority"])
        pq.write_table(table, tmp_path / "plain.parquet")

    def read() -> int:
        return pq.read_table(tmp_path / "plain.parquet", use_threads=False).num_rows

    assert benchmark.pedantic(read, rounds=3) == N_SHARDS
