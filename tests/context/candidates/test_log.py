"""Tampering, tearing, full disks and lost keys: nothing acknowledged is lost, and nothing strange goes unsaid."""

from __future__ import annotations

import errno
import itertools
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.context.candidates.clock import Clock
from tipstaff.context.candidates import log as log_module
from tipstaff.context.candidates.rows import Rows
from tipstaff.context.candidates.store import CandidateStore
from tipstaff.errors import ConfigError, StoreDamagedError, StoreWriteError

TEXTS = ("alpha beta gamma", "one two three", "red green blue", "north south east")


def opened(folder: Path) -> CandidateStore:
    return CandidateStore(folder / "c.jsonl", clock=Clock(), sync=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with opened(tmp_path) as store:
        for text in TEXTS:
            store.upsert({"content": text, "score": 0.8, "success_delta": 1})
    return tmp_path


def contents(store: CandidateStore) -> list[str]:
    return [found.content for found in store.candidates()]


def kinds(store: CandidateStore) -> list[str]:
    return [incident.kind for incident in store.incidents]


def edit(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = folder / "c.jsonl"
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def aside(folder: Path) -> list[dict[str, Any]]:
    path = folder / "c.jsonl.set-aside.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_only_the_owner_reads_any_of_the_files(folder: Path) -> None:
    edit(folder, lambda lines: [*lines, b"x\n"])
    opened(folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {f"c.jsonl{ending}" for ending in ("", ".key", ".head", ".lock", ".set-aside.jsonl")}
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_every_entry_is_an_object_of_json(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "c.jsonl").read_bytes().splitlines()]
    assert [line["entry"]["what"] for line in lines] == ["started", "new", "new", "new", "new"]
    assert [line["entry"]["number"] for line in lines] == [1, 2, 3, 4, 5]
    for before, line in itertools.pairwise(lines):
        assert line["entry"]["previous"] == before["mac"][:32]


@pytest.mark.parametrize(
    ("find", "replacement"),
    [(b'"score":0.8', b'"score":0.9'), (b"one two", b"one  two"), (b'"what":"new"', b'"what":"new","extra":true')],
)
def test_a_changed_entry_is_skipped_set_aside_and_reported(folder: Path, find: bytes, replacement: bytes) -> None:
    edit(folder, lambda lines: [*lines[:2], lines[2].replace(find, replacement), *lines[3:]])
    store = opened(folder)
    assert contents(store) == [TEXTS[0], *TEXTS[2:]]
    assert kinds(store) == ["tampered"]
    (kept,) = aside(folder)
    assert replacement in kept["text"].encode()
    # Reading again does not set it aside again, and writing continues.
    store.upsert({"content": "after it"})
    assert contents(opened(folder)) == [TEXTS[0], *TEXTS[2:], "after it"]
    assert len(aside(folder)) == 1


def test_verifying_reads_what_is_there_now(folder: Path) -> None:
    store = opened(folder)
    assert store.verify() == ()
    edit(folder, lambda lines: [*lines[:2], lines[2].replace(b"0.8", b"0.9"), *lines[3:]])
    assert [incident.kind for incident in store.verify()] == ["tampered"]
    assert contents(store) == [TEXTS[0], *TEXTS[2:]]


def test_a_reading_that_is_interrupted_begins_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, other = opened(folder), opened(folder)
    other.upsert_many([{"content": "more of it"}, {"content": "and yet another"}])
    take = Rows.take

    def interrupted(rows: Rows, entry: Any, slot: int = -1) -> None:
        if getattr(entry, "content", "") == "and yet another":
            raise MemoryError
        take(rows, entry, slot)

    with monkeypatch.context() as patch:
        patch.setattr(Rows, "take", interrupted)
        with pytest.raises(MemoryError):
            store.candidates()
    assert contents(store) == [*TEXTS, "more of it", "and yet another"]


def test_compaction_drops_damage_only_once_it_is_set_aside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(folder, lambda lines: [*lines[:2], lines[2].replace(b"one", b"ONE"), *lines[3:]])
    before = (folder / "c.jsonl").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(log_module, "set_aside", lambda *_: False)
        store = opened(folder)
        assert kinds(store) == ["tampered", "not-set-aside"]
        with pytest.raises(StoreWriteError, match="could not be set aside"):
            store.compact()
        assert (folder / "c.jsonl").read_bytes() == before
    store = opened(folder)
    store.compact()
    assert store.verify() == ()
    assert "ONE two three" in aside(folder)[0]["text"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda lines: [*lines[:2], *lines[3:]], ["missing"]),  # one from the middle
        (lambda lines: lines[1:], ["missing"]),  # the beginning
        (lambda lines: lines[:-1], ["rolled-back"]),  # the end
        (lambda lines: lines[:-2], ["rolled-back"]),
        (lambda lines: [*lines, lines[2]], ["repeated"]),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], ["missing", "repeated"]),
        (lambda lines: [lines[0], *lines], ["repeated"]),
    ],
)
def test_deleted_repeated_and_moved_entries_show(
    folder: Path, change: Callable[[list[bytes]], list[bytes]], expected: list[str]
) -> None:
    edit(folder, change)
    store = opened(folder)
    assert kinds(store) == expected
    assert len(contents(store)) >= 2
    if expected == ["rolled-back"]:
        # The gap stays visible when others write after it.
        store.upsert({"content": "after it"})
        assert kinds(opened(folder)) == ["missing"]
    assert [found["kind"] for found in aside(folder)][: len(expected)] == expected


def test_an_older_copy_of_the_log_is_noticed(folder: Path) -> None:
    old = (folder / "c.jsonl").read_bytes()
    with opened(folder) as store:
        store.upsert({"content": "newer"})
        store.compact()
    (folder / "c.jsonl").write_bytes(old)
    assert kinds(opened(folder)) == ["rolled-back"]


def test_an_anchor_kept_elsewhere_tells_of_both_files_being_put_back(folder: Path) -> None:
    old = [(path, path.read_bytes()) for path in folder.iterdir()]
    with opened(folder) as store:
        store.upsert({"content": "newer"})
        anchor = store.anchor
        assert store.has_reached(anchor)
    for path, data in old:
        path.write_bytes(data)
    with opened(folder) as store:
        assert store.incidents == ()
        assert not store.has_reached(anchor)
        assert store.has_reached(store.anchor)
        assert not store.has_reached(store.anchor[:-1] + "x")
        for wrong in ("", "a:b", "a:1:", "a:-1:b"):
            with pytest.raises(ConfigError, match="anchor"):
                store.has_reached(wrong)


def test_an_emptied_or_removed_log_is_noticed(folder: Path) -> None:
    (folder / "c.jsonl").write_bytes(b"")
    store = opened(folder)
    assert kinds(store) == ["rolled-back"]
    store.upsert({"content": "after it"})
    (folder / "c.jsonl").unlink()
    assert kinds(opened(folder)) == ["rolled-back"]


def test_a_missing_or_damaged_head_is_reported_once_and_made_again(folder: Path) -> None:
    head = folder / "c.jsonl.head"
    for damage in (head.unlink, lambda: head.write_bytes(b"x" * 600)):
        damage()
        store = opened(folder)
        assert kinds(store) == ["anchor"]
        store.upsert({"content": f"after {damage}"})
        store.upsert({"content": f"again {damage}"})
        assert opened(folder).incidents == ()


def test_a_torn_head_leaves_the_one_before(folder: Path) -> None:
    head = folder / "c.jsonl.head"
    data = head.read_bytes()
    assert len(data) == 512
    for slot in (0, 1):
        torn = bytearray(data)
        torn[slot * 256 + 40] ^= 1
        head.write_bytes(torn)
        assert opened(folder).incidents == ()


def test_entries_of_another_log_do_not_count(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.jsonl.key").write_bytes((folder / "c.jsonl.key").read_bytes())
    (other / "c.jsonl.key").chmod(0o600)
    with opened(other) as store:
        for text in ("foreign one", "strange", "odd", "alien", "remote"):
            store.upsert({"content": text})
    foreign = (other / "c.jsonl").read_bytes().splitlines(keepends=True)[-1]
    edit(folder, lambda lines: [*lines, foreign])
    store = opened(folder)
    assert contents(store) == list(TEXTS)
    assert kinds(store) == ["repeated"]


@pytest.mark.parametrize("cut", [1, 2, 30, 75, 150])
def test_a_torn_end_is_set_aside_and_writing_continues(folder: Path, cut: int) -> None:
    path = folder / "c.jsonl"
    path.write_bytes(path.read_bytes() + b'{"mac":"' + b"0" * 64 + b'","entry":{"what":"new","id":"cand-1'[:cut])
    store = opened(folder)
    assert contents(store) == list(TEXTS)
    assert kinds(store) == ["torn"]
    store.upsert({"content": "after it"})
    again = opened(folder)
    assert contents(again) == [*TEXTS, "after it"]
    assert kinds(again) == ["torn"]
    assert len(aside(folder)) == 1


def test_an_end_that_lacks_its_newline_alone_counts(folder: Path) -> None:
    path = folder / "c.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    store = opened(folder)
    assert contents(store) == list(TEXTS)
    assert store.incidents == ()
    store.upsert({"content": "after it"})
    assert contents(opened(folder)) == [*TEXTS, "after it"]
    assert opened(folder).incidents == ()


def test_another_store_that_is_open_meets_a_torn_end(folder: Path) -> None:
    left, right = opened(folder), opened(folder)
    path = folder / "c.jsonl"
    with path.open("ab") as file:
        file.write(b'{"mac":"00')
    right.upsert({"content": "after it"})
    assert contents(left) == contents(right) == [*TEXTS, "after it"]
    assert "torn" in kinds(left)
    assert "torn" in kinds(right)


def test_empty_lines_are_nothing(folder: Path) -> None:
    edit(folder, lambda lines: [b"\n", *lines[:2], b"\n\n", *lines[2:], b"\n"])
    assert contents(opened(folder)) == list(TEXTS)
    assert opened(folder).incidents == ()


@pytest.mark.parametrize("data", [b"\xff\xfe garbage", b"\0" * 5000, b'{"mac":"x"}\n[]\n'])
def test_a_log_of_which_nothing_verifies_is_left_as_it_is(folder: Path, data: bytes) -> None:
    path = folder / "c.jsonl"
    path.write_bytes(data)
    with pytest.raises(StoreDamagedError, match="nothing was changed"):
        opened(folder)
    assert path.read_bytes() == data


def test_another_key_is_refused(folder: Path) -> None:
    before = (folder / "c.jsonl").read_bytes()
    with pytest.raises(StoreDamagedError, match="another key"):
        CandidateStore(folder / "c.jsonl", key=b"k" * 32)
    assert (folder / "c.jsonl").read_bytes() == before


@pytest.mark.parametrize("data", [None, b"", b"short"])
def test_a_lost_key_is_never_replaced(folder: Path, data: bytes | None) -> None:
    key = folder / "c.jsonl.key"
    key.unlink() if data is None else key.write_bytes(data)
    before = (folder / "c.jsonl").read_bytes()
    with pytest.raises(StoreDamagedError, match="restore it"):
        opened(folder)
    assert (folder / "c.jsonl").read_bytes() == before
    assert key.exists() is (data is not None)
    (folder / "c.jsonl").unlink()
    with pytest.raises(StoreDamagedError, match="restore it"):
        opened(folder)  # the head still says that there were entries


def test_a_key_cut_short_before_anything_was_signed_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl.key").write_bytes(b"")
    assert contents(opened(tmp_path)) == []


def test_a_key_that_others_may_read_is_reported(folder: Path) -> None:
    (folder / "c.jsonl.key").chmod(0o644)
    assert kinds(opened(folder)) == ["exposed"]


def test_an_own_key_needs_no_file(tmp_path: Path) -> None:
    with CandidateStore(tmp_path, key=b"k" * 32) as store:
        store.upsert({"content": "x"})
    assert not (tmp_path / "candidates.jsonl.key").exists()
    assert len(CandidateStore(tmp_path, key=b"k" * 32).candidates()) == 1
    with pytest.raises(ValueError, match="16 bytes"):
        CandidateStore(tmp_path, key=b"k")


def test_a_newer_version_of_an_entry_is_skipped_and_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(folder)
    with monkeypatch.context() as patch:
        encoder = log_module.ENCODER

        class Newer:
            @staticmethod
            def encode(entry: Any) -> bytes:
                return encoder.encode(entry).replace(b'"what":"new"', b'"what":"brand-new"')

        patch.setattr(log_module, "ENCODER", Newer)
        store.upsert({"content": "from the future"})
    again = opened(folder)
    assert contents(again) == list(TEXTS)
    assert kinds(again) == ["unknown"]


class Disk:
    """Lets calls through until `room` bytes are written."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.write = os.write

    def __call__(self, descriptor: int, data: Any) -> int:
        part = bytes(data)[: self.room]
        if not part:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(part)
        return self.write(descriptor, part)


@pytest.mark.parametrize("room", [0, 1, 100, 300])
@pytest.mark.parametrize("can_truncate", [True, False])
def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch, room: int, can_truncate: bool) -> None:
    store = opened(folder)
    before = (folder / "c.jsonl").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", Disk(room))
        if not can_truncate:
            patch.setattr(os, "ftruncate", failing(errno.EIO))
        with pytest.raises(StoreWriteError, match="No space left") as caught:
            store.upsert_many([{"content": f"x{number} y{number} z{number}" * 9} for number in range(3)])
        assert caught.value.errno == errno.ENOSPC
    data = (folder / "c.jsonl").read_bytes()
    assert data.startswith(before)
    if can_truncate:
        assert data == before
    # Neither memory nor disk holds what was refused, and the store continues.
    assert contents(store) == contents(opened(folder)) == list(TEXTS)
    store.upsert({"content": "after it"})
    assert contents(opened(folder)) == [*TEXTS, "after it"]


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def test_a_disk_that_cannot_flush(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = CandidateStore(folder / "c.jsonl", clock=Clock())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", failing(errno.EIO))
        with pytest.raises(StoreWriteError, match="Input/output"):
            store.upsert({"content": "not kept"})
    assert contents(store) == list(TEXTS)


def test_a_full_disk_while_compacting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(folder)
    before = (folder / "c.jsonl").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing(errno.ENOSPC))
        with pytest.raises(StoreWriteError):
            store.compact()
    assert (folder / "c.jsonl").read_bytes() == before
    assert contents(store) == list(TEXTS)
    store.compact()
    assert store.verify() == ()


def test_a_head_that_cannot_be_written_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing(errno.ENOSPC))
        store.upsert({"content": "kept all the same"})
    assert contents(opened(folder)) == [*TEXTS, "kept all the same"]
    assert opened(folder).incidents == ()


@pytest.mark.parametrize("call", ["open"])
def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.setattr(os, call, failing(errno.EROFS))
    with pytest.raises(StoreWriteError, match="Read-only"):
        opened(tmp_path)


def test_appends_are_flushed_where_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushes: list[int] = []
    monkeypatch.setattr(os, "fdatasync", flushes.append)
    with CandidateStore(tmp_path / "a") as store:
        flushes.clear()
        store.upsert_many([{"content": text} for text in TEXTS])
        assert len(flushes) == 1
    with CandidateStore(tmp_path / "b", sync=False) as store:
        flushes.clear()
        store.upsert({"content": "x"})
        assert flushes == []
