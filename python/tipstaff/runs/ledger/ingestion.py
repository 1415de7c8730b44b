"""Taking in the hook's spool: each line once, whatever crashes, however many ingest at once.

The spool is renamed first, to a name that never comes again, and hooks begin a new one. A renamed file is read up to
its last whole line; its entries and how far it was read are committed together. It is removed later, when no hook can
still be writing to it. The id of an entry comes from the first line of its file, its offset and its text, so a file
that is put back, or copied, is recognised: its lines are repeated, not new.

All repositories of a machine share one spool. A ledger of one of them takes the lines of calls below its root, and
leaves the file to the others for `KEPT_S`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from tipstaff.errors import SourceError, SourceNotFoundError, StoreWriteError
from tipstaff.model import Record
from tipstaff.runs.events import canonical_json, without_controls
from tipstaff.runs.ledger.chain import SET_ASIDE, SPOOL_FILES, Entry, Waiting, body_digest, known_entries
from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.store.state import state_folder
from tipstaff.store.untrusted import open_untrusted

GRACE_S: Final = 30.0
"""How long after its renaming a file is kept: a hook that had it open before answers within 0.2 s."""

KEPT_S: Final = 30 * 86_400.0
"""How long a file with lines of other repositories is kept for their ledgers."""

SPOOL_NAME: Final = "spool.jsonl"
"""Of the hook's own, in the state folder."""

_LINES: Final = 5_000
_LONGEST_LINE: Final = 1 << 20
MOST_SPOOL_BYTES: Final = 4 << 30
_START: Final = b'{"v":'


class SpoolLine(msgspec.Struct, frozen=True):
    """One call as the hook records it; `at` is in seconds, `kept` what ``tipstaff undo`` takes."""

    v: int
    at: int
    decision: str
    host: str = ""
    event: str = ""
    session: str = ""
    agent: str = ""
    cwd: str = ""
    tool: str = ""
    us: int = 0
    approved: str | None = None
    subject: str = ""
    secrets: int = 0
    policy: str = ""
    rules: tuple[str, ...] = ()
    kept: str = ""


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


class _Torn(NamedTuple):
    id: str
    source: str
    offset_bytes: int
    line: str
    reason: str


def ingest(ledger: Ledger, spool: Path, repository: Path | None = None) -> IngestReport:
    """Take in a spool and the files that it was renamed to before.

    Parameters
    ----------
    ledger
        Where the lines go.
    spool
        The hook's ``spool.jsonl``; it need not exist.
    repository
        The root of the repository whose calls are taken in; those of all repositories where None.

    Raises
    ------
    StoreWriteError
        The ledger or the spool's folder cannot be written; what was not taken in is taken in the next time.
    """
    _rename(spool)
    taken = repeated = torn = 0
    belongs = _belongs_to(repository)
    for path in spool_files(spool):
        found = _take(ledger, path, belongs)
        taken, repeated, torn = taken + found.taken, repeated + found.repeated, torn + found.set_aside
    return IngestReport(taken, repeated, torn)


def check_spool(spool: Path) -> None:
    """Refuse a path that somebody named and that is not a spool.

    Raises
    ------
    SourceNotFoundError
        It does not exist, nor does a file that it was renamed to before.
    SourceError
        It has lines, and the hook wrote none of them.
    """
    if not spool.exists():
        if spool_files(spool):
            return
        raise SourceNotFoundError(f"{spool}: there is no such spool; the hook's own is {state_folder() / SPOOL_NAME}")
    wrong = ""
    try:
        with open_untrusted(spool, most=MOST_SPOOL_BYTES) as file:
            first = file.readline(_LONGEST_LINE)
            if first and not any(_read(line)[0] for line in (first, *itertools.islice(file, _LINES))):
                wrong = f"the hook wrote none of its lines; the first one: {_read(first)[1]}"
    except OSError as error:
        wrong = f"it cannot be read: {error.strerror}"
    if wrong:
        raise SourceError(f"{spool}: not a spool: {wrong}")


def spool_files(spool: Path) -> list[Path]:
    """Return the files that a spool was renamed to, the oldest first."""
    name = re.compile(rf"{re.escape(spool.stem)}-[0-9]{{16,20}}-[0-9a-f]{{8}}{re.escape(spool.suffix)}")
    return sorted(path for path in spool.parent.glob("*") if name.fullmatch(path.name))


def _rename(spool: Path) -> None:
    try:
        if spool.stat().st_size == 0:
            return
        spool.rename(spool.with_name(f"{spool.stem}-{time.time_ns()}-{secrets.token_hex(4)}{spool.suffix}"))
    except FileNotFoundError:
        return  # there is none, or another ingester was first
    except OSError as error:
        raise StoreWriteError(error.errno, f"the spool cannot be renamed: {error.strerror}", str(spool)) from error


def _belongs_to(repository: Path | None) -> Callable[[str], bool]:
    """Return whether a call's directory belongs to a repository, not to another inside of it; an unknown one may."""
    if repository is None:
        return lambda _: True
    root = os.path.realpath(repository)

    @functools.cache
    def belongs(cwd: str) -> bool:
        at = os.path.realpath(cwd) if cwd else root
        while at != root and at != os.path.dirname(at):  # noqa: PTH120 - texts
            if os.path.lexists(os.path.join(at, ".git")):  # noqa: PTH118 - as above
                return False
            at = os.path.dirname(at)  # noqa: PTH120 - as above
        return at == root

    return belongs


def _take(ledger: Ledger, path: Path, belongs: Callable[[str], bool]) -> IngestReport:
    """Take in one renamed file, in transactions of some thousand lines."""
    taken = repeated = torn = 0
    try:
        with open_untrusted(path, most=MOST_SPOOL_BYTES) as file:
            age = time.time() - os.fstat(file.fileno()).st_ctime
            is_old = age > GRACE_S
            first = body_digest(file.readline(_LONGEST_LINE))
            while True:
                with ledger.database.writing() as connection:
                    start = _taken_bytes(connection, path.name)
                    file.seek(start)
                    lines = list(_whole_lines(file, start, with_rest=is_old))
                    if not lines:
                        break
                    report = _add(ledger, connection, path.name, first, lines, belongs)
                    end = lines[-1][0] + len(lines[-1][1])
                    _set_taken(connection, path.name, end, is_new=start == 0)
                taken, repeated, torn = taken + report.taken, repeated + report.repeated, torn + report.set_aside
            size = os.fstat(file.fileno()).st_size
            is_done = is_old and start >= size and (age > KEPT_S or not _has_others(file, belongs))
    except FileNotFoundError:
        return IngestReport(taken, repeated, torn)  # another ingester was done with it
    if is_done:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        with ledger.database.writing() as connection:
            connection.execute(delete(SPOOL_FILES).where(SPOOL_FILES.c.name == path.name))
    return IngestReport(taken, repeated, torn)


def _has_others(file: Any, belongs: Callable[[str], bool]) -> bool:
    """Return whether a file has lines for other ledgers."""
    file.seek(0)
    return any((read := _read(line)[0]) is not None and not belongs(read.cwd) for line in file)


def _taken_bytes(connection: Connection, name: str) -> int:
    query = select(SPOOL_FILES.c.taken_bytes).where(SPOOL_FILES.c.name == name)
    return int(connection.execute(query).scalar_one_or_none() or 0)


def _set_taken(connection: Connection, name: str, end: int, *, is_new: bool) -> None:
    if is_new:
        connection.execute(insert(SPOOL_FILES).values(name=name, taken_bytes=end))
    else:
        connection.execute(update(SPOOL_FILES).where(SPOOL_FILES.c.name == name).values(taken_bytes=end))


def _whole_lines(file: Any, offset: int, *, with_rest: bool) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line with its end); what comes after the last line end only where nobody writes any more."""
    for _ in range(_LINES):
        line: bytes = file.readline(_LONGEST_LINE)
        if not line or not (line.endswith(b"\n") or with_rest or len(line) == _LONGEST_LINE):
            return
        yield offset, line
        offset += len(line)


def _add(
    ledger: Ledger, connection: Connection, name: str, first: str, lines: list[tuple[int, bytes]],
    belongs: Callable[[str], bool],
) -> IngestReport:  # fmt: skip
    entries: list[Entry] = []
    torn: dict[str, _Torn] = {}
    for offset, line in lines:
        if not line.strip():
            continue
        entry_id = body_digest(f"{first} {offset} ".encode() + line)
        read, reason = _read(line)
        if reason:
            text = line.decode("utf-8", "backslashreplace").replace("\x00", "\\x00")
            torn[entry_id] = _Torn(entry_id, name, offset, text, reason)
        if read is not None and belongs(read.cwd):
            body = canonical_json(read).decode()
            session = without_controls(read.session)
            entries.append(Entry(f"verdict-{entry_id}", "verdict", read.at * 1000, "", session, body))
    known = known_entries(connection, entries)
    new = [entry for entry in entries if entry.event_id not in known]
    waiting = Waiting(new)
    ledger.writer.write_within(connection, [waiting])
    if waiting.error is not None:
        raise waiting.error
    fresh = _not_yet_aside(connection, torn)
    if fresh:
        connection.execute(insert(SET_ASIDE), [one._asdict() for one in fresh])
    return IngestReport(len(new), len(entries) - len(new), len(fresh))


def _read(line: bytes) -> tuple[SpoolLine | None, str]:
    """Return a line's record, None where it has none, and what is wrong with the line, empty where nothing is.

    A writer that died within a line leaves its beginning, and the next line follows on it: that one is taken.
    """
    try:
        return _DECODER.decode(line), ""
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = str(error)
    at = line.rfind(_START)
    if at > 0:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            return _DECODER.decode(line[at:]), f"torn line before byte {at}: {reason}"
    return None, reason


def _not_yet_aside(connection: Connection, torn: dict[str, _Torn]) -> list[_Torn]:
    if not torn:
        return []
    found = connection.execute(select(SET_ASIDE.c.id).where(SET_ASIDE.c.id.in_(list(torn)))).scalars()
    return [torn[one] for one in torn.keys() - set(found)]


_DECODER: Final = msgspec.json.Decoder(SpoolLine)
