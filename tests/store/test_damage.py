"""Damage of every kind: a store that was altered is refused, and what is refused is never half read."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import xxhash

from tests.store.bundles import plain_bundle, unit_vectors
from tipstaff.errors import StoreDamagedError, StoreError, StoreVersionError
from tipstaff.store import shards
from tipstaff.store.shards import SCHEMA_VERSION, ShardStore, open_store, write_store

MAGIC = b"TIPSTAFF"
HEADER_BYTES = 64

BUNDLE = plain_bundle(9)
DIMS = 8


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "s"
    write_store(path, BUNDLE, unit_vectors(9, DIMS), embedding_identity="e", fingerprint=b"f")
    return path.read_bytes()


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every store as one too large to be checked completely when it is opened."""
    monkeypatch.setattr(shards, "CHECK_ALL_BYTES", 0)


def flipped(content: bytes, position: int, bit: int = 0) -> bytes:
    changed = bytearray(content)
    changed[position] ^= 1 << bit
    return bytes(changed)


def directory_offset(content: bytes) -> int:
    return int(struct.unpack_from("=Q", content, 24)[0])


def directory_of(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.msgpack.decode(content[directory_offset(content) :])
    return found


def sealed(file_bytes: int, offset: int, encoded: bytes, version: int = SCHEMA_VERSION) -> bytes:
    digest = xxhash.xxh3_64_intdigest(encoded)
    fields = struct.pack("=8sIIQQQQ8x", MAGIC, version, 0, file_bytes, offset, len(encoded), digest)
    return fields + struct.pack("=Q", xxhash.xxh3_64_intdigest(fields))


def resealed(content: bytes, *, version: int = SCHEMA_VERSION, **changes: object) -> bytes:
    """Return the content with all checksums made to fit, as a forger would; `changes` are for the directory."""
    end = directory_offset(content)
    directory = directory_of(content)
    directory["parts"] = {
        name: [at, size, xxhash.xxh3_64_intdigest(content[at : at + size + -size % 64])]
        for name, (at, size, _) in directory["parts"].items()
    }
    encoded = msgspec.msgpack.encode({**directory, **changes})
    return sealed(end + len(encoded), end, encoded, version) + content[HEADER_BYTES:end] + encoded


def read_all(path: Path) -> object:
    with open_store(path) as store:
        codes = [(store.codes(name).tolist(), store.values(name)) for name in shards.CODED]
        return store.bundle(), codes, store.fingerprint, store.vectors.tolist()


def test_a_flipped_bit_is_found_wherever_it_is(sound: bytes, tmp_path: Path) -> None:
    path, chance = tmp_path / "s", random.Random(1)
    path.write_bytes(sound)
    with path.open("r+b", buffering=0) as file:
        for position, byte in enumerate(sound):
            os.pwrite(file.fileno(), bytes([byte ^ 1 << chance.randrange(8)]), position)
            with pytest.raises(StoreDamagedError, match="tipstaff compile"):
                open_store(path)
            os.pwrite(file.fileno(), bytes([byte]), position)
    assert open_store(path).bundle() == BUNDLE


def test_a_missing_end_is_found(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(sound)
    for size in [*range(len(sound) - 1, HEADER_BYTES, -37), *range(HEADER_BYTES, -1, -1)]:
        os.truncate(path, size)
        with pytest.raises(StoreDamagedError, match="bytes"):
            open_store(path)


@pytest.mark.parametrize("tail", [b"\0", b"x" * 100])
def test_a_longer_file_is_refused(sound: bytes, tmp_path: Path, tail: bytes) -> None:
    (tmp_path / "s").write_bytes(sound + tail)
    with pytest.raises(StoreDamagedError, match="should have"):
        open_store(tmp_path / "s")


@pytest.mark.parametrize(
    "content",
    [b"", b"ARROW1\0\0" * 40, b"\0" * 4096, b"# Rules\n" * 50, MAGIC * 30, bytes(range(256))],
)
def test_foreign_content_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(StoreDamagedError, match="damaged"):
        open_store(tmp_path / "s")


def test_random_content_is_refused(tmp_path: Path) -> None:
    chance = random.Random(2)
    for _ in range(200):
        (tmp_path / "s").write_bytes(MAGIC * chance.randrange(2) + chance.randbytes(chance.randrange(400)))
        with pytest.raises(StoreDamagedError):
            open_store(tmp_path / "s")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(StoreDamagedError, match="not a regular file"):
            open_store(path)


def test_another_schema_version_is_distinguished_from_damage(sound: bytes, tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(resealed(sound, version=SCHEMA_VERSION + 1))
    with pytest.raises(StoreVersionError, match=f"version {SCHEMA_VERSION + 1}, this tipstaff reads {SCHEMA_VERSION}"):
        open_store(tmp_path / "s")


def test_resealing_alone_changes_nothing(sound: bytes) -> None:
    assert resealed(sound) == sound


KERNEL = ("intent_masks", "risks", "priorities")


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("part", KERNEL)
def test_a_large_store_has_its_kernel_columns_checked_when_opened(sound: bytes, tmp_path: Path, part: str) -> None:
    offset, length, _ = directory_of(sound)["parts"][part]
    (tmp_path / "s").write_bytes(flipped(sound, offset + length - 1))
    with pytest.raises(StoreDamagedError, match=part):
        open_store(tmp_path / "s")


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    ("part", "use"),
    [
        ("shard_offsets", lambda store: store.shard(0)),
        ("shard_offsets", lambda store: store.compact_text(8)),
        ("codes.path", lambda store: store.codes("path")),
        ("values", lambda store: store.values("path")),
        *((name, lambda store: store.verify()) for name in ("vectors", "shards", "values")),
        *(
            (name, lambda store, name=name: getattr(store, name))
            for name in ("constitution", "manifest", "diagnostics", "relations", "fingerprint")
        ),
    ],
)
def test_a_large_store_has_its_parts_checked_before_use(
    sound: bytes, tmp_path: Path, part: str, use: Callable[[ShardStore], object]
) -> None:
    offset, _, _ = directory_of(sound)["parts"][part]
    (tmp_path / "s").write_bytes(flipped(sound, offset))
    with open_store(tmp_path / "s") as store, pytest.raises(StoreDamagedError, match=part):
        use(store)


def test_shards_that_are_no_documents_are_refused(sound: bytes, tmp_path: Path) -> None:
    offset, length, _ = directory_of(sound)["parts"]["shards"]
    (tmp_path / "s").write_bytes(resealed(sound[:offset] + b"\xff" * length + sound[offset + length :]))
    with open_store(tmp_path / "s") as store, pytest.raises(StoreDamagedError, match="shard 0 cannot be decoded"):
        store.shard(0)


def test_forged_checksums_give_an_error_or_content_but_no_crash(sound: bytes, tmp_path: Path) -> None:
    # Checksums find accidents, not forgers; even so nothing may read outside the file.
    path, chance = tmp_path / "s", random.Random(3)
    end, refused = directory_offset(sound), 0
    for _ in range(400):
        content = sound
        for _ in range(chance.choice((1, 1, 2, 8))):
            content = flipped(content, chance.randrange(HEADER_BYTES, end), chance.randrange(8))
        path.write_bytes(resealed(content))
        try:
            read_all(path)
        except StoreError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"n_shards": 10}, "are not"),
        ({"n_shards": -1}, "invalid store"),
        ({"n_shards": 2**60}, "are not"),
        ({"dims": 0}, "invalid store"),
        ({"dims": 2**62}, "are not|not one of"),
        ({"parts": {}}, "are not"),
        ({"parts": {"vectors": (2**40, 288, 0)}}, "lies outside"),
        ({"parts": {"vectors": (64, 2**62, 0)}}, "lies outside"),
        ({"parts": {"vectors": (-64, 288, 0)}}, "lies outside"),
        ({"parts": {"vectors": (64, -288, 0)}}, "lies outside"),
    ],
)
def test_a_forged_directory_is_refused(sound: bytes, tmp_path: Path, changes: dict[str, object], what: str) -> None:
    (tmp_path / "s").write_bytes(resealed(sound, **changes))
    with pytest.raises(StoreDamagedError, match=what):
        read_all(tmp_path / "s")


def test_a_directory_of_another_shape_is_refused(sound: bytes, tmp_path: Path) -> None:
    end = directory_offset(sound)
    for encoded in (b"\xc1", msgspec.msgpack.encode({"n_shards": "many"}), msgspec.msgpack.encode([1, 2]), b"\xa1\xff"):
        header = sealed(end + len(encoded), end, encoded)
        (tmp_path / "s").write_bytes(header + sound[HEADER_BYTES:end] + encoded)
        with pytest.raises(StoreDamagedError, match="directory cannot be decoded"):
            open_store(tmp_path / "s")


@pytest.mark.parametrize("offset", [0, 8, 2**63])
def test_a_directory_elsewhere_is_refused(sound: bytes, tmp_path: Path, offset: int) -> None:
    header = sealed(len(sound), offset, sound[directory_offset(sound) :])
    (tmp_path / "s").write_bytes(header + sound[HEADER_BYTES:])
    with pytest.raises(StoreDamagedError, match="does not end where the file does"):
        open_store(tmp_path / "s")
