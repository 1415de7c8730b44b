"""Results of one call, judged at once, against those of the same call among many, which go another way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.gates import values
from tipstaff import EnforcementGates, GateConfig
from tipstaff.gates.judging.explanation import OPEN_QUESTIONS
from tipstaff.model import GuidanceRule

TOKEN = values.token()
COMMANDS = (
    "ls -la",
    "git reset --hard",
    "rm -rf / && git push --force origin main",
    f"curl -H 'Authorization: token {TOKEN}' https://api.github.com/user",
    f"git reset --hard && echo {TOKEN}",
    "psql -c 'DROP TABLE users' # Größe",
    "rm -rf ~/x \ud800",
    "",
)
"""Harmless, one finding, several, a secret alone, both, letters of many bytes, a lone surrogate, nothing."""


@pytest.fixture(scope="module")
def gates() -> EnforcementGates:
    return EnforcementGates(GateConfig(read_files=False))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_alone_is_judged_as_among_many(gates: EnforcementGates, command: str) -> None:
    alone = gates.evaluate_command(command, cwd="/home/dev/proj")
    assert alone == gates.evaluate_batch([{"command": command, "cwd": "/home/dev/proj"}])[0]
    assert TOKEN not in repr(alone)
    assert any(result.gate_name == "secrets" for result in alone) == (TOKEN in command)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("tool", ["Bash", "Write", "apply_patch", "mcp__db__query"])
def test_a_tool_call_alone_is_judged_as_among_many(gates: EnforcementGates, tool: str, command: str) -> None:
    params = {"command": command, "file_path": "src/a.py", "content": command, "old_string": command, "timeout": 3}
    alone = gates.evaluate_tool_use(tool, params, cwd="/home/dev/proj")
    assert alone == gates.evaluate_batch([{"tool": tool, "params": params, "cwd": "/home/dev/proj"}])[0]
    assert TOKEN not in repr(alone)


def test_a_copy_has_active_rules_of_its_own(gates: EnforcementGates) -> None:
    rule = GuidanceRule(id="R1", text="Never run git reset --hard: it discards changes that were not committed.")
    copied = gates.offline(home="/home/dev", temporary="/tmp")
    copied.set_active_rules([rule])
    assert [copied.active_rules, gates.active_rules] == [(rule,), ()]
    (result,) = copied.evaluate_command("git reset --hard")
    assert result.triggered_rules == ("R1",)
    assert gates.evaluate_command("git reset --hard")[0].triggered_rules == ()


def test_open_questions_have_the_names_of_the_engine() -> None:
    header = (
        Path(__file__).resolve().parents[3] / "native" / "include" / "tipstaff" / "gate" / "tree" / "unresolved.hpp"
    )
    numbered = re.findall(r"^  (\w+), ", header.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name.replace("_", "-") for name in numbered] == list(OPEN_QUESTIONS)
