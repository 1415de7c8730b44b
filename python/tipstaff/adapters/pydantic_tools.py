"""Pydantic AI: a capability for ``Agent(..., capabilities=[TipstaffCapability()])``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tipstaff.adapters.guard import Guard, refusal_text, sdk
from tipstaff.plane import GuidanceControlPlane

_Capability: Any = sdk("pydantic_ai.capabilities", "pydantic-ai-slim").AbstractCapability
_ai = sdk("pydantic_ai", "pydantic-ai-slim")


class TipstaffCapability(_Capability):
    """Judges the calls of an agent, gives it the rules, and records its runs.

    Parameters
    ----------
    root
        The repository, or a plane.
    wait
        As of `tipstaff.adapters.guard.Guard`; for agents that cannot defer a call. One whose ``output_type`` has
        ``DeferredToolRequests`` ends with the call that needs a person, and goes on with ``deferred_tool_results``.
    """

    def __init__(self, root: str | Path | GuidanceControlPlane = ".", *, wait: float = 0.0) -> None:
        super().__init__()
        self._guard = Guard(root, asker="pydantic-ai", wait=wait)
        self._runs: dict[str, str | None] = {}

    def get_instructions(self) -> Callable[[Any], str]:
        """Return what writes the rules for a run's task."""

        def rules(ctx: Any) -> str:
            return self._guard.rules(_task(ctx), self._runs.get(ctx.run_id))

        return rules

    async def wrap_run(self, ctx: Any, *, handler: Callable[[], Any]) -> Any:
        """Record a run."""
        run = self._runs[ctx.run_id] = await asyncio.to_thread(self._guard.begin, _task(ctx))
        try:
            return await handler()
        finally:
            self._runs.pop(ctx.run_id, None)
            await asyncio.shield(asyncio.to_thread(self._guard.finish, run, tokens=ctx.usage.output_tokens))

    async def wrap_tool_execute(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Callable[[Any], Any]
    ) -> Any:
        """Judge a call before it runs, and mask its result."""
        del tool_def
        name, defers = call.tool_name, _can_defer(ctx)
        verdict = await self._guard.a_judge(
            name, args, call=call.tool_call_id if defers else "", run=self._runs.get(ctx.run_id), waits=not defers
        )
        if defers and verdict.decision == "require-confirmation" and not ctx.tool_call_approved:
            reasons = {"tipstaff": verdict.message, "reason": verdict.reason_for_person}
            raise _ai.ApprovalRequired(metadata=reasons)
        if defers:
            refused = "" if verdict.decision != "block" else refusal_text(verdict)
        else:
            refused = await self._guard.refusal(verdict)
        return refused or self._guard.masked(await handler(args))


def _can_defer(ctx: Any) -> bool:
    """Return whether the agent's output may be a call that waits."""
    given = getattr(ctx.agent, "output_type", None)
    kinds = list(given) if isinstance(given, list | tuple) else [given]
    return _ai.DeferredToolRequests in kinds


def _task(ctx: Any) -> str:
    """Return what the user said last."""
    if isinstance(ctx.prompt, str):
        return ctx.prompt
    if ctx.prompt is not None:
        return " ".join(part for part in ctx.prompt if isinstance(part, str))
    parts = [part for message in ctx.messages for part in message.parts]
    return next((str(part.content) for part in reversed(parts) if part.part_kind == "user-prompt"), "")
