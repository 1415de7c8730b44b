"""The database of a repository: SQLite or PostgreSQL, shared by the ledger, the candidates and whoever else keeps rows.

SQLite runs in WAL mode and flushes at each commit. There is one lock: writers of all threads and processes take turns
at a file beside the database, where the kernel wakes the next one; SQLite's own waiting polls. Writers of PostgreSQL
wait on an advisory lock. A child that was forked from a process with threads has connections and locks of its own.

Each user of the database has a :class:`Schema`: its tables, and the steps from each version of them to the next.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    Table,
    Text,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from tipstaff.errors import ConfigError, SourceNotFoundError, StoreDamagedError, StoreError, StoreWriteError
from tipstaff.store.inside import refuse_links_out

DEFAULT_URL: Final = "sqlite:///.tipstaff/ledger.db"
"""Of a repository, below its root."""

BUSY_MS: Final = 30_000
_FORK_WAITS_S: Final = 5.0
_ADVISORY: Final = 0x7469_7073
_POSTGRESQL_DRIVERS: Final = frozenset({"postgresql", "postgres"})
_DAMAGE: Final = ("malformed", "not a database", "no such table", "no such column", "UTF-8", "UndefinedTable")

ABOUT: Final = Table(
    "tipstaff_about",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Short facts: versions of the schemas, names of keys."""


class Schema(NamedTuple):
    """The tables of one user of a database.

    Attributes
    ----------
    user
        Who it is, as messages say it: ``ledger``.
    fact
        Under which name `ABOUT` has its version.
    steps
        Step ``n`` leads from version ``n`` to ``n + 1``. One that was released is never changed; another is appended.
    """

    user: str
    fact: str
    steps: tuple[Callable[[Connection], None], ...]

    @property
    def version(self) -> int:
        """The newest version."""
        return len(self.steps)


class Database:
    """Connections to one database. Any number of threads may use one object, any number of processes one database.

    Parameters
    ----------
    url
        An SQLAlchemy URL: ``sqlite:///PATH`` or ``postgresql://USER@HOST/DATABASE``. A relative SQLite path is taken
        from the current folder; its folder is made.
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
    StoreWriteError
        The folder cannot be made, or a link leads it out of the repository.

    Attributes
    ----------
    where
        The URL as messages show it, without a password.
    path
        The file of SQLite; None for a database in memory and for PostgreSQL.
    """

    def __init__(self, url: str = DEFAULT_URL, *, durable: bool = True, create: bool = True) -> None:
        self.url = _url(url)
        self.where = self.url.render_as_string()
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.path: Path | None = None
        self.durable = durable
        self._create = create
        self._threads = threading.RLock()
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
        _USES.databases.add(self)

    def exists(self) -> bool:
        """Return whether there is a database that may hold something, without looking into it."""
        if self.path is None:
            return not self.is_sqlite
        with contextlib.suppress(OSError):
            return self.path.stat().st_size > 0
        return False

    @property
    def size(self) -> int:
        """Bytes of the file, and of what was written and is not in it yet; 0 where there is none."""
        if self.path is None:
            return 0
        return sum(path.stat().st_size for path in (self.path, Path(f"{self.path}-wal")) if path.exists())

    @contextlib.contextmanager
    def reading(self) -> Generator[Connection]:
        """Give a connection to read with; all reads of the block see one state.

        Raises
        ------
        StoreDamagedError
            The database is damaged.
        StoreError
            It cannot be read for another reason.
        """
        with _translated(self.where, writes=False), _USES(), self._alone(), self.engine.connect() as connection:
            yield (connection if self.is_sqlite else connection.execution_options(isolation_level="REPEATABLE READ"))

    @contextlib.contextmanager
    def writing(self) -> Generator[Connection]:
        """Give a connection whose transaction is the only one that writes; it is committed when the block ends.

        Raises
        ------
        StoreDamagedError
            The database is damaged.
        StoreWriteError
            It could not be written; nothing of the block is kept.
        """
        with (
            _translated(self.where, writes=True),
            _USES(),
            self._locked(),
            self.engine.connect() as connection,
            connection.begin(),
        ):
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY})
            yield connection

    def shrink(self) -> None:
        """Give the space of removed rows back to the file system; PostgreSQL does so by itself."""
        if self.path is None:
            return
        with _translated(self.where, writes=True), _USES(), self._locked():
            self.engine.dispose()
            with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
                connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        self.engine.dispose()

    def after_fork(self) -> None:
        """Let go of what belongs to the parent process, in a child that was forked."""
        self._threads = threading.RLock()
        if self.path is not None or not self.is_sqlite:  # what is in memory is the child's own copy
            self.engine.dispose(close=False)

    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        return self._threads if self.is_sqlite and self.path is None else contextlib.nullcontext()

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        if self.path is None:
            with self._alone():
                yield
            return
        lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
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


def migrate(connection: Connection, schema: Schema, *, to: int | None = None) -> None:
    """Bring the tables of a schema to a version, inside the caller's transaction.

    Parameters
    ----------
    connection
        Of :meth:`Database.writing`.
    schema
        Whose tables.
    to
        The version; the newest if None.

    Raises
    ------
    StoreError
        They are newer than this program knows.
    """
    version, wanted = version_of(connection, schema), schema.version if to is None else to
    if version >= wanted:
        return
    ABOUT.create(connection, checkfirst=True)
    for step in schema.steps[version:wanted]:
        step(connection)
    put_fact(connection, schema.fact, str(wanted))


def fact(connection: Connection, name: str) -> str | None:
    """Return a short fact of `ABOUT`, None where there is none."""
    return connection.execute(select(ABOUT.c.value).where(ABOUT.c.name == name)).scalar_one_or_none()


def put_fact(connection: Connection, name: str, value: str) -> None:
    """Write a short fact in place of a former one."""
    connection.execute(delete(ABOUT).where(ABOUT.c.name == name))
    connection.execute(insert(ABOUT).values(name=name, value=value))


def version_of(connection: Connection, schema: Schema) -> int:
    """Return the version of the tables of a schema that are there, 0 where there are none.

    Raises
    ------
    StoreError
        They are newer than this program knows.
    """
    found = int(fact(connection, schema.fact) or 0) if inspect(connection).has_table(ABOUT.name) else 0
    if found > schema.version:
        problem = f"the {schema.user} has schema version {found}, this program supports {schema.version}"
        raise StoreError(f"{problem}: use a newer tipstaff")
    return found


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
        raise ConfigError(f"{parsed.drivername}: the database is SQLite or PostgreSQL")
    return parsed


def _sqlite_path(url: URL, *, create: bool) -> Path | None:
    """Return the file's path, None for a database in memory; file and missing folders are made for the owner alone."""
    name = url.database
    if not name or name == ":memory:":
        return None
    if name.startswith("file:"):
        raise ConfigError(f"{name}: use sqlite:///PATH (four slashes before an absolute path)")
    path = Path(name).absolute()
    if not create:
        if not path.is_file():
            raise SourceNotFoundError(f"{path}: {'it is not a file' if path.exists() else 'there is no database'}")
        return path
    try:
        refuse_links_out(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        if path.is_file() and path.stat().st_mode & 0o077 and path.stat().st_uid == os.geteuid():
            path.chmod(0o600)
    except OSError as error:
        if isinstance(error, StoreWriteError):
            raise
        raise StoreWriteError(error.errno, f"the database cannot be made: {error.strerror}", name) from error
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
def _translated(where: str, *, writes: bool) -> Generator[None]:
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        reason = (str(cause).strip() or str(error)).splitlines()[0]
        if "not a database" in reason:
            raise StoreDamagedError(f"{where}: it is not a SQLite database, or its beginning is damaged") from error
        if any(sign in reason for sign in _DAMAGE) or type(cause).__name__ in _DAMAGE:
            raise StoreDamagedError(f"{where}: the database is damaged: {reason}") from error
        if writes:
            message = f"could not be written: {reason}; nothing of this call was recorded"
            raise StoreWriteError(5, message, where) from error
        raise StoreError(f"{where}: could not be read: {reason}") from error
    except OSError as error:
        if isinstance(error, StoreWriteError):
            raise
        raise StoreWriteError(error.errno, f"could not be written: {error.strerror}", where) from error


class _Uses:
    """Which threads are inside a database: a fork waits for the others.

    A mutex of SQLite that one of them holds at that moment would stay locked in the child for ever.
    """

    def __init__(self) -> None:
        self.databases: weakref.WeakSet[Database] = weakref.WeakSet()
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._threads: dict[int, int] = {}
        self._forking = False

    @contextlib.contextmanager
    def __call__(self) -> Generator[None]:
        me = threading.get_ident()
        with self._changed:
            while self._forking and me not in self._threads:
                self._changed.wait()
            self._threads[me] = self._threads.get(me, 0) + 1
        try:
            yield
        finally:
            with self._changed:
                self._threads[me] = self._threads.get(me, 1) - 1
                if not self._threads[me]:
                    del self._threads[me]
                    self._changed.notify_all()

    def before_fork(self) -> None:
        self._changed.acquire()
        self._forking = True
        me = threading.get_ident()
        self._changed.wait_for(lambda: not self._threads.keys() - {me}, _FORK_WAITS_S)

    def after_in_parent(self) -> None:
        self._forking = False
        self._changed.notify_all()
        self._changed.release()

    def after_in_child(self) -> None:
        self._begin()
        for database in list(self.databases):
            database.after_fork()


_USES: Final = _Uses()
os.register_at_fork(
    before=_USES.before_fork, after_in_parent=_USES.after_in_parent, after_in_child=_USES.after_in_child
)
