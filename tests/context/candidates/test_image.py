"""An image spares the reading of a long log, and never hides what became of the log."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.context.candidates.clock import Clock
from tipstaff.context.candidates import log as log_module
from tipstaff.context.candidates.config import CandidateConfig
from tipstaff.context.candidates.records import CandidateState
from tipstaff.context.candidates.store import CandidateStore

WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet".split()


def opened(folder: Path, config: CandidateConfig | None = None) -> CandidateStore:
    return CandidateStore(folder / "c.jsonl", clock=Clock(), sync=False, config=config)


def image_of(folder: Path) -> Path:
    return folder / "c.jsonl.image"


@pytest.fixture(autouse=True)
def soon_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "WORTH_ENTRIES", 10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with opened(tmp_path) as store:
        for number in range(60):
            text = f"{WORDS[number % 10]} {number % 20} only {number % 20}" if number % 7 else "!" * (1 + number % 3)
            store.upsert(
                {
                    "content": text,
                    "score": 0.9,
                    "success_delta": 1,
                    "source_ref": f"s{number}",
                    "tool_tag": ("bash", "edit")[number % 2],
                }
            )
        store.evaluate_all()
        store.mark_used([found.id for found in store.candidates(CandidateState.PROMOTED)[:2]])
    assert not image_of(tmp_path).exists()
    opened(tmp_path)
    assert image_of(tmp_path).exists()
    return tmp_path


def plainly_read(folder: Path, to: Path) -> CandidateStore:
    shutil.copytree(folder, to)
    image_of(to).unlink()
    return opened(to)


def without_reading(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    read: list[int] = []
    plain = log_module.checked_entry
    monkeypatch.setattr(log_module, "checked_entry", lambda key, line: read.append(1) or plain(key, line))
    return read


def test_what_it_gives_is_what_the_log_gives(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = plainly_read(folder, tmp_path / "plain")
    read = without_reading(monkeypatch)
    store = opened(folder)
    assert not read
    assert store.candidates() == plain.candidates()
    assert store.anchor == plain.anchor
    assert store.incidents == ()
    # Both continue alike: evidence finds the same candidate, also where there are no words.
    for text in ("alpha 0 only 0", "ALPHA 0 only", "!!", "something new altogether"):
        for tool in ("bash", "edit"):
            found = [one.upsert({"content": text, "tool_tag": tool, "score": 0.4}) for one in (store, plain)]
            assert found[0].evidence_count == found[1].evidence_count
            assert found[0].content == found[1].content
    assert [found.content for found in store.candidates()] == [found.content for found in plain.candidates()]
    assert stat.S_IMODE(image_of(folder).stat().st_mode) == 0o600


def test_what_came_after_it_is_read_from_the_log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(folder) as store:
        store.upsert({"content": "came later"})
    read = without_reading(monkeypatch)
    again = opened(folder)
    assert again.candidates()[-1].content == "came later"
    assert len(read) == 1
    assert again.verify() == ()
    assert len(read) > 60  # that was asked for every line


def _edit(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:5], lines[5].replace(b"0.9", b"0.8"), *lines[6:]])


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (_edit, "tampered"),
        (lambda data: b"".join(line for number, line in enumerate(data.splitlines(True)) if number != 7), "missing"),
        (lambda data: data[: len(data) // 2], "rolled-back"),
        (lambda data: b"x" + data, "tampered"),
    ],
)
def test_a_log_that_was_changed_shows_it_all_the_same(
    folder: Path, change: Callable[[bytes], bytes], kind: str
) -> None:
    path = folder / "c.jsonl"
    path.write_bytes(change(path.read_bytes()))
    for _ in range(2):  # no image hides it the second time
        assert kind in {incident.kind for incident in opened(folder).incidents}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[:40],
        lambda data: data[:-1],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: bytes(32) + data[32:],
    ],
)
def test_an_image_that_does_not_verify_counts_for_nothing(
    folder: Path, tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    plain = plainly_read(folder, tmp_path / "plain").candidates()
    image_of(folder).write_bytes(change(image_of(folder).read_bytes()))
    store = opened(folder)
    assert store.candidates() == plain
    assert store.incidents == ()


def test_an_image_of_another_log_or_of_other_settings_counts_for_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(folder / "c.jsonl.key", other / "c.jsonl.key")
    with opened(other) as store:
        store.upsert({"content": "of the other log"})
    shutil.copy(image_of(folder), image_of(other))
    assert [found.content for found in opened(other).candidates()] == ["of the other log"]
    read = without_reading(monkeypatch)
    few = opened(folder, CandidateConfig(max_events=1))
    assert read
    assert {len(found.evidence) for found in few.candidates()} == {1}


def test_a_compacted_log_has_no_use_for_it_and_where_it_cannot_be_written_it_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(folder) as store:
        before = store.candidates()
        store.compact()
    assert opened(folder).candidates() == before
    image_of(folder).unlink()
    image_of(folder).mkdir()
    assert opened(folder).candidates() == before
    assert image_of(folder).is_dir()
