"""The tables of a ledger, and the steps from one version of them to the next."""

from __future__ import annotations

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
    text,
)

from tipstaff.store.database import Schema

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
