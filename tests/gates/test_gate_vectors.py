"""The labelled commands and events: decisions as people labelled them. Nothing of it is ever run."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.shared_data import shared_path
from tipstaff import EnforcementGates, GateConfig, GateResult, aggregate_decision
from tipstaff.gates.results import UnknownDecisionError

DESTRUCTIVE: Final = shared_path("vectors", "gates", "destructive.json")
EVENTS: Final = shared_path("vectors", "guidance", "gates.json")
NAMES: Final = {"confirm": "require-confirmation"}
OPTIONS: Final = {
    "toolAllowlist": "tool_allowlist",
    "allowedTools": "allowed_tools",
    "diffSize": "diff_size",
    "diffSizeThreshold": "diff_size_threshold",
    "secrets": "secrets",
    "destructiveOps": "destructive_ops",
}


@pytest.mark.skipif(DESTRUCTIVE is None, reason="the labelled cases are not beside this checkout")
@pytest.mark.parametrize(("kind", "least"), [("destructive", 0.97), ("evasion", 0.95), ("benign", 0.97)])
def test_labelled_commands(kind: str, least: float) -> None:
    assert DESTRUCTIVE is not None
    cases = [case for case in json.loads(DESTRUCTIVE.read_text())["cases"] if case["kind"] == kind]
    gates = EnforcementGates(GateConfig(secrets=False, read_files=False))
    wrong = []
    for case in cases:
        results = gates.evaluate_command(case["command"], cwd=case.get("cwd"), shell=case["shell"])
        decision = aggregate_decision(results)
        if decision not in [NAMES.get(accepted, accepted) for accepted in case["accept"]]:
            wrong.append((case["command"], decision, case["accept"]))
    assert 1 - len(wrong) / len(cases) >= least, wrong


def decide(case: dict[str, Any]) -> str:
    given = case["input"]
    options = {OPTIONS[key]: value for key, value in (given.get("config") or {}).items() if key in OPTIONS}
    if "allowed_tools" in options:
        options["allowed_tools"] = tuple(options["allowed_tools"])
    gates = EnforcementGates(GateConfig(**options))
    match given["kind"]:
        case "evaluateCommand":
            results = gates.evaluate_command(given["command"])
        case "evaluateEdit":
            results = gates.evaluate_edit(given["filePath"], given["content"], given["diffLines"])
        case "evaluateToolUse":
            results = gates.evaluate_tool_use(given["toolName"], given.get("params"))
        case _:
            results = [GateResult(decision, "secrets", "") for decision in given["decisions"]]
    try:
        return aggregate_decision(results)
    except UnknownDecisionError:
        return "error or block"


@pytest.mark.skipif(EVENTS is None, reason="the labelled cases are not beside this checkout")
def test_labelled_events() -> None:
    assert EVENTS is not None
    cases = json.loads(EVENTS.read_text())["cases"]
    wrong = []
    for case in cases:
        wanted = case.get("want", case.get("expected"))["aggregate"]
        decision = decide(case)
        if decision != wanted:
            wrong.append((case["input"], decision, wanted))
    assert 1 - len(wrong) / len(cases) >= 0.93, wrong
