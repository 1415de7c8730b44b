"""Sign rows and tenants in the store's file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.store.bundles import plain_bundle
from tipstaff.errors import StoreDamagedError
from tipstaff.kernels import nibble_rows, sign_rows
from tipstaff.store import shards as shards_module
from tipstaff.store import writing
from tipstaff.store.shards import open_store, write_store


def written(path: Path, n_shards: int, dims: int) -> np.ndarray:
    vectors = np.random.default_rng(n_shards).standard_normal((n_shards, dims), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    write_store(path, plain_bundle(n_shards), vectors, embedding_identity="test")
    return vectors


@pytest.mark.parametrize("n_shards", [100, 127, 128, 130])
@pytest.mark.parametrize("dims", [1, 9, 64, 100])
def test_signs_are_those_of_the_vectors(
    n_shards: int, dims: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "SIGNS_FROM_SHARDS", 100)
    vectors = written(tmp_path / "s", n_shards, dims)
    with open_store(tmp_path / "s") as store:
        assert store.signs is not None
        expected = sign_rows(vectors, store.mean, dims)
        assert [bytes(part) for part in store.signs] == [bytes(part) for part in expected]
        store.verify()


def test_a_store_that_is_scanned_whole_has_none(tmp_path: Path) -> None:
    written(tmp_path / "s", 300, 8)
    with open_store(tmp_path / "s") as store:
        assert store.signs is None


@pytest.mark.parametrize("part", ["sign_factors", "sign_bits", "nibble_scales", "nibble_errors", "nibbles"])
def test_damaged_signs_and_nibbles_are_found(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SIGNS_FROM_SHARDS" if part.startswith("sign") else "NIBBLES_FROM_SHARDS", 100)
    monkeypatch.setattr(shards_module, "CHECK_ALL_BYTES", 0)
    written(tmp_path / "s", 200, 128)
    with open_store(tmp_path / "s") as store:
        offset = store._container.directory.segments[part][0]  # type: ignore[union-attr]
    content = bytearray((tmp_path / "s").read_bytes())
    content[offset + 3] ^= 1
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(StoreDamagedError, match=part), open_store(tmp_path / "s") as store:
        store.verify()  # bits of a large store are read when they are asked for


def test_signs_of_another_number_of_shards_are_damage(tmp_path: Path) -> None:
    vectors = np.eye(128, 16, dtype=np.float32)
    bits, factors = sign_rows(vectors[:64], np.zeros(16, np.float32), 16)
    write_store(tmp_path / "s", plain_bundle(128), vectors, embedding_identity="test", signs=(bits, factors))
    with pytest.raises(StoreDamagedError, match="sign rows"):
        open_store(tmp_path / "s")


def test_nibbles_are_those_of_the_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "NIBBLES_FROM_SHARDS", 100)
    for dims in (128, 200, 256):
        written(tmp_path / "s", 130, dims)
        with open_store(tmp_path / "s") as store:
            assert store.nibbles is not None
            expected = nibble_rows(store.rows_i8, store.scales, store.error_bounds, dims)
            assert [bytes(part) for part in store.nibbles] == [bytes(part) for part in expected]
            store.verify()


def test_few_or_short_vectors_and_those_with_signs_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "NIBBLES_FROM_SHARDS", 100)
    for n_shards, dims in ((99, 128), (100, 127)):
        written(tmp_path / "s", n_shards, dims)
        with open_store(tmp_path / "s") as store:
            assert store.nibbles is None
    monkeypatch.setattr(writing, "SIGNS_FROM_SHARDS", 100)
    written(tmp_path / "s", 100, 128)
    with open_store(tmp_path / "s") as store:
        assert store.nibbles is None
        assert store.signs is not None


def test_nibbles_of_another_number_of_shards_are_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_few(codes: object, scales: object, errors: object, dims: int) -> tuple[object, ...]:
        return tuple(part[:64] for part in nibble_rows(codes, scales, errors, dims))  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "NIBBLES_FROM_SHARDS", 100)
    monkeypatch.setattr("tipstaff.kernels.nibble_rows", too_few)
    written(tmp_path / "s", 130, 128)
    with pytest.raises(StoreDamagedError, match="rows of nibbles"):
        open_store(tmp_path / "s")


def test_parts_that_hold_no_whole_numbers_are_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(codes: object, scales: object, errors: object, dims: int) -> tuple[object, ...]:
        halves, half_scales, half_errors = nibble_rows(codes, scales, errors, dims)  # type: ignore[arg-type]
        return halves, half_scales.cast("B")[:-1], half_errors

    monkeypatch.setattr(writing, "NIBBLES_FROM_SHARDS", 100)
    monkeypatch.setattr("tipstaff.kernels.nibble_rows", odd)
    written(tmp_path / "s", 130, 128)
    with pytest.raises(StoreDamagedError, match="rows of nibbles"):
        open_store(tmp_path / "s")
