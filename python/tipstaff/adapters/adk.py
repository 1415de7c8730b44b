"""Google ADK: a plugin for ``Runner(..., plugins=[TipstaffPlugin()])``, over every agent and tool of the runner."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tipstaff.adapters.guard import WITHHELD, Guard, refusal_text, sdk
from tipstaff.plane import GuidanceControlPlane

_Plugin: Any = sdk("google.adk.plugins.base_plugin", "google-adk").BasePlugin


class TipstaffPlugin(_Plugin):
    """Judges the calls of all agents, gives them the rules, and records the runs.

    Parameters
    ----------
    root
        The repository, or a plane.
    wait
        None: a call that needs a person asks for the SDK's confirmation (``adk_request_confirmation``). A number: it
        waits so many seconds in `tipstaff approve`.
    """

    def __init__(self, root: str | Path | GuidanceControlPlane = ".", *, wait: float | None = None) -> None:
        super().__init__(name="tipstaff")
        self._guard = Guard(root, asker="google-adk", wait=wait or 0.0)
        self._asks = wait is None
        self._runs: dict[str, str | None] = {}

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Begin a run."""
        task = _text(invocation_context.user_content)
        self._runs[invocation_context.invocation_id] = await asyncio.to_thread(self._guard.begin, task)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Finish a run."""
        await asyncio.to_thread(self._guard.finish, self._runs.pop(invocation_context.invocation_id, None))

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Give the model the rules."""
        run = self._runs.get(callback_context.invocation_id)
        rules = await asyncio.to_thread(self._guard.rules, _text(callback_context.user_content), run)
        if rules:
            llm_request.append_instructions([rules])

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """Judge a call before it runs; what is returned takes the place of its result."""
        call, run = tool_context.function_call_id or "", self._runs.get(tool_context.invocation_id)
        verdict = await self._guard.a_judge(tool.name, tool_args, call=call, run=run, waits=not self._asks)
        if not self._asks or verdict.decision != "require-confirmation":
            refused = await self._guard.refusal(verdict)
            return {"error": refused} if refused else None
        confirmation = tool_context.tool_confirmation
        if confirmation is None:
            tool_context.request_confirmation(hint=verdict.message)
            tool_context.actions.skip_summarization = True
            return {"error": "This call waits for a person's confirmation."}
        return None if confirmation.confirmed else {"error": f"A person refused this call. {refusal_text(verdict)}"}

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> Any:  # fmt: skip
        """Mask a result."""
        del tool, tool_args, tool_context
        masked = self._guard.masked(result)
        return {"error": WITHHELD} if masked is WITHHELD else None if masked is result else masked


def _text(content: Any) -> str:
    return " ".join(part.text for part in (content.parts if content else None) or () if part.text)
