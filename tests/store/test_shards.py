from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.bundles import BUNDLES, plain_bundle, unit_vectors
from tipstaff.errors import SourceNotFoundError, StoreEmbeddingError, StoreError
from tipstaff.model import INTENT_BITS, RISK_CODES, PolicyBundle
from tipstaff.store.shards import ShardStore, open_store, write_store

DIMS = 24


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "rules.store"
    write_store(
        target,
        plain_bundle(50),
        unit_vectors(50, DIMS),
        embedding_identity="hash-24",
        fingerprint=b"sources",
        metadata={"config": "defaults"},
    )
    return target


def map_range(path: Path) -> range:
    """Return the addresses at which the file is mapped, as the kernel tells."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    spans = [line.split()[0].split("-") for line in lines if line.endswith(str(path))]
    assert spans, f"{path} is not mapped"
    return range(min(int(first, 16) for first, _ in spans), max(int(last, 16) for _, last in spans))


@given(bundle=BUNDLES, dims=st.integers(1, 5), fingerprint=st.binary(max_size=9), identity=st.text("aé-", max_size=5))
def test_what_was_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, bundle: PolicyBundle, dims: int, fingerprint: bytes, identity: str
) -> None:
    path = tmp_path_factory.mktemp("store") / "s"
    vectors = unit_vectors(len(bundle.shards), dims)
    write_store(path, bundle, vectors, embedding_identity=identity, fingerprint=fingerprint)
    with open_store(path, embedding_identity=identity, dims=dims) as store:
        assert store.bundle() == bundle
        assert [store.compact_text(i) for i in range(len(store))] == [shard.compact_text for shard in bundle.shards]
        assert store.fingerprint == fingerprint
        assert np.array_equal(np.asarray(store.vectors).reshape(-1, dims), vectors)
        assert store.priorities.tolist() == [shard.rule.priority for shard in bundle.shards]
        assert store.risks.tolist() == [RISK_CODES[shard.rule.risk_class] for shard in bundle.shards]
        assert store.intent_masks.tolist() == [
            sum(INTENT_BITS.get(intent, 0) for intent in set(shard.rule.intents)) for shard in bundle.shards
        ]
        store.verify()


def test_facts(path: Path) -> None:
    with open_store(path) as store:
        assert (len(store), store.n_shards, store.dims, store.embedding_identity) == (50, 50, DIMS, "hash-24")
        assert store.metadata == {"config": "defaults"}
        assert store.fingerprint == b"sources"
        assert "50 shards" in repr(store)


@pytest.mark.parametrize("name", ["vectors", "intent_masks", "risks", "priorities"])
def test_columns_are_views_into_the_map(path: Path, name: str) -> None:
    with open_store(path) as store:
        view = getattr(store, name)
        column = np.asarray(view)
        assert view.readonly
        assert column.ctypes.data in map_range(path)
        assert column.ctypes.data + column.nbytes - 1 in map_range(path)
        assert column.shape[0] == 50


@pytest.mark.parametrize("n_shards", [1, 2, 17, 50])
@pytest.mark.parametrize("dims", [3, 24, 64])
def test_vectors_begin_at_a_multiple_of_64(tmp_path: Path, n_shards: int, dims: int) -> None:
    write_store(tmp_path / "s", plain_bundle(n_shards), unit_vectors(n_shards, dims), embedding_identity="e")
    with open_store(tmp_path / "s") as store:
        assert np.asarray(store.vectors).ctypes.data % 64 == 0


def test_vectors_may_come_from_any_address(tmp_path: Path) -> None:
    vectors = unit_vectors(5, DIMS)
    for shift in range(4):
        unaligned = memoryview(b"x" * shift + vectors.tobytes())[shift:].cast("f")
        write_store(tmp_path / "s", plain_bundle(5), unaligned, embedding_identity="e")
        with open_store(tmp_path / "s") as store:
            assert np.array_equal(np.asarray(store.vectors), vectors)


def test_an_empty_store(tmp_path: Path) -> None:
    nothing = memoryview(b"").cast("f")
    write_store(tmp_path / "s", plain_bundle(0), nothing, embedding_identity="e", dims=DIMS)
    with open_store(tmp_path / "s") as store:
        assert store.bundle() == plain_bundle(0)
        assert (store.n_shards, store.dims, len(store.vectors), len(store.risks)) == (0, DIMS, 0, 0)
        assert store.values("path") == ()
        with pytest.raises(IndexError, match="there are 0"):
            store.shard(0)


def test_codes_and_values_say_what_the_rules_say(path: Path) -> None:
    bundle = plain_bundle(50)
    with open_store(path) as store:
        scopes = store.values("repo_scopes")
        assert len(scopes) == len(set(scopes)) == 8
        assert [scopes[code] for code in store.codes("repo_scopes")] == [s.rule.repo_scopes for s in bundle.shards]
        with pytest.raises(KeyError, match="has no codes"):
            store.codes("text")
        dates = store.values("active_from")
        assert sorted(dates, key=str) == ["2025-01-01", None]
        assert [dates[code] for code in store.codes("active_from")] == [s.rule.active_from for s in bundle.shards]


@pytest.mark.parametrize("index", [-1, 50, 10**9])
def test_a_shard_that_is_not_there(path: Path, index: int) -> None:
    with open_store(path) as store:
        with pytest.raises(IndexError, match="there are 50"):
            store.shard(index)
        with pytest.raises(IndexError, match="there are 50"):
            store.compact_text(index)


def test_reading_imports_neither_pyarrow_nor_numpy(path: Path) -> None:
    program = (
        "import sys; from tipstaff.store.shards import open_store\n"
        "with open_store(sys.argv[1]) as store: store.bundle(); store.verify()\n"
        "print([name for name in ('pyarrow', 'numpy', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_embedding_is_refused(path: Path) -> None:
    with pytest.raises(StoreEmbeddingError, match=r"'hash-24' with 24 dimensions, asked for are 'static' with 24"):
        open_store(path, embedding_identity="static")
    with pytest.raises(StoreEmbeddingError, match="'hash-24' with 384"):
        open_store(path, embedding_identity="hash-24", dims=384)


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="tipstaff compile"):
        open_store(tmp_path / "none")


def test_a_path_below_a_file(path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        open_store(path / "below")


def test_an_open_store_outlives_its_replacement(path: Path) -> None:
    with open_store(path) as old:
        write_store(path, plain_bundle(3, "new"), unit_vectors(3, DIMS), embedding_identity="other")
        with open_store(path) as new:
            assert new.bundle() == plain_bundle(3, "new")
        path.unlink()
        assert old.bundle() == plain_bundle(50)
        old.verify()


def test_a_closed_store_says_so(path: Path) -> None:
    store = open_store(path)
    store.shard(0)
    kept = store.vectors
    store.close()
    store.close()
    assert str(path) in Path("/proc/self/maps").read_text(), "a view that is held keeps the map"
    assert np.array_equal(np.asarray(kept), unit_vectors(50, DIMS))
    for use in (
        lambda: store.vectors,
        lambda: store.shard(0),
        lambda: store.constitution,
        store.verify,
    ):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_closing_unmaps(path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with open_store(path) as store:
        store.bundle()
        assert str(path) in Path("/proc/self/maps").read_text()
    assert str(path) not in Path("/proc/self/maps").read_text()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_threads_share_a_store(path: Path) -> None:
    expected = plain_bundle(50)

    def read(store: ShardStore) -> bool:
        return store.bundle() == expected and store.constitution == expected.constitution

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            with open_store(path) as store:
                assert all(pool.map(read, [store] * 16))
