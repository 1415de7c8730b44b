"""The project's own cases: what must be stopped, and what must not. Nothing of it is ever run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import pytest

from tipstaff import EnforcementGates, GateConfig, aggregate_decision
from tipstaff.gates.judging import surroundings

CASES: Final = sorted((Path(__file__).parent / "cases").glob("*.toml"))
NAMES: Final = {"confirm": "require-confirmation"}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_own_cases(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The checkout may be below the temporary folder, which some cases clean up.
    monkeypatch.setattr(surroundings, "_PROGRAM", "/home/dev/tool/bin/tipstaff-hook")
    surroundings.site_of.cache_clear()
    data = tomllib.loads(path.read_text())
    gates = EnforcementGates(GateConfig(secrets=False, read_files=False))
    gates._home, gates._state = "/home/dev", "/home/dev/.local/state/tipstaff"
    wrong = []
    count = 0
    for group in data["group"]:
        accepted = [NAMES.get(name, name) for name in group["accept"]]
        cwd, shell = group.get("cwd", data.get("cwd")), group.get("shell", "bash")
        for command in group["commands"]:
            count += 1
            results = gates.evaluate_command(command, cwd=cwd, shell=shell)
            decision = aggregate_decision(results)
            if decision not in accepted:
                wrong.append((shell, command, decision, accepted, [result.reason for result in results]))
    surroundings.site_of.cache_clear()
    assert count > 20
    assert wrong == []
