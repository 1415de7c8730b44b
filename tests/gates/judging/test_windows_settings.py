"""Settings of hosts on Windows, by the vendors' documentation, are what wires the gate there."""

from __future__ import annotations

import pytest

from tipstaff import EnforcementGates, aggregate_decision

GATES = EnforcementGates()


@pytest.mark.parametrize(
    ("shell", "command"),
    [
        ("powershell", r"Remove-Item $env:USERPROFILE\.claude\settings.json"),
        ("powershell", r"Set-Content C:\Users\x\.gemini\settings.json '{}'"),
        ("cmd", r"del %USERPROFILE%\.codex\hooks.json"),
        ("cmd", r"copy x.json C:\Users\x\.copilot\hooks\tipstaff.json"),
        ("powershell", r"Set-Content 'C:\Program Files\ClaudeCode\managed-settings.json' '{}'"),
        ("powershell", r"Set-Content C:\ProgramData\gemini-cli\settings.json '{}'"),
        ("powershell", r"Set-Content C:\ProgramData\qwen-code\settings.json '{}'"),
        ("powershell", r"Remove-Item C:\ProgramData\Cursor\hooks.json"),
    ],
)
def test_they_cannot_be_changed(shell: str, command: str) -> None:
    assert aggregate_decision(GATES.evaluate_command(command, shell=shell, cwd="/srv/x")) == "block"


@pytest.mark.parametrize(
    "command", ["cat ~/.config/opencode/opencode.json", "cp x src/opencode/plugins/y.js", "ls ~/.gemini"]
)
def test_others_can(command: str) -> None:
    assert aggregate_decision(GATES.evaluate_command(command, cwd="/srv/x")) == "allow"
