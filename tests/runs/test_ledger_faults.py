from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tipstaff
from tests.runs import postgresql
from tests.runs.made import KEY, run_event, spool_line
from tipstaff.errors import StoreWriteError
from tipstaff.runs import Ledger
from tipstaff.runs.ledger import ingestion

ROOT = Path(__file__).resolve().parents[2]


def started(*arguments: Any, code: str | None = None) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT), str(Path(tipstaff.__file__).parents[1]), *filter(None, sys.path)])
    program = ["-m", "tests.runs.faults"] if code is None else ["-c", code]
    return subprocess.Popen(
        [sys.executable, *program, *map(str, arguments)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def output_of(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out


def test_killed_at_random_points_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    found = json.loads(output_of(started(tmp_path, 200, 7)))
    assert found["acknowledged"] > 0
    assert (found["lost"], found["ok"], found["reason"]) == (0, True, "")
    assert found["lines"] == found["verdicts"] == found["distinct"] == 2000
    assert found["left"] == []


WRITER = """
import sys
from tests.runs.made import KEY, run_event
from tipstaff.runs import Ledger
url, first = sys.argv[1], int(sys.argv[2])
with Ledger(url, key=KEY) as ledger:
    for number in range(first, first + 50):
        ledger.append(run_event(number))
"""


def test_writers_in_four_processes_lose_nothing(url: str) -> None:
    writers = [started(url, number * 1000, code=WRITER) for number in range(4)]
    for writer in writers:
        output_of(writer)
    with Ledger(url, key=KEY) as ledger:
        assert len(ledger) == 200
        assert ledger.verify() == ledger.verify().replace(ok=True, checked=200)


INGESTER = """
import sys, json
from pathlib import Path
from tests.runs.made import KEY
from tipstaff.runs import Ledger
from tipstaff.runs.ledger import ingestion
ingestion._LINES = 7
taken = 0
with Ledger(sys.argv[1], key=KEY) as ledger:
    for _ in range(20):
        taken += ledger.ingest(Path(sys.argv[2])).taken
print(taken)
"""


def test_two_ingesters_take_each_line_once(url: str, tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    Ledger(url, key=KEY).close()
    ingesters = [started(url, spool, code=INGESTER) for _ in range(2)]
    for number in range(500):
        # As the hook does it: the line in one write, to whatever file has the name now.
        with spool.open("ab", buffering=0) as file:
            file.write(spool_line(number))
    taken = sum(int(output_of(ingester)) for ingester in ingesters)
    with Ledger(url, key=KEY) as ledger:
        taken += ledger.ingest(spool).taken
        assert taken == 500
        assert sorted(int(record["subject"], 16) for record in ledger.records("verdict")) == list(range(500))
        assert ledger.verify().ok


FULL = """
import resource, signal, sys
from tests.runs.made import KEY, run_event
from tipstaff.errors import StoreWriteError
from tipstaff.runs import Ledger
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
number = 0
with Ledger(sys.argv[1], key=KEY) as ledger:
    try:
        while number < 5000:
            ledger.append(run_event(number + 1))
            number += 1
    except StoreWriteError as error:
        assert "could not be written" in str(error), error
        print(number)
"""


@pytest.mark.parametrize("limit", [150_000, 400_001])
def test_a_full_disk_loses_what_was_not_acknowledged_alone(tmp_path: Path, limit: int) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    acknowledged = int(output_of(started(url, limit, code=FULL)))
    assert 0 < acknowledged < 5000
    with Ledger(url, key=KEY) as ledger:
        assert ledger.verify().ok
        assert [event.event_id for event in ledger.events()][:acknowledged] == [
            f"run-{number + 1}" for number in range(acknowledged)
        ]
        ledger.append(run_event(9999))
        assert ledger.verify().ok


def fill(path: Path, leave: int = 0) -> None:
    """Fill the disk that a file is on."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(1 << 16)):
            pass
    left = path.stat().st_size - leave
    os.truncate(path, max(0, left))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_disk_that_fills_up_and_is_cleared(kind: str, tmp_path: Path) -> None:
    """On a small disk of its own, which takes root."""
    if kind == "postgresql" and (postgresql.programs() is None or find_spec("psycopg") is None):
        pytest.skip("no PostgreSQL is installed here")
    with contextlib.ExitStack() as stack:
        try:
            disk = stack.enter_context(postgresql.small_disk("160m" if kind == "postgresql" else "8m"))
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"this account cannot mount a disk: {error}")
        url = stack.enter_context(postgresql.server(disk)) if kind == "postgresql" else f"sqlite:///{disk}/ledger.db"
        acknowledged: list[str] = []
        with Ledger(url, key=KEY) as ledger:
            ledger.append(run_event(0))
            acknowledged.append("run-0")
            fill(disk / "filler", leave=1 << 20)
            failure: StoreWriteError | None = None
            for number in range(1, 2000):
                try:
                    ledger.append(run_event(number, task="x" * 20_000))
                except StoreWriteError as error:
                    failure = error
                    break
                acknowledged.append(f"run-{number}")
            assert failure is not None
            assert "could not be written" in str(failure)
        (disk / "filler").unlink()
        end = time.monotonic() + 60
        while True:  # a server that lost its log ends and starts again by itself
            try:
                with Ledger(url, key=KEY) as ledger:
                    kept = [event.event_id for event in ledger.events()]
                    assert kept[: len(acknowledged)] == acknowledged
                    assert len(kept) - len(acknowledged) in {0, 1}
                    ledger.append(run_event(9999))
                    assert ledger.verify().checked == len(kept) + 1
                return
            except StoreWriteError:
                assert time.monotonic() < end
                time.sleep(0.5)


def test_a_spool_that_cannot_be_taken_in_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_bytes(b"".join(spool_line(number) for number in range(5)))
    with Ledger(f"sqlite:///{tmp_path}/l.db", key=KEY) as ledger:

        def fails(*_: Any) -> None:
            raise StoreWriteError(28, "could not be written: no space", "l.db")

        with monkeypatch.context() as patched:
            patched.setattr(ledger.writer, "put_head", fails)
            with pytest.raises(StoreWriteError):
                ledger.ingest(spool)
        assert len(ledger) == 0
        assert ledger.ingest(spool).to_dict() == {"taken": 5, "repeated": 0, "set_aside": 0}


def test_a_spool_is_taken_in_once(ledger: Ledger, tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    assert ledger.ingest(spool).to_dict() == {"taken": 0, "repeated": 0, "set_aside": 0}
    lines = b"".join(spool_line(number, rules=["git.reset-hard"], decision="block") for number in range(30))
    spool.write_bytes(lines)
    assert ledger.ingest(spool).taken == 30
    assert not spool.exists()
    spool.write_bytes(spool_line(31))
    assert ledger.ingest(spool).to_dict() == {"taken": 1, "repeated": 0, "set_aside": 0}
    # A restored copy of what was taken in, and more after it.
    spool.write_bytes(lines + spool_line(30))
    assert ledger.ingest(spool).to_dict() == {"taken": 1, "repeated": 30, "set_aside": 0}
    records = list(ledger.records("verdict"))
    assert len(records) == 32
    assert (records[0]["decision"], records[0]["rules"]) == ("block", ["git.reset-hard"])
    assert len(list(ledger.records("verdict", session_id="session-1"))) == 11
    assert ledger.verify().ok


def test_equal_lines_are_two_calls(ledger: Ledger, tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_bytes(spool_line(1) * 3)
    assert ledger.ingest(spool).taken == 3


def test_torn_lines_are_set_aside_and_hide_nothing(ledger: Ledger, tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    good = [spool_line(number) for number in range(6)]
    torn = good[1][:40] + b"\n" + good[2][:30] + good[3] + b"\xff\xfe\n" + b"\n" + b'{"v":1}\n' + good[4] + good[5][:-9]
    spool.write_bytes(good[0] + torn)
    assert ledger.ingest(spool).to_dict() == {"taken": 3, "repeated": 0, "set_aside": 4}
    assert ledger.ingest(spool).to_dict() == {"taken": 0, "repeated": 0, "set_aside": 0}
    subjects = [int(record["subject"], 16) for record in ledger.records("verdict")]
    assert subjects == [0, 3, 4], "the line that follows on a torn one is not lost"


def test_the_last_line_waits_for_its_end(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_bytes(spool_line(0) + spool_line(1)[:20])
    assert ledger.ingest(spool).taken == 1
    renamed = next(tmp_path.glob("spool-*.jsonl"))
    with renamed.open("ab") as file:  # a hook that had the file open when it was renamed
        file.write(spool_line(1)[20:])
    assert ledger.ingest(spool).taken == 1
    assert renamed.exists()
    with renamed.open("ab") as file:
        file.write(b'{"v":1,"at":')
    monkeypatch.setattr(ingestion, "GRACE_S", -1.0)
    assert ledger.ingest(spool).to_dict() == {"taken": 0, "repeated": 0, "set_aside": 1}
    ledger.ingest(spool)
    assert not renamed.exists()


def test_a_clock_that_ran_backwards_changes_no_order(ledger: Ledger, tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_bytes(b"".join(spool_line(number, at=2_000_000_000 - number) for number in range(10)))
    ledger.append(run_event(1, timestamp=2_000_000_000_000))
    ledger.ingest(spool)
    ledger.append(run_event(2, timestamp=5))
    assert [int(record["subject"], 16) for record in ledger.records("verdict")] == list(range(10))
    assert ledger.verify().checked == 12


def test_each_repository_takes_its_own_lines(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here / "src", here / "vendor" / "lib" / ".git", there, tmp_path / "here-too"):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(here)
    spool = tmp_path / "state" / "spool.jsonl"
    spool.parent.mkdir()
    folders = [here, here / "src", here / "gone", tmp_path / "link" / "src", there, here / "vendor" / "lib", tmp_path,
               tmp_path / "here-too"]  # fmt: skip
    spool.write_bytes(b"".join(spool_line(number, cwd=str(folder)) for number, folder in enumerate(folders)))
    monkeypatch.setattr(ingestion, "GRACE_S", -1.0)
    with Ledger(url, key=KEY) as ledger, Ledger(f"sqlite:///{tmp_path}/there.db", key=KEY) as other:
        assert ledger.ingest(spool, repository=here).taken == 4
        assert ledger.ingest(spool, repository=here).to_dict() == {"taken": 0, "repeated": 0, "set_aside": 0}
        spool.write_bytes(spool_line(20, cwd=str(here)))
        assert ledger.ingest(spool, repository=here).taken == 1
        assert other.ingest(spool, repository=there).taken == 1
        assert {int(one["subject"], 16) for one in ledger.records("verdict")} == {0, 1, 2, 3, 20}
        assert [int(one["subject"], 16) for one in other.records("verdict")] == [4]
        assert len(list(spool.parent.glob("spool-*"))) == 1, "others may want theirs"
        monkeypatch.setattr(ingestion, "KEPT_S", -1.0)
        other.ingest(spool, repository=there)
        assert not list(spool.parent.glob("spool-*"))


def test_foreign_text_in_a_line_breaks_nothing(ledger: Ledger, tmp_path: Path) -> None:
    spool = tmp_path / "spool.jsonl"
    spool.write_bytes(spool_line(1, session="a\nb\x00c", cwd="/ä\u2028", agent="\x1b[31m"))
    assert ledger.ingest(spool).taken == 1
    assert next(ledger.records("verdict", session_id="abc"))["cwd"] == "/ä\u2028"
    assert ledger.verify().ok


def test_a_ledger_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "an archive, 100 % full?#" / "ledger.db"
    path.parent.mkdir()
    with Ledger(f"sqlite:///{tmp_path}/l.db", key=KEY) as ledger:
        ledger.append_many(run_event(number) for number in range(5))
    path.write_bytes((tmp_path / "l.db").read_bytes())
    before = path.read_bytes()
    monkeypatch.setattr("tipstaff.store.database.os.access", lambda *_: False)
    with Ledger(f"sqlite:///{path}".replace("?", "%3F"), key=KEY, create=False) as ledger:
        assert ledger.verify().checked == 5
        assert len(ledger.events()) == 5
        with pytest.raises(StoreWriteError):
            ledger.append(run_event(9))
    assert path.read_bytes() == before
    assert {one.name for one in path.parent.iterdir()} <= {"ledger.db", "ledger.db.lock"}
