"""Gemini CLI: hooks in ``settings.json``, their times in milliseconds; standard output is for the one reply alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tipstaff.hosts.host import TIMEOUT_S, AgentHost, Effect, HookRun, Registered, Scope, command_line, did_not_run

_OF_TOOLS: Final = frozenset({"BeforeTool", "AfterTool"})


class GeminiCli(AgentHost):
    """Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    events = ("BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", "PreCompress")
    tool_event = "BeforeTool"

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return ``.gemini/settings.json`` of the project or of the user."""
        return (root if scope == "project" else home) / ".gemini" / "settings.json"

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return a group with one handler."""
        handler = {
            "name": "tipstaff",
            "type": "command",
            "command": command_line(program, ["--host", "gemini"]),
            "timeout": TIMEOUT_S * 1000,
        }
        return {**({"matcher": "*"} if event in _OF_TOOLS else {}), "hooks": [handler]}

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return what Gemini CLI sends before a command."""
        event = {
            **super().tool_call(command, cwd),
            "tool_name": "run_shell_command",
            "timestamp": "2026-01-01T00:00:00Z",
        }
        del event["tool_use_id"]
        return event

    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Exit status 2 stops the call; any other failure is a warning."""
        del registered
        if why := did_not_run(run):
            return Effect("runs", why, failed=True)
        if run.status == 2:
            return Effect("stopped", "exit status 2")
        if run.status != 0:
            return Effect("runs", f"exit status {run.status} is a warning", failed=True)
        if not run.stdout.strip():
            return Effect("runs", "the hook said nothing")
        reply = run.document()
        if reply is None:
            return Effect("runs", "what the hook said is not one JSON object: it is shown as a message", failed=True)
        if reply.get("continue") is False:
            return Effect("stopped", "continue is false")
        decision = reply.get("decision")
        if decision in {"deny", "block"}:
            return Effect("stopped", f"decision {decision}")
        if decision == "ask":
            return Effect("asks", "decision ask")
        return Effect("runs", "the reply does not speak against it")


HOST: Final = GeminiCli()
