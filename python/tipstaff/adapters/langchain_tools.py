"""LangChain, LangGraph and deepagents: a middleware for ``create_agent`` and ``create_deep_agent``.

A sub-agent of deepagents gets a middleware of its own, over a narrowed plane.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tipstaff.adapters.guard import WITHHELD, Guard, Shortener, refusal_text, sdk
from tipstaff.gates.results import Verdict
from tipstaff.plane import GuidanceControlPlane

_types = sdk("langchain.agents.middleware.types", "langchain")
_AgentState: Any = _types.AgentState
_Middleware: Any = _types.AgentMiddleware
_messages = sdk("langchain_core.messages", "langchain")
_graph = sdk("langgraph.types", "langgraph")
_config = sdk("langgraph.config", "langgraph")


class _State(_AgentState):
    """The agent's state, with the run that its calls belong to; it is kept across an interrupt."""

    tipstaff_run: Annotated[str | None, _types.PrivateStateAttr]


class TipstaffMiddleware(_Middleware):
    """Stands outermost: ``create_agent(..., middleware=[TipstaffMiddleware()])``.

    Parameters
    ----------
    root
        The repository, or a plane.
    wait
        As of `tipstaff.adapters.guard.Guard`; for graphs without a checkpointer. With one, a call that needs a person
        is an interrupt: ``Command(resume={"decisions": [{"type": "approve"}]})``, or ``"reject"``.
    model_window, max_output
        Of the model, in tokens, where long conversations are to be shortened.
    """

    state_schema = _State

    def __init__(
        self, root: str | Path | GuidanceControlPlane = ".", *, wait: float = 0.0, model_window: int | None = None,
        max_output: int = 16_384,
    ) -> None:  # fmt: skip
        super().__init__()
        self._guard = Guard(root, asker="langchain", wait=wait)
        self._shortener = Shortener(model_window, max_output, "openai-chat")

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Begin the run."""
        del runtime
        return {"tipstaff_run": self._guard.begin(_task(state["messages"]))}

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Finish the run."""
        del runtime
        used = [getattr(message, "usage_metadata", None) or {} for message in state["messages"]]
        self._guard.finish(state.get("tipstaff_run"), tokens=sum(one.get("output_tokens", 0) for one in used))

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Do as :meth:`before_agent`."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Do as :meth:`after_agent`."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Give the model the rules, and no more of the conversation than fits."""
        return handler(self._prepared(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Do as :meth:`wrap_model_call`."""
        return await handler(await asyncio.to_thread(self._prepared, request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Judge a call before it runs, and mask its result."""
        verdict = self._guard.judge(*_call(request), waits=not _can_interrupt(), **_names(request))
        refused = _ask(verdict) if _can_interrupt() else self._guard.refusal_now(verdict)
        return self._message(request, refused) if refused else self._masked(request, handler(request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Do as :meth:`wrap_tool_call`."""
        verdict = await self._guard.a_judge(*_call(request), waits=not _can_interrupt(), **_names(request))
        refused = _ask(verdict) if _can_interrupt() else await self._guard.refusal(verdict)
        return self._message(request, refused) if refused else self._masked(request, await handler(request))

    def _prepared(self, request: Any) -> Any:
        run, messages = request.state.get("tipstaff_run"), request.messages
        own = request.system_message.text if request.system_message else ""
        text = "\n\n".join(part for part in (own, self._guard.rules(_task(messages), run)) if part)
        plain = _messages.convert_to_openai_messages(messages)
        shorter = self._shortener.shortened(plain, text)
        if shorter != plain:
            messages = _messages.convert_to_messages([one for one in shorter if one.get("role") != "system"])
        return request.override(system_message=_messages.SystemMessage(text) if text else None, messages=messages)

    def _masked(self, request: Any, result: Any) -> Any:
        masked = self._guard.masked(result)
        return self._message(request, WITHHELD) if masked is WITHHELD else masked

    def _message(self, request: Any, text: str) -> Any:
        call = request.tool_call
        return _messages.ToolMessage(content=text, tool_call_id=call["id"], name=call["name"], status="error")


def _call(request: Any) -> tuple[str, Any]:
    return request.tool_call["name"], request.tool_call["args"]


def _names(request: Any) -> dict[str, Any]:
    state = request.state if isinstance(request.state, dict) else {}
    return {"call": request.tool_call["id"] or "", "run": state.get("tipstaff_run")}


def _can_interrupt() -> bool:
    try:
        return _config.get_config().get("configurable", {}).get("__pregel_checkpointer") is not None
    except RuntimeError:
        return False


def _ask(verdict: Verdict) -> str:
    """Return what the model is told instead of a result; a call that needs a person interrupts the graph."""
    if verdict.decision != "require-confirmation":
        return "" if verdict.decision in {"allow", "warn"} else refusal_text(verdict)
    answer = _graph.interrupt({"tipstaff": verdict.message, "reason": verdict.reason_for_person})
    if isinstance(answer, dict):
        answer = answer["decisions"][0].get("type") if answer.get("decisions") else answer.get("type")
    return "" if answer is True or answer == "approve" else f"A person refused this call. {refusal_text(verdict)}"


def _task(messages: Any) -> str:
    """Return what the user said last."""
    return next((one.text for one in reversed(messages) if one.type == "human"), "")
