"""The table of public calls: each name that the package offers is in it, or is no call of its own."""

from __future__ import annotations

from pathlib import Path

import tipstaff
from benchmarks import bars_calls

RECORDS = {
    *("CompilerConfig", "Constitution", "Diagnostic", "GateConfig", "GateResult", "GuidanceRule", "IntentMatch"),
    *("PlaneConfig", "PolicyBundle", "RetrievalResult", "RetrievedShard", "RuleManifest", "RuleShard", "SecretFinding"),
    "Verdict",
}
"""What calls take and return."""

NOT_MEASURED = {"OnnxEmbedding"}
"""A model of the user's own, run by another library."""

METHODS = {"EnforcementGates": "evaluate_command"}
"""What the first rows are called by."""


def test_every_public_call_is_in_the_table() -> None:
    rows = [one.name for one in bars_calls.contenders()]
    calls = set(tipstaff.__all__) - RECORDS - NOT_MEASURED
    missing = {name for name in calls if not any(row.startswith((name, METHODS.get(name, name))) for row in rows)}
    assert not missing
    page = (Path(bars_calls.__file__).parent.parent / "docs" / "performance.md").read_text(encoding="utf-8")
    assert not [row for row in rows if f"| {row} |" not in page]


def test_every_measured_call_works() -> None:
    for one in bars_calls.contenders():
        one.call()
        if one.kernel is not None:
            one.kernel()
