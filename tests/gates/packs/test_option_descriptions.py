"""Options with values before the subcommand: with any of them a rule still sees what it saw without."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

from tipstaff import EnforcementGates, GateConfig, aggregate_decision
from tipstaff.gates import packs

FOLDER: Final = Path(packs.__file__).parent
SAMPLES: Final = Path(__file__).parents[1] / "samples"


def _load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def test_rules_hold_behind_options_of_the_whole_tool() -> None:
    options: dict[str, set[str]] = {}
    for program in _load(FOLDER / "options.toml")["program"]:
        for name in program["names"]:
            options.setdefault(name, set()).update(program.get("values_before", ()))
    gates = EnforcementGates(GateConfig(secrets=False, read_files=False))
    tried, lost = 0, []
    for path in sorted(FOLDER.glob("*.toml")):
        for rule in _load(SAMPLES / path.name).values() if (SAMPLES / path.name).exists() else ():
            for sample in rule.get("positives", ()):
                command = sample if isinstance(sample, str) else sample["command"]
                name, _, rest = command.partition(" ")
                if name not in options or (isinstance(sample, dict) and "shell" in sample):
                    continue
                if aggregate_decision(gates.evaluate_command(command, cwd="/home/dev/proj")) == "allow":
                    continue
                for option in sorted(options[name]):
                    tried += 1
                    longer = f"{name} {option} staging {rest}"
                    if aggregate_decision(gates.evaluate_command(longer, cwd="/home/dev/proj")) == "allow":
                        lost.append(longer)
    assert tried > 500
    # alembic's -n is its rules' --dry-run as well.
    assert [command for command in lost if not command.startswith("alembic -n ")] == []
