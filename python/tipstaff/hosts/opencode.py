"""opencode: a plugin of this package's own, which asks the hook in Claude Code's protocol and can only refuse."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from tipstaff.errors import SourceError
from tipstaff.hosts.claude import ClaudeCode
from tipstaff.hosts.host import TIMEOUT_S, Effect, HookRun, Registered, Scope
from tipstaff.store.untrusted import read_untrusted_text

_MARK: Final = "const PROGRAM = "


class OpenCode(ClaudeCode):
    """opencode."""

    name = "opencode"
    title = "opencode"
    programs = ("opencode",)
    events = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart")

    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return the plugin's file."""
        return (self.user_folder(home) if scope == "user" else root / ".opencode") / "plugins" / "tipstaff.js"

    def user_folder(self, home: Path) -> Path:
        """Return ``~/.config/opencode``."""
        base = os.environ.get("XDG_CONFIG_HOME", "")
        return (Path(base) if base else home / ".config") / "opencode"

    def other_files(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return nothing: plugins elsewhere are of others."""
        del root, home
        return ()

    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return what the plugin starts."""
        del event
        return {"command": str(program), "args": ["--host", "opencode"]}

    def own_file(self, program: Path) -> bytes | None:
        """Return the plugin."""
        text = files("tipstaff.hosts").joinpath("opencode_plugin.js").read_text("utf-8")
        words = json.dumps([str(program), "--host", "opencode"])
        text = text.replace("__OPTIONAL__", json.dumps(not program.is_absolute()))
        return text.replace("__PROGRAM__", words).replace("__TIMEOUT_MS__", str(TIMEOUT_S * 1000)).encode()

    def read_file(self, path: Path) -> dict[str, Any] | None:
        """Return the words of the plugin's program; None where there is no plugin.

        Raises
        ------
        SourceError
            The file is not the plugin that this package writes.
        """
        try:
            text = read_untrusted_text(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SourceError(f"{path}: it cannot be read: {error}") from error
        lines = text.splitlines()
        line = next((one for one in lines if one.startswith(_MARK)), "")
        try:
            words: Any = json.loads(line.removeprefix(_MARK))
        except ValueError:
            words = None
        if not isinstance(words, list) or not words or not lines[0].startswith("// tipstaff:"):
            raise SourceError(f"{path}: it is not the plugin that `tipstaff install --host opencode` writes")
        return {"program": words, "current": self.own_file(Path(str(words[0]))) == text.encode()}

    def not_running(self, found: Sequence[tuple[Path, Registered]], root: Path, home: Path) -> Iterator[str]:
        """Yield which plugin is not as this version writes it."""
        del root, home
        for path in dict.fromkeys(path for path, one in found if not one.entry.get("current")):
            yield f"{path}: it is not as this version writes it: run `tipstaff install --host opencode` again"

    def registered(self, settings: Mapping[str, Any]) -> Iterator[Registered]:
        """Yield one registration for each event that the plugin asks about."""
        words = settings.get("program")
        if isinstance(words, list):
            for event in self.events:
                yield Registered(event, tuple(str(word) for word in words), "", dict(settings))

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return what the plugin sends before a command."""
        return {**super().tool_call(command, cwd), "tool_name": "bash"}

    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Whatever is no answer stops the call, and so does a question."""
        if run.status != 0:
            return Effect(
                "stopped", f"the plugin blocks a call without an answer (exit status {run.status})", failed=True
            )
        if run.stdout.strip() and run.document() is None:
            return Effect("stopped", "the hook's output is not one JSON object", failed=True)
        effect = super().read_reply(registered, run)
        return Effect("stopped", effect.why, effect.failed) if effect.outcome == "asks" else effect


HOST: Final = OpenCode()
