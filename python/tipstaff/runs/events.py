"""Records of a run: what the agent was given, what it did, the results of gates and tests.

Times are integers in milliseconds since 1970 (UTC). The wire form is that of :meth:`RunEvent.to_dict`; the reader also
takes camelCase keys.

Source: ADR-G001, "Ledger".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Self, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record

_HUMP: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
VIOLATION_SEVERITIES: Final = ("low", "medium", "high", "critical")


class DiffSummary(Record, frozen=True, kw_only=True, gc=False):
    """Size of what a run changed, in lines and files."""

    lines_added: int = 0
    lines_removed: int = 0
    files_changed: int = 0


class TestResults(Record, frozen=True, kw_only=True, gc=False):
    """What the tests of a run came to.

    Attributes
    ----------
    ran
        Whether they were started at all.
    passed, failed, skipped
        How many.
    parsed
        Whether this was read from what the runner printed or reported; else it is what the caller says.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    ran: bool = False
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    parsed: bool = False


class Violation(Record, frozen=True, kw_only=True, gc=False):
    """A rule that a run broke.

    Attributes
    ----------
    rule_id
        The guidance rule.
    severity
        ``low``, ``medium``, ``high`` or ``critical``.
    location
        Where, as ``path`` or ``path:line``; None where it is not about a file.
    auto_corrected
        Whether the agent put it right itself, before a person saw it.
    """

    rule_id: str
    description: str = ""
    severity: str = "medium"
    auto_corrected: bool = False
    location: str | None = None


class RetrievedRule(Record, frozen=True, kw_only=True, gc=False):
    """A rule that was handed to the agent, how well it fitted the task, and why it was chosen."""

    rule_id: str
    score: float = 0.0
    reason: str = ""


class GateVerdict(Record, frozen=True, kw_only=True, gc=False):
    """What the gates decided of one tool call. The call itself is not kept, only a digest.

    Attributes
    ----------
    decision
        ``allow``, ``warn``, ``require-confirmation`` or ``block``.
    rules
        Ids of the gate rules that decided.
    span
        Half-open range of code points in the command or the field that the decision is about.
    subject
        Digest of the call, hexadecimal; the same call has the same digest.
    kept
        What ``tipstaff undo`` takes to bring back what the call would lose; empty where nothing was kept.
    """

    tool: str
    decision: str
    rules: tuple[str, ...] = ()
    gate: str = ""
    span: tuple[int, int] = (0, 0)
    subject: str = ""
    at: int = 0
    kept: str = ""


class TokenUse(Record, frozen=True, kw_only=True, gc=False):
    """Tokens that a run used, and what they cost in US dollars."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: float = 0.0

    @property
    def total(self) -> int:
        """Tokens of every kind together."""
        return self.input + self.output + self.cache_read + self.cache_write


class RunEvent(Record, frozen=True, kw_only=True):
    """One run of an agent.

    Attributes
    ----------
    event_id
        Unique in a ledger; appending the same event again changes nothing.
    task_id, session_id, agent_id
        What was worked on, in which session, by which agent; the task's text is `task`.
    guidance_hash
        Hash of the compiled rules in force.
    retrieved_rule_ids, retrieved
        The rules that the agent was given for the task; `retrieved` says with which score and why.
    relevant_rule_ids
        Rules that applied to the run, whether retrieved or not, where that is known.
    tools_used
        Tool names and commands as they were called.
    files_touched, diff_summary, test_results, violations, verdicts, tokens
        What came of it.
    dependencies_added
        Packages that manifests or lock files have after the run and had not before, as ``ecosystem:name``.
    manifests_unread
        Manifests that could not be read, and why: what was added to them is not known.
    assignments
        For each experiment that the run took part in, its arm: ``control`` or ``treatment``.
    outcome_accepted
        Whether the result was accepted; None if not known.
    rework_lines
        Lines that had to be written again afterwards.
    timestamp, duration_ms
        Start in milliseconds since 1970, and length in milliseconds.
    """

    event_id: str
    task_id: str
    guidance_hash: str
    retrieved_rule_ids: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    diff_summary: DiffSummary = DiffSummary()
    test_results: TestResults = TestResults()
    violations: tuple[Violation, ...] = ()
    outcome_accepted: bool | None = None
    rework_lines: int = 0
    intent: str = "general"
    timestamp: int = 0
    duration_ms: float = 0
    session_id: str | None = None
    agent_id: str | None = None
    task: str = ""
    retrieved: tuple[RetrievedRule, ...] = ()
    relevant_rule_ids: tuple[str, ...] = ()
    verdicts: tuple[GateVerdict, ...] = ()
    tokens: TokenUse = TokenUse()
    dependencies_added: tuple[str, ...] = ()
    manifests_unread: tuple[str, ...] = ()
    assignments: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    clarifying_questions: int = 0

    def __post_init__(self) -> None:
        for name in ("event_id", "task_id", "session_id", "agent_id"):
            value = getattr(self, name)
            if value is not None and _CONTROL.search(value):
                raise ConfigError(f"{name} is {value!r}; an id must not contain control characters")
        if not self.event_id:
            raise ConfigError("event_id is empty; an event needs an id that is unique in its ledger")

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Read an event from plain data with snake_case or camelCase keys; keys that are not known are ignored.

        Raises
        ------
        ConfigError
            If a field is missing or has the wrong type; the message names the field.
        """
        return cast("Self", _read(cls, mapping))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read the JSON text of :meth:`to_dict`; the fastest way in."""
        return cast("Self", _DECODER.decode(text))


def canonical_json(record: Any) -> bytes:
    """Return the one JSON text of a record: keys sorted at every depth, no blanks, UTF-8.

    Two records have the same bytes if and only if they are equal; every nested field takes part.
    """
    return msgspec.json.encode(record, order="sorted")


def without_controls(text: str) -> str:
    """Return text that came from elsewhere without the control characters that an id must not have."""
    return _CONTROL.sub("", text)


def _read(kind: type[RunEvent], mapping: Mapping[str, Any]) -> RunEvent:
    if not isinstance(cast("object", mapping), Mapping):
        raise ConfigError(f"an event is a mapping, not {type(mapping).__name__}")
    try:
        return msgspec.convert(_snake(mapping), kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"event {mapping.get('event_id', mapping.get('eventId', '?'))!r}: {error}") from error


def _snake(value: Any, *, keys: bool = True) -> Any:
    """Return plain data with snake_case keys and whole floats as integers, as JSON written elsewhere has them."""
    if isinstance(value, Mapping):
        table: Mapping[Any, Any] = value
        out: dict[Any, Any] = {}
        for key, item in table.items():
            name = _HUMP.sub(r"_\1", key).lower() if keys and isinstance(key, str) else key
            out[name] = _snake(item, keys=name != "assignments")
        return out
    if isinstance(value, list | tuple):
        return [_snake(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_DECODER: Final = msgspec.json.Decoder(RunEvent)
