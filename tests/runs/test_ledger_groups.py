from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.runs.made import KEY, run_event
from tests.runs.test_ledger_faults import started
from tipstaff.errors import LedgerError, LedgerWriteError
from tipstaff.runs import Ledger
from tipstaff.runs.ledger import groups
from tipstaff.runs.ledger.chain import Head, ledger_key
from tipstaff.runs.ledger.entries import entry_of
from tipstaff.runs.ledger.groups import Group
from tipstaff.runs.ledger.writing import ChainWriter

if TYPE_CHECKING:
    from sqlalchemy import Connection


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else -1


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the heads that were written."""
    written: list[int] = []
    put_head = ChainWriter.put_head

    def counted(ledger: ChainWriter, connection: Connection, head: Head) -> None:
        written.append(head.seq)
        put_head(ledger, connection, head)

    monkeypatch.setattr(ChainWriter, "put_head", counted)
    return written


class Writer(threading.Thread):
    """A writer with a ledger object of its own, as another process has it."""

    def __init__(self, url: str, number: int) -> None:
        super().__init__(daemon=True)
        self.ledger = Ledger(url, key=KEY)
        self.event = run_event(number)
        self.outcome: Any = None

    def run(self) -> None:
        try:
            self.outcome = self.ledger.append(self.event)
        except (LedgerError, LedgerWriteError) as error:
            self.outcome = error
        finally:
            self.ledger.close()


def test_writers_that_wait_share_a_transaction(tmp_path: Path, commits: list[int]) -> None:
    url, path = f"sqlite:///{tmp_path}/l.db", tmp_path / "l.db.group"
    writers = [Writer(url, number) for number in range(1, 6)]
    with Ledger(url, key=KEY) as ledger:
        with ledger.database.writing():
            for number, writer in enumerate(writers):
                writer.start()
                wait_until(lambda number=number: lines(path) == number)
        for writer in writers:
            writer.join()
        assert commits == [5]
        assert sorted(writer.outcome for writer in writers) == [1, 2, 3, 4, 5]
        assert {event.event_id: event for event in ledger.events()} == {
            one.event.event_id: one.event for one in writers
        }
        assert ledger.verify().checked == 5
        assert not path.exists()


def test_a_conflict_in_a_group_fails_its_own_writer_alone(tmp_path: Path, commits: list[int]) -> None:
    url, path = f"sqlite:///{tmp_path}/l.db", tmp_path / "l.db.group"
    with Ledger(url, key=KEY) as ledger:
        ledger.append(run_event(2, task="another"))
        writers = [Writer(url, number) for number in (1, 2, 3)]
        with ledger.database.writing():
            for number, writer in enumerate(writers):
                writer.start()
                wait_until(lambda number=number: lines(path) == number)
        for writer in writers:
            writer.join()
        assert "with other content" in str(writers[1].outcome)
        assert sorted([writers[0].outcome, writers[2].outcome]) == [2, 3]
        assert commits == [1, 3]


def test_a_leader_that_dies_takes_nothing_with_it(tmp_path: Path) -> None:
    url, path = f"sqlite:///{tmp_path}/l.db", tmp_path / "l.db.group"
    with Ledger(url, key=KEY) as ledger:
        leader = Group(path, ledger_key(KEY))
        leader.lead()
        writer = Writer(url, 1)
        writer.start()
        wait_until(lambda: lines(path) == 1)
        leader.release()  # as the system does for one that was killed
        writer.join()
        assert writer.outcome == 1
        ledger.append(run_event(2))
        assert [event.event_id for event in ledger.events()] == ["run-1", "run-2"]
        assert not path.exists()


def test_a_leader_whose_write_fails_leaves_the_others_to_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, path = f"sqlite:///{tmp_path}/l.db", tmp_path / "l.db.group"
    put_head = ChainWriter.put_head
    failed: list[ChainWriter] = []

    def fails_once(ledger: ChainWriter, connection: Connection, head: Head) -> None:
        if not failed:
            failed.append(ledger)
            raise LedgerWriteError(28, "could not be written: no space", "l.db")
        put_head(ledger, connection, head)

    with Ledger(url, key=KEY) as ledger:
        monkeypatch.setattr(ChainWriter, "put_head", fails_once)
        leader, follower = Writer(url, 1), Writer(url, 2)
        with ledger.database.writing():
            leader.start()
            wait_until(lambda: lines(path) == 0)
            follower.start()
            wait_until(lambda: lines(path) == 1)
        leader.join()
        follower.join()
        assert isinstance(leader.outcome, LedgerWriteError)
        assert follower.outcome == 1
        assert [event.event_id for event in ledger.events()] == ["run-2"], "what failed is not recorded"


def test_lines_that_nobody_with_the_key_wrote_just_now_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "l.db.group"

    def file_with(key: bytes, number: int, seconds_ago: int = 0) -> bytes:
        other = tmp_path / "other.group"
        leader = Group(other, ledger_key(key))
        leader.lead()
        at = groups._now() - seconds_ago * 1000
        with monkeypatch.context() as patched:
            patched.setattr(groups, "_now", lambda: at)
            joined = threading.Thread(target=Group(other, ledger_key(key)).join, args=([entry_of(run_event(number))],))
            joined.start()
            wait_until(lambda: lines(other) == 1)
        text = other.read_bytes()
        leader.release()
        joined.join()
        other.unlink()
        return text

    good, old, foreign = file_with(KEY, 1), file_with(KEY, 2, 61), file_with(bytes(32), 3)
    edited = good.replace(b"run-1", b"run-4")
    with Ledger(f"sqlite:///{tmp_path}/l.db", key=KEY) as ledger:
        path.write_bytes(b"\n" + old + foreign + edited + good[:90] + b"\n" + good[:-20])
        ledger.append(run_event(9))
        assert [event.event_id for event in ledger.events()] == ["run-9"]
        path.write_bytes(good)
        ledger.append(run_event(10))
        assert [event.event_id for event in ledger.events()] == ["run-9", "run-10", "run-1"]
        path.symlink_to(tmp_path / "elsewhere")
        ledger.append(run_event(11))
        assert ledger.verify().checked == 4


def test_a_ledger_that_does_not_flush_takes_nobody_along(tmp_path: Path) -> None:
    with Ledger(f"sqlite:///{tmp_path}/l.db", key=KEY, durable=False) as ledger:
        path = tmp_path / "l.db.group"
        path.write_bytes(b"anything")
        ledger.append(run_event(1))
        assert path.read_bytes() == b"anything"


TALKER = """
import sys
from tests.runs.made import KEY, run_event
from tipstaff.runs import Ledger
first = int(sys.argv[2])
with Ledger(sys.argv[1], key=KEY) as ledger:
    for number in range(first, first + 100_000):
        ledger.append(run_event(number))
        print(number, flush=True)
"""


def test_writers_killed_among_others_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    Ledger(url, key=KEY).close()
    writers = [started(url, number * 100_000, code=TALKER) for number in range(5)]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    printed = [number * 100_000 for number in range(5)]
    for writer in writers:
        time.sleep(0.05)
        writer.kill()
    for writer in writers:
        out, _ = writer.communicate()
        printed += [int(line) for line in out.split("\n")[:-1]]
    with Ledger(url, key=KEY) as ledger:
        kept = [event.event_id for event in ledger.events()]
        assert len(kept) == len(set(kept))
        assert {f"run-{number}" for number in printed} <= set(kept)
        assert ledger.verify().ok
        ledger.append(run_event(900_000))
        assert ledger.verify().checked == len(kept) + 1
