"""`GuidanceControlPlane`: what a plane does, and its asynchronous forms."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from tipstaff.gates.results import GateResult
from tipstaff.model import RetrievalResult
from tipstaff.plane.records import PlaneMetrics, PlaneStatus
from tipstaff.plane.shared import leave
from tipstaff.plane.synchronous import Plane
from tipstaff.runs.evaluators.results import EvaluatorResult

if TYPE_CHECKING:
    from tipstaff.runs.optimizer.optimizer import OptimizeReport


class GuidanceControlPlane(Plane):
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
        leave(run_id)
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
