"""Tables of a ledger, and the steps from one version of them to the next.

Raises `LedgerError` for a database of a newer version; each step runs in the transaction that records it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    update,
)

from tipstaff.errors import LedgerError

METADATA: Final = MetaData()

ABOUT: Final = Table(
    "tipstaff_about",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Version of the schema, name of the key."""

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

BY_TIME: Final = Index("tipstaff_entries_at", ENTRIES.c.at)
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
    for table in (ABOUT, ENTRIES, HEAD):
        table.create(connection)


def _spool(connection: Connection) -> None:
    for table in (SPOOL_FILES, SET_ASIDE):
        table.create(connection)


MIGRATIONS: Final[tuple[Callable[[Connection], None], ...]] = (_first, _spool)
"""Step ``n`` leads from version ``n`` to ``n + 1``; never change one that was released, append another."""

SCHEMA_VERSION: Final = len(MIGRATIONS)


def version_of(connection: Connection) -> int:
    """Return the version of the tables that are there, 0 where there are none."""
    if not inspect(connection).has_table(ABOUT.name):
        return 0
    found = connection.execute(select(ABOUT.c.value).where(ABOUT.c.name == "schema")).scalar_one()
    return int(found)


def migrate(connection: Connection, *, to: int = SCHEMA_VERSION) -> None:
    """Bring the tables to a version, inside the caller's transaction.

    Raises
    ------
    LedgerError
        They are newer than this program knows.
    """
    version = version_of(connection)
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger has schema version {version}, this program supports {SCHEMA_VERSION}: use a newer tipstaff"
        )
    if version >= to:
        return
    for step in MIGRATIONS[version:to]:
        step(connection)
    if version == 0:
        connection.execute(insert(ABOUT).values(name="schema", value=str(to)))
    else:
        connection.execute(update(ABOUT).where(ABOUT.c.name == "schema").values(value=str(to)))
