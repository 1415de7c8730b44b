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
from tipstaff.runs.ledger.entries import Entry
from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.runs.ledger.schema import ENTRIES
from tipstaff.runs.ledger.writing import Waiting


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
        Age of the oldest entry; number of entries; bytes of their bodies in UTF-8. None is no limit.
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
            cut = max(cut, _cut_by_size(connection, max_bytes, head.base_seq))
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
    return removed


def _first(connection: Connection, condition: ColumnElement[Any], otherwise: int) -> int:
    found = connection.execute(select(func.min(ENTRIES.c.seq)).where(condition)).scalar_one_or_none()
    return otherwise if found is None else int(found)


def _cut_by_size(connection: Connection, max_bytes: int, base: int) -> int:
    body = ENTRIES.c.body
    is_sqlite = connection.dialect.name == "sqlite"  # whose older versions know no octet_length
    size = func.length(cast(body, LargeBinary)) if is_sqlite else func.octet_length(body)
    room = max_bytes
    with connection.execute(select(ENTRIES.c.seq, size).order_by(ENTRIES.c.seq.desc())) as rows:
        for seq, bytes_ in rows:
            room -= bytes_
            if room < 0:
                return int(seq)
    return base


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
