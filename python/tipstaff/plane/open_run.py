"""A run that is open: what it was given, what it called, and what of it goes into the ledger."""

from __future__ import annotations

import hashlib
import threading
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.gates.results import GateResult, aggregate_decision
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import RetrievalResult
from tipstaff.plane.records import OUTCOMES, SuspendedRun
from tipstaff.plane.rules import Rules
from tipstaff.runs.evaluators.manifests import dependencies_added, is_manifest
from tipstaff.runs.events import (
    DiffSummary,
    GateVerdict,
    RetrievedRule,
    RunEvent,
    TestResults,
    TokenUse,
    Violation,
)
from tipstaff.runs.limits import LoopBreaker

ALWAYS_LOADED: Final = "always loaded"
"""Why a rule of the constitution was given."""


class OpenRun:
    """A run that is open. Lists only grow, one step at a time, so threads may share one."""

    def __init__(self, run_id: str, task: str, rules: Rules, session_id: str | None, agent_id: str | None) -> None:
        self.id = run_id
        self.task = task
        self.rules = rules
        self.session_id = session_id
        self.agent_id = agent_id
        self.intent = classify_intent(task).intent
        self.at = time.time_ns() // 1_000_000
        self.began = time.perf_counter_ns()
        self.assignments: dict[str, str] = {}
        self.retrieved: dict[str, RetrievedRule] = {}
        self.tools: list[str] = []
        self.verdicts: list[tuple[str, str, list[GateResult]]] = []
        self.judged: dict[str, tuple[str, ...]] = {}
        self.violations: list[Violation] = []
        self.questions = 0
        self.breaker: LoopBreaker | None = None
        self.lock = threading.Lock()

    @property
    def retriever(self) -> ShardRetriever:
        """What gives the run its rules."""
        return self.rules.retriever_for(self.assignments)

    def note_rules(self, result: RetrievalResult) -> None:
        """Note the rules that the run was given, those of the constitution first."""
        if not self.retrieved:
            for rule in result.constitution.rules:
                self.retrieved[rule.id] = RetrievedRule(rule_id=rule.id, score=1.0, reason=ALWAYS_LOADED)
        for found in result.shards:
            rule_id = found.shard.rule.id
            if rule_id not in self.retrieved:
                score = round(found.similarity, 4)
                self.retrieved[rule_id] = RetrievedRule(rule_id=rule_id, score=score, reason=found.reason)

    def note_call(self, entry: str, tool: str, results: list[GateResult], command: str | None) -> None:
        """Note a call and what the gates found in it."""
        self.tools.append(entry)
        self.verdicts.append((entry, tool, results))
        # A command in which nothing was found and that calls nothing as code is not judged again at the end.
        if command is not None and not results and "(" not in command:
            self.judged[entry] = ()

    def suspended(self) -> SuspendedRun:
        """Return what another process needs to finish the run."""
        return SuspendedRun(
            run_id=self.id, task=self.task, at=self.at, guidance_hash=self.rules.guidance_hash,
            session_id=self.session_id, agent_id=self.agent_id, assignments=self.assignments,
            retrieved=tuple(self.retrieved.values()),
        )  # fmt: skip

    @classmethod
    def resumed(cls, suspended: SuspendedRun, rules: Rules) -> OpenRun:
        """Return a run that was suspended; its rules are those that it began with."""
        own = rules._replace(guidance_hash=suspended.guidance_hash)
        run = cls(suspended.run_id, suspended.task, own, suspended.session_id, suspended.agent_id)
        run.assignments = suspended.assignments
        run.retrieved = {one.rule_id: one for one in suspended.retrieved}
        run.began -= max(0, run.at - suspended.at) * 1_000_000
        run.at = suspended.at
        return run

    def event(
        self, root: Path, outcome: Any, tests: Any, diff: Any, files: tuple[str, ...], tokens: Any, rework: int
    ) -> RunEvent:
        """Return the run as the ledger keeps it; raises `ConfigError` for an argument that is not usable."""
        if outcome not in OUTCOMES:
            raise ConfigError(f"outcome is {outcome!r}; it must be 'accepted', 'rejected' or None")
        use = {"output": tokens} if isinstance(tokens, int) else tokens
        added = dependencies_added(root, files)[0] if any(map(is_manifest, files)) else ()
        return RunEvent(
            event_id=self.id,
            task_id=hashlib.sha256(self.task.encode("utf-8", "replace")).hexdigest()[:16],
            guidance_hash=self.rules.guidance_hash,
            retrieved_rule_ids=tuple(self.retrieved),
            retrieved=tuple(self.retrieved.values()),
            tools_used=tuple(self.tools),
            files_touched=files,
            diff_summary=_record(DiffSummary, diff),
            test_results=_record(TestResults, tests),
            violations=tuple(self.violations),
            outcome_accepted=OUTCOMES[outcome],
            rework_lines=rework,
            intent=self.intent,
            timestamp=self.at,
            duration_ms=round((time.perf_counter_ns() - self.began) / 1e6, 3),
            session_id=self.session_id,
            agent_id=self.agent_id,
            task=self.task,
            verdicts=tuple(_verdict(*one) for one in self.verdicts),
            tokens=_record(TokenUse, use),
            dependencies_added=added,
            assignments=self.assignments,
            clarifying_questions=self.questions,
        )


def _record(kind: type[Any], given: Any) -> Any:
    if given is None:
        return kind()
    if isinstance(given, kind):
        return given
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{kind.__name__}: {error}") from error


def _verdict(entry: str, tool: str, results: list[GateResult]) -> GateVerdict:
    subject = hashlib.blake2b(f"{tool}\0{entry}".encode("utf-8", "replace"), digest_size=16).hexdigest()
    if not results:
        return GateVerdict(tool=tool, decision="allow", subject=subject)
    decision = aggregate_decision(results)
    worst = next(one for one in results if one.decision == decision)
    findings = worst.metadata.get("findings", ())
    rules = tuple(dict.fromkeys(one["rule_id"] for result in results for one in result.metadata.get("findings", ())))
    span = (findings[0].get("start", 0), findings[0].get("end", 0)) if findings else (0, 0)
    return GateVerdict(tool=tool, decision=decision, rules=rules, gate=worst.gate_name, span=span, subject=subject)
