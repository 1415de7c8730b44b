"""Whole processes, from starting one to its end, as a hook or a shell meets them."""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Final

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


def run(name: str) -> float:
    """Run a command once and return the seconds from its start to its end.

    Raises
    ------
    RuntimeError
        If it does not do what it is for.
    """
    start = time.perf_counter()
    result = subprocess.run(COMMANDS[name], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if result.returncode not in _CODES.get(name, (0,)) or result.stdout != EXPECTED.get(name, result.stdout):
        msg = f"{name} ended with {result.returncode}: {result.stdout[:200]}{result.stderr[-500:]}"
        raise RuntimeError(msg)
    return seconds


def extra_ms(names: tuple[str, ...], rounds: int, base: str = "python -c pass") -> dict[str, float]:
    """Return how many milliseconds each command takes more than `base`: median of differences within a round."""
    run(base)
    for name in names:
        run(name)
    differences: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        floor = run(base)
        for name in names:
            differences[name].append(run(name) - floor)
    return {name: statistics.median(values) * 1e3 for name, values in differences.items()}
