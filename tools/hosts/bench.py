"""A throw-away repository with the hook registered, and runs of a host's program in it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.hosts.client import Client
from tools.hosts.mcp_server import KEY as AWS_KEY
from tools.hosts.model import ModelServer, Script, ToolCall

LONGEST_S: Final = 60
TIPSTAFF: Final = (
    Path(os.environ["TIPSTAFF_PROGRAMS"]) if "TIPSTAFF_PROGRAMS" in os.environ else Path(".venv/bin").absolute()
)

RULES: Final = {
    ".cursor/rules/refunds.mdc": "---\ndescription: How refunds are computed\nalwaysApply: false\n---\n# Refunds\n"
    "- [REF-001] Refund totals must be rounded with the quagga table before they are stored.\n"
    "- [SHP-001] Parcel labels must be printed in landscape.\n",
    ".cursor/rules/security.mdc": "---\ndescription: Security\nalwaysApply: true\n---\n# Security\n"
    "- [SEC-001] Never log the zanzibar token (critical)\n",
}
"""Of a kind that none of the programs reads by itself, so that what they know of it the hook has given."""


def github_token() -> str:
    """Return a text in the shape of a token, whose checksum is right."""
    body, digits = "x7Kq2Lm9Zt4Rw8Yb3Nc6Vd1Pf5Hs0J", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    rest, tail = zlib.crc32(body.encode()), ""
    while rest:
        rest, digit = divmod(rest, 62)
        tail = digits[digit] + tail
    return f"ghp_{body}{tail:0>6}"


SECRETS: Final = (AWS_KEY, github_token())


@dataclass(frozen=True)
class Run:
    """One run of a program: what it printed, what the model was sent, and the spool's lines."""

    status: int | None
    seconds: float
    printed: str
    server: ModelServer
    spool: list[dict[str, Any]]

    @property
    def result(self) -> str:
        return self.server.results[0] if self.server.results else ""

    @property
    def first_request(self) -> str:
        return self.server.turns[0].text if self.server.turns else ""

    def leaks(self) -> bool:
        return any(secret in one.text for one in self.server.turns for secret in SECRETS)


class Bench:
    """The repository of one program, below the folder of all of them."""

    def __init__(self, client: Client, at: Path) -> None:
        self.client = client
        self.work = at / "work" / client.name
        self.repository = self.work / "repository"
        self.sibling = self.work / "precious"
        self.settings = self.repository / client.settings

    def make(self, *, foreign: bool) -> None:
        for folder in (self.work, self.client.home):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for name, text in {**RULES, "a.txt": "first\n"}.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if foreign and self.client.foreign is not None:
            self.settings.parent.mkdir(parents=True, exist_ok=True)
            self.settings.write_bytes(self.client.foreign.encode())
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", "http://127.0.0.1:9/none.git")
        self.commit("first")
        (self.repository / "b.txt").write_text("b\n")
        self.commit("second")
        self.client.prepare(self.repository, "http://127.0.0.1:9")

    def lay_out(self) -> None:
        """Put back what calls may have taken away."""
        self.sibling.mkdir(exist_ok=True)
        (self.sibling / "deed.txt").write_text("keep me\n")
        (self.repository / "a.txt").write_text("first\nnot committed\n")
        (self.repository / "keys.txt").write_text(
            f"aws_access_key_id = {SECRETS[0]}\ngithub = {SECRETS[1]}\nplain line\n"
        )

    def commit(self, subject: str) -> None:
        self.git("add", "-A", ":!keys.txt")
        self.git("-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", subject, "--allow-empty")

    def git(self, *words: str) -> str:
        environment = {"HOME": str(self.client.home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            ["git", *words], cwd=self.repository, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def tipstaff(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {"HOME": str(self.client.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "NO_COLOR": "1"}
        return subprocess.run(
            [TIPSTAFF / "tipstaff", *words],
            cwd=self.repository,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    @property
    def state(self) -> Path:
        return self.client.home / ".local/state/tipstaff"

    def _spool(self) -> list[str]:
        path = self.state / "spool.jsonl"
        return path.read_text().splitlines() if path.exists() else []

    def run(
        self,
        turns: Sequence[ToolCall | str] | Sequence[Script],
        prompt: str = "Do the next step.",
        mode: str = "free",
        environment: Mapping[str, str] | None = None,
    ) -> Run:
        """Run the program with one prompt against a model that makes these calls."""
        self.lay_out()
        scripts = [one for one in turns if isinstance(one, Script)] or [
            Script([one for one in turns if not isinstance(one, Script)])
        ]
        server = ModelServer(scripts)
        self.client.prepare(self.repository, server.url)
        before = len(self._spool())
        around = {**self.client.environment(server.url), **(environment or {})}
        start = time.monotonic()
        child = subprocess.Popen(
            self.client.command(prompt, mode),
            cwd=self.repository,
            env={name: text for name, text in around.items() if text},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        status: int | None = None
        try:
            printed, _ = child.communicate(timeout=LONGEST_S)
            status = child.returncode
        except subprocess.TimeoutExpired:
            printed = ""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # with whatever it has started
        if status is None:
            printed, _ = child.communicate()
        seconds = time.monotonic() - start
        server.close()
        log = self.work.parent.parent / "logs" / self.client.name
        log.mkdir(parents=True, exist_ok=True)
        with (log / "runs.jsonl").open("a") as file:
            seen = [{"path": one.path, "results": one.results, "tools": one.tools} for one in server.requests]
            file.write(
                json.dumps({"prompt": prompt, "status": status, "printed": printed[-4000:], "requests": seen}) + "\n"
            )
        return Run(status, seconds, printed, server, [json.loads(line) for line in self._spool()[before:]])
