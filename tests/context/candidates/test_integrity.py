"""What was altered is passed over and reported, and nothing of it is lost."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from tests.context.candidates.clock import Clock
from tipstaff.context.candidates.store import CandidateStore
from tipstaff.errors import ConfigError, StoreDamagedError, StoreError, StoreWriteError

TEXTS = ("alpha one", "beta two", "gamma three")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with CandidateStore(tmp_path / "c.db", clock=Clock(), sync=False) as store:
        store.upsert_many({"content": text, "tool_tag": "bash", "tags": ["x", "y"]} for text in TEXTS)
    return tmp_path / "c.db"


def altered(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def contents(store: CandidateStore) -> list[str]:
    return [found.content for found in store.candidates()]


@pytest.mark.parametrize(
    "change",
    [
        "body = replace(body, 'beta', 'best')",
        'body = replace(body, \'"bash","beta two"\', \'"two|bash","beta"\')',
        'body = replace(body, \'"x","y"\', \'"x,y"\')',
        "body = 'not JSON'",
        "body = ''",
        "body = x'ff'",
        "id = 'another'",
        "revision = 9223372036854775807",
        "code = x''",
        "code = 'text'",
        "number = 7",
        "body = (SELECT body FROM tipstaff_candidates WHERE number = 1)",
        "code = (SELECT code FROM tipstaff_candidates WHERE number = 1)",
    ],
)
def test_an_altered_row_is_passed_over_and_reported(path: Path, change: str) -> None:
    altered(path, f"UPDATE tipstaff_candidates SET {change} WHERE number = 2")
    with CandidateStore(path, clock=Clock(), sync=False) as store:
        assert [incident.kind for incident in store.incidents] == ["tampered"]
        assert contents(store) == ["alpha one", "gamma three"]
        store.upsert({"content": "delta four"})
        assert contents(store) == ["alpha one", "gamma three", "delta four"]
        assert len(store.verify()) == 1
    with contextlib.closing(sqlite3.connect(path)) as connection:  # what was altered is there for whoever looks
        assert connection.execute("SELECT count(*) FROM tipstaff_candidates").fetchone() == (4,)


def test_a_row_altered_while_the_store_is_open_no_longer_counts(path: Path) -> None:
    with CandidateStore(path, clock=Clock(), sync=False) as store:
        assert len(contents(store)) == 3
        altered(path, "UPDATE tipstaff_candidates SET body = replace(body, 'beta', 'best') WHERE number = 2")
        assert len(store.verify()) == 1
        assert contents(store) == ["alpha one", "gamma three"]


@pytest.mark.parametrize("key", [bytes(16), None])
def test_another_key_is_refused_and_nothing_is_changed(path: Path, key: bytes | None) -> None:
    altered(path, "UPDATE tipstaff_candidates SET code = x'00'") if key is None else None
    with pytest.raises(StoreDamagedError, match="none of its candidates verifies"):
        CandidateStore(path, key=key)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM tipstaff_candidates").fetchone() == (3,)


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="16 bytes or more"):
        CandidateStore(tmp_path, key=b"short")


@pytest.mark.parametrize("damage", ["text", "cut", "table"])
def test_a_damaged_database_is_reported_as_damaged(path: Path, damage: str) -> None:
    if damage == "table":
        altered(path, "DROP TABLE tipstaff_candidates")
    else:
        data = path.read_bytes()
        path.write_bytes(b"not a database" * 999 if damage == "text" else data[: len(data) // 2])
    with pytest.raises(StoreDamagedError):
        CandidateStore(path)


def test_a_newer_schema_is_refused(path: Path) -> None:
    altered(path, "UPDATE tipstaff_about SET value = '99' WHERE name = 'schema of candidates'")
    with pytest.raises(StoreError, match="use a newer tipstaff"):
        CandidateStore(path)


def test_a_log_of_an_earlier_version_is_set_aside(tmp_path: Path) -> None:
    line = '{"mac":"00","entry":{}}\n'
    (tmp_path / "candidates.jsonl").write_text(line)
    with CandidateStore(tmp_path, sync=False) as store:
        (found,) = store.incidents
        assert found.kind == "former"
        assert "set aside in candidates.jsonl.former" in found.detail
        assert contents(store) == []
    assert (tmp_path / "candidates.jsonl.former").read_text() == line
    assert CandidateStore(tmp_path, sync=False).incidents == ()


def test_what_cannot_be_written_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with CandidateStore(path, clock=Clock(), sync=False) as store:
        before = store.candidates()

        def full(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(store, "_write", full)
        with pytest.raises(StoreWriteError, match="disk is full"):
            store.upsert({"content": "alpha one"})
        monkeypatch.undo()
        assert store.candidates() == before
