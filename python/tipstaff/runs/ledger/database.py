"""The database of a ledger: an engine by URL, one writer at a time, errors in this package's words.

SQLite runs in WAL mode and flushes at each commit. Writers of all processes wait for one another on a lock file
beside it: the kernel wakes the next one, where SQLite's own waiting polls. PostgreSQL writers wait on an advisory
lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from tipstaff.errors import ConfigError, LedgerError, LedgerWriteError, SourceNotFoundError
from tipstaff.store.inside import refuse_links_out

BUSY_MS: Final = 30_000
MAKERS: Final = "; `tipstaff run start`, `ledger ingest` and `ledger import` make one"
"""Ends the message of a ledger that is not there."""

_ADVISORY: Final = 0x7469_7073
_POSTGRESQL_DRIVERS: Final = {"postgresql", "postgres"}


class Database:
    """Connections to one ledger's database.

    Parameters
    ----------
    url
        An SQLAlchemy URL. A relative SQLite path is taken from the current folder; its folder is made.
    durable
        Whether SQLite flushes at each commit. Without, a power cut may take the latest entries; a crash of the program
        does not.
    create
        Whether a file that does not exist is made. Where not, nothing about the one that does is changed either.

    Raises
    ------
    ConfigError
        The URL is not one, or its driver is not installed.
    SourceNotFoundError
        There is no such file, and none is to be made.

    Attributes
    ----------
    where
        The URL as messages show it, without a password.
    path
        The file of SQLite; None for a database in memory and for PostgreSQL.
    """

    def __init__(self, url: str, *, durable: bool = True, create: bool = True) -> None:
        self.url = _url(url)
        self.where = self.url.render_as_string()
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.path: Path | None = None
        self.durable = durable
        self._create = create
        self._threads = threading.Lock()
        if self.is_sqlite:
            self.path = _sqlite_path(self.url, create=create)
        try:
            options: dict[str, Any] = {"pool_pre_ping": True, "connect_args": {"client_encoding": "utf8"}}
            if self.is_sqlite:
                # A database in memory lives as long as its one connection; threads take turns at it.
                memory = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
                options = memory if self.path is None else {}
            address = self.url if self.path is None or create else _address(self.url, self.path)
            self.engine: Engine = create_engine(address, **options)
        except (NoSuchModuleError, ImportError) as error:
            raise ConfigError(f"{self.where}: its driver is not installed: {error}") from error
        if self.is_sqlite:
            event.listen(self.engine, "connect", self._prepare)
            event.listen(self.engine, "begin", _begin)

    def exists(self) -> bool:
        """Return whether there is a database that may hold a ledger, without looking into it."""
        if self.path is None:
            return not self.is_sqlite
        with contextlib.suppress(OSError):
            return self.path.stat().st_size > 0
        return False

    @contextlib.contextmanager
    def reading(self) -> Generator[Connection]:
        """Give a connection to read with; all reads of the block see one state."""
        with _translated(self.where, LedgerError), self._alone(), self.engine.connect() as connection:
            yield (connection if self.is_sqlite else connection.execution_options(isolation_level="REPEATABLE READ"))

    @contextlib.contextmanager
    def writing(self, waits: Callable[[], None] | None = None) -> Generator[Connection]:
        """Give a connection whose transaction is the only one that writes; it is committed when the block ends.

        Parameters
        ----------
        waits
            Called before this writer waits for a writer of another process.

        Raises
        ------
        LedgerWriteError
            It could not be written; nothing of the block is kept.
        """
        with (
            _translated(self.where, LedgerWriteError),
            self._turn(waits),
            self.engine.connect() as connection,
            connection.begin(),
        ):
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY})
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        return self._threads if self.is_sqlite and self.path is None else contextlib.nullcontext()

    @contextlib.contextmanager
    def _turn(self, waits: Callable[[], None] | None) -> Generator[None]:
        if self.path is None:
            with self._alone():
                yield
            return
        lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waits is not None:
                    waits()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # also for a child that was forked meanwhile
            os.close(lock)

    def _prepare(self, connection: sqlite3.Connection, record: Any) -> None:
        del record
        # The driver would begin transactions by itself, too late for a lock to be of use.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        if self._create:  # a database of another owner must not be changed by being looked at
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute(f"PRAGMA synchronous = {'FULL' if self.durable else 'NORMAL'}")
        cursor.close()


def _begin(connection: Connection) -> None:
    # A read that becomes a write cannot wait for another writer; ours never do, they hold the lock before they begin.
    connection.exec_driver_sql("BEGIN")


def _url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigError(
            f"not a database URL: {url!r}; use sqlite:///PATH or postgresql://USER@HOST/DATABASE"
        ) from error
    if parsed.drivername in _POSTGRESQL_DRIVERS:
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in {"sqlite", "postgresql"}:
        raise ConfigError(f"{parsed.drivername}: a ledger is stored in SQLite or PostgreSQL")
    return parsed


def _sqlite_path(url: URL, *, create: bool) -> Path | None:
    """Return the file's path, None for a database in memory; a folder that is missing is made for the owner alone."""
    name = url.database
    if not name or name == ":memory:":
        return None
    if name.startswith("file:"):
        raise ConfigError(f"{name}: use sqlite:///PATH (four slashes before an absolute path)")
    path = Path(name).absolute()
    if not create and not path.is_file():
        what = "it is not a file" if path.exists() else f"there is no ledger{MAKERS}"
        raise SourceNotFoundError(f"{path}: {what}")
    try:
        refuse_links_out(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerWriteError(error.errno, f"the ledger's folder cannot be made: {error.strerror}", name) from error
    return path


def _address(url: URL, path: Path) -> URL:
    """Return the URL to read a database by: one in a folder that nobody may write is declared immutable.

    Where writers have left entries beside the file, which it needs a writable folder to read, it is given nothing.
    """
    beside = Path(f"{path}-wal")
    if os.access(path.parent, os.W_OK) or (beside.exists() and beside.stat().st_size):
        return url
    return url.set(database=f"file:{quote(str(path))}", query={"mode": "ro", "immutable": "1", "uri": "true"})


@contextlib.contextmanager
def _translated(where: str, kind: type[LedgerError | LedgerWriteError]) -> Generator[None]:
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0] if error.orig is not None else str(error)
        if "not a database" in reason:
            raise LedgerError(f"{where}: it is not a SQLite database, or its beginning is damaged") from error
        if isinstance(error.orig, sqlite3.DatabaseError) and "malformed" in reason:
            raise LedgerError(f"{where}: the database is damaged: {reason}") from error
        if kind is LedgerWriteError:
            raise LedgerWriteError(
                5, f"could not be written: {reason}; nothing of this call was recorded", where
            ) from error
        raise LedgerError(f"{where}: could not be read: {reason}") from error
    except OSError as error:
        if isinstance(error, LedgerWriteError):
            raise
        raise LedgerWriteError(error.errno, f"could not be written: {error.strerror}", where) from error
