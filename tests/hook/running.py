"""Runs the built hook program with one event, in a state folder and home of the test's own.

``TIPSTAFF_HOOK`` names another build of the program; without it, the installed one is run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tipstaff.gates.image import policy
from tipstaff.gates.image.policy_file import write_policy
from tipstaff.store.signing import unseal


def program() -> Path:
    return Path(os.environ.get("TIPSTAFF_HOOK") or Path(sysconfig.get_path("scripts")) / "tipstaff-hook")


class Answer(NamedTuple):
    status: int
    stdout: bytes
    stderr: bytes

    def reply(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.stdout)
        return found

    def decision(self) -> str:
        """Return what the reply says, whichever host it is for; empty where it says nothing."""
        if not self.stdout:
            return ""
        reply = self.reply()
        inner = reply.get("hookSpecificOutput", {})
        for table, key in (
            (inner, "permissionDecision"), (reply, "permissionDecision"), (reply, "permission"), (reply, "decision"),
        ):  # fmt: skip
            if key in table:
                return str(table[key])
        return ""


@cache
def default_image() -> bytes:
    return bytes(policy.default_image())


class Bench:
    """A state folder with a compiled policy, a home and a repository."""

    def __init__(self, folder: Path, *, policy: bool = True) -> None:
        self.state = folder / "state"
        self.home = folder / "home"
        self.repository = folder / "repository"
        for made in (self.home, self.repository / ".git"):
            made.mkdir(parents=True)
        self.policy = (
            write_policy(default_image(), self.repository, state=self.state) if policy else self.state / "none"
        )

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "TIPSTAFF_STATE": str(self.state), **(more or {})}

    def run(self, event: Any, *arguments: str, environment: Mapping[str, str] | None = None) -> Answer:
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        done = subprocess.run(
            [program(), *arguments],
            check=False,
            input=data,
            capture_output=True,
            env=self.environment(environment),
            cwd=self.home,
            timeout=60,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [program(), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.home,
        )  # fmt: skip

    def claude(self, command: str, **more: Any) -> dict[str, Any]:
        return {
            "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": str(self.repository), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "u1",
            **more,
        }  # fmt: skip

    def spool(self) -> list[dict[str, Any]]:
        """Return the lines; an empty one is where two processes ended the same torn line."""
        return [json.loads(line) for line in (self.state / "spool.jsonl").read_text().splitlines() if line]

    def pending(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for path in sorted((self.state / "pending").glob("[A-Z2-9]*")):
            call: dict[str, Any] = json.loads(path.read_text())
            if "sealed" in call:
                call["fields"] = json.loads(unseal(self.state, call.pop("sealed")))
            found.append(call)
        return found


def aws_key() -> str:
    """Return a text in the shape of a secret, made where it is used."""
    return "AKIA" + "".join("QZXWVNMKLPJHTRDS"[at * 7 % 16] for at in range(16))
