"""Codex CLI: hooks in ``hooks.json``; it cannot ask, and whatever it does not understand lets the call pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tipstaff.hosts.host import (
    TIMEOUT_S,
    AgentHost,
    Effect,
    HookRun,
    Registered,
    Scope,
    command_line,
    did_not_run,
    home_folder,
)  # fmt: skip

KEYS: Final = frozenset(
    {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
)
INNER_KEYS: Final = frozenset(
    {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
)
"""A reply with any other key is no reply."""


class CodexCli(AgentHost):
    """Codex CLI."""

    name = "codex"
    title = "Codex CLI"
    events = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "PreCompact")
    tool_event = "PreToolUse"

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return ``.codex/hooks.json``: ``config.toml``, which may hold hooks as well, is left alone."""
        folder = root / ".codex" if scope == "project" else home_folder("CODEX_HOME", home, ".codex")
        return folder / "hooks.json"

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return a group with one handler; without a matcher, since none means every tool."""
        del event
        return {
            "hooks": [{"type": "command", "command": command_line(program, ["--host", "codex"]), "timeout": TIMEOUT_S}]
        }

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return what Codex sends before a command."""
        return {**super().tool_call(command, cwd), "turn_id": "1", "model": "doctor", "permission_mode": "default"}

    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Only a refusal with words stops a call."""
        del registered
        if why := did_not_run(run):
            return Effect("runs", why, failed=True)
        if run.status == 2:
            if run.stderr.strip():
                return Effect("stopped", "exit status 2 with a reason")
            return Effect("runs", "exit status 2 without words on standard error", failed=True)
        if run.status != 0:
            return Effect("runs", f"exit status {run.status} does not block", failed=True)
        if not run.stdout.strip():
            return Effect("runs", "the hook said nothing")
        reply = run.document()
        if reply is None:
            return Effect("runs", "what the hook said is not one JSON object", failed=True)
        if unknown := sorted(reply.keys() - KEYS):
            return Effect("runs", f"the reply has a key that it does not know: {unknown[0]}", failed=True)
        if reply.get("continue") is False or reply.get("stopReason") or reply.get("suppressOutput"):
            return Effect("runs", "continue, stopReason and suppressOutput are not for this event", failed=True)
        if "decision" in reply:
            if reply["decision"] == "block" and str(reply.get("reason", "")).strip():
                return Effect("stopped", "decision block with a reason")
            return Effect("runs", "a decision that it does not take", failed=True)
        said: Any = reply.get("hookSpecificOutput")
        return _of_inner(said) if isinstance(said, dict) else Effect("runs", "the reply does not speak against it")


def _of_inner(said: dict[str, Any]) -> Effect:
    if unknown := sorted(said.keys() - INNER_KEYS):
        return Effect("runs", f"the reply has a key that it does not know: {unknown[0]}", failed=True)
    decision = said.get("permissionDecision")
    if decision == "deny" and str(said.get("permissionDecisionReason", "")).strip():
        return Effect("stopped", "permissionDecision deny with a reason")
    if decision == "deny":
        return Effect("runs", "a refusal without a reason", failed=True)
    if decision == "ask":
        return Effect("runs", "it cannot ask", failed=True)
    if decision == "allow" and "updatedInput" not in said:
        return Effect("runs", "a bare allow", failed=True)
    return Effect("runs", "the reply does not speak against it")


HOST: Final = CodexCli()
