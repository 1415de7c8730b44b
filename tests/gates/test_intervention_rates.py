"""Commands as agents type them, and destructive ones written fresh: how often a gate interrupts, and how often it misses."""

from __future__ import annotations

import json
from typing import Final

import pytest

from tests.shared_data import shared_path
from tipstaff import EnforcementGates, aggregate_decision

VECTORS: Final = shared_path("vectors", "gates")
ORDER: Final = ("allow", "warn", "require-confirmation", "block")

pytestmark = pytest.mark.skipif(VECTORS is None, reason="the labelled cases are not beside this checkout")


def wrong_of(name: str) -> tuple[list[tuple[str, str, list[str]]], int]:
    """Return (command, decision, accepted) of all cases whose decision is not accepted, and how many cases there are."""
    assert VECTORS is not None
    gates = EnforcementGates()
    gates._state = "/home/dev/.local/state/tipstaff"  # not below the temporary folder, where a test's home may be
    cases = [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()]
    found: list[tuple[str, str, list[str]]] = []
    for case in cases:
        decision = aggregate_decision(gates.evaluate_command(case["command"], cwd="/home/dev/proj"))
        if decision not in case["accept"]:
            found.append((case["command"], decision, case["accept"]))
    return found, len(cases)


def test_what_agents_type_is_not_interrupted() -> None:
    wrong, count = wrong_of("real_use_benign.jsonl")
    assert count > 400
    assert len(wrong) <= 0.003 * count, wrong
    harder = [case for case in wrong if ORDER.index(case[1]) == 3]
    assert harder == []


def test_what_destroys_is_stopped() -> None:
    wrong, count = wrong_of("real_use_destructive.jsonl")
    assert count > 350
    assert len(wrong) <= 0.015 * count, wrong
