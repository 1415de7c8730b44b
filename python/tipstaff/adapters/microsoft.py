"""Microsoft Agent Framework: a bundle of middleware for ``Agent(..., middleware=[TipstaffMiddleware()])``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from tipstaff.adapters.guard import Guard, refusal_text, sdk
from tipstaff.plane import GuidanceControlPlane

_framework = sdk("agent_framework", "agent-framework-core")
_Bundle: Any = sdk("agent_framework._middleware", "agent-framework-core").MiddlewareBundle
_OfAgents: Any = _framework.AgentMiddleware
_OfModels: Any = _framework.ChatMiddleware
_OfTools: Any = _framework.FunctionMiddleware


class TipstaffMiddleware(_Bundle):
    """Judges the calls of an agent, gives it the rules, and records its runs.

    Parameters
    ----------
    root
        The repository, or a plane.
    wait
        None: a call that needs a person is a ``function_approval_request`` of the framework. A number: it waits so
        many seconds in `tipstaff approve`.
    """

    def __init__(self, root: str | Path | GuidanceControlPlane = ".", *, wait: float | None = None) -> None:
        guard = Guard(root, asker="agent-framework", wait=wait or 0.0)
        super().__init__([_Runs(guard), _Rules(guard), _Calls(guard, asks=wait is None)])


class _Runs(_OfAgents):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        run = await asyncio.to_thread(self._guard.begin, _task(context.messages))
        with self._guard.within(run):
            try:
                await call_next()
            finally:
                await asyncio.shield(asyncio.to_thread(self._guard.finish, run))


class _Rules(_OfModels):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        rules = await asyncio.to_thread(self._guard.rules, _task(context.messages), self._guard.run_within)
        if rules:
            message = _framework.Message(role="system", contents=[rules])
            context.messages = [message, *context.messages]
        await call_next()


class _Calls(_OfTools):
    def __init__(self, guard: Guard, *, asks: bool) -> None:
        self._guard = guard
        self._asks = asks

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        given = context.arguments
        params = dict(given) if isinstance(given, Mapping) else given.model_dump()
        name, call, about = context.function.name, context.metadata.get("call_id", ""), context.metadata
        verdict = await self._guard.a_judge(
            name, params, call=call, run=self._guard.run_within, waits=not self._asks
        )  # fmt: skip
        if self._asks and verdict.decision == "require-confirmation":
            refused = ""
            if about.get("approval_response") is None:
                content = _framework.Content
                function = content.from_function_call(
                    call_id=call, name=name, arguments=params, id=about.get("function_call_occurrence_id")
                )
                context.result = content.from_function_approval_request(
                    id=about.get("function_call_occurrence_id") or call, function_call=function,
                    additional_properties={"tipstaff": verdict.message},
                )  # fmt: skip
                raise _framework.MiddlewareTermination
        else:
            refused = await self._guard.refusal(verdict) if not self._asks else (
                refusal_text(verdict) if verdict.decision == "block" else ""
            )  # fmt: skip
        if refused:
            context.result = refused
            return
        await call_next()
        context.result = self._guard.masked(context.result)


def _task(messages: Any) -> str:
    """Return what the user said last."""
    return next((one.text for one in reversed(messages) if one.role == "user" and one.text), "")
