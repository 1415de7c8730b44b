"""The plane: rules, gates, ledger, evaluators and optimizer of one repository as one object.

One per process, used by any number of threads. The rules and what retrieves them are replaced as one tuple when they
change, so a call reads one attribute and takes no lock.

Source: ADR-G001.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import hashlib
import os
import threading
import time
import tomllib
import uuid
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, NamedTuple, ParamSpec, Self, TypeVar, cast

import msgspec

from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.gates.config import GateConfig
from tipstaff.gates.fields import as_text, fields_of, safe_text
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.gates.results import GateResult, Verdict, verdict_of
from tipstaff.gates.secrets.scanner import redact
from tipstaff.guidance.compiling.compiler import in_force
from tipstaff.guidance.project import open_project
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.guidance.retrieval.shard_index import current_day
from tipstaff.model import PolicyBundle, Record, RetrievalResult
from tipstaff.runs import telemetry
from tipstaff.runs.evaluators.evaluating import EvaluatorResult, evaluate
from tipstaff.runs.evaluators.manifests import dependencies_added, is_manifest
from tipstaff.runs.events import (
    VIOLATION_SEVERITIES,
    DiffSummary,
    GateVerdict,
    RunEvent,
    TestResults,
    TokenUse,
    Violation,
)
from tipstaff.runs.limits import LoopBreaker, LoopDecision, LoopLimits
from tipstaff.runs.open_run import OpenRun, OpenRuns
from tipstaff.runs.optimizer.changes import applies, with_changes
from tipstaff.runs.optimizer.trials import Experiment, History, assign
from tipstaff.runs.scope import Budgets, Scope
from tipstaff.runs.statistics.metrics import ViolationRank
from tipstaff.store import waiting
from tipstaff.store.state import state_folder
from tipstaff.store.untrusted import read_untrusted_text

if TYPE_CHECKING:
    from tipstaff.gates.judging.explanation import Explanation
    from tipstaff.kernels._gates import Flow
    from tipstaff.runs.ledger.ledger import Ledger
    from tipstaff.runs.optimizer.optimizer import OptimizerConfig, OptimizeReport
    from tipstaff.runs.optimizer.proposers import Proposer

__all__ = ["GuidanceControlPlane", "OpenRun", "PlaneConfig", "PlaneMetrics", "PlaneStatus"]

SETTINGS_FILE: Final = ".tipstaff/runs.toml"
_FINISHED_KEPT: Final = 1000
_CURRENT_RUN: contextvars.ContextVar[str | None] = contextvars.ContextVar("tipstaff_run", default=None)
"""The run that calls of this thread or asyncio task belong to."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


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
        What the evaluators judge by; the repository's own ``forbidden-packages`` in ``.tipstaff/runs.toml`` are added.
    limits
        When the loop breaker stops a run.
    experiments
        Whether runs take part in trials of the optimizer.
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


class _Rules(NamedTuple):
    """What changes together when the rules do."""

    bundle: PolicyBundle
    retriever: ShardRetriever
    guidance_hash: str
    day: str
    experiments: tuple[Experiment, ...]
    variants: dict[frozenset[str], tuple[ShardRetriever, str]]

    def given(self, root: Path, assignments: dict[str, str]) -> tuple[ShardRetriever, str]:
        """Return what gives a run its rules, as its arms of the trials have them, and their hash."""
        tried = [one for one in self.experiments if assignments.get(one.id) == "treatment"]
        if not tried:
            return self.retriever, self.guidance_hash
        key = frozenset(one.id for one in tried)
        found = self.variants.get(key)
        if found is None:
            bundle = with_changes(root, self.bundle, [one.change for one in tried])
            found = self.variants[key] = (ShardRetriever(bundle), guidance_hash(bundle))
        return found


class _Active:
    """A run that is open in this process: its record, and what cannot be written down."""

    def __init__(self, record: OpenRun, retriever: ShardRetriever, *, is_stored: bool = False) -> None:
        from tipstaff.kernels._gates import Flow

        self.record = record
        self.is_stored = is_stored
        self.retriever = retriever
        self.flow = Flow(record.flow or None)
        self.span = telemetry.begun(record)
        self.lock = threading.Lock()


class _Shared:
    """What a plane and those narrowed from it have in common."""

    def __init__(self, root: Path, config: PlaneConfig) -> None:
        from tipstaff.kernels._gates import Flow

        self.root = root
        self.config = config
        self.gates = EnforcementGates.for_repository(root, config.gates)
        self.forbidden_packages = (*config.forbidden_packages, *_repository_packages(root))
        self.lock = threading.Lock()
        self.rules: _Rules | None = None
        self.ledger: Ledger | None = None
        self.flow = Flow()  # of the calls that belong to no run
        self.runs: dict[str, _Active] = {}
        self.finished: dict[str, tuple[EvaluatorResult, ...]] = {}
        self.finished_count = 0
        self.decisions: dict[str, int] = {}
        self.sums = [0, 0, 0, 0]  # violations, put right, rework, questions
        self.violated: dict[str, list[float]] = {}
        _ALL.add(self)

    def after_fork(self) -> None:
        """Take new locks in a child process: threads that held the others are not in it."""
        from tipstaff.kernels._gates import Flow

        self.lock = threading.Lock()
        self.flow = Flow()
        for run in self.runs.values():
            run.lock, run.flow = threading.Lock(), Flow()
        self.rules = None  # what retrieves them has locks of its own


_ALL: Final[weakref.WeakSet[_Shared]] = weakref.WeakSet()


def _after_fork() -> None:
    for shared in list(_ALL):
        shared.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def _on_a_thread(call: Callable[[], _T]) -> _T:
    context = contextvars.copy_context()
    try:
        return await asyncio.get_running_loop().run_in_executor(None, context.run, call)
    finally:
        _CURRENT_RUN.set(context.get(_CURRENT_RUN))  # a run that it began is the task's


def _off_the_loop(
    method: Callable[Concatenate[Any, _P], _T],
) -> Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]]:
    """Return a method's asynchronous form: the same on a thread of the event loop's pool."""

    async def on_a_thread(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await _on_a_thread(functools.partial(getattr(self, method.__name__), *args, **kwargs))

    on_a_thread.__name__ = on_a_thread.__qualname__ = f"a_{method.__name__}"
    on_a_thread.__doc__ = f"Do as :meth:`{method.__name__}`, off the event loop."
    return on_a_thread


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
    work without it. Every method ``name`` that does work has an asynchronous form ``a_name``, which does the same on a
    thread of the event loop's pool.

    Examples
    --------
    >>> plane = GuidanceControlPlane("examples/orchard", config={"ledger_url": "sqlite://", "ledger_key": bytes(32)})
    >>> run = plane.start_run("Fix the delivery day that is wrong around midnight")
    >>> [result.decision for result in plane.evaluate_command("git reset --hard")]
    ['require-confirmation']
    >>> plane.finalize_run(run, outcome="accepted", tests={"ran": True, "passed": 3})[0].passed
    True
    """

    def __init__(self, root: str | Path = ".", *, config: PlaneConfig | Mapping[str, Any] | None = None) -> None:
        if not isinstance(config, PlaneConfig):
            try:
                config = msgspec.convert(dict(config or {}), PlaneConfig, from_attributes=True)
            except msgspec.ValidationError as error:
                raise ConfigError(f"config: {error}") from error
        self._shared = _Shared(Path(root), config)
        self._scope = Scope(str(root))

    # -- rules ---------------------------------------------------------------------------------------------------------

    def initialize(self) -> Self:
        """Compile the rules if they changed, open the ledger, read which trials are open; again to take in changes.

        Raises
        ------
        SourceNotFoundError
            The root is not a folder.
        LedgerError, StoreWriteError
            The ledger cannot be used.
        """
        from tipstaff.runs.ledger.ledger import Ledger

        shared, config = self._shared, self._shared.config
        with shared.lock:
            project = open_project(shared.root)
            bundle = project.bundle
            if shared.ledger is None:
                url = config.ledger_url
                if url is None:
                    keep_out_of_git(shared.root)
                    url = default_ledger_url(shared.root)
                shared.ledger = Ledger(url, key=config.ledger_key, durable=config.durable)
            open_trials = History(shared.ledger).open.values() if config.experiments else ()
            experiments = tuple(one for one in open_trials if applies(shared.root, bundle, one.change))
            day = current_day()
            shared.gates.set_active_rules(rule for rule in bundle.rules() if in_force(rule, day))
            shared.rules = _Rules(bundle, project.retriever(), guidance_hash(bundle), day, experiments, {})
        return self

    @property
    def root(self) -> Path:
        """The repository."""
        return self._shared.root

    @property
    def bundle(self) -> PolicyBundle:
        """The compiled rules."""
        return self._rules().bundle

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        self._rules()
        return cast("Ledger", self._shared.ledger)

    def retrieve_for_task(self, /, task: str, *, run_id: str | None = None, **options: Any) -> RetrievalResult:
        """Return the rules for a task; `options` are those of `ShardRetriever.retrieve`.

        A run that takes part in a trial is given the rules as its arm has them.
        """
        rules = self._rules()
        run = self._run_of_call(run_id)
        options.setdefault("max_shards", self._shared.config.max_shards)
        retriever = rules.retriever if run is None else run.retriever
        result = retriever.retrieve(task, **options)
        if run is not None:
            run.record.note_rules(result)
        telemetry.retrieved(result, None if run is None else run.span)
        return result

    def retrieve_batch(self, tasks: Sequence[str], **options: Any) -> list[RetrievalResult]:
        """Return the rules for each of many tasks, outside any run; `options` as of `ShardRetriever.retrieve_batch`."""
        options.setdefault("max_shards", self._shared.config.max_shards)
        return self._rules().retriever.retrieve_batch(tasks, **options)

    # -- gates ---------------------------------------------------------------------------------------------------------

    def evaluate_command(
        self, command: str, *, cwd: str | None = None, shell: str = "bash", run_id: str | None = None
    ) -> list[GateResult]:
        """Judge a command before it runs, within this agent's scope; see `EnforcementGates.evaluate_command`.

        What earlier calls of the run did is taken into account: a secret that was copied and is sent now, a script that
        was written and runs now.
        """
        run, text = self._run_of_call(run_id), as_text(command)
        results = self._shared.gates.evaluate_command(
            text, cwd=cwd or self._scope.root, shell=shell, flow=self._flow(run)
        )
        return self._noted("Bash", {"command": text}, results, run, cwd=cwd, command=text)

    def evaluate_tool_use(
        self, tool: str, params: Any, *, cwd: str | None = None, shell: str = "bash", run_id: str | None = None
    ) -> list[GateResult]:
        """Judge a tool call before it runs, as :meth:`evaluate_command`; see `EnforcementGates.evaluate_tool_use`."""
        run, name = self._run_of_call(run_id), as_text(tool)
        results = self._shared.gates.evaluate_tool_use(
            name, params, cwd=cwd or self._scope.root, shell=shell, flow=self._flow(run)
        )
        given: Any = params.get("command") if isinstance(params, Mapping) else None
        command = as_text(given) if isinstance(given, str) and given else None
        return self._noted(name, params, results, run, cwd=cwd, command=command)

    def evaluate_edit(
        self, path: str, content: str, diff_lines: float, *, run_id: str | None = None
    ) -> list[GateResult]:
        """Judge an edit before it is made, as :meth:`evaluate_command`; see `EnforcementGates.evaluate_edit`."""
        run = self._run_of_call(run_id)
        results = self._shared.gates.evaluate_edit(
            path, content, diff_lines, cwd=str(self._scope.root), flow=self._flow(run)
        )
        return self._noted("Edit", {"file_path": path}, results, run)

    def verdict(
        self, tool: str, params: Any, *, cwd: str | None = None, run_id: str | None = None, record: bool = True,
        asker: str = "python", waits: bool = True,
    ) -> Verdict:  # fmt: skip
        """Judge a tool call before it runs, as :meth:`evaluate_tool_use`, and return one answer.

        A call that needs a person waits in `tipstaff approve`, as those of the hook do: `await verdict.approval()`. An
        answer that a person gave to exactly this call before is taken, once.

        Parameters
        ----------
        tool, params, cwd, run_id
            As of :meth:`evaluate_tool_use`.
        record
            Whether the call happens. Where it does not, nothing is noted or counted, nothing waits, and later calls are
            judged as if this one had not been asked about.
        asker
            Which program asks, for the person.
        waits
            Whether a call that needs a person waits for one; False where the caller asks the person itself.

        Raises
        ------
        OSError
            The call needs a person and cannot be kept for one.
        """
        from tipstaff.gates.judging.engine import record_verdict

        name, where, gates = as_text(tool), cwd or self._scope.root, self._shared.gates
        run, proves = self._run_of_call(run_id), functools.partial(gates.is_proven, name, params, cwd=where)
        if not record:
            copied = type(self._flow(run))(self._flow(run).to_bytes())
            results = gates.looking().evaluate_tool_use(name, params, cwd=where, flow=copied)
            return verdict_of([*results, *self._scope.check(name, params, gates, cwd, counts=False)], proves)
        verdict = verdict_of(self.evaluate_tool_use(name, params, cwd=cwd, run_id=run_id), proves)
        if waits and verdict.decision == "require-confirmation":
            verdict = self._waiting(verdict, name, params, where, asker)
        if run is None:
            record_verdict(verdict, name, where, host=asker)
        return verdict

    def explain(self, command: str, *, cwd: str | None = None) -> Explanation:
        """Say how a command is read and judged; see `EnforcementGates.explain`."""
        return self._shared.gates.explain(command, cwd=cwd or self._scope.root)

    def _waiting(self, verdict: Verdict, tool: str, params: Any, cwd: str, asker: str) -> Verdict:
        """Return a verdict after a person's answer, or with the code under which its call waits for one."""
        root = self._scope.root
        named = (os.path.join(root, path) for path in self._scope.paths(tool, params, self._shared.gates, cwd))  # noqa: PTH118
        files = waiting.digests_of(named)
        subject = waiting.subject_of(tool, cwd, _written(params), files)
        code = waiting.code_of(subject)
        verdict = msgspec.structs.replace(
            verdict, code=code, subject=subject, files=files,
            message=f"{verdict.message} A person must allow it: `tipstaff approve {code}`.",
        )  # fmt: skip
        answer = verdict.answer()
        if answer == "allowed":
            message = "A person allowed exactly this call, once."
            return msgspec.structs.replace(verdict, decision="allow", message=message, code="")
        if answer == "refused":
            message = f"A person refused exactly this call. {verdict.message.partition(' A person must allow it')[0]}"
            return msgspec.structs.replace(verdict, decision="block", message=message, code="")
        shown = _shown(params)
        call = {
            "code": code, "subject": subject, "asked": int(time.time()), "host": asker, "tool": redact(tool),
            "cwd": cwd, "reason": verdict.message,
            "findings": [{"rule": one.rule_id, "reason": one.reason} for one in verdict.findings],
            "fields": shown if isinstance(shown, dict) else {"input": shown},
            "scripts": [{"path": path, "bytes": os.stat(path).st_size, "sha256": digest} for path, digest in files],  # noqa: PTH116
        }  # fmt: skip
        waiting.leave(state_folder(), call)
        return verdict

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

        Raises
        ------
        ConfigError
            A run of this id was started before.
        """
        rules = self._rules()
        if rules.day != current_day():
            rules = self.initialize()._rules()  # noqa: SLF001 - rules have first and last days
        record = OpenRun.begin(
            as_text(run_id or f"run-{uuid.uuid4().hex}"), as_text(task), self._shared.root, rules.guidance_hash,
            session_id, agent_id,
        )  # fmt: skip
        retriever = rules.retriever
        if rules.experiments:
            record.assignments = assign(self.ledger, rules.experiments, record)
            retriever, record.guidance_hash = rules.given(self._shared.root, record.assignments)
        self._open(_Active(record, retriever))
        return record.event_id

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
            rule_id=as_text(rule_id), description=as_text(description), severity=as_text(severity),
            auto_corrected=auto_corrected, location=None if location is None else as_text(location),
        )  # fmt: skip
        self._active(run_id).record.violations.append(violation)

    def suspend_run(self, run_id: str) -> OpenRun:
        """Take an open run away, to be finished by this or another process with :meth:`resume_run`.

        It waits in the ledger's database. What is returned is all that is known of it, and plain data for `msgspec`.

        Raises
        ------
        ConfigError
            No such run is open.
        StoreWriteError
            It could not be written; it stays open.
        """
        run = self._active(run_id)
        with run.lock:
            run.record.flow = run.flow.to_bytes()
            OpenRuns(self.ledger.database).put(run.record)
            if run.span is not None:
                run.span.end()
            self._close(run_id)
        return run.record

    def resume_run(self, suspended: str | OpenRun) -> str:
        """Resume a suspended run, named by its id or as it was returned; returns its id.

        Its rules are those that it began with.

        Raises
        ------
        ConfigError
            A run of this id is open.
        SourceNotFoundError
            No run of this id waits.
        """
        rules = self._rules()
        record = suspended if isinstance(suspended, OpenRun) else OpenRuns(self.ledger.database).find(suspended)
        if record is None:
            raise SourceNotFoundError(f"no run {suspended!r} was started here, or it was finished")
        retriever, _ = rules.given(self._shared.root, record.assignments)
        self._open(_Active(record, retriever, is_stored=True))
        return record.event_id

    @property
    def current_run(self) -> str | None:
        """The run that this thread or asyncio task began and did not finish; None where there is none."""
        run_id = _CURRENT_RUN.get()
        return run_id if run_id in self._shared.runs else None

    def open_run(self, run_id: str) -> OpenRun:
        """Return what is known of an open run so far; raises `ConfigError` where none of this id is open."""
        return self._active(run_id).record

    def run(
        self, task: str = "", *, run_id: str | None = None, session_id: str | None = None, agent_id: str | None = None
    ) -> RunBlock:
        """Return a run as a block of code, for ``with`` and ``async with``.

        Parameters
        ----------
        task
            Its task.
        run_id
            Of a run that waits, which is resumed then, or of the new one.
        session_id, agent_id
            As of :meth:`start_run`.

        Notes
        -----
        :meth:`RunBlock.finish` says what came of it; at the end of a block that did not say it, the run is finished
        with an unknown outcome. A block that an exception leaves, an interrupt too, suspends it.
        """
        return RunBlock(self, task, run_id, session_id, agent_id)

    def record_question(self, run_id: str) -> None:
        """Note that the agent asked the user a question."""
        run = self._active(run_id)
        with run.lock:
            run.record.clarifying_questions += 1

    def record_step(self, run_id: str, call: str, *, failed: bool = False, tokens: int = 0) -> LoopDecision:
        """Note a step, charge its tokens, and return whether the run should stop; see `LoopBreaker`."""
        run = self._active(run_id)
        self._scope.spend(tokens=tokens)
        with run.lock:
            breaker = self._breaker(run)
            breaker.step(as_text(call), failed=failed, tokens=tokens)
            return breaker.decision(self._scope.remaining())

    def on_stop(self, run_id: str, *, wants_more: bool = False, reason: str = "") -> LoopDecision:
        """Answer the host's Stop event of a run; see `LoopBreaker.on_stop`."""
        run = self._active(run_id)
        with run.lock:
            return self._breaker(run).on_stop(wants_more=wants_more, reason=reason, budgets=self._scope.remaining())

    def spend(self, *, tokens: int = 0, usd: float = 0.0) -> None:
        """Charge what a model used to this agent's budgets and those of its parents; see `Scope.spend`."""
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
            ``accepted``, ``rejected`` or None (not known).
        tests, diff, tokens
            Records, or mappings of their fields; a number of tokens counts as output.
        files
            Paths that were touched; manifests among them are compared with the commit at which the run began.
        rework_lines
            Lines that had to be rewritten.
        relevant_rule_ids
            Rules that applied, where that is known.
        tools, verdicts
            Tool calls and verdicts beside those of the gates here: those of the hook, for example.

        Raises
        ------
        ConfigError
            No such run was started, or an argument is not usable; the run stays open.
        StoreWriteError
            It could not be recorded; the run stays open.
        """
        shared = self._shared
        done = shared.finished.get(run_id)
        if done is not None:
            return done
        run = self._active(run_id)
        with run.lock:
            done = shared.finished.get(run_id)
            if done is not None:
                return done
            record, touched = run.record, tuple(map(as_text, files))
            added, unread = (
                dependencies_added(shared.root, touched, base=record.base or "HEAD")
                if any(map(is_manifest, touched))
                else ((), ())
            )
            event = record.event(
                outcome, files_touched=touched, diff_summary=_record(DiffSummary, diff),
                test_results=_record(TestResults, tests), rework_lines=rework_lines,
                tokens=_record(TokenUse, {"output": tokens} if isinstance(tokens, int) else tokens),
                relevant_rule_ids=tuple(map(as_text, relevant_rule_ids)), dependencies_added=added,
                manifests_unread=unread,
            )  # fmt: skip
            event = event.replace(
                tools_used=(*event.tools_used, *map(as_text, tools)), verdicts=(*event.verdicts, *verdicts)
            )
            config = shared.config
            results = evaluate(
                event, forbidden_packages=shared.forbidden_packages, max_violations=config.max_violations,
                max_rework_ratio=config.max_rework_ratio, gates=shared.gates, cwd=self._scope.root,
                judged=record.judged,
            )  # fmt: skip
            began = time.perf_counter()
            self.ledger.append(event)
            if run.is_stored:
                OpenRuns(self.ledger.database).drop(run_id)
            telemetry.recorded(event, results, time.perf_counter() - began, run.span)
            self._count(event, results)
        self._close(run_id)
        return results

    # -- the whole -----------------------------------------------------------------------------------------------------

    def optimize(
        self, *, config: OptimizerConfig | None = None, proposer: Proposer | None = None, now: int | None = None
    ) -> OptimizeReport:
        """Run one cycle of the optimizer over the ledger: trials are decided, and changes proposed to a person."""
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
        budgets: Budgets | Mapping[str, Any] | None = None, shared: str | None = None,
    ) -> Self:  # fmt: skip
        """Return a plane for a sub-agent that may do at most what this one may.

        Parameters
        ----------
        tools
            Globs of the tools that it may call.
        paths
            Globs, relative to the root, of the paths that its calls may name.
        budgets
            ``tokens``, ``calls``, ``seconds``, ``usd``; what it uses is charged to this plane as well.
        shared
            A name: what is used is counted in the ledger's database, for every process that narrows with that name.

        Returns
        -------
        GuidanceControlPlane
            It shares rules, ledger and runs with this one.
        """
        child = object.__new__(type(self))
        child._shared = self._shared
        place = None if shared is None else (self.ledger.database, shared)
        child._scope = self._scope.narrowed(tools, paths, budgets, shared=place)
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

    a_initialize = _off_the_loop(initialize)
    a_retrieve_for_task = _off_the_loop(retrieve_for_task)
    a_evaluate_command = _off_the_loop(evaluate_command)
    a_evaluate_tool_use = _off_the_loop(evaluate_tool_use)
    a_evaluate_edit = _off_the_loop(evaluate_edit)
    a_verdict = _off_the_loop(verdict)
    a_evaluate_batch = _off_the_loop(evaluate_batch)
    a_start_run = _off_the_loop(start_run)
    a_record_violation = _off_the_loop(record_violation)
    a_finalize_run = _off_the_loop(finalize_run)
    a_optimize = _off_the_loop(optimize)
    a_status = _off_the_loop(status)
    a_metrics = _off_the_loop(metrics)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _rules(self) -> _Rules:
        rules = self._shared.rules
        if rules is None:
            self.initialize()
            rules = cast("_Rules", self._shared.rules)
        return rules

    def _open(self, run: _Active) -> None:
        """Take in a run, to which calls of this thread or asyncio task belong from now on."""
        shared, run_id = self._shared, run.record.event_id
        with shared.lock:
            if run_id in shared.runs or run_id in shared.finished:
                raise ConfigError(f"run {run_id!r} was started before")
            shared.runs[run_id] = run
        _CURRENT_RUN.set(run_id)

    def _active(self, run_id: str) -> _Active:
        run = self._shared.runs.get(run_id)
        if run is None:
            state = "was finished" if run_id in self._shared.finished else "was not started here"
            raise ConfigError(f"run {run_id!r} {state}")
        return run

    def _run_of_call(self, run_id: str | None) -> _Active | None:
        """Return the run that a call belongs to: the one named, the current one, or the only one."""
        runs = self._shared.runs
        if run_id is not None:
            return self._active(run_id)
        if not runs:
            return None
        found = runs.get(_CURRENT_RUN.get() or "")
        if found is None and len(runs) == 1:
            found = next(iter(list(runs.values())), None)
        return found

    def _close(self, run_id: str) -> None:
        """Take an open run away; calls of this thread or asyncio task belong to it no longer."""
        with self._shared.lock:
            self._shared.runs.pop(run_id, None)
        if _CURRENT_RUN.get() == run_id:
            _CURRENT_RUN.set(None)

    def _flow(self, run: _Active | None) -> Flow:
        return self._shared.flow if run is None else run.flow

    def _noted(
        self, tool: str, params: Any, results: list[GateResult], run: _Active | None, *, cwd: str | None = None,
        command: str | None = None,
    ) -> list[GateResult]:  # fmt: skip
        """Add what leaves this agent's scope to a call's results, and note them for the run that it belongs to."""
        if self._scope.layers:
            results = [*results, *self._scope.check(tool, params, self._shared.gates, cwd)]
        if run is not None:
            run.record.note_call(tool if command is None else command, tool, results, command)
        telemetry.judged(tool, results, None if run is None else run.span)
        return results

    def _breaker(self, run: _Active) -> LoopBreaker:
        if run.record.breaker is None:
            run.record.breaker = LoopBreaker(self._shared.config.limits)
        return run.record.breaker

    def _count(self, event: RunEvent, results: tuple[EvaluatorResult, ...]) -> None:
        """Keep the results of a run that is finished, and add it to the figures."""
        shared = self._shared
        with shared.lock:
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


class RunBlock:
    """A run as a block of code; see :meth:`GuidanceControlPlane.run`.

    Attributes
    ----------
    id
        Of the run, once the block has begun.
    results
        What the evaluators found, once it is finished.
    """

    def __init__(
        self, plane: GuidanceControlPlane, task: str, run_id: str | None, session_id: str | None, agent_id: str | None
    ) -> None:
        self._plane = plane
        self._given = (task, run_id, session_id, agent_id)
        self.id = run_id or ""
        self.results: tuple[EvaluatorResult, ...] | None = None

    def finish(self, outcome: str | bool | None = None, **known: Any) -> tuple[EvaluatorResult, ...]:
        """Finish the run; arguments as of :meth:`GuidanceControlPlane.finalize_run`."""
        self.results = self._plane.finalize_run(self.id, outcome=outcome, **known)
        return self.results

    def __enter__(self) -> Self:
        task, run_id, session_id, agent_id = self._given
        plane = self._plane
        waiting = OpenRuns(plane.ledger.database).find(run_id) if run_id else None
        if waiting is not None:
            plane.resume_run(waiting)
        else:
            self.id = plane.start_run(task, run_id=run_id, session_id=session_id, agent_id=agent_id)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del error, trace
        if self.results is None:
            _ = self.finish() if kind is None else self._plane.suspend_run(self.id)

    async def __aenter__(self) -> Self:
        await _on_a_thread(self.__enter__)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Shielded: a task that is cancelled must not leave its run half written.
        await asyncio.shield(_on_a_thread(functools.partial(self.__exit__, kind, error, trace)))


def default_ledger_url(root: Path) -> str:
    """Return the URL of a repository's own ledger."""
    return f"sqlite:///{root.absolute()}/.tipstaff/ledger.db"


def keep_out_of_git(root: Path) -> None:
    """Make the folder of a repository's own ledger, ignored by git, where that is possible."""
    folder = root.absolute() / ".tipstaff"
    ignored = folder / ".gitignore"
    if not ignored.exists():
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            ignored.write_text("ledger.db*\n.gitignore\n", encoding="utf-8")


def _repository_packages(root: Path) -> tuple[str, ...]:
    """Return the packages that a repository forbids its runs to add."""
    path = root / SETTINGS_FILE
    try:
        data = tomllib.loads(read_untrusted_text(path))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from error
    names = data.pop("forbidden-packages", [])
    if data:
        raise ConfigError(f"{path}: unknown keys: {', '.join(data)}; known is forbidden-packages")
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(f"{path}: forbidden-packages must be a list of names such as 'left-pad' or 'npm:left-pad'")
    return tuple(cast("list[str]", names))


def guidance_hash(bundle: PolicyBundle) -> str:
    """Return a hash of the rules in force: first 16 hexadecimal digits of the SHA-256 of their ids and texts."""
    rules = sorted((rule.id, rule.text) for rule in bundle.rules())
    return hashlib.sha256(msgspec.json.encode(rules)).hexdigest()[:16]


def _written(params: Any) -> bytes:
    """Return the bytes of a call's parameters: the same for the same call, and for no other one."""
    try:
        return msgspec.json.encode(params, order="deterministic", enc_hook=safe_text)
    except (TypeError, ValueError, RecursionError):  # circular, or texts without UTF-8
        return repr(params).encode("utf-8", "surrogatepass")


def _shown(params: Any) -> Any:
    """Return a call's parameters as a person is shown them, plain data."""
    try:
        return msgspec.json.decode(msgspec.json.encode(params, enc_hook=safe_text))
    except (TypeError, ValueError, RecursionError):
        return {field.path or "input": field.text.encode("utf-8", "replace").decode() for field in fields_of(params)}


def _record(kind: type[Any], given: Any) -> Any:
    if given is None:
        return kind()
    if isinstance(given, kind):
        return given
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{kind.__name__}: {error}") from error


def _as_call(event: str | Mapping[str, Any]) -> tuple[str, Any, str | None]:
    if isinstance(event, str):
        return "Bash", {"command": event}, None
    if "command" in event:
        return "Bash", {"command": event["command"]}, event.get("cwd")
    if "tool" in event:
        return str(event["tool"]), event.get("params"), event.get("cwd")
    return "Edit", {"file_path": event.get("path", "")}, None
