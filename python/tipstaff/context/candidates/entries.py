"""One line of the log: each entry carries its result, so that reading it needs no threshold.

An entry's signature covers its bytes as they are in the file. JSON escapes quotes and controls, so that no text of
one field can be taken for another's.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tipstaff.context.candidates.records import CandidateState, Evidence


class Entry(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="what", gc=False):
    """Base of the entries: which log it belongs to, its number, and the beginning of the signature before it."""

    log: str = ""
    number: int = 0
    previous: str = ""


class Started(Entry, tag="started"):
    """The file begins here; compaction begins a new generation, and the chain continues through it."""

    generation: int
    at_us: int


class Appeared(Entry, tag="new"):
    """A candidate appeared."""

    id: str
    kind: str
    category: str
    tool_tag: str
    content: str
    score: float
    event: Evidence
    tags: tuple[str, ...] = ()
    cooldown_us: int | None = None


class Supported(Entry, tag="evidence"):
    """Something happened to a candidate; `score` is its score afterwards."""

    id: str
    score: float
    event: Evidence
    words: str = ""
    cooldown_us: int | None = None


class Moved(Entry, tag="moved"):
    """A candidate changed its state."""

    id: str
    state: CandidateState
    at_us: int
    code: str
    reason: str
    by: str
    cooldown_us: int | None = None


class Removed(Entry, tag="removed"):
    """A candidate was removed."""

    id: str
    at_us: int
    reason: str


class Kept(Entry, tag="kept"):
    """A whole candidate, as compaction found it."""

    id: str
    kind: str
    category: str
    tool_tag: str
    content: str
    tags: tuple[str, ...]
    state: CandidateState
    score: float
    evidence_count: int
    success_count: int
    failure_count: int
    first_us: int
    last_us: int
    trial_us: int
    events: list[Evidence]
    sources: list[str]
    cooldown_us: int | None = None


class Unknown(Entry, tag="unknown"):
    """Written by a newer version: it has its place in the chain, and says nothing here."""


class Link(msgspec.Struct):
    """What every entry of any version holds."""

    log: str
    number: int
    previous: str


AnyEntry = Started | Appeared | Supported | Moved | Removed | Kept | Unknown
DECODER: Final[msgspec.json.Decoder[AnyEntry]] = msgspec.json.Decoder(AnyEntry)
LINK_DECODER: Final = msgspec.json.Decoder(Link)
ENCODER: Final = msgspec.json.Encoder()
