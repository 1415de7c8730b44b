"""Whole processes, from starting one to its end, as a hook or a shell meets them."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Final, NamedTuple

from tipstaff import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
PROGRAM: Final = Path(sysconfig.get_path("scripts")) / "tipstaff"
COMMANDS: Final = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import tipstaff": [sys.executable, "-c", "import tipstaff"],
    "tipstaff --version": [str(PROGRAM), "--version"],
    "tipstaff lint": [str(PROGRAM), "lint", str(ROOT / "examples" / "orchard")],
}
EXPECTED: Final = {"tipstaff --version": f"tipstaff {__version__}\n"}
"""What a command prints, where that is known beforehand."""
_CODES: Final = {"tipstaff lint": (0, 1)}


class Spent(NamedTuple):
    """What a process took: from its start to its end, and on the processor, user and system."""

    wall: float
    processor: float


def measure(name: str) -> Spent:
    """Run a command once and return the seconds that it took.

    Raises
    ------
    RuntimeError
        If it does not do what it is for.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    result = subprocess.run(COMMANDS[name], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode not in _CODES.get(name, (0,)) or result.stdout != EXPECTED.get(name, result.stdout):
        msg = f"{name} ended with {result.returncode}: {result.stdout[:200]}{result.stderr[-500:]}"
        raise RuntimeError(msg)
    return Spent(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def extra_ms(names: tuple[str, ...], rounds: int, base: str = "python -c pass") -> dict[str, Spent]:
    """Return how many milliseconds each command takes more than `base`: medians of differences within a round."""
    for name in (base, *names):
        measure(name)
    rows: list[dict[str, Spent]] = [{name: measure(name) for name in (base, *names)} for _ in range(rounds)]
    return {
        name: Spent(
            statistics.median(row[name].wall - row[base].wall for row in rows) * 1e3,
            statistics.median(row[name].processor - row[base].processor for row in rows) * 1e3,
        )
        for name in names
    }
