"""GitHub Copilot CLI and cloud agent: hooks in files of their own; failures before a call stop it, but for waiting."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tipstaff.hosts.host import (
    DOCTOR_SESSION,
    TIMEOUT_S,
    AgentHost,
    Effect,
    HookRun,
    Registered,
    Scope,
    below,
    command_line,
    home_folder,
    reply_of,
)  # fmt: skip
from tipstaff.hosts.json_text import read_json


class Copilot(AgentHost):
    """GitHub Copilot."""

    name = "copilot"
    title = "GitHub Copilot"
    programs = ("copilot",)
    events = ("preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "sessionStart", "preCompact")
    tool_event = "preToolUse"
    default_type = "command"
    default_scope = "user"
    matcher_is_whole = True
    command_tools = ("bash",)
    other_tools = ("create", "server-tool")

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return a file of this package alone in the folder of hooks."""
        return (self.user_folder(home) if scope == "user" else root / ".github") / "hooks" / "tipstaff.json"

    def user_folder(self, home: Path) -> Path:
        """Return ``~/.copilot``."""
        return home_folder("COPILOT_HOME", home, ".copilot")

    def other_files(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return the settings that may hold hooks; it reads Claude Code's as well."""
        folder = root / ".github" / "copilot"
        user = self.user_folder(home)
        return (folder / "settings.json", folder / "settings.local.json", user / "settings.json")

    def not_running(self, found: Sequence[tuple[Path, Registered]], root: Path, home: Path) -> Iterator[str]:
        """Yield that the project's hooks are not read: the folder is not trusted."""
        user = self.user_folder(home)
        files = [path for path, _ in found if not path.is_relative_to(user)]
        if not files or len(files) < len(found) or os.environ.get("COPILOT_ALLOW_ALL") == "true":
            return
        trusted = read_json(user / "config.json").get("trustedFolders")
        if not any(below(root, Path(folder)) for folder in trusted or [] if isinstance(folder, str)):
            yield (
                f"Copilot does not run the hooks of {files[0]}: the folder is not trusted; "
                "`tipstaff install --host copilot --user` registers it for every folder, or trust this one in Copilot "
                "(or start it with --trust-folder)"
            )

    def head(self) -> dict[str, Any]:
        """Return the version, without which the file is not read."""
        return {"version": 1}

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return one handler; its events do not say their names, so the command does."""
        line = command_line(program, ["--host", "copilot", "--event", event])
        return {"type": "command", "bash": line, "timeoutSec": TIMEOUT_S}

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return what Copilot sends before a command."""
        return {
            "sessionId": DOCTOR_SESSION, "timestamp": 1767225600000, "cwd": str(cwd), "toolName": "bash",
            "toolArgs": {"command": command},
        }  # fmt: skip

    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Any exit status but 0 stops the call; a timeout never does."""
        if run.status not in {0, None} and registered.event.lower() == "pretooluse":
            return Effect("stopped", f"exit status {run.status}", failed=run.status != 2)
        reply = reply_of(run, "is logged")
        if isinstance(reply, Effect):
            return reply
        decision = reply.get("permissionDecision")
        if decision == "deny":
            return Effect("stopped", "permissionDecision deny")
        if decision == "ask":
            return Effect("asks", "permissionDecision ask (the cloud agent stops it)")
        return Effect("runs", "the reply does not object")


HOST: Final = Copilot()
