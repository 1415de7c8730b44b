"""What a plane does, in the caller's own thread."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.gates.results import GateResult
from tipstaff.guidance.project import Project, open_project
from tipstaff.guidance.retrieval.shard_index import current_day
from tipstaff.model import PolicyBundle, RetrievalResult
from tipstaff.plane.open_run import OpenRun
from tipstaff.plane.records import PlaneConfig, PlaneMetrics, PlaneStatus, SuspendedRun
from tipstaff.plane.rules import Rules, default_ledger_url, guidance_hash, in_force, keep_out_of_git
from tipstaff.plane.shared import Shared, leave
from tipstaff.runs import telemetry
from tipstaff.runs.evaluators.evaluating import evaluate
from tipstaff.runs.evaluators.results import EvaluatorResult
from tipstaff.runs.events import (
    VIOLATION_SEVERITIES,
    DiffSummary,
    GateVerdict,
    TestResults,
    TokenUse,
    Violation,
    without_controls,
)
from tipstaff.runs.limits import LoopBreaker, LoopDecision
from tipstaff.runs.scope import Budgets, Scope

if TYPE_CHECKING:
    from tipstaff.runs.ledger.ledger import Ledger
    from tipstaff.runs.optimizer.optimizer import OptimizerConfig, OptimizeReport
    from tipstaff.runs.optimizer.proposers import Proposer


class Plane:
    """`GuidanceControlPlane` without its asynchronous forms; its arguments."""

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
        self._shared = Shared(Path(root), settings)
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
                if config.ledger_url is None:
                    keep_out_of_git(shared.root)
                url = config.ledger_url or default_ledger_url(shared.root)
                shared.ledger = Ledger(url, key=config.ledger_key, durable=config.durable)
            experiments = tuple(History(shared.ledger).open.values()) if shared.config.experiments else ()
            day = current_day()
            shared.gates.set_active_rules(rule for rule in bundle.rules() if in_force(rule, day))
            shared.rules = Rules(bundle, project.retriever(), guidance_hash(bundle), day, experiments, {})
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
        run = self._shared.run_of_call(run_id)
        options.setdefault("max_shards", self._shared.config.max_shards)
        retriever = rules.retriever if run is None else run.retriever
        result = retriever.retrieve(task, **options)
        if run is not None:
            run.note_rules(result)
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
        results = self._shared.gates.evaluate_command(command, cwd=cwd or self._scope.root, shell=shell)
        return self._noted("Bash", {"command": command}, results, run_id, cwd=cwd, command=command)

    def evaluate_tool_use(
        self, tool: str, params: Any, *, cwd: str | None = None, shell: str = "bash", run_id: str | None = None
    ) -> list[GateResult]:
        """Judge a tool call before it runs, within this agent's scope; see `EnforcementGates.evaluate_tool_use`."""
        results = self._shared.gates.evaluate_tool_use(tool, params, cwd=cwd or self._scope.root, shell=shell)
        given: Any = params.get("command") if isinstance(params, Mapping) else None
        command = given if isinstance(given, str) and given else None
        return self._noted(tool, params, results, run_id, cwd=cwd, command=command)

    def evaluate_edit(
        self, path: str, content: str, diff_lines: float, *, run_id: str | None = None
    ) -> list[GateResult]:
        """Judge an edit before it is made, within this agent's scope; see `EnforcementGates.evaluate_edit`."""
        results = self._shared.gates.evaluate_edit(path, content, diff_lines)
        return self._noted("Edit", {"file_path": path}, results, run_id)

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
        run = OpenRun(
            identity, task, rules, None if session_id is None else without_controls(session_id),
            None if agent_id is None else without_controls(agent_id),
        )  # fmt: skip
        if rules.experiments:
            run.assignments = self._shared.assigner.assign(rules.experiments, run.intent, identity)
        self._shared.start(run)
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
        self._shared.open_run(run_id).violations.append(violation)

    def suspend_run(self, run_id: str) -> SuspendedRun:
        """Take an open run away, to be finished by another process with :meth:`resume_run`."""
        suspended = self._shared.open_run(run_id).suspended()
        self._shared.close(run_id)
        return suspended

    def resume_run(self, suspended: SuspendedRun) -> str:
        """Resume a suspended run; returns its id. Its rules are those that it began with."""
        run = OpenRun.resumed(suspended, self._rules())
        self._shared.start(run, again=True)
        return run.id

    def record_question(self, run_id: str) -> None:
        """Note that the agent asked the user a question."""
        self._shared.open_run(run_id).questions += 1

    def record_step(self, run_id: str, call: str, *, failed: bool = False, tokens: int = 0) -> LoopDecision:
        """Note a step, charge its tokens, and return whether the run should stop; see `LoopBreaker`."""
        run = self._shared.open_run(run_id)
        self._scope.spend(tokens=tokens)
        with run.lock:
            breaker = self._breaker(run)
            breaker.step(call, failed=failed, tokens=tokens)
            return breaker.decision(self._scope.remaining())

    def on_stop(self, run_id: str, *, wants_more: bool = False, reason: str = "") -> LoopDecision:
        """Answer the host's Stop event of a run; see `LoopBreaker.on_stop`."""
        run = self._shared.open_run(run_id)
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
            ``accepted``, ``rejected`` or None (not known).
        tests, diff, tokens
            Records, or mappings of their fields; a number of tokens counts as output.
        files
            Paths that were touched; manifests among them are compared with git.
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
        LedgerWriteError
            It could not be recorded; the run stays open.
        """
        done = self._shared.finished.get(run_id)
        if done is not None:
            return done
        run = self._shared.open_run(run_id)
        with run.lock:
            done = self._shared.finished.get(run_id)
            if done is not None:
                return done
            event = run.event(self._shared.root, outcome, tests, diff, tuple(files), tokens, rework_lines)
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
            self._shared.count(event, results)
        leave(run_id)
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
        return self._shared.metrics()

    def narrow(
        self, tools: Iterable[str] | None = None, paths: Iterable[str] | None = None,
        budgets: Budgets | Mapping[str, Any] | None = None,
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

        Returns
        -------
        GuidanceControlPlane
            It shares rules, ledger and runs with this one.
        """
        child = object.__new__(type(self))
        child._shared = self._shared
        child._scope = self._scope.narrowed(tools, paths, budgets)
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

    # -- inside --------------------------------------------------------------------------------------------------------

    def _rules(self) -> Rules:
        rules = self._shared.rules
        if rules is None:
            self.initialize()
            rules = cast("Rules", self._shared.rules)
        return rules

    def _noted(
        self, tool: str, params: Any, results: list[GateResult], run_id: str | None, *, cwd: str | None = None,
        command: str | None = None,
    ) -> list[GateResult]:  # fmt: skip
        """Add what leaves this agent's scope to a call's results, and note them for the run that it belongs to."""
        if self._scope.layers:
            results = [*results, *self._scope.check(tool, params, self._shared.gates, cwd)]
        run = self._shared.run_of_call(run_id)
        if run is not None:
            run.note_call(tool if command is None else command, tool, results, command)
        telemetry.judged(tool, results)
        return results

    def _breaker(self, run: OpenRun) -> LoopBreaker:
        if run.breaker is None:
            run.breaker = LoopBreaker(self._shared.config.limits)
        return run.breaker


def _as_call(event: str | Mapping[str, Any]) -> tuple[str, Any, str | None]:
    if isinstance(event, str):
        return "Bash", {"command": event}, None
    if "command" in event:
        return "Bash", {"command": event["command"]}, event.get("cwd")
    if "tool" in event:
        return str(event["tool"]), event.get("params"), event.get("cwd")
    return "Edit", {"file_path": event.get("path", "")}, None
