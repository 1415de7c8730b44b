"""A session on disk: all that it needs to continue in another process with the same bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tipstaff.context.inspecting.course import CallReport
from tipstaff.context.shortening.facts import Facts
from tipstaff.context.sources.project_rules import GivenRule
from tipstaff.errors import SourceError, SourceNotFoundError
from tipstaff.model import Record
from tipstaff.store.replacing import replaced_file
from tipstaff.store.untrusted import read_untrusted

if TYPE_CHECKING:
    from tipstaff.context.session.fitting import Meter
    from tipstaff.context.session.state import SessionState

VERSION = 1


class SavedSession(Record, frozen=True, kw_only=True):
    """What a session knows, as plain data; `options` are those of its constructor that are plain."""

    version: int
    options: dict[str, Any]
    log: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    origins: list[int]
    ids: set[str]
    renamed: dict[str, list[str]]
    delivered: dict[str, str]
    rules: dict[str, GivenRule]
    waiting: tuple[GivenRule, ...]
    tools: list[dict[str, Any]]
    system: str | None
    callers_system: str
    compacted: bool
    facts: Facts
    read_to: tuple[int, int]
    digests: list[str]
    recorded: set[int]
    whole: bool | None
    measured: tuple[float, bool, int, int]
    calls: tuple[CallReport, ...]


def write_session(path: Path, saved: SavedSession) -> None:
    """Write a session for its owner alone, in one step.

    Raises `StoreWriteError` if it cannot be written; what was there before is unharmed.
    """
    with replaced_file(path) as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(msgspec.json.encode(saved))


def read_session(path: Path) -> SavedSession:
    """Return a session that was written.

    Raises `SourceNotFoundError` if there is no such file. Raises `SourceError` if it is no session that this version
    reads.
    """
    try:
        saved = msgspec.json.decode(read_untrusted(path), type=SavedSession)
    except FileNotFoundError:
        raise SourceNotFoundError(2, "no session was saved here", str(path)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise SourceError(f"{path}: not a session that this version reads: {error}") from error
    if saved.version != VERSION:
        raise SourceError(f"{path}: a session of version {saved.version}; this one reads {VERSION}")
    return saved


def saved_of(options: dict[str, Any], state: SessionState, meter: Meter, calls: tuple[CallReport, ...]) -> SavedSession:
    """Return a session as plain data."""
    view, intake, given = state.view, state.intake, state.deliveries
    return SavedSession(
        version=VERSION,
        options=options,
        log=state.log,
        messages=view.messages,
        origins=view.origins,
        ids=view.ids,
        renamed=view.renamed,
        delivered=given.known,
        rules=given.rules,
        waiting=given.waiting,
        tools=state.tools,
        system=state.system,
        callers_system=state.callers_system,
        compacted=state.compacted,
        facts=state.facts(),
        read_to=(state.facts_to, state.touched_to),
        digests=intake.known,
        recorded=intake.recorded_at,
        whole=intake.whole,
        measured=meter.saved(),
        calls=calls,
    )
