"""Adding entries to the chain: one writer at a time, callers that wait at the same time share one flush."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from typing import Any, Final, cast

from sqlalchemy import Connection, bindparam, insert, select, update

from tipstaff.errors import LedgerError
from tipstaff.runs.events import RunEvent
from tipstaff.runs.ledger import chain
from tipstaff.runs.ledger.chain import Entry, Head
from tipstaff.runs.ledger.schema import ENTRIES, HEAD
from tipstaff.store.database import Database

_CHUNK: Final = 500
_WRITE_ROWS: Final = 5_000

# Statements of every append, made once: making one costs more than SQLite takes to run it.
_HEAD: Final = select(HEAD)
_PUT_HEAD: Final = update(HEAD)
_ADD: Final = insert(ENTRIES)
_KNOWN: Final = select(ENTRIES.c.event_id, ENTRIES.c.seq, ENTRIES.c.body).where(
    ENTRIES.c.event_id.in_(bindparam("ids", expanding=True))
)


class Waiting:
    """One caller's entries, and what became of them."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.numbers: list[int] | None = None
        self.error: BaseException | None = None


class ChainWriter:
    """Adds entries to the chain of one database. Any number of threads may use one.

    Parameters
    ----------
    database
        The ledger's database.
    key
        The derived key.
    """

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._key = key
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._queue: list[Waiting] = []
        self._queue_lock = threading.Lock()
        self._write_lock = threading.Lock()

    def append(self, entries: list[Entry]) -> list[int]:
        """Record entries, all or none, and return their numbers; callers that wait at the same time share one flush.

        Raises
        ------
        LedgerError
            Another entry has one of the ids, or the head was tampered with.
        StoreWriteError
            They could not be written.
        """
        if not entries:
            return []
        if os.getpid() != self._process:
            self._begin()  # threads of the parent process may have held the locks
        mine = Waiting(entries)
        with self._queue_lock:
            self._queue.append(mine)
        with self._write_lock:
            if mine.numbers is None and mine.error is None:
                with self._queue_lock:
                    together, self._queue = self._queue, []
                try:
                    with self._database.writing() as connection:
                        self.write_within(connection, together)
                except BaseException as error:  # noqa: BLE001 - each caller that waits gets it
                    for one in together:
                        if one.error is None:
                            one.numbers, one.error = None, error
        if mine.error is not None:
            raise mine.error
        return cast("list[int]", mine.numbers)

    def write_within(self, connection: Connection, waiting: Iterable[Waiting]) -> None:
        """Add entries to the chain inside a transaction that writes; an entry's own error is kept beside it."""
        head = self.checked_head(connection)
        seq, code = head.seq, head.code
        rows: list[dict[str, Any]] = []
        for one in waiting:
            known = known_entries(connection, one.entries)
            own = {row["event_id"]: (row["seq"], row["body"]) for row in rows} | known if rows else known
            numbers: list[int] = []
            added: list[dict[str, Any]] = []
            at_seq, at_code = seq, code
            try:
                for entry in one.entries:
                    former = own.get(entry.event_id)
                    if former is not None:
                        _check_same(entry, former[1])
                        numbers.append(former[0])
                        continue
                    at_seq += 1
                    at_code = chain.code_of(self._key, at_code, chain.covered(at_seq, *entry))
                    added.append({"seq": at_seq, **entry._asdict(), "code": at_code})
                    own[entry.event_id] = (at_seq, entry.body)
                    numbers.append(at_seq)
            except LedgerError as error:
                one.error = error
                continue
            rows += added
            seq, code, one.numbers = at_seq, at_code, numbers
        for start in range(0, len(rows), _WRITE_ROWS):
            connection.execute(_ADD, rows[start : start + _WRITE_ROWS])
        if rows:
            self.put_head(connection, head._replace(seq=seq, code=code))

    def put_head(self, connection: Connection, head: Head) -> None:
        """Seal a head and store it."""
        connection.execute(_PUT_HEAD, {**head._asdict(), "seal": chain.seal_of(self._key, head)})

    def checked_head(self, connection: Connection) -> Head:
        """Return the head.

        Raises
        ------
        LedgerError
            Its seal is wrong.
        """
        where = self._database.where
        row = connection.execute(_HEAD).one_or_none()
        if row is None:
            raise LedgerError(f"{where}: the head is missing; `tipstaff ledger verify` says what else is")
        head = Head(row.seq, bytes(row.code), row.base_seq, bytes(row.base_code))
        if bytes(row.seal) != chain.seal_of(self._key, head):
            raise LedgerError(f"{where}: the seal of the head is wrong: it was changed or forged")
        return head


def known_entries(connection: Connection, entries: list[Entry]) -> dict[str, tuple[int, str]]:
    """Return number and body of those entries whose ids the ledger has."""
    found: dict[str, tuple[int, str]] = {}
    ids = [entry.event_id for entry in entries]
    for start in range(0, len(ids), _CHUNK):
        rows = connection.execute(_KNOWN, {"ids": ids[start : start + _CHUNK]})
        found.update({event_id: (seq, body) for event_id, seq, body in rows})
    return found


def _check_same(entry: Entry, body: str) -> None:
    if entry.body == body:
        return
    # 5 and 5.0 are written differently and are the same.
    if entry.kind == "run" and RunEvent.from_json(entry.body) == RunEvent.from_json(body):
        return
    raise LedgerError(f"event {entry.event_id!r} is in the ledger with other content; a new event needs a new id")
