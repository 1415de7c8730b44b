"""Qwen Code: Claude Code's protocol in a settings file of its own, with Gemini CLI's names of tools and its trust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tipstaff.hosts.claude import OF_TOOLS, ClaudeCode
from tipstaff.hosts.gemini import is_trusted
from tipstaff.hosts.host import TIMEOUT_S, Registered, Scope, command_line, machine_file


class QwenCode(ClaudeCode):
    """Qwen Code."""

    name = "qwen"
    title = "Qwen Code"
    programs = ("qwen",)
    matcher_names = None
    command_tools = ("run_shell_command", "Shell", "Bash")
    other_tools = ("write_file", "mcp__server__tool")
    handler_types = frozenset()
    reads_comments = True
    matcher_is_trimmed = True

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return ``.qwen/settings.json`` of the project or of the user."""
        return (self.user_folder(home) if scope == "user" else root / ".qwen") / "settings.json"

    def user_folder(self, home: Path) -> Path:
        """Return ``~/.qwen``."""
        return home / ".qwen"

    def other_files(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return the settings of the machine's owner."""
        del root, home
        macos, windows = (
            "/Library/Application Support/QwenCode/settings.json",
            r"C:\ProgramData\qwen-code\settings.json",
        )
        return (machine_file("/etc/qwen-code/settings.json", macos, windows),)

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return a group with one handler.

        Its time is in milliseconds, which every version takes: newer ones count in seconds below 1,000.
        """
        line = command_line(program, ["--host", "qwen"])
        handler = {"name": "tipstaff", "type": "command", "command": line, "timeout": TIMEOUT_S * 1000}
        return {**({"matcher": "*"} if event in OF_TOOLS else {}), "hooks": [handler]}

    def not_running(self, found: Sequence[tuple[Path, Registered]], root: Path, home: Path) -> Iterator[str]:
        """Yield that the project's settings are not read: trust is asked for, and the folder is not trusted."""
        file = self.settings_file("project", root, home)
        if any(path == file for path, _ in found) and not is_trusted(root, home / ".qwen", default=False):
            yield (
                f"Qwen Code does not run the hooks of {file}: the folder is not trusted; "
                "`tipstaff install --host qwen --user` registers it for every folder, "
                "or trust this one in Qwen Code (/trust)"
            )

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return what Qwen Code sends before a command."""
        return {**super().tool_call(command, cwd), "tool_name": "run_shell_command", "permission_mode": "default"}


HOST: Final = QwenCode()
