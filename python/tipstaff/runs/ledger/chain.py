"""What is signed: the tables of a ledger, its chain of entries, how they are appended and verified."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import threading
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple
from typing import cast as typed

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    cast,
    func,
    insert,
    literal,
    select,
    text,
    update,
)

from tipstaff.errors import ConfigError, LedgerError, SourceError, SourceNotFoundError
from tipstaff.model import Record
from tipstaff.runs.events import RunEvent, canonical_json
from tipstaff.store.database import Database, Schema, fact
from tipstaff.store.keys import private_key
from tipstaff.store.state import state_folder
from tipstaff.store.untrusted import read_untrusted

METADATA: Final = MetaData()

ENTRIES: Final = Table(
    "tipstaff_entries",
    METADATA,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("event_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("code", LargeBinary, nullable=False),
    UniqueConstraint("event_id", name="tipstaff_entries_event_id"),
)
"""The chain: one row an entry; `kind` is ``run``, ``verdict``, ``change`` or ``retention``."""

BY_TASK: Final = Index("tipstaff_entries_task", ENTRIES.c.task_id)
BY_SESSION: Final = Index("tipstaff_entries_session", ENTRIES.c.session_id)

HEAD: Final = Table(
    "tipstaff_head",
    METADATA,
    Column("one", Integer, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("code", LargeBinary, nullable=False),
    Column("base_seq", BigInteger, nullable=False),
    Column("base_code", LargeBinary, nullable=False),
    Column("seal", LargeBinary, nullable=False),
)
"""One row: where the chain ends and begins, sealed."""

SPOOL_FILES: Final = Table(
    "tipstaff_spool_files",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("taken_bytes", BigInteger, nullable=False),
)
"""How far each rotated spool file was taken in."""

SET_ASIDE: Final = Table(
    "tipstaff_set_aside",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("source", Text, nullable=False),
    Column("offset_bytes", BigInteger, nullable=False),
    Column("line", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
"""Lines of a spool that could not be read."""


def _first(connection: Connection) -> None:
    for table in (ENTRIES, HEAD):
        table.create(connection)


def _spool(connection: Connection) -> None:
    for table in (SPOOL_FILES, SET_ASIDE):
        table.create(connection)


def _kinds(connection: Connection) -> None:
    connection.execute(text("CREATE INDEX tipstaff_entries_kind ON tipstaff_entries (kind, at)"))
    connection.execute(text("DROP INDEX IF EXISTS tipstaff_entries_at"))


SCHEMA: Final = Schema("ledger", "schema", (_first, _spool, _kinds))


# -- the chain of a ledger: what each entry's code covers, the sealed head, and the anchor that is k -------------------


CODE_BYTES: Final = 32
GENESIS: Final = bytes(CODE_BYTES)
"""What the first entry is chained to."""

MIN_KEY_BYTES: Final = 16
_ANCHOR: Final = re.compile(r"tipstaff-ledger-1:([0-9]{1,18}):([0-9a-f]{64})")


class Entry(NamedTuple):
    """An entry without its number and code, in the order of the columns."""

    event_id: str
    kind: str
    at: int
    task_id: str
    session_id: str
    body: str


def entry_of(event: RunEvent) -> Entry:
    """Return the entry of a run."""
    body = canonical_json(event).decode()
    return Entry(event.event_id, "run", event.timestamp, event.task_id, event.session_id or "", body)


def _masked(entries: list[Entry]) -> list[Entry]:
    """Return entries without the secrets that are in what agents said and did."""
    from tipstaff.gates.redaction import redact_data
    from tipstaff.gates.secrets.scanner import redact, scan_secrets

    if not scan_secrets("\n".join(text for one in entries for text in (one.task_id, one.session_id, one.body))):
        return entries
    return [
        one._replace(
            task_id=redact(one.task_id), session_id=redact(one.session_id),
            body=canonical_json(redact_data(json.loads(one.body))).decode(),
        )
        for one in entries
    ]  # fmt: skip


class Head(NamedTuple):
    """Where the chain ends, and where it begins since retention removed what came before."""

    seq: int = 0
    code: bytes = GENESIS
    base_seq: int = 0
    base_code: bytes = GENESIS


class VerifyReport(Record, frozen=True):
    """What verification found.

    Attributes
    ----------
    ok
        Whether every entry, the head and the anchor agree.
    checked
        Entries whose code was right, from the first one kept.
    first_bad
        Number of the first entry that is wrong or missing; None where everything is right, or the fault is in no entry.
    reason
        What is wrong; where nothing is, what could not be compared, else empty.
    """

    ok: bool
    checked: int
    first_bad: int | None = None
    reason: str = ""


def ledger_key(key: bytes | None) -> bytes:
    """Return the key of a ledger's codes: derived from the one given, or from the one in the state folder.

    Raises
    ------
    ConfigError
        The key given is shorter than 16 bytes; others may read the one in the state folder.
    StoreWriteError
        There is none, and none can be made.
    """
    if key is None:
        key = private_key(state_folder())
    elif len(key) < MIN_KEY_BYTES:
        raise ConfigError(f"the key has {len(key)} bytes; use {MIN_KEY_BYTES} or more random ones")
    # The state folder's key signs approvals too; neither signature can pass for the other.
    return hmac.digest(key, b"tipstaff-ledger-1", "sha256")


def key_name(key: bytes) -> str:
    """Return a name of a derived key that says nothing about it; a ledger remembers the name of its key."""
    return hmac.digest(key, b"name", "sha256").hex()[:16]


def covered(seq: int, event_id: str, kind: str, at: int, task_id: str, session_id: str, body: str) -> bytes:
    """Return what an entry's code covers. No column but the last may hold a line feed, so no two rows have one text."""
    return f"{seq}\n{event_id}\n{kind}\n{at}\n{task_id}\n{session_id}\n{body}".encode()


def code_of(key: bytes, former: bytes, text: bytes) -> bytes:
    """Return the code of an entry that follows on one with the code `former`."""
    return hmac.digest(key, former + text, "sha256")


def seal_of(key: bytes, head: Head) -> bytes:
    """Return the seal of a head."""
    return hmac.digest(key, b"head %d %d " % (head.seq, head.base_seq) + head.code + head.base_code, "sha256")


def anchor_of(head: Head) -> str:
    """Return the text that proves later that the ledger reached this head."""
    return f"tipstaff-ledger-1:{head.seq}:{head.code.hex()}"


def read_anchor(text: str) -> tuple[int, bytes]:
    """Return the number and the code of an anchor.

    Raises
    ------
    ConfigError
        It is not an anchor.
    """
    match = _ANCHOR.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"not an anchor: {text[:80]!r}; expected tipstaff-ledger-1:NUMBER:64 hexadecimal digits")
    return int(match[1]), bytes.fromhex(match[2])


def key_file(path: str | Path) -> bytes:
    """Read a key from a file, as bytes.

    Raises
    ------
    SourceNotFoundError
        There is no such file.
    SourceError
        It cannot be read.
    """
    try:
        return read_untrusted(Path(path))
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"{path}: there is no such key file") from error
    except OSError as error:
        raise SourceError(f"{path}: the key cannot be read: {error.strerror}") from error


def body_digest(data: bytes) -> str:
    """Return the digest that identifies a piece of foreign text (a line of a spool)."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# -- adding entries to the chain: one writer at a time, callers that wait at the same time share one -------------------


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
        mine = Waiting(_masked(entries))
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
        return typed("list[int]", mine.numbers)

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
                    at_code = code_of(self._key, at_code, covered(at_seq, *entry))
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
        connection.execute(_PUT_HEAD, {**head._asdict(), "seal": seal_of(self._key, head)})

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
        if bytes(row.seal) != seal_of(self._key, head):
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


# -- verification of the chain, from the first entry kept to the head, then against an anchor --------------------------


_ROWS: Final = 10_000


def verify(connection: Connection, key: bytes, anchor: tuple[int, bytes] | None) -> VerifyReport:
    """Return what is wrong first, inside a transaction that reads.

    Parameters
    ----------
    connection
        Sees one state throughout.
    key
        The derived key.
    anchor
        Number and code that the chain once ended with.
    """
    if fact(connection, "key") != key_name(key):
        return VerifyReport(False, 0, None, "the name of the key was changed")
    rows = connection.execute(select(HEAD)).all()
    if len(rows) != 1:
        return VerifyReport(False, 0, None, f"there are {len(rows)} heads, not one")
    row = rows[0]
    head = Head(row.seq, bytes(row.code), row.base_seq, bytes(row.base_code))
    if bytes(row.seal) != seal_of(key, head):
        return VerifyReport(False, 0, None, "the seal of the head is wrong")
    seq, code, at_anchor = head.base_seq, head.base_code, None
    if anchor is not None and anchor[0] == seq:
        at_anchor = code
    with contextlib.closing(_parts(connection)) as parts:
        for part in parts:
            for number, text, stored in part:
                seq += 1
                if number != seq:
                    return VerifyReport(False, seq - 1 - head.base_seq, seq, _gap(seq, number))
                code = code_of(key, code, text if isinstance(text, bytes) else b"")
                if code != stored:
                    return VerifyReport(
                        False, seq - 1 - head.base_seq, seq, f"entry {seq} does not have the content that was signed"
                    )
                if anchor is not None and anchor[0] == seq:
                    at_anchor = code
    checked = seq - head.base_seq
    if seq < head.seq:
        missing = f"entry {head.seq} is" if head.seq == seq + 1 else f"entries {seq + 1} to {head.seq} are"
        return VerifyReport(False, checked, seq + 1, f"{missing} missing at the end")
    if seq > head.seq or code != head.code:
        return VerifyReport(False, checked, seq, "the head does not belong to the last entry")
    return _compared(anchor, at_anchor, head, checked)


def _compared(anchor: tuple[int, bytes] | None, at_anchor: bytes | None, head: Head, checked: int) -> VerifyReport:
    if anchor is None:
        return VerifyReport(True, checked)
    number = anchor[0]
    if number > head.seq:
        reason = f"the anchor is of entry {number}, the chain ends at {head.seq}: it was cut or an older copy restored"
        return VerifyReport(False, checked, head.seq + 1, reason)
    if number < head.base_seq:
        return VerifyReport(
            True, checked, None, f"entry {number} of the anchor was removed by retention; only its number was compared"
        )
    if at_anchor != anchor[1]:
        return VerifyReport(False, checked, number or None, f"entry {number} is not the one that the anchor names")
    return VerifyReport(True, checked)


def _gap(expected: int, found: Any) -> str:
    if isinstance(found, int) and found < expected:
        return f"entry {found} comes before the first one that is kept"
    return f"entry {expected} is missing"


def _parts(connection: Connection) -> Generator[Iterable[Any]]:
    """Yield rows of (number, covered bytes, code); the database joins the columns, which is faster than here."""
    columns = ENTRIES.c
    text: ColumnElement[Any] = cast(columns.seq, Text)
    for column in (
        columns.event_id,
        columns.kind,
        cast(columns.at, Text),
        columns.task_id,
        columns.session_id,
        columns.body,
    ):
        text = text + literal("\n") + column
    is_sqlite = connection.dialect.name == "sqlite"
    covered = cast(text, LargeBinary) if is_sqlite else func.convert_to(text, "UTF8")
    query = select(columns.seq, covered, columns.code).order_by(columns.seq)
    if is_sqlite:
        # Straight from the driver: a row costs 1 us less than through the result of SQLAlchemy.
        compiled = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
        with contextlib.closing(connection.connection.cursor()) as cursor:
            # Row by row: thousands of them at once leave the processor's cache before they are looked at.
            yield cursor.execute(compiled)
        return
    with connection.execution_options(yield_per=_ROWS).execute(query) as result:
        yield from result.partitions()
