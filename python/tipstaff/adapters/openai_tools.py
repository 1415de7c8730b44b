"""OpenAI Agents SDK: an agent whose tools are judged, and a run configuration that delivers the rules.

Every tool of the agent and of those that it hands over to is covered: functions, MCP servers, shell and patches. An
agent behind ``as_tool()`` is guarded on its own.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tipstaff.adapters.guard import Guard, Shortener, arguments_of, refusal_text, sdk
from tipstaff.plane import GuidanceControlPlane

_agents = sdk("agents", "openai-agents")
_AgentHooks: Any = _agents.AgentHooks


def guarded(agent: Any, root: str | Path | GuidanceControlPlane = ".", *, wait: float | None = None) -> Any:
    """Return a copy of an agent whose calls are judged, and whose runs are recorded.

    Parameters
    ----------
    agent
        The agent; its handoffs are guarded as well.
    root
        The repository, or a plane.
    wait
        None: a call that needs a person is an interruption of the run (``result.interruptions``,
        ``state.approve(...)``). A number: it waits so many seconds in `tipstaff approve`.
    """
    return _Guarding(Guard(root, asker="openai-agents", wait=wait or 0.0), asks=wait is None).agent(agent)


def run_config(
    root: str | Path | GuidanceControlPlane = ".", *, model_window: int | None = None, max_output: int = 16_384,
    **options: Any,
) -> Any:  # fmt: skip
    """Return a ``RunConfig`` that gives the model the rules, and no more of the conversation than fits.

    Parameters
    ----------
    root
        The repository, or a plane.
    model_window, max_output
        Of the model, in tokens, where long conversations are to be shortened.
    options
        Of ``RunConfig``; a ``call_model_input_filter`` among them is applied first.
    """
    guard, shortener = Guard(root, asker="openai-agents"), Shortener(model_window, max_output, "openai-responses")
    inner: Callable[[Any], Any] | None = options.pop("call_model_input_filter", None)

    async def prepared(data: Any) -> Any:
        model = data.model_data
        if inner is not None:
            model = inner(data)
            model = await model if inspect.isawaitable(model) else model
        rules = guard.rules(_task(model.input))
        text = "\n\n".join(part for part in (model.instructions or "", rules) if part)
        return dataclasses.replace(model, instructions=text or None, input=shortener.shortened(model.input, text))

    return _agents.RunConfig(call_model_input_filter=prepared, **options)


class _Guarding:
    def __init__(self, guard: Guard, *, asks: bool) -> None:
        self._guard = guard
        self._asks = asks
        self._agents: dict[int, Any] = {}
        self._runs: dict[int, tuple[Any, str | None]] = {}  # by the usage, which all contexts of a run share

    def agent(self, agent: Any) -> Any:
        if not isinstance(agent, _agents.Agent):
            return self._handoff(agent)
        known = self._agents.get(id(agent))
        if known is not None:
            return known
        guarding, given = self, type(agent)

        async def get_mcp_tools(one: Any, context: Any) -> list[Any]:
            return [guarding._tool(tool) for tool in await given.get_mcp_tools(one, context)]

        # A class of its own, so that a clone is guarded too.
        found = copy.copy(agent)
        found.__class__ = type("GuardedAgent", (given,), {"get_mcp_tools": get_mcp_tools})
        self._agents[id(agent)] = found
        found.tools = [self._tool(tool) for tool in agent.tools]
        found.handoffs = [self.agent(one) for one in agent.handoffs]
        found.hooks = _hooks(self, agent.hooks)
        return found

    def _handoff(self, handoff: Any) -> Any:
        found, invoke = copy.copy(handoff), handoff.on_invoke_handoff

        async def on_invoke_handoff(*args: Any, **kwargs: Any) -> Any:
            return self.agent(await invoke(*args, **kwargs))

        found.on_invoke_handoff = on_invoke_handoff
        return found

    def _tool(self, tool: Any) -> Any:
        found = copy.copy(tool)
        if hasattr(tool, "on_invoke_tool"):
            found.on_invoke_tool = self._around(tool.on_invoke_tool, tool.name, arguments_of)
        elif getattr(tool, "executor", None) is not None:
            found.executor = self._around_executor(tool)
        elif hasattr(tool, "editor"):
            found.editor = _Editor(self, tool)
        else:
            return tool  # it runs at the provider's
        if self._asks:
            found.needs_approval = self._needs_approval(tool)
        return found

    def _needs_approval(self, tool: Any) -> Callable[..., Any]:
        async def needs_approval(context: Any, given: Any, call_id: str) -> bool:
            own, params = tool.needs_approval, _plain(given)
            verdict = await self._guard.a_judge(tool.name, params, call=call_id, run=self.run(context), waits=False)
            if verdict.decision in {"block", "require-confirmation"}:
                return verdict.decision != "block"  # what is blocked needs nobody's answer
            return bool(await _settled(own(context, given, call_id)) if callable(own) else own)

        return needs_approval

    async def refused(self, context: Any, name: str, params: Any, call_id: str) -> str:
        """Return what the model is told instead of a result; a call that was asked about was approved to get here."""
        verdict = await self._guard.a_judge(name, params, call=call_id, run=self.run(context), waits=not self._asks)
        was_asked = self._guard.was_asked(call_id)
        if not self._asks:
            return await self._guard.refusal(verdict)
        passes = verdict.decision in {"allow", "warn"} or (verdict.decision == "require-confirmation" and was_asked)
        return "" if passes else refusal_text(verdict)

    def _around(self, invoke: Callable[..., Any], name: str, read: Callable[[Any], Any]) -> Callable[..., Any]:
        async def on_invoke_tool(context: Any, given: str) -> Any:
            refused = await self.refused(context, name, read(given), context.tool_call_id)
            return refused or self._guard.masked(await invoke(context, given))

        return on_invoke_tool

    def _around_executor(self, tool: Any) -> Callable[..., Any]:
        async def executor(request: Any) -> Any:
            data = getattr(request.data, "action", request.data)
            call_id = getattr(request.data, "call_id", "")
            refused = await self.refused(request.ctx_wrapper, tool.name, _plain(data), call_id)
            return refused or self._guard.masked(await _settled(tool.executor(request)))

        return executor

    def masked(self, value: Any) -> Any:
        """Return a result with its secrets masked."""
        return self._guard.masked(value)

    def run(self, context: Any) -> str | None:
        """Return the run of a context."""
        return self._runs.get(id(context.usage), (None, None))[1]

    def begin(self, context: Any, task: str) -> None:
        """Begin the run of a context, once."""
        if id(context.usage) not in self._runs:
            self._runs[id(context.usage)] = (context.usage, self._guard.begin(task))

    def finish(self, context: Any) -> None:
        """Finish the run of a context."""
        _, run = self._runs.pop(id(context.usage), (None, None))
        self._guard.finish(run, tokens=context.usage.output_tokens)


class _Editor:
    """An editor of patches whose operations are judged."""

    def __init__(self, guarding: _Guarding, tool: Any) -> None:
        self._guarding = guarding
        self._tool = tool

    def __getattr__(self, name: str) -> Any:
        edit = getattr(self._tool.editor, name)
        if name not in {"create_file", "update_file", "delete_file"}:
            return edit

        async def judged(operation: Any) -> Any:
            params = _plain(operation)
            refused = await self._guarding.refused(operation.ctx_wrapper, self._tool.name, params, "")
            if refused:
                return _agents.ApplyPatchResult(status="failed", output=refused)
            return self._guarding.masked(await _settled(edit(operation)))

        return judged


def _hooks(guarding: _Guarding, inner: Any) -> Any:
    """Return hooks that begin and finish the run, and then do what the agent's own do."""

    class Hooks(_AgentHooks):
        def __getattribute__(self, name: str) -> Any:
            if name.startswith("on_") and name not in {"on_start", "on_end"} and inner is not None:
                return getattr(inner, name)
            return object.__getattribute__(self, name)

        async def on_start(self, context: Any, agent: Any) -> None:
            guarding.begin(context, _task(getattr(context, "turn_input", ())))
            if inner is not None:
                await inner.on_start(context, agent)

        async def on_end(self, context: Any, agent: Any, output: Any) -> None:
            guarding.finish(context)
            if inner is not None:
                await inner.on_end(context, agent, output)

    return Hooks()


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _plain(given: Any) -> Any:
    """Return the parameters of a call: a shell's action as a command, a patch's operation as its path and text."""
    if hasattr(given, "commands"):
        return {"command": "\n".join(given.commands)}
    if hasattr(given, "diff"):
        return {"operation": given.type, "path": given.path, "patch": given.diff or "", "move_to": given.move_to or ""}
    return arguments_of(given)


def _task(items: Any) -> str:
    """Return what the user said last."""
    given: list[Any] = [{"role": "user", "content": items}] if isinstance(items, str) else list(items)
    for item in reversed(given):
        if item.get("role") == "user":
            parts: Any = item["content"]
            return parts if isinstance(parts, str) else " ".join(str(part.get("text", "")) for part in parts)
    return ""
