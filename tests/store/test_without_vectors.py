"""A store whose shards are found by an index of their own holds neither vectors nor int8 rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.store.bundles import plain_bundle
from tipstaff.errors import ConfigError, StoreDamagedError
from tipstaff.store import shards as shards_module
from tipstaff.store.shards import open_store, write_store


@pytest.mark.parametrize("n_shards", [0, 1, 300])
def test_the_index_replaces_the_vectors(n_shards: int, tmp_path: Path) -> None:
    bundle = plain_bundle(n_shards)
    write_store(tmp_path / "s", bundle, None, embedding_identity="test", dims=16, search=b"an index")
    with open_store(tmp_path / "s", embedding_identity="test", dims=16) as store:
        assert bytes(store.search) == b"an index"
        assert len(store.vectors) == 0
        assert len(store.intent_masks) == len(store.risks) == n_shards
        assert store.bundle() == bundle
        store.verify()


@pytest.mark.parametrize("options", [{"dims": 16}, {"search": b"an index"}])
def test_one_of_both_there_must_be(options: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="without vectors a store needs their dimensions and an index"):
        write_store(tmp_path / "s", plain_bundle(3), None, embedding_identity="test", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("part", ["vectors"])
def test_damaged_vectors_are_found(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "CHECK_ALL_BYTES", 0)
    vectors = np.eye(64, 16, dtype=np.float32)
    write_store(tmp_path / "s", plain_bundle(64), vectors, embedding_identity="test")
    with open_store(tmp_path / "s") as store:
        offset = store._directory.parts[part][0]
    content = bytearray((tmp_path / "s").read_bytes())
    content[offset + 3] ^= 1
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(StoreDamagedError, match=part), open_store(tmp_path / "s") as store:
        store.verify()  # vectors of a large store are read when they are asked for
