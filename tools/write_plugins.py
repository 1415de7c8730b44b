"""Write ``plugins/``: what agent hosts install by themselves, made from what ``tipstaff install`` registers.

``python -m tools.write_plugins`` after a change of a host's registration or of the version; a test compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from tipstaff import __version__
from tipstaff.hosts.claude import HOST as CLAUDE
from tipstaff.hosts.codex import HOST as CODEX
from tipstaff.hosts.cursor import HOST as CURSOR
from tipstaff.hosts.gemini import HOST as GEMINI
from tipstaff.hosts.host import PROGRAM, AgentHost, command_line, handlers_of
from tipstaff.hosts.opencode import HOST as OPENCODE

ROOT: Final = Path(__file__).parents[1]
NAME: Final = "tipstaff"
DESCRIPTION: Final = (
    "Judges every tool call before it runs, keeps what would be lost, gives the agent the rules that matter."
)
MISSING: Final = "tipstaff is not installed: nothing is judged. A person installs it with: pip install tipstaff"
AUTHOR: Final = {"name": "tipstaff maintainers"}

SKILL: Final = """\
---
name: tipstaff
description: >-
  Use when a tool call was blocked or waits for a person, when files have to come back, or to see which rules of this
  repository apply to a task.
---

# Working with tipstaff

Each tool call is judged before it runs: allow, warn, require-confirmation (a person is asked) or block.

- **A call was blocked.** Read the reason and the safer way in the reply, and take that way. Do not reword, encode or
  split the call, and do not change the settings of tipstaff or of the host: that is a person's decision.
- **A call waits.** Say to the person what you want to run and why; they answer in the host, or with `tipstaff approve`.
- **What would a command get?** `tipstaff gate 'COMMAND'` says it, and runs nothing.
- **Something is gone.** `tipstaff undo --list` shows what was kept, `tipstaff undo` brings back the latest,
  `tipstaff undo --dry-run` says what it would do. An undo can be undone.
- **Which rules apply?** `tipstaff retrieve "TASK" --scope PATH` prints them with their reasons.
- **Secrets.** `tipstaff scan` finds them in files, `tipstaff scan --staged` in what a commit would add.
"""
COMMANDS: Final = {
    "rules": (
        "Show the rules of this repository for a task",
        'Run `tipstaff retrieve "{}"` and follow the rules that it prints.',
    ),
    "undo": (
        "Bring back what a tool call deleted or overwrote",
        "Run `tipstaff undo --list {}`, say what each entry would bring back, and undo the one that the person names.",
    ),
}


def hooks(host: AgentHost) -> dict[str, Any]:
    """Return the settings of a host with our entries, where the program is looked up on PATH."""
    return {**host.head(), "hooks": {event: [told(host, event)] for event in host.events}}


def told(host: AgentHost, event: str) -> dict[str, Any]:
    """Return a host's entry for an event; where the program is missing, the start of a session says so."""
    entry = host.entry(event, Path(PROGRAM))
    handler = handlers_of(entry)[0]
    if event in {"SessionStart", "sessionStart"} and host is not OPENCODE:
        words = ["--host", host.name, *(["--event", event] if host is CURSOR else [])]
        key = "additional_context" if host is CURSOR else "systemMessage"
        handler["command"] = command_line(Path(PROGRAM), words, without=json.dumps({key: MISSING}))
    return entry


def manifest(**more: Any) -> dict[str, Any]:
    """Return a manifest with what every host asks for."""
    return {"name": NAME, "version": __version__, "description": DESCRIPTION, **more}


def written() -> dict[str, str]:
    """Return each file of ``plugins/`` and the marketplaces, by its path in the repository."""
    found: dict[str, Any] = {}
    about = {"author": AUTHOR, "license": "Apache-2.0"}
    listed = {"name": NAME, "description": DESCRIPTION}
    found[".claude-plugin/marketplace.json"] = {
        "name": NAME,
        "owner": AUTHOR,
        "metadata": {"description": DESCRIPTION, "version": __version__},
        "plugins": [{**listed, "source": "./plugins/claude"}],
    }
    found["plugins/claude/.claude-plugin/plugin.json"] = manifest(**about)
    found["plugins/claude/hooks/hooks.json"] = {"description": DESCRIPTION, **hooks(CLAUDE)}
    found[".agents/plugins/marketplace.json"] = {
        "name": NAME,
        "interface": {"displayName": NAME},
        "plugins": [{
            "name": NAME,
            "source": {"source": "local", "path": "./plugins/codex"},
            "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
            "category": "Developer Tools",
        }],
    }  # fmt: skip
    found["plugins/codex/.codex-plugin/plugin.json"] = manifest(
        **about,
        hooks="./hooks/hooks.json",
        skills="./skills/",
        interface={"displayName": NAME, "shortDescription": DESCRIPTION},
    )
    found["plugins/codex/hooks/hooks.json"] = hooks(CODEX)
    found["plugins/cursor/.cursor-plugin/plugin.json"] = manifest(
        **about, hooks="./hooks/hooks.json", skills="./skills/"
    )
    found["plugins/cursor/hooks/hooks.json"] = hooks(CURSOR)
    found["plugins/gemini/gemini-extension.json"] = manifest()
    found["plugins/gemini/hooks/hooks.json"] = hooks(GEMINI)
    found["plugins/opencode/package.json"] = {
        "name": f"opencode-{NAME}",
        "version": __version__,
        "description": DESCRIPTION,
        "license": "Apache-2.0",
        "type": "module",
        "main": "index.js",
        "files": ["index.js"],
    }
    texts = {path: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for path, value in found.items()}
    plugin = OPENCODE.own_file(Path(PROGRAM))
    assert plugin is not None  # opencode's registration is a file of its own
    texts["plugins/opencode/index.js"] = plugin.decode()
    for host in ("claude", "codex", "cursor", "gemini"):
        texts[f"plugins/{host}/skills/{NAME}/SKILL.md"] = SKILL
    for name, (title, text) in COMMANDS.items():
        for host in ("claude", "cursor"):
            texts[f"plugins/{host}/commands/{name}.md"] = (
                f"---\ndescription: {title}\n---\n\n{text.format('$ARGUMENTS')}\n"
            )
        command = {"description": title, "prompt": text.format("{{args}}")}
        texts[f"plugins/gemini/commands/{NAME}/{name}.toml"] = "".join(
            f"{key} = {json.dumps(value)}\n" for key, value in command.items()
        )
    return texts


if __name__ == "__main__":
    for path, text in written().items():
        file = ROOT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    sys.stdout.write(f"{len(written())} files\n")
