"""A run that is not finished: one record of it, from its first call to its row in the ledger.

Between processes it waits as a row of the ledger's database.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import BigInteger, Column, MetaData, Table, Text, delete, insert, select

from tipstaff.errors import ConfigError, StoreDamagedError
from tipstaff.gates.fields import as_text
from tipstaff.gates.results import GateResult, aggregate_decision, facts_of, kept_of
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.model import RetrievalResult
from tipstaff.runs.events import GateVerdict, RetrievedRule, RunEvent, Violation, without_controls
from tipstaff.runs.limits import LoopBreaker
from tipstaff.store.database import Database, Schema, migrate, version_of
from tipstaff.store.git import head_commit

ALWAYS_LOADED: Final = "always loaded"
"""Why a rule of the constitution was given."""

OUTCOMES: Final[dict[Any, bool | None]] = {
    "accepted": True, "success": True, "completed": True, "rejected": False, "failed": False, "failure": False,
    "unknown": None, True: True, False: False, None: None,
}  # fmt: skip
"""Outcomes as callers may write them."""


class OpenRun(msgspec.Struct, kw_only=True):
    """A run that is not finished. Lists only grow, one step at a time, so threads may share one.

    It is all that is known of the run, and plain data: as JSON it can be finished by another process.

    Attributes
    ----------
    event_id ... clarifying_questions
        As of `RunEvent`, which takes them over by their names.
    base
        The commit that the repository was at when the run began; empty where there was none.
    judged
        Calls in which nothing was found, which need not be judged again at the end.
    breaker
        The steps that the loop breaker counted; None where none was.
    trace
        The trace and the span of the run, where OpenTelemetry is on.
    flow
        What the calls did, as the gates keep it; see `tipstaff.kernels._gates.Flow`.
    """

    event_id: str
    task: str
    task_id: str
    intent: str
    guidance_hash: str
    timestamp: int
    session_id: str | None = None
    agent_id: str | None = None
    assignments: dict[str, str] = {}
    retrieved: list[RetrievedRule] = []
    tools_used: list[str] = []
    verdicts: list[GateVerdict] = []
    violations: list[Violation] = []
    clarifying_questions: int = 0
    base: str = ""
    judged: dict[str, tuple[str, ...]] = {}
    breaker: LoopBreaker | None = None
    trace: str = ""
    flow: bytes = b""

    @classmethod
    def begin(
        cls, run_id: str, task: str, root: Path, guidance_hash: str, session_id: str | None, agent_id: str | None
    ) -> OpenRun:
        """Return a run that begins now in a repository."""
        return cls(
            event_id=run_id, task=task, task_id=hashlib.sha256(task.encode("utf-8", "replace")).hexdigest()[:16],
            intent=classify_intent(task).intent, guidance_hash=guidance_hash, timestamp=time.time_ns() // 1_000_000,
            session_id=None if session_id is None else without_controls(as_text(session_id)),
            agent_id=None if agent_id is None else without_controls(as_text(agent_id)), base=head_commit(root),
        )  # fmt: skip

    def note_rules(self, result: RetrievalResult) -> None:
        """Note the rules that the run was given, those of the constitution first."""
        if not self.retrieved:
            self.retrieved.extend(
                RetrievedRule(rule_id=rule.id, score=1.0, reason=ALWAYS_LOADED) for rule in result.constitution.rules
            )
        known = {one.rule_id for one in self.retrieved}
        self.retrieved.extend(
            RetrievedRule(rule_id=found.shard.rule.id, score=round(found.similarity, 4), reason=found.reason)
            for found in result.shards
            if found.shard.rule.id not in known
        )

    def note_call(self, entry: str, tool: str, results: list[GateResult], command: str | None) -> None:
        """Note a call and what the gates found in it."""
        self.tools_used.append(entry)
        self.verdicts.append(_verdict(entry, tool, results))
        # A command in which nothing was found and that calls nothing as code is not judged again at the end, nor one
        # that was let through because of what was there.
        passed = not results or (facts_of(results) and aggregate_decision(results) in {"allow", "warn"})
        if command is not None and passed and "(" not in command:
            self.judged[entry] = ()

    def event(self, outcome: Any, **known_at_the_end: Any) -> RunEvent:
        """Return the run as the ledger keeps it; raises `ConfigError` for an argument that is not usable."""
        if outcome not in OUTCOMES:
            raise ConfigError(f"outcome is {outcome!r}; it must be 'accepted', 'rejected' or None")
        fields: dict[str, Any] = {}
        for name in _OF_THE_EVENT:
            value: Any = getattr(self, name)
            fields[name] = tuple(value) if isinstance(value, list) else value
        fields |= known_at_the_end
        fields["retrieved_rule_ids"] = tuple(one.rule_id for one in self.retrieved)
        fields["outcome_accepted"] = OUTCOMES[outcome]
        fields["duration_ms"] = max(0, time.time_ns() // 1_000_000 - self.timestamp)
        return RunEvent(**fields)


_OF_THE_EVENT: Final = tuple(name for name in OpenRun.__struct_fields__ if name in RunEvent.__struct_fields__)


def _verdict(entry: str, tool: str, results: list[GateResult]) -> GateVerdict:
    subject = hashlib.blake2b(f"{tool}\0{entry}".encode("utf-8", "replace"), digest_size=16).hexdigest()
    if not results:
        return GateVerdict(tool=tool, decision="allow", subject=subject)
    decision = aggregate_decision(results)
    worst = next(one for one in results if one.decision == decision)
    findings = worst.metadata.get("findings", ())
    rules = tuple(dict.fromkeys(one["rule_id"] for result in results for one in result.metadata.get("findings", ())))
    span = (findings[0].get("start", 0), findings[0].get("end", 0)) if findings else (0, 0)
    return GateVerdict(
        tool=tool, decision=decision, rules=rules, gate=worst.gate_name, span=span, subject=subject,
        kept=kept_of(results),
    )  # fmt: skip


_ROWS: Final = Table(
    "tipstaff_open_runs",
    MetaData(),
    Column("run_id", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("record", Text, nullable=False),
)
_SCHEMA: Final = Schema("open runs", "open_runs_schema", (_ROWS.create,))


class OpenRuns:
    """Runs that wait in a database to be finished, by this process or another."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, run: OpenRun) -> None:
        """Write a run in place of what was written of it before."""
        row = {"run_id": run.event_id, "at": run.timestamp, "record": msgspec.json.encode(run).decode()}
        with self._database.writing() as connection:
            migrate(connection, _SCHEMA)
            connection.execute(delete(_ROWS).where(_ROWS.c.run_id == run.event_id))
            connection.execute(insert(_ROWS).values(row))

    def find(self, run_id: str) -> OpenRun | None:
        """Return a run that waits, None where there is none of this id."""
        with self._database.reading() as connection:
            if not version_of(connection, _SCHEMA):
                return None
            text = connection.execute(select(_ROWS.c.record).where(_ROWS.c.run_id == run_id)).scalar_one_or_none()
        if text is None:
            return None
        try:
            return msgspec.json.decode(text, type=OpenRun)
        except msgspec.DecodeError as error:
            raise StoreDamagedError(f"run {run_id!r} is damaged: {error}; start it again") from error

    def drop(self, run_id: str) -> None:
        """Forget a run that is finished."""
        with self._database.writing() as connection:
            migrate(connection, _SCHEMA)
            connection.execute(delete(_ROWS).where(_ROWS.c.run_id == run_id))
