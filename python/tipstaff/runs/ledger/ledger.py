"""The ledger: every run, chained, in SQLite or PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

import msgspec
from sqlalchemy import Connection, Select, bindparam, func, insert, select, update

from tipstaff.errors import ConfigError, LedgerError
from tipstaff.model import Record
from tipstaff.runs.events import RunEvent, canonical_json
from tipstaff.runs.ledger import chain
from tipstaff.runs.ledger.chain import GENESIS, Head, VerifyReport
from tipstaff.runs.ledger.database import Database
from tipstaff.runs.ledger.entries import Entry, entry_of
from tipstaff.runs.ledger.groups import Group
from tipstaff.runs.ledger.schema import ABOUT, ENTRIES, HEAD, migrate

DEFAULT_URL: Final = "sqlite:///.tipstaff/ledger.db"
_CHUNK: Final = 500
_STREAM_ROWS: Final = 5_000
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


class Ledger:
    """Every run, verdict and change of the rules, chained.

    What :meth:`append` has returned from is on the disk. One object may be used by many threads, whose appends are
    written together; any number of processes may use one database.

    Parameters
    ----------
    url
        SQLAlchemy URL: ``sqlite:///PATH`` or ``postgresql://USER@HOST/DATABASE`` (extra ``postgresql``).
    key
        At least 16 random bytes that the chain is signed with; the one in the state folder if None.
    durable
        Whether SQLite flushes to the disk at each append.

    Raises
    ------
    ConfigError
        The URL or the key is not usable.
    LedgerError
        The database is of another kind, of a newer version, or was signed with another key.
    LedgerWriteError
        The database cannot be made.

    Examples
    --------
    >>> ledger = Ledger("sqlite://", key=bytes(32))
    >>> ledger.append(RunEvent(event_id="r1", task_id="t1", guidance_hash="0" * 16))
    1
    >>> ledger.verify().ok
    True
    """

    def __init__(self, url: str = DEFAULT_URL, *, key: bytes | None = None, durable: bool = True) -> None:
        self._key = chain.ledger_key(key)
        self._code = chain.coder(self._key)
        self.database = Database(url, durable=durable)
        # An entry of a writer that flushes must not be recorded by one that does not.
        path = self.database.path if durable else None
        self._group = None if path is None else Group(Path(f"{path}.group"), self._key)
        self._queue: list[Waiting] = []
        self._queue_lock = threading.Lock()
        self._write_lock = threading.Lock()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    # -- writing -------------------------------------------------------------------------------------------------------

    def append(self, event: RunEvent) -> int:
        """Record a run; returns its number in the chain, once it is on the disk.

        Appending the same event again returns the number that it has.

        Raises
        ------
        LedgerError
            Another event has this id, or the head was tampered with.
        LedgerWriteError
            It could not be written; it is not recorded.
        """
        return self.append_entries([entry_of(event)])[0]

    def append_many(self, events: Iterable[RunEvent]) -> tuple[int, ...]:
        """Record runs, all or none of them; returns their numbers. Raises as :meth:`append`."""
        return tuple(self.append_entries([entry_of(event) for event in events]))

    def append_record(self, kind: str, event_id: str, body: Mapping[str, Any], *, at: int, task_id: str = "") -> int:
        """Record something that is not a run: a ``change`` of the rules, for example. Raises as :meth:`append`."""
        text = canonical_json(dict(body)).decode()
        return self.append_entries([Entry(event_id, kind, at, task_id, "", text)])[0]

    def append_entries(self, entries: list[Entry]) -> list[int]:
        """Record entries, all or none; entries of threads that wait at the same time share one flush."""
        if not entries:
            return []
        mine = Waiting(entries)
        with self._queue_lock:
            self._queue.append(mine)
        with self._write_lock:
            if mine.numbers is None and mine.error is None:
                with self._queue_lock:
                    together, self._queue = self._queue, []
                try:
                    self._write(together)
                except BaseException as error:  # noqa: BLE001 - each caller that waits gets it
                    for one in together:
                        if one.error is None:
                            one.numbers, one.error = None, error
        if mine.error is not None:
            raise mine.error
        return cast("list[int]", mine.numbers)

    def _write(self, together: list[Waiting]) -> None:
        """Record what callers of this process wait for, alone or with writers of other processes."""
        group = self._group
        if group is None:
            with self.database.writing() as connection:
                self.write_within(connection, together)
            return
        if group.join([entry for one in together for entry in one.entries]) and self._are_recorded(together):
            return
        try:
            with self.database.writing(group.lead) as connection:
                self.write_within(connection, [*together, *map(Waiting, group.take())])
        finally:
            group.release()

    def _are_recorded(self, waiting: list[Waiting]) -> bool:
        with self.database.reading() as connection:
            for one in waiting:
                known = known_entries(connection, one.entries)
                if any(entry.event_id not in known for entry in one.entries):
                    return False
                try:
                    for entry in one.entries:
                        _check_same(entry, known[entry.event_id][1])
                except LedgerError as error:
                    one.error = error
                    continue
                one.numbers = [known[entry.event_id][0] for entry in one.entries]
        return True

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
                    at_code = self._code(at_code + chain.covered(at_seq, *entry))
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

    # -- reading -------------------------------------------------------------------------------------------------------

    @property
    def head(self) -> str:
        """The anchor: number and code of the last entry, as text to be kept where nobody can change it."""
        with self.database.reading() as connection:
            return chain.anchor_of(self.checked_head(connection))

    def __len__(self) -> int:
        with self.database.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(ENTRIES)).scalar_one())

    def events(
        self,
        *,
        task_id: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        intent: str | None = None,
        rule_id: str | None = None,
        guidance_hash: str | None = None,
        since: int | None = None,
        until: int | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> tuple[RunEvent, ...]:
        """Return runs in the order of the chain.

        Parameters
        ----------
        task_id, session_id, agent_id, intent, guidance_hash
            Only runs that have these.
        rule_id
            Only runs that were given this rule or broke it.
        since, until
            Only runs that began between these times, inclusive, in milliseconds since 1970.
        after
            Only entries after this number of the chain.
        limit
            Only the latest so many.
        """
        found = [
            event
            for event in self.iter_events(task_id=task_id, session_id=session_id, since=since, until=until, after=after)
            if (agent_id is None or event.agent_id == agent_id)
            and (intent is None or event.intent == intent)
            and (guidance_hash is None or event.guidance_hash == guidance_hash)
            and (rule_id is None or _names(event, rule_id))
        ]
        return tuple(found if limit is None else found[max(0, len(found) - limit) :])

    def event(self, event_id: str) -> RunEvent | None:
        """Return the run with an id, or None."""
        query = select(ENTRIES.c.body).where(ENTRIES.c.event_id == event_id, ENTRIES.c.kind == "run")
        with self.database.reading() as connection:
            body = connection.execute(query).scalar_one_or_none()
        return None if body is None else RunEvent.from_json(body)

    def iter_events(
        self,
        *,
        task_id: str | None = None,
        session_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
        after: int | None = None,
    ) -> Iterator[RunEvent]:
        """Yield runs one by one, without holding them all."""
        for body in self._bodies("run", task_id, session_id, since, until, after):
            yield RunEvent.from_json(body)

    def records(
        self, kind: str, *, session_id: str | None = None, since: int | None = None, until: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the bodies of entries of another kind: ``verdict``, ``change``, ``retention``."""
        for body in self._bodies(kind, None, session_id, since, until, None):
            yield msgspec.json.decode(body)

    def _bodies(
        self,
        kind: str,
        task_id: str | None,
        session_id: str | None,
        since: int | None,
        until: int | None,
        after: int | None,
    ) -> Iterator[str]:
        query: Select[Any] = select(ENTRIES.c.body).where(ENTRIES.c.kind == kind).order_by(ENTRIES.c.seq)
        for column, value in ((ENTRIES.c.task_id, task_id), (ENTRIES.c.session_id, session_id)):
            if value is not None:
                query = query.where(column == value)
        if since is not None:
            query = query.where(ENTRIES.c.at >= since)
        if until is not None:
            query = query.where(ENTRIES.c.at <= until)
        if after is not None:
            query = query.where(ENTRIES.c.seq > after)
        with (
            self.database.reading() as connection,
            connection.execution_options(yield_per=_STREAM_ROWS).execute(query) as rows,
        ):
            for row in rows:
                yield row[0]

    # -- the chain -----------------------------------------------------------------------------------------------------

    def checked_head(self, connection: Connection) -> Head:
        """Return the head.

        Raises
        ------
        LedgerError
            Its seal is wrong.
        """
        row = connection.execute(_HEAD).one_or_none()
        if row is None:
            raise LedgerError(f"{self._where}: the head is missing; `tipstaff ledger verify` says what else is")
        head = Head(row.seq, bytes(row.code), row.base_seq, bytes(row.base_code))
        if bytes(row.seal) != chain.seal_of(self._key, head):
            raise LedgerError(f"{self._where}: the seal of the head is wrong: it was changed or forged")
        return head

    def verify(self, *, anchor: str | None = None) -> VerifyReport:
        """Check every entry, the head and an anchor, streaming.

        Parameters
        ----------
        anchor
            What :attr:`head` gave earlier. It finds what the database alone cannot: a restored older copy.

        Raises
        ------
        ConfigError
            `anchor` is not one.
        """
        from tipstaff.runs.ledger.verification import verify

        expected = None if anchor is None else chain.read_anchor(anchor)
        with self.database.reading() as connection:
            return verify(connection, self._key, expected)

    # -- spool, files, retention ---------------------------------------------------------------------------------------

    def ingest(self, spool_path: str | Path) -> IngestReport:
        """Take in the hook's spool, each line exactly once; see `tipstaff.runs.ledger.ingestion`."""
        from tipstaff.runs.ledger.ingestion import ingest

        return ingest(self, Path(spool_path))

    def export(self, path: str | Path) -> int:
        """Write all runs to a Parquet (``.parquet``) or Arrow IPC (``.arrow``) file; returns how many."""
        from tipstaff.runs.ledger.columns import export

        return export(self, Path(path))

    def import_events(self, path: str | Path) -> int:
        """Append the runs of a file that :meth:`export` wrote; returns how many were new."""
        from tipstaff.runs.ledger.columns import import_events

        return import_events(self, Path(path))

    def prune(
        self, *, max_age_ms: int | None = None, max_entries: int | None = None, max_bytes: int | None = None,
        now: int | None = None,
    ) -> int:  # fmt: skip
        """Remove the oldest entries by age, number and size; the chain stays verifiable. Returns how many went."""
        from tipstaff.runs.ledger.retention import prune

        return prune(self, max_age_ms=max_age_ms, max_entries=max_entries, max_bytes=max_bytes, now=now)

    def close(self) -> None:
        """Close the connections; a closed ledger opens new ones when it is used again."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- opening -------------------------------------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return self.database.url.render_as_string()

    def _open(self) -> None:
        name = chain.key_name(self._key)
        with self.database.writing() as connection:
            migrate(connection)
            known = connection.execute(select(ABOUT.c.value).where(ABOUT.c.name == "key")).scalar_one_or_none()
            if known is None:
                head = Head(0, GENESIS, 0, GENESIS)
                connection.execute(insert(ABOUT).values(name="key", value=name))
                seal = chain.seal_of(self._key, head)
                connection.execute(insert(HEAD).values(one=1, **head._asdict(), seal=seal))
        if known not in {None, name}:
            raise LedgerError(f"{self._where}: the ledger is signed with another key ({known}, not {name})")


class IngestReport(Record, frozen=True):
    """What became of a spool's lines.

    Attributes
    ----------
    taken
        Lines that are new in the ledger.
    repeated
        Lines that it had already.
    set_aside
        Lines that could not be read; they are kept in the ledger's table ``tipstaff_set_aside``.
    """

    taken: int
    repeated: int
    set_aside: int


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


def _names(event: RunEvent, rule_id: str) -> bool:
    return rule_id in event.retrieved_rule_ids or any(found.rule_id == rule_id for found in event.violations)


def check_limits(**limits: int | None) -> None:
    """Refuse limits that are negative.

    Raises
    ------
    ConfigError
        One is.
    """
    for name, value in limits.items():
        if value is not None and value < 0:
            raise ConfigError(f"{name} is {value}; it must be 0 or more")
