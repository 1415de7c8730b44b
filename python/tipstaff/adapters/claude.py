"""Claude Agent SDK: options whose hooks judge the calls of the agent and of its sub-agents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tipstaff.adapters.guard import Guard, refusal_text, sdk
from tipstaff.plane import GuidanceControlPlane

_sdk = sdk("claude_agent_sdk", "claude-agent-sdk")
_HOOK_S: Final = 60.0


def options(
    root: str | Path | GuidanceControlPlane = ".", *, wait: float = 0.0,
    agents: Mapping[str, GuidanceControlPlane] | None = None, **agent_options: Any,
) -> Any:  # fmt: skip
    """Return ``ClaudeAgentOptions`` with the constitution in the system prompt, and hooks that judge every call.

    Parameters
    ----------
    root
        The repository, or a plane.
    wait
        How many seconds a call that needs a person waits in `tipstaff approve`; where `agent_options` have a
        ``can_use_tool``, that is asked instead.
    agents
        The planes of sub-agents by their type, as `GuidanceControlPlane.narrow` makes them.
    agent_options
        Of ``ClaudeAgentOptions``; their hooks stay.
    """
    hooks = _Hooks(root, wait, agents or {}, asks=agent_options.get("can_use_tool") is not None)
    own: Mapping[str, list[Any]] = agent_options.pop("hooks", None) or {}

    def matcher(callback: Any) -> Any:
        return _sdk.HookMatcher(hooks=[callback], timeout=wait + _HOOK_S, on_failure="block")

    events = {
        "PreToolUse": hooks.before_tool, "PostToolUse": hooks.after_tool, "UserPromptSubmit": hooks.prompt,
        "Stop": hooks.stop,
    }  # fmt: skip
    merged = {name: [matcher(callback), *own.get(name, ())] for name, callback in events.items()}
    return _sdk.ClaudeAgentOptions(
        hooks={**own, **merged}, system_prompt=hooks.system_prompt(agent_options.pop("system_prompt", None)),
        **agent_options,
    )  # fmt: skip


class _Hooks:
    def __init__(self, root: Any, wait: float, agents: Mapping[str, GuidanceControlPlane], *, asks: bool) -> None:
        self._guard = Guard(root, asker="claude-agent-sdk", wait=wait)
        self._agents = {
            name: Guard(plane, asker=f"claude-agent-sdk {name}", wait=wait) for name, plane in agents.items()
        }
        self._asks = asks
        self._runs: dict[str, str | None] = {}

    def system_prompt(self, given: Any) -> Any:
        """Return a system prompt with the constitution after it."""
        rules = self._guard.constitution()
        if not rules:
            return given
        if isinstance(given, Mapping):
            key = "append" if given.get("type") == "preset" else "prompt"
            return {**given, key: f"{given.get(key, '')}\n\n{rules}".strip()} if given.get("type") != "file" else given
        return f"{given or ''}\n\n{rules}".strip()

    async def prompt(self, data: Any, _use: str | None, _context: Any) -> dict[str, Any]:
        """Begin a run, and give the model the rules for its task."""
        session, task = data.get("session_id", ""), data.get("prompt", "")
        self._guard.finish(self._runs.pop(session, None))
        self._runs[session] = await asyncio.to_thread(self._guard.begin, task)
        rules = await asyncio.to_thread(self._guard.rules, task, self._runs[session])
        reply = {"hookEventName": "UserPromptSubmit", "additionalContext": rules}
        return {"hookSpecificOutput": reply} if rules else {}

    async def before_tool(self, data: Any, use: str | None, _context: Any) -> dict[str, Any]:
        """Judge a call before it runs."""
        guard = self._agents.get(data.get("agent_type") or "", self._guard)
        verdict = await guard.a_judge(
            data["tool_name"], data["tool_input"], run=self._runs.get(data.get("session_id", "")),
            cwd=data.get("cwd"), waits=not self._asks, call=use or "",
        )  # fmt: skip
        asks = self._asks and verdict.decision == "require-confirmation"
        refused = refusal_text(verdict) if asks else await guard.refusal(verdict)
        if not refused:
            return {}
        return {"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "ask" if asks else "deny",
            "permissionDecisionReason": refused,
        }}  # fmt: skip

    async def after_tool(self, data: Any, _use: str | None, _context: Any) -> dict[str, Any]:
        """Mask a result."""
        given = data.get("tool_response")
        masked = self._guard.masked(given)
        if masked is given:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": masked}}

    async def stop(self, data: Any, _use: str | None, _context: Any) -> dict[str, Any]:
        """Finish the run."""
        await asyncio.to_thread(self._guard.finish, self._runs.pop(data.get("session_id", ""), None))
        return {}
