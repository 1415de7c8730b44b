"""The ledger: every run, chained, in SQLite or PostgreSQL."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Connection, LargeBinary, Select, cast, delete, func, insert, select

from tipstaff.errors import ConfigError, LedgerError, SourceError, SourceNotFoundError, StoreDamagedError
from tipstaff.runs.events import RunEvent, canonical_json
from tipstaff.runs.ledger import chain
from tipstaff.runs.ledger.chain import (
    ENTRIES,
    GENESIS,
    HEAD,
    SCHEMA,
    ChainWriter,
    Entry,
    Head,
    VerifyReport,
    Waiting,
    entry_of,
)
from tipstaff.store.database import DEFAULT_URL, Database, fact, migrate, put_fact, version_of

if TYPE_CHECKING:
    from tipstaff.runs.ledger.ingestion import IngestReport


_STREAM_ROWS: Final = 5_000
_Row = TypeVar("_Row")
_MAKERS: Final = "; `tipstaff run start`, `ledger ingest` and `ledger import` make one"


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
    create
        Whether a ledger that does not exist is made; what only reads leaves a mistyped path as it is.

    Raises
    ------
    ConfigError
        The URL or the key is not usable.
    SourceNotFoundError
        There is no ledger, and none is to be made.
    LedgerError
        The database is of another kind, of a newer version, or was signed with another key.
    StoreWriteError
        The database cannot be made.

    Examples
    --------
    >>> ledger = Ledger("sqlite://", key=bytes(32))
    >>> ledger.append(RunEvent(event_id="r1", task_id="t1", guidance_hash="0" * 16))
    1
    >>> ledger.verify().ok
    True
    """

    def __init__(
        self, url: str = DEFAULT_URL, *, key: bytes | None = None, durable: bool = True, create: bool = True
    ) -> None:
        try:
            self.database = Database(url, durable=durable, create=create)
        except SourceNotFoundError as error:
            raise SourceNotFoundError(str(error).replace("no database", f"no ledger{_MAKERS}")) from None
        self._key = chain.ledger_key(key)
        self.writer = ChainWriter(self.database, self._key)
        try:
            self._open(create=create)
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
        StoreWriteError
            It could not be written; it is not recorded.
        """
        return self.writer.append([entry_of(event)])[0]

    def append_many(self, events: Iterable[RunEvent]) -> tuple[int, ...]:
        """Record runs, all or none of them; returns their numbers. Raises as :meth:`append`."""
        return tuple(self.writer.append([entry_of(event) for event in events]))

    def append_record(self, kind: str, event_id: str, body: Mapping[str, Any], *, at: int, task_id: str = "") -> int:
        """Record something that is not a run: a ``change`` of the rules, for example. Raises as :meth:`append`."""
        text = canonical_json(dict(body)).decode()
        return self.writer.append([Entry(event_id, kind, at, task_id, "", text)])[0]

    # -- reading -------------------------------------------------------------------------------------------------------

    @property
    def head(self) -> str:
        """The anchor: number and code of the last entry, as text to be kept where nobody can change it."""
        with self.database.reading() as connection:
            return chain.anchor_of(self.writer.checked_head(connection))

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
            Only so many, those that began last.
        """
        wanted = (
            (seq, event)
            for seq, event in self._runs(task_id, session_id, since, until, after, latest_first=limit is not None)
            if (agent_id is None or event.agent_id == agent_id)
            and (intent is None or event.intent == intent)
            and (guidance_hash is None or event.guidance_hash == guidance_hash)
            and (rule_id is None or _names(event, rule_id))
        )
        with contextlib.closing(wanted):
            return tuple(event for _, event in sorted(islice(wanted, limit), key=itemgetter(0)))

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
        """Yield runs one by one, without holding them all.

        Raises
        ------
        StoreDamagedError
            One cannot be read.
        """
        for _, event in self._runs(task_id, session_id, since, until, after):
            yield event

    def entries(
        self, kinds: Iterable[str] = (), *, event_id: str | None = None, task_id: str | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Return entries of any kind, the latest first: ``event_id``, ``kind``, ``at`` and what they hold."""
        columns = (ENTRIES.c.seq, ENTRIES.c.event_id, ENTRIES.c.kind, ENTRIES.c.at, ENTRIES.c.body)
        query = select(*columns).order_by(ENTRIES.c.at.desc(), ENTRIES.c.seq.desc()).limit(limit)
        wanted = tuple(kinds)
        if wanted:
            query = query.where(ENTRIES.c.kind.in_(wanted))
        for column, value in ((ENTRIES.c.event_id, event_id), (ENTRIES.c.task_id, task_id)):
            if value is not None:
                query = query.where(column == value)
        found: list[dict[str, Any]] = []
        with self.database.reading() as connection:
            for row in connection.execute(query):
                with self._readable(row.seq):
                    body = msgspec.json.decode(row.body)
                found.append({**body, "event_id": row.event_id, "kind": row.kind, "at": row.at})
        return found

    def iter_as(self, kind: type[_Row]) -> Iterator[_Row]:
        """Yield what a kind of record has of each run: its fields alone are decoded."""
        decoder = msgspec.json.Decoder(kind)
        for seq, body in self._bodies("run", None, None, None, None, None):
            with self._readable(seq):
                row = decoder.decode(body)
            yield row

    def records(
        self, kind: str, *, session_id: str | None = None, since: int | None = None, until: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the bodies of entries of another kind: ``verdict``, ``change``, ``retention``."""
        for seq, body in self._bodies(kind, None, session_id, since, until, None):
            with self._readable(seq):
                record = msgspec.json.decode(body)
            yield record

    def _runs(self, *wanted: Any, latest_first: bool = False) -> Generator[tuple[int, RunEvent]]:
        for seq, body in self._bodies("run", *wanted, latest_first=latest_first):
            with self._readable(seq):
                event = RunEvent.from_json(body)
            yield seq, event

    def _bodies(
        self,
        kind: str,
        task_id: str | None,
        session_id: str | None,
        since: int | None,
        until: int | None,
        after: int | None,
        *,
        latest_first: bool = False,
    ) -> Iterator[Sequence[Any]]:
        query: Select[Any, Any] = select(ENTRIES.c.seq, ENTRIES.c.body).where(ENTRIES.c.kind == kind)
        query = query.order_by(*([ENTRIES.c.at.desc(), ENTRIES.c.seq.desc()] if latest_first else [ENTRIES.c.seq]))
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
            connection.execution_options(stream_results=True, max_row_buffer=_STREAM_ROWS).execute(query) as rows,
        ):
            for rows_read in rows.partitions(_STREAM_ROWS):
                yield from rows_read

    @contextlib.contextmanager
    def _readable(self, seq: int) -> Generator[None]:
        try:
            yield
        except (msgspec.MsgspecError, LedgerError, SourceError) as error:
            message = f"{self.database.where}: entry {seq} is damaged; `tipstaff ledger verify` says what else is"
            raise StoreDamagedError(message) from error

    # -- the chain -----------------------------------------------------------------------------------------------------

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
        from tipstaff.runs.ledger.chain import verify

        expected = None if anchor is None else chain.read_anchor(anchor)
        with self.database.reading() as connection:
            return verify(connection, self._key, expected)

    # -- spool, files, retention ---------------------------------------------------------------------------------------

    def ingest(self, spool_path: str | Path, *, repository: str | Path | None = None) -> IngestReport:
        """Take in the hook's spool, each line exactly once; see `tipstaff.runs.ledger.ingestion`.

        Where `repository` is given, calls in other repositories are left to their ledgers.
        """
        from tipstaff.runs.ledger.ingestion import ingest

        return ingest(self, Path(spool_path), None if repository is None else Path(repository))

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

    def _open(self, *, create: bool) -> None:
        name = chain.key_name(self._key)
        known = None
        # What is there already is opened without a writer's lock: a ledger that nobody may write can be read.
        if not create or self.database.exists():
            with self.database.reading() as connection:
                version = version_of(connection, SCHEMA)
                known = fact(connection, "key") if version else None
            if not version and not create:
                raise SourceNotFoundError(f"{self.database.where}: there is no ledger in this database{_MAKERS}")
            if version < SCHEMA.version and create:
                known = None
        if known is None:
            with self.database.writing() as connection:
                migrate(connection, SCHEMA)
                known = fact(connection, "key")
                if known is None:
                    head = Head(0, GENESIS, 0, GENESIS)
                    put_fact(connection, "key", name)
                    seal = chain.seal_of(self._key, head)
                    connection.execute(insert(HEAD).values(one=1, **head._asdict(), seal=seal))
        if known not in {None, name}:
            raise LedgerError(
                f"{self.database.where}: the ledger is signed with another key ({known}, not {name}); "
                "name the file of its key with --key-file"
            )


def _names(event: RunEvent, rule_id: str) -> bool:
    return rule_id in event.retrieved_rule_ids or any(found.rule_id == rule_id for found in event.violations)


# -- retention: the oldest entries go, and the rest stays a chain ------------------------------------------------------


def prune(
    ledger: Ledger,
    *,
    max_age_ms: int | None = None,
    max_entries: int | None = None,
    max_bytes: int | None = None,
    now: int | None = None,
) -> int:
    """Remove the oldest entries until every limit holds; returns how many went.

    Parameters
    ----------
    ledger
        The ledger.
    max_age_ms, max_entries, max_bytes
        Age of the oldest entry; number of entries; bytes of the database's file. None is no limit.
    now
        Milliseconds since 1970; the clock's if None.

    Raises
    ------
    ConfigError
        A limit is negative.
    """
    _check_limits(max_age_ms=max_age_ms, max_entries=max_entries, max_bytes=max_bytes)
    at = time.time_ns() // 1_000_000 if now is None else now
    with ledger.database.writing() as connection:
        head = ledger.writer.checked_head(connection)
        cut = head.base_seq
        if max_entries is not None:
            cut = max(cut, head.seq - max_entries)
        if max_age_ms is not None:
            cut = max(cut, _first(connection, ENTRIES.c.at >= at - max_age_ms, head.seq + 1) - 1)
        if max_bytes is not None:
            cut = max(cut, _cut_by_size(connection, max_bytes, head, ledger.database))
        if cut <= head.base_seq:
            return 0
        code = bytes(connection.execute(select(ENTRIES.c.code).where(ENTRIES.c.seq == cut)).scalar_one())
        connection.execute(delete(ENTRIES).where(ENTRIES.c.seq <= cut))
        ledger.writer.put_head(connection, head._replace(base_seq=cut, base_code=code))
        removed = cut - head.base_seq
        body = {"removed": removed, "through": cut, "code": code.hex(), "at": at}
        entry = Entry(f"retention-{cut}", "retention", at, "", "", canonical_json(body).decode())
        waiting = Waiting([entry])
        ledger.writer.write_within(connection, [waiting])
        if waiting.error is not None:
            raise waiting.error
    ledger.database.shrink()
    return removed


def _first(connection: Connection, condition: ColumnElement[Any], otherwise: int) -> int:
    found = connection.execute(select(func.min(ENTRIES.c.seq)).where(condition)).scalar_one_or_none()
    return otherwise if found is None else int(found)


def _cut_by_size(connection: Connection, max_bytes: int, head: Head, database: Database) -> int:
    """Return up to which entry all must go, each taking its body and its share of the file's other bytes."""
    body = ENTRIES.c.body
    is_sqlite = connection.dialect.name == "sqlite"  # whose older versions know no octet_length
    size = func.length(cast(body, LargeBinary)) if is_sqlite else func.octet_length(body)
    count = max(1, head.seq - head.base_seq)
    bodies = int(connection.execute(select(func.coalesce(func.sum(size), 0))).scalar_one())
    if database.path is not None:
        whole = database.size
    else:
        named = func.pg_total_relation_size(ENTRIES.name)
        whole = bodies if is_sqlite else int(connection.execute(select(named)).scalar_one())
    share = max(0, whole - bodies) / count
    room = float(max_bytes)
    with connection.execute(select(ENTRIES.c.seq, size).order_by(ENTRIES.c.seq.desc())) as rows:
        for seq, bytes_ in rows:
            room -= bytes_ + share
            if room < 0:
                return int(seq)
    return head.base_seq


def _check_limits(**limits: int | None) -> None:
    """Refuse limits that are negative.

    Raises
    ------
    ConfigError
        One is.
    """
    for name, value in limits.items():
        if value is not None and value < 0:
            raise ConfigError(f"{name} is {value}; it must be 0 or more")
