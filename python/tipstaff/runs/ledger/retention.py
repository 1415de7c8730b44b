"""Retention: the oldest entries go, and the rest stays a chain.

The entry that the kept ones follow on becomes the base of the sealed head, and the removal is an entry itself.
Entries go from the front only; by age, as long as every earlier one is old enough, so that a clock that ran backwards
cannot make a hole.
"""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import ColumnElement, Connection, LargeBinary, cast, delete, func, select

from tipstaff.errors import ConfigError
from tipstaff.runs.events import canonical_json
from tipstaff.runs.ledger.chain import Entry, Head
from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.runs.ledger.schema import ENTRIES
from tipstaff.runs.ledger.writing import Waiting
from tipstaff.store.database import Database


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
