"""A home, a repository and a state folder of decoys, the hook program, and a person at a pseudo-terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.hook.running import Answer, default_image, program
from tipstaff.gates.image.policy_file import write_policy
from tipstaff.store.signing import unseal

STOPPED = frozenset({"ask", "deny"})


class Victim:
    """What is attacked: a user's home with one project in it, and the gate's state.

    Parameters
    ----------
    folder
        An empty folder.
    state
        Where the state is; the default place below the home if None.
    """

    def __init__(self, folder: Path, *, state: Path | None = None) -> None:
        self.home = folder / "home"
        self.repository = self.home / "proj"
        (self.repository / ".git" / "hooks").mkdir(parents=True)
        (self.repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.own_place = state is not None
        self.state = state or self.home / ".local" / "state" / "tipstaff"
        for made in ("approvals", "pending", "runs", "guidance"):
            (self.state / made).mkdir(parents=True, mode=0o700)
        write_policy(default_image(), self.repository, state=self.state)
        key = self.state / "key"
        key.write_bytes(bytes(range(32)))
        key.chmod(0o600)
        self.state.chmod(0o700)
        self.put(".claude/settings.json", "{}")

    def put(self, name: str, content: str | bytes, *, mode: int = 0o644) -> Path:
        """Write a file of the repository."""
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        place = {"TIPSTAFF_STATE": str(self.state)} if self.own_place else {}
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **place, **(more or {})}

    def filled(self, text: str) -> str:
        """Return a text with the places in it: {home}, {repo}, {state}, {venv}."""
        places = {
            "home": self.home, "repo": self.repository, "state": self.state, "venv": program().parent.parent,
            "hook": program(),
        }  # fmt: skip
        for name, path in places.items():
            text = text.replace("{" + name + "}", str(path))
        return text

    def call(self, tool: str, given: Mapping[str, Any], *, cwd: Path | None = None, **more: Any) -> dict[str, Any]:
        """Return Claude Code's event before a call."""
        return {
            "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": str(cwd or self.repository),
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": dict(given), "tool_use_id": "u1", **more,
        }  # fmt: skip

    def ask(
        self, event: Mapping[str, Any], *, environment: Mapping[str, str] | None = None, host: str = "claude"
    ) -> Answer:
        """Return what the hook answers."""
        done = subprocess.run(
            [program(), "--host", host], check=False, input=json.dumps(event).encode(), capture_output=True,
            env=self.environment(environment), cwd=self.repository, timeout=60,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    def decision(self, command: str, **more: Any) -> str:
        """Return the decision on a shell command: ``allow``, ``ask`` or ``deny``."""
        return self.ask(self.call("Bash", {"command": self.filled(command)}), **more).decision() or "allow"

    def tool_decision(self, tool: str, given: Mapping[str, Any], **more: Any) -> str:
        """Return the decision on a call of a tool."""
        filled = {key: self.filled(value) if isinstance(value, str) else value for key, value in given.items()}
        return self.ask(self.call(tool, filled), **more).decision() or "allow"

    def tipstaff(self, *words: str, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> Answer:
        """Run the command line without a terminal, as an agent or a script would."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "tipstaff.cli", *words], check=False, stdin=subprocess.DEVNULL, capture_output=True,
            env=self.environment(environment), cwd=cwd or self.repository, timeout=120,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    def person(self, *words: str, types: tuple[tuple[str, str], ...] = (), cwd: Path | None = None) -> tuple[int, str]:
        """Run the command line as a person does, at a terminal; ``types`` are (what is waited for, what is typed)."""
        child, terminal = pty.fork()
        if child == 0:  # pragma: no cover - replaced by the program
            os.chdir(cwd or self.repository)
            os.execve(
                sys.executable,
                [sys.executable, "-P", "-m", "tipstaff.cli", *words],
                self.environment({"TERM": "dumb", "COLUMNS": "200"}),
            )
        seen, searched = "", 0
        waiting = list(types)
        deadline = time.monotonic() + 60
        with contextlib.suppress(OSError):
            while time.monotonic() < deadline:
                if not select.select([terminal], [], [], 0.2)[0]:
                    continue
                data = os.read(terminal, 65536)
                if not data:
                    break
                seen += data.decode(errors="replace")
                while waiting and (at := seen.find(waiting[0][0], searched)) >= 0:
                    searched = at + len(waiting[0][0])
                    os.write(terminal, waiting.pop(0)[1].encode() + b"\n")
        os.close(terminal)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), seen.replace("\r\n", "\n")

    def pending(self) -> list[dict[str, Any]]:
        """Return the calls that wait for a person."""
        found: list[dict[str, Any]] = []
        for path in sorted((self.state / "pending").glob("[A-Z2-9]*")):
            call: dict[str, Any] = json.loads(path.read_text())
            if "sealed" in call:
                call["fields"] = json.loads(unseal(self.state, call.pop("sealed")))
            found.append(call)
        return found
