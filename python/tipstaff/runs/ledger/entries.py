"""What the chain holds: one entry for a run, a verdict, a change of the rules, a removal."""

from __future__ import annotations

from typing import NamedTuple

from tipstaff.runs.events import RunEvent, canonical_json


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
