"""Codex CLI: hooks in ``hooks.json``; it cannot ask, and whatever it does not understand lets the call pass."""

from __future__ import annotations

import hashlib
import json
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
    handlers_of,
    home_folder,
    reply_of,
)  # fmt: skip
from tipstaff.hosts.json_text import read_toml

KEYS: Final = frozenset(
    {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
)
INNER_KEYS: Final = frozenset(
    {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
)
"""A reply with any other key is no reply."""
_REQUIREMENTS: Final = Path("/etc/codex/requirements.toml")  # what the machine's owner asks of every user
_WITHOUT_MATCHER: Final = frozenset({"UserPromptSubmit", "Stop"})


class CodexCli(AgentHost):
    """Codex CLI."""

    name = "codex"
    title = "Codex CLI"
    programs = ("codex",)
    events = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "PreCompact")
    tool_event = "PreToolUse"
    root_keys = frozenset({"description", "hooks"})
    handler_types = frozenset({"command", "http", "mcp_tool", "prompt", "agent"})
    matcher_names = re.compile(r"[a-zA-Z0-9_|]+")
    command_tools = ("Bash",)
    other_tools = ("apply_patch", "mcp__server__tool")

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return ``.codex/hooks.json``: ``config.toml``, which may hold hooks as well, is left alone."""
        return (self.user_folder(home) if scope == "user" else root / ".codex") / "hooks.json"

    def user_folder(self, home: Path) -> Path:
        """Return ``~/.codex``."""
        return home_folder("CODEX_HOME", home, ".codex")

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return a group with one handler; without a matcher, since none means every tool."""
        del event
        return {
            "hooks": [{"type": "command", "command": command_line(program, ["--host", "codex"]), "timeout": TIMEOUT_S}]
        }

    def not_running(self, found: Sequence[tuple[Path, Registered]], root: Path, home: Path) -> Iterator[str]:
        """Yield which hooks nobody has trusted, and what else of ``config.toml`` keeps them from running."""
        config = read_toml(self.user_folder(home) / "config.toml")
        features = config.get("features")
        if isinstance(features, dict) and features.get("hooks", features.get("codex_hooks")) is False:
            yield "Codex runs no hooks: config.toml says so in [features]; take that line out"
        if found and read_toml(_REQUIREMENTS).get("allow_managed_hooks_only") is True:
            yield f"{_REQUIREMENTS}: allow_managed_hooks_only is true: no hooks of users or projects run"
        project = self.settings_file("project", root, home)
        if any(path == project for path, _ in found) and not _is_trusted_project(config, root):
            yield (
                f"Codex does not read {project}: this project is not trusted; open Codex in it and confirm, "
                "or `tipstaff install --host codex --user`"
            )
        hooks = config.get("hooks")
        state: Any = hooks.get("state") if isinstance(hooks, dict) else None
        for wrong, texts in (
            ("untrusted", "it is not trusted there"),
            ("changed", "it has changed since it was trusted there"),
            ("off", "it is switched off there"),
        ):
            events = [one.event for path, one in found if _trust(state, path, one) == wrong]
            if events:
                yield (
                    f"Codex does not run the hook for {', '.join(events)}: {texts}; "
                    "open Codex in this folder and trust it in /hooks"
                )

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return what Codex sends before a command."""
        return {**super().tool_call(command, cwd), "turn_id": "1", "model": "doctor", "permission_mode": "default"}

    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Only a refusal with words stops a call."""
        del registered
        if run.status == 2:
            if run.stderr.strip():
                return Effect("stopped", "exit status 2 with a reason")
            return Effect("runs", "exit status 2 with nothing on standard error", failed=True)
        reply = reply_of(run, "does not block")
        if isinstance(reply, Effect):
            return reply
        if unknown := sorted(reply.keys() - KEYS):
            return Effect("runs", f"the reply has a key that it does not know: {unknown[0]}", failed=True)
        if reply.get("continue") is False or reply.get("stopReason") or reply.get("suppressOutput"):
            return Effect("runs", "continue, stopReason and suppressOutput are not for this event", failed=True)
        if "decision" in reply:
            if reply["decision"] == "block" and str(reply.get("reason", "")).strip():
                return Effect("stopped", "decision block with a reason")
            return Effect("runs", "a decision that it does not support", failed=True)
        inner: Any = reply.get("hookSpecificOutput")
        return _of_inner(inner) if isinstance(inner, dict) else Effect("runs", "the reply does not object")


def trust_key(path: Path, one: Registered) -> str:
    """Return by what Codex keeps the trust in a hook: file, event, group and number."""
    return f"{path}:{_label(one.event)}:{one.at[0]}:{one.at[1]}"


def trust_hash(one: Registered) -> str:
    """Return what Codex keeps of a hook that was trusted.

    SHA-256 of its definition as JSON with sorted keys (``codex-rs/hooks/src/engine/discovery.rs`` and ``config``'s
    fingerprint; the same in the versions from 0.130 to 0.169).
    """
    handler = handlers_of({"hooks": [one.entry]})[0]
    known: dict[str, Any] = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": max(1, int(handler.get("timeout", handler.get("timeoutSec", 600)))),
        "async": bool(handler.get("async", False)),
    }
    if isinstance(handler.get("statusMessage"), str):
        known["statusMessage"] = handler["statusMessage"]
    definition: dict[str, Any] = {"event_name": _label(one.event), "hooks": [known]}
    if isinstance(one.entry.get("matcher"), str) and one.event not in _WITHOUT_MATCHER:
        definition["matcher"] = one.entry["matcher"]
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _label(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _trust(state: Any, path: Path, one: Registered) -> str:
    kept: Any = None
    for candidate in (path, path.resolve()):
        kept = kept or (state.get(trust_key(candidate, one)) if isinstance(state, dict) else None)
    if not isinstance(kept, dict) or "trusted_hash" not in kept:
        return "untrusted"
    if kept.get("enabled") is False:
        return "off"
    return "trusted" if kept["trusted_hash"] == trust_hash(one) else "changed"


def _is_trusted_project(config: dict[str, Any], root: Path) -> bool:
    projects: Any = config.get("projects")
    for candidate in (root, root.resolve()):
        kept = projects.get(str(candidate)) if isinstance(projects, dict) else None
        if isinstance(kept, dict) and kept.get("trust_level") == "trusted":
            return True
    return False


def _of_inner(inner: dict[str, Any]) -> Effect:
    if unknown := sorted(inner.keys() - INNER_KEYS):
        return Effect("runs", f"the reply has a key that it does not know: {unknown[0]}", failed=True)
    decision = inner.get("permissionDecision")
    if decision == "deny" and str(inner.get("permissionDecisionReason", "")).strip():
        return Effect("stopped", "permissionDecision deny with a reason")
    if decision == "deny":
        return Effect("runs", "a refusal without a reason", failed=True)
    if decision == "ask":
        return Effect("runs", "it cannot ask", failed=True)
    if decision == "allow" and "updatedInput" not in inner:
        return Effect("runs", "a bare allow", failed=True)
    return Effect("runs", "the reply does not object")


HOST: Final = CodexCli()
