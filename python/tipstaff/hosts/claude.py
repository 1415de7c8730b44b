"""Claude Code: hooks in ``settings.json``, in exec form; every failure of a hook lets the call pass."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    home_folder,
    machine_file,
    reply_of,
)
from tipstaff.hosts.json_text import read_json

OF_TOOLS: Final = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})


class ClaudeCode(AgentHost):
    """Claude Code."""

    name = "claude"
    title = "Claude Code"
    programs: tuple[str, ...] = ("claude",)
    events: tuple[str, ...] = (
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "SessionStart",
        "PreCompact",
    )
    tool_event = "PreToolUse"
    matcher_names: re.Pattern[str] | None = re.compile(r"[a-zA-Z0-9_|, -]+")
    command_tools: tuple[str, ...] = ("Bash",)
    other_tools = ("Write", "mcp__server__tool")
    handler_types = frozenset({"command", "http", "mcp_tool", "prompt", "agent"})
    reads_mark = True

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return ``.claude/settings.json`` of the project or of the user, or ``settings.local.json`` beside it."""
        folder = self.user_folder(home) if scope == "user" else root / ".claude"
        return folder / ("settings.local.json" if scope == "local" else "settings.json")

    def user_folder(self, home: Path) -> Path:
        """Return ``~/.claude``."""
        return home_folder("CLAUDE_CONFIG_DIR", home, ".claude")

    def other_files(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return the settings of the machine's owner."""
        del root, home
        machine = machine_file(
            "/etc/claude-code/managed-settings.json",
            "/Library/Application Support/ClaudeCode/managed-settings.json",
            r"C:\Program Files\ClaudeCode\managed-settings.json",
        )
        more = sorted(machine.with_suffix(".d").glob("*.json"))
        return (*more, machine)

    def not_running(self, found: Sequence[tuple[Path, Registered]], root: Path, home: Path) -> Iterator[str]:
        """Yield that the machine's owner lets no other hooks run than those of the machine."""
        machine = self.other_files(root, home)
        if any(path not in machine for path, _ in found):
            for path in machine:
                if read_json(path).get("allowManagedHooksOnly") is True:
                    yield f"{path}: allowManagedHooksOnly is true: no hooks of users or projects run"

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return a group with one handler; a program by its path is started without a shell."""
        options = ["--host", "claude"]
        start = (
            {"command": str(program), "args": options}
            if program.is_absolute()
            else {"command": command_line(program, options)}
        )
        handler = {"type": "command", **start, "timeout": TIMEOUT_S}
        return {**({"matcher": "*"} if event in OF_TOOLS else {}), "hooks": [handler]}

    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Exit status 2 stops the call; any other failure lets it run."""
        if run.status == 2:
            return Effect("stopped", "exit status 2")
        reply = reply_of(run, "does not block")
        if isinstance(reply, Effect):
            return reply
        if reply.get("continue") is False:
            return Effect("stopped", "continue is false")
        if reply.get("decision") == "block":
            return Effect("stopped", "decision block")
        output = reply.get("hookSpecificOutput")
        if isinstance(output, dict):
            if output.get("hookEventName") != registered.event:
                return Effect("runs", "the reply names another event", failed=True)
            decision = output.get("permissionDecision")
            if decision == "deny":
                return Effect("stopped", "permissionDecision deny")
            if decision in {"ask", "defer"}:
                return Effect("asks", f"permissionDecision {decision}")
        return Effect("runs", "the reply does not object")


HOST: Final = ClaudeCode()
