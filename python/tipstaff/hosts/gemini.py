"""Gemini CLI: hooks in ``settings.json``, their times in milliseconds; standard output is for the one reply alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
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
    machine_file,
    reply_of,
)
from tipstaff.hosts.json_text import folder_levels, read_json

_OF_TOOLS: Final = frozenset({"BeforeTool", "AfterTool"})
_NAME: Final = "tipstaff"  # of our handlers, by which a person can switch them off


class GeminiCli(AgentHost):
    """Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    programs = ("gemini",)
    events = ("BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", "PreCompress")
    tool_event = "BeforeTool"
    default_scope = "user"
    command_tools = ("run_shell_command",)
    other_tools = ("write_file", "mcp_server_tool")
    reads_comments = True

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return ``.gemini/settings.json`` of the project or of the user."""
        return (self.user_folder(home) if scope == "user" else root / ".gemini") / "settings.json"

    def user_folder(self, home: Path) -> Path:
        """Return ``~/.gemini``."""
        return home / ".gemini"

    def other_files(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return the settings of the machine's owner."""
        del root, home
        macos, windows = (
            "/Library/Application Support/GeminiCli/settings.json",
            r"C:\ProgramData\gemini-cli\settings.json",
        )
        return (machine_file("/etc/gemini-cli/settings.json", macos, windows),)

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return a group with one handler."""
        handler = {
            "name": _NAME,
            "type": "command",
            "command": command_line(program, ["--host", "gemini"]),
            "timeout": TIMEOUT_S * 1000,
        }
        return {**({"matcher": "*"} if event in _OF_TOOLS else {}), "hooks": [handler]}

    def not_running(self, found: Sequence[tuple[Path, Registered]], root: Path, home: Path) -> Iterator[str]:
        """Yield that the project's settings are not read: the folder is not trusted."""
        file = self.settings_file("project", root, home)
        if any(path == file for path, _ in found) and not is_trusted(root, home / ".gemini", default=True):
            yield (
                f"Gemini CLI does not run the hooks of {file}: the folder is not trusted, and --skip-trust is "
                "too late for them; `tipstaff install --host gemini --user` registers it for every folder, "
                "or trust it in Gemini CLI (/permissions)"
            )

    def switched_off(self, settings: Mapping[str, Any]) -> str:
        """Return by which of ``hooksConfig`` a file switches all hooks off, or this one by its name."""
        config = settings.get("hooksConfig")
        if not isinstance(config, dict):
            return ""
        if config.get("enabled") is False:
            return "hooksConfig.enabled is false: no hook runs"
        names = config.get("disabled")
        if isinstance(names, list) and any(isinstance(name, str) and _NAME in name for name in names):
            return "hooksConfig.disabled names it: it does not run"
        return ""

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
        if run.status == 2:
            return Effect("stopped", "exit status 2")
        reply = reply_of(run, "is a warning")
        if isinstance(reply, Effect):
            return reply
        if reply.get("continue") is False:
            return Effect("stopped", "continue is false")
        decision = reply.get("decision")
        if decision in {"deny", "block"}:
            return Effect("stopped", f"decision {decision}")
        if decision == "ask":
            return Effect("asks", "decision ask")
        return Effect("runs", "the reply does not object")


def is_trusted(root: Path, folder: Path, *, default: bool) -> bool:
    """Return whether the settings of a project are read: Gemini CLI's rule, and Qwen Code's.

    Parameters
    ----------
    root
        Folder of the project.
    folder
        The host's own, with ``settings.json`` and ``trustedFolders.json``.
    default
        Whether trust is asked for where the settings do not say.
    """
    setting = os.environ.get("GEMINI_CLI_TRUST_WORKSPACE")
    if setting in {"true", "false"} and folder.name == ".gemini":
        return setting == "true"
    security = read_json(folder / "settings.json").get("security")
    switch = security.get("folderTrust") if isinstance(security, dict) else None
    if not (switch.get("enabled", default) if isinstance(switch, dict) else default):
        return True
    path = os.environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") if folder.name == ".gemini" else None
    levels = read_json(Path(path) if path else folder / "trustedFolders.json")
    return folder_levels(levels, root) in {"TRUST_FOLDER", "TRUST_PARENT"}


HOST: Final = GeminiCli()
