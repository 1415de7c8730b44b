"""The samples of the package's own rules: ``tests/gates/samples``, a file for each pack and a table for each rule."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tipstaff.gates.packs.model import Policy, Sample
from tipstaff.gates.packs.reader import SAMPLE_CWD

FOLDER: Final = Path(__file__).parents[1] / "samples"


def sampled(policy: Policy) -> Policy:
    """Give the rules of a policy their samples; a table for a rule that does not exist is an error."""
    for path in sorted(FOLDER.glob("*.toml")):
        for rule_id, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            assert path.stem.replace("_", "-") == rule_id.partition(".")[0], (path.name, rule_id)
            policy.rules[rule_id] = replace(
                policy.rules[rule_id],
                positives=tuple(map(_sample, table.get("positives", ()))),
                negatives=tuple(map(_sample, table.get("negatives", ()))),
            )
    return policy


def _sample(entry: str | dict[str, Any]) -> Sample:
    if isinstance(entry, str):
        return Sample(entry, SAMPLE_CWD)
    return Sample(entry["command"], entry.get("cwd", SAMPLE_CWD), entry.get("shell", "bash"), entry.get("decision"))
