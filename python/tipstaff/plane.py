"""`GuidanceControlPlane`: the one object that wires rules, gates, ledger, evaluators and optimizer together.

One per process, used by any number of threads. The rules, the retriever and the gates are replaced as one tuple when
they change, so a call reads one attribute and takes no lock.

Source: ADR-G001.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import hashlib
import threading
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.gates.config import GateConfig
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.gates.results import GateResult, aggregate_decision
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.project import Project, open_project
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.guidance.retrieval.shard_index import current_day
from tipstaff.model import GuidanceRule, PolicyBundle, Record, RetrievalResult
from tipstaff.runs import telemetry
from tipstaff.runs.evaluators.evaluating import evaluate
from tipstaff.runs.evaluators.manifests import dependencies_added, is_manifest
from tipstaff.runs.evaluators.results import EvaluatorResult
from tipstaff.runs.events import (
    VIOLATION_SEVERITIES,
    DiffSummary,
    GateVerdict,
    RetrievedRule,
    RunEvent,
    TestResults,
    TokenUse,
    Violation,
    without_controls,
)
from tipstaff.runs.limits import LoopBreaker, LoopDecision, LoopLimits
from tipstaff.runs.optimizer.changes import with_changes
from tipstaff.runs.optimizer.experiments import Assigner, Experiment
from tipstaff.runs.scope import Budgets, Scope

if TYPE_CHECKING:
    from tipstaff.runs.ledger.ledger import Ledger
    from tipstaff.runs.optimizer.optimizer import OptimizerConfig, OptimizeReport
    from tipstaff.runs.optimizer.proposers import Proposer
    from tipstaff.runs.statistics.metrics import ViolationRank

OUTCOMES: dict[Any, bool | None] = {
    "accepted": True, "success": True, "completed": True, "rejected": False, "failed": False, "failure": False,
    "unknown": None, True: True, False: False, None: None,
}  # fmt: skip
_FINISHED_KEPT = 1000


class PlaneConfig(Record, frozen=True, kw_only=True):
    """Settings of a plane.

    Attributes
    ----------
    gates
        Settings of the gates.
    max_shards
        Rules that a task is given, beside the constitution.
    ledger_url, ledger_key
        As of `tipstaff.runs.Ledger`; ``.tipstaff/ledger.db`` below the root where None.
    durable
        Whether the ledger flushes to the disk for each run.
    forbidden_packages, max_violations, max_rework_ratio
        What the evaluators judge by.
    limits
        When the loop breaker stops a run.
    experiments
        Whether runs take part in trials of the optimizer.
    seed
        Of the assignment of runs to trials.
    """

    gates: GateConfig = GateConfig()
    max_shards: int = 5
    ledger_url: str | None = None
    ledger_key: bytes | None = None
    durable: bool = True
    forbidden_packages: tuple[str, ...] = ()
    max_violations: int = 0
    max_rework_ratio: float = 0.3
    limits: LoopLimits = LoopLimits()
    experiments: bool = True
    seed: int = 0


class PlaneStatus(Record, frozen=True, kw_only=True):
    """How a plane is."""

    initialized: bool
    constitution_loaded: bool
    rule_count: int
    shard_count: int
    guidance_hash: str
    active_gates: int
    open_runs: int
    finished_runs: int
    open_experiments: int


class PlaneMetrics(Record, frozen=True, kw_only=True):
    """Figures of the runs that this plane finished, kept as they finish: asking costs no query."""

    violation_rate: float
    self_correction_rate: float
    rework_lines: float
    clarifying_questions: float
    task_count: int
    verdicts: dict[str, int]
    top_violations: tuple[ViolationRank, ...]


class SuspendedRun(Record, frozen=True, kw_only=True):
    """A run that was begun in one process and is finished in another."""

    run_id: str
    task: str
    at: int
    guidance_hash: str
    session_id: str | None = None
    agent_id: str | None = None
    assignments: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    retrieved: tuple[RetrievedRule, ...] = ()


class _Rules(NamedTuple):
    """What changes together when the rules do."""

    bundle: PolicyBundle
    retriever: ShardRetriever
    guidance_hash: str
    day: str
    experiments: tuple[Experiment, ...]
    variants: dict[frozenset[str], ShardRetriever]


class _Run:
    """A run that is open. Lists only grow, one step at a time, so threads may share one."""

    def __init__(self, run_id: str, task: str, rules: _Rules, session_id: str | None, agent_id: str | None) -> None:
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


class _Shared:
    """What a plane and those narrowed from it have in common."""

    def __init__(self, root: Path, config: PlaneConfig) -> None:
        self.root = root
        self.config = config
        self.gates = EnforcementGates.for_repository(root, config.gates)
        self.assigner = Assigner(config.seed)
        self.lock = threading.Lock()
        self.rules: _Rules | None = None
        self.ledger: Ledger | None = None
        self.runs: dict[str, _Run] = {}
        self.finished: dict[str, tuple[EvaluatorResult, ...]] = {}
        self.finished_count = 0
        self.decisions: dict[str, int] = {}
        self.sums = [0, 0, 0, 0]  # violations, put right, rework, questions
        self.violated: dict[str, list[float]] = {}


_current: contextvars.ContextVar[str | None] = contextvars.ContextVar("tipstaff_run", default=None)


class GuidanceControlPlane:
    """Rules, gates, ledger, evaluators and optimizer of one repository.

    Parameters
    ----------
    root
        The repository.
    config
        A `PlaneConfig` or a mapping of its fields; the defaults where None.

    Notes
    -----
    :meth:`initialize` compiles the rules and opens the ledger; what needs them calls it where nobody has. The gates
    work without it. Every method has a twin ``a_<name>`` that does the same on a thread of the event loop's pool.

    Examples
    --------
    >>> plane = GuidanceControlPlane("examples/orchard", config={"ledger_url": "sqlite://", "ledger_key": bytes(32)})
    >>> run = plane.start_run("Fix the delivery day that is wrong around midnight")
    >>> [result.decision for result in plane.evaluate_command("git reset --hard")]
    ['require-confirmation']
    >>> plane.finalize_run(run, outcome="accepted", tests={"ran": True, "passed": 3})[0].passed
    True
    """

    def __init__(
        self,
        root: str | Path = ".",
        *,
        config: PlaneConfig | Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(config, PlaneConfig):
            settings = config
        else:
            try:
                settings = msgspec.convert(dict(config or {}), PlaneConfig, from_attributes=True)
            except msgspec.ValidationError as error:
                raise ConfigError(f"config: {error}") from error
        self._shared = _Shared(Path(root), settings)
        self._scope = Scope(str(root))

    # -- rules ---------------------------------------------------------------------------------------------------------

    def initialize(self) -> Self:
        """Compile the rules if they changed, open the ledger, read which trials are open; again to take in changes.

        Raises
        ------
        SourceNotFoundError
            The root is not a folder.
        LedgerError, LedgerWriteError
            The ledger cannot be used.
        """
        from tipstaff.runs.ledger.ledger import Ledger
        from tipstaff.runs.optimizer.history import History

        shared = self._shared
        with shared.lock:
            project: Project = open_project(shared.root)
            bundle = project.bundle
            if shared.ledger is None:
                config = shared.config
                url = config.ledger_url or default_ledger_url(shared.root)
                shared.ledger = Ledger(url, key=config.ledger_key, durable=config.durable)
            experiments = tuple(History(shared.ledger).open.values()) if shared.config.experiments else ()
            day = current_day()
            shared.gates.set_active_rules(rule for rule in bundle.rules() if _in_force(rule, day))
            shared.rules = _Rules(bundle, project.retriever(), guidance_hash(bundle), day, experiments, {})
        return self

    @property
    def bundle(self) -> PolicyBundle:
        """The compiled rules."""
        return self._rules().bundle

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        self._rules()
        return cast("Ledger", self._shared.ledger)

    def retrieve_for_task(self, task: str, *, run_id: str | None = None, **options: Any) -> RetrievalResult:
        """Return the rules for a task; `options` are those of `ShardRetriever.retrieve`.

        A run that takes part in a trial is given the rules as its arm has them.
        """
        rules = self._rules()
        run = self._run(run_id)
        options.setdefault("max_shards", self._shared.config.max_shards)
        retriever = rules.retriever if run is None else self._retriever_of(run)
        result = retriever.retrieve(task, **options)
        if run is not None:
            for found in result.shards:
                rule_id = found.shard.rule.id
                if rule_id not in run.retrieved:
                    score = round(found.similarity, 4)
                    run.retrieved[rule_id] = RetrievedRule(rule_id=rule_id, score=score, reason=found.reason)
        telemetry.retrieved(result)
        return result

    def retrieve_batch(self, tasks: Sequence[str], **options: Any) -> list[RetrievalResult]:
        """Return the rules for each of many tasks, outside any run; `options` as of `ShardRetriever.retrieve_batch`."""
        options.setdefault("max_shards", self._shared.config.max_shards)
        return self._rules().retriever.retrieve_batch(tasks, **options)

    # -- gates ---------------------------------------------------------------------------------------------------------

    def evaluate_command(
        self, command: str, *, cwd: str | None = None, shell: str = "bash", run_id: str | None = None
    ) -> list[GateResult]:
        """Judge a command before it runs, within this agent's scope; see `EnforcementGates.evaluate_command`."""
        gates = self._shared.gates
        results = gates.evaluate_command(command, cwd=cwd or self._scope.root, shell=shell)
        if self._scope.layers:
            results = [*results, *self._scope.check("Bash", {"command": command}, gates, cwd)]
        return self._noted(command, "Bash", results, run_id, command=command)

    def evaluate_tool_use(
        self, tool: str, params: Any, *, cwd: str | None = None, shell: str = "bash", run_id: str | None = None
    ) -> list[GateResult]:
        """Judge a tool call before it runs, within this agent's scope; see `EnforcementGates.evaluate_tool_use`."""
        gates = self._shared.gates
        results = gates.evaluate_tool_use(tool, params, cwd=cwd or self._scope.root, shell=shell)
        if self._scope.layers:
            results = [*results, *self._scope.check(tool, params, gates, cwd)]
        given: Any = params.get("command") if isinstance(params, Mapping) else None
        command = given if isinstance(given, str) else None
        return self._noted(command or tool, tool, results, run_id, command=command)

    def evaluate_edit(
        self, path: str, content: str, diff_lines: float, *, run_id: str | None = None
    ) -> list[GateResult]:
        """Judge an edit before it is made, within this agent's scope; see `EnforcementGates.evaluate_edit`."""
        gates = self._shared.gates
        results = gates.evaluate_edit(path, content, diff_lines)
        if self._scope.layers:
            results = [*results, *self._scope.check("Edit", {"file_path": path}, gates)]
        return self._noted("Edit", "Edit", results, run_id)

    def evaluate_batch(
        self, events: Iterable[str | Mapping[str, Any]], *, threads: int | None = None
    ) -> list[list[GateResult]]:
        """Judge many events on several threads, outside any run, within this agent's scope."""
        given = list(events)
        gates = self._shared.gates
        results = gates.evaluate_batch(given, threads=threads)
        if self._scope.layers:
            for event, found in zip(given, results, strict=True):
                tool, params, cwd = _as_call(event)
                found.extend(self._scope.check(tool, params, gates, cwd))
        return results

    # -- runs ----------------------------------------------------------------------------------------------------------

    def start_run(
        self, task: str, *, session_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> str:
        """Begin a run; returns its id.

        Calls of this thread (or asyncio task) belong to it until it is finished, calls of others where it is the only
        one that is open or where they name it.
        """
        rules = self._rules()
        if rules.day != current_day():
            rules = self.initialize()._rules()  # noqa: SLF001 - rules have first and last days
        identity = run_id or f"run-{uuid.uuid4().hex}"
        run = _Run(
            identity, task, rules, None if session_id is None else without_controls(session_id),
            None if agent_id is None else without_controls(agent_id),
        )  # fmt: skip
        if rules.experiments:
            run.assignments = self._shared.assigner.assign(rules.experiments, run.intent)
        with self._shared.lock:
            if identity in self._shared.runs or identity in self._shared.finished:
                raise ConfigError(f"run {identity!r} was started before")
            self._shared.runs[identity] = run
        _current.set(identity)
        return identity

    def record_violation(
        self, run_id: str, rule_id: str, *, severity: str = "medium", description: str = "",
        auto_corrected: bool = False, location: str | None = None,
    ) -> None:  # fmt: skip
        """Note that a run broke a rule.

        Raises
        ------
        ConfigError
            No such run is open, or the severity is not known.
        """
        if severity not in VIOLATION_SEVERITIES:
            raise ConfigError(f"severity is {severity!r}; it must be one of {', '.join(VIOLATION_SEVERITIES)}")
        violation = Violation(
            rule_id=rule_id, description=description, severity=severity, auto_corrected=auto_corrected,
            location=location,
        )  # fmt: skip
        self._open_run(run_id).violations.append(violation)

    def suspend_run(self, run_id: str) -> SuspendedRun:
        """Take an open run away, to be finished by another process with :meth:`resume_run`."""
        run = self._open_run(run_id)
        with self._shared.lock:
            self._shared.runs.pop(run_id, None)
        if _current.get() == run_id:
            _current.set(None)
        return SuspendedRun(
            run_id=run_id, task=run.task, at=run.at, guidance_hash=run.rules.guidance_hash, session_id=run.session_id,
            agent_id=run.agent_id, assignments=run.assignments, retrieved=tuple(run.retrieved.values()),
        )  # fmt: skip

    def resume_run(self, suspended: SuspendedRun) -> str:
        """Go on with a run that was suspended; returns its id. Its rules are those that it began with."""
        rules = self._rules()._replace(guidance_hash=suspended.guidance_hash)
        run = _Run(suspended.run_id, suspended.task, rules, suspended.session_id, suspended.agent_id)
        run.assignments = suspended.assignments
        run.retrieved = {one.rule_id: one for one in suspended.retrieved}
        run.began -= max(0, run.at - suspended.at) * 1_000_000
        run.at = suspended.at
        with self._shared.lock:
            self._shared.runs[run.id] = run
        _current.set(run.id)
        return run.id

    def record_question(self, run_id: str) -> None:
        """Note that the agent asked the user a question."""
        self._open_run(run_id).questions += 1

    def record_step(self, run_id: str, call: str, *, failed: bool = False, tokens: int = 0) -> LoopDecision:
        """Note a step, charge its tokens, and return whether the run should stop; see `LoopBreaker`."""
        run = self._open_run(run_id)
        self._scope.spend(tokens=tokens)
        with run.lock:
            breaker = self._breaker(run)
            breaker.step(call, failed=failed, tokens=tokens)
            return breaker.decision(self._scope.remaining())

    def on_stop(self, run_id: str, *, wants_more: bool = False, reason: str = "") -> LoopDecision:
        """Answer the host's Stop event of a run; see `LoopBreaker.on_stop`."""
        run = self._open_run(run_id)
        with run.lock:
            return self._breaker(run).on_stop(wants_more=wants_more, reason=reason, budgets=self._scope.remaining())

    def spend(self, *, tokens: int = 0, usd: float = 0.0) -> None:
        """Charge what a model used to this agent's budgets and those of its parents."""
        self._scope.spend(tokens=tokens, usd=usd)

    def finalize_run(
        self,
        run_id: str,
        *,
        outcome: str | bool | None,
        tests: TestResults | Mapping[str, Any] | None = None,
        diff: DiffSummary | Mapping[str, Any] | None = None,
        files: Iterable[str] = (),
        tokens: TokenUse | Mapping[str, Any] | int | None = None,
        rework_lines: int = 0,
        relevant_rule_ids: Iterable[str] = (),
        tools: Iterable[str] = (),
        verdicts: Iterable[GateVerdict] = (),
    ) -> tuple[EvaluatorResult, ...]:
        """Finish a run: record it in the ledger, and judge it. It is on the disk when this returns.

        Finishing a run again returns the results that it had and records nothing.

        Parameters
        ----------
        run_id
            The run.
        outcome
            ``accepted``, ``rejected`` or None (nobody has said).
        tests, diff, tokens
            Records, or mappings of their fields; a number of tokens counts as output.
        files
            Paths that were touched; manifests among them are compared with git.
        rework_lines
            Lines that had to be written again.
        relevant_rule_ids
            Rules that applied, where that is known.
        tools, verdicts
            Tool calls and verdicts beside those of the gates here: those of the hook, for example.

        Raises
        ------
        ConfigError
            No such run was started, or an argument is not usable; the run stays open.
        LedgerWriteError
            It could not be recorded; the run stays open.
        """
        done = self._shared.finished.get(run_id)
        if done is not None:
            return done
        run = self._open_run(run_id)
        with run.lock:
            done = self._shared.finished.get(run_id)
            if done is not None:
                return done
            event = self._event_of(run, outcome, tests, diff, tuple(files), tokens, rework_lines)
            event = event.replace(
                relevant_rule_ids=tuple(relevant_rule_ids),
                tools_used=(*event.tools_used, *tools),
                verdicts=(*event.verdicts, *verdicts),
            )
            config = self._shared.config
            results = evaluate(
                event, forbidden_packages=config.forbidden_packages, max_violations=config.max_violations,
                max_rework_ratio=config.max_rework_ratio, gates=self._shared.gates, cwd=self._scope.root,
                judged=run.judged,
            )  # fmt: skip
            began = time.perf_counter()
            self.ledger.append(event)
            telemetry.recorded(event, time.perf_counter() - began)
            self._count(event, results)
        if _current.get() == run_id:
            _current.set(None)
        return results

    # -- the whole -----------------------------------------------------------------------------------------------------

    def optimize(
        self, *, config: OptimizerConfig | None = None, proposer: Proposer | None = None, now: int | None = None
    ) -> OptimizeReport:
        """Run one cycle of the optimizer over the ledger, and take part in the trials that it begins."""
        from tipstaff.runs.optimizer.optimizer import Optimizer

        rules = self._rules()
        optimizer = Optimizer(self._shared.root, self.ledger, config=config, proposer=proposer)
        report = optimizer.cycle(rules.bundle, now=now)
        self.initialize()
        return report

    def status(self) -> PlaneStatus:
        """Return how the plane is; cheap, and no error where nothing was initialized."""
        shared, rules = self._shared, self._shared.rules
        return PlaneStatus(
            initialized=rules is not None,
            constitution_loaded=rules is not None and bool(rules.bundle.constitution.rules),
            rule_count=0 if rules is None else rules.bundle.manifest.total_rules,
            shard_count=0 if rules is None else rules.retriever.shard_count,
            guidance_hash="" if rules is None else rules.guidance_hash,
            active_gates=shared.gates.active_gate_count,
            open_runs=len(shared.runs),
            finished_runs=shared.finished_count,
            open_experiments=0 if rules is None else len(rules.experiments),
        )

    def metrics(self) -> PlaneMetrics:
        """Return the figures of the runs that were finished here; those of the ledger are `ledger_metrics`' work."""
        from tipstaff.runs.statistics.metrics import ViolationRank

        shared = self._shared
        with shared.lock:
            violations, corrected, rework, questions = shared.sums
            runs, decisions = shared.finished_count, dict(shared.decisions)
            ranks = [
                ViolationRank(rule, int(count), lines / count, lines)
                for rule, (count, lines) in shared.violated.items()
            ]
        return PlaneMetrics(
            violation_rate=violations / runs * 10 if runs else 0.0,
            self_correction_rate=corrected / violations if violations else float(runs > 0),
            rework_lines=rework / runs if runs else 0.0,
            clarifying_questions=questions / runs if runs else 0.0,
            task_count=runs,
            verdicts=decisions,
            top_violations=tuple(sorted(ranks, key=lambda rank: -(rank.score + rank.frequency))[:5]),
        )

    def narrow(
        self, tools: Iterable[str] | None = None, paths: Iterable[str] | None = None,
        budgets: Budgets | Mapping[str, Any] | None = None,
    ) -> GuidanceControlPlane:  # fmt: skip
        """Return a plane for a sub-agent that may do at most what this one may.

        Parameters
        ----------
        tools
            Globs of the tools that it may call.
        paths
            Globs, relative to the root, of the paths that its calls may name.
        budgets
            ``tokens``, ``calls``, ``seconds``, ``usd``; what it uses is charged to this plane as well.

        Returns
        -------
        GuidanceControlPlane
            It shares rules, ledger and runs with this one.
        """
        given = [None if one is None or isinstance(one, str) else tuple(one) for one in (tools, paths)]
        if isinstance(tools, str) or isinstance(paths, str):
            raise ConfigError("tools and paths are lists of globs, not one text")
        child = object.__new__(GuidanceControlPlane)
        child._shared = self._shared
        child._scope = self._scope.narrowed(given[0], given[1], budgets)
        return child

    def close(self) -> None:
        """Close the ledger's connections."""
        if self._shared.ledger is not None:
            self._shared.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- asynchronous forms --------------------------------------------------------------------------------------------

    async def a_initialize(self) -> Self:
        """Do as :meth:`initialize`."""
        return await asyncio.to_thread(self.initialize)

    async def a_retrieve_for_task(self, task: str, **options: Any) -> RetrievalResult:
        """Do as :meth:`retrieve_for_task`."""
        return await asyncio.to_thread(functools.partial(self.retrieve_for_task, task, **options))

    async def a_evaluate_command(self, command: str, **options: Any) -> list[GateResult]:
        """Do as :meth:`evaluate_command`, which is too short for a thread of its own."""
        return self.evaluate_command(command, **options)

    async def a_evaluate_tool_use(self, tool: str, params: Any, **options: Any) -> list[GateResult]:
        """Do as :meth:`evaluate_tool_use`."""
        return self.evaluate_tool_use(tool, params, **options)

    async def a_evaluate_edit(self, path: str, content: str, diff_lines: float, **options: Any) -> list[GateResult]:
        """Do as :meth:`evaluate_edit`."""
        return self.evaluate_edit(path, content, diff_lines, **options)

    async def a_evaluate_batch(
        self, events: Iterable[str | Mapping[str, Any]], **options: Any
    ) -> list[list[GateResult]]:
        """Do as :meth:`evaluate_batch`."""
        return await asyncio.to_thread(functools.partial(self.evaluate_batch, events, **options))

    async def a_start_run(self, task: str, **options: Any) -> str:
        """Do as :meth:`start_run`; calls of this task belong to the run."""
        if self._shared.rules is None:
            await self.a_initialize()
        return self.start_run(task, **options)

    async def a_record_violation(self, run_id: str, rule_id: str, **options: Any) -> None:
        """Do as :meth:`record_violation`."""
        self.record_violation(run_id, rule_id, **options)

    async def a_finalize_run(self, run_id: str, **options: Any) -> tuple[EvaluatorResult, ...]:
        """Do as :meth:`finalize_run`."""
        results = await asyncio.to_thread(functools.partial(self.finalize_run, run_id, **options))
        if _current.get() == run_id:
            _current.set(None)
        return results

    async def a_optimize(self, **options: Any) -> OptimizeReport:
        """Do as :meth:`optimize`."""
        return await asyncio.to_thread(functools.partial(self.optimize, **options))

    async def a_status(self) -> PlaneStatus:
        """Do as :meth:`status`."""
        return self.status()

    async def a_metrics(self) -> PlaneMetrics:
        """Do as :meth:`metrics`."""
        return self.metrics()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _rules(self) -> _Rules:
        rules = self._shared.rules
        if rules is None:
            self.initialize()
            rules = cast("_Rules", self._shared.rules)
        return rules

    def _run(self, run_id: str | None) -> _Run | None:
        """Return the run that a call belongs to: the one named, the current one, or the only one."""
        runs = self._shared.runs
        if run_id is not None:
            return self._open_run(run_id)
        found = runs.get(_current.get() or "")
        if found is None and len(runs) == 1:
            found = next(iter(list(runs.values())), None)
        return found

    def _open_run(self, run_id: str) -> _Run:
        run = self._shared.runs.get(run_id)
        if run is None:
            state = "was finished" if run_id in self._shared.finished else "was not started here"
            raise ConfigError(f"run {run_id!r} {state}")
        return run

    def _retriever_of(self, run: _Run) -> ShardRetriever:
        rules = run.rules
        tried = [one for one in rules.experiments if run.assignments.get(one.id) == "treatment"]
        if not tried:
            return rules.retriever
        key = frozenset(one.id for one in tried)
        found = rules.variants.get(key)
        if found is None:
            bundle = with_changes(rules.bundle, [one.change for one in tried])
            found = rules.variants[key] = ShardRetriever(bundle)
        return found

    def _noted(
        self, entry: str, tool: str, results: list[GateResult], run_id: str | None, *, command: str | None = None
    ) -> list[GateResult]:
        run = self._run(run_id) if self._shared.runs or run_id is not None else None
        if run is not None:
            run.tools.append(entry)
            run.verdicts.append((entry, tool, results))
            # A command in which nothing was found and that calls nothing as code is not judged again at the end.
            if command is not None and not results and "(" not in command:
                run.judged[entry] = ()
        telemetry.judged(tool, results)
        return results

    def _breaker(self, run: _Run) -> LoopBreaker:
        if run.breaker is None:
            run.breaker = LoopBreaker(self._shared.config.limits)
        return run.breaker

    def _event_of(
        self, run: _Run, outcome: Any, tests: Any, diff: Any, files: tuple[str, ...], tokens: Any, rework: int
    ) -> RunEvent:
        if outcome not in OUTCOMES:
            raise ConfigError(f"outcome is {outcome!r}; it must be 'accepted', 'rejected' or None")
        use = {"output": tokens} if isinstance(tokens, int) else tokens
        added = dependencies_added(self._shared.root, files)[0] if any(map(is_manifest, files)) else ()
        return RunEvent(
            event_id=run.id,
            task_id=hashlib.sha256(run.task.encode("utf-8", "replace")).hexdigest()[:16],
            guidance_hash=run.rules.guidance_hash,
            retrieved_rule_ids=tuple(run.retrieved),
            retrieved=tuple(run.retrieved.values()),
            tools_used=tuple(run.tools),
            files_touched=files,
            diff_summary=_record(DiffSummary, diff),
            test_results=_record(TestResults, tests),
            violations=tuple(run.violations),
            outcome_accepted=OUTCOMES[outcome],
            rework_lines=rework,
            intent=run.intent,
            timestamp=run.at,
            duration_ms=round((time.perf_counter_ns() - run.began) / 1e6, 3),
            session_id=run.session_id,
            agent_id=run.agent_id,
            task=run.task,
            verdicts=tuple(_verdict(*one) for one in run.verdicts),
            tokens=_record(TokenUse, use),
            dependencies_added=added,
            assignments=run.assignments,
            clarifying_questions=run.questions,
        )

    def _count(self, event: RunEvent, results: tuple[EvaluatorResult, ...]) -> None:
        shared = self._shared
        with shared.lock:
            shared.runs.pop(event.event_id, None)
            shared.finished[event.event_id] = results
            while len(shared.finished) > _FINISHED_KEPT:
                shared.finished.pop(next(iter(shared.finished)))
            shared.finished_count += 1
            shared.sums[0] += len(event.violations)
            shared.sums[1] += sum(one.auto_corrected for one in event.violations)
            shared.sums[2] += event.rework_lines
            shared.sums[3] += event.clarifying_questions
            for one in event.violations:
                entry = shared.violated.setdefault(one.rule_id, [0, 0.0])
                entry[0] += 1
                entry[1] += event.rework_lines / len(event.violations)
            for verdict in event.verdicts:
                shared.decisions[verdict.decision] = shared.decisions.get(verdict.decision, 0) + 1


def default_ledger_url(root: Path) -> str:
    """Return the URL of a repository's own ledger; its folder is kept out of git."""
    folder = root.absolute() / ".tipstaff"
    ignored = folder / ".gitignore"
    if not ignored.exists():
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            ignored.write_text("ledger.db*\nruns/\n.gitignore\n", encoding="utf-8")
    return f"sqlite:///{folder}/ledger.db"


def guidance_hash(bundle: PolicyBundle) -> str:
    """Return a hash of the rules in force: first 16 hexadecimal digits of the SHA-256 of their ids and texts."""
    rules = sorted((rule.id, rule.text) for rule in bundle.rules())
    return hashlib.sha256(msgspec.json.encode(rules)).hexdigest()[:16]


def _in_force(rule: GuidanceRule, day: str) -> bool:
    return (rule.active_from is None or rule.active_from <= day) and (
        rule.active_until is None or day <= rule.active_until
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


def _as_call(event: str | Mapping[str, Any]) -> tuple[str, Any, str | None]:
    if isinstance(event, str):
        return "Bash", {"command": event}, None
    if "command" in event:
        return "Bash", {"command": event["command"]}, event.get("cwd")
    if "tool" in event:
        return str(event["tool"]), event.get("params"), event.get("cwd")
    return "Edit", {"file_path": event.get("path", "")}, None
