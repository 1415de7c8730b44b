"""The records of the candidate store: thresholds, what is observed, what is kept, and what happens to it."""

from __future__ import annotations

import enum
from bisect import insort
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self

import msgspec

from tipstaff.context.candidates.texts import is_against
from tipstaff.errors import ConfigError
from tipstaff.model import Record

DAY_US: Final = 86_400_000_000
_MOST_DAYS: Final = 36_500


class CandidateConfig(Record, frozen=True, kw_only=True):
    """Thresholds of merging, promotion, demotion, decay and retention.

    Attributes
    ----------
    merge_similarity, merge_window_days
        Least Jaccard similarity of word sets for an observation to count as evidence for a candidate, and greatest
        distance in time, either way, from the candidate's last evidence.
    min_evidence
        Independent evidence that promotion takes: several observations from one source count once.
    min_score, keep_score
        Decayed score that promotion takes, and that a promoted candidate must keep.
    min_attempts, max_failure_rate, window_days
        Of the attempts within so many days, for promotion; conflicts and notes are looked at as far back.
    severe_lookback_days, max_consecutive_failures
        A severe failure within this time, or so many failures in a row, the newest last, forbid promotion and demote.
    demotion_min_attempts, demotion_failure_rate, conflict_threshold
        Attempts within the window with this share of failures, or so many corrections by users, demote.
    cooldown_days, retention_days
        How long a demoted candidate waits before it is tried again; without evidence for longer it is removed.
    half_life_days, grace_days
        Decay of the score since the last evidence; it begins after the grace.
    anti_pattern_days, anti_pattern_similarity
        A proven anti-pattern seen within this time forbids promotion on its tool of what is this similar to it.
    score_memory
        How many earlier observations a new one is weighed against at most, so that old candidates can still change.
    success_step, failure_step
        What one outcome adds to the score or takes from it.
    max_events, max_sources, max_content_chars
        How many events and sources a candidate remembers, the newest; longest content taken, in code points.
    categories, unpromotable_kinds, forbidding_notes
        Categories that may be promoted, empty for all; kinds that never are; words in a note within the window that
        forbid it.
    """

    merge_similarity: float = 0.50
    merge_window_days: float = 30.0
    min_evidence: int = 2
    min_score: float = 0.75
    keep_score: float = 0.75
    min_attempts: int = 2
    max_failure_rate: float = 0.2
    window_days: float = 14.0
    severe_lookback_days: float = 7.0
    max_consecutive_failures: int = 3
    demotion_min_attempts: int = 4
    demotion_failure_rate: float = 0.6
    conflict_threshold: int = 2
    cooldown_days: float = 3.0
    half_life_days: float = 30.0
    grace_days: float = 7.0
    retention_days: float = 90.0
    anti_pattern_days: float = 30.0
    anti_pattern_similarity: float = 0.30
    score_memory: int = 20
    success_step: float = 0.02
    failure_step: float = 0.05
    max_events: int = 200
    max_sources: int = 50
    max_content_chars: int = 4_000
    categories: tuple[str, ...] = ()
    unpromotable_kinds: tuple[str, ...] = ("ANTI_PATTERN",)
    forbidding_notes: tuple[str, ...] = ("anti-pattern", "anti_pattern")

    def __post_init__(self) -> None:
        for name, kind in type(self).__annotations__.items():
            value = getattr(self, name)
            if kind == "float" and not 0 <= value <= (most := _MOST_DAYS if name.endswith("_days") else 1):
                raise ConfigError(f"{name}: expected 0 to {most}, got {value}")
            if kind == "int" and value < 1:
                raise ConfigError(f"{name}: expected 1 or more, got {value}")
        for name in ("merge_similarity", "anti_pattern_similarity", "half_life_days"):
            if getattr(self, name) == 0:
                raise ConfigError(f"{name}: expected more than 0")

    def us(self, name: str) -> int:
        """Return one of the periods in microseconds."""
        days: float = getattr(self, name)
        return round(days * DAY_US)


KINDS: Final = ("ERROR_RECOVERY", "PREFERENCE", "WORKFLOW", "ANTI_PATTERN", "SKILL_SEED")
GENERAL_TOOL: Final = "general"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_US: Final = timedelta(microseconds=1)
MAX_DELTA: Final = 1_000_000
_MAX_LABEL_CHARS: Final = 400


class CandidateState(enum.StrEnum):
    """Where a candidate is."""

    SHADOW = "SHADOW"
    """Observed; gathers evidence and is shown to no model."""
    PROMOTED = "PROMOTED"
    """Passed the gates; may be put into prompts."""
    IN_USE = "IN_USE"
    """Has been put into a prompt."""
    DEMOTED = "DEMOTED"
    """Failed or fell back; tried again as SHADOW after its cooldown."""
    ARCHIVED = "ARCHIVED"
    """Served, and is over. New evidence starts a new candidate."""


MOVES: Final[dict[CandidateState, tuple[CandidateState, ...]]] = {
    CandidateState.SHADOW: (CandidateState.PROMOTED,),
    CandidateState.PROMOTED: (CandidateState.IN_USE, CandidateState.DEMOTED),
    CandidateState.IN_USE: (CandidateState.ARCHIVED, CandidateState.DEMOTED),
    CandidateState.DEMOTED: (CandidateState.SHADOW,),
    CandidateState.ARCHIVED: (),
}
"""Which state may follow which."""


def time_of(us: int) -> datetime:
    """Return the time that is so many microseconds after 1970, in UTC."""
    return _EPOCH + us * _US


def microseconds(value: object, name: str) -> int:
    """Return a time as microseconds since 1970.

    An aware `datetime`, an ISO 8601 text with its offset, or seconds since 1970; `name` is what it is, for the error.
    """
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise ConfigError(f"{name}: {value} has no offset from UTC")
            return (value - _EPOCH) // _US
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            time_of(round(value * 1_000_000))
            return round(value * 1_000_000)
    except (ValueError, OverflowError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{name}: expected a time such as 2026-01-31T12:00:00Z, got {value!r}") from error
    msg = f"{name}: expected a datetime, an ISO 8601 text or seconds since 1970, got {type(value).__name__}"
    raise ConfigError(msg)


def _text(value: object, name: str, longest: int) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{name}: expected text, got {type(value).__name__}")
    if len(value) > longest:
        raise ConfigError(f"{name}: expected at most {longest} characters, got {len(value)}")
    # Half of a surrogate pair is not text: it could neither be written nor signed.
    return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class CandidateObservation(Record, frozen=True, kw_only=True):
    """One observation: a session saw this, and it went well or badly.

    Attributes
    ----------
    content, score
        What was learned, as a sentence (half surrogate pairs become U+FFFD), and how sure the observer is, 0 to 1.
    kind, category, tool_tag, tags
        One of `KINDS`, what it belongs to, and free labels. An observation is evidence for candidates of its own kind,
        category and tool alone.
    success_delta, failure_delta
        How often it was tried, with which result.
    source_ref
        Where it comes from, such as a session; empty if unknown. Evidence from one source counts once.
    occurred_at, cooldown_until
        When, the store's clock if None; not to be promoted before. `datetime`, ISO 8601 text or seconds since 1970.
    severe_failure, correction_conflict, note
        It did harm; a user corrected what it led to; words about this observation.
    """

    content: str
    score: float = 0.5
    kind: str = "WORKFLOW"
    category: str = "STRATEGY"
    tool_tag: str = GENERAL_TOOL
    tags: tuple[str, ...] = ()
    success_delta: int = 0
    failure_delta: int = 0
    source_ref: str = ""
    occurred_at: datetime | str | float | None = None
    severe_failure: bool = False
    correction_conflict: bool = False
    note: str = ""
    cooldown_until: datetime | str | float | None = None

    @classmethod
    def of(cls, value: Self | Mapping[str, Any] | object, *, longest: int) -> Self:
        """Return a checked observation with tidy fields, from one, a mapping of its fields, or an object with them.

        Raises `ConfigError` where a field is unknown, missing or not usable.
        """
        if isinstance(value, Mapping):
            unknown = sorted(set(value) - set(cls.__struct_fields__))
            if unknown or "content" not in value:
                fields = ", ".join(cls.__struct_fields__)
                wrong = f"unknown field {unknown[0]!r}" if unknown else "no content"
                raise ConfigError(f"observation: {wrong}; its fields are {fields}")
            value = cls(**value)
        elif not isinstance(value, cls):
            given = {name: getattr(value, name) for name in cls.__struct_fields__ if hasattr(value, name)}
            if "content" not in given:
                msg = f"observation: {type(value).__name__} has no content; expected an observation or its fields"
                raise ConfigError(msg)
            value = cls(**given)
        content = _text(value.content, "content", longest).strip()
        if not content:
            raise ConfigError("content: expected a sentence, got nothing")
        kind = _text(value.kind, "kind", _MAX_LABEL_CHARS).strip().upper().replace("-", "_")
        if kind not in KINDS:
            raise ConfigError(f"kind: expected one of {', '.join(KINDS)}, got {value.kind!r}")
        tags = value.tags
        if isinstance(tags, str):
            raise ConfigError("tags: expected several texts, got one")
        for name in ("success_delta", "failure_delta"):
            number: object = getattr(value, name)
            if not isinstance(number, int) or not 0 <= number <= MAX_DELTA:
                raise ConfigError(f"{name}: expected a whole number from 0 to {MAX_DELTA}, got {number!r}")
        return cls(
            content=content,
            score=_share(value.score, "score"),
            kind=kind,
            category=_text(value.category, "category", _MAX_LABEL_CHARS).strip().upper() or "STRATEGY",
            tool_tag=_text(value.tool_tag or "", "tool_tag", _MAX_LABEL_CHARS).strip().lower() or GENERAL_TOOL,
            tags=tuple(_text(tag, "tags", _MAX_LABEL_CHARS) for tag in tags) if tags else (),
            success_delta=value.success_delta,
            failure_delta=value.failure_delta,
            source_ref=_text(value.source_ref or "", "source_ref", _MAX_LABEL_CHARS).strip(),
            occurred_at=value.occurred_at,
            severe_failure=bool(value.severe_failure),
            correction_conflict=bool(value.correction_conflict),
            note=_text(value.note or "", "note", longest),
            cooldown_until=value.cooldown_until,
        )


def _share(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        raise ConfigError(f"{name}: expected 0 to 1, got {value!r}")
    return float(value)


class Evidence(Record, frozen=True, array_like=True, gc=False):
    """One thing that happened to a candidate, `at_us` in microseconds since 1970, UTC.

    Other fields as in the observation.
    """

    at_us: int
    success_delta: int = 0
    failure_delta: int = 0
    source_ref: str = ""
    severe_failure: bool = False
    correction_conflict: bool = False
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, the time as ISO 8601."""
        data = {name: getattr(self, name) for name in self.__struct_fields__ if name != "at_us"}
        return {"observed_at": time_of(self.at_us).isoformat(), **data}


class Candidate(Record, frozen=True, kw_only=True):
    """A candidate as it was when it was requested; times in UTC, the newest events and sources, oldest first.

    `score` is that with its decay at that time, `base_score` as it was at the last evidence; counts are over its
    whole life.
    """

    id: str
    category: str
    kind: str
    state: CandidateState
    content: str
    tool_tag: str
    tags: tuple[str, ...]
    score: float
    base_score: float
    evidence_count: int
    success_count: int
    failure_count: int
    first_seen_at: datetime
    last_seen_at: datetime
    cooldown_until: datetime | None
    evidence: tuple[Evidence, ...]
    source_refs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-ready data; evidence by name."""
        data = msgspec.to_builtins(self)
        data["evidence"] = [event.to_dict() for event in self.evidence]
        return dict(data)


class CandidateTransition(Record, frozen=True, kw_only=True):
    """One change of state; `to_state` is None where the candidate was removed.

    Why, in words and as a code for programs; by whom (``auto`` or ``manual``); what was counted within the window.
    """

    candidate_id: str
    from_state: CandidateState
    to_state: CandidateState | None
    at: datetime
    reason: str
    reason_code: str
    triggered_by: str
    window_attempts: int = 0
    window_failure_rate: float = 0.0
    conflicts: int = 0
    cooldown_until: datetime | None = None


class Incident(Record, frozen=True, kw_only=True):
    """Something that is not as the store left it.

    ``tampered`` (a row does not verify), ``former`` (a file of an earlier version).
    """

    kind: str
    detail: str
    offset: int = -1


class Periods(NamedTuple):
    """The periods of a configuration in microseconds, computed once."""

    window: int
    severe_lookback: int
    cooldown: int
    grace: int
    half_life: int
    retention: int
    merge_window: int
    anti_pattern: int


def periods(config: CandidateConfig) -> Periods:
    """Return a configuration's periods in microseconds."""
    return Periods(*(config.us(f"{name}_days") for name in Periods._fields))


def decayed(score: float, last_us: int, now_us: int, spans: Periods) -> float:
    """Return what is left of a score, so long after the last evidence.

    In closed form, so that it is the same however often and by whomever it was asked for in between::

        score * 2 ** (-max(0, age - grace) / half_life)
    """
    over = now_us - last_us - spans.grace
    return score if over <= 0 else score * 2.0 ** (-over / spans.half_life)


NEVER_US: Final = -(1 << 62)
Group = tuple[str, str, str, bool]

_against: Final = lru_cache(maxsize=65_536)(is_against)


class Row(msgspec.Struct, array_like=True, gc=False, eq=False):
    """One candidate; changes in place. Its fields, in this order, are what the database holds as JSON."""

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

    @property
    def group(self) -> Group:
        """Candidates of different groups are never mixed: what says to do something and what says not to are of two."""
        return self.kind, self.category, self.tool_tag, _against(self.content)

    def support(self, event: Evidence, score: float, cooldown_us: int | None, config: CandidateConfig) -> None:
        """Take in an event."""
        self.score = score
        self.evidence_count += 1
        self.success_count += event.success_delta
        self.failure_count += event.failure_delta
        self.first_us = min(self.first_us, event.at_us)
        self.last_us = max(self.last_us, event.at_us)
        if cooldown_us is not None:
            self.cooldown_us = max(self.cooldown_us or cooldown_us, cooldown_us)
        if not self.events or event.at_us >= self.events[-1].at_us:
            self.events.append(event)
        else:
            insort(self.events, event, key=lambda known: known.at_us)
        del self.events[: -config.max_events]
        if event.source_ref and event.source_ref not in self.sources:
            self.sources.append(event.source_ref)
            del self.sources[: -config.max_sources]

    def move(self, state: CandidateState, at_us: int, cooldown_us: int | None) -> None:
        """Take another state."""
        self.state = state
        self.cooldown_us = cooldown_us
        if state is CandidateState.DEMOTED:
            self.trial_us = at_us + 1

    def record(self, now_us: int, spans: Periods) -> Candidate:
        """Return the candidate as it is at a time."""
        same = ("id", "category", "kind", "state", "content", "tool_tag", "tags", "evidence_count", "success_count",
                "failure_count")  # fmt: skip
        return Candidate(
            **{name: getattr(self, name) for name in same},
            score=decayed(self.score, self.last_us, now_us, spans),
            base_score=self.score,
            first_seen_at=time_of(self.first_us),
            last_seen_at=time_of(self.last_us),
            cooldown_until=None if self.cooldown_us is None else time_of(self.cooldown_us),
            evidence=tuple(self.events),
            source_refs=tuple(self.sources),
        )
