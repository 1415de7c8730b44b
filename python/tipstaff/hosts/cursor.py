"""Cursor: hooks in ``hooks.json``; it asks before shell commands and MCP calls alone; failures pass by default."""

from __future__ import annotations

import json
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
    machine_file,
)

BEFORE: Final = ("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile")
ASKS: Final = frozenset({"beforeShellExecution", "beforeMCPExecution"})


class Cursor(AgentHost):
    """Cursor."""

    name = "cursor"
    title = "Cursor"
    programs = ("cursor-agent", "cursor")
    events = (*BEFORE, "postToolUse", "beforeSubmitPrompt", "sessionStart", "preCompact")
    tool_event = "beforeShellExecution"
    default_type = "command"

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return ``.cursor/hooks.json`` of the project or of the user."""
        return (self.user_folder(home) if scope == "user" else root / ".cursor") / "hooks.json"

    def user_folder(self, home: Path) -> Path:
        """Return ``~/.cursor``."""
        return home / ".cursor"

    def other_files(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return the machine's file."""
        del root, home
        macos, windows = "/Library/Application Support/Cursor/hooks.json", r"C:\ProgramData\Cursor\hooks.json"
        return (machine_file("/etc/cursor/hooks.json", macos, windows),)

    def head(self) -> dict[str, Any]:
        """Return the version, without which the file is not read."""
        return {"version": 1}

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return one handler; before a call, one whose failure stops the call."""
        allow = json.dumps({"permission": "allow"} if event in BEFORE else {})
        line = command_line(program, ["--host", "cursor", "--event", event], without=allow)
        return {"command": line, "timeout": TIMEOUT_S, **({"failClosed": True} if event in BEFORE else {})}

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return what Cursor sends before a command."""
        return {
            "conversation_id": "tipstaff-doctor", "generation_id": "1", "model": "doctor", "cursor_version": "2.0.0",
            "workspace_roots": [str(cwd)], "hook_event_name": self.tool_event, "command": command, "cwd": str(cwd),
            "sandbox": False,
        }  # fmt: skip

    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Let failures pass, but where the entry says ``failClosed``."""
        closed = registered.entry.get("failClosed") is True
        if why := did_not_run(run):
            return _failed(closed, why)
        if run.status == 2:
            return Effect("stopped", "exit status 2")
        if run.status != 0:
            return _failed(closed, f"exit status {run.status}")
        reply = run.document()
        if reply is None:
            return _failed(closed, "the hook printed nothing that it could read")
        permission = reply.get("permission")
        if permission == "deny":
            return Effect("stopped", "permission deny")
        if permission == "ask":
            if registered.event in ASKS:
                return Effect("asks", "permission ask")
            if registered.event == "subagentStart":
                return Effect("stopped", "permission ask counts as deny here")
            return Effect("runs", "permission ask is not enforced at this event", failed=True)
        return Effect("runs", "the reply does not object")


def _failed(closed: bool, why: str) -> Effect:
    if closed:
        return Effect("stopped", f"{why}; the entry fails closed", failed=True)
    return Effect("runs", f"{why}; the entry does not fail closed", failed=True)


HOST: Final = Cursor()
