from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from tests.runs.made import KEY, START, run_event
from tipstaff.errors import ConfigError, LedgerError, StoreDamagedError, StoreError, StoreWriteError
from tipstaff.runs import Ledger, RunEvent, Violation
from tipstaff.runs.events import canonical_json
from tipstaff.runs.ledger import chain
from tipstaff.store.database import version_of


def test_a_run_comes_back_as_it_was(ledger: Ledger) -> None:
    event = run_event(3)
    assert ledger.append(event) == 1
    assert ledger.events() == (event,)
    assert ledger.event("run-3") == event
    assert ledger.event("run-4") is None


def test_the_same_event_again_changes_nothing(ledger: Ledger) -> None:
    assert ledger.append_many([run_event(1), run_event(2)]) == (1, 2)
    assert ledger.append_many([run_event(2), run_event(3), run_event(3)]) == (2, 3, 3)
    assert ledger.append(run_event(2)) == 2
    assert len(ledger) == 3
    assert ledger.verify().ok


def test_another_event_with_the_same_id_is_refused_whole(ledger: Ledger) -> None:
    ledger.append(run_event(1))
    with pytest.raises(LedgerError, match="'run-1' is in the ledger with other content"):
        ledger.append_many([run_event(2), run_event(1, rework_lines=99)])
    assert len(ledger) == 1
    with pytest.raises(LedgerError, match="other content"):
        ledger.append_many([run_event(2), run_event(2, rework_lines=99)])
    assert ledger.append(run_event(4)) == 2
    assert ledger.verify() == chain.VerifyReport(True, 2)


def test_filters(ledger: Ledger) -> None:
    events = [run_event(number) for number in range(1, 31)]
    ledger.append_many(events)
    assert ledger.events(task_id="task-2") == tuple(event for event in events if event.task_id == "task-2")
    assert ledger.events(session_id="session-0", agent_id="agent-1") == tuple(
        event for event in events if event.session_id == "session-0" and event.agent_id == "agent-1"
    )
    assert ledger.events(since=START + 5000, until=START + 7000) == tuple(events[4:7])
    assert ledger.events(limit=2) == tuple(events[-2:])
    assert ledger.events(limit=0) == ()
    assert ledger.events(rule_id="R1", intent="bug-fix", after=28) == tuple(events[28:])
    assert ledger.events(rule_id="absent") == ()


def test_many_threads_lose_nothing(ledger: Ledger) -> None:
    numbers: list[int] = []

    def write(thread: int) -> None:
        numbers.extend(ledger.append(run_event(thread * 100 + number)) for number in range(25))

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 201))
    assert ledger.verify() == chain.VerifyReport(True, 200)


def test_a_conflict_fails_its_own_caller_alone(ledger: Ledger) -> None:
    """Entries that are written together do not share their errors."""
    from tipstaff.runs.ledger.chain import Waiting, entry_of

    ledger.append(run_event(1))
    waiting = [Waiting([entry_of(run_event(2))]), Waiting([entry_of(run_event(1, rework_lines=5))]),
               Waiting([entry_of(run_event(2))]), Waiting([entry_of(run_event(3))])]  # fmt: skip
    with ledger.database.writing() as connection:
        ledger.writer.write_within(connection, waiting)
    assert [one.numbers for one in waiting] == [[2], None, [2], [3]]
    assert isinstance(waiting[1].error, LedgerError)
    assert ledger.verify().checked == 3


def tampered(ledger: Ledger, statement: str, **values: Any) -> chain.VerifyReport:
    with ledger.database.engine.connect() as connection:
        changed = connection.execute(text(statement), values)
        assert changed.rowcount != 0, "the tampering changed nothing"
        connection.commit()
    return ledger.verify()


@pytest.mark.parametrize(
    ("statement", "first_bad", "reason"),
    [
        ("UPDATE tipstaff_entries SET body = replace(body, 'npm', 'rpm') WHERE seq = 7", 7, "entry 7 does not have"),
        ("UPDATE tipstaff_entries SET event_id = 'x' WHERE seq = 7", 7, "entry 7"),
        ("UPDATE tipstaff_entries SET kind = 'verdict' WHERE seq = 7", 7, "entry 7"),
        ("UPDATE tipstaff_entries SET at = at + 1 WHERE seq = 7", 7, "entry 7"),
        ("UPDATE tipstaff_entries SET task_id = 'x' WHERE seq = 7", 7, "entry 7"),
        ("UPDATE tipstaff_entries SET session_id = '' WHERE seq = 7", 7, "entry 7"),
        ("DELETE FROM tipstaff_entries WHERE seq = 7", 7, "entry 7 is missing"),
        ("DELETE FROM tipstaff_entries WHERE seq = 1", 1, "entry 1 is missing"),
        ("DELETE FROM tipstaff_entries WHERE seq > 15", 16, "entries 16 to 20 are missing at the end"),
        ("DELETE FROM tipstaff_entries", 1, "entries 1 to 20 are missing"),
        ("UPDATE tipstaff_entries SET seq = 21 WHERE seq = 20", 20, "entry 20 is missing"),
        ("UPDATE tipstaff_head SET seq = 19", None, "seal of the head"),
        ("DELETE FROM tipstaff_head", None, "there are 0 heads"),
        ("UPDATE tipstaff_about SET value = 'x' WHERE name = 'key'", None, "name of the key"),
    ],
)  # fmt: skip
def test_tampering_is_found_and_named(ledger: Ledger, statement: str, first_bad: int | None, reason: str) -> None:
    ledger.append_many(run_event(number) for number in range(1, 21))
    report = tampered(ledger, statement)
    assert not report.ok
    assert report.first_bad == first_bad
    assert reason in report.reason
    assert report.checked == (0 if first_bad is None else first_bad - 1)


def test_swapped_entries_are_found(ledger: Ledger) -> None:
    ledger.append_many(run_event(number) for number in range(1, 21))
    tampered(ledger, "UPDATE tipstaff_entries SET seq = 99 WHERE seq = 4")
    tampered(ledger, "UPDATE tipstaff_entries SET seq = 4 WHERE seq = 5")
    assert tampered(ledger, "UPDATE tipstaff_entries SET seq = 5 WHERE seq = 99").first_bad == 4


def test_an_append_to_a_forged_head_is_refused(ledger: Ledger) -> None:
    ledger.append_many(run_event(number) for number in range(1, 4))
    tampered(ledger, "UPDATE tipstaff_head SET seq = 2")
    with pytest.raises(LedgerError, match="seal of the head"):
        ledger.append(run_event(9))


def test_a_forger_without_the_key_cannot_seal(url: str) -> None:
    with Ledger(url, key=KEY) as ledger:
        ledger.append_many(run_event(number) for number in range(1, 4))
    with pytest.raises(LedgerError, match="signed with another key"):
        Ledger(url, key=bytes(32))


def test_a_thousand_random_tamperings_are_found(tmp_path: Path) -> None:
    """Every one of a thousand random changes to the tables is found, and the untouched ledger is right in between."""
    import sqlite3

    chance = random.Random(20)
    path = tmp_path / "ledger.db"
    count = 40
    with Ledger(f"sqlite:///{path}", key=KEY, durable=False) as ledger:
        ledger.append_many(run_event(number) for number in range(1, count + 11))
        ledger.prune(max_entries=count)
        assert ledger.verify().ok
    copy = sqlite3.connect(path, isolation_level=None)
    columns = ["event_id", "kind", "at", "task_id", "session_id", "body", "code"]
    verified = verifier(copy)
    assert verified().ok
    for trial in range(1000):
        copy.execute("BEGIN")
        first, last = copy.execute("SELECT min(seq), max(seq) FROM tipstaff_entries").fetchone()
        row = chance.randint(first, last)
        how = chance.choice(["edit", "edit", "edit", "delete", "cut", "front", "swap", "insert", "head", "body-byte"])
        if how == "edit":
            column = chance.choice(columns)
            value = copy.execute(f"SELECT {column} FROM tipstaff_entries WHERE seq = ?", [row]).fetchone()[0]
            new = chance.choice([None, b"", "", "x", 7, chance.randbytes(32), b"\xff\xfe"])
            new = new if new != value and new is not None else f"{value}x"
            copy.execute(f"UPDATE tipstaff_entries SET {column} = ? WHERE seq = ?", [new, row])
        elif how == "body-byte":
            body = copy.execute("SELECT body FROM tipstaff_entries WHERE seq = ?", [row]).fetchone()[0]
            at = chance.randrange(len(body))
            letter = "0" if body[at] != "0" else "1"
            copy.execute(
                "UPDATE tipstaff_entries SET body = ? WHERE seq = ?", [body[:at] + letter + body[at + 1 :], row]
            )
        elif how == "delete":
            copy.execute("DELETE FROM tipstaff_entries WHERE seq = ?", [row])
        elif how == "cut":
            copy.execute("DELETE FROM tipstaff_entries WHERE seq >= ?", [row])
        elif how == "front":
            copy.execute("DELETE FROM tipstaff_entries WHERE seq <= ?", [row])
        elif how == "swap":
            other = first + (row - first + chance.randrange(1, last - first)) % (last - first + 1)
            for old, new in ((row, -1), (other, row), (-1, other)):
                copy.execute("UPDATE tipstaff_entries SET seq = ? WHERE seq = ?", [new, old])
        elif how == "insert":
            seq = chance.choice([first - 1, last + 1, 0, -5])
            copy.execute(
                "INSERT INTO tipstaff_entries SELECT ?, event_id || 'x', kind, at, task_id, session_id, body, code "
                "FROM tipstaff_entries WHERE seq = ?", [seq, row],
            )  # fmt: skip
        else:
            column = chance.choice(["seq", "code", "base_seq", "base_code", "seal"])
            value = copy.execute(f"SELECT {column} FROM tipstaff_head").fetchone()[0]
            new = value - 1 if isinstance(value, int) else bytes([value[0] ^ 1]) + value[1:]
            copy.execute(f"UPDATE tipstaff_head SET {column} = ?", [new])
        assert not verified().ok, (trial, how, row)
    copy.close()
    with Ledger(f"sqlite:///{path}", key=KEY) as ledger:
        assert ledger.verify().ok


def verifier(database: Any) -> Callable[[], chain.VerifyReport]:
    """Return a function that verifies what a connection sees, its open transaction included."""
    from sqlalchemy.pool import StaticPool

    from tipstaff.runs.ledger.chain import verify

    engine = create_engine("sqlite://", creator=lambda: database, poolclass=StaticPool, pool_reset_on_return=None)

    def verified() -> chain.VerifyReport:
        with engine.connect() as connection:
            return verify(connection, chain.ledger_key(KEY), None)

    return verified


def test_an_anchor_finds_what_was_rolled_back(tmp_path: Path) -> None:
    import shutil

    url = f"sqlite:///{tmp_path}/ledger.db"
    with Ledger(url, key=KEY) as ledger:
        ledger.append_many(run_event(number) for number in range(1, 11))
        old = ledger.head
    shutil.copytree(tmp_path, tmp_path / "backup")
    with Ledger(url, key=KEY) as ledger:
        ledger.append(run_event(11))
        anchor = ledger.head
        assert ledger.verify(anchor=anchor).ok
        assert ledger.verify(anchor=old).ok
    with Ledger(f"sqlite:///{tmp_path}/backup/ledger.db", key=KEY) as restored:
        assert restored.verify().ok, "alone it looks right"
        report = restored.verify(anchor=anchor)
        assert (report.ok, report.first_bad) == (False, 11)
        assert "older copy" in report.reason
        restored.append(run_event(12))
        other = restored.verify(anchor=anchor)
        assert (other.ok, other.first_bad) == (False, 11)
        with pytest.raises(ConfigError, match="not an anchor: 'nonsense'"):
            restored.verify(anchor="nonsense")


def test_retention_keeps_the_chain(ledger: Ledger) -> None:
    ledger.append_many(run_event(number) for number in range(1, 101))
    old = ledger.head
    assert ledger.prune(max_entries=200) == 0
    assert ledger.prune(max_entries=40) == 60
    assert ledger.verify() == chain.VerifyReport(True, 41)
    assert ledger.verify(anchor=old).ok
    assert next(event.event_id for event in ledger.events()) == "run-61"
    assert ledger.prune(max_age_ms=10_000, now=START + 100_000) == 29
    assert next(event.event_id for event in ledger.events()) == "run-90"
    assert ledger.prune(max_bytes=3_000) > 0
    assert ledger.verify().ok
    assert next(record["removed"] for record in ledger.records("retention")) >= 1
    assert ledger.append(run_event(500)) > 100
    report = ledger.verify(anchor=old)
    assert report.ok
    ledger.prune(max_entries=0)
    assert ledger.verify().ok
    assert "removed by retention" in ledger.verify(anchor=old).reason
    with pytest.raises(ConfigError, match="max_entries is -1"):
        ledger.prune(max_entries=-1)


def test_retention_with_a_clock_that_ran_backwards(ledger: Ledger) -> None:
    times = [1000, 5000, 2000, 9000, 3000]
    ledger.append_many(run_event(number, timestamp=at) for number, at in enumerate(times))
    assert ledger.prune(max_age_ms=1000, now=4500) == 1
    assert [event.timestamp for event in ledger.events()] == times[1:]
    assert ledger.verify().ok


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_export_and_import(ledger: Ledger, tmp_path: Path, suffix: str) -> None:
    events = [run_event(number) for number in range(1, 51)]
    ledger.append_many(events)
    path = tmp_path / f"runs{suffix}"
    assert ledger.export(path) == 50
    with Ledger(f"sqlite:///{tmp_path}/other.db", key=KEY) as other:
        other.append(run_event(7))
        assert other.import_events(path) == 49
        assert other.import_events(path) == 0
        assert sorted(other.events(), key=lambda event: event.timestamp) == events
    import pyarrow.feather
    import pyarrow.parquet as pq

    table = pq.read_table(path) if suffix == ".parquet" else pyarrow.feather.read_table(path)
    assert table.column("retrieved_rule_ids").to_pylist()[0] == ["R1", "R2"]
    assert table.column("violated_rule_ids").to_pylist()[2] == ["R1"]
    with pytest.raises(ConfigError, match=r"use .parquet or .arrow"):
        ledger.export(tmp_path / "runs.csv")


def test_a_file_that_is_no_export(ledger: Ledger, tmp_path: Path) -> None:
    from tipstaff.errors import SourceError, SourceNotFoundError

    (tmp_path / "x.parquet").write_bytes(b"nothing")
    with pytest.raises(SourceError, match="not an export"):
        ledger.import_events(tmp_path / "x.parquet")
    with pytest.raises(SourceNotFoundError):
        ledger.import_events(tmp_path / "y.parquet")


def test_an_older_schema_is_migrated_with_its_entries(url: str) -> None:
    ledger = Ledger(url, key=KEY)
    ledger.append_many(run_event(number) for number in range(1, 6))
    with ledger.database.writing() as connection:
        for table in (chain.SPOOL_FILES, chain.SET_ASIDE):
            table.drop(connection)
        connection.execute(text("DROP INDEX tipstaff_entries_kind"))
        connection.execute(text("CREATE INDEX tipstaff_entries_at ON tipstaff_entries (at)"))
        connection.execute(text("UPDATE tipstaff_about SET value = '1' WHERE name = 'schema'"))
    ledger.close()
    with Ledger(url, key=KEY) as ledger:
        with ledger.database.reading() as connection:
            assert version_of(connection, chain.SCHEMA) == chain.SCHEMA.version == 3
        assert ledger.verify() == chain.VerifyReport(True, 5)
        with ledger.database.writing() as connection:
            connection.execute(text("UPDATE tipstaff_about SET value = '99' WHERE name = 'schema'"))
    with pytest.raises(StoreError, match="schema version 99"):
        Ledger(url, key=KEY)


def test_unusable_urls_and_keys(tmp_path: Path) -> None:
    for url, message in (("nonsense", "not a database URL"), ("mysql://x/y", "SQLite or PostgreSQL")):
        with pytest.raises(ConfigError, match=message):
            Ledger(url, key=KEY)
    with pytest.raises(ConfigError, match="16 or more"):
        Ledger(f"sqlite:///{tmp_path}/a.db", key=b"short")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreWriteError, match="cannot be made"):
        Ledger(f"sqlite:///{tmp_path}/file/a.db", key=KEY)
    (tmp_path / "b.db").write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(StoreDamagedError, match="damaged"):
        Ledger(f"sqlite:///{tmp_path}/b.db", key=KEY)


@pytest.mark.parametrize("how", ["table", "byte", "body", "text"])
def test_damage_is_reported_as_damage(tmp_path: Path, how: str) -> None:
    import sqlite3

    path = tmp_path / "ledger.db"
    with Ledger(f"sqlite:///{path}", key=KEY) as ledger:
        ledger.append_many(run_event(number) for number in range(1, 200))
    statements = {
        "table": "DROP TABLE tipstaff_entries",
        "body": "UPDATE tipstaff_entries SET body = '{' WHERE seq = 7",
        "text": "UPDATE tipstaff_entries SET body = CAST(x'ff' AS TEXT) WHERE seq = 7",
    }
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statements.get(how, "VACUUM"))
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if how == "byte":
        data = bytearray(path.read_bytes())
        data[4096 * 3 : 4096 * 3 + 8] = b"\xff" * 8
        path.write_bytes(data)
    with Ledger(f"sqlite:///{path}", key=KEY) as ledger:
        with pytest.raises(StoreDamagedError, match="damaged"):
            list(ledger.iter_events())
        if how in {"table", "byte"}:
            with pytest.raises(StoreDamagedError, match="damaged"):
                ledger.verify()
        else:
            assert ledger.verify().first_bad == 7


def test_the_latest_runs_are_found_without_reading_the_others(tmp_path: Path) -> None:
    with Ledger(f"sqlite:///{tmp_path}/a.db", key=KEY) as ledger:
        ledger.append_many(run_event(number, timestamp=1000 - number) for number in range(1, 100))
        ledger.append_record("verdict", "v1", {}, at=5000)
        with ledger.database.reading() as connection:
            connection.execute(text("UPDATE tipstaff_entries SET body = '{' WHERE seq > 3"))
            connection.commit()
        assert [event.event_id for event in ledger.events(limit=3)] == [
            run_event(number).event_id for number in (1, 2, 3)
        ]


def test_pruning_gives_space_back_and_means_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Ledger(f"sqlite:///{path}", key=KEY) as ledger:
        ledger.append_many(run_event(number, task="x" * 500) for number in range(1, 2001))
        whole = ledger.database.size
        assert ledger.prune(max_bytes=whole // 2) > 500
        assert whole // 4 < ledger.database.size <= whole // 2
        assert path.stat().st_size <= whole // 2
        assert ledger.verify().ok


def test_a_forked_child_writes_while_threads_of_its_parent_do(tmp_path: Path) -> None:
    import os
    import threading

    ledger = Ledger(f"sqlite:///{tmp_path}/a.db", key=KEY, durable=False)
    ending = threading.Event()

    def write(offset: int) -> None:
        number = offset
        while not ending.is_set():
            ledger.append(run_event(number))
            number += 1

    threads = [threading.Thread(target=write, args=(offset,)) for offset in (1, 100_001)]
    for thread in threads:
        thread.start()
    children: list[int] = []
    for number in range(5):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if ledger.append(run_event(200_000 + number)) > 0 else 1
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
    ending.set()
    for thread in threads:
        thread.join()
    assert ledger.verify().ok


def test_the_key_of_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    with Ledger(f"sqlite:///{tmp_path}/a.db") as ledger:
        ledger.append(run_event(1))
    assert (tmp_path / "state" / "key").stat().st_mode & 0o777 == 0o600
    with Ledger(f"sqlite:///{tmp_path}/a.db") as ledger:
        assert ledger.verify().checked == 1
    with Ledger(f"sqlite:///{tmp_path}/a.db", key=(tmp_path / "state" / "key").read_bytes()) as ledger:
        assert ledger.verify().ok


@given(st.builds(dict, lines=st.integers(0, 10**6), rule=st.text(max_size=5), other=st.text(max_size=5)))
def test_every_nested_field_takes_part_in_the_canonical_text(fields: dict[str, Any]) -> None:
    event = run_event(1, violations=(Violation(rule_id=fields["rule"]),), rework_lines=fields["lines"])
    assert RunEvent.from_json(canonical_json(event)) == event
    changed = event.replace(violations=(Violation(rule_id=fields["other"]),))
    assert (canonical_json(changed) == canonical_json(event)) == (fields["rule"] == fields["other"])


def test_the_seeds_keys_are_read_and_errors_name_the_field() -> None:
    given = {
        "eventId": "e", "taskId": "t", "guidanceHash": "h", "diffSummary": {"linesAdded": 1.0, "filesChanged": 2},
        "violations": [{"ruleId": "A", "autoCorrected": True, "severity": "high"}], "outcomeAccepted": None,
        "testResults": {"ran": True, "passed": 3}, "durationMs": 5, "unknown": 1,
    }  # fmt: skip
    event = RunEvent.from_dict(given)
    assert (event.diff_summary.lines_added, event.violations[0].rule_id, event.test_results.passed) == (1, "A", 3)
    assert RunEvent.from_dict(event.to_dict()) == event
    for wrong, message in (
        ({"eventId": "e"}, "task_id"),
        ({**given, "reworkLines": "many"}, "rework_lines"),
        ({**given, "eventId": ""}, "event_id is empty"),
        ({**given, "taskId": "a\nb"}, "control characters"),
    ):
        with pytest.raises(ConfigError, match=message):
            RunEvent.from_dict(wrong)
