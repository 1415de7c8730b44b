"""Readers follow only so much of anything. What lies past a limit is not known, and never softens a verdict to silence."""

from __future__ import annotations

from typing import Final

import pytest

from tests.gates.padded import CASES, padded
from tipstaff import EnforcementGates, GateConfig, aggregate_decision

# Past each power of two, and past limits between them.
COUNTS: Final = (1, 3, 5, 7, 9, 13, 17, 21, 25, 33, 41, 49, 65, 97, 129, 193, 257, 513, 600, 1025, 2050)
LONGEST_PATH: Final = 4096  # of no system is a longer one opened


@pytest.fixture(scope="module")
def gates() -> EnforcementGates:
    made = EnforcementGates(GateConfig(secrets=False, read_files=False))
    made._home, made._state = "/home/dev", "/home/dev/.local/state/tipstaff"
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {''.join(case[1:3])}"[:60].strip())
def test_padding_never_silences(gates: EnforcementGates, case: tuple[str, ...]) -> None:
    def decided(count: int) -> str:
        shell, command = padded(case, count)
        return aggregate_decision(gates.evaluate_command(command, cwd="/home/dev/proj", shell=shell))

    bare = decided(0)
    assert bare in ("require-confirmation", "block")
    reaches = [n for n in COUNTS if max(map(len, padded(case, n)[1].split())) < LONGEST_PATH]
    softer = {
        n: seen for n in reaches if (seen := decided(n)) != bare and seen not in ("require-confirmation", "block")
    }
    assert softer == {}
