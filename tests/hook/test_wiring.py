"""No agent may answer for a person, read the key, or take the gate away."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hook.running import Bench

COMMANDS = (
    "tipstaff approve ABCDEFGH",
    "tipstaff approve ABCDEFGH --deny",
    "yes | tipstaff approve ABCDEFGH",
    "script -qc 'tipstaff approve ABCDEFGH' /dev/null",
    "/usr/local/bin/tipstaff approve ABCDEFGH",
    ".venv/bin/tipstaff uninstall --host all",
    "tipstaff uninstall --host claude --user",
    "bash -c 'tipstaff approve ABCDEFGH'",
    "python -m tipstaff.cli approve ABCDEFGH",
    "python3 -m tipstaff.cli uninstall --host all",
    "cat ~/.local/state/tipstaff/key",
    "base64 < ~/.local/state/tipstaff/key",
    "cp ~/.local/state/tipstaff/key /tmp/k",
    "echo x > ~/.local/state/tipstaff/approvals/ABCDEFGH",
    "cp /tmp/x ~/.local/state/tipstaff/policy/default.policy",
    "rm -rf ~/.local/state/tipstaff",
    "rm ~/.local/state/tipstaff/key",
    "chmod -x .venv/bin/tipstaff-hook",
    "echo '{}' > .claude/settings.json",
    "echo '{}' > .claude/settings.local.json",
    "echo '{}' > .codex/hooks.json",
    "rm .gemini/settings.json",
    "sed -i d .cursor/hooks.json",
    "rm .github/hooks/tipstaff.json",
    "mv .cursor .cursor.off",
    "echo '' > .tipstaff/gates.toml",
    "echo '{}' > .qwen/settings.json",
    "rm .opencode/plugins/tipstaff.js",
    "cp x.js ~/.config/opencode/plugins/tipstaff.js",
    "echo > ~/.config/opencode/plugins/tipstaff.js",
    "echo '{}' > ~/.gemini/trustedFolders.json",
    "sed -i d ~/.codex/config.toml",
    "echo x > ~/.copilot/config.json",
    "pip uninstall -y tipstaff",
)
HARMLESS = (
    "tipstaff approve --help",
    "tipstaff doctor",
    "tipstaff lint",
    "tipstaff install --host claude --dry-run",
    "cat .claude/settings.json",
    "grep -rn approvals docs",
    "git commit -m 'tipstaff approve is for people'",
    "ls ~/.local/state/tipstaff",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(bench: Bench, command: str) -> None:
    assert bench.run(bench.claude(command), "--host", "claude").decision() in {"deny", "ask"}


@pytest.mark.parametrize("command", HARMLESS)
def test_harmless_commands(bench: Bench, command: str) -> None:
    assert bench.run(bench.claude(command), "--host", "claude").stdout == b""


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "{repository}/.claude/settings.json", "content": "{}"}),
        ("Edit", {"file_path": "{repository}/.codex/hooks.json", "old_string": "a", "new_string": "b"}),
        ("Write", {"file_path": "{home}/.local/state/tipstaff/approvals/ABCDEFGH", "content": "x"}),
        ("Read", {"file_path": "{home}/.local/state/tipstaff/key"}),
        ("mcp__fs__write_file", {"path": "{home}/.gemini/settings.json", "content": "{}"}),
        ("Write", {"file_path": "{repository}/.github/hooks/tipstaff.json", "content": "{}"}),
        ("Write", {"file_path": "{repository}/.tipstaff/gates.toml", "content": "secrets = false"}),
    ],
)
def test_tools(bench: Bench, tool: str, given: dict[str, Any]) -> None:
    paths = {"repository": str(bench.repository), "home": str(bench.home)}
    event = bench.claude(
        "",
        tool_name=tool,
        tool_input={
            key: text.format(**paths) if "{" in text[:3] and text != "{}" else text for key, text in given.items()
        },
    )
    assert bench.run(event, "--host", "claude").decision() in {"deny", "ask"}
