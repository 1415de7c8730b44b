"""Damage of every kind: a store that was altered is refused, and what is refused is never half read."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import xxhash

from tests.store.bundles import plain_bundle, unit_vectors
from tipstaff.errors import StoreDamagedError, StoreError, StoreVersionError
from tipstaff.store import container, shards
from tipstaff.store.container import HEADER_BYTES, SCHEMA_VERSION, Container, Directory, Header
from tipstaff.store.shards import open_store, write_store

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
    monkeypatch.setattr(container, "CHECK_ALL_BYTES", 0)
    monkeypatch.setattr(shards, "CHECK_ALL_BYTES", 0)


def flipped(content: bytes, position: int, bit: int = 0) -> bytes:
    changed = bytearray(content)
    changed[position] ^= 1 << bit
    return bytes(changed)


def header_of(content: bytes) -> Header:
    return Header(*struct.unpack_from("=8xI4xQQQQ", content))


def directory_of(content: bytes) -> Directory:
    header = header_of(content)
    return msgspec.msgpack.decode(content[header.directory_offset :], type=Directory)


def resealed(content: bytes, *, version: int = SCHEMA_VERSION, **changes: object) -> bytes:
    """Return the content with all checksums made to fit, as a forger would; `changes` are for the directory."""
    end = header_of(content).directory_offset
    directory = msgspec.structs.replace(directory_of(content), **changes)
    segments = {
        name: (offset, length, xxhash.xxh3_64_intdigest(content[offset : offset + length]))
        for name, (offset, length, _) in directory.segments.items()
    }
    frame, position = xxhash.xxh3_64(), HEADER_BYTES
    for offset, length, _ in sorted(segments.values()):
        frame.update(content[position:offset])
        position = offset + length
    frame.update(content[position:end])
    whole = xxhash.xxh3_64_intdigest(content[HEADER_BYTES:end])
    directory = msgspec.structs.replace(directory, segments=segments, frame=frame.intdigest(), content=whole)
    encoded = msgspec.msgpack.encode(directory)
    header = Header(version, end + len(encoded), end, len(encoded), xxhash.xxh3_64_intdigest(encoded))
    return header.pack() + content[HEADER_BYTES:end] + encoded


def read_all(path: Path) -> object:
    with open_store(path) as store:
        return store.bundle(), store.to_arrow().to_pylist(), store.fingerprint, store.mean.tolist()


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
    [b"", b"ARROW1\0\0" * 40, b"\0" * 4096, b"# Rules\n" * 50, container.MAGIC * 30, bytes(range(256))],
)
def test_foreign_content_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(StoreDamagedError, match="damaged"):
        open_store(tmp_path / "s")


def test_random_content_is_refused(tmp_path: Path) -> None:
    chance = random.Random(2)
    for _ in range(200):
        (tmp_path / "s").write_bytes(container.MAGIC * chance.randrange(2) + chance.randbytes(chance.randrange(400)))
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


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("segment", ["intent_mask.1", "risk.1", "priority.1", "scale.1", "error_bound.1", "mean"])
def test_a_large_store_has_its_kernel_columns_checked_when_opened(sound: bytes, tmp_path: Path, segment: str) -> None:
    offset, length, _ = directory_of(sound).segments[segment]
    (tmp_path / "s").write_bytes(flipped(sound, offset + length - 1))
    with pytest.raises(StoreDamagedError, match=segment):
        open_store(tmp_path / "s")


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("segment", ["id.1", "text.1", "compact_text.1", "path.1", "intents.6", "heading.4", "line.1"])
def test_a_large_store_has_its_offsets_and_codes_checked_before_use(sound: bytes, tmp_path: Path, segment: str) -> None:
    offset, length, _ = directory_of(sound).segments[segment]
    (tmp_path / "s").write_bytes(flipped(sound, offset + length - 1))
    with open_store(tmp_path / "s") as store:
        uses: list[Callable[[], object]] = [
            lambda: store.shard(0),
            lambda: store.compact_text(8),
            lambda: store.codes("path"),
            lambda: store.values("path"),
            store.bundle,
            store.to_arrow,
            store.verify,
        ]
        for use in uses:
            with pytest.raises(StoreDamagedError, match=segment):
                use()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("part", ["constitution", "manifest", "diagnostics", "relations", "fingerprint"])
def test_a_large_store_has_its_parts_checked_before_use(sound: bytes, tmp_path: Path, part: str) -> None:
    offset, _, _ = directory_of(sound).segments[part]
    (tmp_path / "s").write_bytes(flipped(sound, offset))
    with open_store(tmp_path / "s") as store:
        assert store.shard(3) == BUNDLE.shards[3]
        with pytest.raises(StoreDamagedError, match=part):
            getattr(store, part)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("segment", ["embedding.2", "embedding_i8.2", "text.2", "compact_text.2"])
def test_a_large_store_has_its_bulk_checked_by_verify(sound: bytes, tmp_path: Path, segment: str) -> None:
    offset, _, _ = directory_of(sound).segments[segment]
    (tmp_path / "s").write_bytes(flipped(sound, offset))
    with open_store(tmp_path / "s") as store:
        store.shard(8)
        with pytest.raises(StoreDamagedError, match=segment):
            store.verify()


@pytest.mark.usefixtures("large")
def test_texts_that_are_no_utf8_are_refused(sound: bytes, tmp_path: Path) -> None:
    for name in ("text.2", "compact_text.2"):
        offset, _, _ = directory_of(sound).segments[name]
        (tmp_path / "s").write_bytes(flipped(sound, offset, 7))
        with open_store(tmp_path / "s") as store:
            with pytest.raises(StoreDamagedError, match="shard 0 cannot be decoded"):
                store.shard(0)
            with pytest.raises(StoreDamagedError, match="Arrow cannot read it"):
                store.to_arrow()


@pytest.mark.usefixtures("large")
def test_arrow_never_sees_metadata_of_its_own_that_was_altered(sound: bytes, tmp_path: Path) -> None:
    start, length = directory_of(sound).arrow
    for position in (start, start + 20, start + length - 30, start + length - 1):
        (tmp_path / "s").write_bytes(flipped(sound, position))
        with open_store(tmp_path / "s") as store, pytest.raises(StoreDamagedError, match="Arrow metadata"):
            store.to_arrow()


def test_forged_checksums_give_an_error_or_content_but_no_crash(sound: bytes, tmp_path: Path) -> None:
    # Checksums find accidents, not forgers; even so nothing may read outside the file.
    path, chance = tmp_path / "s", random.Random(3)
    end, refused = header_of(sound).directory_offset, 0
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
        ({"n_shards": 10}, "lies outside"),
        ({"n_shards": -1}, "invalid store|lies outside"),
        ({"n_shards": 2**60}, "lies outside"),
        ({"dims": 0}, "invalid store"),
        ({"dims": 2**62}, "lies outside|not one of"),
        ({"segments": {}}, "lies outside"),
        ({"segments": {"embedding.2": (2**40, 288, 0)}}, "lies outside"),
        ({"segments": {"embedding.2": (64, 2**62, 0)}}, "lies outside"),
        ({"segments": {"embedding.2": (-64, 288, 0)}}, "lies outside"),
        ({"segments": {"embedding.2": (64, -288, 0)}}, "lies outside"),
    ],
)
def test_a_forged_directory_is_refused(sound: bytes, tmp_path: Path, changes: dict[str, object], what: str) -> None:
    (tmp_path / "s").write_bytes(resealed(sound, **changes))
    with pytest.raises(StoreDamagedError, match=what):
        read_all(tmp_path / "s")


@pytest.mark.parametrize("arrow", [(0, 0), (64, 10), (2**40, 5), (0, 2**40), (-9, -3)])
def test_a_forged_extent_of_the_arrow_part_is_refused(sound: bytes, tmp_path: Path, arrow: tuple[int, int]) -> None:
    (tmp_path / "s").write_bytes(resealed(sound, arrow=arrow))
    with pytest.raises(StoreDamagedError, match="Arrow cannot read it"):
        read_all(tmp_path / "s")


def test_a_directory_of_another_shape_is_refused(sound: bytes, tmp_path: Path) -> None:
    header = header_of(sound)
    for encoded in (b"\xc1", msgspec.msgpack.encode({"n_shards": "many"}), msgspec.msgpack.encode([1, 2]), b"\xa1\xff"):
        end = header.directory_offset
        forged = Header(SCHEMA_VERSION, end + len(encoded), end, len(encoded), xxhash.xxh3_64_intdigest(encoded))
        (tmp_path / "s").write_bytes(forged.pack() + sound[HEADER_BYTES:end] + encoded)
        with pytest.raises(StoreDamagedError, match="directory cannot be decoded"):
            Container(tmp_path / "s")


@pytest.mark.parametrize("offset", [0, 8, 2**63])
def test_a_directory_elsewhere_is_refused(sound: bytes, tmp_path: Path, offset: int) -> None:
    forged = header_of(sound)._replace(directory_offset=offset)
    (tmp_path / "s").write_bytes(forged.pack() + sound[HEADER_BYTES:])
    with pytest.raises(StoreDamagedError, match="does not end where the file does"):
        Container(tmp_path / "s")
